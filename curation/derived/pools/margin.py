"""Which candidates score too close to the positives to be called negative.

After the positive-aware mining of NV-Retriever (Moreira et al. 2024, arXiv 2407.15831, TopK-PercPos): a
threshold that is a share of the positive's score. Here the weakest positive counts, and any system suffices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from curation.derived.pools.pairs import Pairs
from curation.evaluation.ranking import Indices, Scores

PairScorer = Callable[[Indices, Indices], Scores]
"""Scores of pairs: query positions in the split and document positions, of one length; NaN: no score."""


def likely_positives(
    pairs: Pairs, scorers: Sequence[Mapping[str, PairScorer]], margin: float
) -> tuple[NDArray[np.bool_], dict[str, int], dict[str, int]]:
    """Candidates without a label that some system scores above (1 - margin) x the weakest positive's score.

    Of a negative score the share is taken off, too: weakest - margin x |weakest|. A system that scores no
    positive of a query says nothing about that query.

    Args:
        pairs: every candidate.
        scorers: of each split, the systems whose scores can be compared across documents.
        margin: share of the weakest positive's score.

    Returns:
        Flags, shape (pairs,); candidates held back by each system; queries each scored no positive of.
    """
    flags = np.zeros(len(pairs.documents), np.bool_)
    held: dict[str, int] = {}
    silent: dict[str, int] = {}
    owners = pairs.owners
    has_positive = np.zeros(len(pairs.query_ids), np.bool_)
    has_positive[owners[pairs.positive]] = True
    tested = has_positive[owners]
    for system in sorted({name for part in scorers for name in part}):
        scores = np.full(len(pairs.documents), np.nan)
        for number, part in enumerate(scorers):
            mine = np.flatnonzero(tested & (pairs.splits[owners] == number))
            if system in part and len(mine):
                scores[mine] = part[system](pairs.places[owners[mine]], pairs.documents[mine])
        weakest = _weakest(pairs, owners, scores)
        threshold = weakest - margin * np.abs(weakest)
        above = (scores > threshold[owners]) & ~pairs.judged
        held[system] = int(np.count_nonzero(above))
        silent[system] = int(np.count_nonzero(has_positive & np.isnan(weakest)))
        flags |= above
    return flags, held, silent


def _weakest(pairs: Pairs, owners: NDArray[np.int64], scores: Scores) -> Scores:
    """Lowest score of a positive of each query, NaN where none has a score."""
    weakest = np.full(len(pairs.query_ids), np.inf)
    scored = pairs.positive & ~np.isnan(scores)
    np.minimum.at(weakest, owners[scored], scores[scored])
    weakest[np.isinf(weakest)] = np.nan
    return weakest
