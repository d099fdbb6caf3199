"""The rule on labels of people: each follows from the published answers by the rule it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.rule import (
    MAX_EXAMPLES,
    Check,
    Collector,
    Context,
    Defect,
    FileDefect,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.planting import ids_of, table_file
from curation.audit.rules.text_rows import literal
from schemas.tables import ANNOTATIONS

_ANSWERS = ANNOTATIONS.name
_TABLES = ("qrels", _ANSWERS, "excluded", "queries", "corpus")
_PEOPLE = "label_status IN ('expert', 'adjudicated')"
_LABELS = f'SELECT "query-id" AS q, "corpus-id" AS c FROM qrels WHERE {_PEOPLE}'
_READ, _THIRD = "FILTER (a.role = 'annotator')", "FILTER (a.role = 'adjudicator')"
_ANSWERED = f"""
    SELECT k.q, k.c, k.score, k.rule, k.status, count(DISTINCT a.rule) AS rules, min(a.rule) AS named,
        count(*) {_READ} AS readers, count(a.grade) {_READ} AS grades, min(a.grade) {_READ} AS low,
        max(a.grade) {_READ} AS high, coalesce(sum((a.grade = k.score)::INT) {_READ}, 0) AS same,
        count(*) {_THIRD} AS thirds, count(a.grade) {_THIRD} AS settled,
        coalesce(sum((a.grade = k.score)::INT) {_THIRD}, 0) AS agreed
    FROM ({{pairs}}) AS k
    LEFT JOIN annotations AS a ON a."query-id" = k.q AND a."corpus-id" = k.c
    GROUP BY ALL"""
"""Pairs with what was answered to them; a grade of one who could not judge is null."""
_LABELLED = f"""SELECT "query-id" AS q, "corpus-id" AS c, score, rule, label_status AS status
    FROM qrels WHERE {_PEOPLE}"""
_UNJUDGED = """SELECT "query-id" AS q, "corpus-id" AS c, -1 AS score, '' AS rule, reason AS status
    FROM excluded WHERE reason = 'cannot_judge'"""
_FOLLOWS = """
    rules = 1 AND named = rule AND CASE split_part(rule, '@', 1)
        WHEN 'review/adjudicated' THEN agreed > 0 AND status = 'adjudicated'
        WHEN 'review/single' THEN readers = 1 AND same = 1 AND status = 'expert'
        ELSE status = 'expert' AND readers > 1 AND grades = readers
            AND CASE split_part(rule, '@', 1)
                WHEN 'review/unanimous' THEN same = readers
                WHEN 'review/adjacent' THEN low = score AND high = score + 1
                WHEN 'review/majority' THEN readers > 2 AND 2 * same > readers
                ELSE false END
        END"""
_WRONG_LABELS = f"""SELECT q, c FROM ({_ANSWERED.format(pairs=_LABELLED)})
    WHERE NOT coalesce({_FOLLOWS}, false)"""
_UNUSED = f"""
    SELECT DISTINCT "query-id" AS q, "corpus-id" AS c FROM annotations AS a
    ANTI JOIN ({_LABELS} UNION ALL SELECT "query-id", "corpus-id" FROM excluded) AS k
    ON k.q = a."query-id" AND k.c = a."corpus-id" """
_JUDGED_ALL_THE_SAME = f"""SELECT q, c FROM ({_ANSWERED.format(pairs=_UNJUDGED)})
    WHERE CASE WHEN thirds > 0 THEN settled = thirds ELSE readers = 0 OR grades > 0 END"""
_OUTSIDE = """SELECT DISTINCT "query-id" AS q, "corpus-id" AS c FROM annotations
    WHERE "query-id" NOT IN (SELECT id FROM queries) OR "corpus-id" NOT IN (SELECT id FROM corpus)"""


def _unanswered(context: Context) -> Outcome:
    """Labels of people in files that hold no answers."""
    if "qrels" not in context.views:
        raise NotCovered("table absent: qrels")
    if "label_status" not in context.columns("qrels"):
        raise NotCovered("who judged the pairs is not stated")
    if _ANSWERS in context.views:
        answers = context.rows("SELECT count(*) AS n FROM annotations", *_TABLES)[0]["n"]
        return Outcome(0, 0, note=f"{answers} answers are published")
    found = Collector("review_labels", "error")
    count = int(context.rows(f"SELECT count(*) AS n FROM ({_LABELS})", "qrels")[0]["n"])
    for row in context.rows(f"{_LABELS} ORDER BY q, c LIMIT {MAX_EXAMPLES}", "qrels"):
        sides = side("queries", row["q"]), side("corpus", row["c"])
        found.add("a label by people, and no answers are published", *sides)
    return Outcome(count, count, tuple(found.kept), nothing="" if count else "no label is by people")


def _with_answers(text: str) -> Callable[[Context], str]:
    return lambda context: text if _ANSWERS in context.views else ""


def _without_answers(directory: Path) -> Sequence[str] | None:
    """A label called an expert's where no answers are published."""
    path = table_file(directory, "qrels")
    if path is None or not len(labels := pq.read_table(path)) or "label_status" not in labels.column_names:
        return None
    for answers in ANNOTATIONS.files(directory):
        answers.unlink()
    rows = labels.to_pylist()
    rows[0]["label_status"] = "expert"
    pq.write_table(pa.Table.from_pylist(rows, schema=labels.schema), path)
    return [rows[0]["query-id"], rows[0]["corpus-id"]]


