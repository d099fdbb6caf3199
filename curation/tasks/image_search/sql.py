"""Merges the shards of image search: one query per text, one document per image.

Images are one when their bytes are, or their perceptual hashes unless these are of nearly plain images.
Labels follow the image that is kept; what looks nearly like a positive one is set apart unjudged.
"""

from __future__ import annotations

from curation.similarity.hashes_sql import MASKS, NEAR, is_telling
from curation.tasks.image_search.facts import ImageCheck, ImageFacts
from curation.tasks.shared.merge_sql import ACCOUNTS
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.stages import Drop, SetStage, Sql

NAME = "image_search"
OWN_IMAGE = f"{NAME}/own-image@1"
SAME_CASE = f"{NAME}/same-case@1"
CASE_IMAGE = f"{NAME}/case-image@2"

_QUERY_OF = """query_of AS (
        SELECT id, source_id, min(source_id) OVER same AS kept_source
        FROM all_queries WINDOW same AS (PARTITION BY normalise_text(text), language))"""
_TEXT_OF = """text_of AS (
        SELECT DISTINCT q.id, k.id AS kept FROM query_of AS q
        JOIN query_of AS k ON k.source_id = q.kept_source)"""
"""id of a query -> id of the one kept of equal texts."""
_BITS = "try_cast('0x' || phash AS UBIGINT)"
_HASHED = f"""hashed AS (
        SELECT id, sha256, {_BITS} AS bits, coalesce(length(phash) = 16
            AND {is_telling(_BITS)}, false) AS is_telling
        FROM all_facts)"""
_IMAGE_OF = f"""{_HASHED},
    image_of AS (
        SELECT id, bits, is_telling,
            min(id) OVER (PARTITION BY CASE WHEN is_telling THEN bits::VARCHAR ELSE sha256 END) AS kept
        FROM hashed)"""

_QUERIES = f"""
    WITH {_QUERY_OF}
    SELECT q.* FROM all_queries AS q JOIN query_of AS k ON k.source_id = q.source_id
    WHERE q.source_id = k.kept_source
"""
_DOCUMENTS = f"""
    WITH {_IMAGE_OF} SELECT d.* FROM all_documents AS d JOIN image_of AS i ON i.id = d.id AND i.kept = d.id
"""
_CHECKS = f"""
    WITH {_IMAGE_OF} SELECT f.id, f.kind, f.text_check, f.flags
    FROM all_facts AS f JOIN image_of AS i ON i.id = f.id AND i.kept = f.id
"""
_QRELS = f"""
    WITH {_IMAGE_OF}, {_QUERY_OF}, {_TEXT_OF}
    SELECT t.kept AS query_id, i.kept AS corpus_id, r.score, r.task, r.rule, r.label_status, r.evidence, r.via
    FROM all_qrels AS r JOIN image_of AS i ON i.id = r.corpus_id JOIN text_of AS t ON t.id = r.query_id
    QUALIFY row_number() OVER (
        PARTITION BY t.kept, i.kept ORDER BY r.score DESC, r.corpus_id, r.query_id, r.rule) = 1
"""
_NEAR = f"""parts AS (SELECT h.id, h.bits, m.number, h.bits & m.mask AS part
        FROM image_of AS h CROSS JOIN (VALUES {MASKS}) AS m(number, mask)
        WHERE is_telling AND h.id = h.kept),
    near AS (
        SELECT DISTINCT a.id AS one, b.id AS other FROM parts AS a
        JOIN parts AS b ON a.number = b.number AND a.part = b.part AND a.id <> b.id
        WHERE bit_count(xor(a.bits, b.bits)) <= {NEAR})"""
_EXCLUDED = f"""
    WITH {_IMAGE_OF}, {_QUERY_OF}, {_TEXT_OF}, {_NEAR},
    apart AS (
        SELECT t.kept AS query_id, i.kept AS corpus_id, e.reason FROM all_excluded AS e
        JOIN image_of AS i ON i.id = e.corpus_id JOIN text_of AS t ON t.id = e.query_id
        UNION ALL
        SELECT r.query_id, n.other, 'near_image' FROM qrels AS r JOIN near AS n ON n.one = r.corpus_id)
    SELECT a.query_id, a.corpus_id, '{NAME}' AS task,
        arg_min(a.reason, CASE a.reason
            WHEN 'same_case_image' THEN 0 WHEN 'own_article' THEN 1 ELSE 2 END) AS reason
    FROM apart AS a
    ANTI JOIN qrels ON qrels.query_id = a.query_id AND qrels.corpus_id = a.corpus_id
    GROUP BY a.query_id, a.corpus_id
"""
_DROPS = f"""
    WITH {_IMAGE_OF}, {_QUERY_OF}
    SELECT 'query' AS unit, q.source_id AS id, q.article_id, 'duplicate_query' AS reason,
        k.kept_source AS detail
    FROM all_queries AS q JOIN query_of AS k ON k.source_id = q.source_id AND k.kept_source <> q.source_id
    UNION ALL
    SELECT 'document', d.id, d.article_id, 'duplicate_document', i.kept
    FROM all_documents AS d JOIN image_of AS i ON i.id = d.id AND i.kept <> d.id
"""

OVER_ALL = SetStage(
    name=f"{NAME}_all",
    version=6,
    inputs={
        "all_queries": (f"{NAME}.queries", Query),
        "all_documents": (f"{NAME}.documents", Document),
        "all_facts": (f"{NAME}.facts", ImageFacts),
        "all_qrels": (f"{NAME}.qrels", Qrel),
        "all_excluded": (f"{NAME}.excluded", Excluded),
    },
    outputs={
        "queries": Sql(_QUERIES, Query, ("id",)),
        "documents": Sql(_DOCUMENTS, Document, ("id",)),
        "image_checks": Sql(_CHECKS, ImageCheck, ("id",)),
        "qrels": Sql(_QRELS, Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(_EXCLUDED, Excluded, ("query_id", "corpus_id")),
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    },
    accounts=ACCOUNTS,
)
