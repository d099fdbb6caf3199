"""Whether two pictures show the same pixels: align one on the other, then compare them block by block.

A nomination (pHash, keypoints) says where to begin; only what agrees after alignment counts as a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

GRID = 256
"""Pixels of the longer side of the common area on which two pictures are compared."""
BLOCKS = 8
MIN_BLOCKS = 3
MIN_TEXTURE = 3.0
MIN_BLOCK_AGREEMENT = 0.5
MIN_AGREEING = 0.85
MIN_CORRELATION = 0.85
MIN_COMMON = 0.35
"""Least share of each picture's area that the common area must have."""
WHOLE = 0.97
_STEPS = ((48, 8), (96, 6), (GRID, 6))
_HOPELESS = 0.5
"""Correlation of the coarsest copies, after alignment, below which a pair is given up."""
_LEAST_SIDE = 12
_STILL = 0.05
_BLUR = 9

Plane = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Place:
    """How the other picture lies on the one: one = scale * other + offset, per axis, in pixels of each."""

    scale_x: float
    scale_y: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well two aligned pictures agree.

    `correlation` of the common area; `agreeing`: share of its textured blocks whose details correlate at
    least MIN_BLOCK_AGREEMENT; `blocks`: how many those are; `of_one`, `of_other`: share of each picture's
    area in common.
    """

    correlation: float
    agreeing: float
    blocks: int
    of_one: float
    of_other: float

    @property
    def is_copy(self) -> bool:
        """Whether the pictures are taken for copies, of all or part of each other."""
        return (
            self.correlation >= MIN_CORRELATION
            and self.agreeing >= MIN_AGREEING
            and self.blocks >= MIN_BLOCKS
            and max(self.of_one, self.of_other) >= MIN_COMMON
        )

    @property
    def is_whole(self) -> bool:
        """Whether both show (nearly) the same cut."""
        return min(self.of_one, self.of_other) >= WHOLE


def stretched(one: Image.Image, other: Image.Image) -> Place:
    """Both show the same cut, at any two sizes."""
    return Place(one.width / other.width, one.height / other.height, 0.0, 0.0)


def compare(one: Image.Image, other: Image.Image, start: Place) -> Agreement | None:
    """Align two grey pictures from a rough place and compare them; None when that fails."""
    place = start
    for side, rounds in _STEPS:
        refined = _aligned(one, other, place, side, rounds)
        if refined is None:
            return None
        place = refined
    area = _common(one, other, place)
    if area is None:
        return None
    first, second = _cut(one, other, place, area, GRID)
    left, top, right, bottom = area
    width, height = (right - left) * place.scale_x, (bottom - top) * place.scale_y
    correlation = _correlation(first, second)
    agreeing, blocks = _blocks(first, second)
    return Agreement(
        correlation=round(correlation, 4),
        agreeing=round(agreeing, 4),
        blocks=blocks,
        of_one=round(min(width * height / (one.width * one.height), 1.0), 4),
        of_other=round((right - left) * (bottom - top) / (other.width * other.height), 4),
    )


Area = tuple[float, float, float, float]


def _common(one: Image.Image, other: Image.Image, place: Place) -> Area | None:
    """The part of the other picture that lies on the one: left, top, right, bottom."""
    left, top = max(0.0, -place.x / place.scale_x), max(0.0, -place.y / place.scale_y)
    right = min(float(other.width), (one.width - place.x) / place.scale_x)
    bottom = min(float(other.height), (one.height - place.y) / place.scale_y)
    if min(right - left, (right - left) * place.scale_x) < _LEAST_SIDE:
        return None
    if min(bottom - top, (bottom - top) * place.scale_y) < _LEAST_SIDE:
        return None
    return left, top, right, bottom


def _cut(one: Image.Image, other: Image.Image, place: Place, area: Area, side: int) -> tuple[Plane, Plane]:
    """The common area of both on one grid that enlarges neither by much."""
    left, top, right, bottom = area
    width = (right - left) * min(1.0, place.scale_x)
    height = (bottom - top) * min(1.0, place.scale_y)
    shrink = min(1.0, side / max(width, height))
    size = (max(8, round(width * shrink)), max(8, round(height * shrink)))
    box = (
        max(0.0, left * place.scale_x + place.x),
        max(0.0, top * place.scale_y + place.y),
        min(float(one.width), right * place.scale_x + place.x),
        min(float(one.height), bottom * place.scale_y + place.y),
    )
    first = one.resize(size, Image.Resampling.HAMMING, box=box)
    second = other.resize(size, Image.Resampling.HAMMING, box=area)
    return np.asarray(first, np.float64), np.asarray(second, np.float64)


def _aligned(one: Image.Image, other: Image.Image, place: Place, side: int, rounds: int) -> Place | None:
    """Gauss-Newton steps on scale and offset (Lucas and Kanade 1981), brightness and contrast left free."""
    best, most = place, -2.0
    for _ in range(rounds):
        area = _common(one, other, place)
        if area is None:
            return None if most < -1 else best
        first, second = _cut(one, other, place, area, side)
        first, second = _standard(first), _standard(second)
        agreement = float((first * second).mean())
        if agreement > most:
            best, most = place, agreement
        step = _step(first, second)
        height, width = first.shape
        left, top, right, bottom = area
        unit_x, unit_y = (right - left) * place.scale_x / width, (bottom - top) * place.scale_y / height
        grown_x, grown_y, moved_x, moved_y = step
        middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
        scale_x = place.scale_x * (1 + grown_x)
        scale_y = place.scale_y * (1 + grown_y)
        place = Place(
            scale_x,
            scale_y,
            place.x + (place.scale_x - scale_x) * middle_x + moved_x * unit_x,
            place.y + (place.scale_y - scale_y) * middle_y + moved_y * unit_y,
        )
        if max(abs(grown_x) * width, abs(grown_y) * height, abs(moved_x), abs(moved_y)) < _STILL:
            break
    area = _common(one, other, place)
    if area is not None and (last := _correlation(*_cut(one, other, place, area, side))) > most:
        best, most = place, last
    return best if most >= _HOPELESS else None


def _step(first: Plane, second: Plane) -> tuple[float, float, float, float]:
    """Growth and shift per axis that bring the first plane onto the second."""
    down, across = np.gradient(first)
    height, width = first.shape
    x = np.arange(width) - (width - 1) / 2
    y = (np.arange(height) - (height - 1) / 2)[:, None]
    columns = np.stack([(across * x).ravel(), (down * y).ravel(), across.ravel(), down.ravel()])
    normal = np.einsum("in,jn->ij", columns, columns)
    normal[np.diag_indices(4)] += 1e-6 * np.trace(normal) + 1e-9
    solved = _solved(normal, np.einsum("in,n->i", columns, (second - first).ravel()))
    limits = np.array([0.05, 0.05, 3.0, 3.0])
    grown_x, grown_y, moved_x, moved_y = np.clip(solved, -limits, limits)
    return float(grown_x), float(grown_y), float(moved_x), float(moved_y)


def _solved(matrix: Plane, right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve matrix @ x = right, matrix positive definite, by the same steps on every processor."""
    rows = np.concatenate([matrix, right[:, None]], axis=1)
    for place in range(len(rows)):
        rows[place] /= rows[place, place]
        for other in range(len(rows)):
            if other != place:
                rows[other] -= rows[other, place] * rows[place]
    solved: NDArray[np.float64] = rows[:, -1]
    return solved