Answer = tuple[str, int | None]
"""Role, and grade; None for one who could not judge."""
_READS, _SETTLES = "annotator", "adjudicator"


def _planted(name: str, table: str, values: str, *answers: Answer, rules: tuple[str, str]) -> Defect:
    """A further pair of a table with answers to it, the second by a rule of its own."""
    pair = (
        f"""{literal(f"planted: {name}")} AS "query-id", {literal(f"planted for: {name}")} AS "corpus-id" """
    )
    listed = ", ".join(
        f"('A{number}', '{role}', {'NULL' if grade is None else grade}, 'review/{rules[number == 1]}@1')"
        for number, (role, grade) in enumerate(answers)
    )
    answered = f"""INSERT INTO annotations BY NAME SELECT {pair}, *
        FROM (VALUES {listed}) a(annotator, role, grade, rule)"""
    if not answers:
        answered = f"INSERT INTO annotations BY NAME SELECT {pair} WHERE false"  # where there are answers
    labelled = f"INSERT INTO {table} BY NAME SELECT {pair}, {values}"
    return Defect(name, f"{answered}; {labelled} RETURNING {ids_of(table)}")


def _label(
    name: str, rule: str, score: int, *answers: Answer, status: str = "expert", by: str = "", also: str = ""
) -> Defect:
    """A label called one of people by a rule; its answers name it or `by`, the second `also`."""
    values = f"{score} AS score, '{status}' AS label_status, 'review/{rule}@1' AS rule"
    return _planted(name, "qrels", values, *answers, rules=(by or rule, also or by or rule))


def _excluded(name: str, *answers: Answer) -> Defect:
    """An excluded pair, called one that nobody could judge."""
    return _planted(name, "excluded", "'cannot_judge' AS reason", *answers, rules=("cannot", "cannot"))


def _stray(name: str, query: str, document: str) -> Defect:
    """An answer to a pair."""
    return Defect(
        name,
        f"""INSERT INTO annotations BY NAME SELECT {query} AS "query-id", {document} AS "corpus-id",
        'A1' AS annotator, 'annotator' AS role, 2 AS grade, 'review/unanimous@1' AS rule
        FROM queries q, corpus c WHERE q.rowid = 0 AND c.rowid = 0 RETURNING "query-id", "corpus-id" """,
    )


