"""What each person's project was last seen to hold: `sync/<pseudonym>-<role>.json` of a review."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args

from annotation.client import Project
from annotation.sync import KnownTask
from flows.review.store import ReviewFolder
from schemas.errors import WorkspaceError
from schemas.review import Role

_FOLDER = "sync"


@dataclass(slots=True)
class Noted:
    """What one person's project was last seen to hold; `changed`: see flows.review.conflicts.differing."""

    project: int = 0
    created_at: str = ""
    named: list[str] = field(default_factory=list)
    """Title and description that were last sent: while they stay the same, people may change theirs."""
    cursor: str = ""
    tasks: dict[str, KnownTask] = field(default_factory=dict)
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    changed: dict[str, dict[str, Any]] = field(default_factory=dict)
    quarantine: list[dict[str, Any]] = field(default_factory=list)

    def belongs_to(self, project: Project | None) -> bool:
        """Whether it is about this very project, and not one that was deleted and made again."""
        return project is not None and (self.project, self.created_at) == (project.id, project.created_at)


def read_noted(folder: ReviewFolder, annotator: str, role: Role) -> Noted:
    """The notes on one person's project; empty when there are none.

    Raises:
        WorkspaceError: they are damaged.
    """
    body = folder.json(_name(annotator, role))
    if not body:
        return Noted()
    try:
        tasks = {name: KnownTask(task, (q, d)) for name, (task, q, d) in body.pop("tasks").items()}
        return Noted(tasks=tasks, **body)
    except (TypeError, ValueError, KeyError) as error:
        raise WorkspaceError(
            "the notes of a review are damaged",
            file=str(folder.path / _name(annotator, role)),
            hint="delete the file: the next push and pull find everything again on the server",
        ) from error


def write_noted(folder: ReviewFolder, annotator: str, role: Role, noted: Noted) -> None:
    """Replace the notes on one person's project."""
    told = asdict(replace(noted, tasks={}))  # one by one, 100,000 tasks would each be copied deeply
    told["tasks"] = {name: [item.task_id, *item.pair] for name, item in sorted(noted.tasks.items())}
    folder.write_json(_name(annotator, role), told)


def people_of(folder: ReviewFolder) -> list[tuple[str, Role]]:
    """Everybody who was given something of a review, or has a project on a server, by pseudonym."""
    given: set[tuple[str, Role]] = {(row.annotator, row.role) for row in folder.allotments()}
    for path in (folder.path / _FOLDER).glob("*.json"):
        name, _, role = path.stem.rpartition("-")
        given |= {(name, known) for known in get_args(Role) if known == role}
    return sorted(given)


def _name(annotator: str, role: str) -> str:
    return f"{_FOLDER}/{annotator}-{role}.json"
