"""Agreement coefficients of an (items × raters) array, for one or many weightings of its items at once.

Items with the same ratings are counted together. Every coefficient is a function of sums that are linear in
those counts, so that bootstrap replicates, leave-one-out values and population values take one product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schemas.errors import InputError
from schemas.exact import product

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SCALE = (0, 1, 2, 3)
_CELLS = 2_000_000
_NEGLIGIBLE = 1e-12


class Coefficient(StrEnum):
    """Names of the figures, as they stand in every output."""

    PERCENT = "percent_agreement"
    KAPPA = "cohen_kappa"
    KAPPA_LINEAR = "cohen_kappa_linear"
    KAPPA_QUADRATIC = "cohen_kappa_quadratic"
    ALPHA_NOMINAL = "krippendorff_alpha_nominal"
    ALPHA_ORDINAL = "krippendorff_alpha_ordinal"
    ALPHA_INTERVAL = "krippendorff_alpha_interval"
    AC1 = "gwet_ac1"
    AC2_LINEAR = "gwet_ac2_linear"
    AC2_QUADRATIC = "gwet_ac2_quadratic"


COEFFICIENTS = tuple(Coefficient)


class Undefined(StrEnum):
    """Why a figure or its interval is null."""

    ONE_RATER = "one_rater"
    NO_OVERLAP = "no_overlap"
    ONE_GRADE = "one_grade"
    ONE_ITEM = "one_item"
    NO_SPREAD = "no_spread"
    UNSTABLE = "unstable"


@dataclass(frozen=True, slots=True)
class Rating:
    """One annotator's grade of one item; None when they could not judge."""

    item_id: str
    annotator: str
    grade: int | None


@dataclass(frozen=True, slots=True)
class Table:
    """Distinct rows of a ratings array.

    Args:
        codes: (patterns, raters) position of the grade in `scale`, -1 where there is none; rows sorted.
        counts: (patterns,) how many items have these ratings.
        scale: the possible grades, ascending.
    """

    codes: Codes
    counts: Floats
    scale: tuple[int, ...]

    @property
    def given(self) -> Codes:
        """(patterns,) how many ratings an item of each pattern has."""
        return np.asarray((self.codes >= 0).sum(1), dtype=np.int64)

    @property
    def raters(self) -> int:
        """Raters with at least one rating."""
        return int((self.codes >= 0).any(0).sum())

    @property
    def ratings(self) -> int:
        """Ratings given."""
        return int(self.given @ self.counts)

    @property
    def pairable(self) -> int:
        """Items with at least two ratings."""
        return int(self.counts[self.given >= 2].sum())


def to_array(ratings: Iterable[Rating]) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """Long rows as an array.

    Returns:
        (items, raters) grades with NaN where there is none; item ids and annotators, both sorted.

    Raises:
        InputError: an annotator graded an item twice.
    """
    rows = list(ratings)
    items, annotators = sorted({row.item_id for row in rows}), sorted({row.annotator for row in rows})
    at, column = ({name: i for i, name in enumerate(names)} for names in (items, annotators))
    array, seen = np.full((len(items), len(annotators)), np.nan), set()
    for row in rows:
        place = at[row.item_id], column[row.annotator]
        if place in seen:
            raise InputError(f"{row.annotator} graded an item twice", record=row.item_id)
        seen.add(place)
        if row.grade is not None:
            array[place] = row.grade
    return array, tuple(items), tuple(annotators)


def tabulate(ratings: ArrayLike, scale: Sequence[int] = SCALE) -> Table:
    """Count items with equal ratings.

    Args:
        ratings: (items, raters) grades, NaN where there is none.
        scale: every grade that could have been given. Gwet's coefficients depend on their number.

    Raises:
        InputError: not two-dimensional, a scale of fewer than two grades, or a grade that is not in it.
    """
    array, grades = np.asarray(ratings, dtype=np.float64), np.unique(np.asarray(scale, dtype=np.int64))
    if array.ndim != 2:
        raise InputError(f"ratings must be an array of items × annotators, not of {array.ndim} dimensions")
    if len(grades) < 2:
        raise InputError(f"a scale needs two grades, not {list(scale)}")
    known = ~np.isnan(array)
    place = np.minimum(np.searchsorted(grades, array), len(grades) - 1)
    wrong = known & (grades[place] != array)
    if wrong.any():
        item = int(np.argwhere(wrong)[0][0])
        raise InputError(f"grade {array[wrong][0]:g} is not in {grades.tolist()}", record=f"item {item}")
    codes = np.where(known, place, -1).astype(np.int64)
    codes, counts = _distinct(codes[known.any(1)], len(grades) + 1)
    return Table(codes, counts, tuple(int(grade) for grade in grades))


def _distinct(codes: Codes, base: int) -> tuple[Codes, Floats]:
    """Distinct rows, sorted, and their counts. A row that fits into one number is sorted as one."""
    raters = codes.shape[1]
    if raters * np.log2(base) < 62:
        places = np.asarray([base**power for power in range(raters - 1, -1, -1)], dtype=np.int64)
        _, first, counts = np.unique((codes + 1) @ places, return_index=True, return_counts=True)
        return codes[first], counts.astype(np.float64)
    rows, counts = np.unique(codes, axis=0, return_counts=True)
    return rows, counts.astype(np.float64)


