"""Push and pull of one review: queues brought to the server, answers brought back, any number of times.

What was seen on the server is noted after the fact (flows/review/notes.py). What a crash kept from being
noted is found again on the server by candidate id.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any

from annotation.client import Client, Project, UnconfirmedError
from annotation.foreign import decided
from annotation.layouts import Answer, answer
from annotation.sync import (
    Conflict,
    HeldTask,
    KnownTask,
    Lent,
    Plan,
    Pulled,
    TaskAnswers,
    WantedTask,
    diff,
    merge,
    wrong_overlaps,
)
from annotation.sync.answers import Reader
from flows.review.aside import apply_lent, decisions, held, lent_to, note_reports, set_aside
from flows.review.conflicts import differing
from flows.review.delivery import MediaFolder, Queue, marker, queues
from flows.review.notes import Noted, people_of, read_noted, write_noted
from flows.review.store import ReviewFolder
from flows.review.tasks import offered
from schemas.errors import MedqrelsError
from schemas.review import ReviewAnnotation, ReviewCandidate, Role
from schemas.wording import counted

BATCH_TASKS = 1000
BATCH_BYTES = 8 << 20
"""Largest import in one request: what a proxy in front of a team's server still lets through."""
ROUNDS = 4
"""Listings until project and plan agree; more than two only if somebody else changes the project too."""
OVERLAP = timedelta(seconds=120)
"""How far a pull reaches back before the last one: transactions that were open, clocks of several servers."""
ONE_BY_ONE = 100
"""Most tasks that are brought up to date one by one; more are deleted and sent again, many at a time."""
Parcel = tuple[WantedTask, dict[str, Any]]
"""A task and its payload."""
_LOOKUPS = 5


@dataclass(frozen=True, slots=True)
class Target:
    """A server, and how it gets images: from its own disk when `is_local`, else inside the tasks."""

    client: Client
    media: MediaFolder
    is_local: bool

    def image_url(self, sha256: str) -> str:
        """Address of an image in a task."""
        return self.media.served(sha256) if self.is_local else self.media.embedded(sha256)


# Push


