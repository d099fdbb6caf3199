"""The scheduled flows by themselves: what is tried again, what their forms show, how they are deployed."""

from __future__ import annotations

import logging
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prefect.client.schemas.objects import State, StateType
from prefect.utilities.timeout import timeout

from flows.cli.app import run_cli
from flows.crawl.repositories.pmc import PmcRequest
from flows.engine.runs import runs_of
from flows.engine.workspace import Busy, Workspace
from flows.schedule import report as reports
from flows.schedule import scheduled
from flows.schedule.deployments import ENTRYPOINT, all_planned, prefect_yaml, runner_deployments
from flows.schedule.report import PAGE
from flows.schedule.serve import own_server
from flows.schedules import SCHEDULED, TIMEOUT_SECONDS, shipped
from flows.specs import DATA_CARDS
from schemas.errors import ConservationError, FetchError, UsageError, WorkspaceError
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (FetchError("the bucket does not answer"), True),
        (ConservationError("a row was lost"), False),
        (WorkspaceError("another process is writing"), False),
        (ZeroDivisionError("a defect"), False),
    ],
)
def test_only_what_a_server_did_not_answer_is_tried_again(error: Exception, again: bool) -> None:
    state: State[Any] = State(type=StateType.FAILED, data=error)
    assert scheduled._of_a_server(None, None, state) is again


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A readable spec, outside of Prefect."""
    monkeypatch.setattr(scheduled, "get_run_logger", lambda: logging.getLogger("test"))
    path = tmp_path / "night/spec.toml"
    path.parent.mkdir()
    (path.parent / "ids.txt").write_text("PMC1\n", "utf-8")
    text = 'name = "night"\ntitle = "Night"\n[sources]\npmc_ids = "ids.txt"\n[tasks.visual_context]\n'
    path.write_text(text, "utf-8")
    return path


def begun(spec: Path, workspace: Path) -> Any:
    return scheduled._begun("nightly", str(spec), None, str(workspace), 1, None)


def test_a_run_whose_time_is_up_says_so_on_its_page(spec: Path, tmp_path: Path) -> None:
    with pytest.raises(TimeoutError), timeout(0.2), begun(spec, tmp_path / "ws"):
        while True:
            time.sleep(0.05)
    (row,) = runs_of(Workspace(tmp_path / "ws"))
    assert (row["state"], row["dataset"]) == ("failed", "night")
    assert "its time limit ended it" in (Path(row["folder"]) / PAGE).read_text("utf-8")


def test_a_spec_that_cannot_be_read_leaves_a_failed_run(spec: Path, tmp_path: Path) -> None:
    spec.write_text("title = 3\n", "utf-8")
    with pytest.raises(UsageError), begun(spec, tmp_path / "ws"):
        raise AssertionError("it is not begun")
    (row,) = runs_of(Workspace(tmp_path / "ws"))
    assert (row["state"], row["dataset"], row["why"]["file"]) == ("failed", "night", str(spec))
    assert (Path(row["folder"]) / PAGE).is_file()


def test_what_was_done_counts_where_prefect_takes_no_artifacts(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise ConnectionError("All connection attempts failed")

    monkeypatch.setattr(reports, "_artifacts", refused)
    monkeypatch.setattr(reports, "FlowRunContext", SimpleNamespace(get=object))
    with begun(spec, tmp_path / "ws") as (run, _):
        reports.report(run)
    (row,) = runs_of(Workspace(tmp_path / "ws"))
    assert row["state"] == "completed"
    assert "artifacts_not_written" in (Path(row["folder"]) / "log.jsonl").read_text("utf-8")


def test_each_flow_has_a_form_with_types_descriptions_and_a_time_limit() -> None:
    for one in SCHEDULED:
        flow = getattr(scheduled, one.name)
        assert flow.name == one.name and flow.timeout_seconds == TIMEOUT_SECONDS[one.name]
        assert flow.should_validate_parameters and flow.retries == 0
        form = flow.parameters.model_dump()
        assert form["required"] == ["spec"]
        told = form["properties"]
        assert {"spec", "as_of", "workspace", "wait_minutes", "overrides"} <= set(told)
        assert all(len(field["description"]) > 10 for field in told.values()), one.name
        assert {"type": "string", "format": "date"} in told["as_of"]["anyOf"]
        assert told["wait_minutes"]["type"] == "number" and told["wait_minutes"]["minimum"] == 0
    assert scheduled.nightly.parameters.properties["changes"]["enum"] == ["inventory", "poll", "none"]


def test_served_and_written_deployments_are_the_same(tmp_path: Path) -> None:
    items = all_planned(shipped())
    assert {item.dataset for item in items} == {"medqrels-open"}, "the sample is in no repository"
    text = prefect_yaml(items)
    served = runner_deployments(items, str(tmp_path))
    for item, deployment in zip(items, served, strict=True):
        assert (deployment.flow_name, deployment.name) == (item.scheduled.name, item.dataset)
        (schedule,) = deployment.schedules
        assert (schedule.schedule.cron, schedule.schedule.timezone) == (item.cron, item.timezone)
        assert deployment.concurrency_limit == 1 and deployment.tags == item.tags
        assert deployment.parameters == {"spec": str(item.spec), "workspace": str(tmp_path)}
        assert f"cron: {item.cron}" in text and f"scheduled.py:{item.scheduled.name}" in text
        assert deployment.description == item_description(text, item.scheduled.name)


def item_description(text: str, flow: str) -> str:
    import yaml

    rows = yaml.safe_load(text)["deployments"]
    (row,) = (row for row in rows if row["entrypoint"].endswith(f":{flow}"))
    return str(row["description"])


def test_a_day_bounds_the_query_and_the_inventory() -> None:
    asked = PmcRequest(query="case", until="2026-03-05")
    night = asked.brought_up_to_date("inventory", "2026-03-02")
    assert (night.sync, night.poll, night.as_of) == (True, False, "2026-03-02")
    assert [request.brought_up_to_date("none", day)._query() for request, day in ((asked, ""), (asked, ""))]
    bounds = [asked.brought_up_to_date("poll", day)._query() for day in ("2026-03-02", "2026-03-09", "")]
    assert [query.until for query in bounds if query] == ["2026-03-02", "2026-03-05", "2026-03-05"]


def test_serve_says_what_it_would_run_and_what_is_in_the_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_cli(["serve", "--dry-run"]) == 0
    assert "nightly/medqrels-open  (0 3 * * * UTC)" in capsys.readouterr().out
    sample = str(DATA_CARDS / "medqrels-sample" / "spec.toml")
    assert run_cli(["serve", "--spec", sample]) == 2
    assert "is_active = true" in capsys.readouterr().err
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} is taken") as caught, own_server(port):
            raise AssertionError("two servers on one port")
    assert "PREFECT_API_URL" in caught.value.hint


def test_no_module_beside_the_flows_bears_a_package_s_name() -> None:
    """A worker loads the flows from their file, whose folder then goes first on the path."""
    beside = {path.stem for path in (ROOT / ENTRYPOINT).parent.glob("*.py")}
    packages = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert {"flows", "schemas"} <= packages and "scheduled" in beside
    assert not beside & (packages | set(sys.stdlib_module_names))


def test_a_review_pull_that_waited_long_enough_fetches_nothing_and_is_no_failure(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(*_: Any) -> None:
        raise Busy("another medqrels process is writing to this workspace: nightly of night")

    monkeypatch.setattr(scheduled, "has_review", lambda workspace, name: True)
    monkeypatch.setattr(scheduled, "pull_reviews", held)
    monkeypatch.setattr(scheduled, "_of_the_network", lambda name, work: work())
    scheduled.review_pull.fn(str(spec), workspace=str(tmp_path / "ws"))
    (row,) = runs_of(Workspace(tmp_path / "ws"))
    assert row["state"] == "completed" and "nothing fetched this time" in row["notes"][0]
    assert "nightly of night" in row["notes"][0]
