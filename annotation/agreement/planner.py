"""How many items to review so that an interval gets a wanted half-width, and how long that takes.

An agreement figure's variance comes from its influence function under a model of the annotators: each knows
an item's grade with one probability and otherwise draws from the prevalence of grades.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from annotation.agreement.coefficients import Coefficient, Floats, Table, values
from annotation.agreement.intervals import CONFIDENCE, PSEUDO_ITEMS
from schemas.errors import UsageError
from schemas.exact import normal_quantile

SECONDS_PER_ITEM = 45.0
MAX_PER_ITEM = 6
_LARGE = 1e9
_STEP = 1e-6
_BEST = 0.99
"""Most that is planned on: of annotators who never differ, no number of items could be told."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Items to review and the work that is.

    `items_per_annotator` includes gold items; `hours` are those of all annotators together.
    """

    measure: str
    prior: float
    half_width: float
    confidence: float
    items: int
    judgements: int
    items_per_annotator: int
    hours_per_annotator: float
    hours: float


def plan(
    half_width: float,
    *,
    prior: float,
    measure: Coefficient | Literal["proportion"] = Coefficient.ALPHA_ORDINAL,
    prevalence: Sequence[float] = (0.4, 0.2, 0.2, 0.2),
    per_item: int = 2,
    annotators: int = 2,
    seconds_per_item: float = SECONDS_PER_ITEM,
    gold_share: float = 0.0,
    pool: int | None = None,
    confidence: float = CONFIDENCE,
) -> Plan:
    """Plan a review.

    Args:
        half_width: wanted half of the interval's width, 0 to 1.
        prior: expected value of the measure.
        measure: an agreement coefficient, or `proportion` for a share such as a rule's precision.
        prevalence: expected share of each grade from 0 up; only for coefficients.
        per_item: annotators of each item; for a coefficient 2 to 6.
        annotators: people among whom the work is divided.
        seconds_per_item: guess of one judgement's time.
        gold_share: gold items as a share of an annotator's items.
        pool: items there are, when the sample may be a large part of them.
        confidence: of the interval.

    Raises:
        UsageError: an argument out of range, or a prior that the model cannot have.
    """
    _check(half_width, per_item, annotators, seconds_per_item, gold_share, pool, confidence)
    if measure == "proportion":
        items = items_for_proportion(half_width, prior, confidence)
    else:
        items = _items(half_width, measure, prior, prevalence, per_item, confidence)
    if pool is not None:
        items = min(pool, math.ceil(items / (1 + (items - 1) / pool)))
    own = math.ceil(items * per_item / annotators)
    own = math.ceil(own / (1 - gold_share))
    hours = own * seconds_per_item / 3600
    return Plan(
        measure=str(measure),
        prior=prior,
        half_width=half_width,
        confidence=confidence,
        items=items,
        judgements=items * per_item,
        items_per_annotator=own,
        hours_per_annotator=hours,
        hours=hours * annotators,
    )


def items_for_proportion(half_width: float, prior: float, confidence: float = CONFIDENCE) -> int:
    """The smallest simple random sample whose Wilson interval is narrow enough at the prior.

    Raises:
        UsageError: the prior is no share.
    """
    if not 0 <= prior <= 1:
        raise UsageError(f"a proportion lies between 0 and 1, not {prior:g}")
    z = _z(confidence)

    def half(n: int) -> float:
        return z / (1 + z * z / n) * math.sqrt(prior * (1 - prior) / n + (z / (2 * n)) ** 2)

    low, high = 0, 1
    while half(high) > half_width:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if half(middle) > half_width else (low, middle)
    return high


def _items(
    half_width: float,
    measure: Coefficient,
    prior: float,
    prevalence: Sequence[float],
    raters: int,
    confidence: float,
) -> int:
    """Solve half-width = a / √n + b / n; b is what the two randomly paired items add to an interval."""
    a = _z(confidence) * math.sqrt(unit_variance(measure, prior, prevalence, raters))
    table, share = model(measure, None, prevalence, raters)
    by_chance = float(values(table, share[None] * _LARGE, [measure])[0, 0])
    b = PSEUDO_ITEMS * (prior - by_chance) / 2
    root = 2 * half_width / (a + math.sqrt(a * a + 4 * b * half_width))
    return max(2, math.ceil(1 / root**2))


def unit_variance(measure: Coefficient, prior: float, prevalence: Sequence[float], raters: int) -> float:
    """Variance of the coefficient times the number of items, for many items.

    Args:
        measure: the coefficient.
        prior: its value among all items.
        prevalence: expected share of each grade.
        raters: of each item.

    Raises:
        UsageError: the prevalence is none, or no annotators of the model have this value.
    """
    table, share = model(measure, prior, prevalence, raters)
    steps = (1 - _STEP) * share[None] + _STEP * np.eye(len(share))
    at = values(table, np.concatenate([share[None], steps]) * _LARGE, [measure])[:, 0]
    influence = (at[1:] - at[0]) / _STEP
    return float((influence**2 * share).sum())


def model(
    measure: Coefficient, prior: float | None, prevalence: Sequence[float], raters: int
) -> tuple[Table, Floats]:
    """Every possible row of ratings and its probability, under annotators for whom the measure is the prior.

    Without a prior they grade at random.

    Raises:
        UsageError: as `unit_variance`.
    """
    grades = np.asarray(prevalence, dtype=np.float64)
    if len(grades) < 2 or grades.min() < 0 or abs(grades.sum() - 1) > 1e-6 or grades.max() > 1 - 1e-9:
        raise UsageError(f"prevalence must be shares of two or more grades that sum to 1, not {prevalence}")
    codes = np.asarray(list(product(range(len(grades)), repeat=raters)), dtype=np.int64)
    table = Table(codes, np.ones(len(codes)), tuple(range(len(grades))))

    def share(knowing: float) -> Floats:
        graded = knowing * np.eye(len(grades)) + (1 - knowing) * grades[None]
        return np.asarray(
            sum(grades[truth] * graded[truth][codes].prod(1) for truth in range(len(grades))),
            dtype=np.float64,
        )

    def value(knowing: float) -> float:
        return float(values(table, share(knowing)[None] * _LARGE, [measure])[0, 0])

    if prior is None:
        return table, share(0.0)
    low, high = 0.0, 1.0
    if not value(low) - 1e-6 <= prior < 1:
        raise UsageError(f"{measure} of such annotators lies from {value(low):.3f} to below 1, not {prior:g}")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) < prior else (low, middle)
    return table, share(low)


def nearest(measure: Coefficient, value: float, prevalence: Sequence[float], raters: int) -> float:
    """The value that annotators of the model can have which is nearest to one that was seen.

    Raises:
        UsageError: the prevalence is none.
    """
    table, share = model(measure, None, prevalence, raters)
    by_chance = float(values(table, share[None] * _LARGE, [measure])[0, 0])
    return min(max(value, round(by_chance, 6) + 0.0), _BEST)  # never -0


def _z(confidence: float) -> float:
    return normal_quantile((1 + confidence) / 2)


def _check(
    half_width: float,
    per_item: int,
    annotators: int,
    seconds: float,
    gold_share: float,
    pool: int | None,
    confidence: float,
) -> None:
    problems = (
        (not 0 < half_width < 1, f"the half-width lies between 0 and 1, not {half_width:g}"),
        (not 0 < confidence < 1, f"confidence lies between 0 and 1, not {confidence:g}"),
        (not 1 <= per_item <= MAX_PER_ITEM, f"an item has 1 to {MAX_PER_ITEM} annotators, not {per_item}"),
        (annotators < per_item, f"{annotators} annotators cannot give each item {per_item} judgements"),
        (not seconds > 0, f"an item takes more than {seconds:g} seconds"),
        (not 0 <= gold_share < 1, f"the share of gold items lies from 0 to below 1, not {gold_share:g}"),
        (pool is not None and pool < 1, f"a pool has items, not {pool}"),
    )
    for wrong, message in problems:
        if wrong:
            raise UsageError(message)
