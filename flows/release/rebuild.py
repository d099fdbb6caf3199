"""Proves a release: builds it again from its recorded inputs, aside, and compares every sealed byte.

What cannot be rebuilt is refused with the reason before any work; that is no finding, and nothing is proved.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.published.manifest import NAME, ReleaseManifest, hash_files, read_manifest, unlike
from flows.build.extract import extract
from flows.build.ground import ground
from flows.build.model_stages import stages_of
from flows.build.partition import partition_jobs
from flows.build.tasks import build
from flows.engine.environment import code_hash, made_with
from flows.engine.execution import workers
from flows.engine.orchestration import run_jobs
from flows.engine.purged import PURGED
from flows.engine.releases import earlier_releases
from flows.engine.runner import read_rows
from flows.engine.session import Session, read_session, write_session
from flows.engine.workspace import Workspace, open_workspace
from flows.pipeline import VERSIONS
from flows.release.recorded import Record, read_record, record_folder, stage_hashes
from flows.release.versions import Maker
from flows.specs import read_dataset
from flows.vocabulary import current
from schemas.article import RawArticle
from schemas.errors import MedqrelsError, UsageError
from schemas.hashing import sha256_file
from schemas.prompt import models_in
from schemas.spec import DatasetSpec
from sources.stage import CRAWL

_SHARED = ("raw", "vocabulary")
"""Folders of the workspace that are read as they stand: what is in them never changes under its name."""


class NotRebuildable(MedqrelsError):  # noqa: N818 - what is said of the release, not of the program
    """A release cannot be proved here: its inputs or its program are not at hand. Not a finding."""

    def __init__(
        self, reason: str, message: str, *, record: str = "", file: str = "", hint: str = ""
    ) -> None:
        super().__init__(f"not_rebuildable: {reason}: {message}", record=record, file=file, hint=hint)
        self.reason = reason

    def attrs(self) -> dict[str, str]:
        """The structured fields and the reason code."""
        return {**super().attrs(), "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Release:
    """One release in a workspace, with the record of its inputs."""

    name: str
    version: str
    tasks: Mapping[str, Path]
    folder: Path
    record: Record

    @property
    def label(self) -> str:
        """NAME@VERSION."""
        return f"{self.name}@{self.version}"

    @property
    def manifests(self) -> dict[str, ReleaseManifest]:
        """What each task's release.json says."""
        return {task: read_manifest(path) for task, path in self.tasks.items()}


def rebuild(release: str, root: str | Path | None) -> dict[str, Any]:
    """Build a release again from what was recorded of it, and compare.

    Args:
        release: NAME@VERSION, or NAME/VERSION's folder in the workspace.
        root: the workspace.

    Returns:
        `is_equal`, `files` and `bytes` compared, `first` (task, file, stage, expected, found; None when
        equal), `differing` (every differing file by task), `same_code`.

    Raises:
        NotRebuildable: purged, no record, another program, a raw file or an answer that is gone.
        UsageError: there is no such release.
    """
    session = read_session(root)
    found = _find(session.workspace, release)
    _check(session, found)
    with tempfile.TemporaryDirectory(prefix="medqrels-rebuild-") as scratch:
        workspace = _prepare(session.workspace, found, Path(scratch) / "workspace")
        session.reporter.line(f"rebuild {found.label}: {len(found.record.files)} recorded inputs")
        made = _make(workspace, found)
        compared = _compared(found, made, stage_hashes(workspace))
    return {"release": found.label, "same_code": found.record.code == code_hash(), **compared}


