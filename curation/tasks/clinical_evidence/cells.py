"""What a judge's two scores make of a pair: all 16 cells, fixed before anything was judged.

The first score says how far a passage supports the answer, the second how far it supports the reasoning that
leads there, both 0 to 3. Only what supports both is a positive; only what supports neither is judged 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

Cell = Literal["relevant", "not_relevant", "middle"]
Scores = tuple[int, int]
"""Support of the answer, support of the reasoning."""

CELLS: Final[Mapping[Scores, Cell]] = {
    (0, 0): "not_relevant",
    (0, 1): "middle",
    (0, 2): "middle",
    (0, 3): "middle",
    (1, 0): "middle",
    (1, 1): "middle",
    (1, 2): "middle",
    (1, 3): "middle",
    (2, 0): "middle",
    (2, 1): "middle",
    (2, 2): "relevant",
    (2, 3): "relevant",
    (3, 0): "middle",
    (3, 1): "middle",
    (3, 2): "relevant",
    (3, 3): "relevant",
}
GRADES: Final[Mapping[Cell, int]] = {"relevant": 2, "not_relevant": 0}
"""Grade of a cell; pairs of the other one are excluded."""
MIDDLE, UNSTABLE = "middle", "unstable"
"""Exclusion codes: between the two; another cell in another order."""


def conclusion(orders: Sequence[Scores]) -> int | str:
    """The grade of a pair, or the code it is excluded with.

    Args:
        orders: scores of each order in which the judge was shown the same pair, one or more.
    """
    cells = {CELLS[scores] for scores in orders}
    if len(cells) > 1:
        return UNSTABLE
    (cell,) = cells
    return GRADES.get(cell, MIDDLE)
