"""Rules on structure: pairs, grades, empty texts, and a funnel that adds up.

They run on whatever tables the layout has: another benchmark has queries, corpus and qrels only.
"""

from __future__ import annotations

from functools import partial
from typing import get_args

from curation.audit.rule import Check, Context, Defect, Rule
from curation.audit.rules import columns, references
from curation.audit.rules.planting import ANY_PAIR, GONE, PAIR, exclude, set_row
from curation.audit.rules.text_rows import literal
from curation.published.parquet import column_names
from schemas.benchmark import LabelStatus

_FEWEST_QUERY, _FEWEST_CORPUS = 10, 20
_TWICE = r"[^\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
_JUDGED = f"SELECT {PAIR} FROM qrels WHERE rowid = 0"
_STATUSES = get_args(LabelStatus)
_KINDS = """SELECT min("query-id") AS qrels, count(*) AS n, score, label_status, rule FROM qrels
    WHERE {} GROUP BY score, label_status, rule"""


def _undefined_scores(context: Context) -> str:
    """Scores that release.json does not define: other layouts define none."""
    grades = ", ".join(str(int(score)) for score in context.manifest.grades)
    context.rows("SELECT 1", "qrels", "excluded")
    return _KINDS.format(f"coalesce(score NOT IN ({grades or 'NULL'}), true)")


def _undefined_reasons(context: Context) -> str:
    reasons = ", ".join(literal(reason) for reason in context.manifest.exclusions)
    return f"""SELECT min("query-id") AS excluded, reason, count(*) AS n FROM excluded
        WHERE coalesce(reason NOT IN ({reasons or "NULL"}), true) GROUP BY reason"""


def _first_of(column: str, value: str, at: int) -> str:
    """SQL: the rule counts pairs of a kind and names the first query."""
    return set_row("qrels", f"{column} = {value}", at, names='"query-id"')


DEFINITIONS = (
    Check(
        "{n} pairs have score {score}, which is not defined",
        _undefined_scores,
        Defect("a score that is not a grade", _first_of("score", "99", 0)),
    ),
    Check(
        "{n} pairs have label status {label_status!r}",
        _KINDS.format(f"coalesce(label_status NOT IN {_STATUSES}, true)"),
        (
            Defect("an unknown label status", _first_of("label_status", "'canary'", 0)),
            Defect("no label status", _first_of("label_status", "NULL", 1)),
        ),
    ),
    Check(
        "{n} pairs name no rule",
        _KINDS.format("coalesce(rule, '') = ''"),
        (
            Defect("a label without a rule", _first_of("rule", "''", 0)),
            Defect("a label whose rule is null", _first_of("rule", "NULL", 1)),
        ),
    ),
    Check(
        "{n} pairs are excluded as {reason!r}, not defined",
        _undefined_reasons,
        Defect("a reason that is not defined", exclude(ANY_PAIR, '"query-id"')),
    ),
)


def _with_words(context: Context, table: str) -> str:
    """SQL for rows that must have words: a picture may stand alone, except as our own query."""
    may_be_bare = table == "corpus" or context.subject.kind != "release"
    has_image = may_be_bare and "image" in column_names(context.views[table])
    where = "image IS NULL OR image.bytes IS NULL" if has_image else "true"
    return f"SELECT id AS {table}, text FROM {table} WHERE ({where})"


def _empty(table: str, context: Context) -> str:
    return rf"{_with_words(context, table)} AND NOT regexp_matches(coalesce(text, ''), '[\pL\pN]')"


def _short(table: str, fewest: int, context: Context) -> str:
    letters = r"length(regexp_replace(text, '[^\pL\pN]', '', 'g'))"
    texts = f"{_with_words(context, table)} AND length(text) < 200"
    return f"""SELECT * FROM (SELECT *, {letters} AS n FROM ({texts}))
        WHERE n > 0 AND n + length(regexp_replace(text, '{_TWICE}', '', 'g')) < {fewest}"""


def _bare(name: str, table: str, text: str, at: int = 0) -> Defect:
    """A row once more with next to no text, and no picture that would stand for it."""
    row = f"SELECT id, {text} FROM {table} WHERE rowid = {at}"
    return Defect(name, f"INSERT INTO {table} (id, text) {row} RETURNING id")


_PICTURE_ALONE = """UPDATE queries SET text = '', image = {'bytes': ''::BLOB, 'path': ''}
    WHERE rowid = 1 AND EXISTS (FROM provenance_queries) RETURNING id"""
