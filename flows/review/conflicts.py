"""Conflicts by name: which item, where it is on the server, what counted, and what stands there now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.sync.answers import Pulled
from annotation.sync.diff import CONFLICTS
from flows.review.notes import read_noted
from flows.review.store import ReviewFolder
from schemas.review import ReviewAnnotation, ReviewCandidate, Role

CHANGED = "changed"
"""Kind of a conflict between answers; the others are those of tasks (annotation.sync.diff.CONFLICTS)."""
KINDS: Mapping[str, str] = {
    CHANGED: "The answer was changed, given twice or deleted after it had been fetched."
} | dict(CONFLICTS.items())


def task_link(server: str, project: int, task: int) -> str:
    """Where a task is on the server, '' while no server is known."""
    return f"{server}/projects/{project}/data?task={task}" if server and project and task else ""


def differing(
    before: Iterable[ReviewAnnotation], pulled: Pulled, noted: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Candidate in conflict -> id of the answer that `counted`, '' if none did, and of those `there` now.

    Args:
        before: one person's rows before a pull.
        pulled: what the pull made of them.
        noted: what this function gave for the pull before.
    """
    counted = {row.candidate_id: row.id for row in before if row.state == "current"}
    in_conflict: dict[str, list[str]] = {}
    for row in pulled.rows:
        if row.state == "conflict":
            in_conflict.setdefault(row.candidate_id, []).append(row.id)
    found = {}
    for name, rows in in_conflict.items():
        known = noted.get(name, {})
        there = list(pulled.there.get(name, known.get("there", ())))
        gone = [one for one in rows if one not in there]
        was_noted = counted.get(name, known.get("counted"))
        if was_noted is None:  # a pull was killed before it could note this
            was_noted = gone[0] if len(gone) == 1 else ""
        found[name] = {"counted": was_noted, "there": there}
    return found


def of_person(folder: ReviewFolder, annotator: str, role: Role, server: str) -> list[dict[str, Any]]:
    """What stands in conflict in one person's project, as last seen: by candidate, answers before tasks.

    Args:
        folder: the review.
        annotator: pseudonym.
        role: in which the person answers.
        server: its address, '' when none is known.
    """
    noted = read_noted(folder, annotator, role)
    rows = [row for row in folder.annotations() if (row.annotator, row.role) == (annotator, role)]
    answers = {row.id: row for row in rows}
    names = sorted({row.candidate_id for row in rows if row.state == "conflict"})
    tasks = {name: known.task_id for name, known in noted.tasks.items()}
    items = [
        {
            "kind": CHANGED,
            "candidate_id": name,
            "task_id": tasks.get(name, 0),
            "counted": _answer(answers.get(noted.changed.get(name, {}).get("counted", ""))),
            "there": [_answer(answers.get(one)) for one in noted.changed.get(name, {}).get("there", ())],
        }
        for name in names
    ]
    return linked([*items, *noted.conflicts], folder.candidates(), server, noted.project)


def linked(
    conflicts: Sequence[Mapping[str, Any]], candidates: Iterable[ReviewCandidate], server: str, project: int
) -> list[dict[str, Any]]:
    """Conflicts with the pair each is about and where it is on the server; a deleted task is nowhere."""
    pairs = {item.id: (item.query_id, item.corpus_id) for item in candidates}
    made = []
    for item in conflicts:
        query, document = pairs.get(item["candidate_id"], ("", ""))
        link = "" if item["kind"] == "deleted" else task_link(server, project, item["task_id"])
        made.append({**item, "query_id": query, "corpus_id": document, "link": link})
    return made


def _answer(row: ReviewAnnotation | None) -> dict[str, Any] | None:
    return None if row is None else {"grade": row.grade, "reason": row.reason, "comment": row.comment}
