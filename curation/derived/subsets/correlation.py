"""How far a part ranks systems as the whole does: Kendall's tau-b and Spearman's rho, with intervals.

After Kendall 1945 (tau-b: ties are corrected for) and Voorhees 1998 (correlation of system rankings).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.evaluation.statistics import SEED, codes
from schemas.exact import product

FEWEST_SYSTEMS = 5
"""With fewer, a correlation of rankings says nothing and is not given."""
RESAMPLES = 1_000
_PLACES = 9
_CELLS = 4_000_000

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SystemValues:
    """One measure of several systems on the same queries.

    `queries` and `groups` (the article of each query) are of one length; `values` has for each system an
    array of that length.
    """

    queries: tuple[str, ...]
    groups: tuple[str, ...]
    values: Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """Means of one system on the whole and on the part; `shaped` when its rankings made the part."""

    name: str
    whole: float
    part: float
    shaped: bool


@dataclass(frozen=True, slots=True)
class Agreement:
    """Correlation of two rankings of some systems; None with the reason where there is none to give.

    Intervals are 95 % percentile bootstrap over articles, None where articles are too few to draw from.
    """

    systems: int
    why_not: str = ""
    kendall_tau_b: float | None = None
    kendall_low: float | None = None
    kendall_high: float | None = None
    spearman_rho: float | None = None
    spearman_low: float | None = None
    spearman_high: float | None = None


@dataclass(frozen=True, slots=True)
class Correlation:
    """Agreement over all systems, and over those whose rankings did not make the part (`unshaped`).

    `largest` is the system whose two means differ most, and `largest_difference` its part minus its whole;
    '' and None where no system ran on both.
    """

    measure: str
    queries_of_whole: int
    queries_of_part: int
    systems: tuple[SystemMeans, ...]
    all: Agreement
    unshaped: Agreement
    largest: str
    largest_difference: float | None
    resamples: int = RESAMPLES
    seed: int = SEED


def correlate(
    whole: SystemValues, part: SystemValues, shaped_by: Sequence[str] = (), measure: str = "nDCG@10"
) -> Correlation:
    """Compare how two sets of queries rank the systems that were run on both.

    Args:
        whole: values on the whole, or on a sample of its queries.
        part: values on the part.
        shaped_by: systems whose rankings made the part: they agree with it more than others would.
        measure: what was measured.
    """
    names = sorted(set(whole.values) & set(part.values))
    means = [
        SystemMeans(
            name,
            round(_mean(whole.values[name]), _PLACES),
            round(_mean(part.values[name]), _PLACES),
            name in shaped_by,
        )
        for name in names
    ]
    drawn = _resampled(whole, part, names)
    largest = max(means, key=lambda item: (abs(item.part - item.whole), item.name), default=None)
    return Correlation(
        measure,
        len(whole.queries),
        len(part.queries),
        tuple(means),
        _agreement(means, drawn, range(len(names))),
        _agreement(means, drawn, [place for place, item in enumerate(means) if not item.shaped]),
        largest.name if largest else "",
        round(largest.part - largest.whole, _PLACES) if largest else None,
    )


def kendall_tau_b(one: Values, other: Values) -> Values:
    """Kendall's tau-b along the last axis, shape of the others; NaN where either is all ties."""
    a, b = (np.sign(item[..., :, None] - item[..., None, :]) for item in (one, other))
    return _ratio((a * b).sum((-2, -1)), np.sqrt((a * a).sum((-2, -1)) * (b * b).sum((-2, -1))))


def spearman_rho(one: Values, other: Values) -> Values:
    """Pearson's correlation of mean ranks along the last axis; NaN where either is all ties."""
    a, b = (_ranks(item) for item in (one, other))
    return _ratio((a * b).sum(-1), np.sqrt((a * a).sum(-1) * (b * b).sum(-1)))


def _ranks(values: Values) -> Values:
    """Mean ranks, less their mean."""
    compared = np.sign(values[..., :, None] - values[..., None, :])
    ranks: Values = compared.sum(-1) / 2
    return ranks


def _ratio(above: Values, below: Values) -> Values:
    found: Values = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
    return found


def _agreement(means: Sequence[SystemMeans], drawn: Values, places: Sequence[int]) -> Agreement:
    """Correlations over some of the systems; `drawn` has (resamples, 2, systems)."""
    count = len(places)
    if count < FEWEST_SYSTEMS:
        return Agreement(count, f"{count} systems ran on both; {FEWEST_SYSTEMS} are needed")
    whole = np.array([means[place].whole for place in places])
    part = np.array([means[place].part for place in places])
    tau, rho = float(kendall_tau_b(whole, part)), float(spearman_rho(whole, part))
    if np.isnan(tau):
        return Agreement(count, "all systems have the same mean")
    some = drawn[:, :, list(places)]
    low, high = _interval(kendall_tau_b(some[:, 0], some[:, 1]))
    lower, higher = _interval(spearman_rho(some[:, 0], some[:, 1]))
    return Agreement(count, "", round(tau, _PLACES), low, high, round(rho, _PLACES), lower, higher)


def _interval(values: Values) -> tuple[float | None, float | None]:
    known = values[~np.isnan(values)]
    if not len(known):
        return None, None
    low, high = np.percentile(known, [2.5, 97.5])
    return round(float(low), _PLACES), round(float(high), _PLACES)


def _mean(values: Values) -> float:
    return float(values.mean()) if len(values) else 0.0


def _resampled(whole: SystemValues, part: SystemValues, names: Sequence[str]) -> Values:
    """Means on both sides over articles drawn with replacement, shape (resamples, 2, systems).

    One draw serves both sides, as they share articles; draws that miss a side are left out.
    """
    sides = (whole, part)
    groups = codes([*whole.groups, *part.groups])
    count = int(groups.max()) + 1 if len(groups) else 0
    if count < 2 or not names:
        return np.empty((0, 2, len(names)))
    cuts = (groups[: len(whole.groups)], groups[len(whole.groups) :])
    sums, sizes = np.zeros((2, count, len(names))), np.zeros((2, count))
    for number, (side, of) in enumerate(zip(sides, cuts, strict=True)):
        np.add.at(sums[number], of, np.stack([side.values[name] for name in names], axis=1))
        np.add.at(sizes[number], of, 1.0)
    generator = np.random.Generator(np.random.PCG64(SEED))
    means: list[Values] = []
    portion = max(1, _CELLS // count)
    for start in range(0, RESAMPLES, portion):
        drawn = generator.integers(0, count, (min(portion, RESAMPLES - start), count))
        weights = np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(np.float64)
        members = np.stack([weights @ sizes[0], weights @ sizes[1]], axis=1)
        total = np.stack([product(weights, sums[0]), product(weights, sums[1])], axis=1)
        hit = (members > 0).all(1)
        means.append(np.round(total[hit] / members[hit][:, :, None], _PLACES))
    return np.concatenate(means)
