"""Comparing texts: exact duplicates, near-duplicates, copied spans, within one set or between two.

Hashes nominate pairs; every pair reported was read: its tokens were compared one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from rapidfuzz.distance import LCSseq

from curation.similarity.text import short
from curation.similarity.text.candidates import (
    COMMON,
    CROWDED,
    Nominated,
    Suppressed,
    across,
    per_row,
    share_fingerprint,
    within,
)
from curation.similarity.text.hashlist import HashList, hash_list, match_hash_list
from curation.similarity.text.locate import Located, char_span, locate
from curation.similarity.text.matches import Match, Matches
from curation.similarity.text.ngrams import SPAN, gram_hashes, shared_runs
from curation.similarity.text.sketch import Texts
from curation.similarity.text.tokens import I64, U64, Bool, tokenise

NEAR = 0.8
"""Near-duplicates: this share of the tokens of both texts stands in both in the same order."""
SHARED_PRINTS = 0.08
"""Nominated pairs share at least this part of the fingerprints of the text that has fewer."""
LONGEST = 50_000
"""Tokens of a text that are compared for near-duplicates."""
_BLOCK = 20_000
"""Pairs whose texts are held at once: some kilobytes each."""


def exact_groups(texts: Texts) -> list[list[str]]:
    """Ids of texts with the same tokens in the same order, two or more a group; empty texts apart."""
    return sorted(sorted(texts.names(rows)) for rows in exact_rows(texts))


def exact_rows(texts: Texts) -> list[I64]:
    """The same as row numbers."""
    digests = texts.sketch.digests
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    if not len(ordered):
        return []
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts = np.diff(np.append(starts, len(ordered)))
    several = (counts > 1) & (ordered[starts] != 0)
    groups = zip(starts[several].tolist(), counts[several].tolist(), strict=True)
    return [np.sort(order[start : start + count]) for start, count in groups]


def exact_pairs(one: Texts, other: Texts) -> Matches:
    """Texts of one set whose tokens a text of the other set has in the same order; value is 1."""
    mine, theirs = one.sketch.digests, other.sketch.digests
    order = np.argsort(theirs, kind="stable")
    ordered = theirs[order]
    low, high = np.searchsorted(ordered, mine, "left"), np.searchsorted(ordered, mine, "right")
    counts = np.where(mine != 0, high - low, 0)
    rows = np.repeat(np.arange(len(mine)), counts)
    places = np.repeat(low - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
    found = [(int(a), int(b), 1.0) for a, b in zip(rows.tolist(), order[places].tolist(), strict=True)]
    return _matches(one, other, found, len(found), Suppressed())


def near_pairs(one: Texts, other: Texts | None = None, threshold: float = NEAR) -> Matches:
    """Pairs of texts that are nearly the same.

    Two texts, one of SPAN words or more, are near-duplicates when twice their longest common subsequence of
    tokens is at least `threshold` of the tokens of both; two shorter ones when they have the same words in
    any order, or all but one and that one differs by one letter (see `short`). Candidates share fingerprints.

    Args:
        one: the texts.
        other: texts of another set; with it, exact duplicates are pairs too, with value 1. Without it, pairs
            are sought in `one`, and only the first of each group of exact duplicates takes part.
        threshold: similarity from which on a pair is reported.
    """
    key = f"near {threshold}"
    if other is None and key in one.memo:
        return one.memo[key]  # type: ignore[no-any-return]
    second = one if other is None else other
    plausible = partial(_plausible, one, second, threshold)
    if other is None:
        used = _firsts(one)
        chosen = within(one.sketch, used, CROWDED, plausible)
        quick = short.pairs(one, used=used)
    else:
        chosen = across(one.sketch, other.sketch, CROWDED, neighbours=True, wanted=plausible)
        quick = short.pairs(one, other)
    found = {(a, b): value for a, b, value in quick}
    for a, b, value in _similar(one, second, chosen, threshold):
        found.setdefault((a, b), value)
    if other is not None:
        found.update(((pair.one_row, pair.other_row), 1.0) for pair in exact_pairs(one, other).pairs)
    rows = [(a, b, value) for (a, b), value in found.items()]
    verified = len(chosen.one) + len(quick)
    result = _matches(one, second, rows, verified, chosen.suppressed, same=other is None)
    if other is None:
        one.memo[key] = result
    return result


def copied_spans(probe: Texts, texts: Texts, limit: int = COMMON) -> Matches:
    """Pairs of a text of `probe` and one of `texts` that share a run of SPAN words; value is its words.

    Every such run is found unless all its fingerprints are boilerplate, in more than `limit` texts of one
    set. A character of a script without spaces counts as half a word.
    """
    nominated = across(probe.sketch, texts.sketch, limit, neighbours=False)
    found = list(_copied(probe, texts, nominated))
    return _matches(probe, texts, found, len(nominated.one), nominated.suppressed)


def copied_in(one: Texts, other: Texts, rows: I64, other_rows: I64) -> list[tuple[int, int, float]]:
    """Of some pairs of rows, those that share a run of SPAN words, with its words; boilerplate too."""
    mask = share_fingerprint(one.sketch, other.sketch, rows, other_rows)
    return list(_copied(one, other, Nominated(rows[mask], other_rows[mask], Suppressed())))


def standing_in(one: Texts, other: Texts, rows: I64, other_rows: I64) -> list[tuple[int, int]]:
    """Of some pairs of rows, those where all tokens of the first stand together in the second."""
    found = []
    for block, first, second in _blocks(one, other, Nominated(rows, other_rows, Suppressed())):
        for a, b in block:
            part, whole = first[a].hashes.tobytes(), second[b].hashes.tobytes()
            at = whole.find(part) if part else -1
            while at >= 0 and at % 8:
                at = whole.find(part, at + 1)
            if at >= 0:
                found.append((a, b))
    return found


def _firsts(texts: Texts) -> Bool:
    """Which rows stand for themselves: all but the later ones of exact duplicates."""
    used = np.ones(len(texts), np.bool_)
    for rows in exact_rows(texts):
        used[rows[1:]] = False
    return used


def _plausible(one: Texts, other: Texts, threshold: float, rows: I64, other_rows: I64, shared: I64) -> Bool:
    """Pairs whose lengths and shared fingerprints allow the similarity asked for."""
    first, second = one.sketch.counts[rows], other.sketch.counts[other_rows]
    alike = 2 * np.minimum(first, second).astype(np.int64) >= threshold * (first.astype(np.int64) + second)
    fewer = np.minimum(_prints(one)[rows], _prints(other)[other_rows])
    long = np.maximum(one.sketch.halves[rows], other.sketch.halves[other_rows]) >= 2 * SPAN
    result: Bool = alike & long & (shared >= SHARED_PRINTS * fewer)
    return result


def _prints(texts: Texts) -> I64:
    """Fingerprints of each text."""
    if "prints" not in texts.memo:
        texts.memo["prints"] = per_row(texts.sketch)
    found: I64 = texts.memo["prints"]
    return found


def _similar(
    one: Texts, other: Texts, pairs: Nominated, threshold: float
) -> Iterator[tuple[int, int, float]]:
    for block, first, second in _blocks(one, other, pairs):
        for a, b in block:
            mine, theirs = first[a].hashes[:LONGEST].tolist(), second[b].hashes[:LONGEST].tolist()
            total = len(mine) + len(theirs)
            common = LCSseq.similarity(mine, theirs, score_cutoff=int(threshold * total / 2))
            if total and 2 * common >= threshold * total:
                yield a, b, round(2 * common / total, 4)


def _copied(one: Texts, other: Texts, pairs: Nominated) -> Iterator[tuple[int, int, float]]:
    for block, first, second in _blocks(one, other, pairs):
        for a, b in block:
            words = longest_words(first[a].grams, second[b].grams, first[a].solo)
            if words >= SPAN:
                yield a, b, words


def longest_words(one: U64, two: U64, solo: Bool) -> float:
    """Words of the longest run two texts share, from their grams; `solo` marks half words of the first."""
    runs = shared_runs(one, two, SPAN)
    if not runs or not solo.any():
        return float(runs[0][2]) if runs else 0.0
    halves = np.concatenate(([0], np.cumsum(2 - solo.astype(np.int64))))
    return max(float(halves[start + length] - halves[start]) / 2 for start, _, length in runs)


def _blocks(
    one: Texts, other: Texts, pairs: Nominated
) -> Iterator[tuple[list[tuple[int, int]], dict[int, Read], dict[int, Read]]]:
    """Pairs with the tokens of their texts, a bounded number at a time."""
    for start in range(0, len(pairs.one), _BLOCK):
        mine, theirs = pairs.one[start : start + _BLOCK], pairs.other[start : start + _BLOCK]
        if one is other:
            held = tokens_of(one, np.concatenate((mine, theirs)))
            first = second = held
        else:
            first, second = tokens_of(one, mine), tokens_of(other, theirs)
        yield list(zip(mine.tolist(), theirs.tolist(), strict=True)), first, second


@dataclass(frozen=True, slots=True)
class Read:
    """One text read: hashes of its tokens, of its runs of SPAN tokens, and which tokens are half words."""

    hashes: U64
    grams: U64
    solo: Bool


def tokens_of(texts: Texts, rows: I64) -> dict[int, Read]:
    """Some rows' texts, read."""
    held = texts.take(rows)
    numbers = sorted(held)
    found = dict.fromkeys(numbers, _NOTHING)
    for tokens in tokenise([held[row] for row in numbers]):
        grams, owners, _ = gram_hashes(tokens)
        distinct, starts, counts = np.unique(tokens.owners, return_index=True, return_counts=True)
        low, high = np.searchsorted(owners, distinct, "left"), np.searchsorted(owners, distinct, "right")
        ends = starts + counts
        for at, owner in enumerate(distinct.tolist()):
            part = slice(int(starts[at]), int(ends[at]))
            found[numbers[owner]] = Read(tokens.hashes[part], grams[low[at] : high[at]], tokens.solo[part])
    return found


