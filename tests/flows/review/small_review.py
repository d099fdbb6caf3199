"""A small review on a real Label Studio, and the server as people use it."""

from __future__ import annotations

from typing import Any

import requests

from annotation.client import Client, Patience
from flows.engine.workspace import Workspace
from flows.review.delivery import MediaFolder
from flows.review.label_studio import Server
from flows.review.store import ReviewFolder, review_folder
from flows.review.sync import Target
from schemas.review import Allotment, ReviewCandidate, ShownItem, candidate_id

PASSWORD = "correct horse battery"
QUICK = Patience(attempts=9, first_wait=0.25, longest_wait=5.0, read_timeout=60.0)


def candidate(dataset: str, number: int, text: str = "") -> ReviewCandidate:
    """A candidate whose hidden columns hold words that must not be sent."""
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
    """A review of some candidates, all given to each of the people."""
    folder = review_folder(workspace, dataset, "visual_context")
    rows = [candidate(dataset, number) for number in range(count)]
    folder.write_candidates(rows)
    give(folder, rows, people)
    return folder


def give(folder: ReviewFolder, rows: list[ReviewCandidate], people: tuple[str, ...] = ("A1",)) -> None:
    """Give candidates, in this order, to each of the people, and nothing else."""
    folder.write_allotments(
        Allotment(candidate_id=row.id, task=row.task, annotator=name, role="annotator", place=place)
        for name in people
        for place, row in enumerate(rows, 1)
    )


def target(server: Server, url: str = "", token: str = "") -> Target:
    """The server as push and pull are given it."""
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


def person(server: Server, client: Client, login: str) -> Api:
    """An account on the server, and the server as its owner uses it."""
    client.add_account(login, PASSWORD)
    session = requests.Session()
    page = f"{server.url}/user/login/"
    session.get(page, timeout=30)
    form_fields = {"email": login, "password": PASSWORD, "csrfmiddlewaretoken": session.cookies["csrftoken"]}
    session.post(page, form_fields, timeout=30)
    found = session.get(f"{server.url}/api/current-user/token", timeout=30).json()
    return Api(server, str(found["token"]))


def form(grade: str) -> list[dict[str, Any]]:
    """The submitted form of a grade."""
    field = {"from_name": "grade", "to_name": "left", "type": "choices"}
    return [{**field, "value": {"choices": [grade]}}]


def grades(folder: ReviewFolder, annotator: str = "A1") -> dict[str, tuple[int | None, str]]:
    """Query -> grade and state of one person's answer."""
    rows = [row for row in folder.annotations() if row.annotator == annotator]
    return {
        row.query_id: (found.grade, found.state)
        for row in folder.candidates()
        for found in rows
        if found.candidate_id == row.id
    }
