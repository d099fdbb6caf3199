"""A Dask scheduler and workers on loopback, each a process of its own that may be killed at any moment."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from flows.cluster.dask_workers import workers_at

OTHER_VERSION = """
from flows.cluster import worker
worker.version_here = lambda: {"code": "of another day"}
"""
SLOW = """
import time
from flows.cluster import worker
from flows.engine import runner
def execute(*given, **named):
    time.sleep(2)
    return runner.execute(*given, **named)
worker.execute = execute
"""


class DaskCluster:
    """A scheduler on one port, whatever becomes of it, and workers.

    Args:
        folder: for logs and what workers write.
        environment: of the workers; they read credentials from it.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        kept = {key: value for key, value in os.environ.items() if not key.startswith("MEDQRELS_")}
        self.environment = {**kept, **environment, "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int = 2) -> None:
        """Start the scheduler and some workers."""
        self._start_scheduler()
        for _ in range(workers):
            self.add_worker()

    def _start_scheduler(self) -> None:
        self.scheduler = self._process("scheduler", "--port", self.address.rpartition(":")[2])

    def add_worker(self, preload: str = "") -> subprocess.Popen[bytes]:
        """Start one more worker, of one thread; `preload` is code that it runs first."""
        extra: list[str] = []
        if preload:
            path = self.folder / f"preload-{len(self.workers)}.py"
            path.write_text(preload, "utf-8")
            extra = ["--preload", str(path)]
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        told = ["--nthreads", "1", "--no-nanny", "--local-directory", str(scratch), "--death-timeout", "60"]
        self.workers.append(self._process("worker", self.address, *told, *extra))
        return self.workers[-1]

    def _process(self, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{command[0]}.log").open("ab") as log:
            return subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "distributed.cli.dask_" + command[0],
                    *command[1:],
                    "--host",
                    "127.0.0.1",
                    "--no-dashboard",
                ],
                env=self.environment,
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )

    def await_workers(self, count: int) -> None:
        """Wait until the scheduler knows so many, and no dead one."""
        end = time.monotonic() + 120
        while workers_at(self.address, 60) != count:
            if time.monotonic() > end:
                raise TimeoutError(f"not {count} workers")
            time.sleep(0.2)

    def have_workers(self, count: int) -> None:
        """Kill or start workers until there are so many."""
        while len(self.workers) > count:
            self.kill_worker()
        while len(self.workers) < count:
            self.add_worker()
        self.await_workers(count)

    def kill_worker(self, number: int = 0) -> None:
        """End a worker in the middle of what it does."""
        kill(self.workers.pop(number))

    def restart(self, workers: int = 2) -> None:
        """Kill everything, and start it again on the same port."""
        self.stop()
        self.start(workers)

    def restart_scheduler(self) -> None:
        """Kill the scheduler alone, and start it again on the same port; its workers end by themselves."""
        if self.scheduler is not None:
            kill(self.scheduler)
        self._start_scheduler()

    def stop(self) -> None:
        """End every process."""
        for process in (*self.workers, *([self.scheduler] if self.scheduler else [])):
            kill(process)
        self.workers, self.scheduler = [], None

    def cpu_seconds(self) -> float:
        """Processor seconds that the workers have used so far."""
        return sum(cpu_seconds(process.pid) for process in self.workers)


def cpu_seconds(pid: int) -> float:
    """Processor seconds of a living process."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process at once."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def running_cluster(folder: Path, environment: Mapping[str, str], workers: int = 2) -> Iterator[DaskCluster]:
    """A cluster that is gone at the end."""
    folder.mkdir(exist_ok=True)
    cluster = DaskCluster(folder, environment)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        cluster.stop()
