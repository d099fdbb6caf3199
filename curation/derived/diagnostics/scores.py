"""Scores that the shortcuts give to candidates: what each would rank by if it read nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from curation.derived.diagnostics.features import (
    UNKNOWN,
    Features,
    Patients,
    patients_of,
    query_numbers,
    read_features,
)
from curation.derived.diagnostics.shortcuts import SHORTCUTS, Flags, Lists, Values, chance, tied
from curation.evaluation.collection import Collection
from curation.evaluation.labels import RELEVANT

_BLOCK = 2_048


@dataclass(frozen=True, slots=True)
class Asked:
    """Of the measured queries, in order: characters, number in their record's id, patients told of."""

    lengths: NDArray[np.int64]
    numbers: NDArray[np.int64]
    patients: Patients


@dataclass(frozen=True, slots=True)
class ShortcutValues:
    """Per measured query: expected nDCG@10 of a shortcut (NaN: did not run) and whether it is sure first.

    Nothing runs, chance included, where every candidate is relevant: any order would be right.
    `why_not` has a reason for every shortcut that ran for no query.
    """

    values: Mapping[str, Values]
    first: Mapping[str, Flags]
    chance: Values
    chance_first: Values
    why_not: Mapping[str, str]


def reasons(asked: Asked, features: Features) -> dict[str, str]:
    """Shortcut -> why it cannot run here, for those that cannot."""
    found = {}
    if not features.lengths.any():
        found["length/closest"] = found["length/longest"] = "the documents have no text"
    elif not asked.lengths.any():
        found["length/closest"] = "the queries have no text"
    if not features.ordinals.any():
        found["position/first"] = "every article gives one document"
    if (asked.numbers == UNKNOWN).all() or (features.numbers == UNKNOWN).all():
        found["position/number"] = "the ids of queries' records or of documents hold no number"
    if (asked.patients.ages == UNKNOWN).all() or (features.patients.ages == UNKNOWN).all():
        found["demographic/age_sex"] = "no query, or no candidate, introduces a patient by age"
    return found


def shortcuts_of(
    collection: Collection,
    directory: Path,
    queries: Sequence[str],
    lists: Lists,
    advance: Callable[[], None] = lambda: None,
) -> ShortcutValues:
    """Every shortcut over some candidates; patients are looked for only where the query tells of one.

    Args:
        collection: one split.
        directory: the task folder.
        queries: measured queries.
        lists: their candidates.
        advance: called once per document.
    """
    texts = {query.id: query.text for query in collection.queries}
    asked = [texts[query] for query in queries]
    patients = patients_of(asked)
    numbers = query_numbers(collection, directory)
    wanted = np.zeros(len(collection.corpus_ids), bool)
    wanted[lists.documents[(patients.ages != UNKNOWN)[lists.owners]]] = True
    features = read_features(collection, directory, wanted, advance)
    return solve(
        lists, asked_of(asked, [numbers.get(query, UNKNOWN) for query in queries], patients), features
    )


def solve(lists: Lists, asked: Asked, features: Features) -> ShortcutValues:
    """Measure every shortcut that can run, over all queries, some thousands at a time.

    Args:
        lists: candidates of the measured queries, in the order of `asked`.
        asked: what is known of the queries.
        features: what is known of the documents.
    """
    why_not = reasons(asked, features)
    count = len(asked.lengths)
    names = [name for name in SHORTCUTS if name not in why_not]
    values = {name: np.full(count, np.nan) for name in names}
    first = {name: np.zeros(count, bool) for name in names}
    chances, chances_first = np.zeros(count), np.zeros(count)
    for block, part in _blocks(lists):
        is_open = np.minimum.reduceat(part.grades, part.starts[:-1]) < RELEVANT
        for whole, value in zip((chances, chances_first), chance(part), strict=True):
            whole[block] = np.where(is_open, value, np.nan)
        owners = part.owners + block.start
        for name in names:
            scores, ran = _scores(name, part.documents, owners, asked, features)
            value, is_first = tied(part, scores)
            values[name][block] = np.where(ran[block] & is_open, value, np.nan)
            first[name][block] = is_first & ran[block]
    return ShortcutValues(values, first, chances, chances_first, why_not)


def _blocks(lists: Lists) -> Iterator[tuple[slice, Lists]]:
    count = len(lists.starts) - 1
    for start in range(0, count, _BLOCK):
        stop = min(count, start + _BLOCK)
        begin, end = int(lists.starts[start]), int(lists.starts[stop])
        starts = lists.starts[start : stop + 1] - begin
        yield slice(start, stop), Lists(starts, lists.documents[begin:end], lists.grades[begin:end])


def _scores(
    name: str, documents: NDArray[np.int32], owners: NDArray[np.int64], asked: Asked, features: Features
) -> tuple[Values, Flags]:
    """(score per candidate, whether it runs per query) of one shortcut."""
    every = np.ones(len(asked.lengths), bool)
    if name == "length/closest":
        gap = np.abs(features.lengths[documents] - asked.lengths[owners])
        return -gap.astype(np.float64), asked.lengths > 0
    if name == "length/longest":
        return features.lengths[documents].astype(np.float64), every
    if name == "position/first":
        return -features.ordinals[documents].astype(np.float64), every
    if name == "position/number":
        same = features.numbers[documents] == asked.numbers[owners]
        return same.astype(np.float64), asked.numbers != UNKNOWN
    return _alike(documents, owners, asked, features), asked.patients.ages != UNKNOWN


def _alike(
    documents: NDArray[np.int32], owners: NDArray[np.int64], asked: Asked, features: Features
) -> Values:
    """2 for a patient of the same age and sex, 1 for the same age where a sex is unstated, else 0."""
    ages, sexes = features.patients.ages[documents], features.patients.sexes[documents]
    own_sexes = asked.patients.sexes[owners]
    same_age = (ages != UNKNOWN) & (ages == asked.patients.ages[owners])
    same_sex, unstated = (sexes == own_sexes) & (sexes > 0), (sexes == 0) | (own_sexes == 0)
    return np.where(same_age & same_sex, 2.0, np.where(same_age & unstated, 1.0, 0.0))


def asked_of(texts: Sequence[str], numbers: Sequence[int], patients: Patients) -> Asked:
    """What is known of queries, from their texts and the numbers in their records' ids."""
    return Asked(
        np.array([len(text) for text in texts], np.int64), np.array(list(numbers), np.int64), patients
    )
