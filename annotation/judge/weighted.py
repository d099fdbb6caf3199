"""Agreement of a judge and people on a pool that only a sample of was judged by people.

Pairs were drawn stratum by stratum, so each stands for population / answered pairs of its stratum: without
these weights rare cells, drawn as often as common ones, would decide the figure. Intervals resample queries,
for pairs of one query are judged alike; weights are taken anew in each resample. Linear κ after Cohen 1968;
BCa after Efron 1987, widened by pairs graded at random (annotation.agreement.intervals) so that a sample
without a disagreement is not called certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotation.agreement.intervals import CONFIDENCE, PSEUDO_ITEMS, RESAMPLES, SEED, bca

FEWEST_PAIRS = 30
"""Pairs below which no agreement of a group is claimed."""
LEAST_BIAS = 0.1
"""Mean difference in grades from which a judge is flagged as lenient or severe."""
_DIGITS = 9
"""What figures are rounded to: far coarser than sums differ between machines."""
Floats = NDArray[np.float64]


class NoFigure(StrEnum):
    """Why a figure or its interval is missing."""

    NO_PAIRS = "no_pairs"
    FEW_PAIRS = "few_pairs"
    ONE_QUERY = "one_query"
    ONE_GRADE = "one_grade"
    NO_SPREAD = "no_spread"
    STRATUM_NOT_REVIEWED = "stratum_not_reviewed"


@dataclass(frozen=True, slots=True)
class Both:
    """One pair that judge and people graded; `stratum` is what it was drawn from."""

    query_id: str
    stratum: str
    judge: int
    people: int


@dataclass(frozen=True, slots=True)
class Weighted:
    """One figure over the pool with its interval; what is None has a reason."""

    value: float | None
    low: float | None
    high: float | None
    reason: NoFigure | None


@dataclass(frozen=True, slots=True)
class Weighed:
    """Agreement of one group: linear κ, and the mean of judge minus people in grades (above 0: lenient)."""

    kappa: Weighted
    bias: Weighted
    pairs: int
    queries: int

    @property
    def is_biased(self) -> bool:
        """Whether the judge is lenient or severe by LEAST_BIAS or more, and not by chance."""
        found = self.bias
        if found.value is None or found.low is None or found.high is None:
            return False
        return abs(found.value) >= LEAST_BIAS and not found.low <= 0 <= found.high


class Pool:
    """Answered pairs of a calibration sample with the pool they stand for.

    Args:
        rows: all pairs that both graded, of any group.
        populations: stratum -> pairs of the pool. One without an answered pair is stood for by the others of
            the same conclusion.
        conclusions: stratum -> what the judge concluded in it.
        scale: grades that can be given, ascending.
    """

    def __init__(
        self,
        rows: Sequence[Both],
        populations: Mapping[str, int],
        conclusions: Mapping[str, int],
        scale: Sequence[int],
    ) -> None:
        self._scale = np.asarray(scale, dtype=np.float64)
        self._place = {grade: place for place, grade in enumerate(scale)}
        names = sorted({row.stratum for row in rows})
        self._strata = {name: place for place, name in enumerate(names)}
        self._queries = {name: place for place, name in enumerate(sorted({row.query_id for row in rows}))}
        self._level = np.asarray([self._place[conclusions[name]] for name in names], dtype=np.int64)
        self._sizes, self.is_whole = _sizes(names, populations, conclusions)
        self._all = self._counts(rows)
        self._totals = self._all.sum(2)

    def _counts(self, rows: Sequence[Both]) -> Floats:
        """(queries, strata, grades) of people's grades."""
        made = np.zeros((len(self._queries), len(self._strata), len(self._scale)))
        for row in rows:
            made[self._queries[row.query_id], self._strata[row.stratum], self._place[row.people]] += 1
        return made

    def agreement(
        self,
        rows: Sequence[Both],
        *,
        fewest: int = FEWEST_PAIRS,
        resamples: int = RESAMPLES,
        seed: int = SEED,
        confidence: float = CONFIDENCE,
    ) -> Weighed:
        """κ and bias of a group of the pairs, weighted to the pool.

        Args:
            rows: the group, a part of the pool's rows.
            fewest: pairs below which nothing is claimed.
            resamples: how often queries are drawn with replacement.
            seed: of the generator.
            confidence: of the intervals.
        """
        queries = len({row.query_id for row in rows})
        reason = self._why_not(rows, fewest)
        if reason:
            nothing = Weighted(None, None, None, reason)
            return Weighed(nothing, nothing, len(rows), queries)
        counts = self._counts(rows)
        every = np.ones((1, len(self._queries)))
        value = self._figures(counts, every)[0]
        generator = np.random.Generator(np.random.PCG64(seed))
        share = np.full(len(self._queries), 1 / len(self._queries))
        drawn = generator.multinomial(len(self._queries), share, size=resamples).astype(np.float64)
        draws = self._figures(counts, drawn)
        apart = self._figures(counts, every - np.eye(len(self._queries)))
        chance = generator.poisson(PSEUDO_ITEMS, size=resamples) / (len(rows) + PSEUDO_ITEMS)
        kappa = _interval(value[0], draws[:, 0], apart[:, 0], queries, confidence)
        if kappa.value is not None and queries > 1:  # pairs graded at random leave the margins as they are
            kappa = _widened(kappa, draws[:, 0] * (1 - np.minimum(chance, 1)), confidence)
        return Weighed(
            kappa,
            _interval(value[1], draws[:, 1], apart[:, 1], queries, confidence),
            len(rows),
            queries,
        )

    def _why_not(self, rows: Sequence[Both], fewest: int) -> NoFigure | None:
        if not rows:
            return NoFigure.NO_PAIRS
        if len(rows) < fewest:
            return NoFigure.FEW_PAIRS
        return None if self.is_whole else NoFigure.STRATUM_NOT_REVIEWED

    def _figures(self, counts: Floats, times: Floats) -> Floats:
        """(replicates, 2) of κ and bias when each query counts so many times; NaN where undefined.

        A stratum that a replicate has no pair of counts as in the whole sample.
        """
        shape = (len(times), *counts.shape[1:])
        held = (times @ counts.reshape(len(counts), -1)).reshape(shape)
        totals = times @ self._totals
        whole, each = counts.sum(0), self._totals.sum(0)
        shares = np.where(
            (totals > 0)[..., None], held / np.maximum(totals, 1)[..., None], (whole / each[:, None])[None]
        )
        weighed = shares * self._sizes[None, :, None]
        table = np.zeros((len(times), len(self._scale), len(self._scale)))
        for stratum, level in enumerate(self._level):
            table[:, level] += weighed[:, stratum]
        mass = table.sum((1, 2))
        table /= np.where(mass > 0, mass, np.nan)[:, None, None]
        apart = np.abs(self._scale[:, None] - self._scale[None])
        by_chance = table.sum(2)[:, :, None] * table.sum(1)[:, None, :]
        seen, expected = (table * apart).sum((1, 2)), (by_chance * apart).sum((1, 2))
        kappa = 1 - seen / np.where(expected > 0, expected, np.nan)
        bias = (table * (self._scale[:, None] - self._scale[None])).sum((1, 2))
        return np.stack([kappa, bias], axis=1)


