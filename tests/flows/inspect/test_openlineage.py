"""Runs as OpenLineage events: each run and stage begins once and ends once, with what it read and wrote."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from flows.cli.app import run_cli
from flows.engine.runs import LOG, recorded, runs_of
from flows.engine.workspace import Workspace
from flows.inspect.openlineage import events
from schemas.errors import FetchError
from tests.flows.toy import CUT, articles, run, seed

ENDS = {"COMPLETE", "FAIL", "ABORT"}
Event = dict[str, Any]


@pytest.fixture
def ran(workspace: Workspace) -> Workspace:
    """A run of stages that completed, one that failed, and one that was killed."""
    seed(workspace, articles(4), 4)
    with recorded(workspace, "extract") as whole:
        run(workspace, CUT)
        summary = {"stage": "cut", "shards": {"made": 1, "reused": 0}, "units": {}, "dropped": {}}
        cost = {"seconds": 1.5, "cpu_seconds": 1.0, "peak_mib": 300, "bytes": 10}
        whole.stage({**summary, "rows": {"words": 12}}, cost)
    with pytest.raises(FetchError), recorded(workspace, "crawl"):
        raise FetchError("the server answered 503", hint="try again")
    [folder] = [Path(row["folder"]) for row in runs_of(workspace) if row["flow"] == "crawl"]
    killed = folder.with_name(folder.name.replace("-crawl-", "-sweep-"))
    killed.mkdir()
    record = json.loads((folder / "run.json").read_text("utf-8"))
    changes = {"id": killed.name, "flow": "sweep", "state": "running", "finished": ""}
    (killed / "run.json").write_text(json.dumps(record | changes), "utf-8")
    line = json.dumps({"time": record["finished"], "event": "run_started"})
    (killed / LOG).write_text(f'{line}\n{{"cut', "utf-8")
    return workspace


def test_every_run_and_stage_begins_and_ends_once(ran: Workspace) -> None:
    found = list(events(ran))
    by_run: dict[str, list[Event]] = defaultdict(list)
    for event in found:
        assert event["schemaURL"].endswith("/2-0-2/OpenLineage.json#/$defs/RunEvent")
        assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
        by_run[str(uuid.UUID(event["run"]["runId"]))].append(event)
    for mine in by_run.values():
        begun, ended = mine
        assert begun["eventType"] == "START" and ended["eventType"] in ENDS
        assert begun["job"] == ended["job"] and begun["eventTime"] <= ended["eventTime"]
    said = {mine[1]["job"]["name"]: mine[1] for mine in by_run.values()}
    assert said["medqrels.flow.crawl"]["eventType"] == "FAIL"
    told = said["medqrels.flow.crawl"]["run"]["facets"]["errorMessage"]
    assert "the server answered 503" in told["message"] and told["programmingLanguage"] == "PYTHON"
    assert said["medqrels.flow.sweep"]["eventType"] == "ABORT"
    whole = said["medqrels.flow.extract"]
    assert whole["eventType"] == "COMPLETE"
    stages = [event for name, event in said.items() if ".stage." in name]
    assert stages
    for event in stages:
        assert event["run"]["facets"]["parent"]["run"]["runId"] == whole["run"]["runId"]
        assert event["inputs"] and event["outputs"]
        places = [item["name"] for item in (*event["inputs"], *event["outputs"])]
        assert [item["outputFacets"]["outputStatistics"]["rowCount"] for item in event["outputs"]] == [12]
        told = [ran.stage("seed") / "articles", ran.stage("cut") / "words"]
        assert places == [path.as_posix() for path in told]
    assert list(events(ran)) == found, "the ids of a run are its own"


def test_the_command_writes_one_event_a_line(ran: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "events.jsonl"
    assert run_cli(["status", "--openlineage", str(target), "--workspace", str(ran.root)]) == 0
    assert [json.loads(line) for line in target.read_text("utf-8").splitlines()] == list(events(ran))
    task = ran.releases / "set" / "1.0.0" / "summary"
    task.mkdir(parents=True)
    (task / "release.json").write_text("{}", "utf-8")
    inside = task / "events.jsonl"
    assert run_cli(["status", "--openlineage", str(inside), "--workspace", str(ran.root)]) == 2
    assert not inside.exists()
