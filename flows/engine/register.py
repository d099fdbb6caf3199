"""The list of what was withdrawn: one file of the workspace, to which lines are only added.

Crawls, releases and publishing read it. It is part of what a crawl shard with a withdrawn article is made
from, so that what follows from the shard is made anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from flows.engine.workspace import Workspace, write_atomic
from schemas.errors import MedqrelsError, WorkspaceError
from schemas.hashing import canonical_json
from schemas.record import from_dict, to_dict
from schemas.withdrawal import Withdrawn

REGISTER = "withdrawn.jsonl"


def read_register(workspace: Workspace) -> tuple[Withdrawn, ...]:
    """Everything withdrawn so far, in the order in which it was.

    Raises:
        WorkspaceError: a line of the list is damaged.
    """
    path = workspace.root / REGISTER
    found: list[Withdrawn] = []
    text = path.read_text("utf-8") if path.is_file() else ""
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            found.append(from_dict(Withdrawn, json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, MedqrelsError) as error:
            raise WorkspaceError(
                f"line {number} of the list of what was withdrawn is damaged",
                file=str(path),
                hint="restore the file from a backup: without it withdrawn rows would be released again",
            ) from error
    return tuple(found)


def add_to_register(workspace: Workspace, rows: Sequence[Withdrawn]) -> tuple[Withdrawn, ...]:
    """Add rows whose id is not on the list yet; those that were added."""
    held = read_register(workspace)
    known = {(row.unit, row.id) for row in held}
    added: list[Withdrawn] = []
    for row in rows:
        if (row.unit, row.id) not in known:
            known.add((row.unit, row.id))
            added.append(row)
    if added:
        lines = [canonical_json(to_dict(row)) + "\n" for row in (*held, *added)]
        write_atomic(workspace.root / REGISTER, "".join(lines).encode("utf-8", "surrogateescape"))
    return tuple(added)


def detail_of(row: Withdrawn) -> str:
    """Why, in one line."""
    return f"{row.reason}: {row.notice}" if row.notice else row.reason
