"""Everything the agreement report says, as plain JSON values, from candidates and answers alone.

People appear by pseudonym. Gold items and the answers of judges and adjudicators are no part of agreement.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from annotation.agreement.coefficients import Coefficient, Rating, to_array
from annotation.agreement.groups import GroupEstimate, ItemGroups, by_group
from annotation.agreement.intervals import CONFIDENCE, RESAMPLES, SEED, Estimate, agreement
from annotation.layouts import common_kind
from annotation.report.gold import gold_checks, is_gold
from schemas.errors import InputError
from schemas.review import Kind, ReviewAnnotation, ReviewCandidate

FORMAT_VERSION = 1
WIDE = 0.2
"""An interval whose half-width is above this says too little about agreement to build on."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What counts of a task's answers.

    Args:
        counted: current answers of annotators to candidates of the task, by annotator and place.
        left_out: how many other answers of annotators there are, by reason.
    """

    counted: tuple[ReviewAnnotation, ...]
    left_out: Mapping[str, int]


def count_answers(
    candidates: Mapping[str, ReviewCandidate], annotations: Iterable[ReviewAnnotation]
) -> Answers:
    """Tell answers that count from those that are superseded, withdrawn, in conflict or of no candidate."""
    counted, left_out = [], Counter[str]()
    for row in annotations:
        if row.role != "annotator":
            continue
        if row.state != "current":
            left_out[row.state] += 1
        elif row.candidate_id not in candidates:
            left_out["unknown_candidate"] += 1
        else:
            counted.append(row)
    counted.sort(key=lambda row: (row.annotator, row.sequence, row.candidate_id))
    return Answers(tuple(counted), dict(sorted(left_out.items())))


def summarise(
    candidates: Iterable[ReviewCandidate],
    annotations: Iterable[ReviewAnnotation],
    scale: Sequence[int],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """The report of one task.

    Args:
        candidates: of one dataset and task.
        annotations: answers in any order, of any role and state.
        scale: every grade that could be given, ascending.
        resamples: of each bootstrap.
        seed: of each bootstrap.

    Returns:
        JSON values; the same rows in any order give the same. Figures without a value have a `reason`.

    Raises:
        InputError: no candidates, or of several tasks; one person answered an item twice, or gave a grade
            that is not in the scale.
    """
    by_id = {item.id: item for item in candidates}
    dataset, task, kind = _subject(by_id)
    answers = count_answers(by_id, annotations)
    _refuse_repeats(answers.counted)
    open_answers = [row for row in answers.counted if not is_gold(by_id[row.candidate_id])]
    ratings = _ratings(open_answers)
    groups = [
        ItemGroups(item.id, task, item.specialty, item.language, item.tier)
        for item in sorted(by_id.values(), key=lambda item: item.id)
    ]
    found = by_group(ratings, groups, {task: scale}, resamples=resamples, seed=seed)
    figures = [_figure(item) for item in found]
    main = str(Coefficient.ALPHA_NOMINAL if kind == "confusion" else Coefficient.ALPHA_ORDINAL)
    return {
        "format_version": FORMAT_VERSION,
        "dataset": dataset,
        "task": task,
        "kind": kind,
        "scale": list(scale),
        "main": main,
        "method": {"confidence": CONFIDENCE, "resamples": resamples, "seed": seed},
        "counts": _counts(by_id, answers, open_answers),
        "figures": figures,
        "too_little": _too_little(figures, main),
        "annotators": _annotators(answers.counted, scale),
        "confusions": confusions(ratings, scale),
        "gold": gold_checks(by_id, answers.counted),
    }


def overall(
    candidates: Iterable[ReviewCandidate],
    annotations: Iterable[ReviewAnnotation],
    scale: Sequence[int],
    chosen: Sequence[Coefficient],
) -> list[dict[str, Any]]:
    """Some figures over all items of one task: those of the report, without the groups.

    Args:
        candidates: of one dataset and task.
        annotations: answers in any order, of any role and state.
        scale: every grade that could be given, ascending.
        chosen: which figures.

    Returns:
        Rows as in the report's `figures`, without `dimension` and `group`; none while nobody gave a grade.

    Raises:
        InputError: as `summarise`.
    """
    by_id = {item.id: item for item in candidates}
    answers = count_answers(by_id, annotations)
    _refuse_repeats(answers.counted)
    ratings = _ratings([row for row in answers.counted if not is_gold(by_id[row.candidate_id])])
    if not any(row.grade is not None for row in ratings):
        return []
    array, _, _ = to_array(ratings)
    return [_values(found) for found in agreement(array, scale, chosen)]


def _ratings(answers: Iterable[ReviewAnnotation]) -> list[Rating]:
    return [Rating(row.candidate_id, row.annotator, row.grade) for row in answers]


def _subject(candidates: Mapping[str, ReviewCandidate]) -> tuple[str, str, Kind]:
    names = sorted({(item.dataset, item.task) for item in candidates.values()})
    kinds = {item.kind for item in candidates.values()}
    kind = common_kind(kinds)
    if len(names) != 1 or kind is None:
        raise InputError(f"a report is of one dataset, task and kind, not of {max(len(names), len(kinds))}")
    return *names[0], kind


def _figure(item: GroupEstimate) -> dict[str, Any]:
    return {"dimension": item.dimension, "group": item.value, **_values(item.estimate)}


def _values(found: Estimate) -> dict[str, Any]:
    return {
        "coefficient": str(found.coefficient),
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "reason": None if found.reason is None else str(found.reason),
        "items": found.items,
        "raters": found.raters,
        "ratings": found.ratings,
    }


def _refuse_repeats(answers: Sequence[ReviewAnnotation]) -> None:
    seen = set()
    for row in answers:
        key = row.annotator, row.candidate_id
        if key in seen:
            raise InputError(
                f"{row.annotator} has two current answers to one item",
                record=row.candidate_id,
                hint="medqrels review pull",
            )
        seen.add(key)


def _counts(
    candidates: Mapping[str, ReviewCandidate], answers: Answers, open_answers: Sequence[ReviewAnnotation]
) -> dict[str, Any]:
    graded = Counter(row.candidate_id for row in open_answers if row.grade is not None)
    gold = sum(map(is_gold, candidates.values()))
    return {
        "items": len(candidates) - gold,
        "gold_items": gold,
        "items_answered": len({row.candidate_id for row in open_answers}),
        "items_graded_twice": sum(count > 1 for count in graded.values()),
        "people": len({row.annotator for row in answers.counted}),
        "answers": len(open_answers),
        "gold_answers": len(answers.counted) - len(open_answers),
        "grades": sum(graded.values()),
        "cannot_judge": len(open_answers) - sum(graded.values()),
        "left_out": dict(answers.left_out),
    }


def _too_little(figures: Sequence[Mapping[str, Any]], main: str) -> list[dict[str, Any]]:
    """Groups of which the main figure has no interval, or one too wide to build on."""
    found = []
    for row in figures:
        if row["coefficient"] != main:
            continue
        wide = row["low"] is not None and (row["high"] - row["low"]) / 2 > WIDE
        if row["reason"] or wide:
            found.append(
                {
                    "dimension": row["dimension"],
                    "group": row["group"],
                    "items": row["items"],
                    "why": row["reason"] or "wide_interval",
                }
            )
    return found


def _annotators(answers: Sequence[ReviewAnnotation], scale: Sequence[int]) -> list[dict[str, Any]]:
    """What each person answered, gold items included, and how long it took them."""
    by_annotator: dict[str, list[ReviewAnnotation]] = defaultdict(list)
    for row in answers:
        by_annotator[row.annotator].append(row)
    found = []
    for annotator, rows in sorted(by_annotator.items()):
        grades = Counter(row.grade for row in rows if row.grade is not None)
        reasons = Counter(row.reason or "other" for row in rows if row.grade is None)
        found.append(
            {
                "annotator": annotator,
                "answers": len(rows),
                "grades": {str(grade): grades[grade] for grade in scale},
                "cannot_judge": dict(sorted(reasons.items())),
                "seconds": _times([row.seconds for row in rows if row.seconds > 0]),
            }
        )
    return found


def _times(seconds: Sequence[float]) -> dict[str, Any]:
    """Quartiles and sum of the known times of an item, in seconds; null where too few are known."""
    known = sorted(seconds)
    first = middle = third = known[0] if known else None
    if len(known) > 1:
        first, middle, third = statistics.quantiles(known, n=4, method="inclusive")
    return {
        "known": len(known),
        "first_quartile": None if first is None else round(first, 1),
        "median": None if middle is None else round(middle, 1),
        "third_quartile": None if third is None else round(third, 1),
        "total": round(sum(known), 1),
    }


def confusions(ratings: Iterable[Rating], scale: Sequence[int]) -> list[dict[str, Any]]:
    """Answers of every two people to the items both answered.

    Args:
        ratings: long rows; a grade of None is "cannot judge".
        scale: every grade that could be given.

    Returns:
        By names: `first`, `second`, `items`, and `rows` of counts: first person's answer down, second
        person's across, in the order of `scale` with "cannot judge" last.
    """
    by_annotator: dict[str, dict[str, int | None]] = defaultdict(dict)
    for row in ratings:
        by_annotator[row.annotator][row.item_id] = row.grade
    order: list[int | None] = [*scale, None]
    found = []
    for first, second in combinations(sorted(by_annotator), 2):
        one, two = by_annotator[first], by_annotator[second]
        counted = Counter((one[item], two[item]) for item in one.keys() & two.keys())
        if counted:
            rows = [[counted[down, across] for across in order] for down in order]
            found.append({"first": first, "second": second, "items": counted.total(), "rows": rows})
    return found
