"""Where one picture may lie on another, told by matching keypoints and checked on thumbnails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_OVERLAID = 0.5
"""Correlation of the thumbnails' common area below which a place is dropped."""
_MOST_MATCHES = 24
_MOST_PLACES = 10
BEST = (0, 1)
"""Of each pair the best place and the second best are tried."""
_GROWTH = 1.8
_SLACK = 1.6
_UNLIKE = 1.4918
"""How often larger a keypoint may be than the place says."""
_LEAST_APART = 8.0
_NEAR = 3.0
_AT_ONCE = 1024

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Keypoints:
    """Keypoints of all pictures, (n,) each, in order of pictures: picture, place, size."""

    image: NDArray[np.int32]
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    size: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Places:
    """Pairs of pictures, (n,) each, and how the other lies on the one: other = scale * one + (x, y).

    In pixels of the copies in which keypoints were sought; NaN where nothing is known but that both may show
    the same cut.
    """

    one: Indices
    other: Indices
    scale: Floats
    x: Floats
    y: Floats

    def at(self, which: Any) -> Places:
        """Some of them."""
        return Places(*(getattr(self, item.name)[which] for item in fields(self)))

    @classmethod
    def unknown(cls, pairs: Indices) -> Places:
        """Pairs, shape (n, 2), of which nothing more is known."""
        nothing = np.full(len(pairs), np.nan)
        return cls(pairs[:, 0], pairs[:, 1], nothing, nothing, nothing)


def joined(parts: Sequence[Places]) -> Places:
    """Places of several parts, one after the other."""
    parts = parts or [Places.unknown(np.zeros((0, 2), np.int64))]
    return Places(*(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(Places)))


def lying_alike(matches: Indices, points: Keypoints) -> Places:
    """Places on which at least two matches of a pair of pictures agree; several of a pair, best first.

    Args:
        matches: (n, 2) numbers of keypoints; the first is of the picture with the smaller number.
        points: keypoints of all pictures.
    """
    pair = _names(points.image[matches[:, 0]], points.image[matches[:, 1]])
    order = np.argsort(pair, kind="stable")
    matches, pair = matches[order], pair[order]
    one, other = _couples(pair)
    a, b, c, d = matches[one, 0], matches[one, 1], matches[other, 0], matches[other, 1]
    ahead = np.stack([points.x[c] - points.x[a], points.y[c] - points.y[a]], axis=1).astype(np.float64)
    there = np.stack([points.x[d] - points.x[b], points.y[d] - points.y[b]], axis=1).astype(np.float64)
    length = _length(ahead.T)
    scale = (ahead * there).sum(axis=1) / np.maximum(length, 1e-9) ** 2
    error = _length((there - scale[:, None] * ahead).T)
    keep = (length >= _LEAST_APART) & (scale > 1 / _GROWTH) & (scale < _GROWTH) & (error <= _SLACK)
    for first, second in ((a, b), (c, d)):
        grown = points.size[second] / points.size[first] / np.where(scale > 0, scale, 1.0)
        keep &= (grown < _UNLIKE) & (grown > 1 / _UNLIKE)
    one, other, scale, length = one[keep], other[keep], scale[keep], length[keep]
    support = np.bincount(np.concatenate([one, other]), minlength=len(pair))
    order = np.lexsort((other, one, -length, -(support[one] + support[other]), pair[one]))
    order = order[_rank(pair[one][order]) < _MOST_PLACES]
    a, b, scale = matches[one[order], 0], matches[one[order], 1], scale[order]
    left = points.x[b] - scale * points.x[a].astype(np.float64)
    top = points.y[b] - scale * points.y[a].astype(np.float64)
    return Places(points.image[a], points.image[b], scale, left, top)


def _length(apart: Floats) -> Floats:
    """Of vectors, shape (2, n): numpy's hypot is libm's."""
    found: Floats = np.sqrt(apart[0] * apart[0] + apart[1] * apart[1])
    return found


