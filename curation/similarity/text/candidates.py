"""Which pairs of texts are worth reading: those that share fingerprints, or all words but one.

Fingerprints of very many texts are boilerplate: they nominate no pair, or only neighbours, and are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from curation.similarity.text.sketch import Sketch
from curation.similarity.text.tokens import I64, U64, Bool

COMMON = 100
"""A fingerprint in more texts than this is boilerplate for copied spans."""
CROWDED = 50
"""A fingerprint in more texts than this nominates near-duplicates only among neighbours."""
_SLICE = 1 << 22
_PAIRS = 20_000
_MOST = 30_000_000
"""Pairs nominated at most; more would not fit in memory, so the most frequent fingerprints are left out."""
_PART = 1 << 21
"""Pairs made or counted at once: ten numbers each for that time, one number afterwards."""
Wanted = Callable[[I64, I64, I64], Bool]
"""Which pairs are worth reading, by row of the one, row of the other and fingerprints they share."""


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Boilerplate that did not nominate every pair."""

    fingerprints: int = 0
    postings: int = 0
    """Places in texts they stand for."""
    texts: int = 0
    """Texts concerned."""
    limit: int = 0
    """They stand in more texts than this."""

    def __bool__(self) -> bool:
        return self.fingerprints > 0


@dataclass(frozen=True, slots=True)
class Nominated:
    """Pairs of rows in order."""

    one: I64
    other: I64
    suppressed: Suppressed


def across(
    one: Sketch, other: Sketch, limit: int, *, neighbours: bool, wanted: Wanted | None = None
) -> Nominated:
    """Pairs of two sets that share a fingerprint.

    Args:
        one: rows of the first set.
        other: rows of the second set.
        limit: fingerprints in more texts of either set than this are boilerplate.
        neighbours: whether boilerplate still nominates texts that stand beside each other when ordered by
            their smallest fingerprint, so that the many copies of one text are found.
        wanted: which of the pairs to keep; all without it.
    """
    is_turned = len(one.postings) > len(other.postings)
    if is_turned:
        one, other = other, one
    bits = np.uint64(max(one.bits, other.bits))
    parts = list(_shared(one.postings, other.postings, bits))
    starts, counts, low, matched = (
        np.concatenate([part[column] for part in parts]) if parts else np.zeros(0, np.int64)
        for column in range(4)
    )
    limit = _affordable(np.maximum(counts, matched), counts * matched, limit)
    common = (counts > limit) | (matched > limit)
    mine = _rows(one, _spread(starts[common], counts[common]))
    theirs = _rows(other, _spread(low[common], matched[common]))
    beside: U64 = np.zeros(0, np.uint64)
    if neighbours and common.any():
        groups = np.arange(int(common.sum()))
        beside = _beside(
            (np.repeat(groups, counts[common]), mine, _smallest(one)[mine] >> bits),
            (np.repeat(groups, matched[common]), theirs, _smallest(other)[theirs] >> bits),
        )
    suppressed = Suppressed(
        int(common.sum()), len(mine) + len(theirs), len(np.unique(mine)) + len(np.unique(theirs)), limit
    )
    begin, count, at, width = (column[~common] for column in (starts, counts, low, matched))
    del parts, starts, counts, low, matched, mine, theirs

    def made(part: slice) -> U64:
        pairs = _product(one, begin[part], count[part], other, at[part], width[part])
        return _turned(pairs) if is_turned else pairs

    pairs = _in_parts(count * width, made, _turned(beside) if is_turned else beside)
    return _counted(pairs, suppressed, wanted)


