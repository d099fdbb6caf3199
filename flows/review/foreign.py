"""The verb `review foreign`: answers in another person's project are listed, assigned, or asked again."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from annotation.foreign import Choice, Decision, decided, objection, place
from annotation.sync import ForeignAnswer
from flows.engine.session import read_session, write_session
from flows.engine.workspace import Workspace
from flows.review.aside import FOREIGN, all_held, apply_lent, decisions, notes_of, set_aside
from flows.review.server import address
from flows.review.store import ReviewFolder, review_folders
from schemas.errors import UsageError


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
    """Record what becomes of an answer in another person's project: it holds at once.

    The same decision again is not recorded twice.

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
        state, found = decided(before), all_held(folder)
        if choice == "assigned":
            candidates = {row.id: row for row in folder.candidates()}
            wrong = objection(chosen, candidates, folder.allotments(), folder.annotations(), state)
            if wrong:
                raise UsageError(
                    f"this answer cannot be assigned: {wrong}",
                    record=name,
                    hint=f"medqrels review foreign --ask-again {name} --by NAME --why TEXT",
                )
        last = next((one for one in reversed(before) if one.answer.id == name), None)
        if last is not None and last.decision == choice:  # recorded before, perhaps by a run that was killed
            apply_lent(folder, chosen.given_by, found)
            return last
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
        recorded = [asdict(one) for one in (*before, *more)]
        folder.write_json(FOREIGN, {**folder.json(FOREIGN), "decisions": recorded})
        apply_lent(folder, chosen.given_by, found)
        return made


def _find(workspace: Workspace, name: str) -> tuple[ReviewFolder, ForeignAnswer]:
    for _, _, folder in review_folders(workspace):
        listed = [found for _, found in all_held(folder)]
        for found in (*listed, *(one.answer for one in decisions(folder))):
            if found.id == name:
                return folder, found
    raise UsageError(
        "no such answer in another person's project",
        record=name,
        hint="medqrels review foreign lists them, as of the last medqrels review pull",
    )
