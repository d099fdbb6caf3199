"""A release to a folder or an S3 prefix: files first, release.json of each task, and last of all a manifest.

Whoever starts at the manifest sees a whole release or none. A claim, written before the first file, keeps two
publishers of different releases from mixing their files under one version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curation.published.manifest import AUDIT_FILES
from curation.published.manifest import NAME as RELEASE_JSON
from flows.adapters.places import Place
from flows.engine.progress import Reporter
from flows.publish.ready import TaskRelease
from schemas.errors import FetchError, ReleaseError
from schemas.hashing import sha256_file
from schemas.wording import counted

MANIFEST = "_published.json"
CLAIM = "_publishing.json"
FORMAT_VERSION = 1
_OURS = frozenset({MANIFEST, CLAIM})
_CONNECTIONS = 8
_ROUNDS = 4


@dataclass
class PlacePlan:
    """What a place has of a version, and what it lacks; names are `TASK/path`."""

    is_published: bool = False
    to_send: list[str] = field(default_factory=list)
    to_replace: list[str] = field(default_factory=list)
    """Files of an earlier audit of the same release, in a version nobody was shown yet."""


class PlacePublisher:
    """Publishes one release to a place, as `NAME/VERSION/TASK/...`.

    Args:
        place: where to.
        tasks: every task of the release.
        reporter: where progress goes.
    """

    def __init__(self, place: Place, tasks: Sequence[TaskRelease], *, reporter: Reporter) -> None:
        first = tasks[0].manifest
        self.place, self.tasks, self.reporter = place, tasks, reporter
        self.version = first.version
        self.folder = f"{first.dataset}/{first.version}"
        self.files = {
            f"{one.manifest.task}/{name}": path for one in tasks for name, path in one.files.items()
        }
        stated = {
            f"{one.manifest.task}/{name}": sha256
            for one in tasks
            for name, sha256 in one.manifest.files.items()
        }
        self.hashes = {name: stated.get(name) or sha256_file(path) for name, path in self.files.items()}
        self._releases = {one.manifest.task: one.manifest.release_hash for one in tasks}
        self._claim = _text({"release_hashes": self._releases})

    @property
    def address(self) -> str:
        """Where the version stands at the place."""
        return f"{self.place.address}/{self.folder}"

    def manifest(self) -> bytes:
        """What names a whole release: tasks, and hash and size of every sealed file."""
        tasks = {
            one.manifest.task: {
                "release_hash": one.manifest.release_hash,
                "files": {
                    name: {"sha256": self.hashes[f"{one.manifest.task}/{name}"], "bytes": path.stat().st_size}
                    for name, path in one.files.items()
                    if name not in AUDIT_FILES
                },
            }
            for one in self.tasks
        }
        first = self.tasks[0].manifest
        return _text(
            {
                "format_version": FORMAT_VERSION,
                "dataset": first.dataset,
                "version": self.version,
                "tasks": tasks,
            }
        )

    def plan(self) -> PlacePlan:
        """What is there and what it lacks; nothing is sent.

        Raises:
            ReleaseError: something there is not ours to overwrite.
        """
        for is_last in (False, True):  # another publisher may end between two looks, and take its claim away
            claim = self.place.read(f"{self.folder}/{CLAIM}")
            manifest = self.place.read(f"{self.folder}/{MANIFEST}")
            there = self.place.listed(self.folder)
            if manifest is not None:
                return self._of_published(manifest, there)
            if claim is not None and _json(claim) != _json(self._claim):
                raise ReleaseError(
                    f"another release is being published as {self.folder}",
                    file=f"{self.address}/{CLAIM}",
                    hint=f"if nobody is at it any more, delete {self.address} and publish again",
                )
            if claim is not None or not there.keys() - _OURS:
                return self._of_begun(there)
            if is_last:
                raise self._foreign(sorted(there))
        raise AssertionError("unreachable")

    def publish(self) -> tuple[PlacePlan, bool]:
        """Send what is lacking; the plan before, and whether anything was sent."""
        plan = self.plan()
        if not plan.is_published:
            plan = self._claimed()
        sends = not plan.is_published
        if sends:
            self._send(plan)
            self._check_holds()
            self._create(MANIFEST, self.manifest())
            self.plan()
            self.reporter.line(f"published {self.address}")
        self.place.delete(f"{self.folder}/{CLAIM}")
        self.place.tidy(self.folder)
        return plan, sends

    def shown(self, plan: PlacePlan, *, is_published: bool) -> list[dict[str, Any]]:
        """Per task, as plain values."""
        rows = []
        for one in self.tasks:
            mine = [name for name in plan.to_send if name.startswith(f"{one.manifest.task}/")]
            rows.append(
                {
                    "task": one.manifest.task,
                    "repository": f"{self.address}/{one.manifest.task}",
                    "release_hash": one.manifest.release_hash,
                    "published": is_published,
                    "to_upload": [name.partition("/")[2] for name in mine],
                    "bytes": sum(self.files[name].stat().st_size for name in mine),
                }
            )
        return rows

    def _claimed(self) -> PlacePlan:
        """The plan under our claim, looked at anew: another publisher may have ended just before it."""
        is_made = self.place.create(f"{self.folder}/{CLAIM}", self._claim)
        try:
            return self.plan()
        except ReleaseError:
            if is_made:
                self.place.delete(f"{self.folder}/{CLAIM}")
            raise

    def _of_published(self, manifest: bytes, there: Mapping[str, int]) -> PlacePlan:
        """A version that stands: it must be this release, and as it was left."""
        held = _json(manifest).get("tasks")
        held = held if isinstance(held, dict) else {}
        if {
            task: one.get("release_hash") for task, one in held.items() if isinstance(one, dict)
        } != self._releases:
            raise ReleaseError(
                f"{self.folder} at {self.place.address} is another release",
                file=f"{self.address}/{MANIFEST}",
                hint="release under a higher version; a published one is not replaced",
            )
        differing = self._differing()
        wrong = {name for name, found in differing.items() if not found or not _is_audit(name)}
        wrong |= self._strays(there)
        if wrong:
            raise self._foreign(sorted(wrong))
        return PlacePlan(is_published=True)

    def _of_begun(self, there: Mapping[str, int]) -> PlacePlan:
        """A version that nobody was shown yet: files are written whole, so one that differs is not ours."""
        differing = self._differing()
        present = [name for name, found in differing.items() if found]
        wrong = {name for name in present if not _is_audit(name)} | self._strays(there)
        if wrong:
            raise self._foreign(sorted(wrong))
        return PlacePlan(to_send=list(differing), to_replace=present)

    def _differing(self) -> dict[str, str]:
        """Files the place lacks (-> '') or has otherwise (-> its SHA-256), in the order of sending."""
        names = sorted(self.files, key=lambda name: (name.endswith(f"/{RELEASE_JSON}"), name))
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            found = zip(names, pool.map(self._sha256, names), strict=True)
            return {name: sha256 for name, sha256 in found if sha256 != self.hashes[name]}

    def _sha256(self, name: str) -> str:
        return self.place.sha256(f"{self.folder}/{name}")

    def _strays(self, there: Mapping[str, int]) -> set[str]:
        return set(there) - set(self.files) - _OURS

    def _send(self, plan: PlacePlan) -> None:
        """Files of all tasks, and only then the release.json of each."""
        for name in plan.to_replace:
            self.place.delete(f"{self.folder}/{name}")
        total = sum(self.files[name].stat().st_size for name in plan.to_send)
        with (
            self.reporter.stage(f"send {self.folder}", total // 1000, "KB") as steps,
            ThreadPoolExecutor(_CONNECTIONS) as pool,
        ):

            def send(name: str) -> None:
                self._put(name, self.files[name])
                steps.advance(self.files[name].stat().st_size // 1000)

            for is_manifest in (False, True):
                names = [name for name in plan.to_send if name.endswith(f"/{RELEASE_JSON}") is is_manifest]
                list(pool.map(send, names))

    def _put(self, name: str, path: Path) -> None:
        for _ in range(_ROUNDS):
            if self.place.put(f"{self.folder}/{name}", path, self.hashes[name]):
                return
            found = self._sha256(name)  # a reply that was lost, or another publisher of the same release
            if found == self.hashes[name]:
                return
            if found:
                raise self._foreign([name])
        raise FetchError(f"could not write {name}: it is neither there nor written", file=self.address)

    def _create(self, name: str, content: bytes) -> None:
        """A file of ours; when it is there already, :meth:`plan` says whether it is right."""
        for _ in range(_ROUNDS):
            if self.place.create(f"{self.folder}/{name}", content) or self._sha256(name):
                return
        raise FetchError(f"could not write {name}: it is neither there nor written", file=self.address)

    def _check_holds(self) -> None:
        """Before the manifest names a file, the place is asked for it."""
        differing = self._differing()
        if missing := sorted(name for name, found in differing.items() if not found):
            raise FetchError(
                f"{missing[0]} is not at the place, though it was said to be written",
                file=self.address,
                hint="the same command goes on from here",
            )
        wrong = {name for name in differing if not _is_audit(name)} | self._strays(
            self.place.listed(self.folder)
        )
        if wrong:
            raise self._foreign(sorted(wrong))

    def _foreign(self, names: Sequence[str]) -> ReleaseError:
        listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        return ReleaseError(
            f"{self.folder} at {self.place.address} is not as medqrels writes it: {listed}",
            file=self.address,
            hint=f"delete {self.address} and publish again, or release under a higher version",
        )


def _is_audit(name: str) -> bool:
    return name.rpartition("/")[2] in AUDIT_FILES


def _text(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _json(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def describe(rows: Sequence[Mapping[str, Any]], *, is_plan: bool) -> str:
    """The tasks as text for people."""
    lines = []
    for row in rows:
        sent = f"{counted(len(row['to_upload']), 'file')} to send, {row['bytes']:,} bytes"
        lines.append(f"{row['repository']}: {'published' if row['published'] else sent}")
    return "\n".join([*lines, "nothing was sent"] if is_plan else lines)
