"""Checks, from manifests alone, that a stage's shards are what its own inputs make today.

Without it `build` after a new crawl or an upgrade would quietly use yesterday's extraction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flows.engine.manifest import Manifest
from flows.engine.workspace import Workspace
from schemas.errors import WorkspaceError


def verb_of(stage: str) -> str:
    """The command that runs a stage, for hints."""
    from flows.pipeline import verb_of  # it loads every stage, which a worker process does not need

    return verb_of(stage)


def check_current(
    workspace: Workspace,
    stage: str,
    shards_of: Callable[[str], Mapping[str, Manifest]],
    versions: Mapping[str, int],
) -> None:
    """Check a stage and everything it was made from.

    Args:
        workspace: the workspace, for messages.
        stage: the stage.
        shards_of: finished shards of a stage by name.
        versions: version of each stage in this code; stages not named are not compared.

    Raises:
        WorkspaceError: a shard was made by another version, from other input, or is missing.
    """
    mine = shards_of(stage)
    parents: set[str] = set()
    for shard, manifest in mine.items():
        wanted = versions.get(stage, manifest.version)
        if manifest.version != wanted:
            raise _stale(workspace, stage, f"was made by its version {manifest.version}, this is {wanted}")
        for table, other, digest in _inputs(manifest):
            parent, _, name = table.partition(".")
            parents.add(parent)
            found = shards_of(parent).get(other)
            if found is None or name not in found.outputs or found.outputs[name].sha256 != digest:
                raise _stale(workspace, stage, f"shard {shard} was made from an older {parent}")
    for parent in sorted(parents):
        unseen = set(shards_of(parent)) - set(mine)
        if unseen and "all" not in mine:
            raise _stale(workspace, stage, f"has not seen {len(unseen)} new shards of {parent}")
        check_current(workspace, parent, shards_of, versions)


def _inputs(manifest: Manifest) -> list[tuple[str, str, str]]:
    """(stage.table, shard, hash) of every input that is another stage's output."""
    split = [(key.partition("/"), digest) for key, digest in manifest.inputs.items()]
    return [(table, shard, digest) for (table, slash, shard), digest in split if slash and "." in table]


def _stale(workspace: Workspace, stage: str, why: str) -> WorkspaceError:
    return WorkspaceError(
        f"stage {stage!r} is out of date: it {why}", file=str(workspace.root), hint=verb_of(stage)
    )
