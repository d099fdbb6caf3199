"""Means with bootstrap intervals and paired tests between systems, seeded.

Queries of one article are not independent, so whole articles are drawn and whole articles change sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from schemas.exact import product

RESAMPLES, PERMUTATIONS, SEED = 2_000, 10_000, 20_260
_CELLS = 4_000_000

Values = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `queries` queries of `groups` articles; the 95 % interval is None below two articles."""

    mean: float
    low: float | None
    high: float | None
    queries: int
    groups: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Difference of two systems' means (a - b) on the same queries; p before and after Holm."""

    a: str
    b: str
    measure: str
    difference: float
    p: float
    p_holm: float
    queries: int


def codes(groups: Sequence[str]) -> Codes:
    """Groups as numbers from 0, in sorted order."""
    _, found = np.unique(np.asarray(groups, dtype=object).astype(str), return_inverse=True)
    return np.asarray(found, dtype=np.int64)


def estimates(values: Values, groups: Codes, resamples: int = RESAMPLES, seed: int = SEED) -> list[Estimate]:
    """Mean and percentile bootstrap interval of each column.

    Args:
        values: (queries, measures); NaN means undefined there and is left out.
        groups: (queries,) the article of each query, numbers from 0.
        resamples: how often articles are drawn with replacement.
        seed: of the generator; the same draws serve every column.
    """
    _, groups = np.unique(groups, return_inverse=True)
    count = int(groups.max()) + 1 if len(groups) else 0
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    sums, sizes = _by_group(filled, groups, count), _by_group(known.astype(np.float64), groups, count)
    totals, members = sums.sum(0), known.sum(0)
    lows: list[float | None] = [None] * values.shape[1]
    highs = list(lows)
    if count > 1:
        means = _resampled(sums, sizes, resamples, seed)
        for column in range(values.shape[1]):
            drawn = means[~np.isnan(means[:, column]), column]
            if len(drawn):
                low, high = np.percentile(drawn, [2.5, 97.5])
                lows[column], highs[column] = float(low), float(high)
    return [
        Estimate(
            float(totals[i] / members[i]) if members[i] else float("nan"),
            lows[i],
            highs[i],
            int(members[i]),
            int((sizes[:, i] > 0).sum()),
        )
        for i in range(values.shape[1])
    ]


def resampled(values: Values, groups: Codes, resamples: int = RESAMPLES, seed: int = SEED) -> Values:
    """Means of each column in each resample of whole articles, shape (resamples, columns).

    Args:
        values: (queries, columns); NaN means undefined there and is left out.
        groups: (queries,) the article of each query, numbers from 0.
        resamples: how often articles are drawn with replacement.
        seed: of the generator; the same draws serve every column.
    """
    _, groups = np.unique(groups, return_inverse=True)
    count = int(groups.max()) + 1 if len(groups) else 0
    known = ~np.isnan(values)
    sums = _by_group(np.where(known, values, 0.0), groups, count)
    return _resampled(sums, _by_group(known.astype(np.float64), groups, count), resamples, seed)


def compare(
    systems: Sequence[tuple[str, Values]],
    measures: Sequence[str],
    groups: Codes,
    permutations: int = PERMUTATIONS,
    seed: int = SEED,
) -> list[Comparison]:
    """Paired randomisation test of every two systems, after Smucker, Allan and Carterette 2007, two-sided.

    An article's summed difference changes sign at random. Holm's correction holds within a measure. Queries
    where a measure is undefined for either system do not count in it.

    Args:
        systems: (name, (queries, measures)) with the same queries in the same order.
        measures: names of the columns.
        groups: (queries,) the article of each query.
        permutations: how many random assignments are drawn.
        seed: of the generator.
    """
    pairs = list(combinations(range(len(systems)), 2))
    if not pairs or not len(groups):
        return []
    count = int(groups.max()) + 1
    gaps = [systems[a][1] - systems[b][1] for a, b in pairs]
    known = [(~np.isnan(gap)).sum(0) for gap in gaps]
    sums = np.concatenate([_by_group(np.nan_to_num(gap), groups, count) for gap in gaps], axis=1)
    as_large = _as_large(sums, permutations, seed)
    raw = ((as_large + 1) / (permutations + 1)).reshape(len(pairs), len(measures))
    adjusted = np.stack([holm(raw[:, column]) for column in range(len(measures))], axis=1)
    return [
        Comparison(
            systems[a][0],
            systems[b][0],
            measure,
            float(sums[:, row * len(measures) + column].sum() / max(1, known[row][column])),
            float(raw[row, column]),
            float(adjusted[row, column]),
            int(known[row][column]),
        )
        for row, (a, b) in enumerate(pairs)
        for column, measure in enumerate(measures)
    ]


def _as_large(sums: Values, permutations: int, seed: int) -> Codes:
    """By column, how many random sign changes of the articles' sums give a total at least as large."""
    seen = np.abs(sums.sum(0))
    found = np.zeros(len(seen), np.int64)
    generator = np.random.Generator(np.random.PCG64(seed))
    for size in _portions(permutations, len(sums)):
        signs = generator.integers(0, 2, (size, len(sums)), dtype=np.int8).astype(np.float64) * 2 - 1
        found += (np.abs(product(signs, sums)) >= seen - 1e-9).sum(0)
    return found


def holm(p: Values) -> Values:
    """Holm's step-down adjusted p-values of one family."""
    order = np.argsort(p, kind="stable")
    scaled = np.minimum(1.0, p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(scaled)
    return adjusted


def _by_group(values: Values, groups: Codes, count: int) -> Values:
    summed = np.zeros((count, values.shape[1]))
    np.add.at(summed, groups, values)
    return summed


def _resampled(sums: Values, sizes: Values, resamples: int, seed: int) -> Values:
    """Means of each resample, (resamples, measures); NaN where it drew no defined value."""
    count = len(sums)
    generator = np.random.Generator(np.random.PCG64(seed))
    means = []
    for size in _portions(resamples, count):
        drawn = generator.integers(0, count, (size, count))
        weights = np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(np.float64)
        total, members = product(weights, sums), weights @ sizes  # sizes are whole
        means.append(np.divide(total, members, out=np.full_like(total, np.nan), where=members > 0))
    return np.concatenate(means)


def _portions(total: int, width: int) -> list[int]:
    """`total` rows of `width` cells in portions of bounded size."""
    size = max(1, _CELLS // max(1, width))
    return [min(size, total - start) for start in range(0, total, size)]
