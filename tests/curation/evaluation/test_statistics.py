"""Intervals and tests: known answers, articles drawn as a whole, same seed same numbers."""

import itertools

import numpy as np
import pytest

from curation.evaluation import statistics


def test_holm_by_hand() -> None:
    found = statistics.holm(np.array([0.01, 0.04, 0.03, 0.005]))
    assert found == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]


def test_mean_interval_and_counts() -> None:
    values = np.array([[0.0], [1.0], [1.0], [0.0], [np.nan]])
    found = statistics.estimates(values, np.array([0, 1, 2, 3, 4]))[0]
    assert (found.mean, found.queries, found.groups) == (0.5, 4, 4)
    assert found.low == 0.0 and found.high == 1.0
    assert found == statistics.estimates(values, np.array([0, 1, 2, 3, 4]))[0]


def test_the_interval_is_that_of_the_normal_where_that_holds() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    values = rng.random((2_000, 1))
    found = statistics.estimates(values, np.arange(2_000))[0]
    half = 1.96 * float(values.std()) / np.sqrt(2_000)
    assert found.low == pytest.approx(found.mean - half, abs=0.15 * half)
    assert found.high == pytest.approx(found.mean + half, abs=0.15 * half)


def test_queries_of_one_article_do_not_count_as_many() -> None:
    rng = np.random.Generator(np.random.PCG64(2))
    base = rng.random((40, 1))
    copied = np.repeat(base, 25, axis=0)
    apart = statistics.estimates(base, np.arange(40))[0]
    together = statistics.estimates(copied, np.repeat(np.arange(40), 25))[0]
    assert (together.low, together.high) == pytest.approx((apart.low, apart.high))
    assert together.queries == 1_000 and together.groups == 40


def test_one_article_has_no_interval() -> None:
    found = statistics.estimates(np.array([[0.2], [0.4]]), np.array([7, 7]))[0]
    assert found.mean == pytest.approx(0.3)
    assert found.low is None and found.high is None
    empty = statistics.estimates(np.empty((0, 1)), np.empty(0, np.int64))[0]
    assert np.isnan(empty.mean) and empty.queries == 0


def test_p_value_is_that_of_all_sign_changes() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    a, b = rng.random((9, 1)), rng.random((9, 1)) * 0.7
    gaps = (a - b)[:, 0]
    exact = np.mean(
        [
            abs(np.dot(signs, gaps)) >= abs(gaps.sum()) - 1e-12
            for signs in itertools.product((-1, 1), repeat=9)
        ]
    )
    found = statistics.compare([("a", a), ("b", b)], ["m"], np.arange(9))[0]
    assert found.difference == pytest.approx(gaps.mean())
    assert found.p == pytest.approx(exact, abs=0.02)


def test_equal_systems_do_not_differ_and_unequal_ones_do() -> None:
    rng = np.random.Generator(np.random.PCG64(4))
    a = rng.random((200, 1))
    found = statistics.compare([("a", a), ("b", a), ("c", a - 0.1)], ["m"], np.arange(200))
    by_pair = {(item.a, item.b): item for item in found}
    assert by_pair["a", "b"].p == 1.0
    assert by_pair["a", "c"].p < 0.001 and by_pair["a", "c"].difference == pytest.approx(0.1)
    assert by_pair["a", "c"].p_holm == pytest.approx(3 * by_pair["a", "c"].p)


def test_many_queries_of_one_article_are_one_observation() -> None:
    gap = np.full((50, 1), 0.2)
    found = statistics.compare([("a", gap), ("b", gap * 0)], ["m"], np.zeros(50, np.int64))[0]
    assert found.p == 1.0  # one article: both signs are as extreme
