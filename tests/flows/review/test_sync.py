"""Push and pull against a real Label Studio that is killed, loses replies, and has people working in it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from annotation.client import Client, Patience
from flows.review import sync as review_sync
from flows.review.delivery import MediaFolder, queues
from flows.review.label_studio import Server
from flows.review.people import local_accounts
from flows.review.store import ReviewFolder, review_folder
from flows.review.sync import Target, pull, push, status
from flows.workspace import Workspace
from schemas.review import Allotment, ReviewCandidate, ShownItem, candidate_id
from tests.conftest import ROOT

QUICK = Patience(attempts=9, first_wait=0.25, longest_wait=5.0, read_timeout=60.0)
HIDDEN = {"rule", "rule_grade", "rank", "systems", "known_grade", "origin", "tier", "specialty", "dataset"}


def candidate(dataset: str, number: int, text: str = "") -> ReviewCandidate:
    shown = (
        ShownItem(name="query_text", value=f"Figure {number}: axial CT of the chest."),
        ShownItem(name="document_text", value=text or f"Passage {number} <script>alert(1)</script>"),
    )
    query, document = f"q{number}", f"d{number}"
    return ReviewCandidate(
        id=candidate_id("relevance_text", "visual_context", query, document, shown),
        dataset=dataset,
        task="visual_context",
        kind="relevance_text",
        query_id=query,
        corpus_id=document,
        shown=shown,
        origin="pool",
        rule="visual_context/cites-xref@1",
        rule_grade=2,
        rank=7,
        systems=("bm25-hidden",),
        known_grade=0,
        specialty="radiology-hidden",
        tier="hard-hidden",
    )


def review(workspace: Workspace, dataset: str, count: int, people: tuple[str, ...] = ("A1",)) -> ReviewFolder:
    folder = review_folder(workspace, dataset, "visual_context")
    rows = [candidate(dataset, number) for number in range(count)]
    folder.write_candidates(rows)
    give(folder, rows, people)
    return folder


def give(folder: ReviewFolder, rows: list[ReviewCandidate], people: tuple[str, ...] = ("A1",)) -> None:
    folder.write_allotments(
        Allotment(candidate_id=row.id, task=row.task, annotator=name, role="annotator", place=place)
        for name in people
        for place, row in enumerate(rows, 1)
    )


def target(server: Server, url: str = "", token: str = "") -> Target:
    client = Client(url or server.url, token or server.token, patience=QUICK)
    return Target(client, MediaFolder(server.media), is_local=True)


class Api:
    """The server as people use it, for one account."""

    def __init__(self, server: Server, token: str = "") -> None:
        self.url = server.url
        self.headers = {"Authorization": f"Token {token or server.token}"}

    def __call__(self, method: str, path: str, body: Any = None, **params: Any) -> Any:
        reply = requests.request(
            method, self.url + path, json=body, params=params, headers=self.headers, timeout=60
        )
        assert reply.ok, reply.text
        return reply.json() if reply.content else None

    def tasks(self, project: int) -> dict[str, dict[str, Any]]:
        listed = self("GET", "/api/tasks", project=project, page_size=10_000, fields="all")["tasks"]
        names = [task["data"]["candidate_id"] for task in listed]
        assert len(names) == len(set(names)), "a candidate stands twice in the project"
        return dict(zip(names, listed, strict=True))

    def grade(self, task: int, grade: str) -> int:
        body = {"result": form(grade), "lead_time": 4.25}
        return int(self("POST", f"/api/tasks/{task}/annotations", body)["id"])


def form(grade: str) -> list[dict[str, Any]]:
    field = {"from_name": "grade", "to_name": "left", "type": "choices"}
    return [{**field, "value": {"choices": [grade]}}]


def grades(folder: ReviewFolder, annotator: str = "A1") -> dict[str, tuple[int | None, str]]:
    rows = [row for row in folder.annotations() if row.annotator == annotator]
    return {
        row.query_id: (found.grade, found.state)
        for row in folder.candidates()
        for found in rows
        if found.candidate_id == row.id
    }


def test_push_twice_sends_once_and_only_what_is_shown(label_studio: Server, workspace: Workspace) -> None:
    folder = review(workspace, "twice", 30, ("A1", "A2"))
    where = target(label_studio)
    planned = push(folder, where, dry_run=True)
    assert [(item["create"], item["project"]) for item in planned] == [(30, None)] * 2
    first, second = push(folder, where), push(folder, where)
    assert [item["create"] for item in first] == [30, 30]
    assert [(item["create"], item["skip"], item["conflicts"]) for item in second] == [(0, 30, [])] * 2
    assert len({item["project"] for item in first}) == 2, "one project per person: blind to each other"
    api = Api(label_studio)
    for item in first:
        project = api("GET", f"/api/projects/{item['project']}/")
        assert project["title"] == f"medqrels twice visual_context {item['annotator']}"
        assert not project["show_annotation_history"] and project["show_instruction"]
        sent = api.tasks(item["project"])
        order = [row.candidate_id for row in folder.allotments() if row.annotator == item["annotator"]]
        assert list(sent) == order
        for task in sent.values():
            assert not set(task["data"]) & HIDDEN and set(task["meta"]) == {"medqrels"}
            text = json.dumps([task["data"], task["meta"], project["description"]])
            assert "hidden" not in text and "cites-xref" not in text and "<script" not in text


def test_images_are_served_to_the_local_server_and_embedded_for_another(
    label_studio: Server, workspace: Workspace
) -> None:
    pixel = bytes.fromhex("89504e470d0a1a0a")
    name = "ab" * 32
    folder = review(workspace, "images", 1)
    row = folder.candidates()[0]
    shown = (*row.shown[:1], ShownItem(name="query_image", value=name), *row.shown[1:])
    row = replace(row, kind="relevance_image", shown=shown)
    folder.write_candidates([row])
    where = target(label_studio)
    where.media.write(name, pixel, "png")
    project = push(folder, where)[0]["project"]
    api = Api(label_studio)
    (task,) = api.tasks(project).values()
    served = requests.get(label_studio.url + task["data"]["left_image"], headers=api.headers, timeout=30)
    assert served.ok and served.content == pixel
    for hidden in ("../secrets.json", "images/../../secrets.json", "/etc/passwd"):
        reply = requests.get(
            f"{label_studio.url}/data/local-files/", params={"d": hidden}, headers=api.headers, timeout=30
        )
        assert not reply.ok and label_studio.password not in reply.text, hidden
    elsewhere = queues(folder, replace(where, is_local=False).image_url)[0].tasks[0]
    assert elsewhere.data["left_image"] == "data:image/png;base64,iVBORw0KGgo="
    assert push(folder, replace(where, is_local=False))[0]["refresh"] == 1


# Lost replies and kills


class Proxy:
    """A proxy on loopback that can lose the reply to a request the server has carried out."""

    def __init__(self, server: Server) -> None:
        self.upstream = server.url.rpartition("/")[2]
        self.lose: Callable[[str, str], bool] = lambda method, path: False
        self.lost = 0
        self.paths: list[str] = []

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        link = http.client.HTTPConnection(self.upstream, timeout=60)
        try:
            link.request(handler.command, handler.path, body, dict(handler.headers))
            answer = link.getresponse()
            data = answer.read()
        except OSError:
            handler.close_connection = True
            return
        finally:
            link.close()
        self.paths.append(f"{handler.command} {handler.path}")
        if self.lose(handler.command, handler.path):
            self.lost += 1
            handler.close_connection = True
            with contextlib.suppress(OSError):
                handler.connection.shutdown(socket.SHUT_RDWR)
            return
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "date", "server"):
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


@contextlib.contextmanager
def proxy(server: Server) -> Iterator[tuple[Proxy, str]]:
    state = Proxy(server)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            state.handle(self)

        do_GET = do_POST = do_PATCH = do_DELETE = forward  # noqa: N815 the library's names

        def log_message(self, *_: Any) -> None:
            return

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield state, f"http://127.0.0.1:{listener.server_port}"
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def test_lost_replies_make_no_duplicates(
    label_studio: Server, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_sync, "BATCH_TASKS", 10)
    folder = review(workspace, "lost", 45)
    with proxy(label_studio) as (state, url):
        turn = iter([True, True, False, True, False, False, True] + [False] * 99)
        state.lose = lambda method, path: method == "POST" and next(turn)
        made = push(folder, target(label_studio, url))[0]
        assert state.lost == 4 and state.paths[0].startswith("GET")
    assert made["create"] == 45
    assert len(Api(label_studio).tasks(made["project"])) == 45
    assert push(folder, target(label_studio))[0]["skip"] == 45
    assert status(folder)[0]["pushed"] == 45


_PUSHER = """
import sys
from pathlib import Path
from annotation.client import Client, Patience
from flows.review import sync as review_sync
from flows.review.delivery import MediaFolder
from flows.review.store import ReviewFolder
review_sync.BATCH_TASKS = 20
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


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def imports(state: Proxy) -> int:
    return sum(path.startswith("POST") and "/import" in path for path in state.paths)


