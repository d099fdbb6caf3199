"""Rank correlation: equal to SciPy's, with intervals, and nothing where nothing can be said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from curation.derived.subsets import SystemValues, correlate, measure, reference
from curation.derived.subsets.correlation import kendall_tau_b, spearman_rho
from curation.evaluation.collection import Collection
from tests.curation.derived.subsets.conftest import ranked

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9)


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
@given(PAIRS)
def test_coefficients_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    one, other = np.array(pairs, np.float64).T
    for mine, theirs in (
        (kendall_tau_b, stats.kendalltau(one, other).statistic),
        (spearman_rho, stats.spearmanr(one, other).statistic),
    ):
        np.testing.assert_allclose(mine(one, other), theirs, atol=1e-12, equal_nan=True)


def values(count: int, systems: int, seed: int, noise: float = 0.0) -> SystemValues:
    """System n has mean n / 10, plus noise by query."""
    rng = np.random.default_rng(seed)
    return SystemValues(
        tuple(f"q{number}" for number in range(count)),
        tuple(f"a{number // 2}" for number in range(count)),
        {f"s{n}": n / 10 + noise * rng.standard_normal(count) for n in range(systems)},
    )


def test_the_same_order_and_the_opposite() -> None:
    whole = values(40, 6, 1)
    found = correlate(whole, values(10, 6, 2))
    assert found.all.kendall_tau_b == found.all.spearman_rho == 1.0
    assert (found.all.kendall_low, found.all.kendall_high) == (1.0, 1.0)
    assert found.largest_difference == 0.0 and found.queries_of_whole == 40 and found.queries_of_part == 10
    turned = {f"s{n}": np.full(10, (5 - n) / 10) for n in range(6)}
    opposite = correlate(whole, SystemValues(whole.queries[:10], whole.groups[:10], turned))
    assert opposite.all.kendall_tau_b == -1.0 == opposite.all.spearman_rho
    assert opposite.largest == "s5" and opposite.largest_difference == pytest.approx(-0.5)


def test_noise_widens_the_interval_and_draws_repeat() -> None:
    found = correlate(values(200, 6, 1, 0.3), values(20, 6, 2, 0.3))
    assert found == correlate(values(200, 6, 1, 0.3), values(20, 6, 2, 0.3))
    low, high, tau = found.all.kendall_low, found.all.kendall_high, found.all.kendall_tau_b
    assert low is not None and high is not None and tau is not None and low < tau <= high
    assert low < 1.0 and found.all.spearman_low is not None


def test_systems_that_made_the_part_are_told_apart() -> None:
    found = correlate(values(40, 6, 1), values(10, 6, 2), shaped_by=("s0", "s9"))
    assert [item.name for item in found.systems if item.shaped] == ["s0"]
    assert (found.all.systems, found.unshaped.systems) == (6, 5)
    assert found.unshaped.kendall_tau_b == 1.0


@pytest.mark.parametrize(
    ("systems", "said"), [(4, "4 systems ran on both; 5 are needed"), (0, "0 systems ran on both")]
)
def test_too_few_systems_give_no_number(systems: int, said: str) -> None:
    found = correlate(values(40, systems, 1), values(10, systems, 2))
    assert found.all.kendall_tau_b is None is found.all.spearman_low and said in found.all.why_not
    assert (found.largest_difference is None) == (systems == 0)


def test_equal_systems_have_no_order() -> None:
    flat = SystemValues(("q",), ("a",), {f"s{n}": np.array([0.5]) for n in range(5)})
    found = correlate(flat, flat)
    assert found.all.why_not == "all systems have the same mean" and found.all.kendall_low is None


def test_one_article_gives_a_number_without_interval() -> None:
    whole = values(2, 5, 1)
    found = correlate(whole, whole)
    assert found.all.kendall_tau_b == 1.0 and found.all.kendall_low is None


def test_what_stands_for_the_whole_has_fewer_queries_and_all_documents(whole: Collection) -> None:
    part = reference(whole, 20)
    assert len(part.queries) == 20 == len(part.qrels) and part.corpus_ids == whole.corpus_ids
    assert len(reference(whole).queries) == 59, "the query without a positive is not measured"
    found = measure(part, {"one": ranked(part, 0), "none": {}})
    assert found.queries == tuple(query.id for query in part.queries)
    assert found.groups[0].startswith("a") and found.values["none"].tolist() == [0.0] * 20
    assert all((found.values["one"] > 0) == [int(name[1:]) * 3 < 10 for name in found.queries])
