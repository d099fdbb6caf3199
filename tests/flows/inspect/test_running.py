"""What runs, what is due and what a run's page says, from records alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flows.engine.runs import Run, recorded, runs_of
from flows.engine.workspace import Workspace
from flows.inspect import run_page
from flows.inspect.running import datasets_of, due
from flows.inspect.status import describe, status
from flows.schedules import SCHEDULED, Planned, planned
from flows.specs import read_dataset
from schemas.errors import FetchError, UsageError
from schemas.spec import Schedules, load_spec
from tests.flows.toy import CUT, articles, run, seed

SPEC = """
name = "set"
title = "A set"
[schedules]
timezone = "Europe/Paris"
nightly = "30 2 * * *"
review_pull = ""
[tasks.visual_context]
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.toml"
    path.write_text(SPEC, "utf-8")
    return path


def stage(name: str, rows: int, made: int = 1) -> dict[str, object]:
    return {
        "stage": name,
        "shards": {"made": made, "reused": 1},
        "units": {"article": {"in": rows + 1, "kept": rows, "dropped": 1}},
        "dropped": {"retracted": 1},
        "rows": {"raw": rows},
    }


def cost(seconds: float) -> dict[str, float]:
    return {"seconds": seconds, "cpu_seconds": seconds / 2, "peak_mib": 300, "bytes": 2**20}


def test_schedules_are_the_spec_s(spec: Path) -> None:
    items = list(planned(read_dataset(spec)))
    assert [item.name for item in items] == ["sweep/set", "nightly/set", "weekly/set"]
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert items[1].next_run(now) == datetime(2026, 3, 2, 1, 30, tzinfo=UTC), "half past two in Paris"
    assert items[2].next_run(now) == datetime(2026, 3, 8, 4, 0, tzinfo=UTC), "Sunday at five in Paris"
    assert {one.name for one in SCHEDULED} <= set(Schedules.model_fields)
    assert not list(planned(read_dataset(spec, {"schedules.is_active": "false"})))
    for key, value in (
        ("nightly", "30 25 * * *"),
        ("weekly", "daily"),
        ("timezone", "Mars/Base"),
        ("sweep", "0 0 31 2 *"),
    ):
        with pytest.raises(UsageError, match=f"schedules.{key}"):
            load_spec(spec, {f"schedules.{key}": f'"{value}"'})


def test_status_tells_what_runs_failed_and_is_due(workspace: Workspace, spec: Path) -> None:
    seed(workspace, articles(4), 4)
    run(workspace, CUT)
    items = list(planned(read_dataset(spec)))
    with recorded(workspace, "sweep", dataset="set"):
        pass
    with (
        pytest.raises(FetchError),
        recorded(workspace, "nightly", dataset="set", parameters={"as_of": "2026-03-02"}),
    ):
        raise FetchError("the bucket does not answer", record="PMC1", hint="run it again")
    with recorded(workspace, "weekly", dataset="set") as going:
        going.begins()
        found = status(workspace, items)
        text = describe(found)
    assert "running: weekly of set since" in text and "completed: sweep of set" in text
    assert "failed: nightly of set as of 2026-03-02" in text
    assert "record: PMC1" in text and "next: run it again" in text
    due = {row["flow"]: row for row in found["scheduled"]}
    assert list(due) and due["nightly"]["last_completed"] == "" and due["sweep"]["last_completed"]
    assert not any(row["is_late"] for row in due.values())
    assert found["disk"]["work"] == sum(
        path.stat().st_size for path in workspace.work.rglob("*") if path.is_file()
    )
    assert found["disk"]["free"] > 0 and "disk: " in text and "scheduled next" in text
    json.dumps(found)


def test_datasets_of_a_workspace_are_those_it_has_runs_or_releases_of(workspace: Workspace) -> None:
    assert datasets_of(workspace) == set()
    with recorded(workspace, "crawl"):
        pass
    with recorded(workspace, "nightly", dataset="set"):
        pass
    release = workspace.releases / "other" / "1.0.0" / "qa"
    release.mkdir(parents=True)
    (release / "release.json").write_text("{}", "utf-8")
    assert datasets_of(workspace) == {"set", "other"}


def test_a_flow_that_nobody_serves_is_late(workspace: Workspace, spec: Path) -> None:
    with recorded(workspace, "nightly", dataset="set"):
        pass
    path = Path(runs_of(workspace)[0]["folder"]) / "run.json"
    record = json.loads(path.read_text("utf-8")) | {"finished": "2020-01-01T03:00:00.000+00:00"}
    path.write_text(json.dumps(record), "utf-8")
    text = describe(status(workspace, list(planned(read_dataset(spec)))))
    assert "nightly of set (last completed 2020-01-01 03:00 UTC; late" in text


@pytest.mark.parametrize(
    ("finished", "now", "late"),
    [
        ("2026-11-20T03:05+00:00", "2026-11-23T02:00+00:00", False),  # Friday, and Monday before its time
        ("2026-11-20T03:05+00:00", "2026-11-23T04:00+00:00", False),
        ("2026-11-20T03:05+00:00", "2026-11-24T04:00+00:00", True),
        ("", "2026-11-23T04:00+00:00", False),  # begun on Friday as well, and killed
        ("", "2026-11-24T04:00+00:00", True),
    ],
)
def test_late_is_what_missed_two_of_its_dates(
    workspace: Workspace, finished: str, now: str, late: bool
) -> None:
    with recorded(workspace, "nightly", dataset="set"):
        pass
    path = Path(runs_of(workspace)[0]["folder"]) / "run.json"
    record = json.loads(path.read_text("utf-8")) | {"started": "2026-11-20T03:00+00:00", "finished": finished}
    path.write_text(json.dumps(record | ({} if finished else {"state": "failed"})), "utf-8")
    nightly = next(one for one in SCHEDULED if one.name == "nightly")
    (row,) = due(
        workspace,
        [Planned(nightly, "set", Path("spec.toml"), "0 3 * * 1-5", "UTC")],
        datetime.fromisoformat(now),
    )
    assert row["is_late"] is late


def test_the_page_of_a_run_tells_changes_cost_and_failure(workspace: Workspace) -> None:
    with recorded(workspace, "nightly", dataset="set") as first:
        first.stage(stage("crawl", 10), cost(4.0))
    with recorded(workspace, "nightly", dataset="set") as second:
        second.stage(stage("crawl", 12), cost(2.0))
        second.stage(stage("parse", 12, made=0), cost(0.0))
    before, now = runs_of(workspace)
    changed = run_page.changes(now, before)
    assert changed[0] == {"table": "crawl.raw", "before": 10, "now": 12, "difference": 2}
    assert run_page.changes(now, now)[0]["now"] == "shards made anew"
    assert [row["stage"] for row in run_page.costs(now["stages"])] == ["crawl"]
    assert run_page.retention(now["stages"])[0]["reasons"] == "retracted 1"
    failed = {"message": "<b>lost</b>", "record": "pmc:PMC1.1", "file": "", "hint": "medqrels extract"}
    page = run_page.page(now | {"why": failed, "changes": changed, "notes": ["a note"]})
    assert "&lt;b&gt;lost" in page and "<b>lost" not in page and "pmc:PMC1.1" in page
    assert "<svg" in page and "crawl.raw" in page and "2.00 s, CPU 1.00 s, 300 MiB" in page
    assert Run(None).who.startswith("process ")
