"""Each annotator on gold items: accuracy, bias, alarm, and the course of the alarm's chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.agreement.drift import ACCEPTED, TOO_MANY, AnnotatorCheck, Chart, GoldAnswer, chart, check
from schemas.review import ReviewAnnotation, ReviewCandidate


def is_gold(candidate: ReviewCandidate) -> bool:
    """Whether the candidate's grade was known before anybody answered."""
    return candidate.known_grade is not None


def gold_checks(
    candidates: Mapping[str, ReviewCandidate], answers: Sequence[ReviewAnnotation]
) -> dict[str, Any]:
    """Answers to gold items against their known grades; "cannot judge" is counted, but is no error.

    Args:
        candidates: by id.
        answers: current answers of annotators.

    Returns:
        JSON values: the chart's settings and one row for each annotator who met a gold item.

    Raises:
        InputError: two answers of one annotator have the same place in their sequence.
    """
    graded: list[GoldAnswer] = []
    ungraded: dict[str, int] = {}
    for row in answers:
        known = candidates[row.candidate_id].known_grade
        if known is None:
            continue
        ungraded.setdefault(row.annotator, 0)
        if row.grade is None:
            ungraded[row.annotator] += 1
        else:
            graded.append(GoldAnswer(row.annotator, row.sequence, row.candidate_id, row.grade, known))
    limits = chart()
    checks = {item.annotator: item for item in check(graded)}
    courses = {name: _course(name, graded, limits) for name in checks}
    return {
        "accepted_error_rate": ACCEPTED,
        "error_rate_to_find": TOO_MANY,
        "step": limits.step,
        "limit": limits.limit,
        "horizon": limits.horizon,
        "false_alarm": round(limits.false_alarm, 6),
        "annotators": [
            _row(name, checks.get(name), ungraded[name], courses.get(name, [])) for name in sorted(ungraded)
        ],
    }


def _row(annotator: str, found: AnnotatorCheck | None, ungraded: int, course: list[int]) -> dict[str, Any]:
    row: dict[str, Any] = {"annotator": annotator, "answers": 0, "cannot_judge": ungraded, "course": course}
    row |= dict.fromkeys(("accuracy", "low", "high", "bias", "alarm_at", "since"))
    if found is not None:
        row |= {
            "answers": found.answers,
            "accuracy": round(found.accuracy, 12),
            "low": round(found.low, 12),
            "high": round(found.high, 12),
            "bias": round(found.bias, 12),
            "alarm_at": found.alarm_at,
            "since": found.since,
        }
    return row


def _course(annotator: str, answers: Sequence[GoldAnswer], limits: Chart) -> list[int]:
    """The chart's count after each gold answer; an error adds step - 1, a right answer takes 1."""
    own = sorted((row for row in answers if row.annotator == annotator), key=lambda row: row.order)
    counts, state = [], 0
    for row in own:
        state = max(0, state + (limits.step - 1 if row.grade != row.gold else -1))
        counts.append(state)
    return counts
