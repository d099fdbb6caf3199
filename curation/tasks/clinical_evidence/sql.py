"""Gathers the vignettes of all shards, what systems find for them, and what the judge made of it."""

from __future__ import annotations

from curation.tasks.clinical_evidence.asking import EXAMS as EXAM_VIGNETTES
from curation.tasks.clinical_evidence.records import (
    Asked,
    Attempt,
    ClosedAnswer,
    ControlSet,
    EvidenceAnswer,
    FoundEvidence,
    Intent,
    Vignette,
)
from curation.tasks.clinical_evidence.settings import REASONS, Settings
from curation.tasks.clinical_evidence.vignettes import NAME
from curation.tasks.shared.judging.mined import mined_pairs
from curation.tasks.shared.judging.records import AskedPair, JudgedPair
from curation.tasks.shared.merge_sql import DOCUMENTS, DROPPED_DOCUMENTS, KEPT
from curation.tasks.shared.mining.records import IndexedDocument, IndexedView
from curation.tasks.shared.mining.sql import mined
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.extracted import Source
from schemas.stages import Drop, SetAccount, SetStage, Sql

SUPPORTS = f"{NAME}/judged-support@1"
_PAIR = ("query_id", "corpus_id")

_FIRST = "SELECT * FROM {rows} QUALIFY row_number() OVER (PARTITION BY {same} ORDER BY unit) = 1"
_TWINS = """SELECT '{unit}' AS unit, a.unit AS id, a.article_id, 'duplicate_vignette' AS reason,
        v.unit AS detail
    FROM {rows} AS a JOIN vignettes AS v ON v.{same} = a.{same} AND v.unit <> a.unit"""


def _each_once(name: str, inputs: dict[str, tuple[str, type]], rows: str, same: str, unit: str) -> SetStage:
    """The stage that keeps one vignette of those that are the same."""
    return SetStage(
        name=f"{NAME}_{name}",
        version=2,
        inputs=inputs,
        outputs={
            "listed": Sql(rows, Vignette, ("unit",)),
            "vignettes": Sql(_FIRST.format(rows="listed", same=same), Vignette, ("unit",)),
            "drops": Sql(_TWINS.format(unit=unit, rows="listed", same=same), Drop, ("unit", "id")),
        },
        accounts=(SetAccount(unit, "listed", "unit", "vignettes", "unit"),),
        reasons=REASONS,
    )


