"""Needs, derangement, tie-aware measures, features: each against what is known without the code."""

from __future__ import annotations

import itertools
import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import nDCG

from curation.derived.diagnostics.conditions import needs
from curation.derived.diagnostics.derange import components, derange
from curation.derived.diagnostics.features import UNKNOWN, Features, Patients, number_in, ordinals, patient_of
from curation.derived.diagnostics.scores import Asked, solve
from curation.derived.diagnostics.shortcuts import Lists, chance, tied

NAN = math.nan


@pytest.mark.parametrize(
    ("text", "image", "both", "expected"),
    [
        (1.0, 0.2, 1.0, "text"),
        (0.2, 1.0, 1.0, "image"),
        (1.0, 0.96, 0.97, "either"),
        (1.0, 0.95, 1.0, "either"),
        (1.0, 0.949, 1.0, "text"),
        (0.5, 0.5, 0.9, "both"),
        (1.0, 0.0, 0.4, "text"),
        (0.0, 0.0, 0.0, "neither"),
        (0.02, 0.0, 0.0, "text"),
        (0.0, 0.0, 0.03, "both"),
        (NAN, 0.5, 0.5, ""),
        (0.5, NAN, NAN, ""),
        (0.5, 0.5, NAN, ""),
    ],
)
def test_needs(text: float, image: float, both: float, expected: str) -> None:
    assert needs(np.array([text]), np.array([image]), np.array([both])) == [expected]


def test_no_image_goes_to_a_relative() -> None:
    keys = [(f"q{n:02}", f"article {n // 3}") for n in range(30)] + [("q00", "image x"), ("q29", "image x")]
    family = components(keys)
    assert family["q00"] == family["q28"] and family["q00"] != family["q03"]
    found = derange(sorted(family), family)
    assert set(found) == set(found.values()) == set(family)
    assert all(family[query] != family[other] for query, other in found.items())
    assert derange(sorted(family, reverse=True), family) == found
    assert derange(sorted(family), family, "other") != found


def test_chains_are_one_family_whatever_their_order() -> None:
    keys = [("a", "1"), ("b", "2"), ("c", "1"), ("c", "2"), ("d", "3")]
    for order in itertools.permutations(keys):
        assert components(order) == {"a": 0, "b": 0, "c": 0, "d": 1}


def test_a_family_of_most_queries_is_served_as_far_as_can_be() -> None:
    family = {f"q{n}": 0 if n < 5 else 1 for n in range(7)}
    found = derange(sorted(family), family)
    assert len(found) == 4 and all(family[query] != family[other] for query, other in found.items())
    assert derange(["q0"], {"q0": 0}) == {} and derange([], {}) == {}


def _lists(*grades: list[int]) -> Lists:
    sizes = [len(item) for item in grades]
    flat = [grade for item in grades for grade in item]
    starts = np.cumsum([0, *sizes]).astype(np.int64)
    return Lists(starts, np.arange(len(flat), dtype=np.int32), np.array(flat, np.int64))


def _by_hand(grades: list[int], scores: list[float]) -> float:
    """Mean nDCG@10 by ir-measures over every order that the scores allow."""
    found = []
    for order in itertools.permutations(range(len(grades))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            run = {"q": {str(item): float(-rank) for rank, item in enumerate(order)}}
            qrels = {"q": {str(item): grade for item, grade in enumerate(grades) if grade}}
            found.append(ir_measures.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10])
    return float(np.mean(found))


@pytest.mark.parametrize(
    ("grades", "scores"),
    [
        ([2, 0, 1, 0, 0], [1.0, 1.0, 1.0, 0.0, 0.0]),
        ([0, 2, 0, 1], [3.0, 3.0, 3.0, 3.0]),
        ([1, 0, 0], [2.0, 1.0, 0.0]),
        ([0, 0, 2], [2.0, 1.0, 1.0]),
    ],
)
def test_ties_are_the_mean_over_their_orders(grades: list[int], scores: list[float]) -> None:
    value, _ = tied(_lists([1, 0], grades, [0, 1]), np.array([1.0, 0.0, *scores, 1.0, 1.0]))
    assert value[1] == pytest.approx(_by_hand(grades, scores))
    assert value[0] == 1.0 and value[2] == pytest.approx((1 + 1 / math.log2(3)) / 2)
    random, first = chance(_lists(grades))
    assert random[0] == pytest.approx(_by_hand(grades, [0.0] * len(grades)))
    assert first[0] == pytest.approx(sum(grade > 0 for grade in grades) / len(grades))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30))
