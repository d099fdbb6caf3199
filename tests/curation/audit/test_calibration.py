"""A judge's labels are what it said, and labels only where people bear them out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from curation.audit.rules.calibration import RULES
from tests.curation.audit.small import check, dataset, named, planted, qrels, rule_of

LABELS = rule_of(RULES, "judge_labels")
CALIBRATION = rule_of(RULES, "judge_calibration")
CELLS = {"0 0": (0, 40), "2 2": (2, 10)}
"""Of each cell, what the judge concludes and how many pairs there were when the sample was drawn."""


def world(**changes: Any) -> dict[str, list[dict[str, Any]]]:
    """Twenty pairs of two cells, all judged, drawn, and graded by two people; one of ten another way."""
    said, drawn, answers, labels = [], [], [], []
    for number in range(20):
        pair = {"query-id": f"q{number % 5}", "corpus-id": f"d{number}"}
        cell = "0 0" if number < 10 else "2 2"
        grade, population = CELLS[cell]
        people = grade if number % 10 else 2 - grade
        seeded = "" if number % 5 else cell if number else "1 1"
        both = {"forward": cell, "reversed": cell, "seeded": seeded}
        said.append({**pair, "score": grade, "reason": "", **both, "model": "m"})
        drawn.append(
            {
                **pair, "stratum": cell, "population": population, "drawn": 10, "judge": grade,
                "people": people, "answers": [f"annotator:A{n}:{people}" for n in (1, 2)],
            }
        )  # fmt: skip
        answers += [
            {**pair, "annotator": f"A{n}", "role": "annotator", "grade": people, "rule": "review/unanimous@1"}
            for n in (1, 2)
        ]
        labels += qrels((pair["query-id"], pair["corpus-id"]), score=grade, status="judge")
    return {
        "judgements": said,
        "calibration": drawn,
        "annotations": answers,
        "qrels": labels,
        "excluded": [],
    } | changes


def stated(folder: Path, **changes: Any) -> None:
    """calibration.json of that world; κ is worked out by hand."""
    chance = 2 * 0.8 * 0.26 + 2 * 0.2 * 0.74  # people: 2 of 0.8 × 0.1 + 0.2 × 0.9
    told: dict[str, Any] = {
        "status": "calibrated", "floor": 0.5, "least_queries": 5, "mined": 20, "judged": 20, "drawn": 20,
        "judged_by_people": 20, "pairs": 20, "queries": 5,
        "kappa": {"value": round(1 - 0.2 / chance, 4), "low": 0.55},
        "order": {"pairs": 20, "unstable": {"value": 0.0}},
        "seeds": {"pairs": 4, "unstable": {"value": 0.25}},
    }  # fmt: skip
    (folder / "provenance").mkdir(exist_ok=True)
    (folder / "provenance/calibration.json").write_text(json.dumps(told | changes), "utf-8")


def test_a_calibrated_judge_passes(tmp_path: Path) -> None:
    subject = dataset(tmp_path, world())
    stated(tmp_path)
    found = [check(rule, subject, tmp_path) for rule in RULES]
    assert [(rule.status, rule.note) for rule in found] == [("passed", "")] * 2


@pytest.mark.parametrize(
    ("changes", "label", "expected"),
    [
        ({"status": "under_floor"}, "candidates", "passed"),
        ({"status": "under_floor"}, "silver", "failed"),
        ({"status": "not_run", "pairs": 0, "queries": 0, "kappa": {"value": None}}, "silver", "failed"),
        ({"judged": 21}, "silver", "failed"),
        ({"kappa": {"value": 0.9, "low": 0.8}}, "silver", "failed"),
        ({"floor": 0.6}, "silver", "failed"),
        ({"least_queries": 6}, "silver", "failed"),
    ],
)
def test_what_is_stated_of_a_judge_has_to_follow(
    tmp_path: Path, changes: Mapping[str, Any], label: str, expected: str
) -> None:
    subject = dataset(tmp_path, world(), label=label)
    stated(tmp_path, **changes)
    assert check(CALIBRATION, subject, tmp_path).status == expected


def test_the_populations_of_the_sample_are_those_of_the_table(tmp_path: Path) -> None:
    stated(tmp_path, mined_then=50)  # since then others were mined: nothing to compare with
    assert check(CALIBRATION, dataset(tmp_path, world()), tmp_path).status == "passed"
    tables = world()
    for number in range(30):
        pair = {"query-id": "never kept", "corpus-id": f"other {number}"}
        both = {"forward": "0 0", "reversed": "0 0", "seeded": "", "model": "m"}
        tables["judgements"].append({**pair, "score": 0, "reason": "", **both})
    told = {"mined": 50, "judged": 50, "order": {"pairs": 50, "unstable": {"value": 0.0}}}
    stated(tmp_path, **told, mined_then=50)
    assert check(CALIBRATION, dataset(tmp_path, tables), tmp_path).status == "passed"
    drawn = [{**row, "population": 12} if row["stratum"] == "2 2" else row for row in tables["calibration"]]
    found = check(CALIBRATION, dataset(tmp_path, {**tables, "calibration": drawn}), tmp_path)
    assert found.status == "failed" and "2 2" in named(found)


def test_without_a_calibration_a_judge_gives_candidates_only(tmp_path: Path) -> None:
    tables = world()
    del tables["calibration"], tables["annotations"]
    assert check(CALIBRATION, dataset(tmp_path / "1", tables), tmp_path).status == "failed"
    assert (
        check(CALIBRATION, dataset(tmp_path / "2", tables, label="candidates"), tmp_path).status == "passed"
    )
    del tables["judgements"]
    found = check(LABELS, dataset(tmp_path / "3", tables), tmp_path)
    assert found.status == "failed" and {"q0", "d0"} <= named(found)


def test_a_pair_is_left_open_by_judge_or_people_alone(tmp_path: Path) -> None:
    aside = {"query-id": "q0", "corpus-id": "d40", "reason": "middle"}
    tables = world(excluded=[aside])
    assert named(check(LABELS, dataset(tmp_path / "1", tables), tmp_path)) == {"q0", "d40"}
    tables["judgements"].append(
        {"query-id": "q0", "corpus-id": "d40", "score": None, "reason": "middle", "forward": "1 1"}
    )
    assert check(LABELS, dataset(tmp_path / "2", tables), tmp_path).status == "passed"


def test_the_sample_holds_its_own_answers_also_of_queries_that_are_not_released(tmp_path: Path) -> None:
    tables = world()
    tables["annotations"] = [row for row in tables["annotations"] if row["query-id"] != "q1"]
    tables["qrels"] = [row for row in tables["qrels"] if row["query-id"] != "q1"]
    stated(tmp_path)
    subject = dataset(tmp_path, tables)
    assert check(CALIBRATION, subject, tmp_path).status == "passed"
    for answers in ([], ["annotator:A1:2"], ["annotator:A1:0", "annotator:A2:0"], ["adjudicator:A3:1"]):
        drawn = [dict(row) for row in tables["calibration"]]
        changed = next(row for row in drawn if row["query-id"] == "q1" and row["people"] == 2)
        changed["answers"] = answers
        found = check(CALIBRATION, dataset(tmp_path, {**tables, "calibration": drawn}), tmp_path)
        assert found.status == "failed" and named(found) == {changed["query-id"], changed["corpus-id"]}


def test_every_planted_defect_is_found(tmp_path: Path) -> None:
    assert planted(RULES, dataset(tmp_path, world(), label="candidates"), tmp_path) == {}
