"""What is set aside of people's projects, with task, link and account, and what was decided about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.foreign import Decision, Held, decided, lent, standing
from annotation.layouts import answer
from annotation.sync import ForeignAnswer, Lent, merge
from annotation.sync.answers import Reader
from flows.review.conflicts import task_link
from flows.review.notes import Noted, people_of, read_noted
from flows.review.store import ReviewFolder
from flows.review.tasks import offered
from schemas.errors import WorkspaceError
from schemas.review import REPORTS, ReviewAnnotation, Role

FOREIGN = "foreign.json"


def decisions(folder: ReviewFolder) -> list[Decision]:
    """Decisions that were recorded, in order.

    Raises:
        WorkspaceError: the file is damaged.
    """
    rows = folder.json(FOREIGN).get("decisions", ())
    try:
        return [Decision(**{**row, "answer": ForeignAnswer(**row["answer"])}) for row in rows]
    except (TypeError, KeyError) as error:
        raise WorkspaceError("a file of the review is damaged", file=str(folder.path / FOREIGN)) from error


def note_reports(folder: ReviewFolder, aside: Iterable[Mapping[str, Any]]) -> None:
    """Keep foreign answers that report an item: a report stands whatever becomes of the answer."""
    body = folder.json(FOREIGN)
    known = list(body.get("reported", ()))
    names = {row["id"] for row in known}
    new = [asdict(one) for _, one in held(aside) if one.reason in REPORTS and one.id not in names]
    if new:
        folder.write_json(FOREIGN, {**body, "reported": [*known, *new]})


def reported_elsewhere(folder: ReviewFolder) -> list[ReviewAnnotation]:
    """Reports that were given in another person's project, as answers of who gave them."""
    rows = folder.json(FOREIGN).get("reported", ())
    return [ForeignAnswer(**row).annotation("") for row in rows]


def notes_of(folder: ReviewFolder) -> dict[tuple[str, Role], Noted]:
    """What each person's project was last seen to hold."""
    return {key: read_noted(folder, *key) for key in people_of(folder)}


def held(aside: Iterable[Mapping[str, Any]]) -> list[Held]:
    """The foreign answers among what is set aside."""
    return [(item["answer_id"], ForeignAnswer(**item["foreign"])) for item in aside if item.get("foreign")]


def all_held(folder: ReviewFolder) -> list[Held]:
    """Foreign answers that the projects of a review were last seen to hold."""
    return held(item for noted in notes_of(folder).values() for item in noted.quarantine)


def set_aside(
    folder: ReviewFolder, annotator: str, role: Role, noted: Noted, server: str
) -> list[dict[str, Any]]:
    """What is set aside in one project and not decided about, each with its task and where that is.

    Args:
        folder: the review.
        annotator: whose project it is.
        role: in which that person answers there.
        noted: what the project was last seen to hold.
        server: its address, '' when none is known.
    """
    state = decided(decisions(folder))
    open_ones = {number for number, _ in standing(held(noted.quarantine), state)}
    places = {
        row.candidate_id: row.place
        for row in folder.allotments()
        if (row.annotator, row.role) == (annotator, role)
    }
    told = []
    for item in noted.quarantine:
        foreign = item.get("foreign")
        if foreign and item["answer_id"] not in open_ones:
            continue
        told.append(
            {
                "reason": item["reason"],
                "detail": item["detail"],
                "candidate_id": item["candidate_id"],
                "place": places.get(item["candidate_id"]),
                "project_of": annotator,
                "role": role,
                "link": task_link(server, noted.project, item["task_id"]),
            }
            | (_answer(foreign) if foreign else {})
        )
    return told


def _answer(foreign: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "answer": foreign["id"],
        "given_by": foreign["given_by"],
        "grade": foreign["grade"],
        "cannot_judge": foreign["reason"],
        "comment": foreign["comment"],
        "is_readable": foreign["is_readable"],
        "after_owner": foreign["after_owner"],
    }


def lent_to(folder: ReviewFolder, reader: Reader, found: Sequence[Held]) -> dict[str, Lent]:
    """What stands in other projects and counts for a person, by candidate."""
    if reader.role != "annotator":
        return {}
    return lent(found, decided(decisions(folder)), reader.annotator, reader.task)


def apply_lent(folder: ReviewFolder, giver: str, found: Sequence[Held], *, accept: bool = False) -> None:
    """Bring the rows of one person up to date with what is decided, without a look at the own project."""
    if giver not in decided(decisions(folder)).givers():
        return
    rows = folder.annotations()
    example = folder.candidates()[0]
    reader, allowed = Reader(giver, "annotator", example.task, None), offered(example)
    before = [row for row in rows if (row.annotator, row.role) == (giver, "annotator")]
    theirs = lent_to(folder, reader, found)
    for row in before:  # the own project's answer goes before, and this sees only what was taken of it
        item = theirs.get(row.candidate_id)
        if item is not None and row.state == "current" and row.id not in item.ever:
            del theirs[row.candidate_id]
    others = [row for row in rows if (row.annotator, row.role) != (giver, "annotator")]
    made = merge(before, (), reader, lambda _, result: answer(result, allowed), accept=accept, lent=theirs)
    folder.write_annotations([*others, *made.rows])
