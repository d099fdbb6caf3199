"""What Prefect costs per flow against a running server: nothing to do, with Prefect and without."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.measure import save

STARTUP_SECONDS = 120
ROUNDS = 5

_TIMED = """
import sys, time
from flows.extract import extract
from flows.session import reporting
from flows.progress import SilentReporter
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
from flows.runner import Resource, plan
from flows.workspace import open_workspace
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(url: str) -> None:
    deadline = time.monotonic() + STARTUP_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.3)
    raise SystemExit("the Prefect server did not start")


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
    port = _free_port()
    environment = {
        **os.environ,
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    prefect = str(Path(sys.executable).with_name("prefect"))
    server = subprocess.Popen(
        [prefect, "server", "start", "--host", "127.0.0.1", "--port", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(environment["PREFECT_API_URL"])
        with_prefect = _seconds(_TIMED, workspace, environment)
        without = _seconds(_BARE, workspace, environment)
    finally:
        server.terminate()
        server.wait(30)
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
