"""Exports a task: all of it in a folder aside, then into place at once; an equal export there stands."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.export import beir, mbeir, mteb, tables, trec, webdataset
from curation.export.files import Out, Told
from curation.export.source import Source
from curation.release.seal import aside
from schemas.errors import UsageError
from schemas.hashing import sha256_file
from schemas.tables import CORPUS, EXCLUDED, QRELS, QUERIES

FORMATS: Mapping[str, Callable[[Source, Out], list[str]]] = {
    "beir": beir.write,
    "trec": trec.write,
    "mteb": mteb.write,
    "mbeir": mbeir.write,
    "webdataset": webdataset.write,
}
NAME = "export.json"
"""Written last: a folder without it is no export."""


@dataclass(frozen=True, slots=True)
class Export:
    """What was exported: export.json, and whether it was made now or stood already."""

    content: Mapping[str, Any]
    folder: Path
    is_new: bool


def plan(source: Source, form: str) -> dict[str, Any]:
    """What an export would hold.

    Raises:
        UsageError: there is no such format.
    """
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}", hint=f"--format {', '.join(FORMATS)}")
    manifest = source.manifest
    return {
        "format": form,
        "dataset": manifest.dataset,
        "task": manifest.task,
        "version": manifest.version,
        "release_hash": manifest.release_hash,
        "splits": list(source.splits),
        "counts": {table.name: source.count(table) for table in (CORPUS, QUERIES, QRELS, EXCLUDED)},
    }


def export(source: Source, target: Path, form: str, told: Told = lambda _: None) -> Export:
    """Export a task of a release; `told` is called with rows as they are written, `rows(source)` in all.

    Args:
        source: the task.
        target: folder to make; one that holds this very export stands.
        form: a key of FORMATS.
        told: called with how many rows were written.

    Raises:
        UsageError: the folder holds something else, or there is no such format.
        ReleaseError: the format cannot hold a row; names it.
    """
    planned = plan(source, form)
    standing = read(target)
    if standing is not None and all(standing.get(name) == value for name, value in planned.items()):
        if _hashes(target) == standing.get("files"):
            return Export(standing, target, is_new=False)
    elif target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            "the folder holds something else", file=str(target), hint="name a folder that is not there yet"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with aside(target) as folder:
        out = Out(folder, told)
        notes = FORMATS[form](source, out) + tables.several_images(source, out)
        content = {**planned, "notes": notes, "files": _hashes(folder)}
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        (folder / NAME).write_text(text + "\n", encoding="utf-8", newline="\n")
        if target.exists():
            shutil.rmtree(target)
        folder.rename(target)
    return Export(content, target, is_new=True)


def rows(source: Source) -> int:
    """Rows that an export goes through."""
    return tables.total(source)


def read(folder: Path) -> dict[str, Any] | None:
    """export.json of a folder; None where it is no export."""
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): sha256_file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != NAME and "__pycache__" not in path.parts
    }
