"""Which perceptual hashes (64 bits) are near each other, for joins in SQL."""

from __future__ import annotations

NEAR = 4
"""Bits in which the perceptual hashes of two images of one family may differ."""
FLAT = 16
"""A perceptual hash with fewer ones (or zeros) is of a nearly uniform image and says nothing: a usual one has
32, because its bits are set where a term lies above the median."""
_PARTS = ((0, 11), (11, 11), (22, 11), (33, 11), (44, 10), (54, 10))
"""Bits cut into 6 parts: hashes that differ in at most 4 bits agree in at least 2 whole parts."""
_PIECES = tuple(((1 << width) - 1) << start for start, width in _PARTS)
_PAIRS = (one | other for at, one in enumerate(_PIECES) for other in _PIECES[at + 1 :])
MASKS = ", ".join(f"({number}, {mask}::UBIGINT)" for number, mask in enumerate(_PAIRS))
"""VALUES (number, mask): near hashes agree under at least one mask."""


def is_telling(bits: str) -> str:
    """Whether a hash says anything, as SQL over its bits (UBIGINT)."""
    return f"bit_count({bits}) BETWEEN {FLAT} AND {64 - FLAT}"
