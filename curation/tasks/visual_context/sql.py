"""Merges the shards of visual_context: one row per equal query, one document per equal released text.

Labels and exclusions follow the document that is kept; a positive label wins over an exclusion. Queries of
single figures and those over several come from two stages.
"""

from __future__ import annotations

from curation.tasks.shared.merge_sql import ACCOUNTS, DOCUMENTS, DROPS, EXCLUDED, QRELS, QUERIES
from curation.tasks.shared.several_images import of_kept
from curation.tasks.visual_context.several import NAME as OVER_SEVERAL
from schemas.benchmark import Document, Excluded, Qrel, Query, RowImage
from schemas.stages import Drop, SetStage, Sql

_ROWS = {"queries": Query, "qrels": Qrel, "excluded": Excluded}


def _over_both(text: str, *tables: str) -> str:
    """A statement over `all_<table>`, which holds the rows of both stages."""
    both = ", ".join(
        f"all_{table} AS (SELECT * FROM one_{table} UNION ALL SELECT * FROM several_{table})"
        for table in tables
    )
    return f"WITH {both} SELECT * FROM ({text})"


OVER_ALL = SetStage(
    name="visual_context_all",
    version=4,
    inputs={
        "all_documents": ("visual_context.documents", Document),
        "all_images": (f"{OVER_SEVERAL}.images", RowImage),
        **{f"one_{table}": (f"visual_context.{table}", row) for table, row in _ROWS.items()},
        **{f"several_{table}": (f"{OVER_SEVERAL}.{table}", row) for table, row in _ROWS.items()},
    },
    outputs={
        "all_queries": Sql(
            "SELECT * FROM one_queries UNION ALL SELECT * FROM several_queries", Query, ("id", "source_id")
        ),
        "queries": Sql(_over_both(QUERIES, "qrels"), Query, ("id",)),
        "documents": Sql(DOCUMENTS, Document, ("id",)),
        "qrels": Sql(_over_both(QRELS, "qrels"), Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(_over_both(EXCLUDED, "excluded"), Excluded, ("query_id", "corpus_id")),
        "images": of_kept(("query",)),
        "drops": Sql(DROPS, Drop, ("unit", "id")),
    },
    accounts=ACCOUNTS,
)
