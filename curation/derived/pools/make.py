"""Writes candidate pools and hard negatives of a release from the rankings of its baseline systems.

A pool is what any system found near the top, and every positive. Unjudged candidates are never called wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.derived.pools.checksums import Digests, corpus_digests, pool_checksum, read_documents
from curation.derived.pools.margin import PairScorer, likely_positives
from curation.derived.pools.pairs import Pairs, collect
from curation.evaluation.collection import Collection
from curation.evaluation.ranking import RRF_K, Run
from curation.evaluation.systems import parse_system
from curation.published.writer import write_table
from schemas.errors import UsageError
from schemas.published import Published
from schemas.tables import CORPUS, HARD_NEGATIVES, POOL_CHECKSUMS, POOLS, TOP_RANKED

POSITIVE, CANDIDATE, HARD_NEGATIVE, LIKELY_POSITIVE = KINDS = (
    "positive",
    "candidate",
    "hard_negative",
    "likely_positive",
)
UNJUDGED = "unjudged"
_QUERIES = 2_000


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """What shapes pools: documents each system gives, hard negatives per query, margin (see `margin`)."""

    depth: int = 20
    hard_negatives: int = 10
    margin: float = 0.05


@dataclass(frozen=True, slots=True)
class SplitRuns:
    """One split, its rankings at the pool's depth or deeper, and the systems that can score given pairs.

    A system without a scorer (a fusion, whose scores are ranks) gives candidates but takes no part in the
    margin test.
    """

    collection: Collection
    runs: Mapping[str, Run]
    scorers: Mapping[str, PairScorer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """What was made, in numbers and over all splits.

    `shaped_by` is for release.json: the systems of the pools and what they are made of. `safeguarded` are
    positives no system found within the depth. `likely_positives` are candidates above the margin, which
    `held_back` counts by system (one may be above several). `silent` counts the queries of which a system
    scored no positive. `untested` are systems that took no part in the margin test.
    `queries_without_hard_negative` counts queries that have a positive.
    """

    systems: tuple[str, ...]
    shaped_by: tuple[str, ...]
    options: PoolOptions
    queries: int
    queries_without_positive: int
    queries_without_candidate: int
    queries_without_hard_negative: int
    pairs: int
    positives: int
    safeguarded: int
    likely_positives: int
    hard_negatives: int
    held_back: Mapping[str, int]
    silent: Mapping[str, int]
    untested: tuple[str, ...]


def make_pools(splits: Sequence[SplitRuns], options: PoolOptions, out: Path) -> PoolSummary | None:
    """Write top_ranked, hard_negatives, pools and pool_checksums into a task directory.

    None, and nothing written, when no system ran: there is nothing to make a pool of.

    Args:
        splits: every split of the task, each opened on `out`.
        options: depth, number and margin.
        out: the task directory; its corpus is read for the checksums.
    """
    pairs = collect([(part.collection, part.runs) for part in splits], options.depth)
    if not pairs.systems:
        return None
    likely, held, silent = likely_positives(pairs, [part.scorers for part in splits], options.margin)
    ranks = _hardness(pairs, likely, options.hard_negatives)
    _write(pairs, likely, ranks, [part.collection for part in splits], out)
    owners = pairs.owners
    answered = np.bincount(owners[pairs.positive], minlength=len(pairs.query_ids)) > 0
    hard = np.bincount(owners[ranks > 0], minlength=len(pairs.query_ids)) > 0
    return PoolSummary(
        systems=pairs.systems,
        shaped_by=shaped_by(pairs.systems),
        options=options,
        queries=len(pairs.query_ids),
        queries_without_positive=int(np.count_nonzero(~answered)),
        queries_without_candidate=int(np.count_nonzero(np.diff(pairs.offsets) == 0)),
        queries_without_hard_negative=int(np.count_nonzero(answered & ~hard)),
        pairs=len(pairs.documents),
        positives=int(np.count_nonzero(pairs.positive)),
        safeguarded=int(np.count_nonzero(pairs.positive & ~pairs.ranks.any(axis=1))),
        likely_positives=int(np.count_nonzero(likely)),
        hard_negatives=int(np.count_nonzero(ranks)),
        held_back=held,
        silent=silent,
        untested=tuple(name for name in pairs.systems if name not in held),
    )


def shaped_by(systems: Sequence[str]) -> tuple[str, ...]:
    """The systems and what they are made of: a pool with `hybrid` is one `bm25` and `dense` shaped."""
    found = set(systems)
    for name in systems:
        try:
            found |= parse_system(name).parts
        except UsageError:  # a run file of a system of another's
            continue
    return tuple(sorted(found))


def _hardness(pairs: Pairs, likely: NDArray[np.bool_], count: int) -> NDArray[np.int16]:
    """Rank of each pair among its query's hard negatives, 0 when it is none; ties by document id.

    Hardest is what systems rank highest, by reciprocal rank fusion. A document with any label is none, and
    a query without positives has none: nothing there tells a negative from a positive.
    """
    owners = pairs.owners
    answered = np.bincount(owners[pairs.positive], minlength=len(pairs.query_ids)) > 0
    open_ = np.flatnonzero(~pairs.judged & ~likely & answered[owners])
    gains = np.where(pairs.ranks[open_] > 0, 1.0 / (RRF_K + pairs.ranks[open_]), 0.0).sum(axis=1)
    order = open_[np.lexsort((pairs.documents[open_], -np.rint(gains * 1e9), owners[open_]))]
    first = np.searchsorted(owners[order], owners[order])
    places = np.arange(len(order)) - first + 1
    ranks = np.zeros(len(pairs.documents), np.int16)
    kept = places <= count
    ranks[order[kept]] = places[kept]
    return ranks


def _write(
    pairs: Pairs,
    likely: NDArray[np.bool_],
    ranks: NDArray[np.int16],
    collections: Sequence[Collection],
    out: Path,
) -> None:
    rows = _Rows(pairs, likely, ranks, collections)
    for number, collection in enumerate(collections):
        mine = np.flatnonzero(pairs.splits == number)
        write_table(TOP_RANKED, rows.top_ranked(mine), out, split=collection.split)
        write_table(HARD_NEGATIVES, rows.hard_negatives(mine), out, split=collection.split)
    everyone = np.arange(len(pairs.query_ids))
    write_table(POOLS, rows.pools(everyone), out)
    _, digests = corpus_digests(read_documents(CORPUS.files(out)))
    write_table(POOL_CHECKSUMS, rows.checksums(everyone, digests), out)


class _Rows:
    """The tables in key order, some thousand queries at a time."""

    def __init__(
        self,
        pairs: Pairs,
        likely: NDArray[np.bool_],
        ranks: NDArray[np.int16],
        collections: Sequence[Collection],
    ) -> None:
        self.pairs, self.hard = pairs, ranks
        self.owners = pairs.owners
        self.kinds = np.full(len(pairs.documents), KINDS.index(CANDIDATE), np.int8)
        for kind, where in (
            (LIKELY_POSITIVE, likely),
            (HARD_NEGATIVE, ranks > 0),
            (POSITIVE, pairs.positive),
        ):
            self.kinds[where] = KINDS.index(kind)
        self.query_ids = pa.array(pairs.query_ids, pa.string())
        self.corpus_ids = pa.array(collections[0].corpus_ids, pa.string())
        self.splits = pa.array([collection.split for collection in collections], pa.string())

    def top_ranked(self, queries: NDArray[np.int64]) -> Iterator[pa.Table]:
        """Candidates of some queries, in id order: their order tells nothing."""
        for chunk in _chunks(queries):
            rows = self._of(chunk)
            sizes = np.diff(self.pairs.offsets)[chunk]
            offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
            yield _table(
                TOP_RANKED,
                self.query_ids.take(pa.array(chunk)),
                pa.ListArray.from_arrays(offsets, self._documents(rows)),
            )

    def hard_negatives(self, queries: NDArray[np.int64]) -> Iterator[pa.Table]:
        """Hard negatives of some queries, the hardest first."""
        for chunk in _chunks(queries):
            rows = self._of(chunk)
            rows = rows[self.hard[rows] > 0]
            rows = rows[np.lexsort((self.hard[rows], self.owners[rows]))]
            yield _table(
                HARD_NEGATIVES,
                self.query_ids.take(pa.array(self.owners[rows])),
                self._documents(rows),
                pa.array(self.hard[rows]),
                self._systems(rows),
                pa.array([UNJUDGED] * len(rows), pa.string()),
            )

    def pools(self, queries: NDArray[np.int64]) -> Iterator[pa.Table]:
        """Every pair with who found it."""
        for chunk in _chunks(queries):
            rows = self._of(chunk)
            yield _table(
                POOLS,
                self.query_ids.take(pa.array(self.owners[rows])),
                self._documents(rows),
                self.splits.take(pa.array(self.pairs.splits[self.owners[rows]])),
                pa.array(KINDS, pa.string()).take(pa.array(self.kinds[rows])),
                self._systems(rows),
            )

    def checksums(self, queries: NDArray[np.int64], digests: Digests) -> Iterator[pa.Table]:
        """One checksum per query."""
        for chunk in _chunks(queries):
            cuts = [slice(*self.pairs.offsets[query : query + 2]) for query in chunk.tolist()]
            yield _table(
                POOL_CHECKSUMS,
                self.query_ids.take(pa.array(chunk)),
                self.splits.take(pa.array(self.pairs.splits[chunk])),
                pa.array(np.diff(self.pairs.offsets)[chunk]),
                pa.array([pool_checksum(digests[self.pairs.documents[cut]]) for cut in cuts], pa.string()),
            )

    def _of(self, queries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Indices of the pairs of some queries."""
        begins, sizes = self.pairs.offsets[queries], np.diff(self.pairs.offsets)[queries]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        found: NDArray[np.int64] = np.repeat(begins, sizes) + within
        return found

    def _documents(self, rows: NDArray[np.int64]) -> pa.Array:
        return self.corpus_ids.take(pa.array(self.pairs.documents[rows]))

    def _systems(self, rows: NDArray[np.int64]) -> pa.Array:
        """Lists of (system, rank), in order of names."""
        ranks = self.pairs.ranks[rows]
        at, system = np.nonzero(ranks)
        offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(ranks, axis=1))])
        found = pa.StructArray.from_arrays(
            [
                pa.array(self.pairs.systems, pa.string()).take(pa.array(system)),
                pa.array(ranks[at, system].astype(np.int64)),
            ],
            names=["system", "rank"],
        )
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), found)


def _chunks(queries: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for first in range(0, len(queries), _QUERIES):
        yield queries[first : first + _QUERIES]


def _table(table: Published, *arrays: pa.Array) -> pa.Table:
    return pa.table(dict(zip(table.schema.names, arrays, strict=True))).cast(table.schema)
