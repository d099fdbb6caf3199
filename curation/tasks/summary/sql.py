"""Merges the shards of summary: equal abstracts are one, kin of the own abstract are excluded, hard pool.

An abstract is nobody's negative where it may tell of the same study: other languages and versions of the
article, articles linked with it, abstracts that share long stretches of text.
"""

from __future__ import annotations

from curation.tasks.shared.merge_sql import ACCOUNTS, DOCUMENTS, DROPS, KEPT, QRELS, QUERIES
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.record import column, record
from schemas.stages import Drop, SetStage, Sql

NAME = "summary"
MIN_SHARED = 4
"""Of 32 shingles: abstracts that share as many have about an eighth of their 13-grams in common."""
MAX_HOLDERS = 100
"""A shingle that more abstracts have is a phrase of the trade; a topic, too wide to make a family."""
MAX_LINKED = 200
"""An identifier that more articles link to is a hub, not a family."""
POOL = 20
"""Distractors a query."""
_WINDOW = 2 * POOL
CASE_GENRE = "case-report"


@record
class AbstractFacts:
    """One abstract of the corpus as exclusions and the hard pool see it."""

    corpus_id: str = column("abstract id")
    article_id: str = column("article id")
    family: str = column("article without version: copies in two repositories are one")
    is_main: bool = column("the abstract in the article's own language")
    language: str = column("primary language subtag")
    genre: str = column("article type, '' when unknown", default="")
    specialty: str = column("main specialty, '' when undecided", default="")
    names: tuple[str, ...] = column("doi:…, pmid:…, pmcid:… of the article, sorted", default=())
    related: tuple[str, ...] = column("the same of articles it links to, sorted", default=())
    topics: tuple[str, ...] = column(
        "of a main abstract: concepts of title and keywords, principal diagnoses (CURIEs), sorted", default=()
    )


@record
class AbstractShingle:
    """One of the smallest hashes of an abstract's 13-grams."""

    corpus_id: str = column("abstract id")
    hash: str = column("16 hex digits")


@record
class HardDistractor:
    """One abstract chosen to be hard for a query. It was not judged: a distractor, never a negative."""

    query_id: str = column("query")
    corpus_id: str = column("abstract, neither positive nor excluded")
    rank: int = column("1 is the nearest")
    why: str = column("what it shares with the query: specialty+genre+topic or specialty+genre")
    shared: tuple[str, ...] = column("topics shared (CURIEs), sorted", default=())
    label_status: str = column("always unjudged")


