"""Whether a judge's scores depend on the order in which the parts of a pair are shown, or on chance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.agreement.intervals import CONFIDENCE, RESAMPLES, SEED
from annotation.judge.weighted import Floats, NoFigure, Weighted

MOST_UNSTABLE: Final = 0.1
"""Share of pairs with another conclusion in the other order from which a judge is flagged."""
LEAST_SHIFT: Final = 0.05
"""Mean difference of scores between the orders from which a judge is flagged, if its interval is above 0."""
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Orders:
    """Scores of one pair asked twice, by axis: in both orders, or in one and again with a seed (`reversed`).

    `is_stable`: both conclude the same; of a seed, give the same scores.
    """

    query_id: str
    forward: tuple[int, ...]
    reversed: tuple[int, ...]
    is_stable: bool


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """What the order, or a seed, does. `shifts` are means of reversed minus forward, one for each axis.

    `unstable` is the share of pairs whose conclusion changed; `is_flagged`: one of both is too large.
    """

    pairs: int
    unstable: Weighted
    shifts: tuple[Weighted, ...]
    is_flagged: bool


def order_effect(
    rows: Iterable[Orders], *, resamples: int = RESAMPLES, seed: int = SEED, confidence: float = CONFIDENCE
) -> OrderEffect:
    """Compare both askings over all judged pairs; intervals resample queries.

    Args:
        rows: judged pairs, all of one task.
        resamples: how often queries are drawn with replacement.
        seed: of the generator.
        confidence: of the intervals.
    """
    listed = list(rows)
    axes = len(listed[0].forward) if listed else 0
    names = {name: place for place, name in enumerate(sorted({row.query_id for row in listed}))}
    sums = np.zeros((len(names), 2 + axes))
    for row in listed:
        shifts = [after - before for before, after in zip(row.forward, row.reversed, strict=True)]
        sums[names[row.query_id]] += [1, not row.is_stable, *shifts]
    made = _means(sums, resamples, seed, confidence)
    unstable, *moved = made or [Weighted(None, None, None, NoFigure.NO_PAIRS)]
    return OrderEffect(len(listed), unstable, tuple(moved), _is_flagged(unstable, moved))


def _is_flagged(unstable: Weighted, shifts: Iterable[Weighted]) -> bool:
    if unstable.value is not None and unstable.value > MOST_UNSTABLE:
        return True
    return any(
        one.value is not None and abs(one.value) >= LEAST_SHIFT and not _holds_zero(one) for one in shifts
    )


def _holds_zero(found: Weighted) -> bool:
    return found.low is None or found.high is None or found.low <= 0 <= found.high


def _means(sums: Floats, resamples: int, seed: int, confidence: float) -> list[Weighted]:
    """Mean of each column but the first, which counts, over all queries."""
    if not len(sums):
        return []
    values = sums[:, 1:].sum(0) / sums[:, 0].sum()
    if len(sums) < 2:
        return [Weighted(round(float(v), _DIGITS), None, None, NoFigure.ONE_QUERY) for v in values]
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = generator.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=resamples) @ sums
    tail = (1 - confidence) / 2
    bounds = np.quantile(drawn[:, 1:] / drawn[:, :1], [tail, 1 - tail], axis=0)
    return [
        Weighted(round(float(value), _DIGITS), round(float(low), _DIGITS), round(float(high), _DIGITS), None)
        for value, low, high in zip(values, *bounds, strict=True)
    ]
