"""Makes the release of a dataset: finds its version, makes every task aside, puts the whole in place."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from curation.changes.levels import Level, is_enough, largest, next_version
from curation.published.manifest import (
    NAME,
    ReleaseManifest,
    hash_files,
    read_manifest,
)
from curation.release.card import is_drawn, load_prose
from curation.release.change import FIRST, Since, new_task
from curation.release.seal import aside, seal, settle
from curation.release.write import write
from curation.tasks.registry import TASKS
from flows.engine.releases import check_version, earlier_releases
from flows.engine.session import Session
from flows.release.baselines import derive
from flows.release.inputs import gather
from flows.release.loading import check_loads
from flows.review.versions import check_leaving, leaving_rule
from schemas.errors import ReleaseError
from schemas.spec import DatasetSpec
from schemas.task import Task

TRIAL = "0.0.0-trial"
"""Version of what is made only to be compared."""
_DERIVED = "the card's prose, or what baseline runs give"
Earlier = tuple[str, Sequence[Path]]


@dataclass(frozen=True, slots=True)
class Made:
    """A release: one that was made, or the one that stands because nothing changed."""

    version: str
    is_new: bool
    why: str
    manifests: tuple[ReleaseManifest, ...]

    def line(self, dataset: str) -> str:
        """The same for people."""
        if self.is_new:
            return f"{dataset}@{self.version}: {self.why}"
        return f"no new release, {self.why}: {dataset}@{self.version} stands"


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes releases of one dataset.

    Attributes:
        session: a session that holds the workspace.
        spec: the dataset's spec.
        cards: folder of its prose.
        overrides: `--set` changes to the spec.
        partition: shares the queries out for the release of a version; None: after all that stand.
    """

    session: Session
    spec: DatasetSpec
    cards: Path
    overrides: Mapping[str, str]
    partition: Callable[[str | None], object]

    def make(self, version: str | None) -> Made:
        """Release every task under a version, or under the one that follows from what changed.

        Nothing is in place before all of it is; a run that was killed finds what stood before it.

        Raises:
            UsageError: the version comes before the newest release.
            ReleaseError: the version is taken by other content or too low, or a release may not be made,
                or what was made does not load with `datasets`.
        """
        workspace = self.session.workspace
        check_version(version, workspace, self.spec.name)
        earlier = earlier_releases(workspace, self.spec.name, version)
        last = earlier[-1] if earlier else None
        if version is None and last is not None:
            return self._next(last)
        version = version or FIRST
        for name in self.spec.tasks:
            check_leaving(workspace, self.spec, name, version)
        self.partition(version)
        manifests = [*self._released(version, lambda task: self._since(version, task, last))]
        if last is not None:
            _check_enough(version, manifests, last)
        return Made(version, True, _told(manifests, last), self._placed(version, manifests))

    def _next(self, last: Earlier) -> Made:
        """The release after `last`, if anything changed."""
        stood = {path.name: read_manifest(path) for path in last[1]}
        for path in last[1]:
            if not _is_as_made(path, stood[path.name]):
                raise ReleaseError(
                    "the newest release is not as it was made, so nothing can be compared with it",
                    file=str(path),
                    hint=f"medqrels audit {path} says what differs; restore it, or name a --version",
                )
        if self._stands(last[0], stood):
            return Made(last[0], False, "nothing changed", tuple(stood[name] for name in sorted(stood)))
        self.partition(None)
        trial = [*self._released(TRIAL, lambda task: self._since(TRIAL, task, last), derives=False)]
        version = next_version(last[0], _level(trial))
        why = _told(trial, last)
        self.partition(version)
        manifests = [*self._released(version, lambda task: self._since(version, task, last))]
        return Made(version, True, why, self._placed(version, manifests))

    def _stands(self, version: str, stood: Mapping[str, ReleaseManifest]) -> bool:
        """Whether making `version` again gives what stands; first without baseline runs, which cost most.

        The first task that differs is the last that is made. Where a purge took the release it followed, what
        it published itself says where its rows lie.
        """
        if set(stood) != set(self.spec.tasks):
            return False
        there = {name for name, _ in earlier_releases(self.session.workspace, self.spec.name, version)}
        followed = {item.change.get("previous") for item in stood.values()} - {None, ""}
        self.partition(version if followed <= there else None)
        for derives in (False, True) if self.spec.baselines.systems else (True,):
            made = self._released(version, lambda task: Since(stood[task].change), derives=derives)
            if not all(_is_same(item, stood[item.task], is_whole=derives) for item in made):
                return False
        return True

    def _since(self, version: str, task: str, last: Earlier | None) -> Since:
        """What a task's change is told from: where it stands already, from what its release says."""
        workspace = self.session.workspace
        standing = workspace.releases / self.spec.name / version / task
        if (standing / NAME).is_file():
            return Since(read_manifest(standing).change)
        if last is None:
            return Since()
        previous, folders = last
        before = next((path for path in folders if path.name == task), None)
        if before is None:
            return Since(new_task(previous).content())
        return Since(before=before, leaving=leaving_rule(workspace, self.spec, task, folders))

    def _released(
        self, version: str, since: Callable[[str], Since], *, derives: bool = True
    ) -> Iterator[ReleaseManifest]:
        """Every task, in the staging folder, one after the other as it is asked for."""
        shutil.rmtree(self._staging, ignore_errors=True)
        with self.session.reporter.stage("release", len(self.spec.tasks), "tasks") as steps:
            for name in sorted(self.spec.tasks):
                yield release_task(
                    self.session,
                    TASKS[name],
                    self.spec,
                    self.cards,
                    version,
                    self.overrides,
                    out=self._staging,
                    since=since(name),
                    derives=derives,
                )
                steps.advance(1, name)

    @property
    def _staging(self) -> Path:
        return self.session.workspace.temporary / "release"

    def _placed(self, version: str, manifests: Sequence[ReleaseManifest]) -> tuple[ReleaseManifest, ...]:
        """Move what was made to its place if it loads: at once where there is nothing yet."""
        staged = self._staging / self.spec.name / version
        folders = [staged / item.task for item in manifests]
        check_loads(folders, self.session.workspace.temporary, self.session.settings.worker_count)
        target = self.session.workspace.releases / self.spec.name / version
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            staged.rename(target)
            return tuple(manifests)
        return tuple(settle(staged / item.task, target / item.task, item) for item in manifests)


