"""Hashed runs of tokens: every 13-gram, winnowed 8-gram fingerprints, one digest per text.

Winnowing (Schleimer, Wilkerson, Aiken 2003): of every WINDOW consecutive 8-grams the smallest is kept, so two
texts that share a run of SPAN tokens always share a fingerprint, and about 2 of 7 hashes are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from curation.similarity.text.tokens import I32, I64, U64, Tokens, mix, powers, rolling

SPAN = 13
"""Tokens of a copied span: after the 13-gram test used for language-model contamination (GPT-3, app. C)."""
GRAM = 8
WINDOW = SPAN - GRAM + 1
HASH_VERSION = 1
"""Changes when equal texts would no longer give equal hashes: published hash lists carry it."""
_TOKEN = 0xD6E8FEB86659FD93
_NEVER = np.uint64(0xFFFFFFFFFFFFFFFF)


def gram_hashes(tokens: Tokens, length: int = SPAN) -> tuple[U64, I32, I64]:
    """Each run of `length` tokens inside one text: its hash, its text's row, its place among the tokens."""
    count = len(tokens.hashes) - length + 1
    if count <= 0:
        return np.zeros(0, np.uint64), np.zeros(0, np.int32), np.zeros(0, np.int64)
    starts = np.flatnonzero(tokens.owners[:count] == tokens.owners[length - 1 :])
    hashes = mix(rolling(tokens.hashes, starts, starts + length, _TOKEN))
    return hashes, tokens.owners[starts], starts


def fingerprints(tokens: Tokens) -> tuple[U64, I32]:
    """Winnowed fingerprints of the texts of SPAN tokens or more, and the row of the text each is in."""
    count = len(tokens.hashes) - GRAM + 1
    if count < WINDOW:
        return np.zeros(0, np.uint64), np.zeros(0, np.int32)
    places = np.arange(count)
    grams = mix(rolling(tokens.hashes, places, places + GRAM, _TOKEN))
    np.minimum(grams, _NEVER - np.uint64(1), out=grams)
    windows = count - WINDOW + 1
    whole = tokens.owners[:windows] == tokens.owners[SPAN - 1 :]
    smallest = np.where(whole, _sliding(grams, np.minimum), np.uint64(0))
    edge = np.zeros(WINDOW - 1, np.uint64)
    reach = _sliding(np.concatenate((edge, smallest, edge)), np.maximum)
    kept = np.flatnonzero(reach == grams)
    return grams[kept], tokens.owners[kept]


def _sliding(values: U64, best: np.ufunc) -> U64:
    """Smallest or largest of every WINDOW (6) consecutive values."""
    two = best(values[:-1], values[1:])
    four = best(two[:-2], two[2:])
    six: U64 = best(four[:-2], two[4:])
    return six


@dataclass(frozen=True, slots=True)
class Summaries:
    """What each text of some rows comes to; arrays run over the rows."""

    counts: I32
    """Tokens."""
    halves: I32
    """Twice the words: a character of a script without spaces counts one, any other token two."""
    digests: U64
    """One hash over the tokens in order; 0 for a text without tokens."""


def summaries(tokens: Tokens, first: int, rows: int) -> Summaries:
    """Summaries of `rows` texts from row `first` on; rows that have no token here get zeros."""
    owners = tokens.owners - first
    counts = np.bincount(owners, minlength=rows).astype(np.int32)
    alone = np.bincount(owners[tokens.solo], minlength=rows).astype(np.int32)
    digests = np.zeros(rows, np.uint64)
    if len(owners):
        starts = np.flatnonzero(np.concatenate(([True], owners[1:] != owners[:-1])))
        ends = np.append(starts[1:], len(owners))
        runs = rolling(tokens.hashes, starts, ends, _TOKEN)
        length = (ends - starts).astype(np.uint64)
        digests[owners[starts]] = np.maximum(mix(runs + length * np.uint64(_TOKEN)), np.uint64(1))
    return Summaries(counts, counts * 2 - alone, digests)


def run_digests(tokens: Tokens, lengths: Sequence[int]) -> Iterator[tuple[int, U64]]:
    """For each length, the digest of every run of as many tokens: that of a text with just these tokens.

    Runs reach over the ends of texts: who asks must see that both ends are of one text.
    """
    count = len(tokens.hashes)
    power, inverse = powers(_TOKEN, 1 << max(18, (count + 1).bit_length()))
    prefix = np.zeros(count + 1, np.uint64)
    np.cumsum(tokens.hashes * power[:count], out=prefix[1:])
    for length in lengths:
        if 0 < length <= count:
            sums = (prefix[length:] - prefix[:-length]) * inverse[: count - length + 1]
            sums += np.uint64(length * _TOKEN & 0xFFFFFFFFFFFFFFFF)
            yield length, np.maximum(mix(sums), np.uint64(1))


def left_out(tokens: Tokens, halves: I32, first: int) -> tuple[U64, I32]:
    """For each token of a text of less than SPAN words: hash of the other tokens, in any order; the row."""
    short = halves[tokens.owners - first] < 2 * SPAN
    owners = tokens.owners[short]
    if not len(owners):
        return np.zeros(0, np.uint64), owners
    salted = mix(tokens.hashes[short])
    starts = np.flatnonzero(np.concatenate(([True], owners[1:] != owners[:-1])))
    counts = np.diff(np.append(starts, len(owners)))
    total = np.repeat(np.add.reduceat(salted, starts), counts)
    return mix(total - salted + np.repeat(counts.astype(np.uint64), counts)), owners


def shared_runs(one: U64, two: U64, length: int) -> list[tuple[int, int, int]]:
    """Maximal runs of equal gram hashes: (place in one, place in two, tokens), longest first, then by place.

    Args:
        one: hashes of the consecutive grams of `length` tokens of one text.
        two: the same of the other.
        length: tokens of a gram.
    """
    order = np.argsort(two, kind="stable")
    ordered = two[order]
    low, high = np.searchsorted(ordered, one, "left"), np.searchsorted(ordered, one, "right")
    counts = high - low
    total = int(counts.sum())
    if not total:
        return []
    first = np.repeat(np.arange(len(one)), counts)
    second = order[np.repeat(low - (np.cumsum(counts) - counts), counts) + np.arange(total)]
    arranged = np.lexsort((first, first - second))
    first, second = first[arranged], second[arranged]
    follows = (np.diff(first) == 1) & (np.diff(second) == 1)
    starts = np.flatnonzero(np.concatenate(([True], ~follows)))
    sizes = np.diff(np.append(starts, total)) + length - 1
    runs = zip(first[starts].tolist(), second[starts].tolist(), sizes.tolist(), strict=True)
    return sorted(runs, key=lambda run: (-run[2], run[0], run[1]))