def _names(one: NDArray[Any], other: NDArray[Any]) -> Indices:
    """One number for each pair of pictures; fewer than 2**31 pictures."""
    named: Indices = (one.astype(np.int64) << 31) | other.astype(np.int64)
    return named


def _rank(values: Indices) -> Indices:
    """Number of each entry among its equals, in a sorted array."""
    if not len(values):
        return np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    ranks: Indices = np.arange(len(values)) - np.repeat(starts, np.diff(np.append(starts, len(values))))
    return ranks


def _couples(pair: Indices) -> tuple[Indices, Indices]:
    """All pairs of places of equal value in a sorted array, within the first few of each value."""
    rank = _rank(pair)
    at = np.flatnonzero(rank < _MOST_MATCHES)
    ones, others = [], []
    for apart in range(1, _MOST_MATCHES):
        at = at[at + apart < len(pair)]
        at = at[(pair[at] == pair[at + apart]) & (rank[at] + apart < _MOST_MATCHES)]
        ones.append(at)
        others.append(at + apart)
    return np.concatenate(ones), np.concatenate(others)


def best_places(
    rough: Places, thumbs: NDArray[np.uint8], sizes: Floats, points: Keypoints, matches: Indices
) -> list[Places]:
    """Of each pair of pictures the two places at which the thumbnails agree best, fitted to all matches.

    The best of every pair come first, then the second best.

    Args:
        rough: places, several of each pair, the best supported first.
        thumbs: (n, 32, 32) grey, by picture.
        sizes: (n, 2) width and height of the copy in which keypoints were sought, by picture.
        points: keypoints of all pictures.
        matches: (n, 2) numbers of keypoints.
    """
    agreement = overlaid(rough, thumbs, sizes)
    kept = np.flatnonzero(agreement >= MIN_OVERLAID)
    names = _names(rough.one[kept], rough.other[kept])
    order = np.lexsort((kept, -agreement[kept], names))
    rank = _rank(names[order])
    pair = _names(points.image[matches[:, 0]], points.image[matches[:, 1]])
    return [_fitted(rough.at(kept[order[rank == place]]), pair, matches, points) for place in BEST]


def _fitted(rough: Places, pair: Indices, matches: Indices, points: Keypoints) -> Places:
    """Least squares over all matches that agree with a place within _NEAR pixels; one place of a pair."""
    names = _names(rough.one, rough.other)
    if not len(names):
        return rough
    at = np.minimum(np.searchsorted(names, pair), len(names) - 1)
    held = names[at] == pair
    at, matches = at[held], matches[held]
    first = np.stack([points.x[matches[:, 0]], points.y[matches[:, 0]]]).astype(np.float64)
    second = np.stack([points.x[matches[:, 1]], points.y[matches[:, 1]]]).astype(np.float64)
    off = second - rough.scale[at] * first - np.stack([rough.x[at], rough.y[at]])
    near = _length(off) <= _NEAR
    at, first, second = at[near], first[:, near], second[:, near]
    count = np.maximum(np.bincount(at, minlength=len(names)), 1)

    def mean(values: Floats) -> Floats:
        found: Floats = np.bincount(at, values, len(names)) / count
        return found

    here, there = [mean(row) for row in first], [mean(row) for row in second]
    apart = [first[axis] - here[axis][at] for axis in (0, 1)]
    spread = mean(apart[0] ** 2 + apart[1] ** 2)
    along = mean(apart[0] * second[0] + apart[1] * second[1])
    scale = np.where(spread > _LEAST_APART, along / np.maximum(spread, 1e-9), rough.scale)
    return Places(rough.one, rough.other, scale, there[0] - scale * here[0], there[1] - scale * here[1])


