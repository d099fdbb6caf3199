"""Merges the shards of the toy task: one query per text, one document per equal text."""

from __future__ import annotations

from curation.tasks.shared.equal_texts_sql import kept_of_equal
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.stages import Drop, SetAccount, SetStage, Sql
from tests.toy_task.build import NAME

_KEPT = kept_of_equal("all_documents")
_FIRST = "SELECT id, min(source_id) AS source_id FROM all_queries GROUP BY id"

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
        "queries": Sql(
            f"SELECT q.* FROM all_queries q SEMI JOIN ({_FIRST}) f USING (id, source_id)", Query, ("id",)
        ),
        "documents": Sql(
            f"WITH {_KEPT} SELECT d.* FROM all_documents d JOIN kept k ON k.id = d.id AND k.kept = d.id",
            Document,
            ("id",),
        ),
        "qrels": Sql(
            f"""WITH {_KEPT} SELECT q.* REPLACE (k.kept AS corpus_id) FROM all_qrels q JOIN kept k
                ON k.id = q.corpus_id QUALIFY row_number() OVER (
                    PARTITION BY query_id, k.kept ORDER BY score DESC, q.corpus_id) = 1""",
            Qrel,
            ("query_id", "corpus_id"),
        ),
        "excluded": Sql(
            f"""WITH {_KEPT} SELECT e.query_id, k.kept AS corpus_id, e.task, min(e.reason) AS reason
                FROM all_excluded e JOIN kept k ON k.id = e.corpus_id
                ANTI JOIN qrels r ON r.query_id = e.query_id AND r.corpus_id = k.kept GROUP BY ALL""",
            Excluded,
            ("query_id", "corpus_id"),
        ),
        "drops": Sql(
            f"""WITH {_KEPT} SELECT 'query' AS unit, q.source_id AS id, q.article_id,
                    'duplicate_query' AS reason, f.source_id AS detail
                FROM all_queries q JOIN ({_FIRST}) f ON f.id = q.id AND f.source_id <> q.source_id
                UNION ALL SELECT 'document', d.id, d.article_id, 'duplicate_document', k.kept
                FROM all_documents d JOIN kept k ON k.id = d.id AND k.kept <> d.id""",
            Drop,
            ("unit", "id"),
        ),
    },
    accounts=(
        SetAccount("query", "all_queries", "source_id", "queries", "source_id"),
        SetAccount("document", "all_documents", "id", "documents", "id"),
    ),
)
