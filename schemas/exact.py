"""Logarithms, the normal distribution and sums of products to the same bits on every processor.

libm, numpy's vector loops and BLAS choose their code by the processor, and their last bits differ with it. So
log, exp, cos, tanh, arctan2, power, `@`, dot and the norm of one vector need what is here, or an end in whole
numbers. + - * / sqrt and numpy's own sum, mean, std, cumsum, bincount, add.at, einsum and percentile are the
same everywhere (tests/test_processors.py holds them to it).
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FINE = Context(prec=40)
"""Digits of intermediate results: what is rounded from them is the nearest double."""
_EXACT_BITS = 52
_PI = Decimal("3.14159265358979323846264338327950288419716939937511")
_LEAST = Decimal("1e-38")
_FAR = 9.0


@lru_cache(maxsize=1 << 16)
def log(value: float) -> float:
    """Natural logarithm, correctly rounded.

    Raises:
        ValueError: the value is not above 0.
    """
    if not value > 0:
        raise ValueError(f"no logarithm of {value}")
    return float(_FINE.ln(Decimal(value)))


@lru_cache(maxsize=1 << 10)
def log2(value: float) -> float:
    """Logarithm to base 2, correctly rounded.

    Raises:
        ValueError: the value is not above 0.
    """
    if not value > 0:
        raise ValueError(f"no logarithm of {value}")
    return float(_FINE.divide(_FINE.ln(Decimal(value)), _FINE.ln(Decimal(2))))


def normal_cdf(value: float) -> float:
    """Share of the standard normal distribution below a value, correctly rounded; 0 or 1 beyond 9 deviations.

    By the series of Marsaglia 2004, Evaluating the normal distribution.
    """
    if abs(value) > _FAR:
        return float(value > 0)
    with localcontext(_FINE):
        return float(_normal(Decimal(value))[0])


@lru_cache(maxsize=1 << 12)
def normal_quantile(share: float) -> float:
    """The value below which a share of the standard normal distribution lies, correctly rounded.

    Raises:
        StatisticsError: the share is not between 0 and 1.
    """
    guess = Decimal(NormalDist().inv_cdf(share))  # by libm: right to 1e-15, and after Newton's step to 1e-30
    with localcontext(_FINE):
        below, density = _normal(guess)
        return float(guess - (below - Decimal(share)) / density)


def _normal(value: Decimal) -> tuple[Decimal, Decimal]:
    """The normal distribution function and its density."""
    density = (-value * value / 2).exp() / (2 * _PI).sqrt()
    total = term = value
    odd = 1
    while abs(term) > _LEAST:
        odd += 2
        term *= value * value / odd
        total += term
    return Decimal("0.5") + density * total, density


def product(weights: Floats, values: Floats) -> Floats:
    """The matrix product, in whichever order BLAS adds: every sum it takes is one of whole numbers.

    Values are cut in two parts on grids so coarse that no sum of either reaches 2**53; what is lost lies
    below the last bit of the largest value, unless k times the largest weight is above 2**26.

    Args:
        weights: (n, k) whole numbers.
        values: (k, m) finite numbers.
    """
    largest = max(float(weights.max(initial=1.0)), -float(weights.min(initial=-1.0)))
    most = np.abs(values).max(axis=0, initial=0.0)
    bits = _EXACT_BITS - math.frexp(largest * max(1, weights.shape[1]))[1]
    coarse = np.ldexp(1.0, np.frexp(most)[1] - bits)
    fine = np.ldexp(coarse, -bits)
    high = np.rint(values / coarse)
    low = np.rint((values - high * coarse) / fine)
    return np.asarray((weights @ high) * coarse + (weights @ low) * fine)
