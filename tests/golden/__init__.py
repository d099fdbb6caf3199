"""Recorded hashes of every stage's output over the embedded sample: output may change only with its VERSION.

Hashes are of schema and values, not of Parquet bytes: a newer pyarrow is not a changed stage.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq

from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace
from schemas.hashing import canonical_json

RECORDED = Path(__file__).with_name("hashes.json")
UPDATE = "python -m tests.golden --update"
Hashes = dict[str, dict[str, str]]
"""`stage@VERSION` -> table -> hash over all shards."""


def measure(workspace: Workspace) -> Hashes:
    """Hashes of everything the stages of a workspace made."""
    found: Hashes = {}
    names = sorted(path.name for path in workspace.work.iterdir() if path.is_dir())
    for stage in names:
        for shard, manifest in shards_of(workspace, stage).items():
            tables = found.setdefault(f"{stage}@{manifest.version}", {})
            for name, output in sorted(manifest.outputs.items()):
                digest = _content(workspace.stage(stage) / shard / output.file)
                tables[name] = hashlib.sha256((tables.get(name, "") + digest).encode()).hexdigest()
    return found


def _content(path: Path) -> str:
    whole = hashlib.sha256()
    file = pq.ParquetFile(path)
    whole.update(file.schema_arrow.to_string(show_field_metadata=False, show_schema_metadata=False).encode())
    for batch in file.iter_batches():
        for row in batch.to_pylist():
            line = canonical_json({name: _plain(value) for name, value in row.items()})
            whole.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return whole.hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if type(value).__module__ in {"decimal", "datetime"} else value


def load(path: Path = RECORDED) -> Hashes:
    """What was recorded; empty when nothing was."""
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def save(hashes: Mapping[str, Mapping[str, str]], path: Path = RECORDED) -> None:
    """Record hashes."""
    path.write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n", "utf-8")


def problems(measured: Hashes, recorded: Hashes) -> list[str]:
    """What is wrong, one sentence each, with what to do about it."""
    found = []
    for key, tables in sorted(measured.items()):
        stage, _, version = key.partition("@")
        if key not in recorded:
            older = sorted(other for other in recorded if other.partition("@")[0] == stage)
            was = f" (recorded: {', '.join(older)})" if older else ""
            found.append(f"{key} has no recorded hashes{was}: read the change, then run {UPDATE}")
        elif tables != recorded[key]:
            names = sorted(set(tables) | set(recorded[key]))
            changed = ", ".join(name for name in names if tables.get(name) != recorded[key].get(name))
            found.append(
                f"stage {stage}: output changed ({changed}) but its version is still {version}: "
                f"raise the version of the stage, then run {UPDATE}; "
                "if nothing should have changed, this is a defect"
            )
    found += [
        f"{key} is recorded but nothing makes it any more: run {UPDATE}"
        for key in sorted(set(recorded) - set(measured))
    ]
    return found


def changed_versions(measured: Hashes, recorded: Hashes) -> list[str]:
    """Stages whose output changed under the same version: recording those would hide the defect."""
    return sorted(key for key, tables in measured.items() if key in recorded and tables != recorded[key])
