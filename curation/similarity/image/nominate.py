"""Which pairs of pictures may be copies: near pHashes, and keypoints that look alike.

Nothing here decides; `curation.similarity.image.confirm` does. Common patches (letters, arrows, rulers) are
left out by the size of their bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.similarity.image import points
from curation.similarity.image.features import ImageFeatures

MAX_DISTANCE = 8
"""Bits two pHashes may differ in."""
TABLES = 8
_KEY_BITS = (16, 22)
_MANY = 1_000_000
_CODE_BITS = (8, 6)
"""Bits two descriptors may differ in (of few, of _MANY and more keypoints): chance matches grow with them."""
_BUCKETS = (128, 32)
"""Keypoints that share a key with more than this many others (of few, of _MANY and more) are a common patch,
such as a letter or an arrow head, and say nothing."""
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


@dataclass(frozen=True, slots=True)
class Buckets:
    """One hash table of keypoints: `order` sorts them by key, `rank` is each one's place in it.

    Those of key k are `order[start[k]:start[k + 1]]`, in ascending order. `key` is by keypoint.
    """

    key: NDArray[np.uint32]
    order: NDArray[np.int32]
    rank: NDArray[np.int32]
    start: NDArray[np.int32]


def key_bits(count: int) -> int:
    """Bits of a hash key, so that few of so many keypoints share one."""
    return int(np.clip(max(count - 1, 0).bit_length() - 2, *_KEY_BITS))


def buckets(task: tuple[NDArray[np.uint64], int]) -> Buckets:
    """Hash table number `table` of some descriptors."""
    code, table = task
    bits = key_bits(len(code))
    chosen = np.random.default_rng(table).permutation(len(points.STABLE))[:bits]
    key = _keys(code, sorted(points.STABLE[number] for number in chosen))
    placed = (key.astype(np.uint64) << np.uint64(32)) | np.arange(len(code), dtype=np.uint64)
    placed.sort()  # numbers of 64 bits sort many times faster than their places do
    order = (placed & np.uint64(0xFFFFFFFF)).astype(np.int32)
    rank = np.empty(len(code), np.int32)
    rank[order] = np.arange(len(code), dtype=np.int32)
    start = np.zeros((1 << bits) + 1, np.int32)
    np.cumsum(np.bincount(key, minlength=1 << bits), out=start[1:])
    return Buckets(key, order, rank, start)


def _keys(code: NDArray[np.uint64], chosen: Sequence[int]) -> NDArray[np.uint32]:
    """Some bits of each descriptor side by side, looked up byte by byte."""
    key = np.zeros(len(code), np.uint32)
    octets = code.astype("<u8").view(np.uint8).reshape(-1, 8)
    values = np.arange(256, dtype=np.uint32)
    for octet in sorted({bit // 8 for bit in chosen}):
        found = np.zeros(256, np.uint32)
        for place, bit in enumerate(chosen):
            if bit // 8 == octet:
                found |= ((values >> np.uint32(bit % 8)) & np.uint32(1)) << np.uint32(place)
        key |= found[octets[:, octet]]
    return key


def matching_points(
    code: NDArray[np.uint64], image: NDArray[np.int32], sets: Sets, tables: Iterable[Buckets], block: slice
) -> Indices:
    """Pairs of keypoints that look alike, of pictures that have several such, shape (n, 2), sorted.

    Most pairs of pictures with one such pair of keypoints are left out: nothing can be told from one.

    Args:
        code: (n,) descriptors.
        image: (n,) picture of each keypoint, ascending.
        sets: by picture, which of the two sets it is in.
        tables: hash tables over all descriptors.
        block: keypoints of which the first of a pair is one.
    """
    is_many = len(code) >= _MANY
    most, held = _CODE_BITS[is_many], _BUCKETS[is_many]
    own, owned = np.arange(block.start, block.stop, dtype=np.int32), code[block]
    is_one_set = bool((sets == 3).all())
    found: list[tuple[NDArray[Any], ...]] = [
        (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint32))
    ]
    for table in tables:
        key = table.key[block]
        first, end = table.start[key], table.start[key + 1]
        after = table.rank[block] + 1
        count = np.where(end - first <= held, end - after, 0)
        for part in _few_pairs(count):
            times = count[part]
            skip = after[part] - (np.cumsum(times) - times)
            other = table.order[np.arange(int(times.sum())) + np.repeat(skip, times)]
            near = np.bitwise_count(np.repeat(owned[part], times) ^ code[other]) <= most
            one, other = np.repeat(own[part], times)[near], other[near]
            a, b = image[one], image[other]
            keep = a != b if is_one_set else (a != b) & _crosses(sets[a], sets[b])
            found.append((one[keep], other[keep], _mixed(a[keep], b[keep])))
    one, other, pair = (np.concatenate(column) for column in zip(*found, strict=True))
    is_often = np.bincount(pair, minlength=1)[pair] > 1
    unique = np.unique(one[is_often].astype(np.int64) * len(code) + other[is_often])
    return np.stack([unique // max(len(code), 1), unique % max(len(code), 1)], axis=1)


def _mixed(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.uint32]:
    """A number below 2**21 for each pair of pictures, the same for the same pair."""
    mixed = one.astype(np.uint32) * np.uint32(0x9E3779B1) ^ other.astype(np.uint32) * np.uint32(0x85EBCA77)
    short: NDArray[np.uint32] = mixed >> np.uint32(11)
    return short


def joint(parts: Sequence[ImageFeatures], name: str) -> NDArray[Any]:
    """A column of several sets, one after the other."""
    columns: list[NDArray[Any]] = [getattr(part, name) for part in parts]
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
