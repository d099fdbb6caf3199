"""The task of what is reviewed: items of relevance are of one, items of the other kinds are not."""

from __future__ import annotations

from annotation.layouts import RELEVANCE, grades
from curation.tasks.registry import task_of
from schemas.review import Kind, ReviewCandidate
from schemas.task import Task


def task_for(kind: Kind, name: str) -> Task | None:
    """The task that says what is asked of items of a kind, None where the kind does.

    Raises:
        UsageError: relevance for a task that this code does not know.
    """
    return task_of(name) if kind in RELEVANCE else None


def offered(candidate: ReviewCandidate) -> tuple[int, ...]:
    """Grades that can be given to a candidate, ascending.

    Raises:
        UsageError: as :func:`task_for`.
    """
    return grades(candidate.kind, task_for(candidate.kind, candidate.task))