_CHECKS = (
    Check(
        "a label by people, and no answers are published",
        _unanswered,
        FileDefect("a human label without answers", _without_answers),
    ),
    Check(
        "the label does not follow from the answers to this pair",
        _with_answers(_WRONG_LABELS),
        (
            _label("a rule's label called an expert's", "canary", 2),
            _label("a unanimous label of an adjudicator alone", "unanimous", 2, (_SETTLES, 2)),
            _label("a unanimous label with another answer", "unanimous", 2, (_READS, 2), (_READS, 1)),
            _label("an adjacent label with answers far apart", "adjacent", 1, (_READS, 1), (_READS, 3)),
            _label("an adjacent label of the higher grade", "adjacent", 2, (_READS, 1), (_READS, 2)),
            _label(
                "an adjacent label although one annotator could not judge",
                "adjacent",
                1,
                (_READS, 1),
                (_READS, 2),
                (_READS, None),
            ),
            _label("a majority label of two annotators", "majority", 2, (_READS, 2), (_READS, 2)),
            _label("a majority of one in three", "majority", 2, (_READS, 2), (_READS, 1), (_READS, 0)),
            _label("a single label of two answers", "single", 2, (_READS, 2), (_READS, 1)),
            _label(
                "a unanimous label called adjudicated",
                "unanimous",
                2,
                (_READS, 2),
                (_READS, 2),
                status="adjudicated",
            ),
            _label("an adjacent label that no annotator gave", "adjacent", 1, (_READS, 0), (_READS, 2)),
            _label("a label by an unknown rule", "canary", 2, (_READS, 2), (_READS, 2)),
            _label("answers that name two rules", "unanimous", 2, (_READS, 2), (_READS, 2), also="zero"),
            _label("a single label of another grade", "single", 2, (_READS, 1)),
            _label(
                "an adjudicated label of another grade", "adjudicated", 2, (_SETTLES, 1), status="adjudicated"
            ),
            _label("an adjudicated label called an expert's", "adjudicated", 2, (_SETTLES, 2)),
            _label("an expert's label called adjudicated", "single", 2, (_READS, 2), status="adjudicated"),
            _label("answers that name another rule", "unanimous", 2, (_READS, 2), (_READS, 2), by="majority"),
        ),
        at_once=True,
    ),
    Check(
        "answers to a pair that no label rests on and that is not excluded",
        _with_answers(_UNUSED),
        (
            _stray(
                "an answer to a pair that was never asked", "'planted: unasked'", "'planted for: unasked'"
            ),
            _label(
                "answers to a pair labelled by rule",
                "unanimous",
                2,
                (_READS, 2),
                (_READS, 2),
                status="structural",
            ),
        ),
        at_once=True,
    ),
    Check(
        "excluded as cannot_judge, although the answers do not say so",
        _with_answers(_JUDGED_ALL_THE_SAME),
        (
            _excluded("a pair excluded that an annotator judged", (_READS, None), (_READS, 1)),
            _excluded("a pair excluded that an adjudicator judged", (_READS, None), (_SETTLES, 1)),
            _excluded("an excluded pair without an answer"),
        ),
        at_once=True,
    ),
    Check(
        "an answer names a row that is not there",
        _with_answers(_OUTSIDE),
        (
            _stray("an answer to a query that is not there", "'planted: gone'", "c.id"),
            _stray("an answer to a document that is not there", "q.id", "'planted: gone too'"),
        ),
        at_once=True,
    ),
)
RULES = (
    Rule(
        "review_labels",
        1,
        "Human labels follow from the answers",
        "Every label called expert or adjudicated follows by the rule it names from the answers in "
        "annotations; every answer is to a pair that is labelled by people or excluded.",
        "error",
        "pairs",
        checks=_CHECKS,
        compared=_with_answers(f"FROM qrels WHERE {_PEOPLE}"),
    ),
)
