"""The diff of a project and the merge of answers: nothing twice, nothing touched lost, conflicts told."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.layouts import Answer
from annotation.sync import HeldTask, KnownTask, Plan, TaskAnswers, WantedTask, diff, merge, wanted_task
from annotation.sync.answers import Reader, ServerAnswer, task_answers
from annotation.sync.tasks import held_task
from schemas.errors import InputError

READER = Reader("A1", "annotator", "visual_context", 7)


def want(number: int, version: int = 0) -> WantedTask:
    name = f"cand:{number}v{version}"
    return wanted_task(name, (f"q{number}", f"d{number}"), {"candidate_id": name, "text": f"{number}"})


def hold(task: WantedTask, number: int, has_draft: bool = False, **more: Any) -> HeldTask:
    row = task.payload() | {"id": number, "total_annotations": 0, "cancelled_annotations": 0}
    return held_task(row | more, has_draft=has_draft)


class Project:
    """A server's project that loses replies, with people who answer, edit and delete in it."""

    def __init__(self) -> None:
        self.tasks: dict[int, HeldTask] = {}
        self.last = 0

    def apply(self, plan: Plan, draw: random.Random) -> bool:
        """Carry a plan out; now and then only a part of it arrives."""
        for number in plan.delete:
            assert self.tasks[number].is_untouched
            del self.tasks[number]
        for number, item in plan.refresh:
            self.tasks[number] = hold(item, number)
        created = plan.create[: draw.randint(0, len(plan.create))] if draw.random() < 0.5 else plan.create
        for item in created:
            self.last += 1
            self.tasks[self.last] = hold(item, self.last)
        return len(created) == len(plan.create)


def test_any_pushes_with_crashes_leave_one_task_each_and_every_answer() -> None:
    for seed in range(60):
        draw = random.Random(seed)
        project, known = Project(), dict[str, KnownTask]()
        answered: set[int] = set()
        for _ in range(6):
            wanted = [want(n, draw.choice((0, 0, 1))) for n in draw.sample(range(12), draw.randint(1, 12))]
            for _ in range(12):
                plan = diff(wanted, project.tasks.values(), known)
                known = dict(plan.known)  # noted before anything is deleted
                if project.apply(plan, draw) and plan.is_done:
                    break
                if draw.random() < 0.5:  # else killed before the new ones could be noted
                    known = dict(diff(wanted, project.tasks.values(), known).known)
            there = [task.candidate_id for task in project.tasks.values()]
            asked = {item.candidate_id for item in wanted}
            assert len(there) == len(set(there)) and asked <= set(there)
            left = set(there) - asked
            assert all(not t.is_untouched for t in project.tasks.values() if t.candidate_id in left)
            for number in draw.sample(sorted(project.tasks), min(2, len(project.tasks))):
                task = project.tasks[number]
                item = next((i for i in wanted if i.candidate_id == task.candidate_id), None)
                if item is not None:
                    project.tasks[number] = hold(item, number, total_annotations=1)
                    answered.add(number)
            assert answered <= set(project.tasks)


def test_what_people_did_on_the_server_is_told_and_left() -> None:
    items = [want(number) for number in range(6)]
    known = {item.candidate_id: KnownTask(n + 1, item.pair) for n, item in enumerate(items)}
    edited = hold(items[0], 1, data={"candidate_id": items[0].candidate_id, "text": "other"})
    foreign = held_task({"id": 90, "data": {"candidate_id": items[5].candidate_id}, "meta": {}})
    twice = [hold(items[1], 2, total_annotations=1), hold(items[1], 20, has_draft=True), hold(items[1], 21)]
    plan = diff(items, [edited, foreign, *twice, hold(items[2], 3), hold(items[3], 4)], known)
    assert {(item.kind, item.candidate_id, item.task_id) for item in plan.conflicts} == {
        ("edited", items[0].candidate_id, 1),
        ("foreign", "", 90),
        ("twice", items[1].candidate_id, 20),
        ("deleted", items[4].candidate_id, 5),
        ("deleted", items[5].candidate_id, 6),
    }
    assert plan.delete == (21,) and not plan.create and not plan.refresh and plan.skip == 4
    again = diff(items, [edited, foreign, *twice], known, restore=True)
    assert [item.candidate_id for item in again.create] == [item.candidate_id for item in items[2:]]


