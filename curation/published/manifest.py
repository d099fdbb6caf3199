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

FORMAT_VERSION = 4
OLDEST_FORMAT = 2
"""Oldest release.json that is read: it says `publishable` where today's says `publishable_by_content`."""
_SINCE: Mapping[int, frozenset[str]] = {
    3: frozenset({"change", "made_with", "restricted_names", "vocabularies"}),
}
"""Format -> fields it added; older releases lack them and stay readable."""
READABLE = range(OLDEST_FORMAT, FORMAT_VERSION + 1)
"""Fields that a release.json of format 2 does not have."""
NAME = "release.json"
OF_CANDIDATES = "candidates"
"""Label of a release whose pairs wait for people: rules found them, none is a label yet."""
AUDIT_JSON = "audit.json"
AUDIT_FILES = frozenset({AUDIT_JSON, "audit.html"})
HALF_WRITTEN = frozenset(f".{name}.tmp" for name in AUDIT_FILES)
"""What a killed audit leaves of them, and the next one replaces: no part of a release either."""


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
    `vocabularies` what it was made from: source, title, release, licence, url, citation and sha256 of each;
    `made_with` is what its bytes are claimed under (see :func:`unlike`).
    """

    storage_version: int
    stages: tuple[StageRecord, ...]
    retention: tuple[Retention, ...]
    overrides: Mapping[str, str] = dataclasses.field(default_factory=dict)
    vocabulary: str = ""
    vocabularies: tuple[Mapping[str, str], ...] = ()
    made_with: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReleaseManifest:
    """The content of release.json.

    `publishable_by_content` is what its rows alone say; whether it may be published, its audit says.
    `siblings` are the other tasks of the same release; `made_texts` counts released texts and titles that are
    no source's own words, `restricted_names` the names that the vocabulary in use has of restricted sources
    alone; `vocabulary` is the fingerprint of the vocabulary that names its targets, and `vocabularies`
    those that its labels and targets rest on, which the card credits; `shaped_by` are retrieval systems that
    shaped queries or pools; `made_with` is the lock, Python and kind of machine under which the same inputs
    are claimed to give the same bytes; `change` is what differs from the release before it
    (curation.release.change), empty in a first one.
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
    publishable_by_content: bool
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
    made_with: Mapping[str, str] = dataclasses.field(default_factory=dict)
    restricted_names: int = 0
    change: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    release_hash: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it has no query: there is nothing to measure."""
        return not self.counts.get("queries")

    def content(self) -> dict[str, Any]:
        """Plain values for JSON, in the form of the manifest's own format."""
        content = dataclasses.asdict(self)
        for name in _later_than(self.format_version):  # as it was written, so that its hash holds
            del content[name]
        if self.format_version < 3:
            content["publishable"] = content.pop("publishable_by_content")
        return content

    def computed_hash(self) -> str:
        """SHA-256 over everything but the hash itself; `files` carries the hash of every published file."""
        content = self.content()
        del content["release_hash"]
        return sha256_text(canonical_json(content))

    @property
    def is_as_sealed(self) -> bool:
        """Whether nothing in it changed since; formats before this one hashed other content."""
        return self.format_version < FORMAT_VERSION or self.computed_hash() == self.release_hash

    def to_json(self) -> str:
        """The file's text."""
        return json.dumps(self.content(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def published_files(directory: Path) -> Iterator[tuple[str, Path]]:
    """Every file the release hash covers: (POSIX path inside the directory, path), sorted."""
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_file() and name not in (NAME, *AUDIT_FILES, *HALF_WRITTEN):
            yield name, path


def hash_files(directory: Path, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Path -> SHA-256 of each published file; `known` are hashes taken before, of files left alone since."""
    taken = known or {}
    return {name: taken.get(name) or sha256_file(path) for name, path in published_files(directory)}


def unlike(stated: Mapping[str, str], here: Mapping[str, str]) -> str:
    """How the claim a release was made under differs from this environment's; '' when it does not.

    Equal bytes are claimed under one lock, one Python and one kind of machine only.
    """
    if not stated and here:
        return "made before releases recorded their lock, Python and machine"
    differing = [name for name in sorted({*stated, *here}) if stated.get(name) != here.get(name)]
    told = [f"{name} {stated.get(name, '?')[:16]} (here {here.get(name, '?')[:16]})" for name in differing]
    return f"made under another claim: {', '.join(told)}" if told else ""


_FORMS: Mapping[str, tuple[tuple[type, ...], type]] = {
    "int": ((int,), object),
    "bool": ((bool,), object),
    "str": ((str,), object),
    "str | None": ((str, type(None)), object),
    "tuple[str, ...]": ((list,), str),
    "tuple[Mapping[str, Any], ...]": ((list,), dict),
    "tuple[Mapping[str, str], ...]": ((list,), dict),
    "Mapping[str, str]": ((dict,), str),
    "Mapping[str, int]": ((dict,), int),
    "Mapping[str, Any]": ((dict,), object),
}
"""Type of a field -> what it is in JSON, and each of its items or values."""


def _misfits(content: Mapping[str, Any]) -> list[str]:
    """Fields whose value is not of their type: anybody may have written the file."""
    wrong = []
    for field in dataclasses.fields(ReleaseManifest):
        if field.name not in content:
            continue
        value, (outer, inner) = content[field.name], _FORMS[str(field.type)]
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if type(value) not in outer or not all(isinstance(item, inner) for item in items):
            wrong.append(field.name)
    return sorted(wrong)


def _later_than(written: int) -> frozenset[str]:
    """Fields that a format did not have yet."""
    return frozenset().union(*(names for since, names in _SINCE.items() if since > written))


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
    except (OSError, ValueError, RecursionError) as error:
        raise ReleaseError(f"release.json cannot be read: {error}", file=str(path)) from error
    written = content.get("format_version") if isinstance(content, dict) else None
    if not isinstance(written, int) or written not in READABLE:
        raise ReleaseError(
            f"release.json is of format {written!r}; this version reads {OLDEST_FORMAT} to {FORMAT_VERSION}",
            file=str(path),
            hint="use the medqrels version that wrote it",
        )
    if written < 3:
        content["publishable_by_content"] = content.pop("publishable", None)
    expected = {field.name for field in dataclasses.fields(ReleaseManifest)} - _later_than(written)
    if differing := sorted(expected ^ set(content)):
        raise ReleaseError(
            f"release.json says it is of format {written}, but {', '.join(differing)} is missing or unknown",
            file=str(path),
            hint="fetch the release again: this file was changed",
        )
    if misfits := _misfits(content):
        raise ReleaseError(
            f"release.json has values of another type: {', '.join(misfits)}",
            file=str(path),
            hint="fetch the release again: this file was changed",
        )
    for name in ("not_publishable_because", "stages", "siblings", "shaped_by", "vocabularies"):
        content[name] = tuple(content.get(name, ()))
    return ReleaseManifest(**content)
