"""Answers in another person's project: who may have them, and what decisions make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotation.foreign import Decision, decided, lent, objection, standing
from annotation.layouts import Answer
from annotation.sync import ForeignAnswer, TaskAnswers, merge, wrong_overlaps
from annotation.sync.answers import Reader, ServerAnswer
from schemas.review import Allotment, ReviewAnnotation, ReviewCandidate
from tests.annotation.review_samples import candidate

A1 = Reader("A1", "annotator", "visual_context", 1, {1: "A1", 2: "A2", 3: "ADJ1"})
A2 = replace(A1, annotator="A2", account=2)


def read(_: str, result: Any) -> Answer:
    return Answer(result[0]["grade"], "", "")


def said(number: int, account: int, grade: int, minute: int = 0) -> ServerAnswer:
    return ServerAnswer(number, account, [{"grade": grade}], False, 2.0, f"2026-01-01T00:{minute:02}")


def task(*given: ServerAnswer, overlap: int = 1, is_done: bool = False) -> TaskAnswers:
    return TaskAnswers(1, "c1", False, given, overlap, is_done)


def strangers(*given: ServerAnswer, reader: Reader = A1) -> list[tuple[int, ForeignAnswer]]:
    """Foreign answers of one task, as a pull finds them."""
    pulled = merge([], [task(*given)], reader, read)
    return [(item.answer_id, item.foreign) for item in pulled.quarantined if item.foreign]


def decision(choice: Any, answer: ForeignAnswer) -> Decision:
    return Decision(choice, answer, "M", "wrong tab")


def rows_of(
    found: list[tuple[int, ForeignAnswer]],
    decisions: list[Decision],
    before: Any = (),
    own: tuple[ServerAnswer, ...] = (),
    *,
    accept: bool = False,
) -> tuple[ReviewAnnotation, ...]:
    """A2's rows after a pull: the same pull again changes nothing."""
    theirs = lent(found, decided(decisions), "A2", "visual_context")

    def pull(rows: Any, accept: bool) -> tuple[ReviewAnnotation, ...]:
        return merge(rows, [task(*own)], A2, read, is_complete=True, accept=accept, lent=theirs).rows

    made = pull(before, accept)
    assert pull(made, False) == made
    return made


def states(rows: tuple[ReviewAnnotation, ...]) -> set[tuple[int | None, str]]:
    return {(row.grade, row.state) for row in rows}


def test_a_foreign_answer_says_whose_it_is_and_what_was_open_to_see() -> None:
    given = [said(1, 2, 0, 1), said(2, 1, 2, 5), said(3, 9, 1, 7)]
    (_, early), (_, late) = strangers(*given)
    assert (early.given_by, early.project_of, early.grade, early.after_owner) == ("A2", "A1", 0, False)
    assert (late.given_by, late.after_owner) == ("account 9", True)
    assert early.id != late.id and early.id.startswith("foreign:")
    ((_, again),) = strangers(said(99, 2, 0, 30))
    assert again.id == early.id, "not of its number on a server"


@pytest.mark.parametrize(
    ("accounts", "overlap", "is_done", "wrong"),
    [
        ((1,), 1, True, None),
        ((), 1, False, None),
        ((2,), 1, True, (2, False)),
        ((2, 9), 2, True, (3, False)),
        ((1, 2), 1, True, (2, True)),
        ((1, 2), 2, True, None),
        ((2,), 2, False, None),
        ((1, 2), 2, False, (2, True)),  # answered while it was put back
        ((1,), 2, False, (1, True)),  # the other answer was deleted
    ],
)
def test_a_task_is_done_when_its_own_person_has_answered(
    accounts: tuple[int, ...], overlap: int, is_done: bool, wrong: tuple[int, bool] | None
) -> None:
    given = [said(number, account, 1) for number, account in enumerate(accounts)]
    found = [task(*given, overlap=overlap, is_done=is_done)]
    assert wrong_overlaps(found, A1) == ([(1, *wrong)] if wrong else [])
    assert wrong_overlaps(found, replace(A1, account=None)) == []


def test_an_assigned_answer_counts_until_the_own_project_has_one() -> None:
    found = strangers(said(1, 2, 0))
    choice = [decision("assigned", found[0][1])]
    rows = rows_of(found, choice)
    assert states(rows) == {(0, "current")}
    assert rows_of([], choice, rows) == rows == rows_of([], choice), "the server lost it, or all of it"
    assert standing(found, decided(choice)) == []
    rows = rows_of(found, choice, rows, (said(5, 2, 2),))
    assert states(rows) == {(0, "superseded"), (2, "current")}


def test_an_assigned_answer_that_changed_is_a_conflict() -> None:
    found = strangers(said(1, 2, 0))
    choice = [decision("assigned", found[0][1])]
    rows = rows_of(found, choice)
    for grade, before in ((1, 0), (2, 1)):
        found = strangers(said(1, 2, grade))
        torn = rows_of(found, choice, rows)
        assert {(before, "conflict"), (grade, "conflict")} <= states(torn)
        assert standing(found, decided(choice)) == [], "told as a conflict"
        rows = rows_of(found, choice, torn, accept=True)
        assert (grade, "current") in states(rows) and len(states(rows)) == grade + 1


def test_a_decision_can_be_taken_back_and_a_second_answer_is_told_apart() -> None:
    found = strangers(said(1, 2, 0), said(2, 2, 2, 9))
    first, second = (answer for _, answer in found)
    choice = [decision("assigned", first)]
    assert states(rows := rows_of(found, choice)) == {(0, "current")}
    assert standing(found, decided(choice)) == found[1:]
    choice.append(decision("ask_again", second))
    assert rows_of(found, choice, rows) == rows and standing(found, decided(choice)) == []
    choice.append(decision("ask_again", first))
    assert states(rows := rows_of(found, choice, rows)) == {(0, "withdrawn")}
    changed = strangers(said(1, 2, 1))
    assert standing(changed, decided(choice)) == changed, "another answer than the ignored one"
    choice.append(decision("assigned", first))
    assert states(rows_of(found, choice, rows)) == {(0, "current")}


def test_what_cannot_be_assigned_says_why() -> None:
    shown = {"query_text": "Axial CT of the chest.", "document_text": "A nodule."}
    item = replace(candidate("relevance_text", "visual_context", shown), id="c1")
    older = replace(item, id="c0")
    listed: dict[str, ReviewCandidate] = {row.id: row for row in (item, older)}
    ((_, answer),) = strangers(said(1, 2, 0))
    nothing = decided([])
    third = Allotment(candidate_id="c0", task="visual_context", annotator="A2", role="adjudicator", place=1)
    own = replace(answer, candidate_id="c0", grade=2).annotation("visual_context")

    def why(one: ForeignAnswer = answer, given: Any = (), rows: Any = (), state: Any = nothing) -> str:
        return objection(one, listed, given, rows, state)

    assert why() == ""
    assert "pseudonym" in why(strangers(said(1, 9, 0))[0][1])
    assert "layout" in why(replace(answer, is_readable=False))
    assert "adjudicator's project" in why(replace(answer, role="adjudicator"))
    assert "not one of this review" in why(replace(answer, candidate_id="c7"))
    assert "is the adjudicator" in why(given=[third])
    assert "answered this pair" in why(rows=[own]) and why(rows=[replace(own, state="withdrawn")]) == ""
    elsewhere = replace(answer, project_of="A3")
    assert "answered this pair" in why(state=decided([decision("assigned", elsewhere)]))
    same = decided([decision("assigned", answer)])
    assert why(rows=[answer.annotation("visual_context")], state=same) == "", "assigned before"