def _sizes(
    names: Sequence[str], populations: Mapping[str, int], conclusions: Mapping[str, int]
) -> tuple[Floats, bool]:
    """Pairs that each answered stratum stands for, and whether all of the pool is stood for."""
    whole: dict[int, int] = {}
    answered: dict[int, int] = {}
    for name, size in populations.items():
        level = conclusions[name]
        whole[level] = whole.get(level, 0) + size
        answered[level] = answered.get(level, 0) + (size if name in names else 0)
    sizes = [
        populations[name] * whole[conclusions[name]] / max(1, answered[conclusions[name]]) for name in names
    ]
    is_whole = all(answered[level] for level, size in whole.items() if size)
    return np.asarray(sizes, dtype=np.float64), is_whole


def _interval(value: float, draws: Floats, apart: Floats, queries: int, confidence: float) -> Weighted:
    if np.isnan(value):
        return Weighted(None, None, None, NoFigure.ONE_GRADE)
    rounded = round(float(value), _DIGITS)
    if queries < 2:
        return Weighted(rounded, None, None, NoFigure.ONE_QUERY)
    known = draws[~np.isnan(draws)]
    if not len(known) or np.ptp(known) < 10.0**-_DIGITS:
        return Weighted(rounded, None, None, NoFigure.NO_SPREAD)
    low, high = bca(known, float(value), float(value) - apart, np.ones(len(apart)), confidence)
    return Weighted(rounded, round(low, _DIGITS), round(high, _DIGITS), None)


def _widened(found: Weighted, draws: Floats, confidence: float) -> Weighted:
    """The interval, and at least that of draws among which some pairs were graded at random."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws[~np.isnan(draws)], [tail, 1 - tail]).tolist()
    if found.value is None:
        return found
    bounds = (
        (found.value, found.value) if found.low is None or found.high is None else (found.low, found.high)
    )
    return Weighted(
        found.value, round(min(bounds[0], low), _DIGITS), round(max(bounds[1], high), _DIGITS), None
    )
