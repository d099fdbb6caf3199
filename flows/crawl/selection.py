"""What to crawl, cut into shards and written down before the first fetch.

New articles form new shards; a shard's content never changes, so a crash or a rerun finds the same work.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from flows.engine.workspace import Workspace, write_atomic
from schemas.errors import WorkspaceError
from schemas.hashing import canonical_json, sha256_text

STAGE = "selection"


@dataclass(frozen=True, slots=True)
class Selection:
    """One crawl shard: sorted locators of one source; `root` is the folder for folder sources, else ''."""

    shard: str
    source: str
    root: str
    locators: tuple[str, ...]


def select(
    workspace: Workspace, source: str, locators: Iterable[str], shard_size: int, root: str = ""
) -> list[Selection]:
    """Record the locators not yet selected as new shards; returns all shards that hold any of `locators`."""
    wanted = set(locators)
    known = [item for item in selections(workspace) if item.source == source and item.root == root]
    held = {locator for item in known for locator in item.locators}
    fresh = sorted(wanted - held)
    made = [
        _record(workspace, source, root, tuple(fresh[start : start + shard_size]))
        for start in range(0, len(fresh), shard_size)
    ]
    return sorted([item for item in known if wanted & set(item.locators)] + made, key=lambda item: item.shard)


def _record(workspace: Workspace, source: str, root: str, locators: tuple[str, ...]) -> Selection:
    digest = sha256_text(canonical_json([source, root, locators]))[:12]
    selection = Selection(f"{source}-{digest}", source, root, locators)
    body = {"shard": selection.shard, "source": source, "root": root, "locators": list(locators)}
    path = workspace.stage(STAGE) / f"{selection.shard}.json"
    write_atomic(
        path, (json.dumps(body, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")
    )
    return selection


def selections(workspace: Workspace) -> list[Selection]:
    """Every recorded shard, by name.

    Raises:
        WorkspaceError: a file is damaged.
    """
    base = workspace.stage(STAGE)
    return [_read(path) for path in sorted(base.glob("*.json"))] if base.is_dir() else []


def _read(path: Path) -> Selection:
    try:
        body = json.loads(path.read_text("utf-8", "surrogateescape"))
        return Selection(body["shard"], body["source"], body["root"], tuple(body["locators"]))
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError("a recorded crawl selection is damaged", file=str(path)) from error
