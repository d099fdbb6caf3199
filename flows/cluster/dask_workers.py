"""Runs jobs on the workers of a Dask cluster that somebody else started. Knows nothing of Prefect.

Shards travel through the store, never through Dask: a task is a list of orders, its result their manifests.
So a task may run twice, on a worker that was thought lost and on another, and nothing is made twice.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import CancelledError
from typing import Any

from flows.cluster.orders import version_here
from flows.cluster.sending import Sending
from flows.cluster.store import LostInStore
from flows.cluster.worker import work
from flows.engine.manifest import Manifest, parse_manifest
from flows.engine.runner import Job, execute
from schemas.errors import FetchError, MedqrelsError, UsageError
from schemas.stages import SetStage

PATIENCE_SECONDS = 120.0
"""How long a scheduler may be away, or have no worker, before work is given up."""
GROUPS_PER_WORKER, MOST_SHARDS = 8, 16
"""A task holds as many shards as leave each worker so many tasks; never more than the second."""
ATTEMPTS = 6
_LOOKS, _PAUSE_SECONDS, _TELLS_SECONDS = 50, 0.02, 10.0
_START = "start one with: dask scheduler; and on each machine: dask worker tcp://HOST:8786 --nthreads 1"


class DaskWorkers:
    """Runs record stages on a cluster, in tasks of several shards; other stages here.

    Args:
        scheduler: its address, `tcp://HOST:PORT`.
        sending: the workspace and its store.
        where: what workers need to open the store: `store`, `attempts`, `timeout_seconds`.
        tell: shows a line to people.

    Raises:
        UsageError: the extra is not installed.
        FetchError: there is no scheduler, or it has no worker of this version.
    """

    def __init__(
        self, scheduler: str, sending: Sending, where: Mapping[str, Any], tell: Callable[[str], None]
    ) -> None:
        self.scheduler, self.sending, self.tell = scheduler, sending, tell
        self.where = {**where, "version": version_here()}
        self._refused: dict[str, str] = {}
        self._lock = threading.Lock()
        self._client = connected(scheduler)
        self._generation = 0

    def groups(self, jobs: Sequence[Job]) -> list[tuple[Job, ...]]:
        """Jobs as tasks: few enough that what a task costs does not count, enough to keep workers busy."""
        workers = max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))
        size = min(MOST_SHARDS, math.ceil(len(jobs) / (workers * GROUPS_PER_WORKER)))
        size = max(1, size)
        return [tuple(jobs[start : start + size]) for start in range(0, len(jobs), size)]

    def run_group(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Manifest]]:
        """Run some jobs of one stage; each with its manifest once it is in the workspace.

        Raises:
            MedqrelsError: what a worker raised; jobs before that one are done.
        """
        if isinstance(jobs[0].stage, SetStage):
            yield from ((job, execute(job)) for job in jobs)
            return
        left, lost = list(jobs), 0
        while left:
            try:
                answer = self._answer(left, [order.to_dict() for order in self.sending.orders(left)])
                for job, (text, run) in zip(tuple(left), answer["done"], strict=False):
                    manifest = parse_manifest(text, f"worker {answer['host']}")
                    self.sending.take(job, manifest, {**run, "worker": answer["host"]})
                    left.remove(job)
                    yield job, manifest
                if "error" in answer:
                    raise answer["error"]
            except LostInStore as error:
                lost += 1
                if lost > ATTEMPTS:
                    raise
                self.tell(f"{error.message}, is sent or made again: {error.file}")
                self.sending.forget()

    def _answer(self, jobs: Sequence[Job], orders: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What a worker of this version answers; asked again where the worker or the scheduler went away."""
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        named = f"stage {jobs[0].stage.name}, shards {jobs[0].shard} to {jobs[-1].shard}"
        for _ in range(ATTEMPTS):
            generation, client = self._generation, self._client
            key = f"{jobs[0].stage.name}-{jobs[0].shard}-{uuid.uuid4().hex[:8]}"
            try:
                allowed = self._allowed()
                task = client.submit(work, orders, self.where, key=key, workers=allowed, pure=False)
                answer = self._result(client, task, frozenset(allowed or ()))
            except KilledWorker as error:
                raise MedqrelsError(
                    f"{named}: every worker that was given them died; memory may have run out",
                    file=self.scheduler,
                    hint="give workers more memory, or crawl smaller shards (MEDQRELS_SHARD_SIZE); run again",
                ) from error
            except ImportError as error:  # of the program itself: what it lacks later it says by itself
                raise MedqrelsError(
                    f"a worker cannot load medqrels: {error}",
                    file=self.scheduler,
                    hint="install the same medqrels, from the same lock, on every machine",
                ) from error
            except (CancelledError, CommClosedError, TimeoutError) as error:
                self._reconnect(generation, error)
                continue
            if not answer["refused"]:
                return answer
            self._refuse(answer)
        raise FetchError(
            f"{named}: given to workers {ATTEMPTS} times without an answer", file=self.scheduler, hint=_START
        )

    def _result(self, client: Any, task: Any, allowed: Set[str]) -> dict[str, Any]:
        """What a task comes to; one whose worker dies before it has told is done once more.

        Raises:
            FetchError, CancelledError: see :meth:`_wait`.
        """
        while True:
            self._wait(client, task, allowed)
            try:
                answer: dict[str, Any] = task.result(timeout=_TELLS_SECONDS)
            except TimeoutError:
                continue
            return answer

    def _wait(self, client: Any, task: Any, allowed: Set[str]) -> None:
        """Wait for a task as long as there is somebody who may do it.

        Raises:
            FetchError: for so long no worker was there.
            CancelledError: the workers it was given to are gone, and others are there.
        """
        last = time.monotonic()
        while True:
            for _ in range(_LOOKS):  # at what the client was told; the scheduler is asked now and then
                if task.done():
                    return
                time.sleep(_PAUSE_SECONDS)
            known = set(client.scheduler_info(n_workers=-1)["workers"])
            if client.status != "running" or (known & allowed if allowed else known):
                last = time.monotonic()  # without the scheduler the task ends by itself
            elif known - set(self._refused):
                task.cancel()
                raise CancelledError
            elif time.monotonic() - last > PATIENCE_SECONDS:
                task.cancel()
                raise FetchError("the Dask scheduler has no worker left", file=self.scheduler, hint=_START)

    def _refuse(self, answer: Mapping[str, Any]) -> None:
        """Note a worker of another version, once, and hand it nothing more."""
        theirs, ours = answer["version"], self.where["version"]
        unlike = ", ".join(
            f"{name} {theirs.get(name)} for {ours[name]}" for name in ours if theirs.get(name) != ours[name]
        )
        with self._lock:
            if answer["address"] not in self._refused:
                self._refused[answer["address"]] = unlike
                self.tell(
                    f"worker {answer['address']} on {answer['host']} is refused, another version: {unlike}"
                )

    def _allowed(self) -> list[str] | None:
        """Workers that may be handed work; None for any.

        Raises:
            FetchError: there is none of this version.
        """
        if not self._refused:
            return None
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            known = set(self._client.scheduler_info(n_workers=-1)["workers"])
            if left := sorted(known - set(self._refused)):
                return left
            if known or time.monotonic() > end:
                why = next(iter(self._refused.values()))
                raise FetchError(
                    f"no worker has this version of medqrels: {why}",
                    file=self.scheduler,
                    hint="install the same medqrels, from the same lock, on every machine",
                )
            time.sleep(0.5)

    def _reconnect(self, generation: int, error: BaseException) -> None:
        """Wait until the client has found the scheduler again; one thread does, the others find it done.

        The client looks for it by itself, as long as for a first one; closed meanwhile it would never end.
        """
        with self._lock:
            if generation != self._generation:
                return
            self.tell(f"the Dask scheduler was lost ({type(error).__name__}); waiting for it")
            time.sleep(1)  # until the client knows too
            while self._client.status == "connecting":
                time.sleep(0.2)
            if self._client.status == "running":
                _await_worker(self._client, self.scheduler, PATIENCE_SECONDS)
            else:
                self._client = connected(self.scheduler)
            self._generation += 1

    def close(self) -> None:
        """Let the cluster go; work not started is given up."""
        _let_go(self._client)

    def kill(self) -> None:
        """The same; what workers are at they finish for nobody, and the next run finds it in the store."""
        self.close()


