"""Rules from answers to verdicts, each replayable from the log; judges count for nothing."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from annotation.verdicts import (
    ADJACENT,
    ADJUDICATED,
    MAJORITY,
    SINGLE,
    UNANIMOUS,
    Terms,
    conclude,
    counted,
    read_log,
    replay,
    resolve,
    write_log,
)
from schemas.errors import InputError
from schemas.record import to_table
from schemas.review import (
    Kind,
    ReviewAnnotation,
    ReviewCandidate,
    Role,
    ShownItem,
    Verdict,
    annotation_id,
    content_sha256,
)


def candidate(
    name: str = "cand:1", *, known: int | None = None, kind: Kind = "relevance_text"
) -> ReviewCandidate:
    return ReviewCandidate(
        id=name,
        dataset="d",
        task="summary",
        kind=kind,
        query_id=f"q-{name}",
        corpus_id=f"d-{name}",
        shown=(
            ShownItem(name="query_text", value="a query"),
            ShownItem(name="document_text", value=f"document of {name}"),
            ShownItem(name="document_image", value="ab" * 32),
        ),
        origin="positive" if known is None else "gold",
        known_grade=known,
    )


def answer(
    annotator: str,
    grade: int | None,
    *,
    role: Role = "annotator",
    of: str = "cand:1",
    comment: str = "",
    sequence: int = 1,
    **more: Any,
) -> ReviewAnnotation:
    reason = "" if grade is not None else "ambiguous"
    return ReviewAnnotation(
        id=annotation_id(of, annotator, role, grade, reason),
        candidate_id=of,
        task="summary",
        annotator=annotator,
        role=role,
        grade=grade,
        reason=reason,
        comment=comment,
        sequence=sequence,
        **more,
    )


def told(grades: list[int | None], terms: Terms = Terms(), **of: Any) -> tuple[str, str | None]:  # noqa: B008
    rows = [answer(f"A{number}", grade) for number, grade in enumerate(grades, start=1)]
    found = conclude(candidate(**of), rows, terms)
    return found.rule, found.dispute


def test_rules_by_hand() -> None:
    """Every case of two and three readers, as the documentation states it."""
    assert told([2, 2]) == (UNANIMOUS, None)
    assert told([None, None]) == (UNANIMOUS, None)
    assert told([2, 1]) == (ADJACENT, None)
    assert told([0, 1]) == (ADJACENT, None)
    assert told([0, 2]) == ("", "distant_grades")
    assert told([None, 2]) == ("", "cannot_judge")
    assert told([2]) == ("", None), "an answer is missing"
    assert told([2, 2], Terms(per_item=3)) == ("", None)
    assert told([2, 2, 1]) == (MAJORITY, None)
    assert told([2, 2, 0]) == ("", "distant_grades")
    assert told([1, 1, 1]) == (UNANIMOUS, None)
    assert told([2, 1, 2, 1]) == (ADJACENT, None)
    assert told([2, 2], known=2) == (UNANIMOUS, None)
    assert told([1, 1], known=2) == ("", "gold_missed")
    assert told([2, None], known=2) == ("", "gold_missed")
    assert told([2], Terms(per_item=1)) == ("", None), "one reader is no expert verdict by default"
    assert told([2], Terms(per_item=1, single_reader=True)) == (SINGLE, None)
    assert told([1, 2], kind="confusion") == ("", "distant_grades"), "options have no order"
    assert told([3, 3, 1], kind="confusion") == (MAJORITY, None)


def test_a_judge_never_makes_or_changes_a_verdict() -> None:
    rows = [answer("A1", 2), answer("judge:m/umbrela@1", 2, role="judge")]
    assert conclude(candidate(), counted(rows)["cand:1"], Terms()).rule == ""
    rows.append(answer("A2", 1))
    (verdict,), _ = resolve(rows, [candidate()], [], Terms())
    assert verdict.rule == ADJACENT and verdict.grade == 1
    assert not any(row.id in verdict.annotations for row in rows if row.role == "judge")


def test_the_last_current_answer_of_a_person_counts() -> None:
    rows = [
        answer("A1", 0, state="superseded"),
        answer("A1", 1, sequence=2),
        answer("A1", 2, sequence=3),
        answer("A2", 2),
        answer("A3", 0, state="withdrawn"),
    ]
    assert [row.grade for row in counted(rows)["cand:1"]] == [2, 2]


def test_a_verdict_is_bound_to_what_was_shown() -> None:
    (verdict,), _ = resolve([answer("A1", 2), answer("A2", 2)], [candidate()], [], Terms())
    assert verdict.query_sha256 == content_sha256("a query")
    assert verdict.corpus_sha256 == content_sha256("document of cand:1", "ab" * 32)
    assert (verdict.label_status, verdict.grade) == ("expert", 2)


def test_log_grows_only_by_what_changed_and_replays_to_the_same_bytes() -> None:
    """Random answers in rounds, changed answers and third persons included."""
    draw = random.Random(5)
    items = [candidate(f"cand:{number}", known=2 if number % 9 == 0 else None) for number in range(60)]
    rows: dict[tuple[str, str, str], ReviewAnnotation] = {}
    dead: list[ReviewAnnotation] = []
    log: list[Any] = []
    for step in range(6):
        for item in draw.sample(items, 40):
            who = draw.choice(["A1", "A2"]) if step < 4 else "A3"
            role: Role = "annotator" if step < 4 else "adjudicator"
            new = answer(who, draw.choice([0, 1, 2, 2, 2, None]), role=role, of=item.id, sequence=step)
            old = rows.get((item.id, who, role))
            if old is not None and old.id != new.id:
                dead.append(replace(old, state="superseded"))
            rows[item.id, who, role] = new
        dead = [row for row in dead if row.id not in {live.id for live in rows.values()}]
        answers = [*dead, *rows.values()]
        draw.shuffle(answers)
        verdicts, log = resolve(answers, items, log, Terms())
        again, same = resolve(list(reversed(answers)), list(reversed(items)), log, Terms())
        assert same == log and again == verdicts
        kept = read_log(write_log(log))
        assert kept == log
        assert to_table(Verdict, replay(answers, kept)).equals(to_table(Verdict, verdicts))
        plain = {item.id: conclude(item, counted(answers).get(item.id, ()), Terms()).rule for item in items}
        assert {one.candidate_id: one.rule for one in verdicts} == {k: v for k, v in plain.items() if v}
    assert {one.rule for one in verdicts} == {UNANIMOUS, ADJACENT, ADJUDICATED}
    assert {entry.event for entry in log} == {"concluded", "withdrawn", "disputed"}


def test_a_log_that_does_not_fit_the_answers_is_refused() -> None:
    rows = [answer("A1", 2), answer("A2", 2)]
    _, log = resolve(rows, [candidate()], [], Terms())
    with pytest.raises(InputError, match="not there"):
        replay(rows[:1], log)
    with pytest.raises(InputError, match="cannot be applied"):
        replay([rows[0], replace(rows[1], grade=1)], log)
    with pytest.raises(InputError, match="not one this rule"):
        replay([rows[0], replace(rows[1], role="judge")], log)
    with pytest.raises(InputError, match="line 1 of the log is damaged"):
        read_log("{}\n")
    with pytest.raises(InputError, match="says it is number 1"):
        read_log(write_log([*log, *log]))
