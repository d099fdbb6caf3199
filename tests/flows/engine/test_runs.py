"""Records of runs: what a run did, how it ended, and that a killed one is told from a running one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from filelock import FileLock

from flows.engine import runs
from flows.engine.runs import KEPT, KEPT_OF_A_FLOW, current_run, last_of, recorded, runs_of
from flows.engine.session import patient, write_session
from flows.engine.workspace import Workspace
from schemas.errors import ConservationError, WorkspaceError

HOLD = """
import sys
from pathlib import Path
from flows.engine.session import write_session
with write_session(sys.argv[1], flow="extract"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def log_of(row: dict[str, object]) -> list[dict[str, object]]:
    path = Path(str(row["folder"])) / "log.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_failed_run_names_the_record_and_what_helps(workspace: Workspace) -> None:
    with (
        pytest.raises(ConservationError),
        recorded(workspace, "nightly", dataset="set", parameters={"as_of": "2026-03-02"}),
        write_session(workspace.root, flow="extract"),
    ):
        (workspace.temporary / "half").mkdir(parents=True)
        raise ConservationError("lost a row", record="pmc:PMC1.1", hint="medqrels extract")
    (row,) = runs_of(workspace)
    assert (row["flow"], row["dataset"], row["state"]) == ("nightly", "set", "failed")
    assert row["parameters"] == {"as_of": "2026-03-02"} and row["finished"] >= row["started"]
    assert (row["why"]["record"], row["why"]["hint"]) == ("pmc:PMC1.1", "medqrels extract")
    assert not workspace.temporary.exists(), "a failed run leaves nothing half-written"
    last = log_of(row)[-1]
    assert last["event"] == "run_failed" and last["level"] == "error" and last["record"] == "pmc:PMC1.1"
    assert {line["run"] for line in log_of(row)} == {row["id"]}
    with recorded(workspace, "nightly", dataset="set"):
        pass
    found = last_of(runs_of(workspace), "nightly", "set")
    assert (
        found is not None and found["state"] == "completed" and last_of(runs_of(workspace), "x", "") is None
    )


def test_work_without_a_name_and_work_inside_a_run_is_no_run_of_its_own(workspace: Workspace) -> None:
    with write_session(workspace.root):
        assert current_run().folder is None
        current_run().note("nothing")
    assert runs_of(workspace) == []
    with recorded(workspace, "run"), write_session(workspace.root, flow="crawl") as session:
        session.reporter.line("one line")
        (workspace.temporary / "release").mkdir(parents=True)
    assert not workspace.temporary.exists()
    (row,) = runs_of(workspace)
    assert row["flow"] == "run" and "one line" in [line.get("message") for line in log_of(row)]


def test_a_flow_that_runs_each_hour_does_not_push_out_a_weekly_one(workspace: Workspace) -> None:
    hourly = [f"20200101T{number:06}Z-review_pull-000000" for number in range(KEPT + 50)]
    weekly = [f"20190101T{number:06}Z-weekly-000000" for number in range(KEPT_OF_A_FLOW + 1)]
    for name in (*hourly, *weekly):
        (workspace.root / "runs" / name).mkdir(parents=True)
    with recorded(workspace, "crawl"):
        left = {path.name for path in (workspace.root / "runs").iterdir()}
    assert set(weekly) & left == set(weekly[1:]) and set(hourly) & left == set(hourly[-(KEPT - 1) :])


def test_a_run_whose_time_is_up_has_failed(workspace: Workspace) -> None:
    with pytest.raises(asyncio.CancelledError), recorded(workspace, "weekly"):
        raise asyncio.CancelledError
    (row,) = runs_of(workspace)
    assert (row["state"], row["why"]["message"]) == ("failed", "its time limit ended it")


def test_a_cancelled_run_is_neither_failed_nor_killed(workspace: Workspace) -> None:
    with pytest.raises(KeyboardInterrupt), recorded(workspace, "sweep"):
        raise KeyboardInterrupt
    assert [row["state"] for row in runs_of(workspace)] == ["cancelled"]


def test_another_run_waits_says_for_whom_and_a_kill_shows(workspace: Workspace, repository: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(workspace.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=repository,
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        (row,) = runs_of(workspace)
        assert row["state"] == "running" and row["process"] == other.pid
        with (
            pytest.raises(WorkspaceError, match=f"extract, run {row['id']}"),
            patient(0.3),
            write_session(workspace.root, flow="ground"),
        ):
            raise AssertionError("two hold it")
        waited = runs_of(workspace)[-1]
        assert waited["state"] == "failed" and "0.3 s were waited" in waited["why"]["message"]
        assert "waiting" in [line["event"] for line in log_of(waited)]
        states: list[str] = []

        def wait_for_it() -> None:
            with patient(60), write_session(workspace.root, flow="ground"):
                states.append("begun")

        thread = threading.Thread(target=wait_for_it)
        thread.start()
        while not any(item["state"] == "waiting" and item["waits_for"] for item in runs_of(workspace)):
            time.sleep(0.02)
        other.kill()
        thread.join(60)
    assert states == ["begun"]
    assert sorted(item["state"] for item in runs_of(workspace)) == ["completed", "failed", "killed"]


def test_old_runs_go_and_damaged_records_end_nothing(workspace: Workspace) -> None:
    for number in range(KEPT + 5):
        folder = workspace.root / "runs" / f"20200101T{number:06}Z-crawl-000000"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text("{", "utf-8")
    half = [
        workspace.root / f"runs/20200101T{KEPT + number:06}Z-crawl-000000/.run.json.tmp" for number in (0, 1)
    ]
    for path in half:
        path.write_text("{", "utf-8")
    with FileLock(half[1].with_name(".lock")), recorded(workspace, "crawl"):  # that one is being written
        assert [path.exists() for path in half] == [False, True]
    assert len(list((workspace.root / "runs").iterdir())) == KEPT
    assert [row["flow"] for row in runs_of(workspace)] == ["crawl"]


def test_a_run_that_ends_while_it_is_looked_at_was_not_killed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = contextlib.ExitStack()
    goes_on.enter_context(recorded(workspace, "nightly"))
    looked_for = runs._is_held

    def ended_meanwhile(folder: Path) -> bool:
        goes_on.close()
        return looked_for(folder)

    monkeypatch.setattr(runs, "_is_held", ended_meanwhile)
    (row,) = runs_of(workspace)
    assert (row["state"], row["why"]) == ("completed", {})
