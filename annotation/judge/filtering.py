"""Which candidates people should see first: those a judge is least sure of. Never a verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from schemas.review import ReviewAnnotation, ReviewCandidate

Doubt = Literal["contradictory", "against_rule", "not_judged", "middle", "none"]
DOUBTS: Final[dict[Doubt, str]] = {
    "contradictory": "Judges disagree, or one gives another grade when the order is swapped.",
    "against_rule": "The judge's grade is not that of the rule.",
    "not_judged": "No judge gave a grade.",
    "middle": "The grade is neither 0 nor the highest of the task.",
    "none": "Judges, and the rule if there is one, agree on the lowest or highest grade.",
}
"""Doubts, the gravest first."""


def doubts(
    candidates: Iterable[ReviewCandidate], annotations: Iterable[ReviewAnnotation], highest: int
) -> dict[str, Doubt]:
    """Candidate id -> how sure its judges are, from current rows of role judge alone.

    `highest` is the best grade of the task.
    """
    by_candidate: dict[str, list[ReviewAnnotation]] = defaultdict(list)
    for row in annotations:
        if row.role == "judge" and row.state == "current":
            by_candidate[row.candidate_id].append(row)
    return {item.id: _doubt(item, by_candidate.get(item.id, ()), highest) for item in candidates}


def _doubt(candidate: ReviewCandidate, rows: Sequence[ReviewAnnotation], highest: int) -> Doubt:
    grades = {row.grade for row in rows if row.grade is not None}
    if len(grades) > 1 or any(row.reason == "unstable" for row in rows):
        return "contradictory"
    if not grades:
        return "not_judged"
    grade = grades.pop()
    if candidate.rule_grade is not None and candidate.rule_grade != grade:
        return "against_rule"
    return "middle" if 0 < grade < highest else "none"


def judge_filter(
    candidates: Iterable[ReviewCandidate], annotations: Iterable[ReviewAnnotation], highest: int
) -> tuple[ReviewCandidate, ...]:
    """All candidates, the most uncertain first, those of equal doubt in the order given.

    Nothing is left out: what a judge is sure of comes last, and gets no verdict by it.
    """
    listed = list(candidates)
    found = doubts(listed, annotations, highest)
    rank = {doubt: place for place, doubt in enumerate(DOUBTS)}
    return tuple(sorted(listed, key=lambda item: rank[found[item.id]]))
