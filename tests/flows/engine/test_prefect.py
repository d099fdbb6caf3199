"""Flows against a real Prefect server, as a maintainer with a schedule would run them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.engine.register import read_register
from flows.engine.runs import runs_of
from sources.sample import bucket_dir
from sources.sample.server import BucketServer
from tests.conftest import ROOT
from tests.flows.review.postgres_server import Postgres
from tests.flows.takedown.purge_world import bytes_of
from tests.pipeline import crawl_bucket, new_workspace
from tests.sources.fakes.europepmc import FakeEuropePmc, record
from tests.tables import DATABASE, of_prefect, of_prefect_in_postgres
from tests.test_end_to_end import sample_ids

BIN = Path(sys.executable).parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def ask(url: str, body: dict[str, Any] | None = None) -> Any:
    """An answer of the server; while its database is busy it says 503, and is asked again."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    for waits in range(20, -1, -1):
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            if error.code != 503 or not waits:
                raise
            time.sleep(0.5)


@contextlib.contextmanager
def running_server(home: Path, database: str = "") -> Iterator[dict[str, str]]:
    """A Prefect server on a free port; gives the environment that points to it.

    Args:
        home: its folder, with a SQLite file of its own unless `database` names another.
    """
    port = _free_port()
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("PREFECT_", "MEDQRELS_"))}
    environment = {
        **plain,
        "HOME": str(home),
        "PREFECT_HOME": str(home / ".prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "MEDQRELS_WORKERS": "1",  # two are no quicker with three articles
    }
    if database:
        environment[DATABASE] = database
    else:
        shutil.copytree(of_prefect(), home / ".prefect")
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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """One server for the tests that only ask it."""
    with running_server(tmp_path_factory.mktemp("prefect")) as environment:
        yield environment


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
    assert not (early.root / "vocabulary").exists(), "an index takes 20 seconds"
    assert "Traceback" not in failed.stderr
    runs = ask(server["PREFECT_API_URL"] + "/flow_runs/filter", {"sort": "START_TIME_ASC"})
    flows = {flow["id"]: flow["name"] for flow in ask(server["PREFECT_API_URL"] + "/flows/filter", {})}
    states = [(flows[run["flow_id"]], run["state_type"]) for run in runs]
    assert states == [("extract", "COMPLETED"), ("ground", "FAILED")]


@pytest.mark.timeout(240)
def test_on_postgresql_and_nothing_is_lost_with_its_database(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "ws")
    crawl_bucket(workspace, sample_ids()[:2])
    command = ("extract", "--workspace", str(workspace.root), "--json")
    with (
        Postgres(of_prefect_in_postgres()) as database,
        running_server(tmp_path, database.url) as environment,
    ):
        done = medqrels(environment, *command)
        assert done.returncode == 0, done.stderr
        (run,) = ask(environment["PREFECT_API_URL"] + "/flow_runs/filter", {})
        assert run["state_type"] == "COMPLETED"
        assert not list(tmp_path.rglob("prefect.db")), "it was kept in SQLite"
    kept = bytes_of(workspace.work)
    for gone in ("PREFECT_API_URL", DATABASE):
        del environment[gone]
    told = medqrels(environment, "status", "--workspace", str(workspace.root), "--json")
    (row,) = json.loads(told.stdout)["runs"]["last"]
    assert (row["flow"], row["state"]) == ("extract", "completed")
    done = medqrels(environment, *command)
    assert done.returncode == 0, done.stderr
    assert not any(stage["shards"]["made"] for stage in json.loads(done.stdout)), done.stdout
    assert bytes_of(workspace.work) == kept


SPEC = """
name = "served"
title = "What serve serves"
[sources]
pmc_ids = "ids.txt"
[tasks.visual_context]
"""


@pytest.mark.timeout(240)
def test_a_served_sweep_is_scheduled_runs_and_leaves_its_record(
    server: dict[str, str], tmp_path: Path
) -> None:
    workspace = new_workspace(tmp_path / "ws")
    ids = sample_ids()[:3]
    crawl_bucket(workspace, ids)
    (tmp_path / "ids.txt").write_text("\n".join(ids), "utf-8")
    (tmp_path / "spec.toml").write_text(SPEC, "utf-8")
    links = {"commentCorrection": [{"type": "Retraction in", "reference": "J Inventions", "id": "1"}]}
    rows = [record(ids[0], commentCorrectionList=links), record(ids[1])]
    api = server["PREFECT_API_URL"]
    with BucketServer([bucket_dir()]) as bucket, FakeEuropePmc(records=rows) as europepmc:
        environment = {
            **server,
            "MEDQRELS_PMC__ENDPOINT": bucket.endpoint,
            "MEDQRELS_EUROPEPMC__ENDPOINT": europepmc.endpoint,
            "PREFECT_RUNNER_POLL_FREQUENCY": "1",
        }
        command = ["serve", "--spec", str(tmp_path / "spec.toml"), "--workspace", str(workspace.root)]
        with (tmp_path / "log.txt").open("wb") as log:
            process = subprocess.Popen([BIN / "medqrels", *command], env=environment, stdout=log, stderr=log)
        try:
            sweep = until(lambda: next(iter(deployed(api, "sweep")), None))
            assert sweep["concurrency_limit"] == 1 or sweep["global_concurrency_limit"]["limit"] == 1
            assert sweep["tags"] == ["medqrels", "served", "sweep"]
            until(lambda: runs_in(api, sweep["id"], "SCHEDULED"))  # by the server's own scheduler
            body = {"parameters": {**sweep["parameters"], "as_of": "2026-03-02"}}
            run = ask(f"{api}/deployments/{sweep['id']}/create_flow_run", body)
            until(lambda: ask(f"{api}/flow_runs/{run['id']}")["state_type"] == "COMPLETED", 100)
            of_run = {"logs": {"flow_run_id": {"any_": [run["id"]]}}}
            told = until(lambda: ask(f"{api}/logs/filter", of_run))  # sent some seconds after the run
        finally:
            process.terminate()
            process.wait(60)
    (row,) = runs_of(workspace)
    assert (row["flow"], row["dataset"], row["state"]) == ("sweep", "served", "completed")
    assert any(f"remove pmc:{ids[0]}.1: retraction" in note for note in row["notes"]), row["notes"]
    assert [item.locator for item in read_register(workspace)] == [ids[0]]
    assert ids[0] in (Path(row["folder"]) / "index.html").read_text("utf-8")
    assert any("changed articles" in line["message"] for line in told), told
    kept = ask(f"{api}/artifacts/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})
    assert [item["key"] for item in kept] == ["sweep-served-summary"] and ids[0] in kept[0]["data"]


def deployed(api: str, flow: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(f"{api}/deployments/filter", {"flows": {"name": {"any_": [flow]}}})
    return found


def runs_in(api: str, deployment: str, state: str) -> list[dict[str, Any]]:
    wanted = {"deployment_id": {"any_": [deployment]}, "state": {"type": {"any_": [state]}}}
    found: list[dict[str, Any]] = ask(f"{api}/flow_runs/filter", {"flow_runs": wanted})
    return found


def until(ready: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait for something to be there."""
    deadline = time.monotonic() + seconds
    while not (found := ready()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.2)
    return found


@pytest.mark.parametrize(("theirs", "beats"), [(None, None), (60, 60)])
def test_a_flow_that_is_called_sends_no_heartbeats_unless_the_user_says_so(
    monkeypatch: pytest.MonkeyPatch, theirs: int | None, beats: int | None
) -> None:
    from prefect import Flow
    from prefect.settings import (
        PREFECT_API_URL,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        get_current_settings,
        temporary_settings,
    )

    from flows.engine.orchestration import flow

    seen: list[int | None] = []
    monkeypatch.setattr(
        Flow, "__call__", lambda self: seen.append(get_current_settings().flows.heartbeat_frequency)
    )
    given: dict[Any, Any] = {PREFECT_API_URL: "http://127.0.0.1:9/api"}
    if theirs:
        given[PREFECT_FLOWS_HEARTBEAT_FREQUENCY] = theirs
    with temporary_settings(given):
        flow(name="nothing")(lambda: None)()
    assert seen == [beats]


_TRIED_AGAIN = """
import sys
from prefect import flow
from flows.schedule import scheduled
from schemas.errors import FetchError
scheduled.RETRY_SECONDS = (0.0, 0.1, 0.2)
asked = []
def work(error, times):
    asked.append(error)
    if len(asked) <= times:
        raise error
@flow(name="night")
def night(error, times):
    asked.clear()
    scheduled._of_the_network("sweep", lambda: work(error, times))
night(FetchError("no answer"), 3)
print(len(asked))
for error, times in ((FetchError("no answer"), 4), (ZeroDivisionError(), 1)):
    try:
        night(error, times)
    except type(error):
        print(len(asked))
"""


def test_a_server_that_stays_away_is_asked_four_times_and_a_defect_once(server: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _TRIED_AGAIN],
        env=server,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.stdout.split() == ["4", "4", "1"], done.stderr
