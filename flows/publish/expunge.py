"""Published bytes deleted for good: history, tags and large files on the Hub; versions in other places.

Every step is told from what stands there now, so that the same call goes on after any failure, and ends with
asking the place itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flows.adapters.hub import MAIN, Hub
from flows.adapters.places import Place
from flows.engine.progress import Reporter
from flows.publish.hub import MARK, VERSION, Plan, Publisher
from flows.publish.place import MANIFEST
from flows.publish.ready import TaskRelease


@dataclass
class Repository:
    """What one repository holds beside the newest release.

    Attributes:
        name: of the repository.
        is_current: whether main holds the newest release.
        commits: ids of commits that still hold something older, from main and the tags.
        tags: tags to delete; that of the newest release is set anew.
        large: SHA-256 of large files that the newest release does not have.
        branches: other branches; nobody but their owner may say what becomes of them.
    """

    name: str
    is_current: bool
    commits: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    large: list[str] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)

    def shown(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "repository": self.name,
            "is_current": self.is_current,
            "commits": self.commits,
            "tags": self.tags,
            "large_files": self.large,
            "other_branches": self.branches,
        }


class HubExpunger:
    """Leaves nothing but the newest release in the repositories of a dataset.

    Args:
        hub: the Hub.
        owner: user or organization.
        tasks: every task of the newest release, which holds nothing that is purged.
        reporter: where progress goes.
    """

    def __init__(self, hub: Hub, owner: str, tasks: Sequence[TaskRelease], *, reporter: Reporter) -> None:
        self.hub, self.reporter = hub, reporter
        self.publisher = Publisher(hub, owner, tasks, private=False, reporter=reporter)

    def look(self) -> list[Repository]:
        """What is there; nothing is changed.

        Raises:
            ReleaseError: somebody else changed a repository.
        """
        plans = [plan for plan in self.publisher.plan() if plan.exists]
        for plan in plans:
            if plan.edited:
                raise self.publisher.foreign(plan)
        return [self._look(plan) for plan in plans]

    def _look(self, plan: Plan) -> Repository:
        name = plan.repository
        found = Repository(name, is_current=bool(plan.commit) and plan.commit == plan.parent)
        tags = self.hub.tags(name)
        held = {one.oid for revision in (MAIN, *tags) for one in self.hub.commits(name, revision)}
        if len(self.hub.commits(name)) > 1 or held != {plan.parent}:
            found.commits = sorted(held)
            found.tags = sorted(tags)
        here = {one.sha256 for one in self.hub.files(name, plan.parent).values() if one.sha256}
        found.large = sorted(self.hub.large_files(name) - here)
        found.branches = sorted(set(self.hub.branches(name)) - {MAIN})
        return found

    def expunge(self) -> None:
        """Delete old tags, squash main, delete large files for good, and tag the newest release anew.

        Nothing is done in a repository whose main is not at the newest release.
        """
        for plan in self.publisher.plan():
            found = self._look(plan) if plan.exists else None
            if found is None or not found.is_current:
                continue
            for tag in found.tags:
                self.hub.delete_tag(found.name, tag)
            head = plan.parent
            if found.commits:
                self.hub.squash_history(found.name, _message(plan))
                head = self.hub.commits(found.name)[0].oid
                found = self._look(self._at(plan, head))
            if found.large:
                self.hub.delete_large_files(found.name, found.large)
                head = self.hub.commits(found.name)[0].oid
            if self.publisher.tag not in self.hub.tags(found.name):
                self.hub.create_tag(found.name, self.publisher.tag, head)
            self.reporter.line(f"expunged {found.name}")

    def _at(self, plan: Plan, head: str) -> Plan:
        plan.commit = plan.parent = head
        return plan

    def served(self, commits: Mapping[str, Sequence[str]]) -> list[str]:
        """What is still there and must not be, one line each; empty when the Hub itself proves it gone.

        Args:
            commits: repository -> ids of commits that held what was purged.
        """
        told = []
        for plan in self.publisher.plan():
            if not plan.exists:
                continue
            found = self._look(plan)
            if not (found.is_current and plan.is_tagged):
                told.append(f"{found.name}: main is not at {self.publisher.tag}, tagged")
            told += [f"{found.name}: commit {one[:12]} is on {MAIN} or a tag" for one in found.commits]
            told += [f"{found.name}: large file {one[:12]} is kept" for one in found.large]
            told += [f"{found.name}: branch {one} is there" for one in found.branches]
            gone = set(commits.get(found.name, ())) - {plan.parent, *found.commits}
            told += [
                f"{found.name}: commit {one[:12]} is still served"
                for one in sorted(gone)
                if self.hub.is_served(found.name, one)
            ]
        return told


def _message(plan: Plan) -> str:
    """The squashed commit is known as the release it holds."""
    manifest = plan.task.manifest
    title = f"{manifest.dataset} {manifest.version} ({manifest.release_hash[:16]}), earlier history deleted"
    return f"{title}\n\n{MARK}{manifest.release_hash}\n{VERSION}{manifest.version}"


def delete_version(place: Place, dataset: str, version: str) -> list[str]:
    """Delete a version from a folder or bucket for good, its manifest first; names of what is left."""
    return place.erase(f"{dataset}/{version}", MANIFEST)
