"""A release to the Hub, in phases over all its repositories: make them, upload, commit, tag, collect.

A tag, or a place in the collection, comes only when every sibling has its commit: nobody sees half a release.
What is on the Hub is read before anything is sent, so the same command goes on after any failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packaging.version import InvalidVersion, Version

from curation.published.manifest import AUDIT_FILES
from flows.adapters.hub import CONFLICT, STALE_PARENT, Hub, RemoteCommit, RemoteFile
from flows.engine.progress import Reporter
from flows.publish.ready import TaskRelease, git_oid
from schemas.errors import FetchError, ReleaseError
from schemas.hashing import sha256_file
from schemas.wording import counted

OF_THE_HUB = frozenset({".gitattributes"})
"""Files that the Hub itself puts into a repository."""
MARK = "release-hash: "
VERSION = "release-version: "
_BATCH_BYTES = 64 * 1024 * 1024
_LONGEST_TITLE = 59
_ROUNDS = 4


@dataclass
class Plan:
    """What one repository has, and what it lacks."""

    task: TaskRelease
    repository: str
    exists: bool = False
    is_private: bool = False
    commit: str = ""
    """Commit of this release, once there is one."""
    parent: str = ""
    is_tagged: bool = False
    additions: list[str] = field(default_factory=list)
    deletions: list[str] = field(default_factory=list)
    edited: str = ""
    """What somebody changed since our last commit."""

    def shown(self) -> dict[str, Any]:
        """As plain values."""
        sizes = self.task.files
        return {
            "task": self.task.manifest.task,
            "repository": self.repository,
            "release_hash": self.task.manifest.release_hash,
            "exists": self.exists,
            "private": self.is_private,
            "commit": self.commit,
            "tagged": self.is_tagged,
            "to_upload": self.additions,
            "bytes": sum(sizes[name].stat().st_size for name in self.additions),
            "to_delete": self.deletions,
            "edited": self.edited,
        }


def repository_id(owner: str, task: TaskRelease) -> str:
    """Id of the repository a task goes to."""
    return f"{owner}/{task.manifest.dataset}-{task.manifest.task}"


class Publisher:
    """Publishes one release.

    Args:
        hub: the Hub.
        owner: user or organization.
        tasks: every task of the release.
        private: whether new repositories and the collection are private.
        reporter: where progress goes.
    """

    def __init__(
        self, hub: Hub, owner: str, tasks: Sequence[TaskRelease], *, private: bool, reporter: Reporter
    ) -> None:
        self.hub, self.owner, self.tasks, self.private, self.reporter = hub, owner, tasks, private, reporter
        self.tag = tasks[0].manifest.version
        self.title = tasks[0].manifest.dataset[:_LONGEST_TITLE]

    def plan(self) -> list[Plan]:
        """What is on the Hub and what it lacks; nothing is sent.

        Raises:
            ReleaseError: something there is not ours to overwrite.
        """
        plans = [self._plan(task) for task in self.tasks]
        for plan in plans:
            if plan.edited and not plan.commit:
                raise self.foreign(plan)
            if self.private and plan.exists and not plan.is_private:
                raise ReleaseError(
                    f"{plan.repository} is public, and --private was asked for",
                    file=f"{self.hub.endpoint}/datasets/{plan.repository}",
                    hint="make it private on the Hub, or publish without --private",
                )
        found = self.hub.collection(self.owner, self.title)
        if self.private and found is not None and not found.is_private:
            raise ReleaseError(
                f"collection {found.slug} is public, and --private was asked for",
                file=f"{self.hub.endpoint}/collections/{found.slug}",
                hint="make it private on the Hub, or publish without --private",
            )
        return plans

    def publish(self) -> tuple[list[Plan], bool]:
        """Send what is lacking; the repositories as they are then, and whether anything was sent."""
        self.hub.check_may_write(self.owner)
        plans = self.plan()
        sends = any(not (plan.commit and plan.is_tagged) for plan in plans)
        for plan in plans:
            if not plan.exists:
                self.hub.create_repository(plan.repository, private=self.private)
        waiting = [self._plan(plan.task) if not plan.exists else plan for plan in plans]
        uploads = {plan.repository: self._upload(plan) for plan in waiting if not plan.commit}
        for plan in waiting:
            if not plan.commit:
                self._commit(plan, uploads[plan.repository])
        for plan in waiting:
            self._tag(plan)
        collected = self._collect([plan.repository for plan in waiting])
        return waiting, sends or collected

    def _plan(self, task: TaskRelease) -> Plan:
        plan = Plan(task, repository_id(self.owner, task))
        private = self.hub.is_private(plan.repository)
        if private is None:
            plan.additions = sorted(task.files)
            return plan
        plan.exists, plan.is_private = True, private
        tagged = self.hub.tags(plan.repository).get(self.tag)
        if tagged is not None:
            if not self._holds(plan, self.hub.files(plan.repository, tagged)):
                raise ReleaseError(
                    f"tag {self.tag} of {plan.repository} is on other content, commit {tagged[:12]}",
                    file=f"{self.hub.endpoint}/datasets/{plan.repository}/commit/{tagged}",
                    hint="release under a higher version; a published tag is not moved",
                )
            plan.commit, plan.is_tagged = tagged, True
        self._compare_main(plan)
        return plan

    def _compare_main(self, plan: Plan) -> None:
        """Where main is: at this release, at an earlier one of ours, or at what somebody else wrote."""
        commits = self.hub.commits(plan.repository)
        there = self.hub.files(plan.repository, commits[0].oid)
        plan.parent = commits[0].oid
        ours = next((one for one in commits if MARK in one.message), None)
        before = {} if ours is None else self.hub.files(plan.repository, ours.oid)
        plan.edited = _difference(there, before, "" if ours is None else commits[0].oid)
        if plan.commit:
            return
        mark = f"{MARK}{plan.task.manifest.release_hash}"
        mine = next((one for one in commits if mark in one.message), None)
        if mine is not None and self._holds(plan, self.hub.files(plan.repository, mine.oid)):
            plan.commit = mine.oid
            return
        self._check_order(plan, ours)
        files = plan.task.files
        plan.additions = sorted(name for name in files if not self._is_same(plan, name, there.get(name)))
        plan.deletions = sorted(set(there) - set(files) - OF_THE_HUB)

    def _check_order(self, plan: Plan, ours: RemoteCommit | None) -> None:
        """Main only moves to higher versions."""
        for line in "" if ours is None else ours.message.splitlines():
            if line.startswith(VERSION) and _is_higher(line.removeprefix(VERSION), self.tag):
                raise ReleaseError(
                    f"{plan.repository} holds {line.removeprefix(VERSION)}, which is newer than {self.tag}",
                    file=f"{self.hub.endpoint}/datasets/{plan.repository}",
                    hint="publish a release of a higher version",
                )

    def _holds(self, plan: Plan, there: Mapping[str, RemoteFile]) -> bool:
        """Whether a revision is this release; the audit beside it may be of another day."""
        sealed = set(plan.task.files) - AUDIT_FILES
        return sealed == set(there) - AUDIT_FILES - OF_THE_HUB and all(
            self._is_same(plan, name, there.get(name)) for name in sealed
        )

    def _is_same(self, plan: Plan, name: str, there: RemoteFile | None) -> bool:
        path = plan.task.files[name]
        if there is None or there.size != path.stat().st_size:
            return False
        if not there.sha256:
            return there.git_oid == git_oid(path)
        return there.sha256 == (plan.task.manifest.files.get(name) or sha256_file(path))

    def foreign(self, plan: Plan) -> ReleaseError:
        """Somebody changed a repository."""
        return ReleaseError(
            f"{plan.repository} was changed on the Hub since medqrels wrote it: {plan.edited}",
            file=f"{self.hub.endpoint}/datasets/{plan.repository}/commits/main",
            hint="take what is worth keeping into data_cards/, revert the commit on the Hub, publish again",
        )

    def _upload(self, plan: Plan) -> list[Any]:
        """Send large files, in parts of some size so that progress shows."""
        files = {name: plan.task.files[name] for name in plan.additions}
        additions = self.hub.additions(files)
        total = sum(path.stat().st_size for path in files.values())
        with self.reporter.stage(f"upload {plan.task.manifest.task}", total // 1_000_000, "MB") as steps:
            part: list[Any] = []
            size = 0
            for addition in additions:
                part.append(addition)
                size += addition.upload_info.size
                if size >= _BATCH_BYTES:
                    self.hub.upload(plan.repository, part)
                    steps.advance(size // 1_000_000)
                    part, size = [], 0
            if part:
                self.hub.upload(plan.repository, part)
                steps.advance(size // 1_000_000)
        return additions

    def _commit(self, plan: Plan, additions: list[Any]) -> None:
        """One commit after the head that was compared; when a reply is lost, the Hub is asked what it did."""
        manifest = plan.task.manifest
        message = f"{MARK}{manifest.release_hash}\n{VERSION}{manifest.version}"
        failure: FetchError | None = None
        for _ in range(_ROUNDS):
            try:
                plan.commit = self.hub.commit(
                    plan.repository,
                    additions,
                    plan.deletions,
                    parent=plan.parent,
                    title=f"{manifest.dataset} {manifest.version} ({manifest.release_hash[:16]})",
                    message=message,
                )
            except FetchError as error:
                if getattr(error, "status", STALE_PARENT) != STALE_PARENT:
                    raise
                failure = error
                now = self._plan(plan.task)
                if now.edited and not now.commit:
                    raise self.foreign(now) from None
                plan.commit, plan.parent = now.commit, now.parent
                if not plan.commit and (now.additions, now.deletions) != (plan.additions, plan.deletions):
                    plan.additions, plan.deletions = now.additions, now.deletions
                    additions = self._upload(plan)  # somebody committed between: main holds other files now
            if plan.commit:
                self._check_holds(plan)
                self.reporter.line(f"committed {plan.repository} {plan.commit[:12]}")
                return
        raise failure or AssertionError("unreachable")

    def _check_holds(self, plan: Plan) -> None:
        """Before anything points to a commit, it is read: it must be this release, no file more or less."""
        if not self._holds(plan, self.hub.files(plan.repository, plan.commit)):
            raise ReleaseError(
                f"commit {plan.commit[:12]} of {plan.repository} does not hold this release: no tag is set",
                file=f"{self.hub.endpoint}/datasets/{plan.repository}/commit/{plan.commit}",
                hint="revert the commit on the Hub, publish again",
            )

    def _tag(self, plan: Plan) -> None:
        """Tag the commit; a tag that is there must be on it."""
        failure: FetchError | None = None
        for _ in range(_ROUNDS):
            there = self.hub.tags(plan.repository).get(self.tag)
            if there == plan.commit:
                plan.is_tagged = True
                return
            if there is not None:
                raise ReleaseError(
                    f"tag {self.tag} of {plan.repository} is on another commit, {there[:12]}",
                    file=f"{self.hub.endpoint}/datasets/{plan.repository}",
                    hint="release under a higher version; a published tag is not moved",
                )
            try:
                self.hub.create_tag(plan.repository, self.tag, plan.commit)
            except FetchError as error:
                if getattr(error, "status", CONFLICT) != CONFLICT:
                    raise
                failure = error
        if self.hub.tags(plan.repository).get(self.tag) != plan.commit:
            raise failure or AssertionError("unreachable")
        plan.is_tagged = True

    def _collect(self, repositories: Sequence[str]) -> bool:
        """Put the repositories into the dataset's collection; whether any was not in it."""
        found = self.hub.collection(self.owner, self.title)
        slug = found.slug if found else None
        for _ in range(_ROUNDS):
            if slug is not None:
                break
            try:
                slug = self.hub.create_collection(self.owner, self.title, private=self.private)
            except FetchError as error:
                if hasattr(error, "status"):
                    raise
                found = self.hub.collection(self.owner, self.title)
                slug = found.slug if found else None
        if slug is None:
            raise FetchError("the Hub did not make the collection", file=self.hub.endpoint)
        missing = sorted(set(repositories) - self.hub.collected(slug))
        for name in missing:
            self.hub.collect(slug, name)
        if missing and (lost := sorted(set(repositories) - self.hub.collected(slug))):
            raise FetchError(
                f"the Hub did not put {lost[0]} into the collection",
                file=self.hub.endpoint,
                hint="the same command goes on from here",
            )
        return bool(missing)


