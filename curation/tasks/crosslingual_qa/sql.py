"""Pairs of questions and passages: the facet asked 2, a neighbouring one 1; far ones are kept in view.

What is about the concept without telling which facet, or merely names it, is neither positive nor negative. A
passage on a far facet that has no word of the one asked is hard, and no label: nobody judged it. A
neighbouring facet counts where a sentence about the concept tells it: a heading speaks of a whole section. No
article has more than a share of the relevant passages; what it has beyond is left out of the judgement.
Beside the questions stand the known items: texts that have to find their own English version. A version that
another document repeats is none to look for.
"""

from __future__ import annotations

from curation.tasks.crosslingual_qa.asked_sql import ASKED
from curation.tasks.crosslingual_qa.facets import FACETS, neighbours
from curation.tasks.crosslingual_qa.parallel import VERSIONS
from curation.tasks.crosslingual_qa.passages import BY_HEADING, NAME
from curation.tasks.crosslingual_qa.questions import QUESTIONS
from curation.tasks.crosslingual_qa.records import (
    ConceptPassage,
    FacetAnswer,
    FacetDistractor,
    RestrictedQuery,
    StringOrigin,
)
from curation.tasks.crosslingual_qa.settings import Settings
from curation.tasks.shared.merge_sql import kept_of_equal
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.stages import Drop, SetAccount, SetStage, Sql

