"""The rule on labels of people: each follows from the published answers by the rule it names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.rule import (
    MAX_EXAMPLES,
    Canary,
    Collector,
    Context,
    NotApplicable,
    NotCovered,
    Outcome,
    Rows,
    Rule,
    side,
)
from curation.published.parquet import column_names
from schemas.tables import ANNOTATIONS

_PEOPLE = "label_status IN ('expert', 'adjudicated')"
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
_WRONG_LABELS = f"""
    SELECT q, c, 'the label does not follow from the answers to this pair' AS what
    FROM ({_ANSWERED.format(pairs=_LABELLED)}) WHERE NOT coalesce({_FOLLOWS}, false)"""
_UNUSED = f"""
    SELECT DISTINCT "query-id" AS q, "corpus-id" AS c,
        'answers to a pair that no label rests on and that is not excluded' AS what
    FROM annotations AS a
    ANTI JOIN (SELECT "query-id", "corpus-id" FROM qrels WHERE {_PEOPLE}
        UNION ALL SELECT "query-id", "corpus-id" FROM excluded) AS k
    ON k."query-id" = a."query-id" AND k."corpus-id" = a."corpus-id" """
_JUDGED_ALL_THE_SAME = f"""
    SELECT q, c, 'excluded as cannot_judge, although the answers do not say so' AS what
    FROM ({_ANSWERED.format(pairs=_UNJUDGED)})
    WHERE CASE WHEN thirds > 0 THEN settled = thirds ELSE readers = 0 OR grades > 0 END"""
_OUTSIDE = """
    SELECT DISTINCT "query-id" AS q, "corpus-id" AS c, 'an answer names a row that is not there' AS what
    FROM annotations WHERE "query-id" NOT IN (SELECT id FROM queries)
        OR "corpus-id" NOT IN (SELECT id FROM corpus)"""


def _labels(context: Context) -> Outcome:
    found = Collector("review_labels", "error")
    if "qrels" not in context.views:
        raise NotCovered("table absent: qrels")
    if "label_status" not in column_names(context.views["qrels"]):
        raise NotCovered("nothing says who judged the pairs")
    by_people = int(context.rows(f"SELECT count(*) AS n FROM qrels WHERE {_PEOPLE}", "qrels")[0]["n"])
    if "annotations" not in context.views:
        if not by_people:
            raise NotApplicable("no label is by people")
        text = f"""SELECT "query-id" AS q, "corpus-id" AS c,
            'a label by people, and no answers are published' AS what FROM qrels WHERE {_PEOPLE}"""
        _add(context, found, text, ("qrels",))
        return found.outcome(by_people)
    parts = [_WRONG_LABELS, _UNUSED, _JUDGED_ALL_THE_SAME, _OUTSIDE]
    for text in parts:
        _add(context, found, text, ("qrels", "annotations", "excluded", "queries", "corpus"))
    return found.outcome(by_people, f"{context.count('annotations')} answers are published")


def _add(context: Context, found: Collector, text: str, tables: Sequence[str]) -> None:
    count = int(context.rows(f"SELECT count(*) AS n FROM ({text})", *tables)[0]["n"])
    for row in context.rows(f"{text} ORDER BY q, c LIMIT {MAX_EXAMPLES}", *tables) if count else ():
        found.add(row["what"], side("queries", row["q"]), side("corpus", row["c"]))
    found.found += max(0, count - MAX_EXAMPLES)


def _claim(rows: Rows, _: Rows) -> Sequence[str] | None:
    """A label called an expert's by a rule that there is not."""
    if not rows["qrels"] or "label_status" not in rows["qrels"][0]:
        return None
    row = rows["qrels"][0]
    row |= {"label_status": "expert", "rule": "review/canary@1"}
    return [str(row["query-id"]), str(row["corpus-id"])]


def _stray(directory: Path) -> Sequence[str] | None:
    """An answer to a pair nobody asked."""
    files = sorted((directory / "queries").glob("*.parquet"))
    documents = sorted((directory / "corpus").glob("*.parquet"))
    if not files or not documents or not (ids := pq.read_table(files[0], columns=["id"]).column("id")):
        return None
    answer: dict[str, Any] = {
        "query-id": ids[0].as_py(),
        "corpus-id": "canary:unasked",
        "annotator": "A1",
        "role": "annotator",
        "grade": 2,
        "reason": "",
        "seconds": 1.0,
        "rule": "review/unanimous@1",
    }
    folder = directory / ANNOTATIONS.folder
    folder.mkdir(exist_ok=True)
    before = [pq.read_table(path) for path in ANNOTATIONS.files(directory)]
    planted = pa.Table.from_pylist([answer], schema=ANNOTATIONS.schema)
    for path in ANNOTATIONS.files(directory):
        path.unlink()
    whole = pa.concat_tables([*(table.cast(ANNOTATIONS.schema) for table in before), planted])
    pq.write_table(whole, folder / "test-00000-of-00001.parquet")
    return [answer["query-id"], "canary:unasked"]


RULES = (
    Rule(
        "review_labels",
        1,
        "Labels of people follow from their answers",
        "Every label called expert or adjudicated follows by the rule it names from the answers in "
        "annotations; every answer is to a pair that is labelled by people or excluded.",
        "error",
        "pairs",
        _labels,
        canaries=(
            Canary("a rule's label called an expert's", _claim),
            Canary("an answer to a pair that was never asked", files=_stray),
        ),
    ),
)
