"""The nano variant: a few queries over a small corpus that still holds what is judged and what is hard."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.derived.subsets.correlation import Correlation
from curation.derived.subsets.draw import lots, stratified
from curation.derived.subsets.rows import copy_rows
from curation.evaluation.collection import Collection
from curation.evaluation.ranking import EMPTY, Run
from curation.evaluation.variants import SMALL, SPLIT, WHOLE

FACETS = ("specialty", "modality", "tier", "scenario")
"""Queries are drawn in proportion to these, the first before the others."""


@dataclass(frozen=True, slots=True)
class NanoOptions:
    """`documents` are those beside the judged ones, at most; `hard_depth` is how far rankings are read."""

    queries: int = 50
    documents: int = 5_000
    hard_depth: int = 20


@dataclass(frozen=True, slots=True)
class NanoSummary:
    """What was made; `why_not` says why nothing was, and then every number of the variant is 0.

    Documents are counted once, by the first that applies: `judged` for a query of the variant, `hard` (high
    in a ranking for one), `excluded` for one, `sampled` by lot. `shaped_by` are the systems whose rankings
    gave the hard ones. `correlation` is None until the systems were run on both.
    """

    options: NanoOptions
    why_not: str
    queries_of_whole: int
    documents_of_whole: int
    queries: int = 0
    articles: int = 0
    documents: int = 0
    judged: int = 0
    hard: int = 0
    excluded: int = 0
    sampled: int = 0
    qrels: int = 0
    excluded_pairs: int = 0
    shaped_by: tuple[str, ...] = ()
    correlation: Correlation | None = None

    @property
    def is_made(self) -> bool:
        """Whether there is a nano variant."""
        return not self.why_not


def make_nano(
    collection: Collection, runs: Mapping[str, Run], options: NanoOptions, out: Path
) -> NanoSummary:
    """Write nano/corpus, nano/queries, nano/qrels and nano/excluded into a task directory.

    Rows are those of the whole release, unchanged. Nothing is written where the whole is no larger.

    Args:
        collection: split test of the whole release, opened on `out`.
        runs: rankings by system; empty where none ran, and then no document is there for being hard.
        options: sizes.
        out: the task directory.

    Raises:
        ValueError: the collection is not the whole of split test.
    """
    if collection.split != SPLIT or collection.variant or collection.cut:
        raise ValueError("the nano variant is made of the whole of split test")
    measured = [query for query in collection.queries if query.id in collection.qrels]
    empty = NanoSummary(options, "", len(measured), len(collection.corpus_ids))
    if not options.queries:
        return replace(empty, why_not="the spec asks for no nano variant")
    if not measured:
        return replace(empty, why_not="no query of split test has a relevant document")
    drawn = stratified(measured, min(options.queries, len(measured)), FACETS)
    names = sorted(query.id for query in drawn)
    kinds = _documents(collection, runs, names, options)
    if len(drawn) == len(measured) and kinds.all():
        said = f"the whole is no larger: {len(measured)} measured queries, {len(kinds)} documents"
        return replace(empty, why_not=said)
    counts = _write(collection, names, np.flatnonzero(kinds), out)
    number = np.bincount(kinds, minlength=5)
    return replace(
        empty,
        queries=len(names),
        articles=len({query.group for query in drawn}),
        documents=int(number[1:].sum()),
        judged=int(number[_JUDGED]),
        hard=int(number[_HARD]),
        excluded=int(number[_EXCLUDED]),
        sampled=int(number[_SAMPLED]),
        qrels=counts["qrels"],
        excluded_pairs=counts["excluded"],
        shaped_by=tuple(sorted(runs)) if number[_HARD] else (),
    )


_JUDGED, _HARD, _EXCLUDED, _SAMPLED = 1, 2, 3, 4


def _documents(
    collection: Collection, runs: Mapping[str, Run], queries: Sequence[str], options: NanoOptions
) -> NDArray[np.int8]:
    """Why each document of the corpus is in the variant, 0 where it is not; shape (documents,)."""
    ids = collection.corpus_ids
    kinds = np.zeros(len(ids), np.int8)
    judged = {name for query in queries for name in collection.qrels[query]}
    kinds[[bisect_left(ids, name) for name in sorted(judged)]] = _JUDGED
    for query in queries:
        kinds[collection.sets.get(query, EMPTY.documents)] = _JUDGED
    room = options.documents
    rankings = [runs[system].get(query, EMPTY).documents for system in sorted(runs) for query in queries]
    for rank in range(options.hard_depth):
        found = [ranking[rank] for ranking in rankings if len(ranking) > rank]
        room -= _add(kinds, np.array(found, np.int64), _HARD, room, ids)
    left_out = [collection.left_out[query] for query in queries if query in collection.left_out]
    aside = np.concatenate([np.empty(0, np.int32), *left_out])
    room -= _add(kinds, aside.astype(np.int64), _EXCLUDED, room, ids)
    _add(kinds, np.flatnonzero(kinds == 0), _SAMPLED, room, ids)
    return kinds


def _add(kinds: NDArray[np.int8], places: NDArray[np.int64], kind: int, room: int, ids: Sequence[str]) -> int:
    """Mark documents not yet marked, those with the lowest lots if there is no room for all; how many."""
    new = np.unique(places)
    new = new[kinds[new] == 0]
    if len(new) > room:
        drawn = lots((ids[place] for place in new.tolist()), len(new)) if room else np.empty(0, np.uint64)
        new = new[np.argsort(drawn, kind="stable")[:room]]
    kinds[new] = kind
    return len(new)


def _write(
    collection: Collection, queries: Sequence[str], documents: NDArray[np.int64], out: Path
) -> dict[str, int]:
    """Write the four tables; rows of each."""
    of_queries = pa.array(queries, pa.string())
    of_documents = pa.array([collection.corpus_ids[place] for place in documents.tolist()], pa.string())
    pair = {"query-id": of_queries, "corpus-id": of_documents}
    return {
        name: copy_rows(whole, whole.files(out, SPLIT), {"id": ids} if ids is not None else pair, small, out)
        for name, whole, small, ids in (
            ("corpus", WHOLE.corpus, SMALL.corpus, of_documents),
            ("queries", WHOLE.queries, SMALL.queries, of_queries),
            ("qrels", WHOLE.qrels, SMALL.qrels, None),
            ("excluded", WHOLE.excluded, SMALL.excluded, None),
        )
    }
