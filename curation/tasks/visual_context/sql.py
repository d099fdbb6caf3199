"""Merges the shards of visual_context: one row per equal query, one document per equal released text.

Labels and exclusions follow the document that is kept; a positive label wins over an exclusion. Queries of
single figures, of several and of single panels come from three stages.
"""

from __future__ import annotations

from curation.tasks.shared.merge_sql import ACCOUNTS, DOCUMENTS, DROPS, EXCLUDED, QRELS, QUERIES
from curation.tasks.shared.several_images import of_kept
from curation.tasks.visual_context.panels import NAME as OVER_PANELS
from curation.tasks.visual_context.several import NAME as OVER_SEVERAL
from schemas.benchmark import Document, Excluded, Qrel, Query, QueryPanel, RowImage
from schemas.stages import Drop, SetStage, Sql

_ROWS = {"queries": Query, "qrels": Qrel, "excluded": Excluded}


_STAGES = {"one": "visual_context", "several": OVER_SEVERAL, "panel": OVER_PANELS}
_OF_PANELS = """SELECT p.* FROM all_panels AS p
    WHERE (query_id, panel_id) IN (SELECT id, source_id FROM queries)"""


def _together(table: str) -> str:
    """Rows of all stages."""
    return " UNION ALL ".join(f"SELECT * FROM {stage}_{table}" for stage in _STAGES)


def _over_all(text: str, table: str) -> str:
    """A statement over `all_<table>`, which holds the rows of all stages."""
    return f"WITH all_{table} AS ({_together(table)}) SELECT * FROM ({text})"


OVER_ALL = SetStage(
    name="visual_context_all",
    version=5,
    inputs={
        "all_documents": ("visual_context.documents", Document),
        "all_images": (f"{OVER_SEVERAL}.images", RowImage),
        "all_panels": (f"{OVER_PANELS}.panels", QueryPanel),
        **{
            f"{stage}_{table}": (f"{name}.{table}", row)
            for stage, name in _STAGES.items()
            for table, row in _ROWS.items()
        },
    },
    outputs={
        "all_queries": Sql(_together("queries"), Query, ("id", "source_id")),
        "queries": Sql(_over_all(QUERIES, "qrels"), Query, ("id",)),
        "documents": Sql(DOCUMENTS, Document, ("id",)),
        "qrels": Sql(_over_all(QRELS, "qrels"), Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(_over_all(EXCLUDED, "excluded"), Excluded, ("query_id", "corpus_id")),
        "images": of_kept(("query",)),
        "panels": Sql(_OF_PANELS, QueryPanel, ("query_id",)),
        "drops": Sql(DROPS, Drop, ("unit", "id")),
    },
    accounts=ACCOUNTS,
)
