"""The chance of a candidate: what raises it, what lowers it, and that chances add up."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchmarks.diagnosis_ranking import TRUST
from curation.diagnosis import score
from curation.diagnosis.candidate import Candidate
from tests.curation.diagnosis.builders import concepts

NONE = score.of_none(False, False)


def _candidate(concept: str = "MONDO:tb", **given: Any) -> Candidate:
    plain: dict[str, Any] = {"places": {"title"}, "title": 1.0, "is_main": True, "count": 5}
    return Candidate(concept, **(plain | given))


def _chance(one: Candidate, *others: Candidate) -> float:
    found = {item.concept: item for item in (one, *others)}
    return score.chances(score.features(found, concepts()), NONE)[one.concept]


def test_every_feature_has_a_weight_and_every_weight_a_feature() -> None:
    path = Path(score.__file__).with_suffix(".toml")
    assert set(tomllib.loads(path.read_text("utf-8"))["weights"]) == set(TRUST)
    wide = _candidate("MONDO:lymphoma")
    full = Candidate(
        "MONDO:dlbcl",
        is_finding=True,
        title=0.5,
        is_main=True,
        is_final=True,
        stated=0.5,
        places={"was diagnosed"},
        is_taken_back=True,
        is_beside=True,
        count=1,
        last=0.5,
        opens=True,
        defines=1,
    )
    later = _candidate("MONDO:tb", stated=0.9, places={"was diagnosed"})
    found = {item.concept: item for item in (wide, full, later)}
    made = score.features(found, concepts())
    bare = score.features({"HP:cough": Candidate("HP:cough", title=0.0)}, concepts())["HP:cough"]
    kin = score.features(
        {"MONDO:lymphoma": wide, "MONDO:dlbcl": Candidate("MONDO:dlbcl", places={"keyword"})}, concepts()
    )
    named = {
        name for read in (*made.values(), *kin.values(), bare, score.of_none(True, True)) for name in read
    }
    assert named == set(TRUST)


def test_chances_of_all_and_of_none_add_up_to_one() -> None:
    found = {name: _candidate(name) for name in ("MONDO:tb", "MONDO:lupus", "MONDO:gerd")}
    chances = score.chances(score.features(found, concepts()), NONE)
    assert math.isclose(sum(chances.values()), 1.0) and set(chances) == {*found, ""}
    assert math.isclose(chances["MONDO:tb"], chances["MONDO:lupus"])


def test_no_candidate_leaves_the_chance_to_none() -> None:
    assert score.chances({}, NONE) == {"": 1.0}


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ({"count": 1}, {"count": 9}),
        ({}, {"opens": True}),
        ({}, {"defines": 1}),
        ({"last": 0.1}, {"last": 0.9}),
        ({}, {"is_final": True}),
        ({"title": 0.0, "is_main": False, "places": {"keyword"}}, {}),
        ({"is_taken_back": True}, {}),
        ({"is_finding": True}, {}),
    ],
)
def test_what_raises_the_chance(worse: dict[str, Any], better: dict[str, Any]) -> None:
    rival = _candidate("MONDO:lupus", count=9)
    assert _chance(_candidate(**worse), rival) < _chance(_candidate(**better), rival)


def test_what_another_statement_supersedes_loses() -> None:
    places = {"was diagnosed"}
    first = _candidate(title=0.0, places=places, stated=0.2)
    later = _candidate("MONDO:lupus", title=0.0, places=places, stated=0.8)
    assert _chance(first, later) < _chance(later, first)
    kin = _candidate("MONDO:dlbcl", title=0.0, places=places, stated=0.8)
    made = score.features(
        {kin.concept: kin, "MONDO:lymphoma": _candidate("MONDO:lymphoma", places=places, stated=0.2)},
        concepts(),
    )
    assert "superseded" not in made["MONDO:lymphoma"]
