"""Which release was published where: a small record in the workspace, outside every release."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.engine.workspace import Workspace, write_atomic


def _path(workspace: Workspace, dataset: str, version: str) -> Path:
    return workspace.root / "published" / dataset / f"{version}.json"


def published(workspace: Workspace, dataset: str, version: str) -> dict[str, Any]:
    """Destination -> what was published there of one release; empty when nothing was."""
    try:
        found = json.loads(_path(workspace, dataset, version).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def note(workspace: Workspace, dataset: str, version: str, destination: str, what: Mapping[str, Any]) -> None:
    """Remember that a release is at a destination."""
    found = published(workspace, dataset, version) | {destination: dict(what)}
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    write_atomic(_path(workspace, dataset, version), text.encode())
