"""Flows against a real Prefect server, as a maintainer with a schedule would run them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline import crawl_bucket, new_workspace
from tests.test_end_to_end import sample_ids

BIN = Path(sys.executable).parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def ask(url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A Prefect server on a free port with its own database; yields the environment that points to it."""
    home = tmp_path_factory.mktemp("prefect")
    port = _free_port()
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "MEDQRELS_"))}
    environment = {
        **plain,
        "HOME": str(home),
        "PREFECT_HOME": str(home / ".prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    with (home / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [BIN / "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)],
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        deadline = time.monotonic() + 100
        while True:
            try:
                ask(environment["PREFECT_API_URL"] + "/health")
                break
            except OSError:
                assert process.poll() is None, (home / "log.txt").read_text()
                assert time.monotonic() < deadline, "the Prefect server did not start"
                time.sleep(0.3)
        yield environment
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def medqrels(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / "medqrels"), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@pytest.mark.timeout(240)
def test_a_running_server_sees_flow_runs_and_failures(server: dict[str, str], tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "ws")
    crawl_bucket(workspace, sample_ids()[:3])
    done = medqrels(server, "extract", "--workspace", str(workspace.root), "--json")
    assert done.returncode == 0, done.stderr
    stages = json.loads(done.stdout)
    assert [stage["stage"] for stage in stages] == [
        "parse",
        "extract",
        "cases",
        "images",
        "questions",
        "exercises",
    ]
    early = new_workspace(tmp_path / "early")
    failed = medqrels(server, "ground", "--workspace", str(early.root))
    assert failed.returncode == 3
    assert "next: medqrels extract" in failed.stderr
    assert "Traceback" not in failed.stderr
    runs = ask(server["PREFECT_API_URL"] + "/flow_runs/filter", {"sort": "START_TIME_ASC"})
    flows = {flow["id"]: flow["name"] for flow in ask(server["PREFECT_API_URL"] + "/flows/filter", {})}
    states = [(flows[run["flow_id"]], run["state_type"]) for run in runs]
    assert states == [("extract", "COMPLETED"), ("ground", "FAILED")]
