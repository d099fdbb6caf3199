"""The list of what was purged, or is being purged: a line of purged.jsonl for each article."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from flows.engine.workspace import Workspace, write_atomic
from schemas.errors import WorkspaceError
from schemas.hashing import canonical_json

PURGED = "purged.jsonl"
"""What was deleted for good, a JSON object a line; flows.takedown.purge writes it."""


@dataclass
class Entry:
    """A line of purged.jsonl.

    Attributes:
        id: the article.
        reason: why.
        releases: NAME@VERSION of every release that held it: those are deleted.
        follows: NAME@VERSION of releases made after one of those, which cannot be made again without it.
        source: repository of the article, '' when no crawl has it.
        raw: paths under raw/.
        answers: hex keys of answers of models.
        published: destination -> NAME@VERSION of what was published there and held it.
        commits: repository of the Hub -> ids of commits to be gone.
        is_cleared: whether the workspace was cleared of what stages made of it.
        is_done: whether all was deleted and proved to be gone.
    """

    id: str
    reason: str
    releases: list[str] = field(default_factory=list)
    follows: list[str] = field(default_factory=list)
    source: str = ""
    raw: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    published: dict[str, list[str]] = field(default_factory=dict)
    commits: dict[str, list[str]] = field(default_factory=dict)
    is_cleared: bool = False
    is_done: bool = False

    def datasets(self) -> list[str]:
        """Names of the datasets that had it."""
        return sorted({label.partition("@")[0] for label in self.releases})


def read_purged(workspace: Workspace) -> list[Entry]:
    """Everything that was purged or is being purged.

    Raises:
        WorkspaceError: a line is damaged.
    """
    path = workspace.root / PURGED
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    try:
        return [Entry(**json.loads(line)) for line in lines]
    except (ValueError, TypeError) as error:
        raise WorkspaceError("the list of what was purged is damaged", file=str(path)) from error


def note(workspace: Workspace, entry: Entry) -> None:
    """Write an article's line in place of the one it has."""
    others = [one for one in read_purged(workspace) if one.id != entry.id]
    lines = [canonical_json(asdict(one)) + "\n" for one in sorted((*others, entry), key=lambda one: one.id)]
    write_atomic(workspace.root / PURGED, "".join(lines).encode("utf-8", "surrogateescape"))
