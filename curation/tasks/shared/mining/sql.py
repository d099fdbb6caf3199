"""Mining as SQL: the passages that BM25 and shared concepts rank first for each view of each query.

Weights are whole numbers before they are added, so sums do not depend on their order, nor ranks on the
processor. BM25 has Lucene's formula with the parameters of `curation.evaluation.bm25`.
"""

from __future__ import annotations

from curation.evaluation.bm25 import K1, B
from curation.tasks.shared.mining.records import Mined
from schemas.stages import Sql

UNIT = 10_000
"""What weights are counted in: ten-thousandths, far coarser than processors differ in a logarithm."""
_IDF = "ln(1 + (n - df + 0.5) / (df + 0.5))"


def mined(depth: str, documents: str = "documents_indexed", views: str = "views", within: str = "") -> Sql:
    """The statement that mines: rows of `Mined`, unique by query, document, view and system.

    Args:
        depth: setting of the stage that says how many passages of each view and system.
        documents: view of IndexedDocument rows.
        views: view of IndexedView rows, one for each query and view.
        within: view of (query_id, article_key): only such articles are searched; '' for all.
    """
    return Sql(_text(depth, documents, views, within), Mined, ("query_id", "corpus_id", "view", "system"))


def _text(depth: str, documents: str, views: str, within: str) -> str:
    inside = (
        f"SEMI JOIN {within} AS c ON c.query_id = a.query_id AND c.article_key = w.article_key"
        if within
        else ""
    )
    norm = f"{K1} * ({1 - B} + {B} * length * n / greatest(total, 1))"
    return f"""
    WITH corpus AS (SELECT count(*) AS n, coalesce(sum(length), 0) AS total FROM {documents}),
    asked AS MATERIALIZED (
        SELECT query_id, view, article_key, t.term AS item, t.uses AS times, 'bm25' AS system
        FROM (SELECT query_id, view, article_key, unnest(terms) AS t FROM {views})
        UNION ALL
        SELECT query_id, view, article_key, unnest(concepts), 1, 'concepts' FROM {views}),
    wanted AS (SELECT DISTINCT system, item FROM asked),
    held AS MATERIALIZED (
        SELECT h.* FROM (
            SELECT corpus_id, article_key, length, t.term AS item, t.uses AS uses, 'bm25' AS system
            FROM (SELECT corpus_id, article_key, length, unnest(terms) AS t FROM {documents})
            UNION ALL
            SELECT corpus_id, article_key, length, unnest(concepts), 1, 'concepts' FROM {documents}) AS h
        SEMI JOIN wanted USING (system, item)),
    spread AS (SELECT system, item, count(*) AS df FROM held GROUP BY system, item),
    weighted AS (
        SELECT corpus_id, article_key, system, item, CAST(round({UNIT} * {_IDF} *
            CASE system WHEN 'concepts' THEN 1 ELSE uses / (uses + {norm}) END) AS BIGINT) AS weight
        FROM held JOIN spread USING (system, item) CROSS JOIN corpus),
    scored AS (
        SELECT a.query_id, w.corpus_id, a.view, a.system, CAST(sum(w.weight * a.times) AS BIGINT) AS score
        FROM asked AS a JOIN weighted AS w ON a.system = w.system AND a.item = w.item
        {inside}
        WHERE a.article_key <> w.article_key
        GROUP BY a.query_id, w.corpus_id, a.view, a.system),
    ranked AS (
        SELECT *, CAST(row_number() OVER (
            PARTITION BY query_id, view, system ORDER BY score DESC, corpus_id) AS BIGINT) AS rank
        FROM scored WHERE score > 0)
    SELECT query_id, corpus_id, view, system, rank, score FROM ranked WHERE rank <= getvariable('{depth}')
    """