def overlaid(found: Places, thumbs: NDArray[np.uint8], sizes: Floats) -> Floats:
    """How well the thumbnails correlate where the other picture lies on the one; -1 where too little does."""
    parts = [
        _overlaid(found, slice(start, start + _AT_ONCE), thumbs, sizes)
        for start in range(0, len(found.one), _AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def _overlaid(found: Places, part: slice, thumbs: NDArray[np.uint8], sizes: Floats) -> Floats:
    side = thumbs.shape[1]
    one, other, scale = found.one[part], found.other[part], found.scale[part]
    middles = (np.arange(side) + 0.5) / side
    across = (middles * sizes[one, :1] * scale[:, None] + found.x[part, None]) / sizes[other, :1] * side - 0.5
    down = (middles * sizes[one, 1:] * scale[:, None] + found.y[part, None]) / sizes[other, 1:] * side - 0.5
    is_row, is_column = (down >= 0) & (down <= side - 1), (across >= 0) & (across <= side - 1)
    inside = is_row[:, :, None] & is_column[:, None, :]
    left, top = np.clip(across, 0, side - 1.001).astype(int), np.clip(down, 0, side - 1.001).astype(int)
    right, below = (across - left)[:, None, :], (down - top)[:, :, None]
    flat = thumbs[other].reshape(-1).astype(np.float64)
    corner = (np.arange(len(one)) * side * side)[:, None, None] + (top * side)[:, :, None] + left[:, None, :]
    there = (flat[corner] * (1 - right) + flat[corner + 1] * right) * (1 - below)
    there += (flat[corner + side] * (1 - right) + flat[corner + side + 1] * right) * below
    return _masked(thumbs[one].astype(np.float64), there, inside)


def _masked(first: Floats, second: Floats, inside: NDArray[np.bool_]) -> Floats:
    count = inside.sum(axis=(1, 2))
    shares = np.maximum(count, 1)[:, None, None]
    one = np.where(inside, first - (first * inside).sum(axis=(1, 2), keepdims=True) / shares, 0)
    other = np.where(inside, second - (second * inside).sum(axis=(1, 2), keepdims=True) / shares, 0)
    norm = np.sqrt((one * one).sum(axis=(1, 2)) * (other * other).sum(axis=(1, 2)))
    result: Floats = np.where(count >= 100, (one * other).sum(axis=(1, 2)) / np.maximum(norm, 1e-6), -1.0)
    return result


def alike(thumbs: NDArray[np.uint8], pairs: Indices) -> NDArray[np.bool_]:
    """Whether whole pictures agree at 32 x 32: in brightness, and in what a blur takes away."""
    if not len(pairs):
        return np.zeros(0, bool)
    kept = [
        (_correlations(first, second) >= 0.8) & (_correlations(_fine(first), _fine(second)) >= 0.5)
        for first, second in _chunks(thumbs, pairs)
    ]
    return np.concatenate(kept)


def _chunks(thumbs: NDArray[np.uint8], pairs: Indices) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(pairs), 4096):
        part = pairs[start : start + 4096]
        yield thumbs[part[:, 0]].astype(np.float32), thumbs[part[:, 1]].astype(np.float32)


def _fine(planes: NDArray[np.float32]) -> NDArray[np.float32]:
    padded = np.pad(planes, ((0, 0), (2, 2), (2, 2)), mode="edge")
    height, width = planes.shape[1:]
    blurred = np.zeros_like(planes)
    for down in range(5):
        for across in range(5):
            blurred += padded[:, down : down + height, across : across + width]
    fine: NDArray[np.float32] = planes - blurred / np.float32(25)
    return fine


def _correlations(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
    one = first.reshape(len(first), -1)
    other = second.reshape(len(second), -1)
    one = one - one.mean(axis=1, keepdims=True)
    other = other - other.mean(axis=1, keepdims=True)
    norm = np.sqrt((one * one).sum(axis=1) * (other * other).sum(axis=1))
    result: NDArray[np.float32] = (one * other).sum(axis=1) / np.maximum(norm, np.float32(1e-6))
    return result
