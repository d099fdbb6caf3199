"""Exact arithmetic: equal to rational numbers and to many more digits, at every size."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from statistics import NormalDist, StatisticsError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr

from schemas.exact import log, log2, normal_cdf, normal_quantile, product

POSITIVE = st.floats(1e-300, 1e300)


@given(POSITIVE)
def test_logarithms_are_the_nearest_doubles(value: float) -> None:
    many = Context(prec=120)
    natural = many.ln(Decimal(value))
    assert log(value) == float(natural)
    assert log2(value) == float(many.divide(natural, many.ln(Decimal(2))))
    assert log(value) == pytest.approx(math.log(value), rel=1e-15, abs=1e-300)


@pytest.mark.parametrize("of", [log, log2])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_no_logarithm_of_what_is_not_positive(of: object, value: float) -> None:
    with pytest.raises(ValueError, match="no logarithm"):
        of(value)  # type: ignore[operator]


def test_powers_of_two_have_whole_logarithms() -> None:
    assert [log2(2.0**power) for power in range(-60, 60)] == list(range(-60, 60))


@given(st.floats(-9, 9))
def test_the_normal_distribution_is_scipy_s(value: float) -> None:
    assert normal_cdf(value) == pytest.approx(float(ndtr(value)), rel=1e-13)
    assert normal_cdf(value) + normal_cdf(-value) == pytest.approx(1.0, abs=1e-15)


def test_tails_and_the_middle() -> None:
    assert (normal_cdf(-1e300), normal_cdf(1e300), normal_cdf(0.0)) == (0.0, 1.0, 0.5)
    assert normal_cdf(-8.5) == pytest.approx(math.exp(float(log_ndtr(-8.5))), rel=1e-12)
    assert normal_quantile(0.5) == 0.0
    assert normal_quantile(0.975) == pytest.approx(1.959963984540054, rel=1e-15)
    with pytest.raises(StatisticsError):
        normal_quantile(1.0)


@given(st.floats(1e-9, 1 - 1e-9))
def test_a_quantile_is_python_s_and_has_its_share_below(share: float) -> None:
    found = normal_quantile(share)
    assert found == pytest.approx(NormalDist().inv_cdf(share), rel=1e-12, abs=1e-15)
    assert normal_cdf(found) == pytest.approx(share, rel=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 9), st.integers(-8, 8))
def test_a_product_is_that_of_rational_numbers(seed: int, inner: int, largest: int, power: int) -> None:
    generator = np.random.default_rng(seed)
    weights = generator.integers(-largest, largest + 1, (3, inner)).astype(np.float64)
    values = generator.standard_normal((inner, 2)) * 10.0**power
    values[generator.random((inner, 2)) < 0.2] = 0.0
    found = product(weights, values)
    for row, column in np.ndindex(found.shape):
        terms = zip(weights[row].tolist(), values[:, column].tolist(), strict=True)
        whole = float(sum((Fraction(a) * Fraction(b) for a, b in terms), Fraction(0)))
        size = float(np.abs(weights[row]) @ np.abs(values[:, column]))
        assert abs(float(found[row, column]) - whole) <= 2**-52 * size


def test_a_product_does_not_depend_on_the_order_of_its_terms() -> None:
    generator = np.random.default_rng(3)
    weights = generator.integers(0, 6, (40, 3_000)).astype(np.float64)
    values = generator.random((3_000, 4))
    order = generator.permutation(3_000)
    assert product(weights[:, order], values[order]).tobytes() == product(weights, values).tobytes()
    assert (weights[:, order] @ values[order]).tobytes() != (weights @ values).tobytes()


def test_products_of_nothing() -> None:
    assert product(np.zeros((0, 3)), np.ones((3, 2))).shape == (0, 2)
    assert product(np.ones((2, 0)), np.ones((0, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert product(np.zeros((1, 2)), np.ones((2, 1))).tolist() == [[0.0]]
