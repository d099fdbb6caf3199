"""Executes planned jobs in worker processes and sums up what came out. Knows nothing of Prefect."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import gc
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ParamSpec, Protocol, TypeVar

from flows.engine.manifest import Manifest
from flows.engine.runner import Job, execute
from flows.engine.worker_lifetime import end_with
from schemas.errors import MedqrelsError
from schemas.wording import counted

MANY_TABLES = 8
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class StageSummary:
    """What one stage did: shards made and reused, units in, kept and dropped, rows per table."""

    stage: str
    made: int = 0
    reused: int = 0
    units: dict[str, dict[str, int]] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)

    def add(self, manifest: Manifest, *, made: bool) -> None:
        """Count one shard in."""
        self.made += made
        self.reused += not made
        for unit, counts in manifest.units.items():
            into = self.units.setdefault(unit, {"in": 0, "kept": 0, "dropped": 0})
            for key, value in counts.items():
                into[key] += value
        for reason, count in manifest.dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        for name, output in manifest.outputs.items():
            self.rows[name] = self.rows.get(name, 0) + output.rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "stage": self.stage,
            "shards": {"made": self.made, "reused": self.reused},
            "units": self.units,
            "dropped": dict(sorted(self.dropped.items())),
            "rows": {name: count for name, count in sorted(self.rows.items()) if not name.startswith("_")},
        }

    def line(self) -> str:
        """One line for people."""
        tables = self.to_dict()["rows"]
        rows = ", ".join(f"{count:,} {name}" for name, count in tables.items())
        if len(tables) > MANY_TABLES and self.units:  # most are steps on the way; --json has them
            rows = ", ".join(
                f"{counts['kept']:,} of {counted(counts['in'], unit)}" for unit, counts in self.units.items()
            )
        lost = collections.Counter(self.dropped)
        tail = f"; dropped {lost.total():,}" if lost else ""
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in lost.most_common(4))
        again = " (up to date)" if not self.made else ""
        return f"{self.stage}: {rows or 'no rows'}{tail}{' (' + reasons + ')' if reasons else ''}{again}"


def collect_rarely() -> None:
    """Raise the garbage collector's threshold: records have no cycles, so scanning them finds nothing."""
    gc.set_threshold(200_000, 20, 20)


def begin_worker(parent: int, temporary: str) -> None:
    """Begin a worker process.

    Args:
        parent: the process it ends with, however that ends.
        temporary: where that process keeps temporary files.
    """
    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches all: the parent says so, and no other
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    tempfile.tempdir = temporary
    collect_rarely()


class _Pool(concurrent.futures.ProcessPoolExecutor):
    """Processes that wait with Ctrl-C until they have begun: before, Python would tell where it was."""

    def submit(
        self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> concurrent.futures.Future[T]:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # they begin with what is blocked
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Let go of them; in the middle of their work where all is cancelled."""
        if kind is not None and not issubclass(kind, Exception):
            self.end_at_once()
        return super().__exit__(kind, value, traceback)

    def end_at_once(self) -> None:
        """End all worker processes of the command, whatever they are at."""
        for process in multiprocessing.active_children():
            process.terminate()
        self.shutdown(cancel_futures=True)


def new_pool(count: int) -> _Pool:
    """A pool of worker processes, which start when the first work is handed in."""
    return _Pool(
        count,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=begin_worker,
        initargs=(os.getpid(), tempfile.gettempdir()),
    )


class Workers(Protocol):
    """Whoever runs the jobs of a stage; called from several threads, a group in each."""

    def groups(self, jobs: Sequence[Job]) -> list[tuple[Job, ...]]:
        """Jobs of one stage as they are handed out together."""

    def run_group(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Manifest]]:
        """Run jobs of one stage, each with its manifest once the shard is in the workspace.

        Raises:
            MedqrelsError: of the first job that fails; those before it are done.
        """

    def close(self) -> None:
        """Let go of what runs jobs; work not started is given up."""

    def kill(self) -> None:
        """The same at once, in the middle of work."""


class LocalWorkers:
    """Runs jobs on this machine: in this process with one worker, else in a pool of fresh processes."""

    def __init__(self, count: int) -> None:
        self._pool = new_pool(count) if count > 1 else None

    def run(self, job: Job) -> Manifest:
        """Run one job to its manifest; call from several threads to use several processes."""
        if self._pool is None:
            return execute(job)
        try:
            return self._pool.submit(execute, job).result()
        except concurrent.futures.BrokenExecutor as error:
            raise MedqrelsError(
                f"a worker process died during stage {job.stage.name}, shard {job.shard}; "
                "memory may have run out",
                file=str(job.folder),
                hint="run the same command again, with MEDQRELS_WORKERS=1 if it dies again",
            ) from error

    def groups(self, jobs: Sequence[Job]) -> list[tuple[Job, ...]]:
        """See :class:`Workers`: each by itself."""
        return [(job,) for job in jobs]

    def run_group(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Manifest]]:
        """See :class:`Workers`."""
        for job in jobs:
            yield job, self.run(job)

    def close(self) -> None:
        """Stop the processes; work not started is given up."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def kill(self) -> None:
        """End the processes at once, in the middle of their work: a shard is finished whole or not at all."""
        if self._pool is not None:
            self._pool.end_at_once()


@contextlib.contextmanager
def workers(count: int) -> Iterator[LocalWorkers]:
    """A pool of this machine that is closed again."""
    pool = LocalWorkers(count)
    with closing(pool):
        yield pool


@contextlib.contextmanager
def closing(pool: Workers) -> Iterator[Workers]:
    """Workers that are let go at the end, at once if the work is cancelled."""
    try:
        yield pool
    except Exception:
        pool.close()
        raise
    except BaseException:  # cancelled
        pool.kill()
        raise
    else:
        pool.close()


def sum_up(stage: str, done: Sequence[tuple[Manifest, bool]]) -> StageSummary:
    """Sum of (manifest, was made now) over the shards of one stage."""
    summary = StageSummary(stage)
    for manifest, made in done:
        summary.add(manifest, made=made)
    return summary


def split_done(jobs: Sequence[Job]) -> tuple[list[Job], Mapping[str, Job]]:
    """Jobs up to date, and jobs to run by shard name."""
    done = [job for job in jobs if job.is_done()]
    finished = {job.shard for job in done}
    return done, {job.shard: job for job in jobs if job.shard not in finished}
