"""One set of published files under audit or beside it, whatever its layout, as the same views.

A release of ours is read where it lies; another layout is first written as canonical Parquet tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curation.published.manifest import ReleaseManifest, hash_files, read_manifest
from curation.release.facts import views
from schemas.audit import Kind, Role
from schemas.hashing import canonical_json, sha256_text


@dataclass(frozen=True, slots=True)
class Dataset:
    """Files of one task or benchmark.

    `views` maps table name -> Parquet files. Every kind but a hash list has `queries(id, text)`,
    `corpus(id, title, text)` and, when judged, `qrels("query-id", "corpus-id", score)`; `image` columns are
    structs of bytes and path. A hash list has `hashes` (see curation.audit.layouts.hashlist).
    """

    name: str
    role: Role
    kind: Kind
    directory: Path
    sha256: str
    views: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    manifest: ReleaseManifest | None = None

    @property
    def task(self) -> str:
        """Task of a release, else the dataset's name."""
        return self.manifest.task if self.manifest else self.name


def open_release(directory: Path, role: Role = "audited") -> Dataset:
    """A task directory of one of our releases; its hash is that of the files as they are now.

    Raises:
        ReleaseError: the directory has no readable release.json.
    """
    manifest = read_manifest(directory)
    files = hash_files(directory)
    name = f"{manifest.dataset}@{manifest.version}/{manifest.task}"
    stated = manifest.content() | {"files": files}
    del stated["release_hash"]
    return Dataset(
        name=name,
        role=role,
        kind="release",
        directory=directory,
        sha256=sha256_text(canonical_json(stated)),
        views=views(directory),
        manifest=manifest,
    )
