"""Which items a third person decides, who that is, and what the readers' reasons look like without names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.assignment import Person, allot
from annotation.verdicts import Dispute, Terms, conclude, counted
from schemas.hashing import sha256_text
from schemas.review import CANNOT_JUDGE, Allotment, ReviewAnnotation, ReviewCandidate

DISPUTES: dict[Dispute, str] = {
    "distant_grades": "The annotators' grades are two or more apart.",
    "cannot_judge": "One annotator could not judge the item, another gave a grade.",
    "gold_missed": "An annotator's answer to a gold item is wrong.",
}
"""Why an item goes to a third person."""


@dataclass(frozen=True, slots=True)
class Disputed:
    """One item for an adjudicator. `rationales` quote the annotators, in an order that names nobody."""

    candidate_id: str
    task: str
    reason: Dispute
    annotators: tuple[str, ...]
    rationales: tuple[str, ...]


def select(
    annotations: Iterable[ReviewAnnotation], candidates: Iterable[ReviewCandidate], terms: Terms
) -> list[Disputed]:
    """Items that need an adjudicator's answer and have none yet, by candidate id.

    Args:
        annotations: answers of any state and role; only current ones of people count.
        candidates: what was asked.
        terms: how many annotators an item needs.
    """
    answers = counted(annotations)
    found = []
    for candidate in sorted(candidates, key=lambda item: item.id):
        rows = answers.get(candidate.id, [])
        reason = conclude(candidate, rows, terms).dispute
        if reason is not None:
            names = tuple(sorted(row.annotator for row in rows))
            found.append(
                Disputed(candidate.id, candidate.task, reason, names, rationales(candidate.id, rows))
            )
    return found


def rationales(candidate_id: str, rows: Sequence[ReviewAnnotation]) -> tuple[str, ...]:
    """Each annotator's answer and comment, without pseudonyms, in an order drawn from the item's hash."""
    drawn = sorted(rows, key=lambda row: sha256_text(f"{candidate_id}\x00{row.annotator}\x00{row.id}"))
    return tuple(
        f"Annotator {number}: {_answer(row)}" + (f" — {comment}" if (comment := row.comment.strip()) else "")
        for number, row in enumerate(drawn, start=1)
    )


def _answer(row: ReviewAnnotation) -> str:
    if row.grade is not None:
        return f"grade {row.grade}"
    return f"cannot judge: {CANNOT_JUDGE.get(row.reason, row.reason)}"


def third_persons(
    disputed: Sequence[Disputed],
    candidates: Mapping[str, ReviewCandidate],
    people: Sequence[Person],
    given: Sequence[Allotment],
) -> tuple[list[Allotment], list[str]]:
    """Give each disputed item to one person who has not read it, and say which items nobody is left for.

    Args:
        disputed: see `select`.
        candidates: by id.
        people: adjudicators; if none is marked as one, everybody may be.
        given: allotments so far, annotators' and adjudicators'; what was given stays.
    """
    chosen = [person for person in people if person.adjudicates] or list(people)
    read = {(row.candidate_id, row.annotator) for row in given if row.role == "annotator"}
    for item in disputed:
        read |= {(item.candidate_id, name) for name in item.annotators}
    items = [candidates[item.candidate_id] for item in disputed]
    made = allot(items, chosen, given, per_item=1, role="adjudicator", barred=read)
    return made.allotments, [candidate for candidate, _ in made.short]
