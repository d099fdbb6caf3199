"""What is released: queries with a positive or candidate, every document, labels, exclusions, answers."""

from __future__ import annotations

from curation.tasks.shared.judging.mined import mined_pairs
from curation.tasks.shared.judging.records import AskedPair, JudgedPair
from curation.tasks.shared.support.records import AnsweredQuery, FoundPair, LabelledPair
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.extracted import Source
from schemas.stages import Drop, Reason, SetAccount, SetStage, Sql

NAME = "reference_qa"
_QUERIES = """
    SELECT q.* FROM asked AS q WHERE q.id IN (SELECT query_id FROM labelled WHERE score > 0)
"""
_QRELS = f"""
    SELECT query_id, corpus_id, score, '{NAME}' AS task, rule, label_status, evidence, '' AS via
    FROM labelled WHERE score IS NOT NULL AND query_id IN (SELECT id FROM queries)
"""
_EXCLUDED = f"""
    SELECT query_id, corpus_id, '{NAME}' AS task, reason
    FROM labelled WHERE reason <> '' AND query_id IN (SELECT id FROM queries)
"""
_DROPS = f"""
    SELECT 'query' AS unit, q.source_id AS id, q.article_id, '{Reason.NO_SUPPORT}' AS reason,
        count(l.query_id) || ' of ' || count(p.query_id) || ' pairs judged or cited' AS detail
    FROM asked AS q LEFT JOIN pairs AS p ON p.query_id = q.id LEFT JOIN labelled AS l ON l.pair = p.id
    WHERE q.id NOT IN (SELECT id FROM queries) GROUP BY q.source_id, q.article_id
"""
"""A query without a positive or candidate is not released: what no model was asked may support its answer."""
OVER_ALL = SetStage(
    name=f"{NAME}_all",
    version=4,
    inputs={
        "asked": (f"{NAME}_pairs.queries", Query),
        "corpus": (f"{NAME}_pairs.documents", Document),
        "all_answers": (f"{NAME}_pairs.answers", AnsweredQuery),
        "all_sources": (f"{NAME}_pairs.sources", Source),
        "pairs": (f"{NAME}_pairs.pairs", AskedPair),
        "labelled": (f"{NAME}_labels.labelled", LabelledPair),
        "found": (f"{NAME}_pairs.found", FoundPair),
        "judged": (f"{NAME}_judged.judged", JudgedPair),
    },
    outputs={
        "queries": Sql(_QUERIES, Query, ("id",)),
        "documents": Sql("FROM corpus", Document, ("id",)),
        "qrels": Sql(_QRELS, Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(_EXCLUDED, Excluded, ("query_id", "corpus_id")),
        "answers": Sql(
            "FROM all_answers WHERE query_id IN (SELECT id FROM queries)", AnsweredQuery, ("query_id",)
        ),
        "collections": Sql("FROM all_sources", Source, ("id",)),
        "judgements": mined_pairs("pairs"),
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    },
    accounts=(SetAccount("query", "asked", "source_id", "queries", "source_id"),),
    reasons=frozenset({Reason.NO_SUPPORT}),
)
