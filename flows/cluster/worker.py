"""What a Dask worker runs: orders, one after another, from the store and back into it.

Nothing that it leaves on its own disk is needed by anyone: a worker that dies loses the shard it is at.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.adapters.places import open_place
from flows.cluster.orders import Given, Order, stage_named, version_here
from flows.cluster.packs import kept, unpack
from flows.cluster.store import ShardStore
from flows.engine.execution import collect_rarely
from flows.engine.manifest import Manifest, read_run
from flows.engine.runner import Job, Resource, execute
from flows.engine.scratch import home, owned_folder
from schemas.errors import FetchError, MedqrelsError

_ONE_AT_A_TIME = threading.Lock()
"""Whatever threads a worker was given: a shard in memory, not several."""
CACHE = "packs"
"""Folder of vocabularies and their indexes, which workers of a machine share and keep."""


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
        try:
            store = _store(where["store"], where["attempts"], where["timeout_seconds"])
            for body in orders:
                manifest, run = _make(Order.from_dict(body), store)
                done.append((manifest.to_json(), run))
        except MedqrelsError as error:
            return {**here, "refused": False, "done": done, "error": error}
        except OSError as error:
            told = MedqrelsError(
                f"a worker cannot work on: {error.strerror or error}",
                file=f"{error.filename or ''} on {here['host']}",
                hint="see to that machine, its TMPDIR and its limits; then run the same command again",
            )
            return {**here, "refused": False, "done": done, "error": told}
    return {**here, "refused": False, "done": done}


@functools.cache
def _store(address: str, attempts: int, timeout_seconds: float) -> ShardStore:
    """The store of an address.

    Raises:
        FetchError: what this machine sees there is no store.
    """
    store = ShardStore(open_place(address, attempts=attempts, timeout_seconds=timeout_seconds))
    if not store.is_seen():
        raise FetchError(
            f"a worker on {os.uname().nodename} does not see the store",
            file=store.place.address,
            hint="mount the folder on every machine, or name a --store that each of them reaches",
        )
    return store


def _make(order: Order, store: ShardStore) -> tuple[Manifest, dict[str, Any]]:
    """Make one shard, keep its tables, seal its manifest, and have it count."""
    identity = order.manifest
    manifest, run = store.sealed(identity), dict[str, Any]()
    if manifest is None or not store.holds(manifest):
        with owned_folder(_scratch(), "shard-") as folder:
            job = _job(order, store, folder)
            manifest = execute(job)
            run = read_run(job.folder)
            for output in manifest.outputs.values():
                store.send(job.shard, job.folder / output.file, output.sha256)
        store.seal(manifest)
    store.point(manifest, order.tag)
    return manifest, run


def _job(order: Order, store: ShardStore, folder: Path) -> Job:
    """The order as a job below a folder that looks like a workspace with what it needs, and nothing else."""
    identity = order.manifest
    inputs: dict[str, tuple[Path, ...]] = {}
    for view, files in order.inputs.items():
        paths = []
        for stage, file, sha256 in files:
            path = folder / "work" / stage / identity.shard / file
            if not path.exists():
                store.fetch(identity.shard, sha256, path)
            paths.append(path)
        inputs[view] = tuple(paths)
    resources = {
        name: Resource(_given(given, store, folder / name) / given.inside, given.fingerprint)
        for name, given in order.resources.items()
    }
    made = folder / "work" / identity.stage / identity.shard
    return Job(stage_named(identity.stage), identity.shard, made, folder / "tmp", inputs, identity, resources)


def _given(given: Given, store: ShardStore, folder: Path) -> Path:
    """The unpacked pack of a resource: kept on this machine, or in a folder that goes with the shard."""
    if given.is_kept:
        cache = _scratch() / CACHE
        cache.mkdir(mode=0o700, exist_ok=True)
        return kept(store.place, given.pack, cache)
    if given.pack:
        unpack(store.place, given.pack, folder)
    else:
        folder.mkdir()
    return folder


@functools.cache
def _own() -> Path:
    return home()


def _scratch() -> Path:
    """Folder of this user on this machine, and of nobody else; one that tidies up may have removed it."""
    _own().mkdir(mode=0o700, exist_ok=True)
    return _own()