def test_ties_gain_nothing(rows: list[tuple[int, int]]) -> None:
    grades, scores = [grade for grade, _ in rows], np.array([float(score) for _, score in rows])
    value, first = tied(_lists(grades), scores)
    assert 0 <= value[0] <= 1 + 1e-12
    best = [grade for grade, score in rows if score == scores.max()]
    assert first[0] == (min(best) >= 1 and min(grades) < 1)


def test_beyond_the_tenth_rank_nothing_counts() -> None:
    value, _ = tied(_lists([0] * 10 + [1]), -np.arange(11, dtype=np.float64))
    assert value[0] == 0.0
    assert chance(_lists([0] * 19 + [1]))[0][0] == pytest.approx(
        sum(1 / math.log2(r + 2) for r in range(10)) / 20
    )


@pytest.mark.parametrize(
    ("text", "years", "sex"),
    [
        ("A 54-year-old woman presented with cough. He coughed.", 54, 1),
        ("We report a case. The patient, a 7-month-old boy, was well.", 7 / 12, 2),
        ("The patient was aged 63 years. She had fever. She was treated.", 63, 1),
        ("A fifty-four-year-old man came.", 54, 2),
        ("Una mujer de 45 años con fiebre.", 45, 1),
        ("Patient 2 (31/F) had a rash.", 31, 1),
    ],
)
def test_a_patient_is_read(text: str, years: float, sex: int) -> None:
    assert patient_of(text) == (round(round(years, 4) * 365.25), sex)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The survey included 54 households over 12 years.",
        "A 6-year-old Labrador retriever was neutered.",
        "He had been treated for 3 days.",
        "Her 60-year-old mother had diabetes.",
    ],
)
def test_who_is_no_patient_is_not_read(text: str) -> None:
    assert patient_of(text) == (UNKNOWN, 0)


def test_numbers_and_ordinals_of_ids() -> None:
    ids = ["pmc:PMC1.1#p10", "pmc:PMC1.1#p2", "pmc:PMC2.1#jcm-08-f003/1", "pmc:PMC3.1"]
    assert [number_in(name) for name in ids] == [10, 2, 3, UNKNOWN]
    assert ordinals(ids, {name: name.partition("#")[0] for name in ids}).tolist() == [1, 0, 0, 0]


def test_every_shortcut_finds_what_it_looks_for() -> None:
    lists = _lists([2, 0, 0], [0, 2, 0])
    features = Features(
        lengths=np.array([100, 300, 200, 90, 400, 400]),
        ordinals=np.array([0, 1, 1, 0, 0, 1]),
        numbers=np.array([1, 2, 3, 5, 1, 2]),
        patients=Patients(np.array([9, 9, 8, 9, 7, UNKNOWN]), np.array([1, 2, 1, 0, 1, 0])),
    )
    asked = Asked(
        np.array([120, 410]), np.array([1, UNKNOWN]), Patients(np.array([9, UNKNOWN]), np.array([1, 0]))
    )
    found = solve(lists, asked, features)
    assert not found.why_not
    assert found.first["length/closest"].tolist() == [
        True,
        False,
    ]  # the second has two equals, one unlabelled
    assert found.first["length/longest"].tolist() == [False, False]
    assert found.values["length/longest"][1] == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert found.first["position/first"].tolist() == [True, False]
    assert found.first["position/number"].tolist() == [True, False]
    assert found.first["demographic/age_sex"].tolist() == [True, False]
    for name in ("position/number", "demographic/age_sex"):
        assert found.values[name][0] == 1.0 and np.isnan(found.values[name][1])


def test_where_all_is_relevant_nothing_runs() -> None:
    zeros = np.zeros(3, np.int64)
    features = Features(np.array([5, 6, 7]), zeros, zeros - 1, Patients(zeros - 1, zeros))
    asked = Asked(np.array([3, 3]), np.array([UNKNOWN] * 2), Patients(np.array([UNKNOWN] * 2), zeros[:2]))
    found = solve(_lists([1], [1, 0]), asked, features)
    assert np.isnan(found.chance[0]) and found.chance[1] == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert np.isnan(found.values["length/longest"][0]) and not found.first["length/longest"].any()
    assert set(found.why_not) == {"position/first", "position/number", "demographic/age_sex"}
