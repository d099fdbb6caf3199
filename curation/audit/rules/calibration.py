"""Rules on a judge: its labels are what it said, and they are labels only where people bear it out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.rule import (
    MAX_EXAMPLES,
    Check,
    Collector,
    Context,
    Defect,
    FileDefect,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.planting import table_file
from curation.audit.rules.runs_twice import CHANGED
from curation.audit.rules.text_rows import literal
from curation.published.manifest import NAME, OF_CANDIDATES
from curation.release.calibrated import CALIBRATED, FILE, calibration_facts
from curation.tasks.registry import TASKS
from schemas.grades import UNDECIDED
from schemas.judged_tables import CALIBRATION, JUDGEMENTS

_PAIR = '"query-id" AS q, "corpus-id" AS c'
_JUDGED = "SELECT * FROM qrels WHERE label_status = 'judge'"
_SAME = 'ON j."query-id" = r."query-id" AND j."corpus-id" = r."corpus-id"'
_OTHER_GRADE = f"""SELECT r."query-id" AS q, r."corpus-id" AS c FROM ({_JUDGED}) AS r
    LEFT JOIN judgements AS j {_SAME} WHERE j.score IS DISTINCT FROM r.score"""
_NOT_LEFT_OPEN = f"""SELECT r."query-id" AS q, r."corpus-id" AS c, r.reason FROM excluded AS r
    LEFT JOIN judgements AS j {_SAME} AND j.reason = r.reason
    WHERE r.reason IN {UNDECIDED} AND j.reason IS NULL"""
_BY_PEOPLE = ' AND NOT EXISTS (FROM annotations AS a WHERE a."query-id" = q AND a."corpus-id" = c)'
_OTHER_CONCLUSION = f"""SELECT r."query-id" AS q, r."corpus-id" AS c FROM calibration AS r
    LEFT JOIN judgements AS j {_SAME} AND j.forward = r.stratum
        AND (j.score = r.judge OR (j.score IS NULL AND j.reason = 'middle'))
    WHERE r.judge IS NOT NULL AND j.reason IS NULL"""
_FOLLOWS = """NOT coalesce(bool_or(a.role = 'adjudicator' AND a.grade = r.people), false)
        AND NOT coalesce(count(DISTINCT a.annotator) FILTER (a.role = 'annotator') > 1
            AND r.people BETWEEN min(a.grade) FILTER (a.role = 'annotator')
                AND max(a.grade) FILTER (a.role = 'annotator'), false)"""
_TOLD = """SELECT "query-id", "corpus-id", split_part(one, ':', 1) AS role,
    split_part(one, ':', 2) AS annotator,
    try_cast(split_part(one, ':', 3) AS BIGINT) AS grade
    FROM (SELECT "query-id", "corpus-id", unnest(answers) AS one FROM calibration)"""
_NOT_ANSWERED = """SELECT r."query-id" AS q, r."corpus-id" AS c FROM calibration AS r
    {join} ({answers}) AS a ON a."query-id" = r."query-id" AND a."corpus-id" = r."corpus-id"
    WHERE r.people IS NOT NULL GROUP BY r."query-id", r."corpus-id", r.people HAVING {follows}"""
_POPULATIONS = """SELECT r.stratum, r.population, count(j.forward) AS held
    FROM (SELECT DISTINCT stratum, population FROM calibration
        WHERE stratum NOT IN ('not_judged', 'unjudged')) AS r
    LEFT JOIN judgements AS j ON j.forward <> ''
        AND r.stratum = if(j.reason = 'unstable', 'unstable', j.forward)
    GROUP BY ALL HAVING held <> r.population ORDER BY ALL"""
_PLACES = 4
_KAPPA_APART = 0.002
"""How far a stated κ may be from that of the table: figures are rounded to four places."""


def _has_labels(context: Context) -> bool:
    named = "qrels" in context.views and "label_status" in context.columns("qrels")
    return named and bool(context.select(f"SELECT 1 FROM ({_JUDGED}) LIMIT 1"))


def _judged(context: Context) -> str:
    """Labels by a judge; datasets of others do not say who gave theirs."""
    if "qrels" not in context.views:
        return ""
    return _JUDGED if "label_status" in context.columns("qrels") else "SELECT * FROM qrels WHERE false"


def _without_table(context: Context) -> Outcome:
    """Labels by a judge in files that do not tell what it said."""
    if JUDGEMENTS.name in context.views or not _has_labels(context):
        return Outcome(0, 0)
    found = Collector("judge_labels", "error")
    for row in context.select(f"SELECT {_PAIR} FROM ({_JUDGED}) ORDER BY ALL LIMIT {MAX_EXAMPLES}"):
        found.add(
            "a label by a judge, and nothing tells what it said",
            side("queries", row["q"]),
            side("corpus", row["c"]),
        )
    return found.outcome(found.found)


def _told(text: str, *tables: str) -> Callable[[Context], str]:
    """SQL of a check that needs some tables, '' without them."""
    return lambda context: text if all(name in context.views for name in tables) else ""


def _not_answered(context: Context) -> str:
    """Verdicts in the sample that its own answers do not give, or those to a released label."""
    found = []
    if CALIBRATION.name in context.views and "answers" in context.columns(CALIBRATION.name):
        found.append(_NOT_ANSWERED.format(join="LEFT JOIN", answers=_TOLD, follows=_FOLLOWS))
    if CALIBRATION.name in context.views and "annotations" in context.views:
        join = "JOIN" if found else "LEFT JOIN"  # of queries that are not released it has no answers
        found.append(_NOT_ANSWERED.format(join=join, answers="FROM annotations", follows=_FOLLOWS))
    return " UNION ".join(f"({text})" for text in found)


def _left_open(context: Context) -> str:
    if JUDGEMENTS.name not in context.views or "excluded" not in context.views:
        return ""
    return _NOT_LEFT_OPEN + (_BY_PEOPLE if "annotations" in context.views else "")


def _not_calibrated(context: Context) -> str:
    """Labels of a judge in a release that calls them labels, and no calibration that bears them."""
    if context.manifest.label == OF_CANDIDATES or not _has_labels(context):
        return ""
    found = calibration_facts(context.directory)["calibration"]
    if found and found.get("status") == CALIBRATED:
        return ""
    stated = literal(str(found.get("status")) if found else "none")
    return f"""SELECT 'label' AS "{NAME}", {literal(context.manifest.label)} AS label, {stated} AS status,
        count(*) AS n FROM ({_JUDGED}) HAVING count(*) > 0"""


def _other_figures(context: Context) -> Outcome:
    """What the card is told of the judge, beside what the tables hold."""
    stated = calibration_facts(context.directory)["calibration"]
    if not stated or JUDGEMENTS.name not in context.views:
        return Outcome(0, 0)
    found = Collector("judge_calibration", "error")
    real = _figures(context)
    if stated.get("status") == "not_run":  # then nothing is said of agreement
        kept = {"mined", "judged", "drawn", *CHANGED}
        real = {name: value for name, value in real.items() if name in kept} | {"queries": 0}
    for name, value in real.items():
        given = _stated_value(stated, name)
        if given != value and not _is_near(given, value):
            found.add(f"{FILE} says {name} = {given}; the tables give {value}", side(FILE, name, str(given)))
    for stratum, population, held in _other_populations(context, stated.get("mined_then")):
        found.add(
            f"the sample says {population} pairs of stratum {stratum}; judgements has {held}",
            side(CALIBRATION.name, stratum, str(population)),
        )
    kappa = stated.get("kappa") or {}
    low, floor = kappa.get("low"), stated.get("floor")
    is_borne = isinstance(low, float | int) and isinstance(floor, float | int) and low >= floor
    enough = real["queries"] >= (stated.get("least_queries") or 0)
    if stated.get("status") == CALIBRATED and not (is_borne and enough):
        found.add(
            f"{FILE} calls the judge calibrated: lower bound {low}, floor {floor}, {real['queries']} queries",
            side(FILE, "status", CALIBRATED),
        )
    return found.outcome(len(real) + 1)


def _other_populations(context: Context, mined_then: Any) -> Iterator[tuple[str, int, int]]:
    """Strata that are not as large in `judgements` as the sample says: stratum, said, held.

    Only where nothing was mined since it was drawn, and every row is one that the judge saw.
    """
    task = TASKS.get(context.subject.task)
    is_same = mined_then == context.select("SELECT count(*) AS n FROM judgements")[0]["n"]
    if CALIBRATION.name in context.views and is_same and not (task and task.by_language):
        for row in context.select(_POPULATIONS):
            yield str(row["stratum"]), int(row["population"]), int(row["held"])


def _stated_value(stated: Mapping[str, Any], name: str) -> Any:
    """A figure of calibration.json: of an estimate its value, of what was asked twice pairs and share."""
    given: Any = stated.get(name)
    if name == "kappa":
        return (given or {}).get("value")
    if name not in CHANGED:
        return given
    return [given.get("pairs"), (given.get("unstable") or {}).get("value")] if given else None


def _twice(context: Context) -> dict[str, list[float | None]]:
    """Pairs that were asked twice, and the share that came out otherwise: in the other order, with a seed."""
    known = context.columns("judgements")
    made: dict[str, list[float | None]] = {}
    for name, (column, is_other) in CHANGED.items():
        if column in known:
            row = context.select(
                f"""SELECT count(*) AS n, count(*) FILTER ({is_other}) AS other FROM judgements
                WHERE forward <> '' AND reversed <> '' AND {column} <> ''"""
            )[0]
            n, other = int(row["n"]), int(row["other"])
            made[name] = [n, round(other / n, _PLACES) if n else None]
    return made


def _is_near(given: Any, value: Any) -> bool:
    both = isinstance(given, float | int) and isinstance(value, float)
    return both and abs(given - value) <= _KAPPA_APART


def _figures(context: Context) -> dict[str, Any]:
    """Figures of calibration.json as the tables give them."""
    row = context.select("SELECT count(*) AS n, count(*) FILTER (forward <> '') AS judged FROM judgements")[0]
    made: dict[str, Any] = {"mined": int(row["n"]), "judged": int(row["judged"])}
    rows = context.select("FROM calibration ORDER BY ALL") if CALIBRATION.name in context.views else []
    both = [one for one in rows if one["judge"] is not None and one["people"] is not None]
    return (
        made
        | _twice(context)
        | {
            "drawn": len(rows),
            "judged_by_people": sum(one["people"] is not None for one in rows),
            "pairs": len(both),
            "queries": len({one["query-id"] for one in both}),
            "kappa": _kappa(rows, both),
        }
    )


def _kappa(rows: Sequence[Mapping[str, Any]], both: Sequence[Mapping[str, Any]]) -> float | None:
    """Linear κ of judge and people, each stratum as large as its population.

    A stratum in which nobody graded a pair is stood for by the others of the same conclusion.
    """
    sizes = {one["stratum"]: (one["judge"], one["population"]) for one in rows if one["judge"] is not None}
    graded = Counter(one["stratum"] for one in both)
    whole, answered = Counter[int](), Counter[int]()
    for stratum, (judge, population) in sizes.items():
        whole[judge] += population
        answered[judge] += population if graded[stratum] else 0
    cells: dict[tuple[int, int], float] = {}
    for one in both:
        judge, population = sizes[one["stratum"]]
        weight = population * whole[judge] / answered[judge] / graded[one["stratum"]]
        cells[judge, one["people"]] = cells.get((judge, one["people"]), 0.0) + weight
    mass = sum(cells.values())
    chance = sum(
        abs(judge - grade) * weight * other
        for (judge, _), weight in cells.items()
        for (_, grade), other in cells.items()
    )
    seen = sum(abs(judge - grade) * weight for (judge, grade), weight in cells.items())
    return 1 - seen * mass / chance if chance else None


_ASKED_TWICE = {"pairs": 40, "unstable": {"value": 0.05}}
_PLANTED = {"mined": 1, "judged": 1, "drawn": 0, "judged_by_people": 0, "pairs": 0, "queries": 0, "kappa": {},
    "order": {"pairs": 1, "unstable": {"value": 0.0}}, "seeds": {"pairs": 0, "unstable": {"value": None}},
}  # fmt: skip
"""What the tables give where a defect puts its own row in the place of all others."""


def _stating(**values: Any) -> Callable[[Path, Sequence[str]], None]:
    """Writes a calibration.json that says something else than the tables."""

    def write(directory: Path, _: Sequence[str]) -> None:
        path = directory / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_PLANTED | values), encoding="utf-8")

    return write


def _pair(name: str) -> str:
    return (
        f"""{literal(f"planted: {name}")} AS "query-id", {literal(f"planted for: {name}")} AS "corpus-id" """
    )


def _said(name: str, values: str) -> str:
    """SQL: a further row of what the judge said."""
    return f"""INSERT INTO judgements BY NAME SELECT {_pair(name)}, {values}"""


_GAVE_2 = "2 AS score, '' AS reason, '3 3' AS forward, '3 3' AS reversed"
_EMPTY = """INSERT INTO judgements BY NAME SELECT 'planted: none' AS "query-id" WHERE false"""


def _label(name: str, said: str) -> Defect:
    """A label by the judge beside what it said of the pair."""
    labelled = f"""INSERT INTO qrels BY NAME SELECT {_pair(name)}, 0 AS score, 'judge' AS label_status
        RETURNING "query-id", "corpus-id" """
    return Defect(name, f"{said}; {labelled}")


def _drawn(name: str, said: str, values: str) -> Defect:
    """A pair of the calibration sample."""
    answered = "INSERT INTO annotations BY NAME SELECT 'A1' AS annotator WHERE false"
    drawn = f"""INSERT INTO calibration BY NAME SELECT {_pair(name)}, {values}
        RETURNING "query-id", "corpus-id" """
    return Defect(name, f"{said}; {answered}; {drawn}")


def _stated(name: str, field: str, **values: Any) -> Defect:
    """A file of figures that the tables do not give."""
    alone = "DELETE FROM judgements; DELETE FROM calibration"
    planted = f"{alone}; {_said(name, _GAVE_2)}; SELECT {literal(field)}"
    return Defect(name, planted, files=_stating(**values))


def _lost(directory: Path) -> Sequence[str] | None:
    """A judge's label in files without what the judge said."""
    path = table_file(directory, "qrels")
    if path is None or not len(labels := pq.read_table(path)) or "label_status" not in labels.column_names:
        return None
    for told in JUDGEMENTS.files(directory):
        told.unlink()
    rows = labels.to_pylist()
    rows[0]["label_status"] = "judge"
    pq.write_table(pa.Table.from_pylist(rows, schema=labels.schema), path)
    return [rows[0]["query-id"], rows[0]["corpus-id"]]


