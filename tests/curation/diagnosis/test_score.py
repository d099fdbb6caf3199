"""The chance of a candidate: what raises it, what lowers it, and that chances add up."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.diagnosis_ranking import TRUST
from curation.diagnosis import score
from curation.diagnosis.candidate import Candidate
from curation.diagnosis.named import EVIDENCE, Named
from curation.diagnosis.topic import topic_of
from tests.curation.diagnosis.builders import concepts


def _named(words: str, **evidence: float) -> Named:
    return Named(words, topic_of(words), dict.fromkeys(EVIDENCE, 0.5) | evidence)


def _candidate(concept: str = "MONDO:tb", **given: Any) -> Candidate:
    plain: dict[str, Any] = {"places": {"title"}, "title": 1.0, "is_main": True, "count": 5}
    return Candidate(concept, **(plain | given))


def _chances(found: Mapping[str, Candidate], named: Sequence[Named] = ()) -> dict[score.Key, float]:
    called = {concept: [item.name] for concept, item in found.items()}
    made = score.with_words(score.features(found, concepts()), named, score.agreeing(named, called))
    return score.chances(made, score.weights())


def _chance(one: Candidate, *others: Candidate) -> float:
    found = {item.concept: item for item in (one, *others)}
    return _chances(found)[one.concept]


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
    words = [_named("tuberculosis"), _named("scurvy")]
    told = score.with_words(made, words, score.agreeing(words, {name: ["tuberculosis"] for name in made}))
    rows = (*told.values(), *kin.values(), bare, score.OF_NONE)
    assert {name for read in rows for name in read} == set(TRUST)


def test_chances_of_all_and_of_none_add_up_to_one() -> None:
    found = {name: _candidate(name) for name in ("MONDO:tb", "MONDO:lupus", "MONDO:gerd")}
    chances = _chances(found)
    assert math.isclose(sum(chances.values()), 1.0) and set(chances) == {*found, ""}
    assert math.isclose(chances["MONDO:tb"], chances["MONDO:lupus"])


def test_no_candidate_leaves_the_chance_to_none() -> None:
    assert _chances({}) == {"": 1.0}


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


def test_words_that_no_concept_goes_by_are_a_candidate_of_their_own() -> None:
    found = {"MONDO:tb": _candidate(name="tuberculosis")}
    chances = _chances(found, [_named("tuberculosis"), _named("scurvy")])
    assert set(chances) == {"MONDO:tb", 1, ""}
    assert math.isclose(sum(chances.values()), 1.0)


def test_a_disease_stated_last_in_words_gains() -> None:
    found = {"MONDO:tb": _candidate(name="tuberculosis"), "MONDO:lupus": _candidate("MONDO:lupus")}
    rarely, last = ([_named("tuberculosis", **{"last stated": at})] for at in (0.1, 0.9))
    assert _chances(found, rarely)["MONDO:tb"] < _chances(found, last)["MONDO:tb"]