def _find(workspace: Workspace, release: str) -> Release:
    name, at, version = release.partition("@")
    if not at:
        path = Path(release).resolve()
        name, version = path.parent.name, path.name
    base = workspace.releases / name / version
    tasks = {path.parent.name: path.parent for path in sorted(base.glob(f"*/{NAME}"))}
    _check_purged(workspace, f"{name}@{version}")
    if not tasks:
        raise UsageError(
            f"no release {name}@{version} in this workspace",
            file=str(base),
            hint="name it NAME@VERSION; medqrels status lists what there is",
        )
    folder = record_folder(workspace, name, version)
    record = read_record(folder)
    if record is None:
        raise NotRebuildable(
            "no_record",
            "what it was made from was not recorded",
            file=str(folder),
            hint=f"medqrels release {name} records it if it still makes the same",
        )
    return Release(name, version, tasks, folder, record)


def _check_purged(workspace: Workspace, label: str) -> None:
    """A release that held something deleted for good cannot be made again."""
    path = workspace.root / PURGED
    for number, line in enumerate(path.read_text("utf-8").splitlines() if path.is_file() else (), 1):
        try:
            entry = json.loads(line)
            gone, follows = label in entry["releases"], label in entry.get("follows", ())
        except (ValueError, KeyError, TypeError) as error:
            raise MedqrelsError(f"line {number} is no record of a purge", file=str(path)) from error
        if gone or follows:
            what = "what it held" if gone else "an earlier release, on which its partition rests,"
            raise NotRebuildable(
                "purged",
                f"{entry.get('reason', '')}: {what} was deleted for good".removeprefix(": "),
                record=str(entry.get("id", "")),
                file=str(path),
                hint="a later release holds what may still be shown",
            )


def _check(session: Session, found: Release) -> None:
    """Everything that would make the work useless, before it begins."""
    for manifest in found.manifests.values():
        if told := unlike(manifest.made_with, made_with()):
            raise NotRebuildable(
                "other_environment",
                told,
                record=f"{found.label}/{manifest.task}",
                hint="install the lock it was made with",
            )
        for stage in manifest.stages:
            here = VERSIONS.get(stage["name"], stage["version"])
            if here != stage["version"]:
                raise NotRebuildable(
                    "other_code",
                    f"stage {stage['name']} is version {here} here; the release has {stage['version']}",
                    record=f"{found.label}/{manifest.task}",
                    hint="check out the medqrels that made it",
                )
        _check_vocabulary(session.workspace, found, manifest)
    for name, digest in found.record.files.items():
        path = found.folder / name
        if not path.is_file() or sha256_file(path) != digest:
            what = "answer" if name.startswith(f"{session.workspace.answers.name}/") else "input"
            raise NotRebuildable(f"missing_{what}", f"a recorded {what} is gone or changed", file=str(path))
    for row, name, digest in _raw(found):
        path = session.workspace.raw / name
        if not path.is_file() or sha256_file(path) != digest:
            raise NotRebuildable(
                "missing_raw",
                "bytes as they were fetched are gone or changed",
                record=row.id,
                file=str(path),
                hint="restore raw/ from a backup: what a repository serves now may differ",
            )


def _check_vocabulary(workspace: Workspace, found: Release, manifest: ReleaseManifest) -> None:
    held = current(workspace)
    if manifest.vocabulary and (held is None or held.fingerprint != manifest.vocabulary):
        raise NotRebuildable(
            "other_vocabulary",
            f"the vocabulary in use is {held.fingerprint[:12] if held else 'none'}; the release rests on "
            f"{manifest.vocabulary[:12]}",
            record=f"{found.label}/{manifest.task}",
            hint="medqrels vocabulary build, from the sources that release.json lists",
        )


def _raw(found: Release) -> Iterator[tuple[RawArticle, str, str]]:
    """Every file under raw/ that the crawled shards name: article, path, hash."""
    for path in sorted((found.folder / "work" / CRAWL).glob("*/raw.parquet")):
        for row in read_rows(RawArticle, [path]):
            yield row, row.path, row.sha256
            for part in (*row.media, *row.parts):
                yield row, part.path, part.sha256


