"""Rankings as arrays: the best documents of a query, ties by document id, and their fusion.

Scores are whole numbers of a fixed step while they are compared, so that order never hangs on float noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int32]
Scores = NDArray[np.float64]
Keys = NDArray[np.int64]

RRF_K = 60
"""Constant of reciprocal rank fusion, after Cormack, Clarke and Büttcher 2009."""
_PLACES = 31
_MASK = (1 << _PLACES) - 1


@dataclass(frozen=True, slots=True)
class Ranking:
    """Positions of documents in the corpus, best first, and their scores, never rising; equal lengths."""

    documents: Indices
    scores: Scores

    def __len__(self) -> int:
        return len(self.documents)


Run = Mapping[str, Ranking]
"""Query id -> ranking. A query the system found nothing for has an empty one or none."""

EMPTY = Ranking(np.empty(0, np.int32), np.empty(0, np.float64))


def keys_of(steps: NDArray[np.integer], documents: NDArray[np.integer]) -> Keys:
    """One number per candidate that sorts by score first, then by id: the smaller position wins.

    Args:
        steps: scores as whole numbers, |score| < 2^32.
        documents: positions of the candidates, of equal shape or broadcastable.

    Raises:
        ValueError: a score is too large to be told apart.
    """
    if steps.size and max(-int(steps.min()), int(steps.max())) >= 1 << (63 - _PLACES):
        raise ValueError(f"a score of {int(steps.max())} steps is out of range")
    return (steps.astype(np.int64) << _PLACES) | (_MASK - documents.astype(np.int64))


def best(keys: Keys, k: int) -> Keys:
    """The k largest keys along the last axis, largest first."""
    if keys.shape[-1] > k:
        keys = np.partition(keys, keys.shape[-1] - k, axis=-1)[..., -k:]
    return np.flip(np.sort(keys, axis=-1), axis=-1)


def ranking_of(keys: Keys, step: float) -> Ranking:
    """The ranking that sorted keys stand for; `step` is the worth of one whole number."""
    return Ranking((_MASK - (keys & _MASK)).astype(np.int32), (keys >> _PLACES).astype(np.float64) * step)


def without(ranking: Ranking, left_out: Indices | None, k: int) -> Ranking:
    """The ranking with some documents taken out, the rest moved up, cut to k."""
    if left_out is not None and len(left_out):
        kept = ~np.isin(ranking.documents, left_out)
        ranking = Ranking(ranking.documents[kept], ranking.scores[kept])
    return Ranking(ranking.documents[:k], ranking.scores[:k])


def fuse(runs: Sequence[Run], queries: Iterable[str], k: int, constant: int = RRF_K) -> dict[str, Ranking]:
    """Reciprocal rank fusion: a document's score is the sum of 1 / (constant + rank) over the runs."""
    fused = {}
    for query in queries:
        parts = [run.get(query, EMPTY) for run in runs]
        documents = np.concatenate([part.documents for part in parts])
        gains = np.concatenate([1.0 / (constant + np.arange(1, len(part) + 1)) for part in parts])
        found, places = np.unique(documents, return_inverse=True)
        sums = np.bincount(places, weights=gains, minlength=len(found))
        steps = np.rint(sums * 1e9).astype(np.int64)
        fused[query] = ranking_of(best(keys_of(steps, found), k), 1e-9)
    return fused