def test_killed_pushes_and_pulls_go_on_where_they_were(label_studio: Server, workspace: Workspace) -> None:
    folder = review(workspace, "killed", 200)
    with proxy(label_studio) as (state, url):
        for batches in (2, 4, 6):  # each time killed when some more batches are in
            process = work(folder, url, label_studio, "push")
            until(lambda: imports(state) >= batches or process.poll() is not None)  # noqa: B023
            process.kill()
            process.communicate()
        made = push(folder, target(label_studio))[0]
        api = Api(label_studio)
        sent = api.tasks(made["project"])
        assert len(sent) == 200 and 0 < made["skip"] < 200
        given = {}
        for number, task in enumerate(sent.values()):
            if number % 10 == 0:
                api.grade(task["id"], str(number % 3))
                given[task["data"]["candidate_id"]] = number % 3
        state.paths.clear()
        process = work(folder, url, label_studio, "pull")
        until(lambda: any("annotations" in path for path in state.paths) or process.poll() is not None)
        process.kill()
        process.communicate()
    pull(folder, label_client := target(label_studio).client, {})
    assert {row.candidate_id: row.grade for row in folder.annotations()} == given
    before = (folder.path / "annotations.parquet").read_bytes()
    pull(folder, label_client, {})
    assert (folder.path / "annotations.parquet").read_bytes() == before


