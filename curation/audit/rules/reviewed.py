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
from curation.release.tables import ANNOTATIONS

_PEOPLE = "label_status IN ('expert', 'adjudicated')"
_ANSWERED = """
    SELECT "query-id" AS q, "corpus-id" AS c, min(rule) AS rule, count(DISTINCT rule) AS rules,
        list(grade ORDER BY annotator) FILTER (role = 'annotator') AS read,
        list(grade ORDER BY annotator) FILTER (role = 'adjudicator') AS third
    FROM annotations GROUP BY ALL"""
"""Every answer of a pair; a grade of one who could not judge is null."""
_FOLLOWS = """
    rules = 1 AND rule = label_rule AND CASE split_part(rule, '@', 1)
        WHEN 'review/adjudicated' THEN list_contains(third, score) AND status = 'adjudicated'
        WHEN 'review/single' THEN len(read) = 1 AND read[1] = score AND status = 'expert'
        ELSE status = 'expert' AND len(read) > 1 AND len(list_filter(read, g -> g IS NULL)) = 0
            AND CASE split_part(rule, '@', 1)
                WHEN 'review/unanimous' THEN list_min(read) = score AND list_max(read) = score
                WHEN 'review/adjacent' THEN list_min(read) = score AND list_max(read) = score + 1
                WHEN 'review/majority' THEN len(read) > 2
                    AND 2 * len(list_filter(read, g -> g = score)) > len(read)
                ELSE false END
        END"""
_WRONG_LABELS = f"""
    SELECT l.q, l.c, 'the label does not follow from the answers to this pair' AS what
    FROM (SELECT "query-id" AS q, "corpus-id" AS c, score, rule AS label_rule, label_status AS status
        FROM qrels WHERE {_PEOPLE}) AS l
    LEFT JOIN ({_ANSWERED}) AS a ON a.q = l.q AND a.c = l.c
    WHERE NOT coalesce({_FOLLOWS}, false)"""
_UNUSED = f"""
    SELECT DISTINCT "query-id" AS q, "corpus-id" AS c,
        'answers to a pair that no label rests on and that is not excluded' AS what
    FROM annotations AS a
    ANTI JOIN (SELECT "query-id", "corpus-id" FROM qrels WHERE {_PEOPLE}
        UNION ALL SELECT "query-id", "corpus-id" FROM excluded) AS k
    ON k."query-id" = a."query-id" AND k."corpus-id" = a."corpus-id" """
_JUDGED_ALL_THE_SAME = f"""
    SELECT a.q, a.c, 'excluded as cannot_judge, although the answers give a grade' AS what
    FROM ({_ANSWERED}) AS a JOIN excluded AS e ON e."query-id" = a.q AND e."corpus-id" = a.c
    WHERE e.reason = 'cannot_judge' AND NOT CASE WHEN len(third) > 0
        THEN len(list_filter(third, g -> g IS NULL)) > 0
        ELSE len(list_filter(read, g -> g IS NOT NULL)) = 0 END"""
_OUTSIDE = """
    SELECT DISTINCT "query-id" AS q, "corpus-id" AS c, 'an answer names a row that is not there' AS what
    FROM annotations WHERE "query-id" NOT IN (SELECT id FROM queries)
        OR "corpus-id" NOT IN (SELECT id FROM corpus)"""


def _labels(context: Context) -> Outcome:
    found = Collector("review_labels", "error")
    if "qrels" not in context.views:
        raise NotCovered("table absent: qrels")
    if "label_status" not in pq.read_schema(context.views["qrels"][0]).names:
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
    """A structural label called an expert's."""
    if not rows["qrels"] or "label_status" not in rows["qrels"][0]:
        return None
    row = rows["qrels"][0]
    row |= {"label_status": "expert", "rule": "review/unanimous@1"}
    return [str(row["query-id"]), str(row["corpus-id"])]


def _stray(directory: Path) -> Sequence[str] | None:
    """An answer to a pair nobody asked."""
    (files) = sorted((directory / "queries").glob("*.parquet"))
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
