"""Answers from the server merged with those taken before: nothing taken is lost or silently replaced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from annotation.sync.tasks import held_task
from schemas.errors import InputError
from schemas.review import AnnotationState, ReviewAnnotation, Role, annotation_id, foreign_id

SetAside = Literal["foreign_task", "task_edited", "foreign_annotator", "skipped", "unreadable"]
QUARANTINE: dict[SetAside, str] = {
    "foreign_task": "The task was not sent by medqrels.",
    "task_edited": "The task's data were changed on the server: the answer is to something else.",
    "foreign_annotator": "The answer is from an account that is not this annotator's; "
    "medqrels review foreign assigns it or asks again.",
    "skipped": "The task was skipped without an answer.",
    "unreadable": "The answer does not fit the layout.",
}
"""Why an answer on the server is not taken."""
_LONGEST_SECONDS = 1e9
"""What a server states beyond it, infinity too, is no time."""


class Answered(Protocol):
    """What a layout reads out of a submitted form, see annotation.layouts.Answer."""

    @property
    def grade(self) -> int | None:
        """Grade, None when it could not be judged."""

    @property
    def reason(self) -> str:
        """Why it could not be judged, else ''."""

    @property
    def comment(self) -> str:
        """Free comment."""


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """One annotation as the server holds it. `at`: its last change, ISO 8601 in UTC by the server's clock."""

    id: int
    account: int
    result: Sequence[Mapping[str, Any]]
    is_skipped: bool
    seconds: float
    at: str


@dataclass(frozen=True, slots=True)
class TaskAnswers:
    """A task and every annotation it has now."""

    task_id: int
    candidate_id: str
    is_edited: bool
    answers: tuple[ServerAnswer, ...]
    overlap: int = 1
    """How many accounts have to answer it before the server takes it for done and offers it to nobody."""
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class ForeignAnswer:
    """What somebody answered in another person's project, as it was last seen there."""

    id: str
    candidate_id: str
    project_of: str
    role: Role
    """Whose project it stands in, and in which role that person answers there."""
    given_by: str
    """Pseudonym of who gave it; `account N` of somebody who has none."""
    grade: int | None
    reason: str
    comment: str
    seconds: float
    at: str
    is_readable: bool
    """Whether it fits the layout."""
    after_owner: bool
    """Whether the project's own person had answered by then: that answer was open to see."""

    def annotation(self, task: str) -> ReviewAnnotation:
        """The answer as one of the person who gave it."""
        return ReviewAnnotation(
            id=annotation_id(self.candidate_id, self.given_by, "annotator", self.grade, self.reason),
            candidate_id=self.candidate_id,
            task=task,
            annotator=self.given_by,
            role="annotator",
            grade=self.grade,
            reason=self.reason,
            comment=self.comment,
            seconds=self.seconds,
        )