def push(
    folder: ReviewFolder,
    target: Target,
    *,
    dry_run: bool = False,
    restore: bool = False,
    by_doubt: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """Bring every queue of a review to the server; per queue what was done, or would be.

    Args:
        folder: the review, with candidates and allotments.
        target: the server.
        dry_run: only read.
        restore: send tasks again that were deleted on the server.
        by_doubt: of what is not there yet, send first what the review's judges are least sure of.
        tell: progress, one line at a time.

    Raises:
        UsageError: the server refuses something.
        FetchError: it cannot be reached, or keeps answering badly; the same call goes on from there.
    """
    pairs = {row.id: (row.query_id, row.corpus_id) for row in folder.candidates()}
    listed = queues(folder, target.image_url, by_doubt=by_doubt)
    if dry_run:
        return [_compare_queue(folder, target.client, item, pairs, restore) for item in listed]
    return [_push_queue(folder, target, item, pairs, restore, tell) for item in listed]


def _compare_queue(
    folder: ReviewFolder,
    client: Client,
    queue: Queue,
    pairs: Mapping[str, tuple[str, str]],
    restore: bool,
) -> dict[str, Any]:
    noted = read_noted(folder, queue.annotator, queue.role)
    there = client.find_project(queue.marker)
    known = noted.tasks if noted.belongs_to(there) else {}
    present = list(client.tasks(there.id)) if there is not None else []
    return _report(client, queue, there, diff(queue.tasks, present, known, pairs, restore=restore))


def _push_queue(
    folder: ReviewFolder,
    target: Target,
    queue: Queue,
    pairs: Mapping[str, tuple[str, str]],
    restore: bool,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    client = target.client
    noted = read_noted(folder, queue.annotator, queue.role)
    named = [queue.title, queue.description]
    project = client.ensure_project(
        queue.marker,
        queue.title,
        queue.description,
        queue.config,
        queue.instruction,
        rename=named != noted.named,
    )
    client.hide_columns(project.id, queue.hidden_columns)
    if target.is_local:
        client.serve_local_files(project.id, str(target.media.path))
    if not noted.belongs_to(project):
        noted = Noted(project.id, project.created_at)
    noted.named = named
    first: Plan | None = None
    for _ in range(ROUNDS):
        held = list(client.tasks(project.id))
        plan = diff(queue.tasks, held, noted.tasks, pairs, restore=restore)
        first, plan = first or plan, in_bulk(plan)
        noted.tasks, noted.conflicts = dict(plan.known), [asdict(item) for item in plan.conflicts]
        # Noted before anything is deleted: it must not look as if somebody else had deleted it.
        write_noted(folder, queue.annotator, queue.role, noted)
        is_sure = plan.is_done or _apply(client, project.id, plan, held, noted)
        write_noted(folder, queue.annotator, queue.role, noted)
        if plan.create:
            tell(f"{queue.title}: {counted(len(plan.create), 'task')} sent")
        if plan.is_done or (is_sure and not plan.delete):
            return _report(client, queue, project, first, plan.conflicts)
        restore = False  # what is deleted while we push is somebody's wish
    raise MedqrelsError(
        f"the project {queue.title!r} kept changing during the push",
        file=client.url,
        hint="medqrels review push, when nobody else pushes",
    )


def in_bulk(plan: Plan) -> Plan:
    """A plan as it is carried out: the tasks to bring up to date, if many, go, and the next round sends them.

    The server deletes none of them that somebody has touched by then; it stays as it is.
    """
    if len(plan.refresh) <= ONE_BY_ONE:
        return plan
    renewed = {item.candidate_id for _, item in plan.refresh}
    return replace(
        plan,
        refresh=(),
        delete=tuple(sorted([*plan.delete, *(task for task, _ in plan.refresh)])),
        known={name: item for name, item in plan.known.items() if name not in renewed},
    )


def _apply(client: Client, project: int, plan: Plan, held: Sequence[HeldTask], noted: Noted) -> bool:
    """Carry a plan out; whether the server confirmed every import."""
    client.delete_untouched(project, plan.delete)
    for task, item in plan.refresh:
        client.update_task(task, item.payload())
    last, is_sure = max((task.id for task in held), default=0), True
    for batch in batches(plan.create):
        ids = _send(client, project, batch, last)
        if ids is None:
            is_sure = False
            continue
        last = max(last, *ids)
        noted.tasks |= {
            item.candidate_id: KnownTask(task, item.pair) for (item, _), task in zip(batch, ids, strict=True)
        }
    return is_sure


def _send(client: Client, project: int, batch: Sequence[Parcel], last: int) -> list[int] | None:
    """Send one batch; when no reply says what became of it, look it up before anything is sent again.

    Returns:
        The ids of its tasks, None when they were found by looking them up.
    """
    left = list(batch)
    for attempt in range(_LOOKUPS):
        try:
            ids = client.import_tasks(project, [payload for _, payload in left])
            return ids if len(left) == len(batch) else None
        except UnconfirmedError:
            if attempt + 1 == _LOOKUPS:
                raise
            time.sleep(min(8.0, 0.5 * 2**attempt))  # the server may still be at it
            there = {task.candidate_id for task in client.tasks(project, after=last)}
            left = [parcel for parcel in left if parcel[0].candidate_id not in there]
            if not left:
                return None
    return None


def batches(tasks: Iterable[WantedTask]) -> Iterator[list[Parcel]]:
    """Tasks in order, each with what is imported of it, in parts that one request takes."""
    part: list[Parcel] = []
    size = 0
    for task in tasks:
        payload = task.payload()
        weight = len(json.dumps(payload, ensure_ascii=False).encode())
        if part and (len(part) == BATCH_TASKS or size + weight > BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append((task, payload))
        size += weight
    if part:
        yield part


def _report(
    client: Client,
    queue: Queue,
    project: Project | None,
    plan: Plan,
    conflicts: Sequence[Conflict] | None = None,
) -> dict[str, Any]:
    left = plan.conflicts if conflicts is None else conflicts
    return {
        "annotator": queue.annotator,
        "role": queue.role,
        "title": queue.title,
        "project": project.id if project else None,
        "address": f"{client.url}/projects/{project.id}/data?labeling=1" if project else "",
        "tasks": len(queue.tasks),
        **plan.counts(),
        "conflicts": [asdict(item) for item in left],
    }


# Pull


def pull(
    folder: ReviewFolder,
    client: Client,
    accounts: Mapping[str, int],
    *,
    accept: bool = False,
) -> list[dict[str, Any]]:
    """Bring answers of every person's project into annotations.parquet; per project what changed.

    Args:
        folder: the review.
        client: the server.
        accounts: pseudonym -> id of the account whose answers count; anybody's where there is none.
            What another account answered is set aside, and does not take the task from its person's queue.
        accept: end conflicts: what the server holds last counts.

    Raises:
        FetchError: the server cannot be reached, or keeps answering badly; the same call goes on from there.
    """
    candidates = {row.id: row for row in folder.candidates()}
    if not candidates:
        return []
    example = next(iter(candidates.values()))
    names = {accounts[name]: name for name in sorted(accounts, reverse=True)}
    readers = [
        Reader(name, role, example.task, accounts.get(name), names) for name, role in people_of(folder)
    ]
    givers = decided(decisions(folder)).givers()
    fetched = (_fetch(folder, client, example, reader, accept, givers) for reader in readers)
    if not givers:
        return [_take(folder, client, item, {}) for item in fetched]
    everything = list(fetched)  # an answer in one person's project counts for the person of another
    aside = held(entry for item in everything for entry in item.set_aside())
    made = [_take(folder, client, item, lent_to(folder, item.reader, aside)) for item in everything]
    here = {item.reader.annotator for item in everything if item.project and item.reader.role == "annotator"}
    for giver in sorted(givers - here):
        apply_lent(folder, giver, aside, accept=accept)
    return made


@dataclass(frozen=True, slots=True)
class _Fetched:
    """What one person's project holds now, of the tasks that were asked for; nothing where there is none."""

    reader: Reader
    read: Callable[[str, Sequence[Mapping[str, Any]]], Answer]
    project: Project | None
    noted: Noted
    found: Sequence[TaskAnswers] = ()
    is_complete: bool = False
    accept: bool = False
    cursor: str = ""

    def merged(self, before: Iterable[ReviewAnnotation], lent: Mapping[str, Lent]) -> Pulled:
        """One person's rows with what was found."""
        flags = {"is_complete": self.is_complete, "accept": self.accept}
        return merge(before, self.found, self.reader, self.read, **flags, lent=lent)

    def set_aside(self, pulled: Pulled | None = None) -> list[dict[str, Any]]:
        """What is set aside now: as noted of tasks that were not asked for, and as found of the others."""
        made = pulled or self.merged((), {})
        kept = [
            item
            for item in self.noted.quarantine
            if not self.is_complete and item["task_id"] not in made.seen
        ]
        aside = [*kept, *map(asdict, made.quarantined)]
        return sorted(aside, key=lambda item: (item["task_id"], item["answer_id"]))


def _fetch(
    folder: ReviewFolder,
    client: Client,
    example: ReviewCandidate,
    reader: Reader,
    accept: bool,
    givers: Collection[str],
) -> _Fetched:
    """Ask for one person's answers: those since the last pull, or all."""
    key = (reader.annotator, reader.role)
    allowed = offered(example)

    def read(_: str, result: Sequence[Mapping[str, Any]]) -> Answer:
        return answer(result, allowed)

    noted = read_noted(folder, *key)
    project = client.find_project(marker(example.dataset, example.task, *key))
    if project is None:
        return _Fetched(reader, read, None, noted)
    if not noted.belongs_to(project):
        noted = Noted(project.id, project.created_at)
    is_complete = (
        accept
        or not noted.cursor
        or (reader.role == "annotator" and reader.annotator in givers)  # whether there is an own answer
        or any(_is_outdated(item, reader) for item in noted.quarantine)
        or _needs_all(client, project, noted)
    )
    started = client.now()
    found = list(client.answers(project.id, "" if is_complete else noted.cursor))
    cursor = (started - OVERLAP).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return _Fetched(reader, read, project, noted, found, is_complete, accept, cursor)


def _is_outdated(item: Mapping[str, Any], reader: Reader) -> bool:
    """Whether a note is of an older version, or names an account that has a pseudonym by now."""
    given_by = (item.get("foreign") or {}).get("given_by", "")
    return "foreign" not in item or given_by in {f"account {number}" for number in reader.names}


def _take(folder: ReviewFolder, client: Client, item: _Fetched, lent: Mapping[str, Lent]) -> dict[str, Any]:
    """Bring one person's answers into annotations.parquet; what changed."""
    key, noted = (item.reader.annotator, item.reader.role), item.noted
    if item.project is None:
        return {"annotator": key[0], "role": key[1], "project": None, "answers": 0, "new": 0}
    everything = folder.annotations()
    before = [row for row in everything if (row.annotator, row.role) == key]
    pulled = item.merged(before, lent)
    others = [row for row in everything if (row.annotator, row.role) != key]
    folder.write_annotations([*others, *pulled.rows])
    for task, overlap, is_done in wrong_overlaps(item.found, item.reader):
        client.update_task(task, {"overlap": overlap, "is_labeled": is_done})
    noted.quarantine = item.set_aside(pulled)
    noted.changed = differing(before, pulled, noted.changed)
    noted.cursor = item.cursor
    note_reports(folder, noted.quarantine)
    write_noted(folder, *key, noted)  # last: until then the same answers are asked for again
    aside = set_aside(folder, *key, noted, client.url)
    return _pulled(item.reader, item.project, before, pulled.rows, aside)


def _pulled(
    reader: Reader,
    project: Project,
    before: Sequence[ReviewAnnotation],
    rows: Sequence[ReviewAnnotation],
    aside: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    had = {row.id: row.state for row in before}
    return {
        "annotator": reader.annotator,
        "role": reader.role,
        "project": project.id,
        "answers": sum(row.state == "current" for row in rows),
        "new": sum(row.id not in had for row in rows),
        "changed": sum(had.get(row.id, row.state) != row.state for row in rows),
        "conflicts": len({row.candidate_id for row in rows if row.state == "conflict"}),
        "set_aside": dict(sorted(Counter(item["reason"] for item in aside).items())),
        "aside": list(aside),
    }


def _needs_all(client: Client, project: Project, noted: Noted) -> bool:
    """Whether a listing of what changed is not enough: tasks are gone."""
    return client.count_tasks(project.id) < len(noted.tasks)


# Status


def status(folder: ReviewFolder) -> list[dict[str, Any]]:
    """Where each person is, from the workspace alone: given, done, cannot judge, conflicts."""
    given: Counter[tuple[str, Role]] = Counter()
    wanted: dict[tuple[str, Role], set[str]] = defaultdict(set)
    for row in folder.allotments():
        given[row.annotator, row.role] += 1
        wanted[row.annotator, row.role].add(row.candidate_id)
    rows = folder.annotations()
    found = []
    for annotator, role in people_of(folder):
        own = [row for row in rows if (row.annotator, row.role) == (annotator, role)]
        current = [row for row in own if row.state == "current"]
        noted = read_noted(folder, annotator, role)
        aside = set_aside(folder, annotator, role, noted, "")
        found.append(
            {
                "annotator": annotator,
                "role": role,
                "given": given[annotator, role],
                "done": len(current),
                "cannot_judge": sum(row.grade is None for row in current),
                "conflicts": len({row.candidate_id for row in own if row.state == "conflict"})
                + len(noted.conflicts),
                "set_aside": len(aside),
                "foreign": sum("answer" in item for item in aside),
                "pushed": len(wanted[annotator, role] & set(noted.tasks)),
                "project": noted.project or None,
            }
        )
    return found
