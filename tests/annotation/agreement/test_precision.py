from __future__ import annotations

import pytest
from scipy import stats

from annotation.agreement.precision import (
    Reason,
    Reviewed,
    Stratum,
    clopper_pearson,
    decide,
    missed_positives,
    proportion,
    strata,
    wilson,
)
from benchmarks.agreement import DESIGNS, proportion_coverage
from schemas.errors import InputError


@pytest.mark.parametrize(("positive", "total"), [(0, 10), (1, 30), (97, 100), (50, 50)])
def test_binomial_intervals_are_those_of_scipy(positive: int, total: int) -> None:
    peer = stats.binomtest(positive, total)
    for ours, method in ((clopper_pearson, "exact"), (wilson, "wilson")):
        expected = peer.proportion_ci(method=method)
        assert ours(positive, total) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_one_large_stratum_is_a_simple_random_sample() -> None:
    found = proportion([Stratum("all", 10**9, 100, 93, 4)])
    assert found.value == 0.93
    assert (found.low, found.high) == pytest.approx(clopper_pearson(93, 100), abs=1e-6)
    assert (found.population, found.reviewed, found.unclear) == (10**9, 100, 4)
    shorter = proportion([Stratum("all", 10**9, 100, 93)], method="wilson")
    assert (shorter.low, shorter.high) == pytest.approx(wilson(93, 100), abs=1e-6)


def test_strata_count_by_their_size() -> None:
    found = proportion([Stratum("large", 9_000, 100, 100), Stratum("small", 1_000, 100, 50)])
    assert found.value == pytest.approx(0.95)
    assert found.low is not None and found.high is not None and found.low < 0.95 < found.high
    # As if the small stratum were all there is, .5 could not be excluded; weighted, it can.
    assert found.low > 0.9


def test_all_reviewed_leaves_no_doubt_and_half_reviewed_less() -> None:
    full = proportion([Stratum("a", 50, 50, 45), Stratum("b", 10, 10, 10)])
    assert full.value == full.low == full.high == pytest.approx(55 / 60)
    few, many = (proportion([Stratum("a", size, 40, 38)]) for size in (80, 8_000))
    assert few.low is not None and many.low is not None and few.low > many.low
    # 38 of 80 are known to be positive and 2 not, whatever the rest is.
    assert few.high is not None and few.high <= 78 / 80


def test_a_stratum_nobody_reviewed_leaves_the_share_open() -> None:
    found = proportion([Stratum("a", 50, 20, 20), Stratum("b", 10, 0, 0)])
    assert (found.value, found.low, found.high, found.reason) == (
        None,
        None,
        None,
        Reason.STRATUM_NOT_REVIEWED,
    )
    assert proportion([Stratum("a", 50, 20, 20), Stratum("b", 0, 0, 0)]).reason is None
    assert proportion([]).reason == Reason.NO_ITEMS


def test_a_rule_is_kept_by_its_lower_bound() -> None:
    def decided(population: int, reviewed: int, positive: int) -> tuple[str, Reason, str]:
        parts = [Stratum("all", population, reviewed, positive)]
        found = decide("own_image", parts, floor=0.9, minimum=60)
        assert (found.rule, found.floor, found.minimum) == ("own_image", 0.9, 60)
        return found.decision, found.reason, found.version_bump

    assert decided(5_000, 200, 195) == ("keep", Reason.AT_FLOOR, "none")
    assert decided(5_000, 200, 186) == ("downgrade", Reason.UNDER_FLOOR, "major")  # .93, but from .885
    assert decided(5_000, 59, 59) == ("not_run", Reason.TOO_FEW, "none")
    assert decided(5_000, 0, 0) == ("not_run", Reason.STRATUM_NOT_REVIEWED, "none")
    assert decided(0, 0, 0) == ("not_run", Reason.NO_ITEMS, "none")
    assert decided(40, 40, 38) == ("keep", Reason.AT_FLOOR, "none")  # fewer than the minimum, but all


def test_what_was_judged_first_for_a_reason_says_nothing_of_the_rest() -> None:
    parts = [Stratum("1-10", 500, 90, 10), Stratum("11-", 500, 90, 9, is_random=False)]
    found = decide("own_image", parts, floor=0.9, minimum=60)
    assert (found.decision, found.reason, found.version_bump) == ("not_run", Reason.NOT_RANDOM, "none")
    missed = missed_positives(parts, found=300)
    assert (missed.rate.value, missed.rate.reason) == (None, Reason.NOT_RANDOM)
    assert [part.reason for _, part in missed.bands] == [None, Reason.NOT_RANDOM]


def test_missed_positives_by_rank_band() -> None:
    bands = [Stratum("1-10", 500, 50, 10), Stratum("11-100", 4_500, 90, 1)]
    found = missed_positives(bands, found=300)
    assert found.missed == pytest.approx(500 * 0.2 + 4_500 / 90)
    assert found.rate.value == pytest.approx(150 / 5_000)
    assert found.found_share == pytest.approx(300 / 450)
    assert found.missed_low is not None and found.missed_high is not None
    assert 11 <= found.missed_low < 150 < found.missed_high
    assert found.found_share_low == pytest.approx(300 / (300 + found.missed_high))
    assert found.found_share_high == pytest.approx(300 / (300 + found.missed_low))
    assert [name for name, _ in found.bands] == ["1-10", "11-100"]
    assert found.bands[0][1].value == 0.2
    open_end = missed_positives([*bands, Stratum("101-", 10, 0, 0)], found=300)
    assert (open_end.missed, open_end.found_share) == (None, None)
    assert missed_positives([Stratum("1-10", 10, 10, 0)], found=0).found_share is None


def test_reviewed_rows_are_counted_by_stratum() -> None:
    rows = [
        Reviewed("a", "own_image", "tier1", True),
        Reviewed("b", "own_image", "tier1", False),
        Reviewed("c", "own_image", "tier1", None),
        Reviewed("a", "same_case", "tier1", True),
    ]
    sizes = {("own_image", "tier1"): 10, ("own_image", "tier2"): 5, ("same_case", "tier1"): 7}
    assert strata(rows, sizes) == {
        "own_image": (Stratum("tier1", 10, 2, 1, 1), Stratum("tier2", 5, 0, 0, 0)),
        "same_case": (Stratum("tier1", 7, 1, 1, 0),),
    }
    with pytest.raises(InputError, match="reviewed twice"):
        strata([*rows, rows[0]], sizes)
    with pytest.raises(InputError, match="no size is known"):
        strata([Reviewed("d", "own_image", "tier3", True)], sizes)
    with pytest.raises(InputError, match="cannot come from"):
        strata(rows, {**sizes, ("own_image", "tier1"): 2})


@pytest.mark.parametrize("name", ["one stratum, precision .97", "two tiers", "rank bands, rare"])
def test_intervals_hold_the_share_of_simulated_populations(name: str) -> None:
    """A slice of benchmarks/agreement.py."""
    found = proportion_coverage(DESIGNS[name], 600)
    assert found["clopper_pearson covered"] >= 0.93
    assert found["clopper_pearson low above truth"] <= 0.05
