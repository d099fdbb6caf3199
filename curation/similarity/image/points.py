"""Keypoints of a small grey image with binary descriptors: what survives a crop, a rescale, a re-encoding.

Centre-surround box filters over an integral image (CenSurE, Agrawal et al. 2008). Integers or elementwise
arithmetic throughout: the same pixels give the same keypoints on every machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

AREA = 8192
"""Pixels of the copy in which keypoints are sought; a strip has as many as a square."""
LONGEST = 384
MOST = 60
"""Keypoints kept of one image, strongest first."""
_LADDER = 8
"""Levels of filters."""
_LEAST_CONTRAST = 3.0
_FINE = 64
_MOST_EDGE = 12.1
_REACH = 2.5
_GRID = 8
_LEVELS = 16.0
_CODES_AT_ONCE = 96
"""A product of larger matrices would start the threads of the linear algebra library, in every process."""

_SIDES = sorted({side for level in range(1, _LADDER + 1) for side in (2 * level + 1, 4 * level + 1)})
_WEIGHTS = np.sqrt(np.arange(_LADDER + 1) * np.sqrt(np.arange(_LADDER + 1)))
"""Level ** 0.75: wider filters answer more weakly."""
_LINES = np.linspace(-1.0, 1.0, _GRID + 1)

Grey = NDArray[np.uint8]
Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Points:
    """Keypoints of one image, shape (n,) each: place and size in pixels, descriptor of BITS bits."""

    x: NDArray[np.float32]
    y: NDArray[np.float32]
    size: NDArray[np.float32]
    code: NDArray[np.uint64]


def keypoints(grey: Grey) -> Points:
    """Keypoints of one grey image of about AREA pixels, shape (height, width)."""
    return keypoints_of([grey])[0]


def keypoints_of(greys: Sequence[Grey]) -> list[Points]:
    """Keypoints of some grey images, of about AREA pixels each: filtered one by one, described together."""
    pyramids = _Pyramids.of(greys)
    peaks = pyramids.strongest(pyramids.corners())
    across, down, size = pyramids.refined(peaks)
    reach = _REACH * size
    inside = (across >= reach) & (down >= reach)
    inside &= (across + reach <= pyramids.width[peaks.image]) & (down + reach <= pyramids.height[peaks.image])
    kept = np.flatnonzero(inside)
    kept = kept[_rank(peaks.image[kept]) < MOST]
    image, across, down, size = peaks.image[kept], across[kept], down[kept], size[kept]
    codes = _codes(pyramids.cells(image, across, down, _REACH * size))
    x, y, grown = across.astype(np.float32), down.astype(np.float32), size.astype(np.float32)
    first = np.searchsorted(image, np.arange(len(greys) + 1)).tolist()
    return [
        Points(x[start:end], y[start:end], grown[start:end], codes[start:end])
        for start, end in itertools.pairwise(first)
    ]


@dataclass(frozen=True, slots=True)
class _Peaks:
    """Local maxima: image, level from 1, place in its plane of responses and in all responses."""

    image: Indices
    level: Indices
    pixel: Indices
    at: Indices

    def __getitem__(self, which: NDArray[Any]) -> _Peaks:
        return _Peaks(self.image[which], self.level[which], self.pixel[which], self.at[which])


@dataclass(frozen=True, slots=True)
class _Pyramids:
    """Filtered images, one after the other in flat arrays.

    Image i has `height[i]` rows of `width[i]` pixels, and one column more of zeros, so that its responses are
    _LADDER planes of `plane[i]` numbers from `response[start[i]]` on. Its integral image begins at
    `integral[corner[i]]` and has as many columns.
    """

    width: Indices
    height: Indices
    plane: Indices
    start: Indices
    corner: Indices
    response: Floats32
    integral: Floats32
    peaks: _Peaks

    @classmethod
    def of(cls, greys: Sequence[Grey]) -> _Pyramids:
        """Filter some images, and find where a response is the strongest of its 27 neighbours."""
        height = np.array([grey.shape[0] for grey in greys], np.int64)
        width = np.array([grey.shape[1] for grey in greys], np.int64)
        plane = height * (width + 1)
        start, corner = _starts(_LADDER * plane), _starts(plane + width + 1)
        response = np.zeros(int(start[-1]), np.float32)
        integral = np.empty(int(corner[-1]), np.float32)
        found = []
        for number, grey in enumerate(greys):
            own = integral[corner[number] : corner[number + 1]].reshape(len(grey) + 1, -1)
            planes = response[start[number] : start[number + 1]].reshape(_LADDER, -1)
            _integrate(grey, own)
            _respond(own, planes)
            found.append(_peaks(planes, own.shape[1]))
        image = np.repeat(np.arange(len(greys)), [len(peaks) for peaks in found])
        at = np.concatenate([*found, np.zeros(0, np.int64)])
        level, pixel = np.divmod(at, plane[image])
        peaks = _Peaks(image, level + 1, pixel, at + start[image])
        return cls(width, height, plane, start, corner, response, integral, peaks)

    def corners(self) -> _Peaks:
        """Peaks that do not lie along an edge: principal curvatures of at most 10 to 1 (Lowe 2004)."""
        values, at, line = self.response, self.peaks.at, self.width[self.peaks.image] + 1
        above, below, centre = at - line, at + line, 2 * values[at]
        across = values[at + 1] + values[at - 1] - centre
        down = values[below] + values[above] - centre
        both = values[below + 1] + values[above - 1] - values[above + 1] - values[below - 1]
        both /= 4
        determinant, trace = across * down - both * both, across + down
        return self.peaks[np.flatnonzero((determinant > 0) & (trace * trace < _MOST_EDGE * determinant))]

    def strongest(self, peaks: _Peaks) -> _Peaks:
        """Twice MOST of each image, strongest first: some will lie too near the border."""
        strength = np.abs(self.response[peaks.at]) * _WEIGHTS[peaks.level]
        order = np.lexsort((-strength, peaks.image))  # equal ones stay in order of level, row and column
        return peaks[order[_rank(peaks.image[order]) < 2 * MOST]]

    def refined(self, peaks: _Peaks) -> tuple[Floats, Floats, Floats]:
        """Place and size by parabolas through the neighbours."""
        line = self.width[peaks.image] + 1
        is_end = (peaks.level == 1) | (peaks.level == _LADDER)
        step = np.where(is_end, 0, self.plane[peaks.image])
        offsets = (np.zeros_like(line), np.full_like(line, -1), np.ones_like(line), -line, line, -step, step)
        centre, *beside = np.abs(self.response[peaks.at + np.stack(offsets)]).astype(np.float64)
        before, after = np.stack(beside[::2]), np.stack(beside[1::2])
        bend = before + after - 2 * centre
        moved = np.where(bend < 0, (before - after) / np.where(bend < 0, 2 * bend, 1.0), 0.0)
        across, down, grown = np.clip(moved, -0.5, 0.5)
        y, x = np.divmod(peaks.pixel, line)
        return x + 0.5 + across, y + 0.5 + down, peaks.level + 0.5 + grown

    def cells(self, image: Indices, across: Floats, down: Floats, reach: Floats) -> Floats:
        """Mean brightness of the 8 x 8 cells of a square around each keypoint, in sixteenths: (n, 8, 8).

        The integral image is interpolated between its corners: exact for cells that begin inside a pixel.
        """
        columns = across[:, None] + reach[:, None] * _LINES
        rows = down[:, None] + reach[:, None] * _LINES
        line, last = self.width[image][:, None], self.height[image][:, None] - 1
        left = np.minimum(columns.astype(np.int64), line - 1)
        top = np.minimum(rows.astype(np.int64), last)
        right, below = (columns - left)[:, None, :], (rows - top)[:, :, None]
        line = line + 1
        corner = (top * line + self.corner[image][:, None])[:, :, None] + left[:, None, :]
        lower = corner + line[:, :, None]
        value = self._between(corner, right)
        value += (self._between(lower, right) - value) * below
        edges = value[:, 1:] - value[:, :-1]
        cells = edges[:, :, 1:] - edges[:, :, :-1]
        cells *= (_LEVELS * (_GRID / 2) ** 2 / (reach * reach))[:, None, None]
        result: Floats = np.rint(cells, out=cells)
        return result

    def _between(self, corner: Indices, right: Floats) -> Floats:
        value = self.integral.take(corner)
        between: Floats = (self.integral[1:].take(corner) - value) * right
        between += value
        return between


def _starts(sizes: Indices) -> Indices:
    found: Indices = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return found


def _rank(image: Indices) -> Indices:
    """Number of each entry among those of its image, in an array sorted by image."""
    ranks: Indices = np.arange(len(image)) - np.searchsorted(image, image)
    return ranks


def _integrate(grey: Grey, integral: Floats32) -> None:
    """Sums of all above and to the left; below 2**24, so exact in 32 bits of floating point."""
    integral[0], integral[:, 0] = 0, 0
    integral[1:, 1:] = np.cumsum(np.cumsum(grey, 1, dtype=np.int32), 0)


def _respond(integral: Floats32, planes: Floats32) -> None:
    """Mean of a box less the mean of the frame around it, in _FINE parts of a grey level, per level.

    Level n: box of 2n + 1 pixels, frame out to 4n + 1. Zero where the frame leaves the image. All rows are
    filtered as if they were one: sums that run over the end of a row are set to zero.
    """
    rows, line = integral.shape
    flat = integral.reshape(-1)
    boxes = {side: _boxes(flat, side, line) for side in _SIDES if side < min(rows, line)}
    for level in range(1, _LADDER + 1):
        reach, area, whole = 2 * level, (2 * level + 1) ** 2, (4 * level + 1) ** 2
        outer = boxes.get(4 * level + 1)
        if outer is None:
            break
        inner = boxes[2 * level + 1][level * (line + 1) :][: len(outer)]
        target = planes[level - 1, reach * (line + 1) :][: len(outer)]
        np.multiply(inner, np.float32(1 / area + 1 / (whole - area)) * np.float32(_FINE), out=target)
        target -= outer * (np.float32(1 / (whole - area)) * np.float32(_FINE))
        square = planes[level - 1].reshape(rows - 1, line)
        square[:, :reach] = 0
        square[:, line - 1 - reach :] = 0


def _boxes(flat: Floats32, side: int, line: int) -> Floats32:
    """Sums of all boxes of one side, by the place of their first corner."""
    strips = flat[side * line :] - flat[: -side * line]
    sums: Floats32 = strips[side:] - strips[:-side]
    return sums


def _peaks(planes: Floats32, line: int) -> Indices:
    """Places of the strongest of 27 neighbours, to a whole part of a grey level."""
    if planes.shape[1] < 3 * line:
        return np.zeros(0, np.int64)
    count = planes.shape[1]
    strength = planes.astype(np.int16).reshape(-1)  # borders are zero, so planes may run into each other
    np.abs(strength, out=strength)
    most = np.maximum(strength[:-2], strength[2:])
    np.maximum(most, strength[1:-1], out=most)
    middle = most[line:-line]
    most = np.maximum(most[: -2 * line], most[2 * line :])
    np.maximum(most, middle, out=most)
    core = strength[line + 1 : -line - 1]
    found: Indices = np.flatnonzero((core >= most) & (core >= int(_LEAST_CONTRAST * _FINE)))
    own = core[found]
    keep = (found < count) | (own > most[found - count])
    keep &= (found >= len(core) - count) | (own > most.take(found + count, mode="clip"))
    places: Indices = found[keep] + (line + 1)
    return places


_TERMS = tuple(
    (row, column) for total in range(1, 8) for row in range(_GRID) if 0 <= (column := total - row) < _GRID
)
BITS = len(_TERMS)
"""Bits of a descriptor, the lowest frequencies first."""
STABLE: tuple[int, ...] = (
    4, 2, 11, 1, 0, 13, 9, 6, 3, 7, 24, 26, 22, 14, 12, 10, 18, 20, 19, 16, 8, 5, 15, 17, 32, 31, 25
)  # fmt: skip
"""The bits that change least between copies of a picture, measured on real figures."""
_COSINES: Floats = np.rint(
    256 * np.cos(np.pi * np.arange(_GRID)[:, None] * (2 * np.arange(_GRID)[None, :] + 1) / (2 * _GRID))
)


_TRANSFORM: Floats = np.stack(
    [np.outer(_COSINES[row], _COSINES[column]).ravel() for row, column in _TERMS], axis=1
)


def _codes(cells: Floats) -> NDArray[np.uint64]:
    """Signs of the lowest DCT terms of the cells; whole numbers below 2**53, so exact in any order."""
    bits = np.zeros((len(cells), 64), bool)
    flat = cells.reshape(len(cells), _GRID * _GRID)
    for start in range(0, len(cells), _CODES_AT_ONCE):
        part = slice(start, start + _CODES_AT_ONCE)
        bits[part, : len(_TERMS)] = flat[part] @ _TRANSFORM > 0
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").reshape(-1).astype(np.uint64)
