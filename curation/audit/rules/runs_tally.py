"""Queries of one split with their labels, and the measures of a run on them.

Written apart from `curation.evaluation`, in arrays: a run of 164 K queries has 16 million lines.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.evaluation.measures import BPREF, CONDENSED
from schemas.exact import log2

Keys = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_DISCOUNTS = np.array([log2(place + 2) for place in range(10)])
_SUMS = (
    "nDCG@10",
    "R@1",
    "R@10",
    "R@100",
    "AP@100",
    "RR",
    "Success@1",
    CONDENSED,
    BPREF,
    "judged",
    "shown",
    "rows",
)


@dataclass(frozen=True, slots=True)
class Split:
    """Queries of one split and what is known of them; a pair is the key query * documents + document.

    `queries` and `corpus` are ids in order; `labels` are keys in order with their `grades`; `left_out` are
    keys in order of the pairs no ranking may hold: excluded, and unjudged records of the query's own; of
    queries with a set of their own (`sets`, keys in order), also all others.
    """

    queries: pa.Array
    corpus: pa.Array
    labels: Keys
    grades: Keys
    left_out: Keys
    sets: Keys = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def count_left_out(self) -> int:
        """Pairs no ranking may hold."""
        outside = np.count_nonzero(self._in_sets) * len(self.corpus) - len(self.sets)
        return int(outside) + int(np.count_nonzero(~self._is_outside(self.left_out)))

    def is_left_out(self, keys: Keys) -> Mask:
        """Whether no ranking may hold each of some pairs; -1 is of no pair."""
        return within(keys, self.left_out)[0] | self._is_outside(keys)

    @property
    def set_sizes(self) -> Keys:
        """(queries with a set,) documents each is ranked among."""
        return np.unique(self.sets // max(1, len(self.corpus)), return_counts=True)[1]

    @property
    def _in_sets(self) -> Mask:
        """(queries,) those that have a set."""
        found = np.zeros(len(self.queries), np.bool_)
        found[self.sets // max(1, len(self.corpus))] = True
        return found

    def _is_outside(self, keys: Keys) -> Mask:
        """Whether each pair is of a query with a set, and not in it."""
        if not len(self.sets):
            return np.zeros(len(keys), np.bool_)
        owners = np.maximum(keys, 0) // max(1, len(self.corpus))
        outside: Mask = (keys >= 0) & self._in_sets[owners] & ~within(keys, self.sets)[0]
        return outside

    @property
    def relevant(self) -> Keys:
        """(queries,) documents of grade 1 or above."""
        return np.bincount(self._owners[self.grades > 0], minlength=len(self.queries))

    @property
    def refused(self) -> Keys:
        """(queries,) documents judged not relevant."""
        return np.bincount(self._owners[self.grades <= 0], minlength=len(self.queries))

    @property
    def knows_zeros(self) -> bool:
        """Whether a query with a relevant document also has one judged not relevant, and none has a set."""
        return not len(self.sets) and bool(np.any((self.relevant > 0) & (self.refused > 0)))

    @property
    def ideal(self) -> Floats:
        """(queries,) DCG@10 of the best order there is."""
        order = np.lexsort((-self.grades, self._owners))
        owners, grades = self._owners[order], self.grades[order]
        place = places(owners)
        kept = (place < 10) & (grades > 0)
        gains: Floats = grades[kept] / _DISCOUNTS[place[kept]]
        return np.bincount(owners[kept], gains, minlength=len(self.queries)).astype(np.float64)

    @property
    def _owners(self) -> Keys:
        return self.labels // max(1, len(self.corpus))


def places(owners: Keys) -> Keys:
    """Place from 0 of each row among those of the same owner around it."""
    row = np.arange(len(owners))
    starts = np.r_[True, owners[1:] != owners[:-1]] if len(owners) else np.empty(0, np.bool_)
    return row - np.maximum.accumulate(np.where(starts, row, 0)) if len(owners) else row


def within(keys: Keys, known: Keys) -> tuple[Mask, Keys]:
    """Whether each key is among the known ones, which are in order, and where."""
    if not len(known):
        return np.zeros(len(keys), np.bool_), np.zeros(len(keys), np.int64)
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return known[at] == keys, at


def _up_to(marked: Mask, place: Keys) -> Keys:
    """Marked rows of a query from its first to each row, itself too; `place` is that of :func:`places`."""
    sums: Keys = np.cumsum(marked)
    return sums - (sums - marked)[np.arange(len(place)) - place] if len(place) else sums


@dataclass(slots=True)
class Tally:
    """Sums per query while a run is read; see `values`.

    `own` are keys in order of positives that count in `sums` alone: `rest_sums` are DCG@10 of the rankings
    without them, and `rest` is the split without their labels.
    """

    split: Split
    sums: dict[str, Floats] = field(default_factory=dict)
    lines: int = 0
    own: Keys = field(default_factory=lambda: np.empty(0, np.int64))
    rest_sums: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.sums = {name: np.zeros(len(self.split.queries)) for name in _SUMS}
        self.rest_sums = np.zeros(len(self.split.queries))

    @property
    def rest(self) -> Split:
        """The split without the labels of `own`."""
        kept = ~within(self.split.labels, self.own)[0]
        return dataclasses.replace(self.split, labels=self.split.labels[kept], grades=self.split.grades[kept])

    def add(self, owners: Keys, documents: Keys) -> None:
        """Rankings of whole queries, by place; rows with an unknown id are left out of the sums."""
        place, size = places(owners), len(self.split.queries)
        keys = np.where((owners < 0) | (documents < 0), -1, owners * len(self.split.corpus) + documents)
        is_labelled, at = within(keys, self.split.labels)
        grade = np.where(is_labelled, self.split.grades[at], 0) if len(self.split.grades) else 0 * keys
        hit = grade > 0
        above = _up_to(hit, place)
        refused, seen = _up_to(is_labelled & ~hit, place), _up_to(is_labelled, place)
        gains: dict[str, Floats] = {
            "nDCG@10": np.where(hit & (place < 10), grade, 0) / _DISCOUNTS[np.minimum(place, 9)],
            CONDENSED: np.where(hit & (seen <= 10), grade, 0) / _DISCOUNTS[np.clip(seen - 1, 0, 9)],
            BPREF: np.where(hit, 1 - self._shares_above(owners, refused), 0.0),
            "AP@100": np.where(hit & (place < 100), above / (place + 1), 0.0),
            "RR": np.where(hit & (above == 1), 1 / (place + 1), 0.0),
            "Success@1": (hit & (place < 1)).astype(np.float64),
            "judged": (is_labelled & (place < 10)).astype(np.float64),
            "shown": (place < 10).astype(np.float64),
            "rows": np.ones(len(owners)),
        }
        gains |= {f"R@{cut}": (hit & (place < cut)).astype(np.float64) for cut in (1, 10, 100)}
        known = owners >= 0
        for name, gain in gains.items():
            self.sums[name] += np.bincount(owners[known], gain[known], minlength=size)
        left = ~within(keys, self.own)[0]
        place = places(owners[left])
        counts = hit[left] & (place < 10) & known[left]
        gain = grade[left][counts] / _DISCOUNTS[place[counts]]
        self.rest_sums += np.bincount(owners[left][counts], gain, minlength=size)

    def _shares_above(self, owners: Keys, refused: Keys) -> Floats:
        """What bpref takes off a relevant document with so many above it that were judged not relevant."""
        relevant, most = self.split.relevant, np.minimum(self.split.relevant, self.split.refused)
        known = np.maximum(owners, 0)
        found: Floats = np.minimum(refused, relevant[known]) / np.maximum(most[known], 1)
        return found

    def values(self, names: Sequence[str]) -> Floats:
        """(queries that have a relevant document, measures); NaN where judged@10 is undefined."""
        relevant = self.split.relevant
        chosen = np.flatnonzero(relevant)
        ideal = self.split.ideal
        parts = {"nDCG@10": ideal, CONDENSED: ideal, "RR": None, "Success@1": None}
        found = []
        for name in names:
            if name == "judged@10":
                with np.errstate(invalid="ignore"):
                    found.append(self.sums["judged"][chosen] / self.sums["shown"][chosen])
                continue
            whole = parts.get(name, relevant)
            found.append(self.sums[name][chosen] / (1.0 if whole is None else whole[chosen]))
        return np.stack(found, axis=1) if found else np.empty((len(chosen), 0))
