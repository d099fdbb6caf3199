"""Token n-grams of many texts at once, as numpy arrays of 64-bit hashes.

Tokens are those of `schemas.hashing.normalise_text`: case, width and punctuation folded. Hashes nominate;
whatever is quoted in a report is located again in the texts themselves.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

SPAN = 13
"""Tokens of a copied span: after the 13-gram test used for language-model contamination (GPT-3, app. C)."""

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
_BATCH = 2_000
_LONGEST = 256
_FILTER_BITS = 24


@functools.cache
def _is_word() -> npt.NDArray[np.bool_]:
    """Code point -> whether it is part of a word: a letter or digit, as in `normalise_text`."""
    return np.fromiter((chr(code).isalnum() for code in range(0x110000)), np.bool_, 0x110000)


def _powers(base: int, count: int) -> U64:
    return np.array([pow(base, n, 1 << 64) for n in range(count)], np.uint64)


_CHARACTER = _powers(0x9E3779B97F4A7C15, _LONGEST)
_TOKEN = _powers(0xD6E8FEB86659FD93, SPAN)


def _mix(values: U64) -> U64:
    """Finaliser of SplitMix64: neighbouring values become unrelated."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def fold(text: str) -> str:
    """The character folding of `normalise_text`, without its word split."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def token_hashes(texts: Sequence[str]) -> tuple[U64, I64]:
    """Hash of each token, and the number of the text each token is in."""
    folded = [fold(text) for text in texts]
    joined = "\n".join(folded) + "\n"
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    word = _is_word()[codes]
    before = np.concatenate(([False], word[:-1]))
    starts = np.flatnonzero(word & ~before)
    if not len(starts):
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    places = np.flatnonzero(word)
    first = np.searchsorted(places, starts)
    lengths = np.diff(np.append(first, len(places)))
    within = np.minimum(np.arange(len(places)) - np.repeat(first, lengths), _LONGEST - 1)
    values = (codes[places].astype(np.uint64) + np.uint64(1)) * _CHARACTER[within]
    hashes = _mix(np.add.reduceat(values, first))
    ends = np.cumsum(np.fromiter((len(text) + 1 for text in folded), np.int64, len(folded)))
    return hashes, np.searchsorted(ends, starts, side="right").astype(np.int64)


def gram_hashes(tokens: U64, texts: I64) -> tuple[U64, I64]:
    """Hash of each run of SPAN tokens inside one text, and the number of that text."""
    count = len(tokens) - SPAN + 1
    if count <= 0:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    grams = np.zeros(count, np.uint64)
    for offset in range(SPAN):
        grams += tokens[offset : offset + count] * _TOKEN[offset]
    inside = texts[:count] == texts[SPAN - 1 :]
    return grams[inside], texts[:count][inside]


@dataclass
class GramIndex:
    """Every gram of a set of texts, sorted, with the text it is in."""

    grams: U64
    owners: I64
    _seen: npt.NDArray[np.bool_] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        order = np.lexsort((self.owners, self.grams))
        self.grams, self.owners = self.grams[order], self.owners[order]
        self._seen = np.zeros(1 << _FILTER_BITS, np.bool_)
        self._seen[self.grams >> np.uint64(64 - _FILTER_BITS)] = True

    def pairs(self, grams: U64, texts: I64) -> I64:
        """Distinct (owner, text) pairs that share a gram, as an array of shape (pairs, 2)."""
        likely = self._seen[grams >> np.uint64(64 - _FILTER_BITS)]
        grams, texts = grams[likely], texts[likely]
        low, high = np.searchsorted(self.grams, grams, "left"), np.searchsorted(self.grams, grams, "right")
        counts = high - low
        if not counts.sum():
            return np.zeros((0, 2), np.int64)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        owners = self.owners[np.repeat(low, counts) + offsets]
        pairs: I64 = np.unique(np.stack((owners, np.repeat(texts, counts)), axis=1), axis=0)
        return pairs


@dataclass
class TextProfile:
    """Ids, token counts and hashes of one table's texts, in id order."""

    ids: list[str]
    tokens: I64
    digests: U64
    grams: GramIndex
    shared: I64
    """(text of the probe, text of this table) pairs that share a span."""


