"""Whether a release may be published: its files, how it loads, and what its audit says of exactly them."""

from __future__ import annotations

import functools
import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.published.manifest import (
    AUDIT_FILES,
    NAME,
    ReleaseManifest,
    hash_files,
    published_files,
    read_manifest,
)
from flows.inspect.audit_status import standing
from flows.release.loading import check_loads
from schemas.errors import ReleaseError


@dataclass(frozen=True)
class TaskRelease:
    """A task folder that may be published."""

    directory: Path
    manifest: ReleaseManifest

    @functools.cached_property
    def files(self) -> dict[str, Path]:
        """Path in the release -> file: what the hash covers, release.json, and the audit."""
        beside = {name: self.directory / name for name in (NAME, *sorted(AUDIT_FILES))}
        return dict(published_files(self.directory)) | {n: p for n, p in beside.items() if p.is_file()}


def check_ready(directories: Sequence[Path], workers: int = 1) -> list[TaskRelease]:
    """The tasks of one whole release, checked from their files.

    Raises:
        ReleaseError: a task is missing, a file is not what release.json says, a config does not load, or the
            audit does not say publishable.
    """
    found = [TaskRelease(path, read_manifest(path)) for path in directories]
    _check_whole(found)
    for one in found:
        _check_files(one)
        _check_publishable(one)
    with tempfile.TemporaryDirectory(prefix="publish-") as scratch:
        check_loads([one.directory for one in found], Path(scratch), workers)
    return found


def _check_whole(found: Sequence[TaskRelease]) -> None:
    first = found[0].manifest
    name = f"{first.dataset}@{first.version}"
    tasks = {one.manifest.task for one in found}
    if missing := {first.task, *first.siblings} - tasks:
        raise ReleaseError(
            f"{name} is published whole; {', '.join(sorted(missing))} is not among the named folders",
            file=str(found[0].directory),
            hint=f"medqrels publish {name}",
        )


def _check_files(one: TaskRelease) -> None:
    manifest = one.manifest
    again = f"restore the folder, or delete it and run: medqrels release {manifest.dataset}"
    if manifest.computed_hash() != manifest.release_hash:
        raise ReleaseError(
            f"{manifest.task}: release.json was changed: its hash is another",
            file=str(one.directory / NAME),
            hint=again,
        )
    held, stated = hash_files(one.directory), dict(manifest.files)
    for name in sorted({*held, *stated}):
        if held.get(name) != stated.get(name):
            why = (
                "is missing" if name not in held else "was changed" if name in stated else "is no part of it"
            )
            raise ReleaseError(f"{manifest.task}: {name} {why}", file=str(one.directory / name), hint=again)


def _check_publishable(one: TaskRelease) -> None:
    said = standing(one.directory, one.manifest)
    if not said.publishable:
        reasons = " ".join(said.because) or f"Its audit says {said.audit}."
        raise ReleaseError(
            f"{one.manifest.task} is not publishable: {reasons}",
            file=str(one.directory),
            hint=f"medqrels audit {one.manifest.dataset}@{one.manifest.version} shows why",
        )


def git_oid(path: Path) -> str:
    """The name git gives a file's content."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