def release_task(
    session: Session,
    task: Task,
    spec: DatasetSpec,
    cards: Path,
    version: str,
    overrides: Mapping[str, str],
    *,
    out: Path | None = None,
    since: Since | None = None,
    derives: bool = True,
) -> ReleaseManifest:
    """Release one task of a dataset: write its tables, derive what follows from them, seal the whole.

    Args:
        session: an open session holding the workspace.
        task: the task.
        spec: the dataset's spec.
        cards: folder of the dataset's prose.
        version: version of the release.
        overrides: `--set` changes to the spec, recorded in the release.
        out: where `<dataset>/<version>/<task>/` goes; the workspace's releases/ folder when not given.
        since: what its change is told from; nothing is told when not given.
        derives: whether baseline systems are run on it.
    """
    inputs = gather(session, task, spec, version, overrides)
    prose = load_prose(cards, [task.name])[task.name]
    target = (out or session.workspace.releases) / spec.name / version / task.name
    with aside(target) as directory:
        written = write(inputs, directory)
        change = (since or Since()).change(directory, written.head, inputs.query)
        shaped_by = derive(session, spec.baselines, written) if derives else ()
        return seal(
            written,
            target,
            inputs.query,
            prose=prose,
            cards=cards.name,
            change=change,
            shaped_by=shaped_by,
            citation=spec.citation,
        )


def _is_as_made(directory: Path, stated: ReleaseManifest) -> bool:
    """Whether a release has the files it states, and states what it was sealed with."""
    return stated.is_as_sealed and hash_files(directory) == dict(stated.files)


def _is_same(made: ReleaseManifest, stood: ReleaseManifest, *, is_whole: bool) -> bool:
    """Whether two manifests are of the same release; a part lacks the card and what baseline runs give."""
    if is_whole:
        return made.release_hash == stood.release_hash
    heads = [
        replace(item, files={}, release_hash="", shaped_by=(), not_publishable_because=())
        for item in (made, stood)
    ]
    files = {name: digest for name, digest in made.files.items() if not is_drawn(name)}
    return heads[0] == heads[1] and files.items() <= stood.files.items()


def _level(manifests: Sequence[ReleaseManifest]) -> Level:
    """The dataset's change: its tasks' largest; at least a patch, for a release that is not the same."""
    found = largest(item.change["level"] for item in manifests)
    return "patch" if found == "none" else found


def _check_enough(version: str, manifests: Sequence[ReleaseManifest], last: Earlier) -> None:
    """A version named by hand says no less than what changed.

    Raises:
        ReleaseError: it is too low; says what changed and which version that demands.
    """
    found = largest(item.change["level"] for item in manifests)
    if found == "none" or is_enough(version, needed := next_version(last[0], found)):
        return
    raise ReleaseError(
        f"version {version} says too little, {needed} is demanded: {_told(manifests, last)}",
        file=str(last[1][0].parent),
        hint=f"release {needed}, or leave --version out: it follows from what changed",
    )


def _told(manifests: Sequence[ReleaseManifest], last: Earlier | None) -> str:
    """Why this version: the level, and what changed in each task."""
    if last is None:
        return "first release"
    parts = [
        f"{item.task} {', '.join(item.change['notes'])}" for item in manifests if item.change.get("notes")
    ]
    return f"{_level(manifests)} since {last[0]}: {'; '.join(parts) or _DERIVED}"
