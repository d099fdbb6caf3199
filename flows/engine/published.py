"""Which release was published where: a small record in the workspace, outside every release."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.engine.workspace import Workspace, write_atomic

PARTLY = "unfinished"
"""Key of what is noted of a destination that was sent to, and has not got the whole release yet."""


def _path(workspace: Workspace, dataset: str, version: str) -> Path:
    return workspace.root / "published" / dataset / f"{version}.json"


def published(workspace: Workspace, dataset: str, version: str) -> dict[str, Any]:
    """Destination -> what was published there of one release, or that this is not finished."""
    try:
        found = json.loads(_path(workspace, dataset, version).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def note_begun(workspace: Workspace, dataset: str, version: str, destination: str) -> None:
    """Remember, before anything is sent, that a destination may soon hold some of a release."""
    if destination not in published(workspace, dataset, version):
        note(workspace, dataset, version, destination, {PARTLY: True})


def note(workspace: Workspace, dataset: str, version: str, destination: str, what: Mapping[str, Any]) -> None:
    """Remember that a release is at a destination."""
    found = published(workspace, dataset, version) | {destination: dict(what)}
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    write_atomic(_path(workspace, dataset, version), text.encode())
