"""Rankings by one shallow feature, measured without favour to ties: expected nDCG over all orders of equals.

After McSherry and Najork 2008 ("Computing information retrieval performance measures efficiently in the
presence of tied scores"): of documents that are equal each gets the mean discount of their ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.evaluation.labels import RELEVANT
from schemas.exact import log2

CUTOFF = 10
SHORTCUTS = ("length/closest", "length/longest", "position/first", "position/number", "demographic/age_sex")
"""Every shortcut that is tried, in the order they are published."""

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lists:
    """Candidates of several queries, one after another.

    `starts`, shape (queries + 1,), says where each query's begin; `documents` and `grades`, shape
    (candidates,), are positions in the corpus and grades, 0 where unjudged. Every query has a candidate.
    """

    starts: NDArray[np.int64]
    documents: NDArray[np.int32]
    grades: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Candidates of each query."""
        return np.diff(self.starts)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The query, as a number from 0, of each candidate."""
        return np.repeat(np.arange(len(self.starts) - 1), self.sizes)


def tied(lists: Lists, scores: Values) -> tuple[Values, Flags]:
    """Expected nDCG@10 of a ranking with ties, and whether it surely puts a relevant document first.

    Args:
        lists: the candidates.
        scores: one finite number per candidate, higher is better.

    Returns:
        Per query: nDCG@10 in expectation over all orders of equal documents; whether every document that
        shares the highest score is relevant, among candidates that are not all relevant.
    """
    if not len(lists.documents):
        return np.zeros(0), np.zeros(0, bool)
    owners = lists.owners
    order = np.lexsort((-scores, owners))
    sorted_scores, grades = scores[order], np.maximum(lists.grades[order], 0)
    begins = np.flatnonzero(
        np.concatenate(
            [[True], (np.diff(sorted_scores) != 0) | (np.diff(owners) != 0)]
        )  # owners are in order
    )
    ends = np.append(begins[1:], len(order))
    of = owners[begins]
    sums = _discounts(lists)
    first, last = begins - lists.starts[of], ends - lists.starts[of]
    share = (sums[last] - sums[first]) / (ends - begins)
    gained = np.bincount(of, weights=np.add.reduceat(grades, begins) * share, minlength=len(lists.starts) - 1)
    relevant = (grades >= RELEVANT).astype(np.int64)
    is_sure = np.minimum.reduceat(relevant, begins)[first == 0] == 1
    has_others = np.minimum.reduceat(relevant, lists.starts[:-1]) == 0
    return gained / _ideal(lists), is_sure & has_others


def chance(lists: Lists) -> tuple[Values, Values]:
    """Expected nDCG@10 of a random order of the candidates, and its chance to put a relevant one first."""
    value, _ = tied(lists, np.zeros(len(lists.documents)))
    relevant = (lists.grades >= RELEVANT).astype(np.float64)
    first = np.add.reduceat(relevant, lists.starts[:-1]) / lists.sizes if len(relevant) else np.zeros(0)
    return value, first


def _ideal(lists: Lists) -> Values:
    """DCG@10 of the best order, 1 where nothing is relevant."""
    owners = lists.owners
    order = np.lexsort((-lists.grades, owners))
    ranks = np.arange(len(order)) - lists.starts[owners]
    steps = np.diff(_discounts(lists))
    found = np.bincount(owners, weights=np.maximum(lists.grades[order], 0) * steps[ranks])
    return np.where(found > 0, found, 1.0)


def _discounts(lists: Lists) -> Values:
    """Sum of the discounts of the first n ranks, for every n up to the longest list."""
    longest = int(lists.sizes.max())
    steps = [1 / log2(rank + 2) for rank in range(min(longest, CUTOFF))]
    return np.concatenate([[0.0], np.cumsum(steps + [0.0] * (longest - len(steps)))])