CASES = _each_once(
    "cases", {"all_vignettes": (f"{NAME}.vignettes", Vignette)}, "FROM all_vignettes", "id", "vignette"
)
EXAMS = _each_once(
    "exams",
    {"all_questions": (f"{NAME}_questions.vignettes", Vignette)},
    "FROM all_questions",
    "family",
    "question",
)
"""A question that stands in two collections is asked once."""
VIGNETTES = _each_once(
    "vignettes",
    {
        "of_cases": (f"{NAME}_cases.vignettes", Vignette),
        "of_questions": (f"{NAME}_checked.vignettes", Vignette),
    },
    "FROM of_cases UNION ALL FROM of_questions",
    "id",
    "vignette",
)
TRIES = SetStage(
    name=f"{NAME}_tries",
    version=1,
    inputs={
        "vignettes": (EXAM_VIGNETTES, Vignette),
        "intents": (f"{NAME}_intents.intents", Intent),
        "answers": (f"{NAME}_closed_answers.answers", ClosedAnswer),
    },
    outputs={
        "asked": Sql(
            "SELECT v.article_id AS collection, unit FROM vignettes AS v SEMI JOIN intents USING (unit)",
            Asked,
            ("unit",),
        ),
        "sets": Sql("SELECT DISTINCT collection AS id FROM asked", ControlSet, ("id",)),
        "attempts": Sql(
            """SELECT a.prompt_id, v.article_id AS collection, a.unit, a.form, a.options,
                normalise_text(a.answered) = normalise_text(v.answer) AS is_right, a.model
            FROM answers AS a JOIN vignettes AS v ON v.unit = a.unit""",
            Attempt,
            ("prompt_id", "model"),
        ),
    },
    accounts=(SetAccount("answer", "answers", "prompt_id", "attempts", "prompt_id"),),
)
"""Closed-book answers beside their keys, by collection: its questions together are the control set."""
_FOUND = """
    SELECT query_id || ' ' || corpus_id AS pair, query_id, corpus_id,
        list_sort(list(system || ':' || view || ':' || rank)) AS found_by
    FROM mined GROUP BY query_id, corpus_id
"""
_CANDIDATES = """
    SELECT f.pair AS id, q.id AS query_id, d.id AS corpus_id, q.article_id, q.text AS question, a.answer,
        a.explanation AS reasoning, d.text AS passage, d.transforms
    FROM found AS f JOIN all_queries AS q ON q.id = f.query_id JOIN documents AS d ON d.id = f.corpus_id
    JOIN all_answers AS a ON a.query_id = q.id
"""
PAIRS = SetStage(
    name=f"{NAME}_pairs",
    version=1,
    inputs={
        "all_queries": (f"{NAME}_views.queries", Query),
        "all_answers": (f"{NAME}_views.answers", EvidenceAnswer),
        "views": (f"{NAME}_views.views", IndexedView),
        "all_documents": (f"{NAME}.documents", Document),
        "all_indexed": (f"{NAME}.indexed", IndexedDocument),
    },
    outputs={
        "documents": Sql(DOCUMENTS, Document, ("id",)),
        "documents_indexed": Sql(
            "SELECT x.* FROM all_indexed AS x SEMI JOIN documents AS d ON d.id = x.corpus_id",
            IndexedDocument,
            ("corpus_id",),
        ),
        "mined": mined("mining_depth"),
        "found": Sql(_FOUND, FoundEvidence, ("pair",)),
        "candidates": Sql(_CANDIDATES, AskedPair, ("id",)),
        "drops": Sql(f"WITH {KEPT} {DROPPED_DOCUMENTS}", Drop, ("unit", "id")),
    },
    accounts=(
        SetAccount("document", "all_documents", "id", "documents", "id"),
        SetAccount("pair", "found", "pair", "candidates", "id"),
    ),
    params={"mining_depth": Settings().mining_depth},
)
_QUERIES = "SELECT * FROM all_queries WHERE id IN (SELECT query_id FROM judged WHERE score > 0)"
_QRELS = f"""
    SELECT query_id, corpus_id, score, '{NAME}' AS task, '{SUPPORTS}' AS rule, 'judge' AS label_status,
        CASE WHEN score > 0 THEN evidence ELSE [] END AS evidence, '' AS via
    FROM judged WHERE score IS NOT NULL AND query_id IN (SELECT id FROM queries)
"""
_EXCLUDED = f"""
    SELECT query_id, corpus_id, '{NAME}' AS task, min(reason) AS reason FROM (
        SELECT query_id, corpus_id, reason FROM judged WHERE reason <> ''
        UNION ALL SELECT query_id, corpus_id, reason FROM of_same_patient
        UNION ALL SELECT v.query_id, x.corpus_id, 'own_article' FROM views AS v
            JOIN indexed AS x ON x.article_key = v.article_key WHERE v.view = 'question')
    WHERE query_id IN (SELECT id FROM queries) GROUP BY query_id, corpus_id
"""
_DROPS = """
    SELECT 'query' AS unit, q.id, q.article_id, 'no_evidence' AS reason,
        count(j.pair) || ' of ' || count(p.id) || ' pairs judged' AS detail
    FROM all_queries AS q LEFT JOIN asked AS p ON p.query_id = q.id LEFT JOIN judged AS j ON j.pair = p.id
    WHERE q.id NOT IN (SELECT id FROM queries) GROUP BY q.id, q.article_id
"""
OVER_ALL = SetStage(
    name=f"{NAME}_all",
    version=4,
    inputs={
        "all_queries": (f"{NAME}_views.queries", Query),
        "all_answers": (f"{NAME}_views.answers", EvidenceAnswer),
        "views": (f"{NAME}_views.views", IndexedView),
        "corpus": (f"{NAME}_pairs.documents", Document),
        "indexed": (f"{NAME}_pairs.documents_indexed", IndexedDocument),
        "asked": (f"{NAME}_apart.pairs", AskedPair),
        "of_same_patient": (f"{NAME}_apart.excluded", Excluded),
        "judged": (f"{NAME}_judged.judged", JudgedPair),
        "found": (f"{NAME}_pairs.found", FoundEvidence),
        "all_sources": (f"{NAME}_questions.sources", Source),
    },
    outputs={
        "queries": Sql(_QUERIES, Query, ("id",)),
        "documents": Sql("FROM corpus", Document, ("id",)),
        "qrels": Sql(_QRELS, Qrel, _PAIR),
        "excluded": Sql(_EXCLUDED, Excluded, _PAIR),
        "answers": Sql(
            "FROM all_answers WHERE query_id IN (SELECT id FROM queries)", EvidenceAnswer, ("query_id",)
        ),
        "judgements": mined_pairs(),
        "collections": Sql("FROM all_sources", Source, ("id",)),
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    },
    accounts=(SetAccount("query", "all_queries", "id", "queries", "id"),),
    reasons=REASONS,
)
