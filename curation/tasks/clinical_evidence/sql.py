"""Gathers the vignettes of all shards, what systems find for them, and what the judge made of it."""

from __future__ import annotations

from curation.tasks.clinical_evidence.records import EvidenceAnswer, FoundEvidence, Vignette
from curation.tasks.clinical_evidence.settings import REASONS
from curation.tasks.clinical_evidence.vignettes import NAME
from curation.tasks.shared.judging.mined import mined_pairs
from curation.tasks.shared.judging.records import AskedPair, JudgedPair
from curation.tasks.shared.merge_sql import DOCUMENTS, DROPPED_DOCUMENTS, KEPT
from curation.tasks.shared.mining.records import IndexedDocument, IndexedView
from curation.tasks.shared.mining.sql import mined
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.stages import Drop, SetAccount, SetStage, Sql

DEPTH = 10
"""Passages asked about of each view and system."""
SUPPORTS = f"{NAME}/judged-support@1"
_PAIR = ("query_id", "corpus_id")

CASES = SetStage(
    name=f"{NAME}_cases",
    version=1,
    inputs={"all_vignettes": (f"{NAME}.vignettes", Vignette)},
    outputs={
        "vignettes": Sql(
            "SELECT * FROM all_vignettes QUALIFY row_number() OVER (PARTITION BY id ORDER BY unit) = 1",
            Vignette,
            ("unit",),
        ),
        "drops": Sql(
            """SELECT 'vignette' AS unit, a.unit AS id, a.article_id, 'duplicate_vignette' AS reason,
                v.unit AS detail
            FROM all_vignettes AS a JOIN vignettes AS v ON v.id = a.id AND v.unit <> a.unit""",
            Drop,
            ("unit", "id"),
        ),
    },
    accounts=(SetAccount("vignette", "all_vignettes", "unit", "vignettes", "unit"),),
    reasons=REASONS,
)
_FOUND = """
    SELECT query_id || ' ' || corpus_id AS pair, query_id, corpus_id,
        list_sort(list(system || ':' || view || ':' || rank)) AS found_by,
        bool_and(view = 'reasoning') AS only_reasoning
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
        "mined": mined(DEPTH),
        "found": Sql(_FOUND, FoundEvidence, ("pair",)),
        "candidates": Sql(_CANDIDATES, AskedPair, ("id",)),
        "drops": Sql(f"WITH {KEPT} {DROPPED_DOCUMENTS}", Drop, ("unit", "id")),
    },
    accounts=(
        SetAccount("document", "all_documents", "id", "documents", "id"),
        SetAccount("pair", "found", "pair", "candidates", "id"),
    ),
    params={"depth": DEPTH},
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
    version=2,
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
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    },
    accounts=(SetAccount("query", "all_queries", "id", "queries", "id"),),
    reasons=REASONS,
)
