"""The command `review judge`, and servers it refuses to send a key to."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from flows.adapters.llm import server_from
from flows.cli.review_judge import judge_app
from flows.engine.workspace import Workspace
from schemas.errors import UsageError
from tests.flows.review.openai_server import KEY, OpenAIServer
from tests.flows.review.test_judge import MODEL, ledger, review


def cli(workspace: Workspace, directory: Path | str, *words: str) -> int:
    given = [str(directory), "--model", MODEL, "--workspace", str(workspace.root), *words]
    result: int = judge_app(given, result_action="return_value")
    return result


def test_command_line(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = review(workspace, 9)
    monkeypatch.setattr("flows.cli.review_judge.with_progress", lambda common, work: work())
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert cli(workspace, directory, "--dry-run", "--json", "--price-in", "1", "--price-out", "1") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["calls"] == 9 and 0 < Decimal(told["costs_at_most"]) < 1 and told["spent_before"] == "0"
    assert not ledger(workspace).exists() and not workspace.answers.exists()
    assert cli(workspace, directory, "--show-prompt") == 0
    shown = capsys.readouterr().out
    assert "Passage" in shown and "case_study, 3 -> 2" in shown
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        cli(workspace, directory, "--price-in", "1", "--price-out", "1")
    with pytest.raises(UsageError, match="belong together"):
        cli(workspace, directory, "--price-in", "1")
    with pytest.raises(UsageError, match="0 or more"):
        cli(workspace, directory, "--budget", "-1")
    with OpenAIServer() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        assert (
            cli(workspace, "small@1.0.0/visual_context", "--sample", "4") == 0
        )  # free: it is on this machine
        text = capsys.readouterr().out
        assert "4 of 9 candidates judged" in text and "not asked 5" in text and "calibration not run" in text
        assert cli(workspace, directory, "--sample", "6", "--json") == 0
        assert json.loads(capsys.readouterr().out)["run"]["calls"] == 2  # a larger sample holds the smaller
        assert cli(workspace, directory, "--sample", "1", "--json") == 0
        assert json.loads(capsys.readouterr().out)["judged"] == 6  # nothing that was judged is lost
        monkeypatch.setitem(sys.modules, "openai", None)
        with pytest.raises(UsageError, match="EXTRAS=llm"):
            cli(workspace, directory)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example.org/v1")
    with pytest.raises(UsageError, match="the budget needs prices"):
        cli(workspace, directory)
    with pytest.raises(UsageError, match="no judge labels visual_context") as raised:
        cli(workspace, directory, "--variant", "support")
    assert "leave --variant out" in raised.value.hint


def test_servers_that_must_not_get_the_key() -> None:
    with pytest.raises(UsageError, match="unencrypted") as raised:
        server_from({"OPENAI_BASE_URL": "http://models.example.org/v1", "OPENAI_API_KEY": KEY})
    assert KEY not in str(raised.value)
    assert server_from({"OPENAI_BASE_URL": "http://models.example.org/v1"}).key == "none"
    for url in ("ftp://x", "models.example.org", "http://"):
        with pytest.raises(UsageError, match="not an http"):
            server_from({"OPENAI_BASE_URL": url})
    assert server_from({"OPENAI_BASE_URL": "https://user:secret@h.example/v1"}).host == "h.example"