def profile(batches: Iterable[pa.RecordBatch], probe: GramIndex | None = None) -> TextProfile:
    """Read (id, text) batches once; with `probe`, keep the pairs that share a span and not the grams."""
    ids: list[str] = []
    counts: list[I64] = []
    digests: list[U64] = []
    grams: list[tuple[U64, I64]] = []
    shared: list[I64] = []
    for names, texts in _slices(batches):
        tokens, owner = token_hashes(texts)
        counts.append(np.bincount(owner, minlength=len(texts)).astype(np.int64))
        digests.append(_digests(tokens, owner, len(texts)))
        found, inside = gram_hashes(tokens, owner)
        if probe is None:
            grams.append((found, inside + len(ids)))
        else:
            shared.append(probe.pairs(found, inside) + np.array([0, len(ids)]))
        ids.extend(names)
    empty = np.zeros(0, np.int64)
    return TextProfile(
        ids,
        np.concatenate(counts) if counts else empty,
        np.concatenate(digests) if digests else empty.astype(np.uint64),
        GramIndex(
            np.concatenate([part for part, _ in grams]) if grams else empty.astype(np.uint64),
            np.concatenate([part for _, part in grams]) if grams else empty,
        ),
        np.concatenate(shared) if shared else np.zeros((0, 2), np.int64),
    )


def _slices(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[list[str], list[str]]]:
    for batch in batches:
        for start in range(0, batch.num_rows, _BATCH):
            part = batch.slice(start, _BATCH)
            yield part.column(0).to_pylist(), [text or "" for text in part.column(1).to_pylist()]


def _digests(tokens: U64, owner: I64, count: int) -> U64:
    """One hash per text over its tokens in order; texts without tokens get 0."""
    digests = np.zeros(count, np.uint64)
    if len(tokens):
        first = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
        place = np.arange(len(tokens)) - np.repeat(first, np.diff(np.append(first, len(tokens))))
        salted = _mix(tokens + place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        digests[owner[first]] = np.add.reduceat(salted, first)
    return digests


def tokens_with_offsets(text: str) -> list[tuple[str, int, int]]:
    """Normalised tokens and where each stands in the text as written."""
    tokens: list[tuple[str, int, int]] = []
    current, start, end = "", 0, 0
    for begin, stop in _clusters(text):
        for character in fold(text[begin:stop]):
            if character.isalnum():
                start = begin if not current else start
                current, end = current + character, stop
            elif current:
                tokens.append((current, start, end))
                current = ""
    if current:
        tokens.append((current, start, end))
    return tokens


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Characters with the combining marks that follow them: folding never reaches across."""
    begin = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or not unicodedata.combining(text[place]):
            yield begin, place
            begin = place


def longest_shared(first: str, second: str) -> tuple[tuple[int, int], tuple[int, int], int] | None:
    """The first longest run of equal tokens: its span in each text and its length in tokens."""
    one, two = tokens_with_offsets(first), tokens_with_offsets(second)
    places: dict[str, list[int]] = {}
    for place, (token, _, _) in enumerate(two):
        places.setdefault(token, []).append(place)
    best, best_one, best_two = 0, 0, 0
    previous: dict[int, int] = {}
    for place, (token, _, _) in enumerate(one):
        runs = {other: previous.get(other - 1, 0) + 1 for other in places.get(token, ())}
        for other, length in runs.items():
            if length > best:
                best, best_one, best_two = length, place, other
        previous = runs
    if not best:
        return None
    span_one = (one[best_one - best + 1][1], one[best_one][2])
    return span_one, (two[best_two - best + 1][1], two[best_two][2]), best
