"""Short texts that stand whole inside longer ones: a question of ten words inside a vignette.

They have no run of SPAN words. But the hash of all their tokens is also that of a run of as many tokens, so
every run of such a length in the longer texts is hashed and looked up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from curation.similarity.text.candidates import runs
from curation.similarity.text.ngrams import SPAN, run_digests
from curation.similarity.text.sketch import Texts, read_groups
from curation.similarity.text.tokens import I32, I64, U64, Bool, Tokens, tokenise

LEAST = 6
"""Words of the shortest text sought: shorter ones are often a common phrase (benchmarks/short_texts.py)."""
STOCK = 3
"""A short text that stands in more texts than this is a stock phrase, and counted instead of reported."""
_FILTER_BITS = (16, 24)


@dataclass(frozen=True, slots=True)
class Wholes:
    """Pairs of rows: a short text and a longer one it stands in."""

    pairs: list[tuple[int, int]]
    sought: int
    """Short texts that were looked for."""
    too_short: int
    """Texts of fewer than LEAST words, which were not."""
    stock: int
    """Stock phrases among those sought."""
    stock_places: int
    """Longer texts they stand in, counted once for each."""


@dataclass(frozen=True, slots=True)
class _Sought:
    """Digests of the short texts, sorted, each once, with twice the words of each, and a filter."""

    digests: U64
    halves: I32
    seen: Bool
    bits: int

    @classmethod
    def of(cls, digests: U64, halves: I32) -> _Sought:
        ordered, first = np.unique(digests, return_index=True)
        bits = min(max(_FILTER_BITS[0], (16 * len(ordered)).bit_length()), _FILTER_BITS[1])
        seen = np.zeros(1 << bits, np.bool_)
        seen[ordered >> np.uint64(64 - bits)] = True
        return cls(ordered, halves[first], seen, bits)

    def lengths(self, *, with_solo: bool) -> list[int]:
        """How many tokens a short text may have; a character of a script without spaces is half a word."""
        words = {half // 2 for half in self.halves.tolist() if half % 2 == 0}
        if with_solo:
            words |= set(range((int(self.halves.min()) + 1) // 2, int(self.halves.max()) + 1))
        return sorted(words)

    def places(self, tokens: Tokens) -> Iterator[tuple[I32, I64]]:
        """Rows, and the digest (by number) that a part of each has but not the whole of it."""
        halves = np.concatenate(([0], np.cumsum(2 - tokens.solo.astype(np.int64))))
        sizes = np.bincount(tokens.owners) if len(tokens.owners) else np.zeros(0, np.int64)
        lengths = self.lengths(with_solo=bool(tokens.solo.any()))
        for length, digests in run_digests(tokens, lengths):
            likely = np.flatnonzero(self.seen[digests >> np.uint64(64 - self.bits)])
            found = np.minimum(np.searchsorted(self.digests, digests[likely]), len(self.digests) - 1)
            rows = tokens.owners[likely]
            kept = (
                (self.digests[found] == digests[likely])
                & (rows == tokens.owners[likely + length - 1])
                & (halves[likely + length] - halves[likely] == self.halves[found])
                & (sizes[rows] > length)
            )
            yield rows[kept], found[kept]


def whole_texts(
    digests: U64, halves: I32, long: Texts, wanted: Bool | None = None, stock: int = STOCK
) -> Wholes:
    """Which short texts stand whole in which longer ones, by their hashes.

    Args:
        digests: hash over all tokens of each short text (`Sketch.digests`, or those of a hash list).
        halves: twice the words of each; the others of LEAST to SPAN - 1 words are left out.
        long: the texts they may stand in.
        wanted: which of the short texts to look for, all when not given.
        stock: see STOCK.

    Returns:
        Pairs of (place in `digests`, row of `long`) in order.
    """
    chosen = np.ones(len(digests), np.bool_) if wanted is None else wanted
    too_short = int((chosen & (halves > 0) & (halves < 2 * LEAST)).sum())
    rows = np.flatnonzero(chosen & (halves >= 2 * LEAST) & (halves < 2 * SPAN))
    if not len(rows) or not len(long):
        return Wholes([], len(rows), too_short, 0, 0)
    sought = _Sought.of(digests[rows], halves[rows])
    held, numbers = _scanned(long, sought)
    order = np.lexsort((held, numbers))
    held, numbers = held[order], numbers[order]
    fresh = np.ones(len(held), np.bool_)
    fresh[1:] = (held[1:] != held[:-1]) | (numbers[1:] != numbers[:-1])
    held, numbers = held[fresh], numbers[fresh]
    _, counts = runs(numbers)
    is_stock = counts > stock
    kept = ~np.repeat(is_stock, counts)
    by_digest: dict[int, list[int]] = {}
    for row, number in zip(
        rows.tolist(), np.searchsorted(sought.digests, digests[rows]).tolist(), strict=True
    ):
        by_digest.setdefault(number, []).append(row)
    pairs = sorted(
        (row, other)
        for number, other in zip(numbers[kept].tolist(), held[kept].tolist(), strict=True)
        for row in by_digest[number]
    )
    return Wholes(pairs, len(rows), too_short, int(is_stock.sum()), int(counts[is_stock].sum()))


def _scanned(long: Texts, sought: _Sought) -> tuple[I64, I64]:
    """Rows of the longer texts and numbers of the digests found in them."""
    rows, numbers = _nothing(), _nothing()
    at = 0
    if long.batches is None:
        tasks = [(path, groups, long.columns, sought) for path, groups in long.parts()]
        parts = long.pool.map(_scan_part, tasks) if long.pool and tasks[1:] else map(_scan_part, tasks)
    else:
        parts = (_scan(texts, sought) for _, texts in long.read())
    for count, found, digests in parts:
        rows.append(found + at)
        numbers.append(digests)
        at += count
    return np.concatenate(rows), np.concatenate(numbers)


def _scan_part(task: tuple[str, tuple[int, ...], tuple[str, str], _Sought]) -> tuple[int, I64, I64]:
    """Scan some row groups of one file."""
    path, groups, columns, sought = task
    count, rows, numbers = 0, _nothing(), _nothing()
    for _, texts in read_groups(path, groups, columns):
        size, found, digests = _scan(texts, sought)
        rows.append(found + count)
        numbers.append(digests)
        count += size
    return count, np.concatenate(rows), np.concatenate(numbers)


def _scan(texts: pa.Array, sought: _Sought) -> tuple[int, I64, I64]:
    rows, numbers = _nothing(), _nothing()
    for tokens in tokenise(texts):
        for found, digests in sought.places(tokens):
            rows.append(found.astype(np.int64))
            numbers.append(digests)
    return len(texts), np.concatenate(rows), np.concatenate(numbers)


def _nothing() -> list[I64]:
    return [np.zeros(0, np.int64)]
