"""Over all shards and the whole vocabulary: the sets of eight, and what is released of them."""

from __future__ import annotations

from curation.tasks.concept_discrimination.anchors import NAME
from curation.tasks.concept_discrimination.languages_sql import LANGUAGE
from curation.tasks.concept_discrimination.names_sql import DROPPED, named_sql
from curation.tasks.concept_discrimination.records import Anchor, Confusion, EarlierMember
from curation.tasks.concept_discrimination.sets_sql import (
    DEPTH,
    FAR_STEPS,
    IDENTIFIES,
    MEMBERS,
    NEAR_STEPS,
    SETS_SQL,
    WINDOW,
)
from curation.tasks.concept_discrimination.settings import OwnReason
from curation.tasks.concept_discrimination.vocabulary_sql import (
    COMMON_PER_MILLE,
    LEAST_COMMON,
    MAX_CHILDREN,
    VOCABULARY,
)
from curation.tasks.shared.quoted import LICENCE_SQL
from curation.vocabulary.merge_sql import fold
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.concept import DocumentConcept
from schemas.confusion_table import CONFUSIONS
from schemas.extracted import Source
from schemas.stages import Drop, EarlierStage, SetAccount, SetStage, Sql
from schemas.vocabulary import (
    ConceptDefinition,
    ConceptMapping,
    ConceptName,
    ConceptRelation,
    ConceptType,
    RetiredConcept,
    VocabularySource,
)

GOLD = f"{NAME}/author-link@1"
"""The concept that the author's own keyword or title names."""
_ENTRY = "'vocabulary:' || d.source || '/' || d.concept"
"""Id of what stands in the place of a definition's article: the entry of its source."""
_TRIGRAMS = "list_transform(range(1, greatest(length({0}) - 1, 2)), lambda i: {0}[i:i + 2])"
_HASH = "left(sha256(t.query_id || ' ' || {0}), 16)"
_CONFUSIONS = f"""
    WITH RECURSIVE asked AS (SELECT query_id, article_id FROM anchored),
    taken AS (
        SELECT s.query_id, c.number, 'member' AS role, c.kin, c.via FROM sets AS s
        JOIN checked AS c ON c.query_id = s.query_id AND c.reason = '' AND (c.kin = 'far') = (s.kin = 'far')
        WHERE s.place = 1 QUALIFY row_number() OVER (PARTITION BY s.query_id ORDER BY c.place) <= {MEMBERS}
        UNION ALL SELECT s.query_id, g.number, 'gold', 'itself', '' FROM sets AS s
        JOIN golds AS g ON g.query_id = s.query_id WHERE s.place = 1),
    ways(start, above, steps) AS (
        SELECT DISTINCT number, number, 0 FROM taken
        UNION SELECT w.start, e.parent, w.steps + 1 FROM ways AS w JOIN edges AS e ON e.child = w.above
            WHERE w.steps < {FAR_STEPS}),
    progeny(start, below) AS (
        SELECT DISTINCT number, number FROM taken
        UNION SELECT p.start, e.child FROM progeny AS p JOIN edges AS e ON e.parent = p.below),
    over AS (
        SELECT w.start, list_sort(list(n.concept) FILTER (w.steps <= {NEAR_STEPS})) AS above,
            coalesce(list_sort(list(n.concept) FILTER (w.steps = {FAR_STEPS})), []) AS further
        FROM (SELECT start, above, min(steps) AS steps FROM ways GROUP BY ALL) AS w
        JOIN numbers AS n ON n.number = w.above GROUP BY w.start),
    under AS (
        SELECT p.start, list_sort(list(DISTINCT n.concept)) AS below FROM progeny AS p
        JOIN numbers AS n ON n.number = p.below GROUP BY p.start),
    called AS (
        SELECT d.number, split_part(n.language, '-', 1) AS language, n.name FROM names AS n
        JOIN described AS d ON d.concept = n.concept SEMI JOIN taken AS t ON t.number = d.number),
    hashed AS (
        SELECT t.query_id, t.number, list_sort(list(DISTINCT {_HASH.format("c.form")})) AS name_hashes
        FROM taken AS t JOIN (
            SELECT DISTINCT number, name_form(name) AS form FROM called WHERE language = '{LANGUAGE}'
            ) AS c ON c.number = t.number
        WHERE c.form <> '' GROUP BY ALL),
    meant AS (
        SELECT t.query_id, t.number, list_sort(list(DISTINCT {_HASH.format("m.other")})) AS id_hashes
        FROM taken AS t JOIN numbers AS n ON n.number = t.number JOIN mappings AS m ON m.concept = n.concept
        WHERE {IDENTIFIES} GROUP BY ALL),
    spelt AS (
        SELECT number, language, {fold("name")} AS name FROM called),
    said AS (
        SELECT t.query_id, t.number, {_TRIGRAMS.format("g.surface")} AS a, {_TRIGRAMS.format("c.name")} AS b
        FROM taken AS t JOIN golds AS g ON g.query_id = t.query_id JOIN spelt AS c ON c.number = t.number
            AND lower(c.language) IN ('{LANGUAGE}', g.language)),
    distances AS (
        SELECT query_id, number, min(1000 - 1000 * len(list_intersect(a, b))
            // len(list_distinct(list_concat(a, b)))) AS distance FROM said GROUP BY ALL)
    SELECT t.query_id, {_ENTRY} AS corpus_id, d.concept, t.role, t.kin, t.via,
        x.distance AS surface_distance, d.names, d.depth,
        bit_count(d.languages)::BIGINT AS languages,
        d.articles - (f.concept IS NOT NULL)::BIGINT AS articles,
        o.above, o.further, u.below, coalesce(h.name_hashes, []) AS name_hashes,
        coalesce(i.id_hashes, []) AS id_hashes, if(t.role = 'gold', w.common, []) AS common
    FROM taken AS t JOIN described AS d ON d.number = t.number
    JOIN distances AS x ON x.query_id = t.query_id AND x.number = t.number
    JOIN over AS o ON o.start = t.number JOIN under AS u ON u.start = t.number
    JOIN golds AS w ON w.query_id = t.query_id
    LEFT JOIN hashed AS h ON h.query_id = t.query_id AND h.number = t.number
    LEFT JOIN meant AS i ON i.query_id = t.query_id AND i.number = t.number
    JOIN asked AS k ON k.query_id = t.query_id
    LEFT JOIN found_concepts AS f ON f.article_id = k.article_id AND f.concept = d.concept
"""
"""The distance is one minus Jaccard's index of groups of three letters, by the concept's nearest name."""
_QUERIES = """
    SELECT q.* REPLACE ([c.concept] AS targets, s.tier AS tier)
    FROM (
        FROM all_queries QUALIFY row_number() OVER (PARTITION BY id ORDER BY article_id, source_id) = 1) AS q
    JOIN sets AS s ON s.query_id = q.id AND s.place = 1
    JOIN confusions AS c ON c.query_id = q.id AND c.role = 'gold'
"""
_CREDITED = """
    credited AS (SELECT source, min(title) AS title, min(release) AS release, min(licence) AS licence,
        max(tier) AS tier, min(url) AS url, min(sha256) AS sha256 FROM sources GROUP BY source),
    used AS (SELECT DISTINCT d.* FROM described AS d JOIN confusions AS c ON c.concept = d.concept)"""
