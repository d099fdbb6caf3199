"""Runs a reader of an open vocabulary into its folder: rows spill to scratch Parquet, DuckDB sorts them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import curation.vocabulary
from curation.vocabulary.tables import TABLES, Row, Rows
from flows.engine.database import add_view, connect, write_select
from flows.engine.manifest import write_parquet
from flows.engine.progress import Reporter, Steps
from flows.engine.workspace import Workspace
from flows.vocabulary.store import Build, Vocabulary, fingerprint, finished, home
from schemas.errors import InputError
from schemas.hashing import sha256_file, sha256_text
from schemas.record import from_table, to_table
from schemas.vocabulary import VocabularySource

VERSION = 6
"""Changes when a reader would give other rows of the same file."""
MEMORY = "1GB"
_BUFFER = 50_000
_TABLE_OF = {table.row: table.name for table in TABLES.values()}


@dataclass(frozen=True, slots=True)
class Reading:
    """One source to be read.

    Args:
        source: abbreviation; a later reading of the same source takes the place of an earlier one.
        reader: name of the reader.
        files: what is read.
        read: the reader, given the hex SHA-256 over the files.
        options: what else decides the rows.
        translates: abbreviation of the source whose concepts these are names for, '' for its own.
        has_names: whether it names concepts; one that does not only relates codes.
    """

    source: str
    reader: str
    files: tuple[Path, ...]
    read: Callable[[str], Rows]
    options: Mapping[str, Any] = field(default_factory=dict)
    translates: str = ""
    has_names: bool = True

    def identity(self) -> dict[str, Any]:
        """What the folder depends on."""
        return {
            "kind": "source",
            "source": self.source,
            "reader": self.reader,
            "version": VERSION,
            "rules": _rules(),
            "options": dict(self.options),
            "inputs": {path.name: sha256_file(path) for path in self.files},
        }


def _rules() -> str:
    """Hash of the data files that readers go by."""
    folder = Path(next(iter(curation.vocabulary.__path__)))
    return sha256_text("".join(sha256_file(path) for path in sorted(folder.glob("*.toml"))))[:12]


def build_reading(
    workspace: Workspace, reading: Reading, reporter: Reporter, memory: str = MEMORY
) -> Vocabulary:
    """Read a source into its folder, or find that this was done.

    Raises:
        InputError: the file is not what it should be.
    """
    identity = reading.identity()
    folder = home(workspace) / "sources" / f"{reading.source}-{fingerprint(identity)[:12]}"
    held = finished(folder)
    if held is not None:
        return held
    build = Build(folder, identity)
    inputs = "".join(f"{name} {sha}\n" for name, sha in sorted(identity["inputs"].items()))
    try:
        with reporter.stage(reading.source, len(TABLES) + 1, "tables") as steps:
            spilled = _spill(reading.read(sha256_text(inputs)), build.scratch)
            steps.advance(note="read")
            return _tables(build, reading, spilled, steps, memory)
    except InputError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _spill(rows: Rows, scratch: Path) -> dict[str, list[Path]]:
    """Rows by table in scratch files, so that memory does not grow with the vocabulary."""
    files: dict[str, list[Path]] = {name: [] for name in TABLES}
    held: dict[str, list[Row]] = {name: [] for name in TABLES}

    def flush(name: str) -> None:
        if held[name]:
            path = scratch / f"read-{name}-{len(files[name])}.parquet"
            write_parquet(path, to_table(TABLES[name].row, held[name]))
            files[name].append(path)
            held[name].clear()

    for row in rows:
        name = _TABLE_OF[type(row)]
        held[name].append(row)
        if len(held[name]) >= _BUFFER:
            flush(name)
    for name in TABLES:
        flush(name)
    return files


def _tables(
    build: Build, reading: Reading, spilled: Mapping[str, Sequence[Path]], steps: Steps, memory: str
) -> Vocabulary:
    with connect(memory, build.scratch) as connection:
        for name, table in TABLES.items():
            add_view(connection, f"read_{name}", spilled[name], table.row)
            sql = table.unique(f"read_{name}")
            output = build.table(name, lambda path, sql=sql: write_select(connection, sql, path))  # type: ignore[misc]
            steps.advance(note=f"{output.rows} {name}")
            if name == "names" and not output.rows and reading.has_names:
                raise InputError("not one name in this vocabulary", file=str(reading.files[0]))
    return build.finish(_facts(build, reading))


def _facts(build: Build, reading: Reading) -> dict[str, Any]:
    stated = from_table(VocabularySource, pq.read_table(build.folder / "sources.parquet"))
    said = next((item for item in stated if item.source == reading.source), stated[0])
    return {
        "release": said.release,
        "licence": said.licence,
        "tier": said.tier,
        "translates": reading.translates,
    }
