"""Merges the shards of visual_context: one row per equal query, one document per equal released text.

Labels and exclusions follow the document that is kept; a positive label wins over an exclusion. Queries of
single figures, of several and of single panels come from three stages. Labels are those of passages, lifted
to the sections or articles that hold them where these are the documents.
"""

from __future__ import annotations

from curation.tasks.shared.larger_sql import ALL_DOCUMENTS, LOST_QUERIES, PARTS, PASSAGE_LABELS, lifting
from curation.tasks.shared.merge_sql import DOCUMENTS, DROPPED_DOCUMENTS, KEPT, KEPT_QUERIES
from curation.tasks.shared.several_images import of_kept
from curation.tasks.visual_context.larger import NAME as LARGER
from curation.tasks.visual_context.panels import NAME as OVER_PANELS
from curation.tasks.visual_context.several import NAME as OVER_SEVERAL
from schemas.benchmark import Document, DocumentId, Excluded, Part, Qrel, Query, QueryPanel, RowImage
from schemas.stages import Drop, SetAccount, SetStage, Sql

_ROWS = {"queries": Query, "qrels": Qrel, "excluded": Excluded}
_FIRST = f"""(WITH {KEPT_QUERIES} SELECT q.* FROM all_queries AS q
    JOIN kept_queries AS k ON q.id = k.id AND q.source_id = k.source_id)"""
_DROPS = f"""
    WITH {ALL_DOCUMENTS}, {KEPT}, {KEPT_QUERIES}
    SELECT 'query' AS unit, q.source_id AS id, q.article_id, 'duplicate_query' AS reason,
        k.source_id AS detail
    FROM all_queries AS q JOIN kept_queries AS k ON q.id = k.id AND q.source_id <> k.source_id
    UNION ALL {DROPPED_DOCUMENTS} UNION ALL {LOST_QUERIES.format(asked=_FIRST)}
"""


_STAGES = {"one": "visual_context", "several": OVER_SEVERAL, "panel": OVER_PANELS}
_OF_PANELS = """SELECT p.* FROM all_panels AS p
    WHERE (query_id, panel_id) IN (SELECT id, source_id FROM queries)"""


def _together(table: str) -> str:
    """Rows of all stages."""
    return " UNION ALL ".join(f"SELECT * FROM {stage}_{table}" for stage in _STAGES)


_LIFTED = lifting(_together("qrels"), _together("excluded"))
OVER_ALL = SetStage(
    name="visual_context_all",
    version=6,
    inputs={
        "passage_documents": ("visual_context.documents", Document),
        "larger_documents": (f"{LARGER}.documents", Document),
        "all_parts": (f"{LARGER}.parts", Part),
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
        "document_ids": Sql(f"WITH {ALL_DOCUMENTS} SELECT id FROM all_documents", DocumentId, ("id",)),
        "documents": Sql(f"WITH {ALL_DOCUMENTS} SELECT * FROM ({DOCUMENTS})", Document, ("id",)),
        **{name: _LIFTED[name] for name in ("document_parts", "passage_qrels", "passage_excluded", "qrels")},
        "queries": Sql(
            f"SELECT * FROM {_FIRST} WHERE id IN (SELECT query_id FROM qrels WHERE score > 0)", Query, ("id",)
        ),
        "excluded": _LIFTED["excluded"],
        "parts": PARTS,
        "passage_labels": PASSAGE_LABELS,
        "images": of_kept(("query",)),
        "panels": Sql(_OF_PANELS, QueryPanel, ("query_id",)),
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    },
    accounts=(
        SetAccount("query", "all_queries", "source_id", "queries", "source_id"),
        SetAccount("document", "document_ids", "id", "documents", "id"),
    ),
)
