"""Rules on translated queries: who wrote each text, and whether it still says what its source says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from curation.audit.rule import Check, Collector, Context, Defect, Outcome, Rule, side
from curation.audit.rules.text_rows import literal
from curation.multilingual.checks import Translation, check
from curation.multilingual.words import known_languages
from schemas.audit import Coverage

_ORIGINS, _SCORES = "translations", "translation_checks"
_Q = '"query-id"'
MOST = 20_000
"""Translations that are checked again; each takes about two milliseconds."""
_PAIRS = f"""SELECT t.{_Q} AS source, s.text AS english, q.id, q.text, t.language{{answer}}
    FROM {_ORIGINS} t JOIN queries s ON s.id = t.{_Q} JOIN queries q ON q.id = t.translated_id
    {{answers}}WHERE t.verdict <> 'source' ORDER BY q.id LIMIT {MOST}"""
_FIRST = f"{_ORIGINS} WHERE rowid = (SELECT min(rowid) FROM {_ORIGINS} WHERE translated_id <> '')"
"""The first text that is a query."""
_SOURCE = "The patient has had no fever for 3 days and no pain in the left hand."


def _when(text: str) -> Callable[[Context], str]:
    """SQL for releases of translated queries."""
    return lambda context: text if _ORIGINS in context.views else ""


def _again(context: Context) -> Outcome:
    """Every check of the translations as they are published; that of concepts needs a vocabulary."""
    found = Collector("translation_checks", "error")
    if _ORIGINS not in context.views:
        return found.outcome(0)
    has_answers = "answers" in context.views
    text = _PAIRS.format(
        answer=", a.answer" if has_answers else "",
        answers=f"LEFT JOIN answers a ON a.{_Q} = q.id " if has_answers else "",
    )
    views = (_ORIGINS, "queries", *(("answers",) if has_answers else ()))
    looked, unknown = 0, 0
    for row in context.rows(text, *views):
        if row["language"] not in known_languages():
            unknown += 1
            continue
        looked += 1
        told = (row["answer"],) if row.get("answer") else ()
        checked = check(Translation(row["english"], row["text"], row["language"], told))
        if checked.faults:
            message = (
                f"the translation into {row['language']} is not what it was made of: {checked.faults[0]}"
            )
            found.add(
                message,
                side("queries", row["id"], row["text"]),
                side("queries", row["source"], row["english"]),
            )
    wanted = context.count(_ORIGINS)
    why = f"no check knows the language, or beyond the first {MOST:,}" if unknown or wanted > MOST else ""
    coverage = Coverage(compared_with="", compared=looked, unit="translations", skipped=unknown, why=why)
    return dataclasses.replace(found.outcome(0), coverage=(coverage,))


def _planted(name: str, language: str, text: str, source: str = _SOURCE) -> Defect:
    """A translation that says something else, as a query with its origin."""
    own, other = literal(f"planted: {name}"), literal(f"planted: source of {name}")
    return Defect(
        name,
        f"""INSERT INTO queries BY NAME SELECT {other} AS id, {literal(source)} AS text, 'en' AS language;
        INSERT INTO queries BY NAME SELECT {own} AS id, {literal(text)} AS text, '{language}' AS language;
        INSERT INTO {_ORIGINS} BY NAME SELECT {other} AS {_Q}, '{language}' AS language,
            {own} AS translated_id, 'machine' AS kind, 'kept' AS verdict;
        SELECT {own} AS id""",
    )


def _changed(values: str, names: str = "translated_id") -> str:
    """SQL: some cells of the first text that is a query."""
    return f"UPDATE {_FIRST.replace(' WHERE', f' SET {values} WHERE', 1)} RETURNING {names}"


def _translation(values: str) -> str:
    """SQL: the second query of the release as a translation of the first, with some cells of its origin."""
    return f"""DELETE FROM {_ORIGINS};
        INSERT INTO {_ORIGINS} BY NAME SELECT id AS {_Q}, language, id AS translated_id, 'human' AS kind,
            'source' AS verdict, sha256(text) AS text_sha256 FROM queries WHERE rowid <> 1;
        INSERT INTO {_ORIGINS} BY NAME SELECT * REPLACE ({values}) FROM (
            SELECT (SELECT id FROM queries WHERE rowid = 0) AS {_Q}, language, id AS translated_id,
                'machine' AS kind, 'kept' AS verdict, sha256(text) AS text_sha256, 'nobody' AS model,
                'translation@1' AS prompt, 'planted' AS prompt_sha256 FROM queries WHERE rowid = 1);"""


_SECOND = "SELECT id FROM queries WHERE rowid = 1"
_RULE_ORIGINS = Rule(
    "translation_origins",
    2,
    "Every text in another language has its origin",
    "Where a table `translations` is published, every query has one row in it, in its own language and with "
    "the hash of its text: as the source, or as a kept translation of a source, with the engine, model or "
    "person and the hash of what was asked. A translation is in the family and split of its source. What was "
    "rejected, left out or not run is no query.",
    "error",
    "queries",
    checks=(
        Check(
            "the query has {n} rows in `translations`",
            _when(
                f"""SELECT q.id AS queries, count(t.translated_id) AS n
                FROM queries q LEFT JOIN {_ORIGINS} t ON t.translated_id = q.id
                GROUP BY q.id HAVING count(t.translated_id) <> 1"""
            ),
            Defect("a query of unknown origin", f"DELETE FROM {_FIRST} RETURNING translated_id"),
        ),
        Check(
            "`translations` says {stated}, the query {asked}",
            _when(
                f"""SELECT q.id AS queries, t.language AS stated, q.language AS asked
                FROM {_ORIGINS} t JOIN queries q ON q.id = t.translated_id
                WHERE t.language IS DISTINCT FROM q.language"""
            ),
            Defect("a text of another language", _changed("language = 'xx'")),
        ),
        Check(
            "the text is not the one whose origin is told",
            _when(
                f"""SELECT q.id AS queries FROM {_ORIGINS} t JOIN queries q ON q.id = t.translated_id
                WHERE t.text_sha256 IS DISTINCT FROM sha256(q.text)"""
            ),
            Defect(
                "a text changed afterwards",
                _changed("text_sha256 = 'planted'"),
            ),
        ),
        Check(
            "a text that is {verdict} is a query",
            _when(
                f"""SELECT q.id AS queries, t.verdict
                FROM {_ORIGINS} t JOIN queries q ON q.id = t.translated_id
                WHERE t.verdict NOT IN ('source', 'kept') OR len(t.reasons) > 0"""
            ),
            (
                Defect(
                    "a rejected translation published",
                    _changed("verdict = 'rejected'"),
                ),
                Defect(
                    "a kept translation with a reason to reject it",
                    _changed("reasons = ['number_changed']"),
                ),
            ),
        ),
        Check(
            "a kept text is no query: {translated}",
            _when(
                f"""SELECT {_Q} AS queries, translated_id AS translated FROM {_ORIGINS}
                WHERE verdict IN ('source', 'kept') AND translated_id NOT IN (SELECT id FROM queries)"""
            ),
            Defect(
                "a kept translation that is nowhere",
                _changed("translated_id = 'planted'", _Q),
            ),
        ),
        Check(
            "nobody says who translated it, or what was asked",
            _when(
                f"""SELECT translated_id AS queries FROM {_ORIGINS}
                WHERE verdict = 'kept' AND '' IN (model, prompt, prompt_sha256)"""
            ),
            (
                Defect("a machine without a name", _translation("'' AS model") + _SECOND),
                Defect("a prompt without a hash", _translation("'' AS prompt_sha256") + _SECOND),
            ),
        ),
        Check(
            "the translation is in family {own} and split {split}, its source in {other}, {other_split}",
            _when(
                f"""SELECT p.id AS queries, p.family AS own, s.family AS other, p.split,
                    s.split AS other_split
                FROM {_ORIGINS} t JOIN provenance_queries p ON p.id = t.translated_id
                JOIN provenance_queries s ON s.id = t.{_Q}
                WHERE t.verdict <> 'source'
                    AND (p.family = '' OR p.family <> s.family OR p.split <> s.split)"""
            ),
            (
                Defect(
                    "a translation outside its family",
                    _translation("'kept' AS verdict")
                    + f"""UPDATE provenance_queries SET split = 'test', family = 'planted-' || rowid
                        WHERE id IN (SELECT id FROM queries WHERE rowid < 2); {_SECOND}""",
                ),
                Defect(
                    "a translation in another split than its source",
                    _translation("'kept' AS verdict")
                    + f"""UPDATE provenance_queries SET family = 'planted',
                        split = if(id = ({_SECOND}), 'dev', 'test')
                        WHERE id IN (SELECT id FROM queries WHERE rowid < 2); {_SECOND}""",
                ),
            ),
        ),
    ),
    compared=f"SELECT 1 FROM {_ORIGINS}",
    tables=("queries", "provenance_queries"),
    about=(_ORIGINS,),
    holds="translated queries",
)
_RULE_CHECKS = Rule(
    "translation_checks",
    2,
    "A translation says what its source says",
    "Every published translation passes the checks of docs/translations.md again, on the texts as they are "
    "published; that of concepts and back-translation need what is not in a release. No kept translation has "
    "a failed check in `translation_checks`, and every one has been checked; a rejected one has the failed "
    "checks that its reasons name.",
    "error",
    "translations",
    checks=(
        Check(
            "the translation is not what it was made of",
            _again,
            (
                _planted(
                    "a lost negation",
                    "es",
                    "El paciente tiene fiebre desde hace 3 días y dolor en la mano izquierda.",
                ),
                _planted("an untranslated query", "fr", _SOURCE),
                _planted(
                    "a query in another language",
                    "pt",
                    "Der Patient hat seit 3 Tagen kein Fieber und keine Schmerzen in der linken Hand.",
                ),
                _planted(
                    "a Chinese query among Japanese ones",
                    "ja",
                    "患者已经没有发热三天了，而且左手也没有疼痛，一切都很好。",
                ),
                _planted(
                    "a changed number",
                    "de",
                    "Der Patient hat seit 5 Tagen kein Fieber und keine Schmerzen in der linken Hand.",
                ),
                _planted(
                    "the other side",
                    "it",
                    "Il paziente non ha febbre da 3 giorni e non ha dolore alla mano destra.",
                ),
            ),
            at_once=True,
        ),
        Check(
            "a kept translation failed the check {check}",
            _when(
                f"""SELECT t.translated_id AS queries, c."check" FROM {_ORIGINS} t
                JOIN {_SCORES} c ON c.{_Q} = t.{_Q} AND c.language = t.language
                WHERE t.verdict = 'kept' AND c.status = 'failed'"""
            ),
            Defect(
                "a failed check of a kept translation",
                _translation("'zz' AS language")
                + f"""INSERT INTO {_SCORES} BY NAME SELECT id AS {_Q}, 'zz' AS language,
                    'numbers' AS "check", 'failed' AS status FROM queries WHERE rowid = 0; {_SECOND}""",
            ),
        ),
        Check(
            "a kept translation was not checked",
            _when(
                f"""SELECT t.translated_id AS queries FROM {_ORIGINS} t
                ANTI JOIN {_SCORES} c ON c.{_Q} = t.{_Q} AND c.language = t.language
                WHERE t.verdict = 'kept'"""
            ),
            Defect("a translation nobody checked", _translation("'zz' AS language") + _SECOND),
        ),
        Check(
            "a translation into {language} was rejected, and its failed checks give {given}",
            _when(
                f"""SELECT t.{_Q} AS queries, t.language, string_agg(c.fault, ' ') AS given FROM {_ORIGINS} t
                LEFT JOIN {_SCORES} c
                    ON c.{_Q} = t.{_Q} AND c.language = t.language AND c.status = 'failed'
                WHERE t.verdict = 'rejected' GROUP BY t.{_Q}, t.language, t.reasons
                HAVING list_sort(coalesce(list(c.fault) FILTER (c.fault IS NOT NULL), []))
                    IS DISTINCT FROM list_sort(t.reasons)"""
            ),
            Defect(
                "a rejection without a reason",
                f"""INSERT INTO {_ORIGINS} BY NAME SELECT id AS {_Q}, 'zz' AS language, '' AS translated_id,
                    'machine' AS kind, 'rejected' AS verdict, ['number_changed'] AS reasons
                    FROM queries WHERE rowid = 0; SELECT id FROM queries WHERE rowid = 0""",
            ),
        ),
    ),
    compared=f"SELECT 1 FROM {_ORIGINS} WHERE verdict <> 'source'",
    tables=("queries",),
    about=(_ORIGINS, _SCORES),
    holds="translated queries",
)
RULES = (_RULE_ORIGINS, _RULE_CHECKS)
