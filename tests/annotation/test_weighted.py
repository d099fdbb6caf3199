"""Weighted agreement: against figures worked out by hand, whole pools, and what is not claimed."""

from __future__ import annotations

import pytest

from annotation.judge.order import Orders, order_effect
from annotation.judge.standing import Bar, standing
from annotation.judge.weighted import Both, NoFigure, Pool
from schemas.review import CalibrationPair

CONCLUDES = {"0 0": 0, "1 1": 1, "2 2": 2}
SIZES = {"0 0": 900, "1 1": 40, "2 2": 60}


def rows_of(counts: dict[str, dict[int, int]]) -> list[Both]:
    """Stratum -> people's grade -> pairs; a query for each two pairs."""
    made = [
        (name, grade)
        for name, given in counts.items()
        for grade, number in given.items()
        for _ in range(number)
    ]
    return [Both(f"q{place // 2}", name, CONCLUDES[name], grade) for place, (name, grade) in enumerate(made)]


def test_pairs_count_as_many_as_they_stand_for() -> None:
    rows = rows_of({"0 0": {0: 45, 2: 5}, "1 1": {0: 5, 1: 10, 2: 5}, "2 2": {2: 27, 0: 3}})
    found = Pool(rows, SIZES, CONCLUDES, (0, 1, 2)).agreement(rows, resamples=300)
    # shares of the pool, judge by people, worked out by hand
    cells = {
        (0, 0): 0.81,
        (0, 2): 0.09,
        (1, 0): 0.01,
        (1, 1): 0.02,
        (1, 2): 0.01,
        (2, 2): 0.054,
        (2, 0): 0.006,
    }
    judge = [0.9, 0.04, 0.06]
    people = [0.826, 0.02, 0.154]
    seen = sum(abs(j - p) * share for (j, p), share in cells.items())
    chance = sum(abs(j - p) * judge[j] * people[p] for j in range(3) for p in range(3))
    assert found.kappa.value == pytest.approx(1 - seen / chance)
    assert found.bias.value == pytest.approx(sum((j - p) * share for (j, p), share in cells.items()))
    assert found.kappa.low is not None and found.kappa.high is not None
    assert found.kappa.low < (found.kappa.value or 0) < found.kappa.high
    assert (found.pairs, found.queries) == (100, 50)


def test_a_group_of_few_pairs_and_a_pool_that_is_not_covered_claim_nothing() -> None:
    rows = rows_of({"0 0": {0: 20}, "2 2": {2: 9}})
    pool = Pool(rows, SIZES, CONCLUDES, (0, 1, 2))
    assert pool.agreement(rows).kappa.reason == NoFigure.FEW_PAIRS
    assert pool.agreement(rows, fewest=1).kappa.reason == NoFigure.STRATUM_NOT_REVIEWED
    assert pool.agreement([]).kappa.reason == NoFigure.NO_PAIRS
    one = rows_of({"0 0": {0: 40}})
    found = Pool(one, {"0 0": 900}, CONCLUDES, (0, 1, 2)).agreement(one)
    assert found.kappa.reason == NoFigure.ONE_GRADE and found.kappa.low is None


def test_a_sample_without_a_disagreement_is_not_certain() -> None:
    rows = rows_of({"0 0": {0: 40}, "1 1": {1: 10}, "2 2": {2: 30}})
    found = Pool(rows, SIZES, CONCLUDES, (0, 1, 2)).agreement(rows)
    assert found.kappa.value == 1.0 and found.kappa.high == 1.0
    assert found.kappa.low is not None and found.kappa.low < 0.97


def test_an_order_that_matters_is_flagged_and_chance_is_not() -> None:
    still = [Orders(f"q{n % 40}", (n % 4, 1), ((n + (n % 29 == 0)) % 4, 1), True) for n in range(400)]
    assert not order_effect(still).is_flagged
    moved = [Orders(f"q{n % 40}", (1, 1), (1 + (n % 3 == 0), 1), True) for n in range(400)]
    found = order_effect(moved)
    assert found.is_flagged and found.shifts[0].value == pytest.approx(134 / 400)
    assert order_effect([Orders(f"q{n % 40}", (1,), (1,), n % 5 > 0) for n in range(400)]).is_flagged
    assert order_effect([]).pairs == 0 and not order_effect([]).is_flagged


def sample(queries: int) -> tuple[list[CalibrationPair], dict[tuple[str, str], int]]:
    """Pairs of three cells and people who mostly agree."""
    rows = [
        CalibrationPair(
            query_id=f"q{number % queries}", corpus_id=f"d{number}", stratum=name, population=SIZES[name],
            drawn=100, judge=CONCLUDES[name],
        )
        for place, name in enumerate(SIZES)
        for number in range(place * 100, place * 100 + 100)
    ]  # fmt: skip
    people = {}
    for row in rows:
        grade = CONCLUDES[row.stratum]
        people[row.query_id, row.corpus_id] = grade if int(row.corpus_id[1:]) % 20 else 2 - grade
    return rows, people


@pytest.mark.parametrize(
    ("queries", "floor", "not_run", "status"),
    [
        (100, 0.3, "", "calibrated"),
        (100, 0.95, "", "under_floor"),
        (79, 0.3, "", "few_queries"),
        (100, 0.3, "another judge", "not_run"),
    ],
)
def test_only_a_lower_bound_on_enough_queries_calibrates(
    queries: int, floor: float, not_run: str, status: str
) -> None:
    rows, people = sample(queries)
    found = standing(
        rows, people, SIZES, (0, 1, 2), {2}, Bar(floor, 80), {"is_flagged": False}, {}, not_run=not_run
    )
    assert found["status"] == status and found["why"]
    assert found["missed"]["value"] is None and found["judged_by_people"] == 300
    nobody = standing(rows, {}, SIZES, (0, 1, 2), {2}, Bar(floor, 80), {"is_flagged": False}, {})
    assert nobody["status"] == "not_run" and nobody["kappa"]["value"] is None