def test_server_killed_mid_push_and_mid_pull(
    own_label_studio: Callable[[], Server], workspace: Workspace
) -> None:
    server = own_label_studio()
    folder = review(workspace, "restarted", 300)
    with proxy(server) as (state, url):
        process = work(folder, url, server, "push")
        until(lambda: imports(state) >= 4)
        os.kill(server.pid, signal.SIGKILL)
        os.waitpid(server.pid, 0)
        again = own_label_studio()
        assert again.url == server.url
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
        api = Api(again)
        project = json.loads((folder.path / "sync" / "A1-annotator.json").read_text())["project"]
        sent = api.tasks(project)
        assert len(sent) == 300
        for task in list(sent.values())[:12]:
            api.grade(task["id"], "2")
        state.paths.clear()
        process = work(folder, url, again, "pull")
        until(lambda: bool(state.paths))
        os.kill(again.pid, signal.SIGKILL)
        os.waitpid(again.pid, 0)
        own_label_studio()
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
    assert [row.grade for row in folder.annotations()] == [2] * 12


# People on the server


def test_what_people_do_on_the_server_is_told_and_not_overwritten(
    label_studio: Server, workspace: Workspace
) -> None:
    folder = review(workspace, "people", 12)
    where = target(label_studio)
    project = push(folder, where)[0]["project"]
    accounts = where.client.accounts()
    mine = {"A1": accounts[label_studio.login]}
    api = Api(label_studio)
    tasks = [sent["id"] for sent in api.tasks(project).values()]
    given = [api.grade(task, "2") for task in tasks[:5]]
    assert pull(folder, where.client, mine)[0]["new"] == 5
    assert {row.seconds for row in folder.annotations()} == {4.2}

    api("PATCH", f"/api/annotations/{given[0]}/", {"result": form("0")})  # graded anew
    api("DELETE", f"/api/annotations/{given[1]}/")
    api("DELETE", f"/api/tasks/{tasks[2]}/")  # with its answer
    data = api("GET", f"/api/tasks/{tasks[3]}/")["data"]
    api("PATCH", f"/api/tasks/{tasks[3]}/", {"data": {**data, "left": "<p>other</p>"}})
    api("DELETE", f"/api/tasks/{tasks[6]}/")
    api("POST", f"/api/projects/{project}/import", [{"data": {**data, "left": "by hand"}}])

    made = push(folder, where)[0]
    assert made["create"] == made["duplicates"] == made["refresh"] == 0
    assert sorted(item["kind"] for item in made["conflicts"]) == ["deleted", "deleted", "edited", "foreign"]
    found = pull(folder, where.client, mine)[0]
    assert found["conflicts"] == 3 and found["set_aside"] == {"task_edited": 1}
    states = sorted((row.grade, row.state) for row in folder.annotations())
    assert (
        states == [(0, "conflict"), (2, "conflict"), (2, "conflict"), (2, "conflict")] + [(2, "current")] * 2
    )
    assert status(folder)[0]["conflicts"] == 7 and status(folder)[0]["done"] == 2

    assert push(folder, where, restore=True)[0]["create"] == 2
    pull(folder, where.client, mine, accept=True)
    states = sorted((row.grade, row.state) for row in folder.annotations())
    assert (
        states == [(0, "current"), (2, "current"), (2, "current"), (2, "superseded")] + [(2, "withdrawn")] * 2
    )


