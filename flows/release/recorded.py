"""What a release was made from, kept beside it: `<workspace>/recorded/<dataset>/<version>/`.

A workspace goes on: articles come and are withdrawn, people judge, models answer, prose is edited. To prove
a release later (flows.release.rebuild), what it was made from is kept as it was: the spec's folder, crawled
shards, answers, the review, the list of what was withdrawn, and of every stage one hash of what it gave. Raw
bytes stay under raw/, where crawled shards name them by hash. It lies outside every release and hash.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from curation.release.card import prose_files, prose_path
from flows.crawl.selection import STAGE as SELECTION
from flows.engine.environment import code_hash
from flows.engine.manifest import MANIFEST, RUN
from flows.engine.register import REGISTER
from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace, write_atomic
from flows.pipeline import in_order
from flows.review.store import FOLDER as REVIEW
from flows.specs import Dataset
from schemas.errors import WorkspaceError
from schemas.hashing import canonical_json, sha256_file, sha256_text
from sources.stage import CRAWL

FOLDER = "recorded"
RECORD = "record.json"
CARDS = "cards"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Record:
    """One release's inputs.

    Attributes:
        spec: path of the spec file inside the folder.
        code: hash of the program that made it.
        files: path inside the folder -> hex SHA-256.
        stages: stage -> hash over the outputs of its shards, in the order of the pipeline.
        format_version: of this file.
    """

    spec: str
    code: str
    files: Mapping[str, str]
    stages: Mapping[str, str]
    format_version: int = _FORMAT


def record_folder(workspace: Workspace, dataset: str, version: str) -> Path:
    """Where the inputs of a release are kept."""
    return workspace.root / FOLDER / dataset / version


def keep(workspace: Workspace, dataset: Dataset, version: str) -> Path:
    """Keep what stands in the workspace now as the inputs of a release that was just made of it.

    A release that has its record keeps it. A kill leaves no record, or the whole.
    """
    folder = record_folder(workspace, dataset.spec.name, version)
    if (folder / RECORD).is_file():
        return folder
    staged = workspace.temporary / FOLDER
    shutil.rmtree(staged, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    _copy_cards(dataset, staged / CARDS)
    for source, name in _inputs(workspace, dataset.spec.name):
        _put(source, staged / name)
    files = {
        path.relative_to(staged).as_posix(): sha256_file(path)
        for path in sorted(staged.rglob("*"))
        if path.is_file()
    }
    spec = f"{CARDS}/{dataset.path.name}"
    record = Record(spec, code_hash(), files, stage_hashes(workspace))
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False)
    write_atomic(staged / RECORD, (text + "\n").encode())
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged.rename(folder)
    return folder


def read_record(folder: Path) -> Record | None:
    """The record in a folder; None where there is none.

    Raises:
        WorkspaceError: it cannot be read.
    """
    path = folder / RECORD
    try:
        record = Record(**json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise WorkspaceError("the record of a release's inputs is damaged", file=str(path)) from error
    if record.format_version != _FORMAT:
        raise WorkspaceError(
            f"the record of a release's inputs is of format {record.format_version!r}; this version reads "
            f"{_FORMAT}",
            file=str(path),
            hint="use the medqrels version that wrote it",
        )
    return record


def stage_hashes(workspace: Workspace) -> dict[str, str]:
    """Stage -> hash over what its shards hold, in the order of the pipeline."""
    names = (
        [path.name for path in workspace.work.iterdir() if path.is_dir()] if workspace.work.is_dir() else []
    )
    found = {}
    for name in in_order(names):
        shards = shards_of(workspace, name)
        held = {
            shard: {table: output.sha256 for table, output in made.outputs.items()}
            for shard, made in shards.items()
        }
        if held:
            found[name] = sha256_text(canonical_json(held))
    return found


def _copy_cards(dataset: Dataset, target: Path) -> None:
    """The spec and the prose that its tasks' cards are made of; a workspace may stand in the same folder."""
    prose = {name for files in prose_files(dataset.spec.tasks).values() for name in files}
    files = {name: prose_path(dataset.cards, name) for name in prose}
    for name, path in sorted({**files, dataset.path.name: dataset.path}.items()):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)


def _inputs(workspace: Workspace, dataset: str) -> Iterator[tuple[Path, str]]:
    """Files that later work changes or adds to, with their paths inside the workspace."""
    folders = [workspace.stage(SELECTION), workspace.stage(CRAWL), workspace.answers]
    folders.append(workspace.root / REVIEW / dataset)
    register = workspace.root / REGISTER
    if register.is_file():
        yield register, REGISTER
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file() and not path.name.startswith(".") and path.name != RUN:  # it tells time
                yield path, path.relative_to(workspace.root).as_posix()


def _put(source: Path, target: Path) -> None:
    """Link a file that is only ever replaced whole; copy one that is appended to."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".parquet" or source.name == MANIFEST:
        try:
            os.link(source, target)
        except OSError:  # another disk, or one without links
            shutil.copy2(source, target)
    else:
        shutil.copy2(source, target)