def values(
    table: Table, weights: Floats | None = None, chosen: Sequence[Coefficient] = COEFFICIENTS
) -> Floats:
    """The coefficients under each weighting of the patterns.

    Args:
        table: the distinct rows.
        weights: (weightings, patterns) items of each pattern, fractions allowed; None for the table's own.
        chosen: which figures, in this order.

    Returns:
        (weightings, coefficients); NaN where a figure is undefined.

    Source: Cohen 1960 and 1968, Conger 1980, Krippendorff 2011, Gwet 2014.
    """
    rows = table.counts[None] if weights is None else weights
    size = max(1, _CELLS // max(1, len(table.counts)))
    parts = [_values(table, rows[start : start + size], chosen) for start in range(0, len(rows), size)]
    return np.concatenate(parts) if parts else np.empty((0, len(chosen)))


def undefined(table: Table) -> Undefined | None:
    """Why no figure can be had from these ratings, or None."""
    if table.raters < 2:
        return Undefined.ONE_RATER
    return None if table.pairable else Undefined.NO_OVERLAP


def _values(table: Table, weights: Floats, chosen: Sequence[Coefficient]) -> Floats:
    found: dict[Coefficient, Floats] = {}
    if set(chosen) - {Coefficient.KAPPA, Coefficient.KAPPA_LINEAR, Coefficient.KAPPA_QUADRATIC}:
        found |= _exchangeable(table, weights)
    if set(chosen) - set(found):
        found |= _kappas(table, weights)
    return np.stack([found[name] for name in chosen], axis=1)


def _distances(scale: Sequence[int]) -> tuple[Floats, Floats, Floats]:
    """Disagreement of every two grades, 0 to 1: nominal, linear, quadratic; (grades, grades) each."""
    grades = np.asarray(scale, dtype=np.float64)
    linear = np.abs(grades[:, None] - grades[None]) / (grades[-1] - grades[0])
    return (linear > 0).astype(np.float64), linear, linear**2


def _exchangeable(table: Table, weights: Floats) -> dict[Coefficient, Floats]:
    """Figures for which only the grades of an item count, not who gave them."""
    size, given = len(table.scale), table.given
    tally = (table.codes[:, :, None] == np.arange(size)).sum(1).astype(np.float64)
    pairs = (tally[:, :, None] * tally[:, None] - np.eye(size) * tally[:, None]).reshape(len(tally), -1)
    several = (given >= 2).astype(np.float64)
    others = np.maximum(given - 1, 1)[:, None]
    shares = tally / np.maximum(given, 1)[:, None]
    blocks = [pairs / others, pairs / (others * np.maximum(given, 1)[:, None]), shares, several[:, None]]
    sums = product(weights, np.concatenate(blocks, axis=1))
    square = size * size
    coincidences = sums[:, :square].reshape(-1, size, size)
    found = _alphas(coincidences, table.scale)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = sums[:, square : 2 * square].reshape(-1, size, size) / sums[:, -1][:, None, None]
        prevalence = sums[:, 2 * square : -1] / weights.sum(1)[:, None]
    chance = (prevalence * (1 - prevalence)).sum(1) / (size * (size - 1))
    names = (Coefficient.AC1, Coefficient.AC2_LINEAR, Coefficient.AC2_QUADRATIC)
    for name, distance in zip(names, _distances(table.scale), strict=True):
        agreed, expected = (observed * (1 - distance)).sum((1, 2)), (1 - distance).sum() * chance
        found[name] = (agreed - expected) / (1 - expected)
    found[Coefficient.PERCENT] = np.einsum("bkk->b", observed)
    return found


def _alphas(coincidences: Floats, scale: Sequence[int]) -> dict[Coefficient, Floats]:
    """Krippendorff's alpha of each coincidence matrix; (weightings, grades, grades)."""
    margins = coincidences.sum(2)
    total = margins.sum(1)
    nominal, _, quadratic = (distance[None] for distance in _distances(scale))
    middle = np.cumsum(margins, axis=1) - margins / 2
    between = (middle[:, :, None] - middle[:, None]) / np.maximum(total, 1)[:, None, None]
    expected = margins[:, :, None] * margins[:, None]
    found = {}
    for name, squared in (
        (Coefficient.ALPHA_NOMINAL, nominal),
        (Coefficient.ALPHA_ORDINAL, between**2),
        (Coefficient.ALPHA_INTERVAL, quadratic),
    ):
        above = (total - 1) * (coincidences * squared).sum((1, 2))
        found[name] = _one_minus(above, (expected * squared).sum((1, 2)))
    return found


def _kappas(table: Table, weights: Floats) -> dict[Coefficient, Floats]:
    """Cohen's kappas; of more than two raters, disagreement observed and expected summed over all pairs."""
    size = len(table.scale)
    distances = _distances(table.scale)
    above, below = np.zeros((3, len(weights))), np.zeros((3, len(weights)))
    for first, second in combinations(range(table.codes.shape[1]), 2):
        both = (table.codes[:, first] >= 0) & (table.codes[:, second] >= 0)
        if not both.any():
            continue
        cell = table.codes[both, first] * size + table.codes[both, second]
        crossed = (weights[:, both] @ np.eye(size * size)[cell]).reshape(-1, size, size)
        margin = crossed.sum(2)[:, :, None] * crossed.sum(1)[:, None]
        items = np.maximum(crossed.sum((1, 2)), _NEGLIGIBLE)
        for row, distance in enumerate(distances):
            above[row] += (crossed * distance).sum((1, 2))
            below[row] += (margin * distance).sum((1, 2)) / items
    names = (Coefficient.KAPPA, Coefficient.KAPPA_LINEAR, Coefficient.KAPPA_QUADRATIC)
    return {name: _one_minus(above[row], below[row]) for row, name in enumerate(names)}


def _one_minus(observed: Floats, expected: Floats) -> Floats:
    """1 - observed / expected; NaN where no disagreement is to be expected."""
    ratio = np.full_like(observed, np.nan)
    np.divide(observed, expected, out=ratio, where=expected > _NEGLIGIBLE)
    return np.asarray(1 - ratio, dtype=np.float64)
