"""Agreement coefficients with 95 % intervals by bootstrap over items, seeded.

BCa (Efron 1987), widened by a second bootstrap whose population holds two more items with grades paired at
random: where few items disagree, BCa and percentile intervals alone are too short (benchmarks/agreement.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from annotation.agreement.coefficients import (
    COEFFICIENTS,
    SCALE,
    Codes,
    Coefficient,
    Floats,
    Table,
    Undefined,
    tabulate,
    undefined,
    values,
)
from schemas.exact import normal_cdf, normal_quantile

RESAMPLES, SEED, CONFIDENCE = 2_000, 20_260, 0.95
PSEUDO_ITEMS = 2.0
_PAIRINGS = 256
_CELLS = 2_000_000
_EQUAL = 1e-12
_DIGITS = 12
"""Sums may differ beyond these between machines; results must not."""
_LOST = 0.05


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure with its interval.

    `value` and the bounds are None when undefined, and then `reason` says why. `items` have at least two
    ratings; `raters` gave at least one.
    """

    coefficient: Coefficient
    value: float | None
    low: float | None
    high: float | None
    reason: Undefined | None
    items: int
    raters: int
    ratings: int


def agreement(
    ratings: ArrayLike,
    scale: Sequence[int] = SCALE,
    chosen: Sequence[Coefficient] = COEFFICIENTS,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[Estimate]:
    """Every chosen coefficient of a ratings array.

    Args:
        ratings: (items, raters) grades, NaN where there is none.
        scale: every grade that could have been given.
        chosen: which figures, in this order.
        confidence: of the intervals.
        resamples: how often items are drawn with replacement.
        seed: of the generator; the same draws serve every figure.

    Raises:
        InputError: the array or the scale cannot be used (see `tabulate`).
    """
    return estimates(tabulate(ratings, scale), chosen, confidence, resamples, seed)


def estimates(
    table: Table,
    chosen: Sequence[Coefficient] = COEFFICIENTS,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[Estimate]:
    """As `agreement`, of distinct rows already counted."""
    size = table.pairable, table.raters, table.ratings
    nothing = undefined(table)
    if nothing:
        return [Estimate(name, None, None, None, nothing, *size) for name in chosen]
    found = values(table, chosen=chosen)[0]
    bounds = _bounds(table, found, chosen, confidence, resamples, seed)
    return [
        Estimate(name, None, None, None, Undefined.ONE_GRADE, *size)
        if np.isnan(value)
        else Estimate(name, round(float(value), _DIGITS), *bound, *size)
        for name, value, bound in zip(chosen, found, bounds, strict=True)
    ]


Bounds = tuple[float | None, float | None, Undefined | None]


def _bounds(
    table: Table,
    found: Floats,
    chosen: Sequence[Coefficient],
    confidence: float,
    resamples: int,
    seed: int,
) -> list[Bounds]:
    if table.pairable < 2:
        return [(None, None, Undefined.ONE_ITEM)] * len(chosen)
    generator = np.random.Generator(np.random.PCG64(seed))
    plain = _draws(table, table.counts, chosen, resamples, generator)
    wider = Table(np.concatenate([table.codes, _pairings(table, generator)]), table.counts, table.scale)
    mixed = np.concatenate([table.counts, np.full(_PAIRINGS, PSEUDO_ITEMS / _PAIRINGS)])
    smoothed = _draws(wider, mixed, chosen, resamples, generator)
    influence = found - _leave_one_out(table, chosen)
    made: list[Bounds] = []
    for column, value in enumerate(found):
        draws, smooth = (part[~np.isnan(part[:, column]), column] for part in (plain, smoothed))
        if min(len(draws), len(smooth)) < (1 - _LOST) * resamples:
            made.append((None, None, Undefined.UNSTABLE))
        elif np.ptp(smooth) < _EQUAL:
            made.append((None, None, Undefined.NO_SPREAD))
        else:
            low, high = bca(draws, float(value), influence[:, column], table.counts, confidence)
            tail = (1 - confidence) / 2
            below, above = np.quantile(smooth, [tail, 1 - tail])
            made.append((_rounded(min(low, below)), _rounded(max(high, above)), None))
    return made


def bca(
    draws: Floats, value: float, influence: Floats, counts: Floats, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Bias-corrected and accelerated bootstrap interval.

    Args:
        draws: (replicates,) the figure in each.
        value: the figure itself.
        influence: (patterns,) by how much the figure falls when one such item is left out; NaN if undefined.
        counts: (patterns,) items of each pattern.
        confidence: of the interval.

    Source: Efron 1987, Better bootstrap confidence intervals; acceleration from the jackknife.
    """
    if np.ptp(draws) < _EQUAL:
        return value, value
    ties = np.abs(draws - value) <= _EQUAL
    below = float(((draws < value) & ~ties).mean() + ties.mean() / 2)
    bias = normal_quantile(min(max(below, 1 / len(draws)), 1 - 1 / len(draws)))
    known = ~np.isnan(influence)
    pull, weight = influence[known], counts[known]
    pull = pull - (pull * weight).sum() / weight.sum() if len(pull) else pull
    square, cube = (float((part * weight).sum()) for part in (pull * pull, pull * pull * pull))
    acceleration = cube / (6 * square * math.sqrt(square)) if square > _EQUAL else 0.0
    tail = (1 - confidence) / 2
    shifted = [bias + normal_quantile(part) for part in (tail, 1 - tail)]
    at = [normal_cdf(bias + shift / max(1 - acceleration * shift, _EQUAL)) for shift in shifted]
    low, high = np.quantile(draws, at)
    return float(low), float(high)


def _draws(
    table: Table, weights: Floats, chosen: Sequence[Coefficient], count: int, generator: np.random.Generator
) -> Floats:
    """(count, coefficients) of samples as large as the table, drawn in proportion to the weights."""
    items, share = int(table.counts.sum()), weights / weights.sum()
    parts = [
        values(table, generator.multinomial(items, share, size=size).astype(np.float64), chosen)
        for size in _portions(count, len(weights))
    ]
    return np.concatenate(parts)


def _leave_one_out(table: Table, chosen: Sequence[Coefficient]) -> Floats:
    """(patterns, coefficients) when one item of the pattern is left out."""
    parts, start, count = [], 0, len(table.counts)
    for size in _portions(count, count):
        rows = np.repeat(table.counts[None], size, axis=0)
        rows[np.arange(size), np.arange(start, start + size)] -= 1
        parts.append(values(table, rows, chosen))
        start += size
    return np.concatenate(parts)


def _pairings(table: Table, generator: np.random.Generator) -> Codes:
    """(pairings, raters) items that each keep who graded, but with grades drawn from each rater's own."""
    several = table.counts * (table.given >= 2)
    who = table.codes[generator.choice(len(several), _PAIRINGS, p=several / several.sum())] >= 0
    made = np.full(who.shape, -1, dtype=np.int64)
    for rater in np.flatnonzero(who.any(0)):
        graded = table.counts * (table.codes[:, rater] >= 0)
        drawn = generator.choice(table.codes[:, rater], _PAIRINGS, p=graded / graded.sum())
        made[:, rater] = np.where(who[:, rater], drawn, -1)
    return made


def _rounded(bound: float) -> float:
    return round(float(bound), _DIGITS)


def _portions(total: int, width: int) -> list[int]:
    """`total` rows of `width` cells in portions of bounded size."""
    size = max(1, _CELLS // max(1, width))
    return [min(size, total - start) for start in range(0, total, size)]
