"""What differs between two published releases: every task that both have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from curation.changes.difference import Difference, difference
from curation.changes.levels import largest
from curation.changes.page import render_page
from curation.changes.text import describe as describe_one
from curation.published.links import home
from curation.published.manifest import read_manifest
from flows.engine.connection import query
from flows.engine.releases import task_directories
from flows.engine.workspace import Workspace
from schemas.errors import UsageError

Alone = Sequence[tuple[str, str]]
"""(task, version) of tasks that only one of the releases has."""


def compare(
    old: str, new: str, workspace: Workspace | None, memory_limit: str
) -> tuple[list[Difference], Alone]:
    """Differences by task, and the tasks that only one release has.

    Args:
        old: the earlier RELEASE: a task or version folder, or NAME@VERSION, also NAME@VERSION/TASK.
        new: the later one.
        workspace: where NAME@VERSION is looked for.
        memory_limit: of the database.

    Raises:
        UsageError: there is no such release, or the two have no task in common.
        ReleaseError: a folder is no release.
    """
    sides = [
        {read_manifest(path).task: path for path in task_directories(name, workspace)} for name in (old, new)
    ]
    common = sorted(set(sides[0]) & set(sides[1]))
    if not common:
        listed = " and ".join(", ".join(sorted(side)) for side in sides)
        raise UsageError(f"no task is in both releases: {listed}", hint="name two releases of one task")
    ask = query(memory_limit, [home(path) for side in sides for path in side.values()])
    found = [difference(sides[0][name], sides[1][name], ask) for name in common]
    alone = [
        (name, read_manifest(side[name]).version)
        for side, other in ((sides[0], sides[1]), (sides[1], sides[0]))
        for name in sorted(set(side) - set(other))
    ]
    return found, alone


def content(found: Sequence[Difference], alone: Alone) -> dict[str, Any]:
    """Plain values for JSON."""
    return {
        "level": largest(item.level for item in found),
        "tasks": [item.content() for item in found],
        "alone": [{"task": task, "version": version} for task, version in alone],
    }


def describe(found: Sequence[Difference], alone: Alone) -> str:
    """Text for people."""
    parts = [f"{task}: in {version} alone" for task, version in alone]
    return "\n\n".join([*parts, *(describe_one(item) for item in found)])


def write_page(found: Sequence[Difference], alone: Alone, path: Path) -> None:
    """Write the page, whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text(render_page(found, alone), encoding="utf-8", newline="\n")
    partial.replace(path)