_NOTHING = Read(np.zeros(0, np.uint64), np.zeros(0, np.uint64), np.zeros(0, np.bool_))


def _matches(
    one: Texts,
    other: Texts,
    found: list[tuple[int, int, float]],
    verified: int,
    suppressed: Suppressed,
    *,
    same: bool = False,
) -> Matches:
    mine, theirs = one.names([a for a, _, _ in found]), other.names([b for _, b, _ in found])
    pairs = []
    for (a, b, value), name, other_name in zip(found, mine, theirs, strict=True):
        if same and other_name < name:
            a, b, name, other_name = b, a, other_name, name
        pairs.append(Match(name, other_name, value, a, b))
    pairs.sort(key=lambda pair: (pair.one, pair.other, pair.one_row, pair.other_row))
    first, second = int((one.sketch.counts > 0).sum()), int((other.sketch.counts > 0).sum())
    compared = first * (first - 1) // 2 if same else first * second
    empty = len(one) - first + (0 if same else len(other) - second)
    return Matches(tuple(pairs), compared, verified, suppressed, empty)


__all__ = [
    "NEAR",
    "SPAN",
    "HashList",
    "Located",
    "Match",
    "Matches",
    "Suppressed",
    "Texts",
    "char_span",
    "copied_spans",
    "exact_groups",
    "exact_pairs",
    "hash_list",
    "locate",
    "match_hash_list",
    "near_pairs",
]
