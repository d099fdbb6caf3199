"""The verbs `review push|pull|status` on a team's server, by the variables of the environment."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from annotation.client import Client, Patience
from flows.cli.app import run_cli
from flows.engine.workspace import Workspace
from flows.review.label_studio import Server
from flows.review.server import KEY_VARIABLE, URL_VARIABLE
from flows.review.store import review_folder
from tests.flows.review.lossy_proxy import proxy
from tests.flows.review.small_release import TASK, small_release
from tests.flows.review.small_review import Api, form, person

"""One worker has the team's server."""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def medqrels(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Run one command on the workspace; its exit code, stdout and stderr."""
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)

    def run(*words: str) -> tuple[int, str, str]:
        code = run_cli(["review", *words, "--workspace", str(workspace.root)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def told(answer: tuple[int, str, str], code: int = 0) -> Any:
    """What a command with --json printed."""
    assert answer[0] == code, answer
    return json.loads(answer[1])


def personal_token(server: Server) -> str:
    """A personal access token of the server's first account, which may have one at a time."""
    headers = {"Authorization": f"Token {server.token}"}
    before = requests.get(f"{server.url}/api/token/", headers=headers, timeout=30).json()
    for item in before:
        body = {"refresh": item["token"]}
        requests.post(f"{server.url}/api/token/blacklist/", json=body, headers=headers, timeout=30)
    made = requests.post(f"{server.url}/api/token/", headers=headers, timeout=30)
    return str(made.json()["token"])


def people(path: Path) -> Path:
    path.write_text(
        '[[annotator]]\npseudonym = "R1"\naccount = "R1@example.org"\n'
        '[[annotator]]\npseudonym = "R2"\naccount = "r2@example.org"\n'
    )
    return path


def test_a_review_on_a_teams_server_by_command_line(
    server: Server, workspace: Workspace, medqrels: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Pushed with a legacy token, pulled with a personal access token."""
    small_release(workspace, "team")
    client = Client(server.url, server.token)
    readers = {name: person(server, client, f"{name.lower()}@example.org") for name in ("R1", "R2")}
    named = ("--annotators", str(people(tmp_path / "people.toml")))

    planned = told(medqrels("push", f"team/{TASK}", *named, "--dry-run", "--json"))  # no server is named yet
    assert planned[0]["allotted"] == {"R1": 30, "R2": 30} and planned[0]["queues"] == []
    assert not (workspace.root / "review").exists()

    monkeypatch.setenv(URL_VARIABLE, server.url)
    monkeypatch.setenv(KEY_VARIABLE, server.token)
    sent = told(medqrels("push", f"team/{TASK}", *named, "--json"))[0]["queues"]
    assert [(item["annotator"], item["create"]) for item in sent] == [("R1", 30), ("R2", 30)]
    for again in (("team@1.0.0",), (f"team/{TASK}", "--dry-run")):
        code, text, _ = medqrels("push", *again, *named)
        assert code == 0 and text.count("30 there already") == 2 and f"{server.url}/projects/" in text

    token = personal_token(server)
    monkeypatch.setenv(KEY_VARIABLE, token)
    answered_and_pulled(medqrels, readers, sent[0]["project"])
    standing = told(medqrels("status", "--json"))
    assert standing["server"] == server.url
    assert [item["done"] for item in standing["reviews"][0]["people"]] == [4, 0]
    code, text, _ = medqrels("status", f"team/{TASK}")
    assert code == 0 and server.url in text and "R1" in text

    small_release(workspace, "team", "1.0.1", queries=8)
    for more, count, undrawn in (((), 0, 8), (("--sample", "35"), 5, 4)):
        push = ("push", f"team/{TASK}", *named, *more, "--json")
        planned, sent = told(medqrels(*push, "--dry-run")), told(medqrels(*push))
        assert planned == sent, "a dry run says what the push then does"
        assert [item["create"] for item in sent[0]["queues"]] == [count, count]
        assert sent[0]["undrawn"] == undrawn

    accounts = workspace.root / "review" / "people.json"
    for path in (item for item in workspace.root.rglob("*") if item.is_file() and item != accounts):
        held = path.read_bytes()
        assert not any(word.encode() in held for word in (server.token, token, "@example.org")), path


def answered_and_pulled(medqrels: Run, readers: dict[str, Api], project: int) -> None:
    """R1 answers four items of R1's project, R2 one; then R1 thinks again."""
    tasks = list(readers["R1"].tasks(project).values())
    images = [task["data"]["left_image"].startswith("data:image/png;base64,") for task in tasks]
    assert sum(images) == 5, "those of the query with an image, which is inside the tasks"
    answers = [readers["R1"].grade(task["id"], "2") for task in tasks[:4]]
    readers["R2"].grade(tasks[5]["id"], "0")
    found = told(medqrels("pull", "--json"))[0]["people"]
    assert [(item["answers"], item["new"]) for item in found] == [(4, 4), (0, 0)]
    assert found[0]["set_aside"] == {"foreign_annotator": 1}
    readers["R1"]("PATCH", f"/api/annotations/{answers[0]}/", {"result": form("0")})
    code, text, _ = medqrels("pull", f"team/{TASK}")
    assert code == 1 and "1 conflicts" in text and "pull --accept" in text
    assert medqrels("pull", "team", "--accept")[0] == 0


def test_readers_per_item_hold_for_the_whole_review(workspace: Workspace, medqrels: Run) -> None:
    small_release(workspace, "readers")
    push = ("push", f"readers/{TASK}", "--draw-only", "--sample")
    assert told(medqrels(*push, "5", "--per-item", "3", "--json"))[0]["allotted"] == {
        "A1": 5,
        "A2": 5,
        "A3": 5,
    }
    folder = review_folder(workspace, "readers", TASK)
    before = folder.path.joinpath("allotments.parquet").read_bytes()
    for other in ("2", "4"):
        code, _, error = medqrels(*push, "10", "--per-item", other)
        assert code == 2 and f"has 3 annotators, not {other}" in error and "leave out --per-item" in error
    assert folder.path.joinpath("allotments.parquet").read_bytes() == before
    code, text, _ = medqrels(*push, "10")
    assert code == 0 and "A3: 10 to send" in text and folder.json("frame.json")["per_item"] == 3
    before = folder.path.joinpath("allotments.parquet").read_bytes()
    frame = folder.json("frame.json")
    assert medqrels("push", f"readers/{TASK}", "--draw-only")[0] == 0  # as the last time: no larger
    assert folder.path.joinpath("allotments.parquet").read_bytes() == before
    assert folder.json("frame.json") == frame and frame["sample"] == 10


def test_what_is_wrong_is_said_without_the_token(
    server: Server, workspace: Workspace, medqrels: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_release(workspace, "wrong")
    small_release(workspace, "empty", queries=0)
    push = ("push", f"wrong/{TASK}", "--sample", "3")

    def refused(*words: str) -> str:
        code, _, error = medqrels(*words)
        assert code == 2, error
        assert not (workspace.root / "review" / "wrong").exists()
        return error

    error = refused(*push)
    assert "no review server is running" in error and URL_VARIABLE in error and KEY_VARIABLE in error
    assert "no review of 'wrong'" in refused("pull", "wrong")
    monkeypatch.setenv(URL_VARIABLE, server.url)
    assert KEY_VARIABLE in refused(*push)
    token = "f" * 40
    monkeypatch.setenv(KEY_VARIABLE, token)
    error = refused(*push, "--log-level", "DEBUG") + refused(*push, "--json")
    assert "refuses the token" in error and KEY_VARIABLE in error and token not in error
    monkeypatch.setenv(URL_VARIABLE, server.url.replace("http://", f"http://admin:{token}@"))
    error = refused(*push) + refused("status")
    assert "holds more than an address" in error and token not in error
    monkeypatch.setenv(URL_VARIABLE, server.url)
    monkeypatch.setenv(KEY_VARIABLE, server.token)
    assert "no release of 'nothing'" in refused("push", f"nothing/{TASK}")
    assert "no task 'summary'" in refused("push", "wrong/summary")
    assert "nothing to review" in refused("push", f"empty/{TASK}")


def test_a_server_that_stops_answering_mid_way(
    server: Server, workspace: Workspace, medqrels: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Patience, "wait", lambda self, attempt, asked="": 0.01)
    monkeypatch.setattr("flows.review.sync.BATCH_TASKS", 10)
    small_release(workspace, "stops")
    monkeypatch.setenv(KEY_VARIABLE, server.token)
    push = ("push", f"stops/{TASK}", "--per-item", "1")
    with proxy(server) as (state, url):
        monkeypatch.setenv(URL_VARIABLE, url)
        state.lose = lambda method, path: sum("/import" in path for path in state.paths) > 1
        code, _, error = medqrels(*push)
    assert code == 3 and "cannot be reached" in error and "the same command continues from here" in error
    assert server.token not in error and state.lost > 1
    monkeypatch.setenv(URL_VARIABLE, server.url)
    made = told(medqrels(*push, "--json"))[0]["queues"][0]
    assert 10 <= made["skip"] < 30 and made["create"] == 30 - made["skip"] and made["duplicates"] == 0
    assert len(Api(server).tasks(made["project"])) == 30
    with proxy(server) as (state, url):
        monkeypatch.setenv(URL_VARIABLE, url)
        state.lose = lambda method, path: "annotations" in path
        code, _, error = medqrels("pull", "stops")
    assert code == 3 and server.token not in error
    monkeypatch.setenv(URL_VARIABLE, url)  # nobody listens there any more
    code, _, error = medqrels("pull", "stops", "--json")
    assert code == 3 and "cannot be reached" in json.loads(error)["message"]