NEIGHBOUR = f"{NAME}/neighbouring-facet@1"
OTHER_FACET = "same disorder, another facet"
UNDECIDED, MENTION, NARROWER = "facet_undecided", "merely_named", "narrower_concept"
DISPUTED = "disputed_narrower"
SAME_CONCEPT, SHARE = "same_concept", "article_share"
_NEAR = ", ".join(f"('{facet}', '{other}')" for facet in FACETS for other in sorted(neighbours(facet)))
_FIRST = "first AS (SELECT id, min(source_id) AS source_id FROM all_queries GROUP BY id)"
_QUESTIONS = f"""
    WITH {_FIRST}
    SELECT q.* FROM all_queries AS q JOIN first AS f ON f.id = q.id AND f.source_id = q.source_id
"""
_BOTH = "(SELECT id, text FROM passages UNION ALL SELECT id, text FROM all_versions)"
_VERSIONS = f"""
    WITH {kept_of_equal(_BOTH)},
    twins AS (SELECT kept FROM kept GROUP BY kept HAVING count(*) > 1)
    SELECT v.* FROM all_versions AS v JOIN kept AS k ON k.id = v.id ANTI JOIN twins AS t ON t.kept = k.kept
"""
_KNOWN_ITEMS = """
    SELECT q.* FROM all_known_items AS q SEMI JOIN versions AS v ON v.id = q.family
    QUALIFY row_number() OVER (PARTITION BY q.id ORDER BY q.source_id) = 1
"""
_QUERIES = "FROM questions UNION ALL FROM known_items"
_DOCUMENTS = "FROM passages UNION ALL FROM versions"
_ASKED = "asked AS (SELECT DISTINCT targets[1] AS concept, tier AS facet FROM questions)"
_OF_CONCEPT = f"""
    WITH {_ASKED}, near(facet, other) AS (VALUES {_NEAR}),
    beside AS (
        SELECT x.corpus_id, x.concept, near.facet, bool_or(x.rule <> '{BY_HEADING}') AS is_said,
            arg_min(x.evidence, x.facet) FILTER (x.rule <> '{BY_HEADING}') AS evidence
        FROM answers AS x JOIN near ON near.other = x.facet GROUP BY ALL),
    told AS (SELECT corpus_id, concept, list_sort(list(facet)) AS facets FROM answers GROUP BY ALL),
    right_ones AS (
        SELECT a.concept, a.facet, n.corpus_id, w.rule, w.evidence, t.facets IS NOT NULL AS is_told,
            list_contains(n.touches, a.facet) AS is_touched,
            b.is_said, b.evidence AS near_evidence, b.corpus_id IS NOT NULL AS is_near
        FROM asked AS a JOIN named AS n ON n.concept = a.concept AND n.how = 'about'
        LEFT JOIN answers AS w ON w.corpus_id = n.corpus_id AND w.concept = n.concept AND w.facet = a.facet
        LEFT JOIN beside AS b
            ON b.corpus_id = n.corpus_id AND b.concept = n.concept AND b.facet = a.facet
        LEFT JOIN told AS t ON t.corpus_id = n.corpus_id AND t.concept = n.concept)
"""
_PAIRS = f"""
    {_OF_CONCEPT},
    graded AS (
        SELECT r.concept || '/' || r.facet AS family, r.corpus_id, r.concept, d.article_id,
            CASE WHEN r.rule IS NOT NULL THEN 2 WHEN r.is_said THEN 1 END AS score,
            r.is_told AND NOT r.is_touched AND NOT r.is_near AS is_far,
            coalesce(r.rule, '{NEIGHBOUR}') AS rule,
            CASE WHEN r.rule IS NOT NULL THEN r.evidence ELSE coalesce(r.near_evidence, []) END AS evidence
        FROM right_ones AS r JOIN passages AS d ON d.id = r.corpus_id),
    in_family AS (
        SELECT *, row_number() OVER (
            PARTITION BY family, article_id, score IS NULL
            ORDER BY score DESC, rule = '{BY_HEADING}', md5(corpus_id), corpus_id) AS place FROM graded)
    SELECT *, score IS NOT NULL AND (place > getvariable('family_share') OR row_number() OVER (
            PARTITION BY article_id, score IS NULL
            ORDER BY place, score DESC, rule = '{BY_HEADING}', md5(family || corpus_id), family, corpus_id
        ) > getvariable('article_share')) AS is_beyond
    FROM in_family
"""
"""Every question has its first passage of an article before any has a second."""
_QRELS = f"""
    SELECT q.id AS query_id, p.corpus_id, CAST(p.score AS BIGINT) AS score, '{NAME}' AS task, p.rule,
        'structural' AS label_status, p.evidence, p.concept AS via
    FROM questions AS q JOIN ({_PAIRS}) AS p ON p.family = q.family
    WHERE p.score IS NOT NULL AND NOT p.is_beyond
    UNION ALL
    SELECT r.* FROM all_known_qrels AS r
    SEMI JOIN known_items AS q ON q.id = r.query_id AND q.family = r.corpus_id
"""
_HARD_POOL = f"""
    SELECT q.id AS query_id, p.corpus_id,
        row_number() OVER (PARTITION BY q.id ORDER BY md5(p.corpus_id), p.corpus_id) AS rank,
        '{OTHER_FACET}' AS why, [p.concept] AS shared, 'unjudged' AS label_status
    FROM questions AS q JOIN ({_PAIRS}) AS p ON p.family = q.family WHERE p.score IS NULL AND p.is_far
"""
_EXCLUDED = f"""
    WITH in_versions AS (
        SELECT n.* FROM named_in_versions AS n SEMI JOIN versions AS v ON v.id = n.corpus_id),
    every AS (SELECT corpus_id, concept, how FROM named UNION ALL
        SELECT corpus_id, concept, how FROM in_versions),
    apart AS (
        SELECT q.id AS query_id, d.id AS corpus_id, 'own_article' AS reason
        FROM known_items AS q JOIN documents AS d ON d.article_id = q.article_id
        UNION ALL
        SELECT q.id, n.corpus_id, '{SAME_CONCEPT}'
        FROM known_items AS q
        JOIN in_versions AS s ON s.corpus_id = q.family AND s.how = 'about'
        JOIN every AS n ON n.concept = s.concept AND n.how = 'about')
    SELECT q.id AS query_id, n.corpus_id, '{NAME}' AS task,
        CASE WHEN b.family IS NOT NULL THEN '{SHARE}' WHEN n.how = 'about' THEN '{UNDECIDED}'
            WHEN n.how = 'narrower' THEN '{NARROWER}' WHEN n.how = 'disputed' THEN '{DISPUTED}'
            ELSE '{MENTION}' END AS reason
    FROM questions AS q JOIN every AS n ON n.concept = q.targets[1]
    LEFT JOIN (FROM ({_PAIRS}) WHERE is_beyond) AS b ON b.family = q.family AND b.corpus_id = n.corpus_id
    ANTI JOIN qrels AS r ON r.query_id = q.id AND r.corpus_id = n.corpus_id
    ANTI JOIN hard_pool AS h ON h.query_id = q.id AND h.corpus_id = n.corpus_id
    UNION ALL
    SELECT a.query_id, a.corpus_id, '{NAME}', min(a.reason) FROM apart AS a
    ANTI JOIN qrels AS r ON r.query_id = a.query_id AND r.corpus_id = a.corpus_id
    GROUP BY a.query_id, a.corpus_id
"""
_DROPS = f"""
    WITH {_FIRST}
    SELECT 'question' AS unit, q.source_id AS id, q.article_id, 'duplicate_query' AS reason,
        f.source_id AS detail
    FROM all_queries AS q JOIN first AS f ON f.id = q.id AND f.source_id <> q.source_id
    UNION ALL
    SELECT 'version', q.source_id, q.article_id,
        if(v.id IS NULL, 'duplicate_document', 'duplicate_query'), q.family
    FROM all_known_items AS q LEFT JOIN versions AS v ON v.id = q.family
    ANTI JOIN known_items AS k ON k.source_id = q.source_id
"""
_STRINGS = """
    SELECT s.* FROM all_strings AS s
    SEMI JOIN questions AS q ON q.id = s.query_id AND q.targets[1] = s.concept
    UNION ALL
    SELECT s.* FROM all_known_strings AS s
    SEMI JOIN known_items AS q ON q.id = s.query_id AND q.article_id = s.source
"""
OVER_ALL = SetStage(
    name=f"{NAME}_all",
    version=5,
    inputs={
        "all_queries": (f"{QUESTIONS.name}.queries", Query),
        "all_strings": (f"{QUESTIONS.name}.strings", StringOrigin),
        "all_recipes": (f"{QUESTIONS.name}.recipes", RestrictedQuery),
        "passages": (f"{ASKED.name}.documents", Document),
        "answers": (f"{ASKED.name}.answers", FacetAnswer),
        "named": (f"{ASKED.name}.named", ConceptPassage),
        "all_known_items": (f"{VERSIONS.name}.queries", Query),
        "all_known_qrels": (f"{VERSIONS.name}.qrels", Qrel),
        "all_known_strings": (f"{VERSIONS.name}.strings", StringOrigin),
        "all_versions": (f"{VERSIONS.name}.documents", Document),
        "named_in_versions": (f"{VERSIONS.name}.named", ConceptPassage),
    },
    outputs={
        "questions": Sql(_QUESTIONS, Query, ("id",)),
        "versions": Sql(_VERSIONS, Document, ("id",)),
        "known_items": Sql(_KNOWN_ITEMS, Query, ("id",)),
        "queries": Sql(_QUERIES, Query, ("id",)),
        "documents": Sql(_DOCUMENTS, Document, ("id",)),
        "qrels": Sql(_QRELS, Qrel, ("query_id", "corpus_id")),
        "hard_pool": Sql(_HARD_POOL, FacetDistractor, ("query_id", "rank")),
        "excluded": Sql(_EXCLUDED, Excluded, ("query_id", "corpus_id")),
        "strings": Sql(_STRINGS, StringOrigin, ("query_id",)),
        "recipes": Sql("FROM all_recipes", RestrictedQuery, ("query_id", "concept")),
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    },
    accounts=(
        SetAccount("question", "all_queries", "source_id", "questions", "source_id"),
        SetAccount("version", "all_known_items", "source_id", "known_items", "source_id"),
    ),
    params={name: Settings().model_dump()[name] for name in ("family_share", "article_share")},
)