def _standard(plane: Plane) -> Plane:
    centred: Plane = plane - plane.mean()
    spread = centred.std()
    return centred / spread if spread > 0 else centred


def _correlation(first: Plane, second: Plane) -> float:
    return float((_standard(first) * _standard(second)).mean())


def _blurred(plane: Plane) -> Plane:
    """Mean of the _BLUR x _BLUR pixels around each, edges repeated."""
    half = _BLUR // 2
    for axis in (0, 1):
        padding = [(0, 0), (0, 0)]
        padding[axis] = (half + 1, half)
        sums = np.cumsum(np.pad(plane, padding, mode="edge"), axis=axis)
        ahead, behind = (
            np.split(sums, [_BLUR], axis=axis)[1],
            np.split(sums, [sums.shape[axis] - _BLUR], axis=axis)[0],
        )
        plane = (ahead - behind) / _BLUR
    return plane


def _blocks(first: Plane, second: Plane) -> tuple[float, int]:
    """Share of textured blocks whose details agree, and how many blocks are textured.

    Details are what a blur of 9 pixels takes away: two radiographs of one kind agree in the blur only.
    """
    details = [plane - _blurred(plane) for plane in (first, second)]
    gain = max(float(details[0].std()), 1e-9) / max(float(details[1].std()), 1e-9)
    one, other = details[0], details[1] * gain
    rows, columns = (np.arange(BLOCKS) * side // BLOCKS for side in one.shape)

    def sums(plane: Plane) -> Plane:
        return np.add.reduceat(np.add.reduceat(plane, rows, axis=0), columns, axis=1)

    size = sums(np.ones_like(one))
    means = sums(one) / size, sums(other) / size
    spreads = [
        np.sqrt(np.maximum(sums(plane * plane) / size - mean * mean, 0.0))
        for plane, mean in zip((one, other), means, strict=True)
    ]
    product = np.maximum(spreads[0] * spreads[1], 1e-9)
    correlation = (sums(one * other) / size - means[0] * means[1]) / product
    textured = np.maximum(*spreads) >= MIN_TEXTURE
    agreeing = int((textured & (correlation >= MIN_BLOCK_AGREEMENT)).sum())
    count = int(textured.sum())
    return (agreeing / count if count else 0.0), count