_DOCUMENTS = f"""
    WITH {_CREDITED}
    SELECT {_ENTRY} AS id, '{NAME}' AS task, '' AS title, d.text, '{LANGUAGE}' AS language,
        {_ENTRY} AS article_id, {LICENCE_SQL} AS license, 'vocabulary: ' || v.licence AS license_evidence,
        sha256(d.text) AS text_sha256, t.transforms, false AS is_synthetic, t.image, '' AS patient_id,
        '' AS specialty, 'definition' AS genre
    FROM used AS d JOIN credited AS v ON v.source = d.source CROSS JOIN (
        SELECT coalesce(any_value(transforms) FILTER (false), []) AS transforms,
            any_value(image) FILTER (false) AS image FROM all_queries) AS t
"""
_COLLECTIONS = f"""
    WITH {_CREDITED}
    SELECT {_ENTRY} AS id, v.title || ', ' || v.release || ', ' || d.concept AS title,
        []::VARCHAR[] AS authors,
        v.title AS journal, NULL::BIGINT AS year, NULL::VARCHAR AS doi, NULL::VARCHAR AS pmid,
        NULL::VARCHAR AS pmcid, 'vocabulary' AS article_type, '{LANGUAGE}' AS language,
        []::VARCHAR[] AS subjects, []::VARCHAR[] AS keywords,
        {{'spdx': {LICENCE_SQL}, 'evidence': 'vocabulary: ' || v.licence, 'url': nullif(v.url, ''),
          'statement': v.licence, 'is_disputed': false}} AS licence,
        false AS is_book, false AS is_retracted, false AS is_synthetic, '' AS scope,
        []::VARCHAR[] AS scope_evidence,
        sha256(d.text) AS raw_sha256
    FROM used AS d JOIN credited AS v ON v.source = d.source
    UNION ALL
    SELECT 'vocabulary:' || v.source, v.title || ', ' || v.release, [], v.title, NULL, NULL, NULL, NULL,
        'vocabulary', n.language, [], [],
        {{'spdx': {LICENCE_SQL}, 'evidence': 'vocabulary: ' || v.licence, 'url': nullif(v.url, ''),
          'statement': v.licence, 'is_disputed': false}},
        false, false, false, '', [], v.sha256
    FROM (SELECT source, min(language) AS language FROM (
        SELECT source, language FROM named_corpus
        UNION SELECT source, document_language FROM name_recipes WHERE text <> '') GROUP BY source) AS n
    JOIN credited AS v ON v.source = n.source
"""
"""Of a definition its own entry is credited, of names their source."""
_QRELS = f"""
    SELECT c.query_id, c.corpus_id, 2::BIGINT AS score, '{NAME}' AS task, '{GOLD}' AS rule,
        'structural' AS label_status, [{{'text_id': q.source_id, 'start': a.start - shift,
            'end': a."end" - shift, 'text': a.surface}}] AS evidence, c.concept AS via
    FROM confusions AS c JOIN queries AS q ON q.id = c.query_id
    JOIN all_anchors AS a ON a.query_id = q.id AND a.article_id = q.article_id
    CROSS JOIN LATERAL (SELECT coalesce(list_sum(list_transform(
        list_filter(q.transforms, lambda t: t."end" <= a.start),
        lambda t: (t."end" - t.start) - length(t.original))), 0)::BIGINT AS shift)
    WHERE c.role = 'gold'
"""
_REASON = f"""CASE WHEN a.concepts = 0 THEN '{OwnReason.NO_CONCEPT}'
        WHEN a.concepts > 1 OR a.concept = '' THEN '{OwnReason.SEVERAL_CONCEPTS}'
        WHEN a.matched NOT IN ('', a.concept) THEN '{OwnReason.OTHER_READING}'
        WHEN f.flaw <> '' THEN f.flaw
        WHEN a.concept NOT IN (SELECT concept FROM described) THEN '{OwnReason.NO_DEFINITION}'
        WHEN a.query_id NOT IN (SELECT query_id FROM golds) THEN '{OwnReason.GENERAL_CONCEPT}'
        WHEN a.query_id IN (SELECT query_id FROM sets) THEN '{OwnReason.SAME_PASSAGE}'
        ELSE '{OwnReason.FEW_MEMBERS}' END"""