def _difference(there: Mapping[str, RemoteFile], before: Mapping[str, RemoteFile], commit: str) -> str:
    """Which files of main are not as our last commit left them, '' when all are."""
    names = {name for name in {*there, *before} - OF_THE_HUB if there.get(name) != before.get(name)}
    if not names:
        return ""
    listed = ", ".join(sorted(names)[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return listed + (f", up to commit {commit[:12]}" if commit else ", though medqrels never wrote there")


def _is_higher(there: str, here: str) -> bool:
    try:
        return Version(there) > Version(here)
    except InvalidVersion:
        return False


def describe(plans: Sequence[Mapping[str, Any]], *, is_plan: bool) -> str:
    """The repositories as text for people."""
    lines = []
    for plan in plans:
        if plan["commit"] and plan["tagged"]:
            state = f"published, commit {plan['commit'][:12]}"
        elif plan["commit"]:
            state = f"committed as {plan['commit'][:12]}, not tagged yet"
        else:
            new = "" if plan["exists"] else "new repository, "
            state = f"{new}{counted(len(plan['to_upload']), 'file')} to send, {plan['bytes']:,} bytes"
            state += f", {counted(len(plan['to_delete']), 'file')} to delete" if plan["to_delete"] else ""
        lines.append(f"{plan['repository']}: {state}")
        if plan["edited"]:
            lines.append(f"  changed on the Hub since: {plan['edited']}")
    return "\n".join([*lines, "nothing was sent"] if is_plan else lines)