def within(one: Sketch, rows_used: Bool, limit: int, wanted: Wanted | None = None) -> Nominated:
    """Pairs of one set (first row before the second) that share a fingerprint; boilerplate among neighbours.

    Args:
        one: the set.
        rows_used: which rows take part, e.g. one of each group of exact duplicates.
        limit: see `across`.
        wanted: see `across`.
    """
    keys, rows = _repeated(one)
    starts, counts = runs(keys)
    groups = np.repeat(np.arange(len(starts)), counts)
    used = rows_used[rows]
    rows, groups = rows[used], groups[used]
    starts, counts = runs(groups)
    limit = _affordable(counts, counts * (counts - 1) // 2, limit)
    crowded = counts > limit
    places = _spread(starts[crowded], counts[crowded])
    neighbours: U64 = np.zeros(0, np.uint64)
    if len(places):
        order = np.lexsort((rows[places], _smallest(one)[rows[places]], groups[places]))
        chain, same = rows[places][order], groups[places][order]
        beside = same[1:] == same[:-1]
        neighbours = _packed(chain[:-1][beside], chain[1:][beside], ordered=True)
    suppressed = Suppressed(int(crowded.sum()), len(places), len(np.unique(rows[places])), limit)
    begin, count = starts[~crowded], counts[~crowded]

    def made(part: slice) -> U64:
        return _triangle(rows, begin[part], count[part])

    return _counted(_in_parts(count * (count - 1) // 2, made, neighbours), suppressed, wanted)


def share_fingerprint(one: Sketch, other: Sketch, rows: I64, other_rows: I64) -> Bool:
    """Which of some pairs of rows share a fingerprint, boilerplate or not."""
    if one.bits > other.bits:
        return share_fingerprint(other, one, other_rows, rows)
    found = np.zeros(len(rows), np.bool_)
    owners = _rows(one, np.arange(len(one.postings)))
    order = np.argsort(owners, kind="stable")
    bounds = np.searchsorted(owners[order], np.arange(len(one.counts) + 1))
    bits = np.uint64(other.bits)
    for start in range(0, len(rows), _PAIRS):
        mine = rows[start : start + _PAIRS]
        counts = bounds[mine + 1] - bounds[mine]
        pair = np.repeat(np.arange(len(mine)), counts)
        wanted = one.postings[order[_spread(bounds[mine], counts)]] >> bits << bits
        wanted |= other_rows[start : start + _PAIRS][pair].astype(np.uint64)
        arranged = np.argsort(wanted)
        places = np.searchsorted(other.postings, wanted[arranged])
        hit = arranged[(_at(other.postings, places) == wanted[arranged]) & (len(other.postings) > 0)]
        found[start + pair[hit]] = True
    return found


def by_left_out(one: Sketch, other: Sketch | None = None) -> list[I64]:
    """Groups of short texts that are equal, in any order of words, when one word of each is left out.

    Rows of `other` are counted on from the rows of `one`.
    """
    hashes, rows = one.left_out, one.left_out_rows.astype(np.int64)
    if other is not None:
        hashes = np.concatenate((hashes, other.left_out))
        rows = np.concatenate((rows, other.left_out_rows.astype(np.int64) + len(one.counts)))
    order = np.lexsort((rows, hashes))
    hashes, rows = hashes[order], rows[order]
    if not len(hashes):
        return []
    first = np.concatenate(([True], (hashes[1:] != hashes[:-1]) | (rows[1:] != rows[:-1])))
    hashes, rows = hashes[first], rows[first]
    starts, counts = runs(hashes)
    several = counts > 1
    return [
        rows[start : start + count]
        for start, count in zip(starts[several].tolist(), counts[several].tolist(), strict=True)
    ]


def _shared(one: U64, other: U64, bits: np.uint64) -> Iterator[tuple[I64, I64, I64, I64]]:
    """Fingerprints both have: start and number of their postings in each; little at a time."""
    rest = (np.uint64(1) << bits) - np.uint64(1)
    begin = 0
    while begin < len(one):
        last = one[min(begin + _SLICE, len(one)) - 1] | rest
        end = int(np.searchsorted(one, last, "right"))
        starts, counts = runs(one[begin:end] >> bits)
        keys = one[begin:end][starts] >> bits << bits
        low = np.searchsorted(other, keys, "left")
        inside = np.flatnonzero((low < len(other)) & (_at(other, low) >> bits == keys >> bits))
        keys, low = keys[inside], low[inside]
        yield starts[inside] + begin, counts[inside], low, np.searchsorted(other, keys | rest, "right") - low
        begin = end


def _affordable(sizes: I64, pairs: I64, limit: int) -> int:
    """The limit, or the largest lower one at which not more than _MOST pairs are nominated."""
    inside = sizes <= limit
    by_size = np.bincount(sizes[inside], weights=pairs[inside], minlength=limit + 1)
    return int(np.searchsorted(np.cumsum(by_size), _MOST, "right")) - 1


def _at(values: U64, places: I64) -> U64:
    """Values at places, the last one for places after the end."""
    return values[np.minimum(places, len(values) - 1)] if len(values) else np.zeros(len(places), np.uint64)


def _rows(sketch: Sketch, places: I64) -> I64:
    """Rows of some postings."""
    return (sketch.postings[places] & np.uint64((1 << sketch.bits) - 1)).astype(np.int64)


def per_row(sketch: Sketch) -> I64:
    """Number of fingerprints of each row."""
    found = np.zeros(len(sketch.counts), np.int64)
    for start in range(0, len(sketch.postings), _SLICE):
        places = np.arange(start, min(start + _SLICE, len(sketch.postings)))
        found += np.bincount(_rows(sketch, places), minlength=len(found))
    return found


def _repeated(sketch: Sketch) -> tuple[U64, I64]:
    """Fingerprint and row of the postings whose fingerprint more than one text has; little at a time."""
    bits, found = np.uint64(sketch.bits), []
    size = len(sketch.postings)
    for start in range(0, size, _SLICE):
        part = sketch.postings[max(start - 1, 0) : start + _SLICE + 1] >> bits
        same = part[1:] == part[:-1]
        several = np.concatenate(([False], same)) | np.concatenate((same, [False]))
        places = np.flatnonzero(several) + max(start - 1, 0)
        found.append(places[(places >= start) & (places < start + _SLICE)])
    places = np.concatenate(found) if found else np.zeros(0, np.int64)
    return sketch.postings[places] >> bits, _rows(sketch, places)


def _smallest(sketch: Sketch) -> U64:
    """Smallest fingerprint of each row: rows of near-equal texts mostly agree in it."""
    found = np.zeros(len(sketch.counts), np.uint64)
    for end in range(len(sketch.postings), 0, -_SLICE):
        places = np.arange(end - 1, max(end - _SLICE, 0) - 1, -1)
        found[_rows(sketch, places)] = sketch.postings[places]
    return found


def runs(values: U64 | I64) -> tuple[I64, I64]:
    """Start and length of each run of equal values."""
    if not len(values):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    return starts, np.diff(np.append(starts, len(values)))


def _spread(starts: I64, counts: I64) -> I64:
    """start, start + 1, … for each run."""
    total = int(counts.sum())
    result: I64 = np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(total)
    return result


def _packed(one: I64, other: I64, *, ordered: bool = False) -> U64:
    """Two rows in one number; with `ordered`, the smaller first."""
    first, second = (np.minimum(one, other), np.maximum(one, other)) if ordered else (one, other)
    result: U64 = (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)
    return result


def _turned(pairs: U64) -> U64:
    """The second row first."""
    result: U64 = (pairs << np.uint64(32)) | (pairs >> np.uint64(32))
    return result


def _product(one: Sketch, starts: I64, counts: I64, other: Sketch, low: I64, matched: I64) -> U64:
    """Every row of each run with every row of the run beside it."""
    sizes = counts * matched
    place = _spread(np.zeros(len(sizes), np.int64), sizes)
    width = np.repeat(matched, sizes)
    return _packed(
        _rows(one, np.repeat(starts, sizes) + place // width),
        _rows(other, np.repeat(low, sizes) + place % width),
    )


def _triangle(rows: I64, starts: I64, counts: I64) -> U64:
    """Every two rows of each run."""
    place = _spread(starts, counts)
    later = np.repeat(starts + counts, counts) - place - 1
    return _packed(rows[np.repeat(place, later)], rows[_spread(place + 1, later)], ordered=True)


def _beside(mine: tuple[I64, I64, U64], theirs: tuple[I64, I64, U64]) -> U64:
    """Rows of two sets that stand beside each other in a group ordered by smallest fingerprint."""
    groups = np.concatenate((mine[0], theirs[0]))
    rows = np.concatenate((mine[1], theirs[1]))
    smallest = np.concatenate((mine[2], theirs[2]))
    second = np.concatenate((np.zeros(len(mine[0]), np.int64), np.ones(len(theirs[0]), np.int64)))
    order = np.lexsort((rows, second, smallest, groups))
    groups, rows, second = groups[order], rows[order], second[order]
    found = []
    for which, sign in ((0, 1), (1, -1)):
        for forward in (True, False):
            found.append(_nearest(groups, rows, second, which, forward=forward)[::sign])
    pairs = np.concatenate([np.stack(pair) for pair in found], axis=1)
    return _packed(pairs[0], pairs[1])


def _nearest(groups: I64, rows: I64, second: I64, which: int, *, forward: bool) -> tuple[I64, I64]:
    """Each row of one set with the nearest row of the other set before or after it in its group."""
    if forward:
        groups, rows, second = groups[::-1], rows[::-1], second[::-1]
    place = np.where(second != which, np.arange(len(rows)), -1)
    last = np.maximum.accumulate(place)
    found = (second == which) & (last >= 0)
    found &= groups[np.maximum(last, 0)] == groups
    return rows[found], rows[last[found]]


def _in_parts(sizes: I64, made: Callable[[slice], U64], more: U64) -> U64:
    """The pairs of all groups, made of few groups at a time, and some more.

    Args:
        sizes: pairs of each group.
        made: the pairs of neighbouring groups.
        more: further pairs.
    """
    ends = np.concatenate(([0], np.cumsum(sizes)))
    found = np.empty(int(ends[-1]) + len(more), np.uint64)
    found[int(ends[-1]) :] = more
    cuts = np.searchsorted(ends, np.arange(0, int(ends[-1]), _PART))
    for first, last in pairwise([*cuts.tolist(), len(sizes)]):
        found[ends[first] : ends[last]] = made(slice(first, last))
    return found


def _counted(pairs: U64, suppressed: Suppressed, wanted: Wanted | None) -> Nominated:
    """Each pair once, if it is wanted."""
    pairs.sort()
    found: list[U64] = [np.zeros(0, np.uint64)]
    begin = 0
    while begin < len(pairs):
        end = int(np.searchsorted(pairs, pairs[min(begin + _PART, len(pairs)) - 1], "right"))
        starts, shared = runs(pairs[begin:end])
        distinct = pairs[begin:end][starts]
        found.append(distinct if wanted is None else distinct[wanted(*_unpacked(distinct), shared)])
        begin = end
    return Nominated(*_unpacked(np.concatenate(found)), suppressed)


def _unpacked(pairs: U64) -> tuple[I64, I64]:
    """The two rows of each pair."""
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