def _prepare(workspace: Workspace, found: Release, root: Path) -> Workspace:
    """A workspace of its own that holds only what the release was made from."""
    scratch = open_workspace(root, create=True)
    for name in _SHARED:
        if (workspace.root / name).is_dir():
            (root / name).symlink_to((workspace.root / name).resolve(), target_is_directory=True)
    for name in found.record.files:
        if not name.startswith(f"{Path(found.record.spec).parts[0]}/"):
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found.folder / name, target)
    for version, folders in earlier_releases(workspace, found.name, found.version):
        for folder in folders:
            target = scratch.releases / found.name / version / folder.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(folder.resolve(), target_is_directory=True)
    return scratch


def _make(scratch: Workspace, found: Release) -> Path:
    """Every stage after the crawl, then the release; its folder, of all tasks."""
    overrides = next(iter(found.manifests.values())).overrides
    dataset = read_dataset(found.folder / found.record.spec, overrides)
    spec, root = _answered_by(dataset.spec, found), str(scratch.root)
    extract(root, spec)
    ground(root, spec.grounding)
    build(sorted(spec.tasks), root, spec)
    with write_session(root) as session, workers(1) as pool:

        def partition(version: str | None) -> None:
            run_jobs(partition_jobs(session, spec, version), session.workspace, pool, session.reporter)

        Maker(session, spec, dataset.cards, dataset.overrides, partition).make(found.version)
    return scratch.releases / found.name / found.version


def _answered_by(spec: DatasetSpec, found: Release) -> DatasetSpec:
    """The spec with the models whose answers the release took, where only a command named them."""
    answered = {
        stage["name"]: models
        for manifest in found.manifests.values()
        for stage in manifest.stages
        if (models := models_in(stage["params"]))  # none where nobody was asked, or answers are only read
    }
    by_kind: dict[str, set[tuple[str, ...]]] = {}
    for stage in stages_of(spec):
        if stage.answers in answered and not spec.prompts.models_of(stage.kind):
            by_kind.setdefault(stage.kind, set()).add(answered[stage.answers])
    for kind, several in by_kind.items():
        if len(several) > 1:
            told = " and ".join(", ".join(one) for one in sorted(several))
            raise NotRebuildable(
                "several_models",
                f"the spec names no model for {kind}, and these answered in different tasks: {told}",
                file=str(found.folder / found.record.spec),
                hint="name one in the spec, [prompts] model, before the release is made",
            )
    named = spec.prompts.models | {kind: one if len(one) > 1 else one[0] for kind, (one,) in by_kind.items()}
    return spec.model_copy(update={"prompts": spec.prompts.model_copy(update={"models": named})})


def _compared(found: Release, made: Path, stages: Mapping[str, str]) -> dict[str, Any]:
    """Every sealed byte of every task: what release.json lists, and release.json itself."""
    differing: list[dict[str, str]] = []
    files = size = 0
    for task, path in found.tasks.items():
        stood, again = _sealed(path), _sealed(made / task)
        files += len(stood)
        size += sum((path / name).stat().st_size for name in stood)
        for name in sorted(stood.keys() | again.keys(), key=lambda name: (name == NAME, name)):
            if stood.get(name) != again.get(name):
                differing.append(
                    {
                        "task": task,
                        "file": name,
                        "expected": stood.get(name, "no such file"),
                        "found": again.get(name, "no such file"),
                    }
                )
    first = {**differing[0], "stage": _stage(found.record, stages)} if differing else None
    return {
        "is_equal": not differing,
        "tasks": sorted(found.tasks),
        "files": files,
        "bytes": size,
        "first": first,
        "differing": differing,
    }


def _sealed(directory: Path) -> dict[str, str]:
    """Path -> hash of what the release hash covers, and of release.json; nothing where none is."""
    if not (directory / NAME).is_file():
        return {}
    return {**hash_files(directory), NAME: sha256_file(directory / NAME)}


def _stage(record: Record, stages: Mapping[str, str]) -> str:
    """The first stage, in the order of the pipeline, that gave something else; `release` when none did."""
    differing = (name for name, digest in record.stages.items() if stages.get(name, digest) != digest)
    return next(differing, "release")
