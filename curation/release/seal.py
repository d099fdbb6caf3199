"""Last step of a release: card, figures, file hashes and release.json, then the folder takes its place.

Pure: a function of the files of the folder, the head of its release.json, and the prose. release.json is
written once, when all else stands, so that nothing unfinished looks like a release.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from curation.published.manifest import NAME, ReleaseManifest, hash_files, read_manifest, unlike
from curation.published.query import QueryRunner
from curation.release import card, facts
from curation.release.write import Written
from schemas.errors import ReleaseError
from schemas.spec import Citation


@contextlib.contextmanager
def aside(target: Path) -> Iterator[Path]:
    """An empty folder beside a task directory, for what is to become it; it is gone in the end."""
    partial = target.parent / f".{target.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def seal(
    written: Written,
    target: Path,
    query: QueryRunner,
    *,
    prose: card.Prose,
    cards: str,
    change: Mapping[str, Any],
    shaped_by: tuple[str, ...],
    citation: Citation,
) -> ReleaseManifest:
    """Finish a task folder and put it in its place; its manifest, or that of the equal release there.

    Args:
        written: the folder with its tables, and with what is derived from them.
        target: `<releases>/<dataset>/<version>/<task>`.
        query: runs SQL over Parquet.
        prose: of the card, as `card.load_prose` gives it.
        cards: name of the folder the prose is from, for messages.
        change: what differs from the release before it, see curation.release.change.
        shaped_by: systems that shaped its pools.
        citation: what people say of the dataset.

    Raises:
        ReleaseError: the prose names a fact that does not exist, or the version is taken by other content.
    """
    directory = written.directory
    numbers = {**written.facts, **facts.of_derived(directory, query)}
    head = replace(written.head, change=change, shaped_by=shaped_by)
    told = card.render_prose(prose, numbers, cards)
    known = card.write(directory, head, numbers, told, query, citation)
    manifest = replace(head, files=hash_files(directory, known))
    manifest = replace(manifest, release_hash=manifest.computed_hash())
    (directory / NAME).write_text(manifest.to_json(), encoding="utf-8", newline="\n")
    return settle(directory, target, manifest)


def settle(partial: Path, target: Path, manifest: ReleaseManifest) -> ReleaseManifest:
    """Rename the finished directory into place, or leave an equal release alone.

    Raises:
        ReleaseError: another release stands there.
    """
    if not target.exists():
        partial.rename(target)
        return manifest
    present = read_manifest(target)
    if present.release_hash == manifest.release_hash and hash_files(target) == dict(present.files):
        return present
    other = unlike(present.made_with, manifest.made_with)
    raise ReleaseError(
        f"version {manifest.version} of {manifest.dataset}/{manifest.task} is taken by other content"
        + (f", {other}" if other else ""),
        file=f"{manifest.dataset}/{manifest.version}/{manifest.task}",
        hint="release under a higher version; `medqrels diff` shows what changed",
    )
