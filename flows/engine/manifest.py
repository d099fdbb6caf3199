"""The manifest of one shard of one stage: what it was made from, what came out, what was dropped.

A shard is done when its files have the hashes its manifest states; the manifest is renamed into place last.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from flows.engine.workspace import STORAGE_VERSION, write_atomic
from schemas.errors import WorkspaceError
from schemas.hashing import canonical_json, sha256_file

MANIFEST = "_manifest.json"
RUN = "_run.json"
DROPPED = "_dropped"


@dataclass(frozen=True, slots=True)
class Output:
    """One file of a shard."""

    file: str
    sha256: str
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that identifies a finished shard. Times and hosts are in `_run.json`, outside every hash."""

    stage: str
    version: int
    shard: str
    params: Mapping[str, Any]
    inputs: Mapping[str, str]
    outputs: Mapping[str, Output]
    units: Mapping[str, Mapping[str, int]]
    dropped: Mapping[str, int]
    storage_version: int = STORAGE_VERSION
    columns: Mapping[str, str] = field(default_factory=dict)

    def identity(self) -> tuple[Any, ...]:
        """What must be equal for a shard to be up to date."""
        return (
            self.storage_version,
            self.stage,
            self.version,
            canonical_json(dict(self.params)),
            canonical_json(dict(self.inputs)),
            canonical_json(dict(self.columns)),
        )

    def to_json(self) -> str:
        """Stable JSON."""
        body = {
            "storage_version": self.storage_version,
            "stage": self.stage,
            "version": self.version,
            "shard": self.shard,
            "params": dict(self.params),
            "inputs": dict(self.inputs),
            "columns": dict(self.columns),
            "outputs": {
                name: {"file": out.file, "sha256": out.sha256, "rows": out.rows}
                for name, out in self.outputs.items()
            },
            "units": {unit: dict(counts) for unit, counts in self.units.items()},
            "dropped": dict(self.dropped),
        }
        return json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a shard folder, None when there is none.

    Raises:
        WorkspaceError: the file is there but is not a manifest.
    """
    path = folder / MANIFEST
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    return parse_manifest(data, str(path))


def parse_manifest(text: str | bytes, place: str) -> Manifest:
    """A manifest as it was written to `place`.

    Raises:
        WorkspaceError: the text is not a manifest.
    """
    try:
        body = json.loads(text)
        outputs = {name: Output(**out) for name, out in body.pop("outputs").items()}
        return Manifest(outputs=outputs, **body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WorkspaceError(
            "a manifest is damaged", file=place, hint="delete the folder; the next run rebuilds it"
        ) from error


def is_intact(folder: Path, manifest: Manifest) -> bool:
    """Whether every output file is there with the hash the manifest states."""
    return all(
        (folder / out.file).is_file() and sha256_file(folder / out.file) == out.sha256
        for out in manifest.outputs.values()
    )


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write Parquet whose bytes depend only on the table: fixed row groups, zstd, no clock."""
    pq.write_table(
        table, path, compression="zstd", row_group_size=20_000, store_schema=True, write_statistics=True
    )


def peak_mib() -> int:
    """The most memory this process has held so far, MiB."""
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024  # what the two systems count in
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit


def read_run(folder: Path) -> dict[str, Any]:
    """What a shard cost when it was made; {} where that is not known."""
    try:
        found = json.loads((folder / RUN).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def publish(folder: Path, staged: Path, manifest: Manifest, seconds: float, cpu_seconds: float = 0.0) -> None:
    """Move staged files into the shard folder, as `move_in`, and note what they cost to make here.

    Seconds, processor seconds and the most memory this process has held so far (MiB) go to `_run.json`.
    """
    run = {
        "finished_unix": round(time.time(), 3),
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
        "peak_mib": peak_mib(),
        "bytes": sum((staged / out.file).stat().st_size for out in manifest.outputs.values()),
        "host": os.uname().nodename,
    }
    move_in(folder, staged, manifest, run)


def move_in(folder: Path, staged: Path, manifest: Manifest, run: Mapping[str, Any]) -> None:
    """Move staged files into the shard folder; the manifest comes last, so a crash leaves no false 'done'.

    Args:
        folder: of the shard.
        staged: holds every file that the manifest names.
        manifest: of the shard.
        run: what it cost to make, for `_run.json`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    keep = {out.file for out in manifest.outputs.values()}
    for stale in folder.iterdir():
        if stale.name not in keep:
            stale.unlink()
    for name in sorted(keep):
        os.replace(staged / name, folder / name)
    shutil.rmtree(staged, ignore_errors=True)
    write_atomic(folder / RUN, (json.dumps(dict(run)) + "\n").encode())
    write_atomic(folder / MANIFEST, manifest.to_json().encode("utf-8"))
