"""What a Dask worker runs: orders, one after another, from the store and back into it.

Nothing that it leaves on its own disk is needed by anyone: a worker that dies loses the shard it is at.
"""

from __future__ import annotations

import functools
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.adapters.places import Place, open_place
from flows.cluster.orders import Order, stage_named, version_here
from flows.cluster.packs import unpacked
from flows.cluster.store import ShardStore
from flows.engine.execution import collect_rarely
from flows.engine.manifest import Manifest, read_run
from flows.engine.runner import Job, Resource, execute
from flows.engine.scratch import system_temporary
from schemas.errors import MedqrelsError

_ONE_AT_A_TIME = threading.Lock()
"""Whatever threads a worker was given: a shard in memory, not several."""
CACHE = "medqrels-packs"


def work(orders: Sequence[Mapping[str, Any]], where: Mapping[str, Any]) -> dict[str, Any]:
    """Make the shards of some orders.

    Args:
        orders: as `Order.to_dict`.
        where: `store`, `attempts`, `timeout_seconds`, and `version` of whoever sent them.

    Returns:
        `host`, `address` (in Dask) and `version` of this worker, and whether it is `refused` because that is
        not the sender's. `done`: of each order in turn the manifest as JSON and what it cost; after the first
        that fails come none, and `error` is what it raised.
    """
    from distributed import get_worker

    here: dict[str, Any] = {
        "host": f"{os.uname().nodename}, process {os.getpid()}",
        "version": version_here(),
    }
    here["address"] = get_worker().address
    if here["version"] != where["version"]:
        return {**here, "refused": True, "done": []}
    done: list[tuple[str, dict[str, Any]]] = []
    with _ONE_AT_A_TIME:
        collect_rarely()
        store = ShardStore(_place(where["store"], where["attempts"], where["timeout_seconds"]))
        for body in orders:
            try:
                manifest, run = _make(Order.from_dict(body), store)
            except MedqrelsError as error:
                return {**here, "refused": False, "done": done, "error": error}
            done.append((manifest.to_json(), run))
    return {**here, "refused": False, "done": done}


@functools.cache
def _place(address: str, attempts: int, timeout_seconds: float) -> Place:
    return open_place(address, attempts=attempts, timeout_seconds=timeout_seconds)


def _make(order: Order, store: ShardStore) -> tuple[Manifest, dict[str, Any]]:
    """Make one shard, keep its tables, seal its manifest, and have it count."""
    identity = order.manifest
    manifest, run = store.sealed(identity), dict[str, Any]()
    if manifest is None:
        with tempfile.TemporaryDirectory(prefix="medqrels-shard-") as folder:
            job = _job(order, store, Path(folder))
            manifest = execute(job)
            run = read_run(job.folder)
            for output in manifest.outputs.values():
                store.send(job.folder / output.file, output.sha256)
        store.seal(manifest)
    store.point(manifest, order.tag)
    return manifest, run


def _job(order: Order, store: ShardStore, folder: Path) -> Job:
    """The order as a job below a folder that looks like a workspace with what it needs, and nothing else."""
    identity = order.manifest
    inputs: dict[str, tuple[Path, ...]] = {}
    for view, files in order.inputs.items():
        paths = []
        for stage, shard, file, sha256 in files:
            path = folder / "work" / stage / shard / file
            if not path.exists():
                store.fetch(sha256, path)
            paths.append(path)
        inputs[view] = tuple(paths)
    cache = system_temporary() / f"{CACHE}-{os.getuid()}"
    cache.mkdir(mode=0o700, exist_ok=True)
    resources = {
        name: Resource(unpacked(store.place, given.pack, cache) / given.inside, given.fingerprint)
        for name, given in order.resources.items()
    }
    made = folder / "work" / identity.stage / identity.shard
    return Job(stage_named(identity.stage), identity.shard, made, folder / "tmp", inputs, identity, resources)
