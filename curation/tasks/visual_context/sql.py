"""Merges the shards of visual_context: one row per equal query, one document per equal released text.

Labels and exclusions follow the document that is kept; a positive label wins over an exclusion.
"""

from __future__ import annotations

from curation.tasks.shared.merge_sql import ACCOUNTS, DOCUMENTS, DROPS, EXCLUDED, QRELS, QUERIES
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.stages import Drop, SetStage, Sql

OVER_ALL = SetStage(
    name="visual_context_all",
    version=4,
    inputs={
        "all_queries": ("visual_context.queries", Query),
        "all_documents": ("visual_context.documents", Document),
        "all_qrels": ("visual_context.qrels", Qrel),
        "all_excluded": ("visual_context.excluded", Excluded),
    },
    outputs={
        "queries": Sql(QUERIES, Query, ("id",)),
        "documents": Sql(DOCUMENTS, Document, ("id",)),
        "qrels": Sql(QRELS, Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(EXCLUDED, Excluded, ("query_id", "corpus_id")),
        "drops": Sql(DROPS, Drop, ("unit", "id")),
    },
    accounts=ACCOUNTS,
)
