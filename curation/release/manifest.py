"""release.json: what a release holds, how it was made, and the hash that names its content.

No times, hosts or absolute paths, so that equal content gives an equal file.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import ReleaseError
from schemas.hashing import canonical_json, sha256_file, sha256_text

FORMAT_VERSION = 2
NAME = "release.json"
AUDIT_FILES = frozenset({"audit.json", "audit.html"})


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage as it ran, from its manifest."""

    name: str
    version: int
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Retention:
    """How many units entered and left a stage."""

    stage: str
    unit: str
    entered: int
    kept: int


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """What the workspace knows about the way from crawl to build, in the order of the way.

    `overrides` are the `--set` changes to the spec; `vocabulary` is the fingerprint of the vocabulary in use,
    `vocabularies` what it was made from: source, title, release, licence, url, citation and sha256 of each.
    """

    storage_version: int
    stages: tuple[StageRecord, ...]
    retention: tuple[Retention, ...]
    overrides: Mapping[str, str] = dataclasses.field(default_factory=dict)
    vocabulary: str = ""
    vocabularies: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ReleaseManifest:
    """The content of release.json.

    `siblings` are the other tasks of the same release; `made_texts` counts released texts and titles that are
    no source's own words; `vocabulary` is the fingerprint of the vocabulary that names its targets, if any,
    and `vocabularies` those that its labels and targets rest on, which the card credits;
    `shaped_by` are retrieval systems that shaped queries or pools.
    """

    format_version: int
    dataset: str
    title: str
    version: str
    task: str
    task_title: str
    task_description: str
    licence_profile: str
    license: str
    label: str
    expert_minimum: int
    publishable: bool
    not_publishable_because: tuple[str, ...]
    accessed: str | None
    grades: Mapping[str, str]
    exclusions: Mapping[str, str]
    versions: Mapping[str, Any]
    stages: tuple[Mapping[str, Any], ...]
    overrides: Mapping[str, str]
    counts: Mapping[str, int]
    files: Mapping[str, str]
    siblings: tuple[str, ...] = ()
    made_texts: int = 0
    vocabulary: str = ""
    vocabularies: tuple[Mapping[str, str], ...] = ()
    shaped_by: tuple[str, ...] = ()
    release_hash: str = ""

    def content(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dataclasses.asdict(self)

    def computed_hash(self) -> str:
        """SHA-256 over everything but the hash itself; `files` carries the hash of every published file."""
        content = self.content()
        del content["release_hash"]
        return sha256_text(canonical_json(content))

    def to_json(self) -> str:
        """The file's text."""
        return json.dumps(self.content(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def published_files(directory: Path) -> Iterator[tuple[str, Path]]:
    """Every file the release hash covers: (POSIX path inside the directory, path), sorted."""
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_file() and name != NAME and name not in AUDIT_FILES:
            yield name, path


def hash_files(directory: Path) -> dict[str, str]:
    """Path -> SHA-256 of each published file."""
    return {name: sha256_file(path) for name, path in published_files(directory)}


def read_manifest(directory: Path) -> ReleaseManifest:
    """Read and check the form of a task directory's release.json.

    Raises:
        ReleaseError: there is none, or it was not written by this format.
    """
    path = directory / NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ReleaseError(
            "not a release: no release.json", file=str(path), hint="name a task directory of a release"
        ) from error
    except (OSError, ValueError) as error:
        raise ReleaseError(f"release.json cannot be read: {error}", file=str(path)) from error
    expected = {field.name for field in dataclasses.fields(ReleaseManifest)}
    if (
        not isinstance(content, dict)
        or set(content) != expected
        or content["format_version"] != FORMAT_VERSION
    ):
        raise ReleaseError(
            f"release.json is not format {FORMAT_VERSION}",
            file=str(path),
            hint="use the medqrels version that wrote it",
        )
    for name in ("not_publishable_because", "stages", "siblings", "shaped_by", "vocabularies"):
        content[name] = tuple(content[name])
    return ReleaseManifest(**content)
