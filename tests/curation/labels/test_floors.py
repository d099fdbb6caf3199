"""Floors of published labels are those that the marked records demand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curation.labels.floors import FLOORS, LEAST_RIGHT, floor_of

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "labels.json"


@pytest.mark.parametrize("facet", sorted(FLOORS))
def test_a_floor_follows_from_the_dev_half_and_holds_on_the_other(facet: str) -> None:
    measured = json.loads(RESULTS.read_text("utf-8"))
    assert floor_of(measured["dev_reliability"][facet]) == FLOORS[facet]
    above = [step for step in measured["test_reliability"][facet] if step["from"] >= FLOORS[facet]]
    assert all(step["right"] >= LEAST_RIGHT for step in above)


def test_a_step_that_is_wrong_too_often_raises_the_floor_above_it() -> None:
    steps = [{"from": 0.0, "right": 1.0}, {"from": 0.4, "right": 0.8}, {"from": 0.6, "right": 0.95}]
    assert floor_of(steps) == 0.6
    assert floor_of([*steps, {"from": 0.8, "right": None}]) > 1