_DROPS = f"""
    SELECT 'query' AS unit, a.query_id AS id, a.article_id, {_REASON} AS reason,
        CASE WHEN a.concept = '' THEN a.link_id || ': ' || a.concepts || ' concepts'
            ELSE a.link_id || ': ' || a.concept END AS detail
    FROM anchored AS a LEFT JOIN defined AS f ON f.concept = a.concept
    WHERE a.query_id NOT IN (SELECT id FROM queries)
    UNION ALL
    SELECT 'query', q.id, q.article_id, 'duplicate_query', q.source_id FROM all_queries AS q
    QUALIFY row_number() OVER (PARTITION BY q.id ORDER BY q.article_id, q.source_id) > 1
    UNION ALL {DROPPED}
"""

EARLIER = EarlierStage(
    name=f"{NAME}_earlier",
    table=CONFUSIONS,
    columns={"query_id": "query-id", "concept": "concept", "kin": "kin"},
    row=EarlierMember,
)
OVER_ALL = SetStage(
    name=f"{NAME}_all",
    version=9,
    inputs={
        "all_queries": (f"{NAME}.queries", Query),
        "all_anchors": (f"{NAME}.anchors", Anchor),
        "found_concepts": ("ground.concepts", DocumentConcept),
        "earlier": (f"{EARLIER.name}.rows", EarlierMember),
    },
    outputs={
        **VOCABULARY,
        **SETS_SQL,
        "confusions": Sql(_CONFUSIONS, Confusion, ("query_id", "corpus_id")),
        "queries": Sql(_QUERIES, Query, ("id",)),
        **named_sql(LICENCE_SQL),
        "documents": Sql(_DOCUMENTS, Document, ("id",)),
        "qrels": Sql(_QRELS, Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(
            f"SELECT '' AS query_id, '' AS corpus_id, '{NAME}' AS task, '' AS reason WHERE false",
            Excluded,
            ("query_id", "corpus_id"),
        ),
        "collections": Sql(_COLLECTIONS, Source, ("id",)),
        "drops": Sql(_DROPS, Drop, ("unit", "id", "article_id")),
    },
    accounts=(
        SetAccount("query", "all_queries", "id", "queries", "id"),
        SetAccount("set", "asked_sets", "id", "named_queries", "id"),
    ),
    params={
        "members": MEMBERS,
        "max_children": MAX_CHILDREN,
        "depth": DEPTH,
        "window": WINDOW,
        "common_per_mille": COMMON_PER_MILLE,
        "least_common": LEAST_COMMON,
    },
    reasons=frozenset(OwnReason),
    resources={
        "names": ConceptName,
        "types": ConceptType,
        "relations": ConceptRelation,
        "definitions": ConceptDefinition,
        "mappings": ConceptMapping,
        "retired": RetiredConcept,
        "sources": VocabularySource,
    },
)
