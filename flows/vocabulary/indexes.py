"""Indexes of merged vocabularies, one per backend, made when they are first needed.

<workspace>/vocabulary/indexes/merged-<fingerprint>-<backend>-<version>, beside it its hashes
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from curation.concepts.opening import prepare, version_of
from flows.engine.progress import Reporter
from flows.engine.runner import Resource
from flows.engine.session import current_reporter
from flows.engine.workspace import Workspace, is_workspace, open_workspace, write_atomic
from flows.vocabulary import commands
from flows.vocabulary.merge import merge_sources
from flows.vocabulary.sources import build_reading
from flows.vocabulary.store import Vocabulary, changed_table, current, home
from schemas.errors import WorkspaceError
from schemas.hashing import canonical_json, sha256_file

_HASHES = ".hashes.json"


@dataclass(frozen=True, slots=True)
class Index:
    """A backend's index of a vocabulary; `path` is what the backend opens."""

    path: Path
    backend: str
    vocabulary: Vocabulary

    @property
    def fingerprint(self) -> str:
        """Of everything that what the index finds depends on, but the texts."""
        return f"{self.vocabulary.fingerprint}/{self.backend}/{version_of(self.backend)}"

    @property
    def resources(self) -> dict[str, Resource]:
        """What the stages of grounding and of tasks are given: the index, and tables of the vocabulary."""
        tables = {
            name: Resource(self.vocabulary.table(name), self.vocabulary.fingerprint)
            for name in ("names", "types", "relations", "definitions", "mappings", "retired", "sources")
        }
        return {"vocabulary": Resource(self.path, self.fingerprint), **tables}


def vocabulary_in_use(workspace: Workspace, reporter: Reporter) -> Vocabulary:
    """The merged vocabulary in use; before the first build, the default ones are built and taken into use.

    The caller holds the workspace's writer lock.

    Raises:
        WorkspaceError: a table of it was changed.
    """
    found = checked(workspace)
    if found is None:
        sources = [build_reading(workspace, item, reporter) for item in commands.default_readings()]
        found = merge_sources(workspace, sources, reporter)
    return found


def checked(workspace: Workspace) -> Vocabulary | None:
    """The merged vocabulary in use, every table held to its hash; None before the first build.

    Raises:
        WorkspaceError: a table of it was changed.
    """
    found = current(workspace)
    if found is not None and (changed := changed_table(found)) is not None:
        raise WorkspaceError(
            "this table of the vocabulary was changed since it was made",
            file=str(changed),
            hint="run `medqrels vocabulary build` again: it makes the vocabulary anew",
        )
    return found


def planned_index(workspace: Workspace, backend: str) -> Index | None:
    """The index of the vocabulary in use, made or not; None before the first vocabulary.

    Raises:
        UsageError: no such backend.
    """
    version_of(backend)
    found = current(workspace)
    return None if found is None else _index(workspace, found, backend)


def index_in_use(workspace: Workspace, backend: str, reporter: Reporter | None = None) -> Index:
    """The index of the vocabulary in use, made if it is not there; the caller holds the writer lock.

    Raises:
        UsageError: no such backend, or its extra is not installed.
    """
    planned_index(workspace, backend)
    shown = reporter or current_reporter()
    index = _index(workspace, vocabulary_in_use(workspace, shown), backend)
    if not is_whole(index.path):
        with shown.stage("index", 1, "vocabularies") as steps:
            _make(index)
            steps.advance(1, index.path.name)
    return index


def index_for_texts(root: str | None, workspace: Path, backend: str) -> Index:
    """An index to ground any text with: the workspace's, or one kept in the user's cache where there is none.

    Args:
        root: the workspace the user named, None if none was.
        workspace: the workspace of the settings.
        backend: native, quickumls or scispacy.
    """
    place = workspace if root is not None or is_workspace(workspace) else _cache()
    opened = open_workspace(place, create=root is None)
    planned = planned_index(opened, backend)
    if planned is not None and is_whole(planned.path):
        return planned
    with opened.writing():
        return index_in_use(opened, backend)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "medqrels" / "vocabularies"


def _index(workspace: Workspace, vocabulary: Vocabulary, backend: str) -> Index:
    name = f"{vocabulary.folder.name}-{backend}-{version_of(backend)}"
    return Index(home(workspace) / "indexes" / name, backend, vocabulary)


def is_whole(path: Path) -> bool:
    """Whether an index is there, with the bytes that it was made with."""
    hashes = _stated(path)
    return bool(hashes) and hashes == _hashes(path)


def hashes_of_indexes(workspace: Workspace) -> Iterator[tuple[Path, str]]:
    """Every file of the workspace's indexes, with the SHA-256 that it was made with."""
    for record in sorted((home(workspace) / "indexes").glob(f"*{_HASHES}")):
        path = record.with_name(record.name.removesuffix(_HASHES))
        for name, sha256 in _stated(path).items():
            yield path / name if name else path, sha256


def _stated(path: Path) -> dict[str, str]:
    """File inside an index ('' for one that is a file itself) -> SHA-256; {} where none are stated."""
    try:
        found = json.loads(path.with_name(path.name + _HASHES).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _hashes(path: Path) -> dict[str, str]:
    if path.is_file():
        return {"": sha256_file(path)}
    files = (file for file in sorted(path.rglob("*")) if file.is_file())
    return {file.relative_to(path).as_posix(): sha256_file(file) for file in files}


def _make(index: Index) -> None:
    """Make an index where there is none, or none that can be trusted; its hashes come last."""
    vocabulary = index.vocabulary
    index.path.parent.mkdir(parents=True, exist_ok=True)
    for left in (*index.path.parent.glob(f"{index.path.name}.tmp*"), *index.path.parent.glob(".index-*")):
        shutil.rmtree(left, ignore_errors=True)  # of a killed run: the caller is the only writer
    about = {"vocabulary": vocabulary.fingerprint, "sources": vocabulary.manifest["sources"]}
    record = index.path.with_name(index.path.name + _HASHES)
    record.unlink(missing_ok=True)
    prepare(index.backend, vocabulary.table("names"), vocabulary.table("types"), index.path, about)
    write_atomic(record, canonical_json(_hashes(index.path)).encode())
