"""The difference between the tasks a project should hold and those it holds, by candidate id.

Whatever a person touched is never deleted or replaced: it is kept, and told where it stands in the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from annotation.sync.tasks import HeldTask, KnownTask, Pair, WantedTask

ConflictKind = Literal["foreign", "edited", "twice", "deleted"]
CONFLICTS: dict[ConflictKind, str] = {
    "foreign": "The project holds a task that medqrels did not send.",
    "edited": "The task's data were changed on the server; its answers are set aside.",
    "twice": "The candidate stands twice in the project, and both were answered or changed.",
    "deleted": "The task was deleted on the server; push --restore sends it again.",
}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something a person did on the server that is left as it is."""

    kind: ConflictKind
    candidate_id: str
    task_id: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, and what stays. Task ids are the server's."""

    create: tuple[WantedTask, ...] = ()
    refresh: tuple[tuple[int, WantedTask], ...] = ()
    """Unanswered tasks of which something but the content changed, e.g. where an image is served."""
    delete: tuple[int, ...] = ()
    """Unanswered tasks that are duplicates, superseded or withdrawn."""
    skip: int = 0
    superseded: tuple[str, ...] = ()
    """Candidates on the server whose pair now has another one."""
    withdrawn: tuple[str, ...] = ()
    duplicates: int = 0
    conflicts: tuple[Conflict, ...] = ()
    known: Mapping[str, KnownTask] = field(default_factory=dict)
    """Candidate id -> its task, of what the server holds and will go on holding."""

    @property
    def is_done(self) -> bool:
        """Whether nothing is to be sent, changed or deleted."""
        return not (self.create or self.refresh or self.delete)

    def counts(self) -> dict[str, int]:
        """The plan in numbers of tasks."""
        return {
            "create": len(self.create),
            "skip": self.skip,
            "refresh": len(self.refresh),
            "supersede": len(self.superseded),
            "withdraw": len(self.withdrawn),
            "duplicates": self.duplicates,
            "conflicts": len(self.conflicts),
        }


def diff(
    wanted: Iterable[WantedTask],
    held: Iterable[HeldTask],
    known: Mapping[str, KnownTask],
    pairs: Mapping[str, Pair] | None = None,
    *,
    restore: bool = False,
) -> Plan:
    """What one project lacks and has too much.

    Args:
        wanted: tasks the project should hold, in the order they are to be shown.
        held: every task it holds.
        known: tasks seen there before, by candidate id.
        pairs: pairs of candidates that may be neither wanted nor known.
        restore: send tasks again that were deleted on the server.
    """
    listed = list(wanted)
    by_candidate: dict[str, list[HeldTask]] = defaultdict(list)
    for task in sorted(held, key=lambda task: task.id):
        by_candidate[task.candidate_id].append(task)
    conflicts = [Conflict("foreign", "", task.id) for task in by_candidate.pop("", [])]
    kept, spare = _one_each(by_candidate, conflicts)
    conflicts += [Conflict("edited", name, task.id) for name, task in kept.items() if task.is_edited]

    create, refresh = _missing(listed, kept, {} if restore else known, conflicts)
    now = {item.candidate_id: item for item in listed}
    gone = sorted(set(kept) - set(now))
    pair_of = dict(pairs or {}) | {name: item.pair for name, item in known.items()}
    asked = {item.pair for item in listed}
    replaced = dict.fromkeys(name for name in gone if pair_of.get(name) in asked)
    delete = [*spare, *(kept[name].id for name in gone if kept[name].is_untouched)]
    return Plan(
        create=tuple(create),
        refresh=tuple(refresh),
        delete=tuple(sorted(delete)),
        skip=sum(item.candidate_id in kept for item in listed) - len(refresh),
        superseded=tuple(replaced),
        withdrawn=tuple(name for name in gone if name not in replaced),
        duplicates=len(spare),
        conflicts=tuple(sorted(conflicts, key=lambda item: (item.kind, item.candidate_id, item.task_id))),
        known=_known(kept, now, known, pair_of, restore),
    )


def _missing(
    listed: Iterable[WantedTask],
    kept: Mapping[str, HeldTask],
    known: Mapping[str, KnownTask],
    conflicts: list[Conflict],
) -> tuple[list[WantedTask], list[tuple[int, WantedTask]]]:
    """What is to be sent, and what to be brought up to date; what somebody deleted becomes a conflict."""
    create: list[WantedTask] = []
    refresh: list[tuple[int, WantedTask]] = []
    for item in listed:
        there, seen = kept.get(item.candidate_id), known.get(item.candidate_id)
        if there is not None:
            if there.is_untouched and there.sha256 != item.sha256:
                refresh.append((there.id, item))
        elif seen is None:
            create.append(item)
        else:
            conflicts.append(Conflict("deleted", item.candidate_id, seen.task_id))
    return create, refresh


def _one_each(
    by_candidate: Mapping[str, list[HeldTask]], conflicts: list[Conflict]
) -> tuple[dict[str, HeldTask], list[int]]:
    """The task that counts of each candidate (the first touched one, else the first) and the spare ones."""
    kept: dict[str, HeldTask] = {}
    spare: list[int] = []
    for name, tasks in by_candidate.items():
        first = next((task for task in tasks if not task.is_untouched), tasks[0])
        kept[name] = first
        for task in tasks:
            if task.id == first.id:
                continue
            if task.is_untouched:
                spare.append(task.id)
            else:
                conflicts.append(Conflict("twice", name, task.id))
    return kept, spare


def _known(
    kept: Mapping[str, HeldTask],
    now: Mapping[str, WantedTask],
    known: Mapping[str, KnownTask],
    pair_of: Mapping[str, Pair],
    restore: bool,
) -> dict[str, KnownTask]:
    found: dict[str, KnownTask] = {}
    for name, task in kept.items():
        if name in now:
            found[name] = KnownTask(task.id, now[name].pair)
        elif not task.is_untouched:  # an untouched one is about to be deleted
            found[name] = KnownTask(task.id, pair_of.get(name, ("", "")))
    if not restore:
        found |= {name: item for name, item in known.items() if name in now and name not in found}
    return dict(sorted(found.items()))
