"""A review that never was: candidates with a truth, and clinicians who err by a known confusion matrix."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from schemas.review import (
    CANNOT_JUDGE,
    ReviewAnnotation,
    ReviewCandidate,
    ShownItem,
    annotation_id,
    candidate_id,
)

TASK = "visual_context"
SPECIALTIES = ("cardiology", "radiology", "neurology", "")
CONFUSION: Mapping[str, Sequence[Sequence[float]]] = {
    "A1": ((0.94, 0.05, 0.01), (0.08, 0.84, 0.08), (0.01, 0.05, 0.94)),
    "A2": ((0.88, 0.10, 0.02), (0.12, 0.76, 0.12), (0.02, 0.08, 0.90)),
    "A3": ((0.78, 0.15, 0.07), (0.18, 0.64, 0.18), (0.05, 0.15, 0.80)),
}
"""Annotator -> chance of each grade (across) given the true one (down)."""
PREVALENCE = (0.45, 0.15, 0.40)


def candidate(
    number: int, *, gold: int | None = None, specialty: str = "", task: str = TASK
) -> ReviewCandidate:
    """One candidate of invented words."""
    shown = (
        ShownItem(name="query_text", value=f"Figure {number}: axial CT of the chest."),
        ShownItem(name="document_text", value=f"Passage {number} on the lungs."),
    )
    query, document = f"q{number}", f"d{number}"
    return ReviewCandidate(
        id=candidate_id("relevance_text", task, query, document, shown),
        dataset="simulated",
        task=task,
        kind="relevance_text",
        query_id=query,
        corpus_id=document,
        shown=shown,
        origin="positive" if gold is None else "gold",
        known_grade=gold,
        specialty=specialty,
        language="de" if number % 10 == 3 else "en",
    )


def answer(
    item: ReviewCandidate,
    annotator: str,
    grade: int | None,
    sequence: int,
    *,
    reason: str = "",
    seconds: float = 0,
) -> ReviewAnnotation:
    """One current answer of an annotator."""
    return ReviewAnnotation(
        id=annotation_id(item.id, annotator, "annotator", grade, reason),
        candidate_id=item.id,
        task=item.task,
        annotator=annotator,
        role="annotator",
        grade=grade,
        reason=reason,
        seconds=seconds,
        sequence=sequence,
    )


def simulate(
    items: int, *, seed: int = 7, gold_every: int = 8, fails_after: float = 1.0
) -> tuple[list[ReviewCandidate], list[ReviewAnnotation]]:
    """Candidates and the answers of three clinicians; A3 grades at random after a share of the items."""
    draw = random.Random(seed)
    candidates, annotations = [], []
    for number in range(items):
        truth = draw.choices((0, 1, 2), PREVALENCE)[0]
        is_gold = number % gold_every == 0
        truth = draw.choice((0, 2)) if is_gold else truth
        item = candidate(number, gold=truth if is_gold else None, specialty=draw.choice(SPECIALTIES))
        candidates.append(item)
        for annotator, rows in CONFUSION.items():
            grade: int | None = draw.choices((0, 1, 2), rows[truth])[0]
            if annotator == "A3" and number >= fails_after * items:
                grade = draw.choice((0, 1, 2))
            reason = draw.choice(sorted(CANNOT_JUDGE)) if draw.random() < 0.03 else ""
            seconds = round(draw.lognormvariate(3.4, 0.5), 1)
            told = None if reason else grade
            annotations.append(answer(item, annotator, told, number + 1, reason=reason, seconds=seconds))
    return candidates, annotations
