"""One set of published files under audit or beside it, whatever its layout, as the same views.

A release of ours is read where it lies; another layout is first written as canonical Parquet tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curation.published.manifest import ReleaseManifest, hash_files, read_manifest
from curation.published.query import QueryRunner
from curation.release.card import is_drawn
from curation.release.facts import Facts, compute, views
from schemas.audit import Kind, Role
from schemas.hashing import canonical_json, sha256_text


@dataclass(frozen=True, slots=True)
class Dataset:
    """Files of one task or benchmark.

    `views` maps table name -> Parquet files. Every kind but a hash list has `queries(id, text)`,
    `corpus(id, title, text)` and, when judged, `qrels("query-id", "corpus-id", score)`; `image` columns are
    structs of bytes and path. A hash list has `hashes` (see curation.audit.layouts.hashlist). `files` are the
    hashes of a release's files as it was opened, by their path inside the directory.
    """

    name: str
    role: Role
    kind: Kind
    directory: Path
    sha256: str
    views: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    manifest: ReleaseManifest | None = None
    files: Mapping[str, str] = field(default_factory=dict)

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
        files=files,
    )


def card_facts(
    directory: Path, files: Mapping[str, str], query: QueryRunner, shared: dict[tuple[str, ...], Any]
) -> Facts:
    """Every number of a card, from the files of a task directory; worked out once for the same data.

    Args:
        directory: the task directory.
        files: its files' hashes.
        query: runs SQL over Parquet.
        shared: where it is kept, see `Context.shared`.
    """
    data = {name: digest for name, digest in files.items() if not is_drawn(name)}
    key = ("card facts", sha256_text(canonical_json(data)))
    if key not in shared:
        shared[key] = compute(directory, query)
    found: Facts = shared[key]
    return found