RULES = (
    Rule(
        "judge_labels",
        1,
        "A judge's labels are what it said",
        "Every label by a judge has the grade the judge gave the pair in both orders, and a pair is excluded "
        "as middle or unstable only where the judge, or people, left it open.",
        "error",
        "pairs",
        checks=(
            Check(
                "a label by a judge, and nothing tells what it said",
                _without_table,
                FileDefect("a judge's label without what the judge said", _lost),
            ),
            Check(
                "the judge did not give the pair this grade",
                _told(_OTHER_GRADE, "judgements", "qrels"),
                (
                    _label("a judge's label that the judge never gave", _EMPTY),
                    _label(
                        "a judge's label of another grade", _said("a judge's label of another grade", _GAVE_2)
                    ),
                ),
                at_once=True,
            ),
            Check(
                "excluded as {reason}, and neither judge nor people left the pair open",
                _left_open,
                Defect(
                    "a pair excluded as unstable that the judge graded",
                    f"""{_said("unstable", _GAVE_2)};
                    INSERT INTO excluded BY NAME SELECT {_pair("unstable")}, 'unstable' AS reason
                    RETURNING "query-id", "corpus-id" """,
                ),
            ),
        ),
        compared=_judged,
        tables=("qrels",),
    ),
    Rule(
        "judge_calibration",
        3,
        "A judge's labels rest on a calibration",
        "A release with labels by a judge says 'candidates' unless the judge is calibrated; every figure of "
        "provenance/calibration.json follows from judgements and calibration, and these from each other and "
        "from the answers of people.",
        "error",
        "pairs",
        checks=(
            Check(
                "release.json says {label!r} of {n} labels by a judge whose calibration is {status!r}",
                _not_calibrated,
                Defect(
                    "labels of a judge that nobody calibrated",
                    "UPDATE qrels SET label_status = 'judge' WHERE rowid = 0; SELECT 'label'",
                    stated={"label": "silver"},
                ),
            ),
            Check(
                "calibration.json says what the tables do not give",
                _other_figures,
                (
                    _stated("a judged share that is too high", "judged", judged=10**6),
                    _stated("a sample that nobody drew", "drawn", drawn=300),
                    _stated("an order that is said to matter", "order", order=_ASKED_TWICE),
                    _stated("a seed that was never tried", "seeds", seeds=_ASKED_TWICE),
                    Defect(
                        "a stratum that is said to be larger than it is",
                        f"""DELETE FROM judgements; DELETE FROM calibration; {_said("one", _GAVE_2)};
                        INSERT INTO calibration BY NAME SELECT {_pair("one")}, '3 3' AS stratum,
                            99 AS population, 1 AS drawn, 2 AS judge RETURNING stratum""",
                        files=_stating(drawn=1, mined_then=1),
                    ),
                    _stated("agreement that nobody measured", "kappa", kappa={"value": 0.9, "low": 0.8}),
                    _stated(
                        "a judge called calibrated below its floor",
                        "status",
                        status=CALIBRATED,
                        floor=0.6,
                        kappa={"value": None, "low": 0.2},
                    ),
                ),
            ),
            Check(
                "the judge's conclusion in the sample is not that of its scores",
                _told(_OTHER_CONCLUSION, "judgements", "calibration"),
                _drawn(
                    "a conclusion that the judge did not draw",
                    _said("a conclusion that the judge did not draw", _GAVE_2),
                    "'3 3' AS stratum, 0 AS judge",
                ),
            ),
            Check(
                "a grade of people in the sample that no two answers and no adjudicator gave",
                _not_answered,
                (
                    _drawn("a grade that nobody gave", _EMPTY, "'unjudged' AS stratum, 2 AS people"),
                    _drawn(
                        "a grade that one person alone gave",
                        _EMPTY,
                        "'unjudged' AS stratum, 2 AS people, ['annotator:A1:2'] AS answers",
                    ),
                ),
            ),
        ),
        compared=_judged,
        tables=("qrels",),
    ),
)
