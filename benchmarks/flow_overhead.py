"""What Prefect costs per flow against a running server: nothing to do, with Prefect and without."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import save
from benchmarks.prefect_server import PrefectServer

ROUNDS = 5

_TIMED = """
import sys, time
from flows.build.extract import extract
from flows.engine.session import reporting
from flows.engine.progress import SilentReporter
with reporting(SilentReporter()):
    extract(sys.argv[1])
    for _ in range(int(sys.argv[2])):
        started = time.monotonic()
        extract(sys.argv[1])
        print(time.monotonic() - started)
"""
_BARE = """
import sys, time
from pathlib import Path
from flows.engine.runner import Resource, plan
from flows.engine.workspace import open_workspace
from curation.extract.stage import EXTRACT
from sources.stage import PARSE
workspace = open_workspace(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    started = time.monotonic()
    for stage in (PARSE, EXTRACT):
        jobs = plan(workspace, stage, resources={"raw": Resource(workspace.raw)})
        assert all(job.is_done() for job in jobs)
    print(time.monotonic() - started)
"""


def _seconds(script: str, workspace: Path, environment: dict[str, str]) -> list[float]:
    command = [sys.executable, "-c", script, str(workspace), str(ROUNDS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


def measure(home: Path) -> dict[str, Any]:
    """Seconds per flow run with and without Prefect, over the demo's workspace."""
    from flows.demo import demo

    workspace = home / "ws"
    os.environ["HOME"] = str(home)
    demo(workspace)
    with PrefectServer(home / "prefect") as server:
        environment = {**os.environ, **server.environment}
        with_prefect = _seconds(_TIMED, workspace, environment)
        without = _seconds(_BARE, workspace, environment)
    overhead = statistics.median(with_prefect) - statistics.median(without)
    return {
        "flow_seconds": [round(value, 3) for value in with_prefect],
        "same_work_without_prefect_seconds": [round(value, 3) for value in without],
        "overhead_seconds_median": round(overhead, 3),
    }


def main() -> None:
    """Measure and save."""
    with tempfile.TemporaryDirectory(prefix="medqrels-bench-") as folder:
        result = measure(Path(folder))
    print(save("flow_overhead", result), result)


if __name__ == "__main__":
    main()
