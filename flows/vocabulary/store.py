"""Vocabularies on disk: one folder per source and per merge, tables finished one by one, the manifest last.

<workspace>/vocabulary/sources/<abbreviation>-<fingerprint>/   what one release of one source says
<workspace>/vocabulary/merged-<fingerprint>/                   sources merged; current.json names one
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from flows.engine.database import ROW_GROUP
from flows.engine.manifest import Output
from flows.engine.workspace import STORAGE_VERSION, Workspace, write_atomic
from schemas.errors import UsageError, WorkspaceError
from schemas.hashing import canonical_json, sha256_file, sha256_text
from schemas.record import arrow_schema
from schemas.vocabulary import ConceptName

MANIFEST = "manifest.json"
_DONE = ".done.json"
_SCRATCH = "scratch"
_NAMES = arrow_schema(ConceptName)


def home(workspace: Workspace) -> Path:
    """The folder of vocabularies, as itself where a workspace has a link to that of another.

    What a process reads of a vocabulary it keeps by path.
    """
    folder = workspace.root / "vocabulary"
    return folder.resolve() if folder.is_symlink() else folder


def fingerprint(identity: Mapping[str, Any]) -> str:
    """Hash of everything a folder is made from."""
    return sha256_text(canonical_json({"storage_version": STORAGE_VERSION, **identity}))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One finished folder of tables: a source's or a merge's."""

    folder: Path
    manifest: Mapping[str, Any] = field(compare=False, repr=False)  # the folder's name has its fingerprint

    @property
    def fingerprint(self) -> str:
        """Hash of everything it is made from; changes with any input, option or version of the code."""
        return str(self.manifest["fingerprint"])

    def table(self, name: str) -> Path:
        """Parquet file of one table: names, types, relations, definitions, mappings, retired, sources."""
        return self.folder / str(self.manifest["tables"][name]["file"])

    def rows(self, name: str) -> int:
        """Number of rows of one table."""
        return int(self.manifest["tables"][name]["rows"])


def read_vocabulary(folder: Path) -> Vocabulary | None:
    """A finished folder, None when there is none or its files are not those of its manifest.

    Raises:
        WorkspaceError: the manifest is damaged.
    """
    found = stated(folder)
    if found is None:
        return None
    try:
        tables = found.manifest["tables"].values()
        sizes_hold = all((folder / item["file"]).stat().st_size == item["bytes"] for item in tables)
    except FileNotFoundError:
        return None
    return found if sizes_hold else None


