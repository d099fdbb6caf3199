"""What the crawl command makes of a source that does not answer, from the command line down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.cli.app import run_cli
from flows.crawl import flow
from sources.sample.server import BucketServer, Fault
from tests.sources.conftest import Bucket


def test_what_nobody_answered_for_shows_in_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """None of the articles is a failure, some are a finding, all of them again is nothing found."""
    bucket = Bucket(tmp_path / "bucket")
    for number in (1, 2):
        bucket.add(f"PMC{number}")
    (ids := tmp_path / "ids.txt").write_text("PMC1\nPMC2\n", "utf-8")
    monkeypatch.setenv("MEDQRELS_HTTP__ATTEMPTS", "1")
    command = ["crawl", "pmc", "--ids", str(ids), "--workspace", str(tmp_path / "ws"), "--json"]
    silent = ["PMC"]
    monkeypatch.setattr(flow, "task", lambda **_: lambda function: function)  # without Prefect: seconds
    monkeypatch.setattr(flow, "crawl", flow.crawl.fn)

    def faults(method: str, key: str, count: int) -> Fault | None:
        return Fault("status", 500) if any(name in key for name in silent) else None

    with BucketServer([bucket.root], faults=faults) as server:
        monkeypatch.setenv("MEDQRELS_PMC__ENDPOINT", server.endpoint)
        assert run_cli(command) == 3
        said = capsys.readouterr()
        assert "pmc answered for none of 2 articles" in said.err and "doctor --servers" in said.err
        silent[:] = ["PMC2"]
        assert run_cli(command) == 1
        [done] = json.loads(capsys.readouterr().out)
        assert (done["asked"], done["unanswered"], done["dropped"]) == (2, 1, {"fetch_failed": 1})
        silent.clear()
        assert run_cli(command) == 0
        assert run_cli(command) == 0
        silent[:] = ["PMC3"]
        ids.write_text("PMC1\nPMC2\nPMC3\n", "utf-8")
        assert run_cli(command) == 1, "those fetched before are there to work with"
