"""What a review or an earlier release hands to the stages: tables written as a finished shard, an input."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from flows.engine.manifest import (
    DROPPED,
    Manifest,
    Output,
    is_intact,
    publish,
    read_manifest,
    write_parquet,
)
from flows.engine.runner import ALL, schema_hashes
from flows.engine.workspace import Workspace
from schemas.hashing import sha256_file
from schemas.record import to_table
from schemas.stages import Drop


def bring(
    workspace: Workspace,
    stage: str,
    version: int,
    tables: Mapping[str, tuple[type, Sequence[Any]]],
    params: Mapping[str, Any] = MappingProxyType({}),
) -> Manifest:
    """Write tables as the one shard of a stage; equal ones are left alone.

    Args:
        workspace: where to.
        stage: name of the stage.
        version: of how its tables are written.
        tables: name -> row type and rows, in order. It drops nothing: such a table is added, empty.
        params: what else is to be known of them.
    """
    staged = workspace.temporary / stage
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    whole: dict[str, tuple[type, Sequence[Any]]] = {**tables, DROPPED: (Drop, ())}
    outputs = {}
    for table, (row, rows) in whole.items():
        path = staged / (table if table.endswith(".parquet") else f"{table}.parquet")
        write_parquet(path, to_table(row, rows))
        outputs[table] = Output(path.name, sha256_file(path), len(rows))
    columns = schema_hashes([(table, row) for table, (row, _) in whole.items()])
    inputs = {table: outputs[table].sha256 for table in tables}
    manifest = Manifest(stage, version, ALL, dict(params), inputs, outputs, {}, {}, columns=columns)
    folder = workspace.stage(stage) / ALL
    found = read_manifest(folder)
    if found is None or found.to_json() != manifest.to_json() or not is_intact(folder, found):
        publish(folder, staged, manifest, 0.0)
    shutil.rmtree(staged, ignore_errors=True)
    return manifest
