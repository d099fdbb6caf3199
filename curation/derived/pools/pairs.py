"""Who found what: the candidates of every query as flat arrays, the positives always among them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.evaluation.collection import Collection
from curation.evaluation.labels import RELEVANT
from curation.evaluation.ranking import EMPTY, Indices, Run, without


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of query and candidate, by query and then by document: both are in id order.

    Attributes:
        query_ids: every query of all splits, in id order; also those without a candidate.
        splits: index of the split of each query.
        places: position of each query within its split.
        offsets: where the pairs of each query begin, shape (queries + 1,).
        documents: position in the corpus, shape (pairs,).
        positive: whether the query has a label of at least 1 for the document.
        judged: whether it has any label.
        ranks: 1-based rank by each system, 0 where it is beyond the depth, shape (pairs, systems).
        systems: names, sorted.
    """

    query_ids: tuple[str, ...]
    splits: NDArray[np.int8]
    places: Indices
    offsets: NDArray[np.int64]
    documents: Indices
    positive: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    ranks: NDArray[np.int16]
    systems: tuple[str, ...]

    @property
    def owners(self) -> NDArray[np.int64]:
        """Index of the query of each pair."""
        return np.repeat(np.arange(len(self.query_ids)), np.diff(self.offsets))


def collect(splits: Sequence[tuple[Collection, Mapping[str, Run]]], depth: int) -> Pairs:
    """The first `depth` documents of every system for every query, and all its positives.

    Excluded pairs and the query's own record are taken out of a ranking before its documents are counted.
    """
    systems = tuple(sorted({name for _, runs in splits for name in runs}))
    order = sorted(
        (query.id, number, place)
        for number, (collection, _) in enumerate(splits)
        for place, query in enumerate(collection.queries)
    )
    parts = [_candidates(*splits[number], query, systems, depth) for query, number, _ in order]
    sizes = [len(documents) for documents, _, _ in parts]
    return Pairs(
        tuple(query for query, _, _ in order),
        np.array([number for _, number, _ in order], np.int8),
        np.array([place for _, _, place in order], np.int32),
        np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
        np.concatenate([np.empty(0, np.int32), *(documents for documents, _, _ in parts)]),
        np.concatenate([np.empty(0, np.bool_), *(labels == 2 for _, labels, _ in parts)]),
        np.concatenate([np.empty(0, np.bool_), *(labels > 0 for _, labels, _ in parts)]),
        np.concatenate([np.empty((0, len(systems)), np.int16), *(ranks for _, _, ranks in parts)]),
        systems,
    )


def _candidates(
    collection: Collection, runs: Mapping[str, Run], query: str, systems: Sequence[str], depth: int
) -> tuple[Indices, NDArray[np.int8], NDArray[np.int16]]:
    """Documents of one query in corpus order, 2 for a positive and 1 for another label, rank by system.

    A query that is ranked among a set of its own has that set, found or not.
    """
    left_out = collection.left_out.get(query)
    found = [without(runs.get(name, {}).get(query, EMPTY), left_out, depth).documents for name in systems]
    judged = {
        bisect_left(collection.corpus_ids, document): grade
        for document, grade in collection.qrels.get(query, {}).items()
    }
    positives = np.array([place for place, grade in judged.items() if grade >= RELEVANT], np.int32)
    if left_out is not None:
        positives = positives[~np.isin(positives, left_out)]
    inside = collection.sets.get(query, EMPTY.documents)
    documents = np.unique(np.concatenate([positives, inside, *found]))
    labels = np.array(
        [(2 if judged[place] >= RELEVANT else 1) if place in judged else 0 for place in documents.tolist()],
        np.int8,
    )
    ranks = np.zeros((len(documents), len(systems)), np.int16)
    for system, ranked in enumerate(found):
        ranks[np.searchsorted(documents, ranked), system] = np.arange(1, len(ranked) + 1)
    return documents, labels, ranks
