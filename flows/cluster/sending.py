"""The coordinator's side of the store: what workers need is brought there, what they made comes back."""

from __future__ import annotations

import functools
import shutil
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.cluster import packs
from flows.cluster.orders import Given, Order, order_of, stated_hash
from flows.cluster.store import LostInStore, ShardStore
from flows.engine.manifest import Manifest, move_in
from flows.engine.runner import Job, Resource, read_rows
from flows.engine.workspace import Workspace
from schemas.article import RawArticle
from schemas.stages import RecordStage
from sources.stage import CRAWL

RAW = "raw"
AT_ONCE = 4
"""Groups of jobs that are made ready together: the first of them begins when its own files are sent."""
_RAW_HINT, _RESOURCE_HINT = "medqrels crawl fetches it again", "medqrels ground makes it again"


class Sending:
    """Brings tables, fetched files and resources of a workspace to its store, each once."""

    def __init__(self, workspace: Workspace, store: ShardStore) -> None:
        self.workspace, self.store = workspace, store
        self._sent: set[tuple[str, str]] = set()
        self._slots = threading.Semaphore(AT_ONCE)
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def orders(self, jobs: Sequence[Job]) -> list[Order]:
        """The orders of some jobs; all they need is in the store then."""
        with self._slots:
            return [self._order(job) for job in jobs]

    def _order(self, job: Job) -> Order:
        for path in (path for paths in job.inputs.values() for path in paths):
            sha256 = stated_hash(job, path)
            if (job.shard, sha256) not in self._sent:
                self.store.send(job.shard, path, sha256)
                self._sent.add((job.shard, sha256))
        resources = {
            name: self._raw(job) if name == RAW else self._resource(item)
            for name, item in job.resources.items()
        }
        return order_of(job, resources, self.store)

    def take(self, job: Job, manifest: Manifest, run: Mapping[str, Any]) -> None:
        """Bring a shard that a worker made into the workspace.

        Raises:
            LostInStore: a table is not in the store, or was damaged there.
        """
        shutil.rmtree(job.staged, ignore_errors=True)
        lost = None
        for output in manifest.outputs.values():
            try:
                self.store.fetch(job.shard, output.sha256, job.staged / output.file)
            except LostInStore as error:  # all of them are looked at, so that they are made again together
                lost = error
        if lost is not None:
            raise lost
        for output in manifest.outputs.values():
            self._sent.add((job.shard, output.sha256))
        move_in(job.folder, job.staged, manifest, run)

    def forget(self) -> None:
        """Look again at what the store holds: some of it was lost there."""
        self._sent = set()

    def _raw(self, job: Job) -> Given:
        """Fetched files that a job may read."""
        if files := raw_files(self.workspace, job):
            name = packs.raw_name(job.shard, files)
            self._pack(name, self.workspace.raw, files, _RAW_HINT)
            return Given(name, "", "", is_kept=False)
        return Given("", "", "", is_kept=False)

    def _resource(self, item: Resource) -> Given:
        with self._locks[str(item.path)]:
            files = _hashed(item.path, item.fingerprint)
        is_file = item.path.is_file()
        name = packs.resource_name(files)
        self._pack(name, item.path.parent if is_file else item.path, files, _RESOURCE_HINT)
        return Given(name, item.path.name if is_file else "", item.fingerprint, is_kept=True)

    def _pack(self, name: str, base: Path, files: packs.Files, hint: str) -> None:
        with self._locks[name]:  # that many want, one sends
            if (name, "") not in self._sent:
                self.workspace.temporary.mkdir(parents=True, exist_ok=True)
                packs.send_pack(self.store.place, name, base, files, self.workspace.temporary, hint)
                self._sent.add((name, ""))


@functools.lru_cache(64)
def _hashed(path: Path, fingerprint: str) -> packs.Files:
    """Files of a resource with their hashes, read once; another fingerprint is another resource."""
    return packs.hashed(path)


def raw_files(workspace: Workspace, job: Job) -> list[tuple[str, str]]:
    """(path below raw/, SHA-256) of every fetched file that a job may read, by path.

    A stage over articles reads those that it owes something for; one over what was found in them, images.
    """
    rows: list[RawArticle] = read_rows(RawArticle, [workspace.stage(CRAWL) / job.shard / "raw.parquet"])
    stage = job.stage
    found: dict[str, str] = {}
    if isinstance(stage, RecordStage) and [item.row for item in stage.inputs] == [RawArticle]:
        rows = [row for row in rows if _is_owed(stage, job.identity.params, row)]
        found |= {row.path: row.sha256 for row in rows}
        found |= {part.path: part.sha256 for row in rows for part in row.parts}
    found |= {media.path: media.sha256 for row in rows for media in row.media}
    return sorted(found.items())


def _is_owed(stage: RecordStage, params: Mapping[str, Any], row: RawArticle) -> bool:
    """Whether a stage is to make anything of an article."""
    return any(
        account.units(row, **{name: params[name] for name in account.params}) for account in stage.accounts
    )
