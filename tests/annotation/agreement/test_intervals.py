from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats

from annotation.agreement.coefficients import COEFFICIENTS, Coefficient, Undefined, tabulate
from annotation.agreement.intervals import agreement, bca, estimates
from benchmarks.agreement import WORLDS, coverage

NAN = float("nan")


def fair(items: int, seed: int = 1) -> list[list[float]]:
    table, share = WORLDS["three, fair"].population()
    drawn = np.random.default_rng(seed).choice(len(share), items, p=share)
    return [[float(code) for code in row] for row in table.codes[drawn]]


def test_intervals_hold_their_figure_and_repeat_exactly() -> None:
    rows = fair(200)
    found = agreement(rows)
    assert [part.coefficient for part in found] == list(COEFFICIENTS)
    for part in found:
        assert (
            part.reason is None and part.value is not None and part.low is not None and part.high is not None
        )
        assert part.low < part.value < part.high
        assert (part.items, part.raters, part.ratings) == (200, 3, 600)
    assert agreement(rows[::-1]) == found
    assert agreement(rows, seed=2) != found


def test_a_chosen_figure_has_the_interval_it_has_among_all() -> None:
    rows = fair(80)
    both = {part.coefficient: part for part in agreement(rows)}
    assert agreement(rows, chosen=[Coefficient.AC1]) == [both[Coefficient.AC1]]


def test_more_items_and_less_confidence_make_intervals_shorter() -> None:
    def width(items: int, confidence: float = 0.95) -> float:
        found = agreement(fair(items), chosen=[Coefficient.ALPHA_ORDINAL], confidence=confidence)[0]
        assert found.high is not None and found.low is not None
        return found.high - found.low

    assert width(400) < 0.6 * width(100)
    assert width(100, 0.8) < 0.75 * width(100)


def test_bca_is_that_of_scipy() -> None:
    sample = np.random.default_rng(4).exponential(size=40)
    peer = stats.bootstrap((sample,), np.mean, n_resamples=4_000, method="BCa", rng=np.random.default_rng(6))
    draws = peer.bootstrap_distribution
    left_out = (sample.sum() - sample) / 39
    low, high = bca(draws, float(sample.mean()), sample.mean() - left_out, np.ones(40))
    assert low == pytest.approx(peer.confidence_interval.low, abs=1e-9)
    assert high == pytest.approx(peer.confidence_interval.high, abs=1e-9)
    assert high > np.quantile(draws, 0.975) + 0.015  # the correction is there to see


DEGENERATE: dict[str, tuple[ArrayLike, Undefined]] = {
    "nothing": (np.empty((0, 3)), Undefined.ONE_RATER),
    "no grades": ([[NAN, NAN]], Undefined.ONE_RATER),
    "one rater": ([[1], [2]], Undefined.ONE_RATER),
    "one rater with grades": ([[1, NAN], [2, NAN]], Undefined.ONE_RATER),
    "no item with two": ([[NAN, 1], [1, NAN]], Undefined.NO_OVERLAP),
    "one grade": ([[1, 1]] * 5, Undefined.ONE_GRADE),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_what_cannot_be_had_is_null_with_a_reason(name: str) -> None:
    rows, reason = DEGENERATE[name]
    by_name = {part.coefficient: part for part in agreement(rows)}
    for coefficient in (Coefficient.KAPPA_QUADRATIC, Coefficient.ALPHA_ORDINAL):
        part = by_name[coefficient]
        assert (part.value, part.low, part.high, part.reason) == (None, None, None, reason)


def test_figures_without_an_interval_say_why() -> None:
    def one(rows: ArrayLike, name: Coefficient) -> tuple[float | None, float | None, Undefined | None]:
        part = agreement(rows, chosen=[name])[0]
        assert part.high is None or part.low is not None
        return part.value, part.low, part.reason

    assert one([[1, 1]] * 5, Coefficient.PERCENT) == (1.0, None, Undefined.NO_SPREAD)
    assert one([[1, 1]] * 5, Coefficient.AC1) == (1.0, None, Undefined.NO_SPREAD)
    assert one([[1, 2]], Coefficient.PERCENT) == (0.0, None, Undefined.ONE_ITEM)
    assert one([[0, 0], [0, 1]], Coefficient.KAPPA) == (0.0, None, Undefined.UNSTABLE)


def test_agreement_without_exception_is_not_certain() -> None:
    for items, least, most in ((10, 0.3, 0.8), (100, 0.9, 0.99)):
        found = agreement([[0, 0], [1, 1]] * (items // 2), (0, 1), [Coefficient.KAPPA])[0]
        assert found.value == found.high == 1.0
        assert found.low is not None and least < found.low < most


def test_no_number_is_ever_nan() -> None:
    generator = np.random.default_rng(9)
    for _ in range(60):
        items, raters = int(generator.integers(1, 5)), int(generator.integers(1, 4))
        rows = generator.integers(0, 3, (items, raters)).astype(np.float64)
        rows[generator.random(rows.shape) < 0.4] = np.nan
        for part in estimates(tabulate(rows), resamples=100):
            numbers = [part.value, part.low, part.high]
            assert not any(number is not None and np.isnan(number) for number in numbers)
            assert (part.reason is None) == all(number is not None for number in numbers)


@pytest.mark.parametrize(
    ("name", "items"),
    [("three, good", 50), ("three, a third of ratings missing", 100), ("two, 90 % of one grade", 100)],
)
def test_intervals_hold_the_truth_of_simulated_annotators(name: str, items: int) -> None:
    """A slice of benchmarks/agreement.py; without the randomly paired items the first is below .93."""
    found = coverage(WORLDS[name], items, samples=40, resamples=300)
    assert np.mean([cell["covered"] for cell in found.values()]) >= 0.93
    assert all(cell["null"] == 0 for cell in found.values())
