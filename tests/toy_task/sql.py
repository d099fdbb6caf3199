"""Merges the shards of the toy task."""

from __future__ import annotations

from curation.tasks.shared import merge_sql as merged
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.stages import Drop, SetStage, Sql
from tests.toy_task.build import NAME

OVER_ALL = SetStage(
    name=f"{NAME}_all",
    version=1,
    inputs={
        "all_queries": (f"{NAME}.queries", Query),
        "all_documents": (f"{NAME}.documents", Document),
        "all_qrels": (f"{NAME}.qrels", Qrel),
        "all_excluded": (f"{NAME}.excluded", Excluded),
    },
    outputs={
        "queries": Sql(merged.QUERIES, Query, ("id",)),
        "documents": Sql(merged.DOCUMENTS, Document, ("id",)),
        "qrels": Sql(merged.QRELS, Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(merged.EXCLUDED, Excluded, ("query_id", "corpus_id")),
        "drops": Sql(merged.DROPS, Drop, ("unit", "id")),
    },
    accounts=merged.ACCOUNTS,
)
