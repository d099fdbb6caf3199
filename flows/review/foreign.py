"""Answers in another person's project: told with task, link and account; assigned, or asked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from annotation.foreign import Choice, Decision, Held, decided, lent, objection, place, standing
from annotation.layouts import answer
from annotation.sync import ForeignAnswer, Lent, merge
from annotation.sync.answers import Reader
from flows.engine.session import read_session, write_session
from flows.engine.workspace import Workspace
from flows.review.notes import Noted, people_of, read_noted
from flows.review.server import address
from flows.review.store import ReviewFolder, review_folders
from flows.review.tasks import offered
from schemas.errors import UsageError, WorkspaceError
from schemas.review import Role

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


def notes_of(folder: ReviewFolder) -> dict[tuple[str, Role], Noted]:
    """What each person's project was last seen to hold."""
    return {key: read_noted(folder, *key) for key in people_of(folder)}


def held(aside: Iterable[Mapping[str, Any]]) -> list[Held]:
    """The foreign answers among what is set aside."""
    return [(item["answer_id"], ForeignAnswer(**item["foreign"])) for item in aside if item.get("foreign")]


def _all_held(folder: ReviewFolder) -> list[Held]:
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
                "link": f"{server}/projects/{noted.project}/data?task={item['task_id']}" if server else "",
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


def count_foreign(folder: ReviewFolder) -> int:
    """How many answers in another person's project nobody has decided about."""
    return len(standing(_all_held(folder), decided(decisions(folder))))


def foreign(root: str | None, review: str) -> list[dict[str, Any]]:
    """Answers in another person's project, with where to look, and decisions made; asks no server.

    Raises:
        UsageError: no such review.
    """
    workspace = read_session(root).workspace
    server = address(workspace) or ""
    return [
        {
            "review": f"{dataset}/{task}",
            "standing": [
                item
                for (annotator, role), noted in notes_of(folder).items()
                for item in set_aside(folder, annotator, role, noted, server)
                if "answer" in item
            ],
            "decisions": [asdict(one) for one in decisions(folder)],
        }
        for dataset, task, folder in review_folders(workspace, review)
    ]


def decide(root: str | None, name: str, choice: Choice, by: str, why: str) -> Decision:
    """Record what becomes of an answer in another person's project; it holds at once.

    Args:
        root: folder of the workspace.
        name: id of the answer.
        choice: it counts as an answer of the person who gave it, or for nobody.
        by: who decides.
        why: the reason.

    Raises:
        UsageError: there is no such answer, it cannot be assigned, or it is not said who decides and why.
    """
    if not by.strip() or not why.strip():
        raise UsageError("a decision needs who made it and why", hint="--by NAME --why TEXT")
    with write_session(root) as session:
        folder, chosen = _find(session.workspace, name)
        before = decisions(folder)
        state, found = decided(before), _all_held(folder)
        if choice == "assigned":
            candidates = {row.id: row for row in folder.candidates()}
            wrong = objection(chosen, candidates, folder.allotments(), folder.annotations(), state)
            if wrong:
                raise UsageError(
                    f"this answer cannot be assigned: {wrong}",
                    record=name,
                    hint=f"medqrels review foreign --ask-again {name} --by NAME --why TEXT",
                )
        made = Decision(choice, chosen, " ".join(by.split()), " ".join(why.split()))
        more = [made]
        if choice == "ask_again":  # the answer that was assigned may have been changed to this one since
            more += [
                replace(made, answer=old)
                for old in state.assigned.values()
                if old.id != name
                and place(old) == place(chosen)
                and old.id not in {one.id for _, one in found}
            ]
        folder.write_json(FOREIGN, {"decisions": [asdict(one) for one in (*before, *more)]})
        apply_lent(folder, chosen.given_by, found)
        return made


def lent_to(folder: ReviewFolder, reader: Reader, found: Sequence[Held]) -> dict[str, Lent]:
    """What stands in other projects and counts for a person, by candidate."""
    if reader.role != "annotator":
        return {}
    return lent(found, decided(decisions(folder)), reader.annotator, reader.task)


def apply_lent(folder: ReviewFolder, giver: str, found: Sequence[Held]) -> None:
    """Bring the rows of one person up to date with what is decided, as the next pull does."""
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
    made = merge(before, (), reader, lambda _, result: answer(result, allowed), lent=theirs)
    folder.write_annotations([*others, *made.rows])


def _find(workspace: Workspace, name: str) -> tuple[ReviewFolder, ForeignAnswer]:
    for _, _, folder in review_folders(workspace):
        listed = [found for _, found in _all_held(folder)]
        for found in (*listed, *(one.answer for one in decisions(folder))):
            if found.id == name:
                return folder, found
    raise UsageError(
        "no such answer in another person's project",
        record=name,
        hint="medqrels review foreign lists them, as of the last medqrels review pull",
    )
