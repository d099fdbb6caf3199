"""A judge beside clinicians: linear κ and bias by stratum with intervals, and a confusion table.

The clinicians' grade of an item is the adjudicator's if there is one, else the lower median of theirs. Gold
items are left out: they were chosen to be easy.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from annotation.agreement.coefficients import Coefficient, Rating, Undefined, to_array
from annotation.agreement.groups import UNKNOWN, ItemGroups, by_group
from annotation.agreement.intervals import CONFIDENCE, RESAMPLES, SEED, Estimate, agreement, bca
from schemas.errors import InputError
from schemas.review import ReviewAnnotation, ReviewCandidate

CLINICIANS = "clinicians"
Stratum = Literal["all", "specialty", "language", "tier", "origin"]
STRATA: tuple[Stratum, ...] = ("all", "specialty", "language", "tier", "origin")
_CHOSEN = (Coefficient.KAPPA_LINEAR, Coefficient.PERCENT)
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Bias:
    """Mean of judge minus clinicians, in grades: above 0 the judge is lenient. Null has a reason."""

    value: float | None
    low: float | None
    high: float | None
    reason: Undefined | None
    items: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """One stratum: agreement of judge and clinicians, and the judge's bias. `value` is '' for all."""

    stratum: Stratum
    value: str
    kappa: Estimate
    percent: Estimate
    bias: Bias


@dataclass(frozen=True, slots=True)
class Report:
    """All strata of one judge; `confusion` counts (clinicians' grade, judge's grade or None).

    `among_clinicians` is their own linear κ on the same items: a judge cannot be asked to agree better.
    """

    items: int
    strata: tuple[Calibration, ...]
    confusion: Mapping[tuple[int, int | None], int]
    among_clinicians: Estimate


def clinicians(annotations: Iterable[ReviewAnnotation]) -> dict[str, int]:
    """Candidate id -> grade people gave, from current rows of annotators and adjudicators."""
    by_candidate: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in annotations:
        if row.state == "current" and row.role != "judge" and row.grade is not None:
            by_candidate[row.candidate_id][row.role].append(row.grade)
    found = {}
    for candidate, roles in by_candidate.items():
        grades = sorted(roles.get("adjudicator") or roles["annotator"])
        found[candidate] = grades[(len(grades) - 1) // 2]
    return found


def calibrate(
    candidates: Iterable[ReviewCandidate],
    judge: Iterable[ReviewAnnotation],
    people: Iterable[ReviewAnnotation],
    scale: Sequence[int],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Report:
    """Compare one judge with people on the items both saw.

    Args:
        candidates: of one task.
        judge: rows of role judge of one judge.
        people: rows of annotators and adjudicators.
        scale: grades that could be given.
        resamples: of each bootstrap.
        seed: of each bootstrap.

    Raises:
        InputError: candidates of several tasks, rows of several judges, or a grade outside the scale.
    """
    items = {item.id: item for item in candidates if item.origin != "gold"}
    people = [row for row in people if row.candidate_id in items]
    rows = [row for row in judge if row.candidate_id in items and row.state == "current"]
    if len({item.task for item in items.values()}) > 1 or len({row.annotator for row in rows}) > 1:
        raise InputError("a calibration is of one judge and one task")
    expert = clinicians(people)
    seen = {row.candidate_id: row.grade for row in rows if row.candidate_id in expert}
    both = {name: grade for name, grade in seen.items() if grade is not None}
    return Report(
        items=len(both),
        strata=tuple(_strata(items, both, expert, scale, resamples, seed)),
        confusion=dict(
            sorted(Counter((expert[name], grade) for name, grade in seen.items()).items(), key=_order)
        ),
        among_clinicians=_among(people, both, scale, resamples, seed),
    )


def _order(cell: tuple[tuple[int, int | None], int]) -> tuple[int, int]:
    (expert, judge), _ = cell
    return expert, -1 if judge is None else judge


def _strata(
    items: Mapping[str, ReviewCandidate],
    both: Mapping[str, int],
    expert: Mapping[str, int],
    scale: Sequence[int],
    resamples: int,
    seed: int,
) -> Iterable[Calibration]:
    ratings = list(
        itertools.chain.from_iterable(
            (Rating(name, CLINICIANS, expert[name]), Rating(name, "judge", grade))
            for name, grade in sorted(both.items())
        )
    )
    figures: dict[tuple[Stratum, str], dict[Coefficient, Estimate]] = defaultdict(dict)
    task = {item.task: scale for item in items.values()}
    for origin in (False, True):  # by_group knows no origin: a second pass gives it as the specialty
        groups = [_groups(items[name], origin) for name in sorted(both)]
        for found in by_group(ratings, groups, task, _CHOSEN, resamples=resamples, seed=seed):
            if found.dimension == "annotator_pair" or (origin and found.dimension != "specialty"):
                continue
            key: tuple[Stratum, str] = ("origin" if origin else found.dimension, found.value)
            figures[key][found.estimate.coefficient] = found.estimate
    for (stratum, value), made in sorted(figures.items(), key=lambda at: (STRATA.index(at[0][0]), at[0][1])):
        names = [name for name in sorted(both) if value in ("", _value(items[name], stratum))]
        differences = [both[name] - expert[name] for name in names]
        bias = _bias(differences, resamples, seed)
        yield Calibration(stratum, value, made[Coefficient.KAPPA_LINEAR], made[Coefficient.PERCENT], bias)


def _groups(item: ReviewCandidate, origin: bool) -> ItemGroups:
    if origin:
        return ItemGroups(item.id, item.task, specialty=item.origin)
    return ItemGroups(item.id, item.task, item.specialty, item.language, item.tier)


def _value(item: ReviewCandidate, stratum: Stratum) -> str:
    return "" if stratum == "all" else str(getattr(item, stratum)) or UNKNOWN


def _bias(differences: Sequence[int], resamples: int, seed: int) -> Bias:
    """Mean difference with a BCa interval over items."""
    count = len(differences)
    if not count:
        return Bias(None, None, None, Undefined.NO_OVERLAP, 0)
    found, times = np.unique(np.asarray(differences, dtype=np.float64), return_counts=True)
    weights = times.astype(np.float64)
    value = float(found @ weights) / count
    if count == 1 or len(found) == 1:
        reason = Undefined.ONE_ITEM if count == 1 else Undefined.NO_SPREAD
        return Bias(round(value, _DIGITS), None, None, reason, count)
    generator = np.random.Generator(np.random.PCG64(seed))
    draws = generator.multinomial(count, weights / count, size=resamples) @ found / count
    low, high = bca(draws, value, (found - value) / (count - 1), weights, CONFIDENCE)
    return Bias(round(value, _DIGITS), round(low, _DIGITS), round(high, _DIGITS), None, count)


def _among(
    people: Iterable[ReviewAnnotation],
    both: Mapping[str, int],
    scale: Sequence[int],
    resamples: int,
    seed: int,
) -> Estimate:
    ratings = [
        Rating(row.candidate_id, row.annotator, row.grade)
        for row in people
        if row.candidate_id in both and row.role == "annotator" and row.state == "current"
    ]
    array, _, _ = to_array(ratings)
    return agreement(array, scale, (Coefficient.KAPPA_LINEAR,), resamples=resamples, seed=seed)[0]