_KIN = f"""
    own AS (SELECT DISTINCT article_id, family, names, related FROM all_facts),
    named AS (SELECT DISTINCT article_id, unnest(names) AS name FROM own),
    linked AS (
        SELECT DISTINCT article_id, unnest(list_concat(names, related)) AS name FROM own),
    telling_links AS (SELECT * FROM linked QUALIFY count(*) OVER (PARTITION BY name) <= {MAX_LINKED}),
    telling AS (
        SELECT s.corpus_id, f.article_id, s.hash
        FROM all_shingles AS s JOIN all_facts AS f ON f.corpus_id = s.corpus_id
        QUALIFY count(*) OVER (PARTITION BY s.hash) <= {MAX_HOLDERS}),
    alike AS (
        SELECT a.article_id AS one, b.article_id AS two
        FROM telling AS a JOIN telling AS b ON a.hash = b.hash AND a.article_id <> b.article_id
        GROUP BY a.article_id, b.article_id, a.corpus_id, b.corpus_id HAVING count(*) >= {MIN_SHARED}),
    equal AS (
        SELECT k.kept, f.article_id FROM kept AS k JOIN all_facts AS f ON f.corpus_id = k.id),
    kin AS (
        SELECT article_id AS one, article_id AS two, 0 AS rank FROM own
        UNION ALL SELECT a.article_id, b.article_id, 1 FROM own AS a JOIN own AS b ON a.family = b.family
        UNION ALL SELECT a.article_id, b.article_id, 1 FROM named AS a JOIN named AS b ON a.name = b.name
        UNION ALL SELECT a.article_id, b.article_id, 2
            FROM telling_links AS a JOIN telling_links AS b ON a.name = b.name
        UNION ALL SELECT one, two, 3 FROM alike
        UNION ALL SELECT a.article_id, b.article_id, 3 FROM equal AS a JOIN equal AS b ON a.kept = b.kept)
"""
"""Articles whose abstracts may tell of one study, each with itself too; the lowest rank names the reason."""
_EXCLUDED = f"""
    WITH {KEPT}, {_KIN}
    SELECT q.id AS query_id, k.kept AS corpus_id, '{NAME}' AS task,
        CASE min(kin.rank) WHEN 0 THEN 'other_language' WHEN 1 THEN 'other_version'
            WHEN 2 THEN 'own_family' ELSE 'near_duplicate' END AS reason
    FROM queries AS q JOIN kin ON kin.one = q.article_id JOIN all_facts AS f ON f.article_id = kin.two
    JOIN kept AS k ON k.id = f.corpus_id
    ANTI JOIN qrels AS r ON r.query_id = q.id AND r.corpus_id = k.kept
    GROUP BY q.id, k.kept
"""
_HARD_POOL = f"""
    WITH placed AS (
        SELECT *, row_number() OVER (block ORDER BY md5(corpus_id), corpus_id) - 1 AS place,
            count(*) OVER block AS size
        FROM all_facts
        WHERE is_main AND specialty <> '' AND genre <> '' AND corpus_id IN (SELECT id FROM documents)
        WINDOW block AS (PARTITION BY specialty, genre, language)),
    asked AS (
        SELECT q.id AS query_id, p.* FROM queries AS q JOIN qrels AS r ON r.query_id = q.id
        JOIN placed AS p ON p.corpus_id = r.corpus_id),
    named AS (SELECT corpus_id, specialty, genre, language, unnest(topics) AS topic FROM placed),
    topics AS (
        SELECT * FROM named
        QUALIFY count(*) OVER (PARTITION BY specialty, genre, language, topic) <= {MAX_HOLDERS}),
    by_topic AS (
        SELECT a.query_id, d.corpus_id, list_sort(list(DISTINCT d.topic)) AS shared, 0 AS step
        FROM asked AS a JOIN topics AS t ON t.corpus_id = a.corpus_id
        JOIN topics AS d ON d.topic = t.topic AND d.specialty = t.specialty AND d.genre = t.genre
            AND d.language = t.language AND d.corpus_id <> t.corpus_id
        GROUP BY a.query_id, d.corpus_id),
    nearby AS (
        SELECT a.query_id, d.corpus_id, []::VARCHAR[] AS shared, s.step
        FROM asked AS a JOIN (SELECT unnest(range(1, {_WINDOW} + 1)) AS step) AS s ON s.step < a.size
        JOIN placed AS d ON d.specialty = a.specialty AND d.genre = a.genre AND d.language = a.language
            AND d.place = (a.place + s.step) % a.size
        WHERE a.genre <> '{CASE_GENRE}'),
    found AS (
        SELECT * FROM (SELECT * FROM by_topic UNION ALL SELECT * FROM nearby)
        QUALIFY row_number() OVER (PARTITION BY query_id, corpus_id ORDER BY step) = 1)
    SELECT query_id, corpus_id, row_number() OVER nearest AS rank,
        CASE WHEN len(shared) > 0 THEN 'specialty+genre+topic' ELSE 'specialty+genre' END AS why,
        shared, 'unjudged' AS label_status
    FROM found
    ANTI JOIN qrels USING (query_id, corpus_id) ANTI JOIN excluded USING (query_id, corpus_id)
    WINDOW nearest AS (PARTITION BY query_id ORDER BY len(shared) DESC, step, md5(corpus_id), corpus_id)
    QUALIFY row_number() OVER nearest <= {POOL}
"""
"""Abstracts of the query's specialty, genre and language: those that share topics, then those that follow in
the order of the hashes of their ids, but not for case reports, which must share a topic."""
OVER_ALL = SetStage(
    name=f"{NAME}_all",
    version=5,
    inputs={
        "all_queries": (f"{NAME}.queries", Query),
        "all_documents": (f"{NAME}.documents", Document),
        "all_qrels": (f"{NAME}.qrels", Qrel),
        "all_facts": (f"{NAME}.facts", AbstractFacts),
        "all_shingles": (f"{NAME}.shingles", AbstractShingle),
    },
    outputs={
        "queries": Sql(QUERIES, Query, ("id",)),
        "documents": Sql(DOCUMENTS, Document, ("id",)),
        "qrels": Sql(QRELS, Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(_EXCLUDED, Excluded, ("query_id", "corpus_id")),
        "hard_pool": Sql(_HARD_POOL, HardDistractor, ("query_id", "rank")),
        "drops": Sql(DROPS, Drop, ("unit", "id")),
    },
    accounts=ACCOUNTS,
)