def stated(folder: Path) -> Vocabulary | None:
    """A folder as its manifest has it, whatever became of its tables; None where there is no manifest.

    Raises:
        WorkspaceError: the manifest is damaged.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text("utf-8"))
        manifest["fingerprint"]
        for item in manifest["tables"].values():
            folder / item["file"], item["sha256"], item["bytes"] + 0, item["rows"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WorkspaceError(
            "the manifest of a vocabulary is damaged",
            file=str(path),
            hint="delete its folder and run `medqrels vocabulary build` again",
        ) from error
    return Vocabulary(folder, manifest)


def finished(folder: Path) -> Vocabulary | None:
    """As :func:`read_vocabulary`, for whoever holds the writer lock and would make it again.

    What a killed build left there goes, and tables that are not those that were written are no finished ones.
    """
    found = read_vocabulary(folder)
    if found is None or changed_table(found):
        return None
    shutil.rmtree(folder / _SCRATCH, ignore_errors=True)
    return found


def changed_table(vocabulary: Vocabulary) -> Path | None:
    """A table that no longer has the hash its manifest states, None when there is none."""
    for name, item in vocabulary.manifest["tables"].items():
        if sha256_file(vocabulary.table(name)) != item["sha256"]:
            return vocabulary.table(name)
    return None


def current(workspace: Workspace) -> Vocabulary | None:
    """The merged vocabulary in use, None before the first build.

    Raises:
        WorkspaceError: current.json names one that is not there or not whole, or of an earlier version.
    """
    path = home(workspace) / "current.json"
    try:
        name = json.loads(path.read_text("utf-8"))["vocabulary"]
        found = read_vocabulary(home(workspace) / name)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError("current.json is damaged", file=str(path), hint=_REBUILD) from error
    if found is None:
        raise WorkspaceError(f"the vocabulary {name} is incomplete", file=str(path), hint=_REBUILD)
    try:
        columns = pq.read_schema(found.table("names")).names
    except (OSError, pa.ArrowException) as error:
        raise WorkspaceError(
            "this table of the vocabulary cannot be read", file=str(found.table("names")), hint=_REBUILD
        ) from error
    if missing := sorted(set(_NAMES.names) - set(columns)):
        raise WorkspaceError(
            f"the vocabulary {name} was read by an earlier version of medqrels: no column {missing[0]}",
            file=str(path),
            hint=f"delete {path}, then build the vocabulary again",
        )
    return found


_REBUILD = "run `medqrels vocabulary build` again"


_CREDITED = ("source", "title", "release", "licence", "url", "citation", "sha256")


def credits_of(vocabulary: Vocabulary) -> tuple[dict[str, str], ...]:
    """What a merged vocabulary was made from, as whoever publishes its concepts must say."""
    table = pq.read_table(vocabulary.table("sources"), columns=list(_CREDITED))
    return tuple(sorted(table.to_pylist(), key=lambda row: [row[name] for name in _CREDITED]))


def set_current(workspace: Workspace, vocabulary: Vocabulary) -> None:
    """Make a merged vocabulary the one in use."""
    body = json.dumps({"vocabulary": vocabulary.folder.name}) + "\n"
    write_atomic(home(workspace) / "current.json", body.encode())


def find(workspace: Workspace, name: str) -> Vocabulary:
    """A merged vocabulary by path, name, beginning of its fingerprint, or 'current'.

    Raises:
        UsageError: none or several match.
    """
    if name == "current":
        found = current(workspace)
        if found is None:
            raise UsageError("no vocabulary has been built yet", hint="medqrels vocabulary build")
        return found
    folders = [Path(name)] if (Path(name) / MANIFEST).is_file() else []
    if not folders and home(workspace).is_dir():
        folders = sorted(home(workspace).glob(f"merged-{name.removeprefix('merged-')}*"))
    matching = [item for item in map(read_vocabulary, folders) if item is not None]
    if len(matching) != 1:
        known = sorted(path.name for path in home(workspace).glob("merged-*"))
        raise UsageError(
            f"{len(matching)} vocabularies are called {name!r}", hint="one of " + ", ".join(known or ["none"])
        )
    return matching[0]


class Build:
    """A folder in the making. A killed build goes on: tables it finished are not made again."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self.folder = folder
        self._identity = identity
        self._outputs: dict[str, Output] = {}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)

    @property
    def scratch(self) -> Path:
        """Files needed until the folder is finished."""
        path = self.folder / _SCRATCH
        path.mkdir(exist_ok=True)
        return path

    def table(self, name: str, make: Callable[[Path], Output]) -> Output:
        """One table, made by `make(path)` unless an earlier run finished it."""
        output = self.step(name, lambda path: asdict(make(path)), self.folder / f"{name}.parquet")
        self._outputs[name] = Output(f"{name}.parquet", output["sha256"], output["rows"])
        return self._outputs[name]

    def step(self, name: str, make: Callable[[Path], Mapping[str, Any]], path: Path) -> dict[str, Any]:
        """A file and what is to be known of it, made unless an earlier run finished it."""
        done = self.scratch / f"{name}{_DONE}"
        try:
            held: dict[str, Any] = json.loads(done.read_text("utf-8"))
            if held["bytes"] == path.stat().st_size:
                return held
        except (FileNotFoundError, ValueError, KeyError):
            pass
        temporary = path.with_name(f"{path.name}.tmp")
        result = dict(make(temporary))
        with temporary.open("rb+") as handle:
            os.fsync(handle.fileno())
        result["bytes"] = temporary.stat().st_size
        os.replace(temporary, path)
        temporary.unlink(missing_ok=True)  # renaming does nothing where both names are links to one file
        write_atomic(done, json.dumps(result).encode())
        return result

    def finish(self, facts: Mapping[str, Any]) -> Vocabulary:
        """Write the manifest, last, and clear what is not needed any more."""
        tables = {
            name: {
                "file": output.file,
                "sha256": output.sha256,
                "rows": output.rows,
                "bytes": (self.folder / output.file).stat().st_size,
            }
            for name, output in sorted(self._outputs.items())
        }
        body = {**self._identity, "fingerprint": fingerprint(self._identity), **facts, "tables": tables}
        text = json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        write_atomic(self.folder / MANIFEST, text.encode("utf-8"))
        shutil.rmtree(self.scratch, ignore_errors=True)
        return Vocabulary(self.folder, json.loads(text))


def write_batches(batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path) -> Output:
    """Write batches with fixed row groups: the same rows give the same bytes however they were batched."""
    rows = held = 0
    pending: list[pa.RecordBatch] = []
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            pending.append(batch)
            rows, held = rows + batch.num_rows, held + batch.num_rows
            if held >= ROW_GROUP:
                table = pa.Table.from_batches(pending, schema=schema).combine_chunks()
                whole = held - held % ROW_GROUP
                writer.write_table(table.slice(0, whole), row_group_size=ROW_GROUP)
                pending, held = table.slice(whole).to_batches(), held - whole
        if held or not rows:
            last = pa.Table.from_batches(pending, schema=schema).combine_chunks()
            writer.write_table(last, row_group_size=ROW_GROUP)
    return Output(path.name.removesuffix(".tmp"), sha256_file(path), rows)


def link(source: Path, rows: int) -> Callable[[Path], Output]:
    """A table that is another one byte for byte: the same file, not a copy, where the disk can do that."""

    def make(path: Path) -> Output:
        path.unlink(missing_ok=True)
        try:
            os.link(source, path)
        except OSError:
            shutil.copyfile(source, path)
        return Output(source.name, sha256_file(path), rows)

    return make
