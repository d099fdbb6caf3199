"""Push and pull through lost replies, killed commands and a killed server: no task twice, no answer lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from benchmarks.reliability.fault_proxy import KINDS, FaultProxy
from flows.engine.workspace import Workspace
from flows.review import sync as review_sync
from flows.review.label_studio import Server
from flows.review.store import ReviewFolder
from flows.review.sync import pull, push, status
from schemas.errors import FetchError
from tests.conftest import ROOT
from tests.flows.review.lossy_proxy import Proxy, proxy
from tests.flows.review.postgres_server import TeamServer
from tests.flows.review.small_review import Api, review, target

"""One worker has the team's server."""


def test_lost_replies_make_no_duplicates(
    server: Server, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_sync, "BATCH_TASKS", 10)
    folder = review(workspace, "lost", 45)
    with proxy(server) as (state, url):
        turn = iter([True, True, False, True, False, False, True] + [False] * 99)
        state.lose = lambda method, path: method == "POST" and next(turn)
        made = push(folder, target(server, url))[0]
        assert state.lost == 4 and state.paths[0].startswith("GET")
    assert made["create"] == 45
    assert len(Api(server).tasks(made["project"])) == 45
    assert push(folder, target(server))[0]["skip"] == 45
    assert status(folder)[0]["pushed"] == 45


def test_a_page_in_the_place_of_a_reply_makes_no_duplicate(
    server: Server, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At some requests of a push, done again if it says so; benchmarks.reliability has the whole campaign."""
    html = next(kind for kind in KINDS if kind.name == "html")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(review_sync, "BATCH_TASKS", 2)
    for first in (2, 6, 8):
        folder = review(workspace, f"html-{first}", 4)
        with FaultProxy(server.url) as fault:
            fault.storm(html, first, 1)
            try:
                made = push(folder, target(server, fault.root))[0]
            except FetchError as error:
                assert "same command" in error.hint
                made = push(folder, target(server))[0]
            assert fault.struck == 1
        assert len(Api(server).tasks(made["project"])) == 4


_PUSHER = """
import sys
from pathlib import Path
from annotation.client import Client, Patience
from flows.review import sync as review_sync
from flows.review.delivery import MediaFolder
from flows.review.store import ReviewFolder
review_sync.BATCH_TASKS = 8
client = Client(sys.argv[2], sys.stdin.readline().strip(), patience=Patience(9, .25, 5.0))
target = review_sync.Target(client, MediaFolder(Path(sys.argv[3])), is_local=True)
folder = ReviewFolder(Path(sys.argv[1]))
print(review_sync.push(folder, target) if sys.argv[4] == "push" else review_sync.pull(folder, client, {}))
"""


def work(folder: ReviewFolder, url: str, server: Server, verb: str) -> subprocess.Popen[str]:
    """A push or pull in a process of its own, which may be killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PUSHER, str(folder.path), url, str(server.media), verb],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdin is not None
    process.stdin.write(server.token + "\n")
    process.stdin.close()
    process.stdin = None
    return process


SIZES = pytest.mark.parametrize("count", [80, pytest.param(300, marks=pytest.mark.campaign)])


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def imports(state: Proxy) -> int:
    return sum(path.startswith("POST") and "/import" in path for path in state.paths)


@SIZES
def test_killed_pushes_and_pulls_go_on_where_they_were(
    server: Server, workspace: Workspace, count: int
) -> None:
    """Of all moments some: benchmarks.reliability has the whole campaign."""
    folder = review(workspace, f"killed-{count}", count)
    with proxy(server) as (state, url):
        for batches in (2, 6):  # each time killed when some more batches are in
            process = work(folder, url, server, "push")
            until(lambda: imports(state) >= batches or process.poll() is not None)  # noqa: B023
            process.kill()
            process.communicate()
        made = push(folder, target(server))[0]
        api = Api(server)
        sent = api.tasks(made["project"])
        assert len(sent) == count and 0 < made["skip"] < count
        given = {}
        for number, task in enumerate(sent.values()):
            if number % (count // 20) == 0:
                api.grade(task["id"], str(number % 3))
                given[task["data"]["candidate_id"]] = number % 3
        state.paths.clear()
        process = work(folder, url, server, "pull")
        until(lambda: any("annotations" in path for path in state.paths) or process.poll() is not None)
        process.kill()
        process.communicate()
    pull(folder, client := target(server).client, {})
    assert {row.candidate_id: row.grade for row in folder.annotations()} == given
    before = (folder.path / "annotations.parquet").read_bytes()
    pull(folder, client, {})
    assert (folder.path / "annotations.parquet").read_bytes() == before


@SIZES
def test_server_killed_mid_push_and_mid_pull(
    team: TeamServer, server: Server, workspace: Workspace, count: int
) -> None:
    folder = review(workspace, f"restarted-{count}", count)
    with proxy(server) as (state, url):
        process = work(folder, url, server, "push")
        until(lambda: imports(state) >= 4)
        os.kill(server.pid, signal.SIGKILL)
        os.waitpid(server.pid, 0)
        again = team.start()
        assert again.url == server.url
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
        api = Api(again)
        project = json.loads((folder.path / "sync" / "A1-annotator.json").read_text())["project"]
        sent = api.tasks(project)
        assert len(sent) == count
        for task in list(sent.values())[:12]:
            api.grade(task["id"], "2")
        state.paths.clear()
        process = work(folder, url, again, "pull")
        until(lambda: bool(state.paths))
        os.kill(again.pid, signal.SIGKILL)
        os.waitpid(again.pid, 0)
        team.start()
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
    assert [row.grade for row in folder.annotations()] == [2] * 12
