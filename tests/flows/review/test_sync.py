"""Push and pull against a real Label Studio on PostgreSQL: what is sent, images, tokens and accounts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests

from flows.engine.workspace import Workspace
from flows.review import sync as review_sync
from flows.review.label_studio import Server
from flows.review.people import local_accounts
from flows.review.sync import pull, push
from schemas.review import ShownItem
from tests.flows.review.small_review import Api, grades, review, target

"""One worker has the team's server."""
HIDDEN = {"rule", "rule_grade", "rank", "systems", "known_grade", "origin", "tier", "specialty", "dataset"}


def test_push_twice_sends_once_and_only_what_is_shown(
    server: Server, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = review(workspace, "twice", 30, ("A1", "A2"))
    where = target(server)
    planned = push(folder, where, dry_run=True)
    assert [(item["create"], item["project"]) for item in planned] == [(30, None)] * 2
    first, second = push(folder, where), push(folder, where)
    assert [item["create"] for item in first] == [30, 30]
    assert [(item["create"], item["skip"], item["conflicts"]) for item in second] == [(0, 30, [])] * 2
    assert len({item["project"] for item in first}) == 2, "one project per person: blind to each other"
    api = Api(server)

    def project_of(item: dict[str, Any]) -> dict[str, Any]:
        return dict(api("GET", f"/api/projects/{item['project']}/"))

    for item in first:
        project = project_of(item)
        assert project["title"] == f"{item['annotator']} · visual_context · twice"
        assert project["description"].startswith(f"Only for {item['annotator']}: ")
        assert not project["show_annotation_history"] and project["show_instruction"]
        sent = api.tasks(item["project"])
        order = [row.candidate_id for row in folder.allotments() if row.annotator == item["annotator"]]
        assert list(sent) == order
        for task in sent.values():
            assert not set(task["data"]) & HIDDEN and set(task["meta"]) == {"medqrels"}
            text = json.dumps([task["data"], task["meta"], project["description"]])
            assert "hidden" not in text and "cites-xref" not in text and "<script" not in text

    path = f"/api/projects/{first[0]['project']}/"
    api("PATCH", path, {"title": "Chest"})
    push(folder, where)
    assert api("GET", path)["title"] == "Chest", "a maintainer's own title stays"
    monkeypatch.setattr("flows.review.delivery.title", lambda *_: "A1 · newer")
    again = push(folder, where)[0]
    now = api("GET", path)
    assert now["title"] == "A1 · newer" and now["description"].split()[-1].startswith("medqrels:")
    assert again["project"] == first[0]["project"] and again["skip"] == 30


def test_images_are_served_to_the_local_server_and_embedded_for_another(
    server: Server, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_sync, "ONE_BY_ONE", 3)
    pixel = bytes.fromhex("89504e470d0a1a0a")
    name = "ab" * 32
    folder = review(workspace, "images", 6)
    field = ShownItem(name="query_image", value=name)
    rows = [
        replace(row, kind="relevance_image", shown=(*row.shown[:1], field, *row.shown[1:]))
        for row in folder.candidates()
    ]
    folder.write_candidates(rows)
    where = target(server)
    where.media.write(name, pixel, "png")
    project = push(folder, where)[0]["project"]
    api = Api(server)
    task, *_ = api.tasks(project).values()
    served = requests.get(server.url + task["data"]["left_image"], headers=api.headers, timeout=30)
    assert served.ok and served.content == pixel
    for hidden in ("../secrets.json", "images/../../secrets.json", "/etc/passwd"):
        reply = requests.get(
            f"{server.url}/data/local-files/", params={"d": hidden}, headers=api.headers, timeout=30
        )
        assert not reply.ok and server.password not in reply.text, hidden
    api.grade(task["id"], "2")
    made = push(folder, replace(where, is_local=False))[0]  # so many that they are sent anew
    assert (made["refresh"], made["create"], made["skip"], made["conflicts"]) == (5, 0, 1, [])
    shown = {row["id"]: row["data"]["left_image"] for row in api.tasks(project).values()}
    assert len(shown) == 6 and shown.pop(task["id"]) == task["data"]["left_image"], "it has an answer"
    assert set(shown.values()) == {"data:image/png;base64,iVBORw0KGgo="}
    again = push(folder, replace(where, is_local=False))[0]
    assert (again["refresh"], again["create"], again["skip"]) == (0, 0, 6)
    monkeypatch.undo()
    assert push(folder, where)[0]["refresh"] == 5  # one by one
    assert {row["data"]["left_image"] for row in api.tasks(project).values()} == {task["data"]["left_image"]}


def test_both_kinds_of_token_and_an_account_per_person(
    server: Server, workspace: Workspace, tmp_path: Path
) -> None:
    folder = review(workspace, "tokens", 5, ("Z1",))
    where = target(server)
    private = tmp_path / "server"
    private.mkdir()
    accounts = local_accounts(workspace, where.client, ["Z1"], private)
    assert accounts == local_accounts(workspace, where.client, ["Z1"], private) == {"Z1": "z1@medqrels.local"}
    people = workspace.root / "review" / "people.json"
    assert people.stat().st_mode & 0o777 == 0o600 == (private / "accounts.json").stat().st_mode & 0o777
    password = json.loads((private / "accounts.json").read_text())["z1@medqrels.local"]

    session = requests.Session()
    login = f"{server.url}/user/login/"
    session.get(login, timeout=30)
    form_fields = {"email": "z1@medqrels.local", "password": password}
    session.post(login, {"csrfmiddlewaretoken": session.cookies["csrftoken"], **form_fields}, timeout=30)
    crossed = {"X-CSRFToken": session.cookies["csrftoken"], "Referer": login}
    personal = session.post(f"{server.url}/api/token/", headers=crossed, timeout=30).json()["token"]
    assert personal.count(".") == 2
    by_person = target(server, token=personal)
    assert by_person.client.account()[1] == "z1@medqrels.local"
    project = push(folder, by_person)[0]["project"]
    assert push(folder, where)[0]["skip"] == 5

    theirs = session.get(f"{server.url}/api/current-user/token", timeout=30).json()["token"]
    tasks = [task["id"] for task in Api(server).tasks(project).values()]
    Api(server, theirs).grade(tasks[0], "2")
    Api(server).grade(tasks[1], "1")  # somebody else's account
    found = pull(folder, by_person.client, where.client.accounts() | {"Z1": by_person.client.account()[0]})
    assert found[0]["answers"] == 1 and found[0]["set_aside"] == {"foreign_annotator": 1}
    assert list(grades(folder, "Z1").values()) == [(2, "current")]

    secrets = {server.token, server.password, password, personal, theirs, "z1@medqrels.local"}
    for path in workspace.root.rglob("*"):
        if path.is_file() and path != people:
            text = path.read_bytes()
            assert not any(secret.encode() in text for secret in secrets), path