@dataclass(frozen=True, slots=True)
class Lent:
    """Answers of one person to one candidate that stand in another person's project and count all the same.

    `rows`: (time, id on the server, answer) as they are now; none once that was taken back.
    `ever`: ids of all that were assigned.
    """

    rows: tuple[tuple[str, int, ReviewAnnotation], ...]
    ever: frozenset[str]


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One annotation that is not taken."""

    annotator: str
    task_id: int
    answer_id: int
    candidate_id: str
    reason: SetAside
    detail: str = ""
    foreign: ForeignAnswer | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """Whose project it is. `account` is the server's user id, None to take any account's answers.

    `names`: account -> pseudonym, of everybody.
    """

    annotator: str
    role: Role
    task: str
    account: int | None
    names: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pulled:
    """Rows of one annotator after a pull, what was set aside, and ids of tasks that were looked at.

    `there`: of each candidate that was looked at, ids of the answers the server holds now, the last one last.
    """

    rows: tuple[ReviewAnnotation, ...]
    quarantined: tuple[Quarantined, ...]
    seen: frozenset[int]
    there: Mapping[str, tuple[str, ...]]


def task_answers(row: Mapping[str, Any]) -> TaskAnswers:
    """A task with its annotations from the server's listing.

    Raises:
        ValueError: the row is not one of such a listing.
    """
    task = held_task(row)
    listed = row.get("annotations")
    if not isinstance(listed, list) or not all(isinstance(item, Mapping) for item in listed):
        raise ValueError("a task without its annotations")
    answers = sorted((_answer(item) for item in listed), key=lambda item: (item.at, item.id))
    overlap = row.get("overlap")
    return TaskAnswers(
        task.id,
        task.candidate_id,
        task.is_edited,
        tuple(answers),
        overlap if isinstance(overlap, int) else 1,
        bool(row.get("is_labeled")),
    )


def _answer(item: Mapping[str, Any]) -> ServerAnswer:
    result, by, lead = item.get("result"), item.get("completed_by"), item.get("lead_time")
    account = by.get("id") if isinstance(by, Mapping) else by
    return ServerAnswer(
        id=int(item["id"]),
        account=account if isinstance(account, int) else 0,
        result=result if isinstance(result, list) else [],
        is_skipped=bool(item.get("was_cancelled")),
        seconds=_seconds(lead),
        at=str(item.get("updated_at") or ""),
    )


def _seconds(lead: Any) -> float:
    """Time as the server measured it, rounded to 0.1; 0 for what is no time."""
    is_time = isinstance(lead, (int, float)) and 0 <= lead < _LONGEST_SECONDS  # false for NaN, too
    return round(float(lead), 1) if is_time else 0.0


def merge(
    before: Iterable[ReviewAnnotation],
    found: Iterable[TaskAnswers],
    reader: Reader,
    read: Callable[[str, Sequence[Mapping[str, Any]]], Answered],
    *,
    is_complete: bool = False,
    accept: bool = False,
    lent: Mapping[str, Lent] | None = None,
) -> Pulled:
    """Rows of one annotator with what the server holds now.

    An answer that differs from one taken before, a second one, and one that is gone leave every row of the
    candidate in the state `conflict`, until `accept` lets the server's last answer count. None is
    dropped, and what is asked meanwhile plays no part: an answer is to what was shown. The same input twice
    changes nothing.

    Args:
        before: this annotator's rows so far, in this role.
        found: tasks of the project: those changed since the last pull, or all.
        reader: whose project it is.
        read: (candidate id, result) -> answer; raises InputError on nonsense.
        is_complete: `found` is every task of the project.
        accept: resolve conflicts by what the server holds; needs every task.
        lent: by candidate, answers of this annotator in other projects; needs every task. They count
            while there is none in the own project.
    """
    rows: dict[str, dict[str, ReviewAnnotation]] = defaultdict(dict)
    for row in before:
        rows[row.candidate_id][row.id] = row
    tasks = sorted(found, key=lambda item: item.task_id)
    aside: list[Quarantined] = []
    given: dict[str, list[tuple[str, int, ReviewAnnotation]]] = {}
    for task in tasks:
        if task.candidate_id and not task.is_edited:
            given.setdefault(task.candidate_id, [])
        for answer in task.answers:
            taken = _take(task, answer, reader, read, aside)
            if taken is not None:
                given[task.candidate_id].append((answer.at, answer.id, taken))
    if is_complete:
        there = {task.candidate_id for task in tasks}
        given |= {name: [] for name in rows if name not in there}
    for name, item in (lent or {}).items():
        _lend(rows[name], given.setdefault(name, []), item)
    last = max((row.sequence for items in rows.values() for row in items.values()), default=0)
    ordered = sorted(given, key=lambda name: (min((item[:2] for item in given[name]), default=("", 0)), name))
    held: dict[str, tuple[str, ...]] = {}
    for name in ordered:
        now = [row for _, _, row in sorted(given[name], key=_order)]
        held[name] = tuple(dict.fromkeys(row.id for row in now))
        last = _settle(rows[name], now, last, accept)
    made = [row for items in rows.values() for row in items.values()]
    made.sort(key=lambda row: (row.candidate_id, row.sequence, row.id))
    return Pulled(tuple(made), tuple(aside), frozenset(task.task_id for task in tasks), held)


def _order(item: tuple[str, int, ReviewAnnotation]) -> tuple[str, int]:
    return item[:2]


def _take(
    task: TaskAnswers,
    answer: ServerAnswer,
    reader: Reader,
    read: Callable[[str, Sequence[Mapping[str, Any]]], Answered],
    aside: list[Quarantined],
) -> ReviewAnnotation | None:
    reason, detail = _objection(task, answer, reader)
    foreign = _foreign(task, answer, reader, read) if reason == "foreign_annotator" else None
    said: Answered | None = None
    if reason is None:
        try:
            said = read(task.candidate_id, answer.result)
        except InputError as error:
            reason, detail = "unreadable", error.message
    if reason is not None or said is None:
        why = reason or "unreadable"
        aside.append(
            Quarantined(reader.annotator, task.task_id, answer.id, task.candidate_id, why, detail, foreign)
        )
        return None
    return ReviewAnnotation(
        id=annotation_id(task.candidate_id, reader.annotator, reader.role, said.grade, said.reason),
        candidate_id=task.candidate_id,
        task=reader.task,
        annotator=reader.annotator,
        role=reader.role,
        grade=said.grade,
        reason=said.reason,
        comment=said.comment,
        seconds=answer.seconds,
    )


def _objection(task: TaskAnswers, answer: ServerAnswer, reader: Reader) -> tuple[SetAside | None, str]:
    if not task.candidate_id:
        return "foreign_task", ""
    if task.is_edited:
        return "task_edited", ""
    if reader.account is not None and answer.account != reader.account:
        return "foreign_annotator", _name(answer, reader)
    return ("skipped", "") if answer.is_skipped else (None, "")


def _name(answer: ServerAnswer, reader: Reader) -> str:
    return reader.names.get(answer.account, f"account {answer.account}")


def _foreign(
    task: TaskAnswers,
    answer: ServerAnswer,
    reader: Reader,
    read: Callable[[str, Sequence[Mapping[str, Any]]], Answered],
) -> ForeignAnswer:
    try:
        said = None if answer.is_skipped else read(task.candidate_id, answer.result)
    except InputError:
        said = None
    grade, reason = (said.grade, said.reason) if said else (None, "")
    name = _name(answer, reader)
    own = [other.at for other in task.answers if other.account == reader.account]
    return ForeignAnswer(
        id=foreign_id(reader.annotator, reader.role, task.candidate_id, name, grade, reason),
        candidate_id=task.candidate_id,
        project_of=reader.annotator,
        role=reader.role,
        given_by=name,
        grade=grade,
        reason=reason,
        comment=said.comment if said else "",
        seconds=answer.seconds,
        at=answer.at,
        is_readable=said is not None,
        after_owner=any(at <= answer.at for at in own),
    )


def wrong_overlaps(found: Iterable[TaskAnswers], reader: Reader) -> list[tuple[int, int, bool]]:
    """(task, accounts that have to answer it, whether they have) of tasks for which the server has it wrong.

    A task is done when the project's own person has answered it, whoever else did: their answers
    must neither take it out of that person's queue nor put it back.
    """
    wrong = []
    for task in found:
        accounts = {answer.account for answer in task.answers if not answer.is_skipped}
        needed = len(accounts | {reader.account})
        is_done = reader.account in accounts
        if reader.account is None or needed == task.overlap == 1:
            continue
        if (needed, is_done) != (task.overlap, task.is_done):
            wrong.append((task.task_id, needed, is_done))
    return wrong


def _lend(
    rows: dict[str, ReviewAnnotation], given: list[tuple[str, int, ReviewAnnotation]], item: Lent
) -> None:
    """Let one candidate's lent answers count, unless the person's own project has one."""
    own = {row.id for _, _, row in given}
    if not given:
        given += item.rows
    if own or not item.rows:  # nobody has to accept that: the own answer, or a recorded decision, says so
        lent = {row.id for _, _, row in item.rows} | item.ever
        standing = {name for name, row in rows.items() if row.state in ("current", "conflict")}
        _mark(rows, (standing & lent) - own, "superseded" if own else "withdrawn")


def _settle(rows: dict[str, ReviewAnnotation], given: list[ReviewAnnotation], last: int, accept: bool) -> int:
    """Bring one candidate's rows up to date with what is given now; returns the last sequence number used."""
    standing = {name for name, row in rows.items() if row.state in ("current", "conflict")}
    now = dict.fromkeys(row.id for row in given)
    for row in given:
        old = rows.get(row.id)
        if old is None:
            last += 1
        rows[row.id] = replace(row, sequence=last if old is None else old.sequence)
    if not now and not standing:
        return last
    if len(now) == 1 and standing <= set(now):
        _mark(rows, now, "current")
    elif not accept:
        _mark(rows, standing | set(now), "conflict")
    else:
        _mark(rows, standing | set(now), "superseded" if now else "withdrawn")
        if now:
            chosen = given[-1].id
            last += 1
            rows[chosen] = replace(rows[chosen], state="current", sequence=last)
    return last


def _mark(rows: dict[str, ReviewAnnotation], names: Iterable[str], state: AnnotationState) -> None:
    for name in names:
        rows[name] = replace(rows[name], state=state)