def test_a_newer_candidate_supersedes_and_answers_to_the_old_one_stay() -> None:
    old, other = want(1), want(2)
    known = {item.candidate_id: KnownTask(n, item.pair) for n, item in enumerate((old, other), 1)}
    held = [hold(old, 1, total_annotations=1), hold(other, 2)]
    plan = diff([want(1, 1)], held, known)
    assert plan.superseded == (old.candidate_id,) and plan.withdrawn == (other.candidate_id,)
    assert plan.delete == (2,) and [item.candidate_id for item in plan.create] == [want(1, 1).candidate_id]
    moved = wanted_task(other.candidate_id, other.pair, {**other.data, "image": "elsewhere"})
    assert diff([moved], [hold(other, 2)], known).refresh == ((2, moved),)
    assert diff([moved], [hold(other, 2, total_annotations=1)], known).is_done


# Answers


def answers(number: int, *given: tuple[int, str, int], edited: bool = False, user: int = 7) -> TaskAnswers:
    """A task of candidate `c<number>` with (annotation id, choice, minute)."""
    return TaskAnswers(
        number,
        f"c{number}",
        edited,
        tuple(
            ServerAnswer(name, user, [{"choice": choice}], choice == "skip", 2.0, f"2026-01-01T00:{at:02}")
            for name, choice, at in given
        ),
    )


def read(candidate: str, result: Sequence[Mapping[str, Any]]) -> Answer:
    choice = result[0]["choice"]
    if choice == "?":
        raise InputError("not an answer")
    return Answer(int(choice), "", "") if choice.isdigit() else Answer(None, choice, "")


def state(rows: Any) -> list[tuple[str, int | None, str, int]]:
    return sorted((row.candidate_id, row.grade, row.state, row.sequence) for row in rows)


def test_merge_is_incremental_and_idempotent() -> None:
    first = merge([], [answers(1, (1, "2", 5)), answers(2, (2, "0", 3))], READER, read)
    assert state(first.rows) == [("c1", 2, "current", 2), ("c2", 0, "current", 1)]
    more = [answers(2, (2, "0", 3)), answers(3, (3, "ambiguous", 9))]
    second = merge(first.rows, more, READER, read)
    assert state(second.rows)[2] == ("c3", None, "current", 3)
    assert merge(second.rows, more, READER, read).rows == second.rows
    everything = [answers(1, (1, "2", 5)), *more]
    whole = merge(second.rows, everything, READER, read, is_complete=True)
    assert whole.rows == second.rows


def test_changed_and_deleted_answers_are_conflicts_until_accepted() -> None:
    server = [answers(n, (n, "2", n)) for n in (1, 2, 3, 4)]
    rows = merge([], server, READER, read).rows
    now = [
        answers(1, (1, "0", 20)),  # graded anew
        answers(2, (2, "2", 2), (9, "1", 21)),  # a second answer
        answers(3),  # deleted; and task 4 is gone altogether
    ]
    rows = merge(rows, now, READER, read, is_complete=True).rows
    assert {row.state for row in rows} == {"conflict"} and len(rows) == 6
    assert merge(rows, now, READER, read, is_complete=True).rows == rows
    accepted = merge(rows, now, READER, read, is_complete=True, accept=True).rows
    assert [item[:3] for item in state(accepted)] == [
        ("c1", 0, "current"),
        ("c1", 2, "superseded"),
        ("c2", 1, "current"),
        ("c2", 2, "superseded"),
        ("c3", 2, "withdrawn"),
        ("c4", 2, "withdrawn"),
    ]
    later = [answers(1, (1, "0", 20)), answers(3), answers(2, (9, "1", 21))]
    assert merge(accepted, later, READER, read, is_complete=True).rows == accepted


def test_what_is_no_answer_of_this_person_is_set_aside() -> None:
    found = [
        answers(1, (1, "2", 1), edited=True),
        answers(2, (2, "2", 1), user=8),
        answers(3, (3, "skip", 1)),
        answers(4, (4, "?", 1)),
        TaskAnswers(5, "", False, answers(5, (5, "2", 1)).answers),
    ]
    pulled = merge([], found, READER, read)
    assert not pulled.rows
    assert [item.reason for item in pulled.quarantined] == [
        "task_edited",
        "foreign_annotator",
        "skipped",
        "unreadable",
        "foreign_task",
    ]


def test_a_listing_is_read_as_the_server_gives_it() -> None:
    row = want(1).payload() | {
        "id": 4,
        "annotations": [
            {"id": 9, "completed_by": 7, "result": [], "lead_time": 3.26, "updated_at": "2026-01-01T00:01"},
            {"id": 8, "completed_by": {"id": 7}, "result": [], "updated_at": "2026-01-01T00:02"},
        ],
    }
    found = task_answers(row)
    assert [(item.id, item.account, item.seconds) for item in found.answers] == [(9, 7, 3.3), (8, 7, 0.0)]
