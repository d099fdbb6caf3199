"""Which pairs of pictures may be copies: near pHashes, and keypoints that look alike.

Nothing here decides; `curation.audit.images.confirm` does. Common patches (letters, arrows, rulers) are left
out by the size of their bucket.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.audit.images import points
from curation.audit.images.features import ImageFeatures

MAX_DISTANCE = 8
"""Bits two pHashes may differ in."""
MAX_CODE_DISTANCE = 8
TABLES = 8
_KEY_BITS = (16, 22)
_MANY = 1_000_000
_BUCKETS = (128, 32)
"""Keypoints that share a key with more than this many others (of few, of _MANY and more) are a common patch,
such as a letter or an arrow head, and say nothing."""
_MOST_MATCHES = 6_000_000
"""Matches kept of one table, the nearest first."""
_FEW = 4096
_AT_ONCE = 256
_PAIRS_AT_ONCE = 4_000_000
_BANDS = ((0, 21), (21, 21), (42, 22))

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Sets = NDArray[np.uint8]
"""Of each picture: 1 when it is in the one set, 2 in the other, 3 in both (or when there is one set only)."""


def _crosses(first: Sets, second: Sets) -> NDArray[np.bool_]:
    """Whether a pair of pictures is one of the one set and one of the other."""
    found: NDArray[np.bool_] = (((first & 1) != 0) & ((second & 2) != 0)) | (
        ((first & 2) != 0) & ((second & 1) != 0)
    )
    return found


def near_hashes(hashes: NDArray[np.uint64], sets: Sets, pool: Executor) -> Indices:
    """Pairs of images whose pHashes differ in at most MAX_DISTANCE bits, shape (n, 2), sorted.

    Args:
        hashes: (n,) pHashes.
        sets: by picture, which of the two sets it is in.
        pool: where bands are joined.
    """
    if len(hashes) <= _FEW:
        parts = [_near_among(hashes)]
    else:
        parts = list(pool.map(_near_in_band, [(hashes, band) for band in range(len(_BANDS))]))
    joined = np.unique(np.concatenate(parts))
    pairs = np.stack([joined // max(len(hashes), 1), joined % max(len(hashes), 1)], axis=1)
    kept: Indices = pairs[_crosses(sets[pairs[:, 0]], sets[pairs[:, 1]])]
    return kept


def _near_among(hashes: NDArray[np.uint64]) -> Indices:
    """Near pairs of few hashes, each compared with each, as one * n + other."""
    found: list[Indices] = [np.zeros(0, np.int64)]
    for top in range(0, len(hashes), _AT_ONCE):
        distance = np.bitwise_count(hashes[top : top + _AT_ONCE, None] ^ hashes[None, :])
        one, other = np.nonzero(distance <= MAX_DISTANCE)
        keep = one + top < other
        found.append((one[keep] + top) * len(hashes) + other[keep])
    return np.concatenate(found)


def _near_in_band(task: tuple[NDArray[np.uint64], int]) -> Indices:
    """Near pairs whose hashes differ in at most two bits of one band, as one * n + other.

    Of 8 differing bits at most two lie in one of three bands (multi-index hashing, Norouzi et al. 2012).
    """
    hashes, band = task
    shift, width = _BANDS[band]
    value = ((hashes >> np.uint64(shift)) & np.uint64((1 << width) - 1)).astype(np.int64)
    order = np.argsort(value, kind="stable")
    start = np.zeros((1 << width) + 1, np.int64)
    np.cumsum(np.bincount(value, minlength=1 << width), out=start[1:])
    flips = [0, *(1 << one for one in range(width))]
    flips += [(1 << one) | (1 << other) for one in range(width) for other in range(one)]
    found = [np.zeros(0, np.int64)]
    for flip in flips:
        near = value ^ flip
        first, count = start[near], start[near + 1] - start[near]
        for part in _few_pairs(count):
            one = np.repeat(part, count[part])
            at = np.arange(len(one)) - np.repeat(np.cumsum(count[part]) - count[part], count[part])
            other = order[np.repeat(first[part], count[part]) + at]
            keep = (one < other) & (np.bitwise_count(hashes[one] ^ hashes[other]) <= MAX_DISTANCE)
            found.append(one[keep] * len(hashes) + other[keep])
    return np.concatenate(found)


def _few_pairs(count: Indices) -> Iterator[Indices]:
    """Rows with something to compare with, in parts of some millions of pairs."""
    rows = np.flatnonzero(count)
    if len(rows):
        share = np.cumsum(count[rows]) // _PAIRS_AT_ONCE
        yield from np.split(rows, np.flatnonzero(np.diff(share)) + 1)


def matching_points(code: NDArray[np.uint64], image: Indices, sets: Sets, pool: Executor) -> Indices:
    """Pairs of keypoints of two pictures that look alike, shape (n, 2), sorted.

    Args:
        code: (n,) descriptors.
        image: (n,) picture of each keypoint.
        sets: by picture, which of the two sets it is in.
        pool: where hash tables are joined, one task each.
    """
    if not len(code):
        return np.zeros((0, 2), np.int64)
    bits = int(np.clip(np.ceil(np.log2(len(code))) - 2, *_KEY_BITS))
    tasks = [(code, image, sets, bits, table) for table in range(TABLES)]
    unique = np.unique(np.concatenate(list(pool.map(_join, tasks))))
    return np.stack([unique // len(code), unique % len(code)], axis=1)


def _join(task: tuple[NDArray[np.uint64], Indices, Sets, int, int]) -> Indices:
    """Keypoints that share the key of one hash table and nearly the whole descriptor, as one * n + other."""
    code, image, sets, bits, table = task
    key = _keys(code, bits, table)
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    sizes = np.diff(np.append(starts, len(key)))
    most = _BUCKETS[len(code) >= _MANY]
    at = np.flatnonzero(np.repeat((sizes > 1) & (sizes <= most), sizes))
    nearest = _Nearest()
    for apart in range(1, most):
        at = at[at + apart < len(key)]
        at = at[key[at] == key[at + apart]]
        for part in np.array_split(at, len(at) // _PAIRS_AT_ONCE + 1):
            one, other = order[part], order[part + apart]
            distance = np.bitwise_count(code[one] ^ code[other])
            keep = (distance <= nearest.limit) & (image[one] != image[other])
            keep &= _crosses(sets[image[one]], sets[image[other]])
            one, other = one[keep], other[keep]
            nearest.add(np.minimum(one, other) * len(code) + np.maximum(one, other), distance[keep])
    return nearest.all()


def _keys(code: NDArray[np.uint64], bits: int, table: int) -> NDArray[np.uint32]:
    """Some of the stable bits of each descriptor; which, depends on the table."""
    key: NDArray[np.uint32] = np.zeros(len(code), np.uint32)
    chosen = np.random.default_rng(table).permutation(len(points.STABLE))[:bits]
    for place, bit in enumerate(sorted(points.STABLE[number] for number in chosen)):
        key |= ((code >> np.uint64(bit)) & np.uint64(1)).astype(np.uint32) << np.uint32(place)
    return key


class _Nearest:
    """Keeps matches by distance; when there are too many, the farthest distance is given up."""

    def __init__(self) -> None:
        self.limit = MAX_CODE_DISTANCE
        self.held: list[list[Indices]] = [[] for _ in range(MAX_CODE_DISTANCE + 1)]
        self.count = [0] * (MAX_CODE_DISTANCE + 1)

    def add(self, matches: Indices, distance: NDArray[np.uint8]) -> None:
        """Matches and the bits they differ in."""
        for bits in range(self.limit + 1):
            found = matches[distance == bits]
            if len(found):
                self.held[bits].append(found)
                self.count[bits] += len(found)
        while self.limit and sum(self.count) > _MOST_MATCHES:
            self.held[self.limit], self.count[self.limit] = [], 0
            self.limit -= 1

    def all(self) -> Indices:
        """What is held."""
        found = [part for parts in self.held for part in parts]
        return np.concatenate(found) if found else np.zeros(0, np.int64)


def joint(one: ImageFeatures, other: ImageFeatures | None, name: str) -> NDArray[Any]:
    """A column of both sets, the one first."""
    first: NDArray[Any] = getattr(one, name)
    return first if other is None else np.concatenate([first, getattr(other, name)])
