"""Keypoints of a small grey image with binary descriptors: what survives a crop, a rescale, a re-encoding.

Centre-surround box filters over an integral image (CenSurE, Agrawal et al. 2008). Integers or elementwise
arithmetic throughout: the same pixels give the same keypoints on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

AREA = 8192
"""Pixels of the copy in which keypoints are sought; a strip has as many as a square."""
LONGEST = 384
MOST = 60
"""Keypoints kept of one image, strongest first."""
_LADDER = 8
_LEAST_CONTRAST = 3.0
_FINE = 64
_MOST_EDGE = 12.1
_REACH = 2.5
_GRID = 8
_LEVELS = 16.0
_WEIGHT = 0.75

Grey = NDArray[np.uint8]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Points:
    """Keypoints of one image, shape (n,) each: place and size in pixels, descriptor of BITS bits."""

    x: NDArray[np.float32]
    y: NDArray[np.float32]
    size: NDArray[np.float32]
    code: NDArray[np.uint64]


def keypoints(grey: Grey) -> Points:
    """Keypoints of one grey image of about AREA pixels, shape (height, width)."""
    height, width = grey.shape
    integral = np.zeros((height + 1, width + 1), np.int32)
    np.cumsum(np.cumsum(grey, 0, dtype=np.int32), 1, out=integral[1:, 1:])
    response = _responses(integral, height, width)
    level, y, x = _peaks(response)
    level, y, x, strength = _corners(response, level, y, x)
    order = np.lexsort((x, y, level, -strength * level**_WEIGHT))[: 2 * MOST]
    across, down, size = _refined(response, level[order], y[order], x[order])
    reach = _REACH * size
    inside = (across >= reach) & (down >= reach) & (across + reach <= width) & (down + reach <= height)
    across, down, size = across[inside][:MOST], down[inside][:MOST], size[inside][:MOST]
    codes = _codes(_cells(integral, across, down, _REACH * size))
    return Points(across.astype(np.float32), down.astype(np.float32), size.astype(np.float32), codes)


def _responses(integral: NDArray[np.int32], height: int, width: int) -> NDArray[np.float32]:
    """Mean of a box less the mean of the frame around it, per level: (levels + 2, height, width).

    Level n: box of 2n + 1 pixels, frame out to 4n + 1. Zero where the frame leaves the image.
    """
    response = np.zeros((_LADDER + 2, height, width), np.float32)
    for level in range(1, _LADDER + 1):
        reach, area, whole = 2 * level, (2 * level + 1) ** 2, (4 * level + 1) ** 2
        rows, columns = height - 2 * reach, width - 2 * reach
        if rows <= 0 or columns <= 0:
            break
        outer = _boxes(integral, 0, 4 * level + 1, rows, columns)
        inner = _boxes(integral, level, 2 * level + 1, rows, columns)
        target = response[level, reach : reach + rows, reach : reach + columns]
        np.multiply(inner.astype(np.float32), np.float32(1 / area + 1 / (whole - area)), out=target)
        target -= outer.astype(np.float32) * np.float32(1 / (whole - area))
    return response


def _boxes(integral: NDArray[np.int32], at: int, side: int, rows: int, columns: int) -> NDArray[np.int32]:
    """Sums of all boxes of one side whose corners begin at `at`."""
    top, left = slice(at, at + rows), slice(at, at + columns)
    bottom, right = slice(at + side, at + side + rows), slice(at + side, at + side + columns)
    sums: NDArray[np.int32] = integral[bottom, right] - integral[top, right]
    sums -= integral[bottom, left]
    sums += integral[top, left]
    return sums


def _peaks(response: NDArray[np.float32]) -> tuple[NDArray[np.intp], ...]:
    """Level, row and column of the strongest of 27 neighbours, to a 64th of a grey level."""
    if min(response.shape[1:]) < 3:
        return tuple(np.zeros(0, np.intp) for _ in range(3))
    strength = (response * np.float32(_FINE)).astype(np.int16)
    np.abs(strength, out=strength)
    most = np.maximum(strength[:, :, :-2], strength[:, :, 2:])
    np.maximum(most, strength[:, :, 1:-1], out=most)
    middle = most[:, 1:-1]
    most = np.maximum(most[:, :-2], most[:, 2:])
    np.maximum(most, middle, out=most)
    core = strength[1:-1, 1:-1, 1:-1]
    found = core >= most[1:-1]
    found &= core >= int(_LEAST_CONTRAST * _FINE)
    found &= core > most[:-2]
    found &= core > most[2:]
    level, y, x = np.nonzero(found)
    return level + 1, y + 1, x + 1


def _corners(
    response: NDArray[np.float32], level: NDArray[np.intp], y: NDArray[np.intp], x: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """Leave out what lies along an edge: the ratio of principal curvatures is above 10 (Lowe 2004, 4.1)."""
    centre = response[level, y, x]
    across = response[level, y, x + 1] + response[level, y, x - 1] - 2 * centre
    down = response[level, y + 1, x] + response[level, y - 1, x] - 2 * centre
    both = response[level, y + 1, x + 1] + response[level, y - 1, x - 1]
    both = (both - response[level, y + 1, x - 1] - response[level, y - 1, x + 1]) / 4
    determinant, trace = across * down - both * both, across + down
    keep = (determinant > 0) & (trace * trace < _MOST_EDGE * determinant)
    return level[keep], y[keep], x[keep], np.abs(centre[keep])


def _refined(
    response: NDArray[np.float32], level: NDArray[np.intp], y: NDArray[np.intp], x: NDArray[np.intp]
) -> tuple[Floats, Floats, Floats]:
    """Place and size by parabolas through the neighbours."""

    def strength(level: NDArray[np.intp], y: NDArray[np.intp], x: NDArray[np.intp]) -> Floats:
        values: Floats = np.abs(response[level, y, x]).astype(np.float64)
        return values

    centre = strength(level, y, x)

    def shift(before: Floats, after: Floats) -> Floats:
        bend = before + after - 2 * centre
        moved = (before - after) / np.where(bend < 0, 2 * bend, 1.0)
        result: Floats = np.clip(np.where(bend < 0, moved, 0.0), -0.5, 0.5)
        return result

    across = x + 0.5 + shift(strength(level, y, x - 1), strength(level, y, x + 1))
    down = y + 0.5 + shift(strength(level, y - 1, x), strength(level, y + 1, x))
    grown = shift(strength(level - 1, y, x), strength(level + 1, y, x))
    is_end = (level == 1) | (level == _LADDER)
    return across, down, level + 0.5 + np.where(is_end, 0.0, grown)


def _cells(integral: NDArray[np.int32], across: Floats, down: Floats, reach: Floats) -> Floats:
    """Mean brightness of the 8 x 8 cells of a square around each keypoint, in sixteenths: (n, 8, 8).

    The integral image is interpolated between its corners: exact for cells that begin inside a pixel.
    """
    lines = np.linspace(-1.0, 1.0, _GRID + 1)
    columns = across[:, None] + reach[:, None] * lines
    rows = down[:, None] + reach[:, None] * lines
    left = np.clip(columns.astype(np.int64), 0, integral.shape[1] - 2)
    top = np.clip(rows.astype(np.int64), 0, integral.shape[0] - 2)
    right, below = (columns - left)[:, None, :], (rows - top)[:, :, None]
    flat, width = integral.reshape(-1), integral.shape[1]
    corner = (top * width)[:, :, None] + left[:, None, :]
    upper, lower = flat[corner], flat[corner + width]
    upper = upper + (flat[corner + 1] - upper) * right
    lower = lower + (flat[corner + width + 1] - lower) * right
    value = upper + (lower - upper) * below
    edges = value[:, 1:] - value[:, :-1]
    cells = (edges[:, :, 1:] - edges[:, :, :-1]) * (_LEVELS * (_GRID / 2) ** 2 / (reach * reach))[
        :, None, None
    ]
    result: Floats = np.rint(cells)
    return result


_TERMS = tuple(
    (row, column) for total in range(1, 8) for row in range(_GRID) if 0 <= (column := total - row) < _GRID
)
_PLACES = np.array([row * _GRID + column for row, column in _TERMS])
BITS = len(_TERMS)
"""Bits of a descriptor, the lowest frequencies first."""
STABLE: tuple[int, ...] = (
    4, 2, 11, 1, 0, 13, 9, 6, 3, 7, 24, 26, 22, 14, 12, 10, 18, 20, 19, 16, 8, 5, 15, 17, 32, 31, 25
)  # fmt: skip
"""The bits that change least between copies of a picture, measured on real figures."""
_COSINES: Floats = np.rint(
    256 * np.cos(np.pi * np.arange(_GRID)[:, None] * (2 * np.arange(_GRID)[None, :] + 1) / (2 * _GRID))
)


def _codes(cells: Floats) -> NDArray[np.uint64]:
    """Signs of the lowest DCT terms of the cells; whole numbers below 2**53, so exact in any order."""
    terms = (_COSINES @ cells @ _COSINES.T).reshape(len(cells), _GRID * _GRID)[:, _PLACES]
    bits = np.zeros((len(cells), 64), bool)
    bits[:, : len(_TERMS)] = terms > 0
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").reshape(-1).astype(np.uint64)
