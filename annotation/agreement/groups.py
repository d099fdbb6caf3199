"""Agreement by task and, within a task, by specialty, language, tier and pair of annotators.

Grades mean different things in different tasks, so tasks are never pooled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from annotation.agreement.coefficients import COEFFICIENTS, SCALE, Coefficient, Floats, Rating, to_array
from annotation.agreement.intervals import RESAMPLES, SEED, Estimate, agreement
from schemas.errors import InputError

Dimension = Literal["all", "specialty", "language", "tier", "annotator_pair"]
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ItemGroups:
    """What an item belongs to; an empty text is counted as the group `unknown`."""

    item_id: str
    task: str
    specialty: str = ""
    language: str = ""
    tier: str = ""


@dataclass(frozen=True, slots=True)
class GroupEstimate:
    """One figure of one group. `value` is empty for the dimension `all`, `a|b` for a pair of annotators."""

    task: str
    dimension: Dimension
    value: str
    estimate: Estimate


def by_group(
    ratings: Iterable[Rating],
    items: Iterable[ItemGroups],
    scales: Mapping[str, Sequence[int]] | None = None,
    chosen: Sequence[Coefficient] = COEFFICIENTS,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[GroupEstimate]:
    """Every chosen figure of every group, in order of task, dimension and value.

    Args:
        ratings: long rows.
        items: the groups of every item that was rated; others are not looked at.
        scales: grades of each task; 0 to 3 where it is not named.
        chosen: which figures.
        resamples: of each bootstrap.
        seed: of each bootstrap.

    Raises:
        InputError: a rated item has no groups, was graded twice by one annotator, or got an unknown grade.
    """
    groups = {item.item_id: item for item in items}
    by_task: dict[str, list[Rating]] = defaultdict(list)
    for row in ratings:
        if row.item_id not in groups:
            raise InputError("a rated item is not among the items", record=row.item_id)
        by_task[groups[row.item_id].task].append(row)
    found = []
    for task, rows in sorted(by_task.items()):
        array, ids, annotators = to_array(rows)
        members = [groups[item_id] for item_id in ids]
        for dimension, value, part in _parts(array, members, annotators):
            scale = (scales or {}).get(task, SCALE)
            made = agreement(part, scale, chosen, resamples=resamples, seed=seed)
            found += [GroupEstimate(task, dimension, value, estimate) for estimate in made]
    return found


def _parts(
    array: Floats, items: Sequence[ItemGroups], annotators: Sequence[str]
) -> Iterable[tuple[Dimension, str, Floats]]:
    """The groups of one task with their part of the (items, raters) array."""
    yield "all", "", array
    members: tuple[tuple[Dimension, list[str]], ...] = (
        ("specialty", [item.specialty or UNKNOWN for item in items]),
        ("language", [item.language or UNKNOWN for item in items]),
        ("tier", [item.tier or UNKNOWN for item in items]),
    )
    for dimension, of_item in members:
        of = np.asarray(of_item, dtype=object)
        for value in sorted(set(of_item)):
            yield dimension, value, array[of == value]
    for first, second in combinations(range(len(annotators)), 2):
        pair = array[:, [first, second]]
        shared = ~np.isnan(pair).any(1)
        if shared.any():
            yield "annotator_pair", f"{annotators[first]}|{annotators[second]}", pair[shared]
