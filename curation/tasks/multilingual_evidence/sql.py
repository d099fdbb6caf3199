"""What is released: English questions and their kept translations as families that share their labels."""

from __future__ import annotations

from curation.tasks.multilingual_evidence.records import (
    FamilyMember,
    KeptTranslation,
    TranslatedQuestion,
    TranslationCheck,
    TranslationOrigin,
    WantedTranslation,
)
from curation.tasks.multilingual_evidence.settings import NAME, SOURCE_LANGUAGE
from curation.tasks.shared.judging.mined import mined_pairs
from curation.tasks.shared.judging.records import AskedPair, JudgedPair, MinedPair
from curation.tasks.shared.support.records import AnsweredQuery, FoundPair, LabelledPair
from schemas.benchmark import CORE_LANGUAGES, Document, Excluded, Qrel, Query
from schemas.extracted import Source
from schemas.prompt import ModelAnswer
from schemas.stages import Drop, Reason, SetAccount, SetStage, Sql

_CORE = ", ".join(f"'{code}'" for code in CORE_LANGUAGES if code != SOURCE_LANGUAGE)
_UNIQUE = "unique_ones AS (FROM kept QUALIFY row_number() OVER (PARTITION BY id ORDER BY wanted) = 1)"
_WHOLE = f"""whole AS (
        SELECT query_id FROM unique_ones WHERE language IN ({_CORE})
        GROUP BY query_id HAVING count(*) = {len(CORE_LANGUAGES) - 1}),
    parted AS (SELECT DISTINCT query_id FROM wanted ANTI JOIN whole USING (query_id)
        WHERE core_only)"""
