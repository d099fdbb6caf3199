"""Queries and corpus of all shards, and the passages that systems find for each query."""

from __future__ import annotations

from curation.tasks.shared.judging.records import AskedPair
from curation.tasks.shared.merge_sql import DOCUMENTS, DROPPED_DOCUMENTS, KEPT
from curation.tasks.shared.mining.records import IndexedDocument, IndexedView
from curation.tasks.shared.mining.sql import mined
from curation.tasks.shared.support.records import (
    AnsweredQuery,
    ArticleKey,
    CitedArticle,
    CitedSource,
    FoundPair,
)
from curation.tasks.shared.support.settings import VERSION, SupportSettings
from curation.tasks.shared.support.whole import SUFFIX
from schemas.benchmark import Document, Query
from schemas.extracted import Source
from schemas.stages import Drop, SetAccount, SetStage, Sql

_KINDS = ("question", "exercise")


def _both(table: str) -> str:
    return " UNION ALL ".join(f"SELECT * FROM {kind}_{table}" for kind in _KINDS)


_FIRST = "first AS (SELECT id, min(source_id) AS source_id FROM asked GROUP BY id)"
_QUERIES = f"""
    WITH {_FIRST} SELECT q.* FROM asked AS q JOIN first AS f ON f.id = q.id AND f.source_id = q.source_id
"""
_OF_QUERIES = (
    "SELECT t.* FROM ({rows}) AS t JOIN queries AS q ON q.id = t.query_id AND q.source_id = t.source_id"
)
_INDEXED = "SELECT x.* FROM all_indexed AS x SEMI JOIN documents AS d ON d.id = x.corpus_id"
_FAMILIES = """families AS (
        SELECT k.key, any_value(x.article_key) AS article_key
        FROM all_keys AS k JOIN documents AS d ON d.article_id = k.article_id
        JOIN documents_indexed AS x ON x.corpus_id = d.id GROUP BY k.key, k.article_id)"""
_CITED = f"""
    WITH {_FAMILIES},
    named AS (SELECT c.query_id, f.article_key, c.snippets
        FROM ({_OF_QUERIES.format(rows=_both("cited"))}) AS c JOIN families AS f ON f.key = c.key)
    SELECT query_id, article_key, list_sort(list_distinct(flatten(list(snippets)))) AS snippets
    FROM named GROUP BY query_id, article_key
"""
_FOUND = f"""
    WITH hits AS (
        SELECT query_id, corpus_id, system || ':' || view || ':' || rank AS found_by, NULL AS cited_rank
        FROM mined
        UNION ALL SELECT query_id, corpus_id, NULL, rank FROM of_cited),
    quoted AS (
        SELECT c.query_id, d.id AS corpus_id, NULL AS found_by, NULL AS cited_rank
        FROM (SELECT query_id, article_key, unnest(snippets) AS snippet FROM cited_articles) AS c
        JOIN documents_indexed AS x ON x.article_key = c.article_key JOIN documents AS d ON d.id = x.corpus_id
        WHERE contains(normalise_text(d.text), normalise_text(c.snippet))),
    pairs AS (
        SELECT query_id, corpus_id, list_sort(list(found_by) FILTER (found_by IS NOT NULL)) AS found_by,
            min(cited_rank) AS cited_rank
        FROM (FROM hits UNION ALL FROM quoted) GROUP BY query_id, corpus_id)
    SELECT p.query_id || ' ' || p.corpus_id AS pair, p.query_id, p.corpus_id,
        coalesce(p.found_by, []) AS found_by,
        c.query_id IS NOT NULL AS is_cited, CAST(p.cited_rank AS BIGINT) AS cited_rank,
        coalesce(c.snippets, []) AS snippets
    FROM pairs AS p JOIN documents_indexed AS x ON x.corpus_id = p.corpus_id
    LEFT JOIN cited_articles AS c ON c.query_id = p.query_id AND c.article_key = x.article_key
    WHERE c.query_id IS NOT NULL OR NOT ends_with(p.corpus_id, '{SUFFIX}')
"""
"""Of whole articles only those that an answer names: no judge is asked to read the others."""
_PAIRS = """
    SELECT f.pair AS id, q.id AS query_id, d.id AS corpus_id, q.article_id, q.text AS question, a.answer,
        '' AS reasoning, d.text AS passage, d.transforms
    FROM found AS f JOIN queries AS q ON q.id = f.query_id JOIN documents AS d ON d.id = f.corpus_id
    JOIN answers AS a ON a.query_id = q.id
"""
_TO_JUDGE = f"FROM pairs WHERE NOT ends_with(corpus_id, '{SUFFIX}')"
_DROPS = f"""
    WITH {KEPT}, {_FIRST}
    SELECT 'query' AS unit, q.source_id AS id, q.article_id, 'duplicate_query' AS reason,
        f.source_id AS detail
    FROM asked AS q JOIN first AS f ON f.id = q.id AND f.source_id <> q.source_id
    UNION ALL {DROPPED_DOCUMENTS}
"""


def _inputs(task: str) -> dict[str, tuple[str, type]]:
    tables = {"queries": Query, "answers": AnsweredQuery, "cited": CitedSource, "views": IndexedView,
              "sources": Source}  # fmt: skip
    return {
        "all_documents": (f"{task}.documents", Document),
        "all_indexed": (f"{task}.indexed", IndexedDocument),
        "all_keys": (f"{task}.article_keys", ArticleKey),
        **{
            f"{kind}_{table}": (f"{task}_{kind}s.{table}", row)
            for kind in _KINDS
            for table, row in tables.items()
        },
    }


def pairs_stage(task: str) -> SetStage:
    """The stage `<task>_pairs` over the queries and corpus of a task."""
    return SetStage(
        name=f"{task}_pairs",
        version=VERSION,
        inputs=_inputs(task),
        outputs={
            "asked": Sql(_both("queries"), Query, ("id", "source_id")),
            "sources": Sql(_both("sources"), Source, ("id",)),
            "queries": Sql(_QUERIES, Query, ("id",)),
            "documents": Sql(DOCUMENTS, Document, ("id",)),
            "answers": Sql(_OF_QUERIES.format(rows=_both("answers")), AnsweredQuery, ("query_id",)),
            "views": Sql(_OF_QUERIES.format(rows=_both("views")), IndexedView, ("query_id", "view")),
            "documents_indexed": Sql(_INDEXED, IndexedDocument, ("corpus_id",)),
            "cited_articles": Sql(_CITED, CitedArticle, ("query_id", "article_key")),
            "mined": mined("mining_depth"),
            "of_cited": mined("cited_depth", within="cited_articles"),
            "found": Sql(_FOUND, FoundPair, ("pair",)),
            "pairs": Sql(_PAIRS, AskedPair, ("id",)),
            "to_judge": Sql(_TO_JUDGE, AskedPair, ("id",)),
            "drops": Sql(_DROPS, Drop, ("unit", "id")),
        },
        accounts=(
            SetAccount("query", "asked", "source_id", "queries", "source_id"),
            SetAccount("document", "all_documents", "id", "documents", "id"),
            SetAccount("pair", "found", "pair", "pairs", "id"),
        ),
        params={name: getattr(SupportSettings(), name) for name in ("mining_depth", "cited_depth")},
    )
