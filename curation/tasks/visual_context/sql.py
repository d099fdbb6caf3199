"""Merges the shards of visual_context: one row per equal query, one document per equal released text.

Labels and exclusions follow the document that is kept; a positive label wins over an exclusion.
"""

from __future__ import annotations

from curation.tasks.shared.equal_texts_sql import kept_of_equal
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.stages import Drop, SetAccount, SetStage, Sql

_KEPT_QUERIES = """
    SELECT id, min(source_id) AS source_id FROM all_queries GROUP BY id
"""
_KEPT = kept_of_equal("all_documents")
"""Texts are the same when letters and digits are, whatever case and punctuation (compare schemas.hashing)."""

_QUERIES = f"""
    SELECT q.* FROM all_queries AS q
    JOIN ({_KEPT_QUERIES}) AS k ON q.id = k.id AND q.source_id = k.source_id
    WHERE q.id IN (SELECT query_id FROM all_qrels)
"""
_DOCUMENTS = f"""
    WITH {_KEPT}
    SELECT d.* FROM all_documents AS d JOIN kept AS k ON d.id = k.id AND d.id = k.kept
"""
_QRELS = f"""
    WITH {_KEPT}
    SELECT query_id, kept AS corpus_id, score, task, rule, label_status, evidence, via
    FROM all_qrels JOIN kept AS k ON corpus_id = k.id
    QUALIFY row_number() OVER (PARTITION BY query_id, kept ORDER BY score DESC, corpus_id, rule) = 1
"""
_EXCLUDED = f"""
    WITH {_KEPT}
    SELECT e.query_id, k.kept AS corpus_id, e.task, min(e.reason) AS reason
    FROM all_excluded AS e
    JOIN kept AS k ON e.corpus_id = k.id
    ANTI JOIN qrels ON qrels.query_id = e.query_id AND qrels.corpus_id = k.kept
    GROUP BY e.query_id, k.kept, e.task
"""
_DROPS = f"""
    WITH {_KEPT}
    SELECT 'query' AS unit, q.source_id AS id, q.article_id, 'duplicate_query' AS reason,
        k.source_id AS detail
    FROM all_queries AS q JOIN ({_KEPT_QUERIES}) AS k ON q.id = k.id AND q.source_id <> k.source_id
    UNION ALL
    SELECT 'document', d.id, d.article_id, 'duplicate_document', k.kept
    FROM all_documents AS d JOIN kept AS k ON d.id = k.id AND d.id <> k.kept
"""

OVER_ALL = SetStage(
    name="visual_context_all",
    version=2,
    inputs={
        "all_queries": ("visual_context.queries", Query),
        "all_documents": ("visual_context.documents", Document),
        "all_qrels": ("visual_context.qrels", Qrel),
        "all_excluded": ("visual_context.excluded", Excluded),
    },
    outputs={
        "queries": Sql(_QUERIES, Query, ("id",)),
        "documents": Sql(_DOCUMENTS, Document, ("id",)),
        "qrels": Sql(_QRELS, Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(_EXCLUDED, Excluded, ("query_id", "corpus_id")),
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    },
    accounts=(
        SetAccount("query", "all_queries", "source_id", "queries", "source_id"),
        SetAccount("document", "all_documents", "id", "documents", "id"),
    ),
)
"""A query without a qrel would be neither kept nor dropped, so the first account proves there is none."""