def test_superseded_and_withdrawn_tasks_keep_their_answers(
    label_studio: Server, workspace: Workspace
) -> None:
    folder = review(workspace, "newer", 6)
    where = target(label_studio)
    project = push(folder, where)[0]["project"]
    api = Api(label_studio)
    sent = api.tasks(project)
    rows = folder.candidates()
    for row in (rows[0], rows[1], rows[5]):
        api.grade(sent[row.id]["id"], "1")
    pull(folder, where.client, {})
    number = int(rows[0].query_id[1:])
    newer = candidate("newer", number, "another passage")
    folder.write_candidates([*rows, newer])
    give(folder, [newer, *rows[2:5], rows[5]])  # 0 superseded, 1 withdrawn
    made = push(folder, where)[0]
    assert (made["create"], made["supersede"], made["withdraw"]) == (1, 1, 1)
    assert len(api.tasks(project)) == 7
    pull(folder, where.client, {})
    assert {row.candidate_id: row.state for row in folder.annotations()} == {
        rows[0].id: "superseded",
        rows[1].id: "withdrawn",
        rows[5].id: "current",
    }
    give(folder, rows)
    assert push(folder, where)[0]["create"] == 0
    pull(folder, where.client, {})
    assert {row.state for row in folder.annotations()} == {"current"}
    begun = sent[rows[4].id]["id"]
    api("POST", f"/api/tasks/{begun}/drafts", {"result": form("1"), "lead_time": 1.0})
    give(folder, rows[:2])
    push(folder, where)
    assert set(api.tasks(project)) == {rows[0].id, rows[1].id, rows[4].id, rows[5].id}
    where.client.delete_untouched(project, [task["id"] for task in sent.values()])
    assert len(api.tasks(project)) == 4, "the server itself spares what was answered or begun"


def test_both_kinds_of_token_and_an_account_per_person(
    label_studio: Server, workspace: Workspace, tmp_path: Path
) -> None:
    folder = review(workspace, "tokens", 5, ("Z1",))
    where = target(label_studio)
    private = tmp_path / "server"
    private.mkdir()
    accounts = local_accounts(workspace, where.client, ["Z1"], private)
    assert accounts == local_accounts(workspace, where.client, ["Z1"], private) == {"Z1": "z1@medqrels.local"}
    people = workspace.root / "review" / "people.json"
    assert people.stat().st_mode & 0o777 == 0o600 == (private / "accounts.json").stat().st_mode & 0o777
    password = json.loads((private / "accounts.json").read_text())["z1@medqrels.local"]

    session = requests.Session()
    login = f"{label_studio.url}/user/login/"
    session.get(login, timeout=30)
    form_fields = {"email": "z1@medqrels.local", "password": password}
    session.post(login, {"csrfmiddlewaretoken": session.cookies["csrftoken"], **form_fields}, timeout=30)
    crossed = {"X-CSRFToken": session.cookies["csrftoken"], "Referer": login}
    personal = session.post(f"{label_studio.url}/api/token/", headers=crossed, timeout=30).json()["token"]
    assert personal.count(".") == 2
    by_person = target(label_studio, token=personal)
    assert by_person.client.account()[1] == "z1@medqrels.local"
    project = push(folder, by_person)[0]["project"]
    assert push(folder, where)[0]["skip"] == 5

    theirs = session.get(f"{label_studio.url}/api/current-user/token", timeout=30).json()["token"]
    tasks = [task["id"] for task in Api(label_studio).tasks(project).values()]
    Api(label_studio, theirs).grade(tasks[0], "2")
    Api(label_studio).grade(tasks[1], "1")  # somebody else's account
    found = pull(folder, by_person.client, where.client.accounts() | {"Z1": by_person.client.account()[0]})
    assert found[0]["answers"] == 1 and found[0]["set_aside"] == {"foreign_annotator": 1}
    assert list(grades(folder, "Z1").values()) == [(2, "current")]

    secrets = {label_studio.token, label_studio.password, password, personal, theirs, "z1@medqrels.local"}
    for path in workspace.root.rglob("*"):
        if path.is_file() and path != people:
            text = path.read_bytes()
            assert not any(secret.encode() in text for secret in secrets), path
