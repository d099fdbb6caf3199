"""The coordinator's side of the store: what workers need is brought there, what they made comes back."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.cluster import packs
from flows.cluster.orders import Given, Order, order_of
from flows.cluster.store import ShardStore
from flows.engine.manifest import Manifest, move_in
from flows.engine.runner import Job, Resource
from flows.engine.workspace import Workspace
from sources.stage import CRAWL

RAW = "raw"


class Sending:
    """Brings tables, fetched files and resources of a workspace to its store, each once."""

    def __init__(self, workspace: Workspace, store: ShardStore) -> None:
        self.workspace, self.store = workspace, store
        self._sent: set[str] = set()
        self._packing = threading.Lock()

    def order(self, job: Job) -> Order:
        """The order of a job; all it needs is in the store then."""
        for paths in job.inputs.values():
            for path in paths:
                sha256 = job.identity.inputs[f"{path.parent.parent.name}.{path.stem}/{path.parent.name}"]
                if sha256 not in self._sent:
                    self.store.send(path, sha256)
                    self._sent.add(sha256)
        resources = {name: self._given(name, item, job) for name, item in job.resources.items()}
        return order_of(job, resources, self.store)

    def take(self, job: Job, manifest: Manifest, run: Mapping[str, Any]) -> None:
        """Bring a shard that a worker made into the workspace."""
        shutil.rmtree(job.staged, ignore_errors=True)
        for output in manifest.outputs.values():
            self.store.fetch(output.sha256, job.staged / output.file)
            self._sent.add(output.sha256)
        move_in(job.folder, job.staged, manifest, run)

    def _given(self, name: str, item: Resource, job: Job) -> Given:
        with self._packing:  # one pack on the disk at a time
            return self._raw(job) if name == RAW else self._resource(name, item)

    def _raw(self, job: Job) -> Given:
        """Fetched files of the crawl shard that a job's shard comes from."""
        files = packs.stored_files(self.workspace.stage(CRAWL) / job.shard / "raw.parquet")
        pack = packs.raw_name(job.shard, files)
        self._pack(pack, self.workspace.raw, [path for path, _ in files])
        return Given(pack, "", "")

    def _resource(self, name: str, item: Resource) -> Given:
        pack = packs.resource_name(name, item.path, item.fingerprint)
        inside = [path or item.path.name for path in packs.below(item.path)]
        is_file = item.path.is_file()
        self._pack(pack, item.path.parent if is_file else item.path, inside)
        return Given(pack, item.path.name if is_file else "", item.fingerprint)

    def _pack(self, pack: str, base: Path, files: list[str]) -> None:
        if pack not in self._sent:
            self.workspace.temporary.mkdir(parents=True, exist_ok=True)
            packs.send_pack(self.store.place, pack, base, files, self.workspace.temporary)
            self._sent.add(pack)
