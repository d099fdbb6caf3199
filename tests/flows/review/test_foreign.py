"""Decisions about answers in another person's project, from what pulls have noted; no server is asked."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from annotation.foreign import Choice
from annotation.layouts import answer
from annotation.sync import TaskAnswers, merge
from annotation.sync.answers import Reader, ServerAnswer
from flows.engine.workspace import Workspace
from flows.review.aside import FOREIGN, decisions, note_reports
from flows.review.foreign import decide, foreign
from flows.review.notes import Noted, write_noted
from flows.review.reports import lift, of_folder, reports
from flows.review.store import ReviewFolder
from flows.review.tasks import offered
from schemas.errors import UsageError, WorkspaceError
from schemas.review import Allotment
from tests.flows.review.small_review import form, grades, review

SEEN = Reader("A1", "annotator", "visual_context", 1, {1: "A1", 2: "A2", 9: "A9"})


@pytest.fixture
def folder(workspace: Workspace) -> ReviewFolder:
    """A review of two items in which A2 and A9, who was given nothing, answered in A1's project."""
    made = review(workspace, "noted", 2, ("A1", "A2"))
    rows = made.candidates()
    found = [
        TaskAnswers(
            number,
            row.id,
            False,
            tuple(
                ServerAnswer(
                    10 * number + account, account, form("2"), False, 1.0, f"2026-01-01T00:0{account}"
                )
                for account in (2, 9)
            ),
        )
        for number, row in enumerate(rows, 1)
    ]
    pulled = merge((), found, SEEN, lambda _, result: answer(result, offered(rows[0])))
    write_noted(
        made, "A1", "annotator", Noted(7, "then", quarantine=[asdict(one) for one in pulled.quarantined])
    )
    return made


def ids(folder: ReviewFolder, given_by: str) -> list[str]:
    root = str(folder.path.parents[2])
    told = foreign(root, "noted")[0]["standing"]
    return [item["answer"] for item in told if item["given_by"] == given_by]


def choose(folder: ReviewFolder, name: str, choice: Choice = "assigned") -> None:
    decide(str(folder.path.parents[2]), name, choice, " Ada\nM. ", "wrong  tab")


def test_a_decision_holds_at_once_and_once(folder: ReviewFolder) -> None:
    table, kept = folder.path / "annotations.parquet", folder.path / FOREIGN
    first, second = ids(folder, "A2")
    choose(folder, first)
    before = table.read_bytes(), kept.read_bytes()
    assert list(grades(folder, "A2").values()) == [(2, "current")] and ids(folder, "A2") == [second]
    table.unlink()
    choose(folder, first)  # a run that was killed before it had written both
    assert (table.read_bytes(), kept.read_bytes()) == before
    choose(folder, first, "ask_again")
    choose(folder, second, "ask_again")
    assert list(grades(folder, "A2").values()) == [(2, "withdrawn")] and ids(folder, "A2") == []
    assert [(one.decision, one.by, one.why) for one in decisions(folder)][:1] == [
        ("assigned", "Ada M.", "wrong tab")
    ]
    choose(folder, ids(folder, "A9")[0])
    assert list(grades(folder, "A9").values()) == [(2, "current")], "somebody who has no project of their own"


def test_what_cannot_be_decided_is_refused(folder: ReviewFolder) -> None:
    root = str(folder.path.parents[2])
    (first, second), rows = ids(folder, "A2"), folder.candidates()
    for by, why in (("", "x"), ("x", " ")):
        with pytest.raises(UsageError, match="who made it and why"):
            decide(root, first, "assigned", by, why)
    with pytest.raises(UsageError, match="no such answer") as caught:
        choose(folder, "foreign:0")
    assert "review foreign" in str(caught.value.hint)
    third = Allotment(
        candidate_id=rows[0].id, task="visual_context", annotator="A2", role="adjudicator", place=1
    )
    folder.write_allotments([*folder.allotments(), third])
    choose(folder, second)
    with pytest.raises(UsageError, match="A2 is the adjudicator"):
        choose(folder, first)
    own = replace(folder.annotations()[0], id="ann:own", candidate_id=rows[0].id, annotator="A9", grade=0)
    folder.write_annotations([*folder.annotations(), own])
    with pytest.raises(UsageError, match="A9 has answered this pair already"):
        choose(folder, ids(folder, "A9")[0])
    assert len(decisions(folder)) == 1
    Path(folder.path / FOREIGN).write_text('{"decisions": [{"by": "x"}]}')
    with pytest.raises(WorkspaceError, match="damaged"):
        foreign(root, "noted")


def test_a_report_in_anothers_project_is_heard_whatever_becomes_of_it(folder: ReviewFolder) -> None:
    root, row = str(folder.path.parents[2]), folder.candidates()[0]
    choices = [form("cannot_judge")[0], {**form("privacy")[0], "from_name": "reason"}]
    found = [TaskAnswers(1, row.id, False, (ServerAnswer(12, 9, choices, False, 1.0, "2026-01-01T00:01"),))]
    pulled = merge((), found, SEEN, lambda _, result: answer(result, offered(row)))
    aside = [asdict(one) for one in pulled.quarantined]
    write_noted(folder, "A1", "annotator", Noted(7, "then", quarantine=aside))
    for _ in range(2):
        note_reports(folder, aside)
    choose(folder, ids(folder, "A9")[0], "ask_again")
    write_noted(folder, "A1", "annotator", Noted())  # the server is gone
    assert [(one.candidate.id, one.reasons) for one in of_folder(folder)] == [(row.id, ("privacy",))]
    (told,) = reports(root, "noted")[0]["standing"]
    assert told["annotators"] == ["A9"]
    lift(root, row.id, "Ada", "no name")
    assert of_folder(folder) == []