"""Not in another layout, which has no provenance: there it is no defect."""
EMPTY = (
    ("corpus", (_bare("a document without a text", "corpus", "NULL"),)),
    (
        "queries",
        (
            _bare("a query without a letter", "queries", "' … '"),
            Defect("a query that is a image alone", _PICTURE_ALONE),
        ),
    ),
)
SHORT = (
    ("corpus", _FEWEST_CORPUS, (_bare("a document of one word", "corpus", "'Nothing.'"),)),
    (
        "queries",
        _FEWEST_QUERY,
        (
            _bare("a query of one word", "queries", "'Cyst?'"),
            _bare("a query of two Chinese characters", "queries", "'囊肿'", at=1),
        ),
    ),
)
_STEP = "concat_ws(' ', stage, unit)"
_UNLISTED = f"""INSERT INTO drops BY NAME SELECT stage, unit, '{GONE}' AS id, '{GONE}' AS article_id,
    'canary' AS reason, '' AS detail
    FROM funnel WHERE rowid = (SELECT max(rowid) FROM funnel) RETURNING {_STEP}"""
FUNNEL = Check(
    "{stage}: {entered} {unit} entered, {kept} kept, {dropped} dropped, {listed} drops listed",
    f"""SELECT stage, unit, entered, kept, dropped, coalesce(n, 0) AS listed, {_STEP} AS funnel FROM funnel
        LEFT JOIN (SELECT stage, unit, count(*) AS n FROM drops GROUP BY ALL) d USING (stage, unit)
        WHERE entered IS DISTINCT FROM kept + dropped OR dropped IS DISTINCT FROM coalesce(n, 0)""",
    (
        Defect("a step that loses a unit", set_row("funnel", "entered = entered + 1", names=_STEP)),
        Defect(
            "a drop that is not listed",
            set_row("funnel", "entered = entered + 1, dropped = dropped + 1", 1, names=_STEP),
        ),
        Defect("a listed drop that is not counted", _UNLISTED),
    ),
    at_once=True,
)
_TEXTS = "SELECT 1 FROM queries UNION ALL SELECT 1 FROM corpus"
_rule = partial(Rule, severity="error")
RULES = (
    *columns.RULES,
    *references.RULES,
    _rule(
        "positive_and_excluded",
        1,
        "Judged or excluded, not both",
        "No pair is at once judged and excluded.",
        unit="pairs",
        checks=(
            Check(
                "the pair is judged {score} and excluded as {reason}",
                f"""SELECT "query-id" AS q, "corpus-id" AS c, score, reason
                    FROM qrels JOIN excluded USING ({PAIR})""",
                Defect("a judged pair that is excluded too", exclude(_JUDGED)),
            ),
        ),
        tables=("qrels", "excluded"),
        compared="FROM qrels",
    ),
    _rule(
        "query_without_positive",
        1,
        "Every query can be answered",
        "Every query has at least one document with a score above zero.",
        unit="queries",
        checks=(
            Check(
                "the query has no positive document",
                """SELECT id AS q, text FROM queries
                    ANTI JOIN (SELECT "query-id" AS id FROM qrels WHERE score > 0) USING (id)""",
                (
                    Defect(
                        "a query whose pairs all score 0",
                        """UPDATE qrels SET score = 0
                            WHERE "query-id" = (SELECT min("query-id") FROM qrels) RETURNING "query-id" """,
                    ),
                    Defect(
                        "a query without qrels",
                        """DELETE FROM qrels
                            WHERE "query-id" = (SELECT max("query-id") FROM qrels) RETURNING "query-id" """,
                    ),
                ),
                at_once=True,
            ),
        ),
        tables=("queries", "qrels"),
        compared="FROM queries",
    ),
    _rule(
        "definitions",
        1,
        "Grades are defined",
        (
            "Every score, label status and exclusion reason is one that release.json defines, and "
            "every label names its rule."
        ),
        unit="pairs",
        checks=DEFINITIONS,
        compared="SELECT 1 FROM qrels UNION ALL SELECT 1 FROM excluded",
    ),
    _rule(
        "empty_texts",
        2,
        "No empty text",
        "Every query and document has at least one letter or digit; a document may be a image alone.",
        unit="texts",
        checks=tuple(
            Check("the text has no letter and no digit", partial(_empty, table), defects, at_once=True)
            for table, defects in EMPTY
        ),
        tables=("queries", "corpus"),
        compared=_TEXTS,
    ),
    _rule(
        "short_texts",
        2,
        "No fragment of a text",
        (
            f"Queries have at least {_FEWEST_QUERY} and documents at least {_FEWEST_CORPUS} letters "
            "and digits; a Chinese, Japanese or Korean character counts as two."
        ),
        severity="warn",
        unit="texts",
        checks=tuple(
            Check(
                "the text has only {n} letters and digits",
                partial(_short, table, fewest),
                defects,
                at_once=True,
            )
            for table, fewest, defects in SHORT
        ),
        tables=("queries", "corpus"),
        compared=_TEXTS,
    ),
    _rule(
        "funnel",
        2,
        "Nothing disappears",
        (
            "In every stage, entered equals kept plus dropped, and each dropped unit is listed with "
            "its reason."
        ),
        unit="stages",
        checks=(FUNNEL,),
        tables=("funnel", "drops"),
        compared="FROM funnel",
    ),
)