def _let_go(client: Any) -> None:
    """Close a client, whose scheduler may be gone."""
    if client is not None:
        with contextlib.suppress(TimeoutError, OSError):
            client.close(timeout=2)


def connected(scheduler: str, patience: float | None = None, *, to_work: bool = True) -> Any:
    """A client of a scheduler, which has a worker where it is `to_work`.

    Args:
        scheduler: its address.
        patience: seconds to wait for either; PATIENCE_SECONDS if not given.
        to_work: whether it must have a worker.

    Raises:
        UsageError: the extra is not installed, or this is no address.
        FetchError: no scheduler answers, or it has no worker to work.
    """
    seconds = PATIENCE_SECONDS if patience is None else patience
    try:
        import distributed
    except ImportError as error:
        raise UsageError("--dask needs the extra dask", hint="make setup EXTRAS=dask,s3") from error
    new: Any = distributed.Client  # its signature is untyped
    try:
        client = new(scheduler, timeout=seconds, set_as_default=False)
    except ValueError as error:
        raise UsageError(f"no address of a Dask scheduler: {scheduler!r}", hint=_START) from error
    except (OSError, TimeoutError) as error:
        raise FetchError("no Dask scheduler answers", file=scheduler, hint=_START) from error
    if to_work:
        _await_worker(client, scheduler, seconds)
    return client


def _await_worker(client: Any, scheduler: str, seconds: float) -> None:
    """Wait until somebody can work."""
    try:
        client.wait_for_workers(1, timeout=seconds)
    except (OSError, TimeoutError) as error:
        _let_go(client)
        raise FetchError("the Dask scheduler has no worker", file=scheduler, hint=_START) from error


def workers_at(scheduler: str, patience: float) -> int:
    """How many workers a scheduler has now; see :func:`connected`."""
    client = connected(scheduler, patience, to_work=False)
    try:
        return len(client.scheduler_info(n_workers=-1)["workers"])
    finally:
        _let_go(client)
