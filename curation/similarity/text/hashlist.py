"""Another benchmark as hashes alone: every 13-gram of its texts and one digest a text, never a word.

A text copied from it is found without holding it: a run of SPAN tokens of ours whose hash is listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from curation.similarity.text.candidates import COMMON, Suppressed, runs
from curation.similarity.text.matches import Match, Matches
from curation.similarity.text.ngrams import HASH_VERSION, SPAN, gram_hashes, summaries
from curation.similarity.text.sketch import Texts
from curation.similarity.text.tokens import I32, I64, U64, Bool, Tokens, tokenise

_FILTER_BITS = 24


@dataclass(frozen=True, slots=True)
class HashList:
    """Hashes of a set of texts, as they are written to Parquet."""

    ids: pa.ChunkedArray
    """Text ids; `owners` are places in it."""
    halves: I32
    """Twice the words of each text."""
    digests: U64
    """One hash of all tokens of each text, 0 for a text without tokens."""
    grams: U64
    """Hashes of runs of SPAN tokens, sorted."""
    owners: I32
    """The text each is from."""
    version: int = HASH_VERSION
    """How the hashes were made; lists of another version cannot be compared."""


def hash_list(texts: Texts) -> HashList:
    """Hashes of all texts; each 13-gram of a text is listed once."""
    grams: list[U64] = []
    owners: list[I32] = []
    halves, digests, ids = [], [], []
    at = 0
    for names, batch in texts.read():
        counted, digest = np.zeros(len(batch), np.int32), np.zeros(len(batch), np.uint64)
        for tokens in tokenise(batch):
            made = summaries(tokens, 0, len(batch))
            counted += made.halves
            digest += made.digests
            hashes, rows, _ = gram_hashes(tokens)
            grams.append(hashes)
            owners.append(rows + np.int32(at))
        halves.append(counted)
        digests.append(digest)
        ids.append(names)
        at += len(batch)
    joined = np.concatenate(grams) if grams else np.zeros(0, np.uint64)
    rows = np.concatenate(owners) if owners else np.zeros(0, np.int32)
    order = np.lexsort((rows, joined))
    joined, rows = joined[order], rows[order]
    first = np.ones(len(joined), np.bool_)
    first[1:] = (joined[1:] != joined[:-1]) | (rows[1:] != rows[:-1])
    return HashList(
        pa.chunked_array(ids, pa.large_string()),
        np.concatenate(halves) if halves else np.zeros(0, np.int32),
        np.concatenate(digests) if digests else np.zeros(0, np.uint64),
        joined[first],
        rows[first],
    )


def match_hash_list(probe: Texts, hashes: HashList, limit: int = COMMON) -> Matches:
    """Texts of `probe` that share a run of SPAN words with a listed text, or all their tokens.

    Every shared run of SPAN tokens is found unless its 13-grams stand in more than `limit` listed texts.
    There is no text to read, so equal 64-bit hashes count as equal words. `Match.value` is the words of the
    longest run; `Match.is_exact` says that all tokens are equal in order, also in texts shorter than SPAN.
    """
    index = _Index.of(hashes, limit)
    found: dict[tuple[int, int], tuple[float, int, int, bool]] = {}
    at = 0
    for _, batch in probe.read():
        for tokens in tokenise(batch):
            for row, listed, value in index.runs(tokens):
                found[row + at, listed] = (*value, False)
        at += len(batch)
    for row, listed, count, size in index.equal(probe):
        found[row, listed] = (size / 2, 0, count, True)
    keys = sorted(found)
    names = probe.names([row for row, _ in keys])
    others = hashes.ids.take(pa.array([row for _, row in keys], pa.int64())).to_pylist()
    pairs = [
        Match(name, other, words, row, listed, token, tokens, is_exact)
        for (row, listed), name, other in zip(keys, names, others, strict=True)
        for words, token, tokens, is_exact in (found[row, listed],)
    ]
    pairs.sort(key=lambda pair: (pair.one, pair.other, pair.one_row, pair.other_row))
    without = int((probe.sketch.counts == 0).sum())
    listed = int((hashes.digests != 0).sum())
    return Matches(tuple(pairs), (len(probe) - without) * listed, len(keys), index.suppressed, without)


@dataclass(frozen=True, slots=True)
class _Index:
    """A hash list without its boilerplate, with a filter that answers most questions."""

    grams: U64
    owners: I32
    digests: U64
    seen: Bool
    suppressed: Suppressed

    @classmethod
    def of(cls, hashes: HashList, limit: int) -> _Index:
        grams, owners = hashes.grams, hashes.owners
        _, counts = runs(grams)
        common = np.repeat(counts > limit, counts)
        suppressed = Suppressed(
            int((counts > limit).sum()), int(common.sum()), len(np.unique(owners[common])), limit
        )
        seen = np.zeros(1 << _FILTER_BITS, np.bool_)
        seen[grams >> np.uint64(64 - _FILTER_BITS)] = True
        return cls(grams[~common], owners[~common], hashes.digests, seen, suppressed)

    def runs(self, tokens: Tokens) -> Iterator[tuple[int, int, tuple[float, int, int]]]:
        """Row, listed text, and of the longest run both have: words, first token in the row, tokens."""
        hashes, rows, places = gram_hashes(tokens)
        likely = self.seen[hashes >> np.uint64(64 - _FILTER_BITS)]
        hashes, rows, places = hashes[likely], rows[likely], places[likely]
        low = np.searchsorted(self.grams, hashes, "left")
        counts = np.searchsorted(self.grams, hashes, "right") - low
        total = int(counts.sum())
        if not total:
            return
        hit = np.repeat(np.arange(len(hashes)), counts)
        listed = self.owners[np.repeat(low - (np.cumsum(counts) - counts), counts) + np.arange(total)]
        order = np.lexsort((places[hit], listed, rows[hit]))
        listed, row, place = listed[order], rows[hit][order], places[hit][order]
        follows = (listed[1:] == listed[:-1]) & (row[1:] == row[:-1]) & (np.diff(place) == 1)
        starts = np.flatnonzero(np.concatenate(([True], ~follows)))
        lengths = np.diff(np.append(starts, total)) + SPAN - 1
        yield from self._longest(tokens, row[starts], listed[starts], place[starts], lengths)

    def _longest(
        self, tokens: Tokens, rows: I32, listed: I32, places: I64, lengths: I64
    ) -> Iterator[tuple[int, int, tuple[float, int, int]]]:
        halves = np.concatenate(([0], np.cumsum(2 - tokens.solo.astype(np.int64))))
        words = (halves[places + lengths] - halves[places]) / 2
        begin = places - np.searchsorted(tokens.owners, rows, "left")
        kept = words >= SPAN
        best: dict[tuple[int, int], tuple[float, int, int]] = {}
        columns = (rows[kept], listed[kept], words[kept], begin[kept], lengths[kept])
        for row, other, value, start, length in zip(*(column.tolist() for column in columns), strict=True):
            if (row, other) not in best or value > best[row, other][0]:
                best[row, other] = (value, start, length)
        for (row, other), found in best.items():
            yield row, other, found

    def equal(self, probe: Texts) -> Iterator[tuple[int, int, int, int]]:
        """Row, listed text, tokens and twice the words of texts whose tokens are all equal."""
        order = np.argsort(self.digests, kind="stable")
        ordered, mine = self.digests[order], probe.sketch.digests
        low, high = np.searchsorted(ordered, mine, "left"), np.searchsorted(ordered, mine, "right")
        for row in np.flatnonzero((high > low) & (mine != 0)).tolist():
            for listed in order[low[row] : high[row]].tolist():
                yield row, listed, int(probe.sketch.counts[row]), int(probe.sketch.halves[row])
