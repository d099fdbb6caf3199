"""Every file of a workspace held to the hash it was stored with: what decayed while nobody read it.

Commands hold what they read to its hash themselves; this reads all there is, so that it can be fetched or
made again while its source still stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.published.manifest import AUDIT_FILES, NAME
from curation.published.manifest import read_manifest as read_release
from flows.engine.lineage import verb_of
from flows.engine.manifest import read_manifest
from flows.engine.progress import Reporter
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace, is_workspace, open_workspace
from flows.inspect.doctor import told
from flows.release.recorded import FOLDER, RECORD, read_record
from flows.vocabulary.indexes import hashes_of_indexes
from flows.vocabulary.store import home, stated
from schemas.errors import MedqrelsError
from schemas.hashing import sha256_file
from sources.ledger import stored_files
from sources.stage import CRAWL

_FETCH = "delete it and crawl again: what raw/ lacks is fetched anew"
_VOCABULARY = "medqrels vocabulary build makes it again"
_INDEX = "medqrels ground makes it again"
_RELEASE = "restore it from where the release was published, or delete the version and release it again"
_AUDIT = "medqrels release audits it again"
_RECORD = "restore it from a backup; without it the release cannot be rebuilt, all else goes on"


@dataclass(frozen=True, slots=True)
class Stored:
    """A file and the SHA-256 it was stored with; None where only its absence shows. `fix` makes it good."""

    path: Path
    sha256: str | None
    fix: str


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that is not as it was stored: what is wrong with it, and what makes it good."""

    path: Path
    why: str
    fix: str


def examine_files(settings: Settings, reporter: Reporter) -> list[dict[str, Any]]:
    """One row for each damaged file and one for all, as :func:`flows.inspect.doctor.examine` gives them."""
    if not is_workspace(settings.workspace):
        return [told("files", None, "no workspace yet")]
    count, found = damages(open_workspace(settings.workspace), reporter)
    rows = [told("file", False, f"{one.path} {one.why}", one.fix) for one in found]
    summary = f"{count:,} read, {len(found):,} not as they were stored"
    return [*rows, told("files", not found, summary, "what is said of each above")]


def damages(workspace: Workspace, reporter: Reporter) -> tuple[int, list[Damage]]:
    """How many files were read, and those that are not as they were stored, in order of their paths."""
    found: dict[Path, Damage] = {}
    stored: dict[Path, Stored] = {}
    for one in _all(workspace, found):
        if one.path in stored and stored[one.path].sha256 != one.sha256:
            found[one.path] = Damage(one.path, "two records of its hash differ", one.fix)
        stored[one.path] = one
    with reporter.stage("files", len(stored), "files") as steps:
        for path, one in sorted(stored.items()):
            if (why := _damage(one)) and path not in found:
                found[path] = Damage(path, why, one.fix)
            steps.advance(note=path.name)
    return len(stored), [found[path] for path in sorted(found)]


def _damage(one: Stored) -> str:
    """What is wrong with a file; '' for nothing."""
    try:
        if not one.path.is_file():
            return "is missing"
        return "was changed" if one.sha256 and sha256_file(one.path) != one.sha256 else ""
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _all(workspace: Workspace, found: dict[Path, Damage]) -> Iterator[Stored]:
    """Every file with a recorded hash; records that cannot be read are put into `found`."""
    for part in (_raw, _work, _vocabulary, _releases, _recorded):
        yield from part(workspace, found)


def _raw(workspace: Workspace, found: dict[Path, Damage]) -> Iterator[Stored]:
    try:
        for path, sha256 in stored_files(workspace.ledger):
            yield Stored(workspace.raw / path, sha256, _FETCH)
    except MedqrelsError as error:
        found[workspace.ledger] = Damage(workspace.ledger, str(error.message), error.hint)
    for shard in _folders(workspace.stage(CRAWL)):
        try:
            rows = pq.read_table(shard / "raw.parquet", columns=["path", "sha256", "media", "parts"])
        except (OSError, pa.ArrowException):  # its manifest tells below
            continue
        for row in rows.to_pylist():
            for item in (row, *row["media"], *row["parts"]):
                yield Stored(workspace.raw / item["path"], item["sha256"], _FETCH)


def _work(workspace: Workspace, found: dict[Path, Damage]) -> Iterator[Stored]:
    for stage in _folders(workspace.work):
        fix = f"{verb_of(stage.name)} makes it again"
        for shard in _folders(stage):
            try:
                manifest = read_manifest(shard)
            except MedqrelsError as error:
                found[shard] = Damage(shard, str(error.message), fix)
                continue
            for out in manifest.outputs.values() if manifest else ():  # a killed run left one without
                yield Stored(shard / out.file, out.sha256, fix)


def _vocabulary(workspace: Workspace, found: dict[Path, Damage]) -> Iterator[Stored]:
    base = home(workspace)
    for folder in (*_folders(base / "sources"), *sorted(base.glob("merged-*"))):
        try:
            vocabulary = stated(folder)
        except MedqrelsError as error:
            found[folder] = Damage(folder, str(error.message), error.hint)
            continue
        for item in vocabulary.manifest["tables"].values() if vocabulary else ():
            yield Stored(folder / item["file"], item["sha256"], _VOCABULARY)
    for path, sha256 in hashes_of_indexes(workspace):
        yield Stored(path, sha256, _INDEX)


def _releases(workspace: Workspace, found: dict[Path, Damage]) -> Iterator[Stored]:
    for path in sorted(workspace.releases.glob(f"*/*/*/{NAME}")):
        folder = path.parent
        try:
            manifest = read_release(folder)
        except MedqrelsError as error:
            found[path] = Damage(path, str(error.message), _RELEASE)
            continue
        if not manifest.is_as_sealed:
            found[path] = Damage(path, "was changed", _RELEASE)
        yield from (Stored(folder / name, sha256, _RELEASE) for name, sha256 in manifest.files.items())
        yield from (Stored(folder / name, None, _AUDIT) for name in sorted(AUDIT_FILES))


def _recorded(workspace: Workspace, found: dict[Path, Damage]) -> Iterator[Stored]:
    for path in sorted((workspace.root / FOLDER).glob(f"*/*/{RECORD}")):
        try:
            record = read_record(path.parent)
        except MedqrelsError as error:
            found[path] = Damage(path, str(error.message), _RECORD)
            continue
        for name, sha256 in record.files.items() if record else ():
            yield Stored(path.parent / name, sha256, _RECORD)


def _folders(base: Path) -> Iterable[Path]:
    return sorted(path for path in base.iterdir() if path.is_dir()) if base.is_dir() else ()