_QUESTIONS = f"WITH {_UNIQUE}, {_WHOLE} SELECT * FROM asked WHERE id NOT IN (SELECT query_id FROM parted)"
_TRANSLATIONS = f"""
    WITH {_UNIQUE} SELECT u.* FROM unique_ones AS u SEMI JOIN questions AS q ON q.id = u.query_id
"""
_QUERIES = """
    SELECT * FROM questions
    UNION ALL
    SELECT q.* REPLACE (t.id AS id, t.text AS text, t.language AS language, t.text_sha256 AS text_sha256,
        q.license_evidence || '; translated by ' || if(w."by" = 'human', 'a person', 'a machine')
            AS license_evidence)
    FROM kept_translations AS t JOIN questions AS q ON q.id = t.query_id
    JOIN translated AS w ON w.wanted = t.wanted
"""
_MEMBERS = """
    SELECT id AS query_id, id AS english_id FROM questions
    UNION ALL SELECT id, query_id FROM kept_translations
"""
_QRELS = f"""
    SELECT m.query_id, l.corpus_id, l.score, '{NAME}' AS task, l.rule, l.label_status, l.evidence, '' AS via
    FROM labelled AS l JOIN members AS m ON m.english_id = l.query_id WHERE l.score IS NOT NULL
"""
_EXCLUDED = f"""
    SELECT m.query_id, l.corpus_id, '{NAME}' AS task, l.reason
    FROM labelled AS l JOIN members AS m ON m.english_id = l.query_id WHERE l.reason <> ''
"""
_ANSWERS = """
    SELECT a.* REPLACE (m.query_id AS query_id)
    FROM all_answers AS a JOIN members AS m ON m.english_id = a.query_id
"""
_JUDGEMENTS = """
    SELECT j.* REPLACE (coalesce(m.query_id, j.query_id) AS query_id)
    FROM of_questions AS j LEFT JOIN members AS m ON m.english_id = j.query_id
"""
"""A question that is not kept has no translations: its pairs are told as they were judged."""
_ORIGINS = """
    WITH failed AS (
        SELECT wanted, list(fault ORDER BY "check") AS reasons FROM checks WHERE fault <> '' GROUP BY wanted)
    SELECT id AS query_id, language, id AS translated_id, 'human' AS kind, 'source' AS verdict,
        CAST([] AS VARCHAR[]) AS reasons, '' AS prompt, '' AS prompt_sha256, '' AS model, '' AS served_model,
        text_sha256, CAST([] AS VARCHAR[]) AS names, CAST([] AS VARCHAR[]) AS name_sources
    FROM questions
    UNION ALL
    SELECT w.query_id, w.language, coalesce(k.id, ''), if(a."by" = 'human', 'human', 'machine'),
        CASE WHEN k.id IS NOT NULL THEN 'kept' WHEN f.wanted IS NOT NULL THEN 'rejected'
            WHEN t.wanted IS NOT NULL THEN 'left_out' WHEN a.subject IS NOT NULL THEN 'unusable'
            ELSE 'not_run' END,
        coalesce(f.reasons, []), coalesce(t.kind, ''), coalesce(t.prompt_sha256, ''),
        coalesce(a.model, ''), coalesce(a.served_model, ''), coalesce(sha256(t.text), ''),
        list_transform(w.names, lambda one: one.name), list_transform(w.names, lambda one: one.source)
    FROM wanted AS w JOIN questions AS q ON q.id = w.query_id
    LEFT JOIN kept_translations AS k ON k.wanted = w.id LEFT JOIN failed AS f ON f.wanted = w.id
    LEFT JOIN translated AS t ON t.wanted = w.id LEFT JOIN model_answers AS a ON a.subject = w.id
"""
_CHECKS = "SELECT c.* FROM checks AS c SEMI JOIN questions AS q ON q.id = c.query_id"
_DROPS = f"""
    WITH {_UNIQUE}
    SELECT 'translation' AS unit, k.wanted AS id, k.article_id,
        if(u.wanted IS NULL, '{Reason.DUPLICATE_QUERY}', '{Reason.OUTSIDE_PARALLEL_CORE}') AS reason,
        '' AS detail
    FROM kept AS k LEFT JOIN unique_ones AS u ON u.wanted = k.wanted
    ANTI JOIN kept_translations AS t ON t.wanted = k.wanted
    UNION ALL
    SELECT 'query', a.id, a.article_id, '{Reason.OUTSIDE_PARALLEL_CORE}',
        count(u.wanted) || ' translations kept'
    FROM asked AS a LEFT JOIN unique_ones AS u ON u.query_id = a.id
    ANTI JOIN questions AS q ON q.id = a.id GROUP BY a.id, a.article_id
"""
OVER_ALL = SetStage(
    name=f"{NAME}_all",
    version=4,
    inputs={
        "asked": (f"{NAME}_wanted.queries", Query),
        "wanted": (f"{NAME}_wanted.wanted", WantedTranslation),
        "model_answers": (f"{NAME}_translation_answers.answers", ModelAnswer),
        "translated": (f"{NAME}_translations.translated", TranslatedQuestion),
        "checks": (f"{NAME}_checked.checks", TranslationCheck),
        "kept": (f"{NAME}_checked.kept", KeptTranslation),
        "corpus": (f"{NAME}_pairs.documents", Document),
        "all_answers": (f"{NAME}_pairs.answers", AnsweredQuery),
        "all_sources": (f"{NAME}_pairs.sources", Source),
        "pairs": (f"{NAME}_pairs.pairs", AskedPair),
        "labelled": (f"{NAME}_labels.labelled", LabelledPair),
        "found": (f"{NAME}_pairs.found", FoundPair),
        "judged": (f"{NAME}_judged.judged", JudgedPair),
    },
    outputs={
        "questions": Sql(_QUESTIONS, Query, ("id",)),
        "kept_translations": Sql(_TRANSLATIONS, KeptTranslation, ("wanted",)),
        "members": Sql(_MEMBERS, FamilyMember, ("query_id",)),
        "queries": Sql(_QUERIES, Query, ("id",)),
        "documents": Sql("FROM corpus", Document, ("id",)),
        "qrels": Sql(_QRELS, Qrel, ("query_id", "corpus_id")),
        "excluded": Sql(_EXCLUDED, Excluded, ("query_id", "corpus_id")),
        "answers": Sql(_ANSWERS, AnsweredQuery, ("query_id",)),
        "collections": Sql("FROM all_sources", Source, ("id",)),
        "of_questions": mined_pairs("pairs"),
        "judgements": Sql(_JUDGEMENTS, MinedPair, ("query_id", "corpus_id")),
        "translations": Sql(_ORIGINS, TranslationOrigin, ("query_id", "language")),
        "translation_checks": Sql(_CHECKS, TranslationCheck, ("query_id", "language", "check")),
        "drops": Sql(_DROPS, Drop, ("unit", "id")),
    },
    accounts=(
        SetAccount("query", "asked", "id", "questions", "id"),
        SetAccount("translation", "kept", "wanted", "kept_translations", "wanted"),
    ),
)
