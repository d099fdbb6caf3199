"""Who takes part in the loop test: clients that kill or die, and people who answer on the real server."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import requests

from annotation.client import Client, Patience
from flows.review.delivery import marker
from flows.review.label_studio import Server
from schemas.errors import FetchError
from schemas.review import Role

PATIENCE = Patience(attempts=2, first_wait=0.1, longest_wait=0.2)


class Killer(Client):
    """A client that kills the server with SIGKILL while its nth import is under way."""

    def __init__(self, server: Server, *, at_import: int) -> None:
        super().__init__(server.url, server.token, patience=PATIENCE)
        self._pid, self._left = server.pid, at_import

    def import_tasks(self, project: int, payloads: Sequence[Mapping[str, Any]]) -> list[int]:
        self._left -= 1
        if self._left == 0:
            threading.Timer(0.01, os.kill, (self._pid, signal.SIGKILL)).start()
        return super().import_tasks(project, payloads)


class Cut(Client):
    """A client that is cut off from the server when it has listed the answers of one project."""

    def __init__(self, server: Server) -> None:
        super().__init__(server.url, server.token, patience=PATIENCE)
        self._left = 1

    def answers(self, project: int, since: str = "") -> Iterator[Any]:
        if not self._left:
            raise FetchError("the connection was lost")
        self._left -= 1
        return super().answers(project, since)


class Mortal(Client):
    """A client whose process dies by SIGKILL when the server has taken its nth import, before it knows."""

    left = 5

    def import_tasks(self, project: int, payloads: Sequence[Mapping[str, Any]]) -> list[int]:
        made = super().import_tasks(project, payloads)
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return made


class Clinician:
    """One person's account: reads what the server shows, answers as the server's own pages would."""

    def __init__(
        self, server: Server, server_folder: Path, dataset: str, task: str, name: str, role: Role
    ) -> None:
        self.server, self.name = server, name
        passwords = json.loads((server_folder / "accounts.json").read_text())
        self.login = f"{name.lower()}@medqrels.local"
        self.password = passwords[self.login]
        self.session = requests.Session()
        self.session.trust_env = False
        page = self.session.get(f"{server.url}/user/login/", timeout=60)
        form = {"email": self.login, "password": self.password}
        token = page.cookies["csrftoken"]
        self.session.post(f"{server.url}/user/login/", {**form, "csrfmiddlewaretoken": token}, timeout=60)
        token = self.api("GET", "current-user/token")["token"]
        self.session.cookies.clear()
        self.session.headers["Authorization"] = f"Token {token}"
        word = marker(dataset, task, name, role)
        listed = self.api("GET", "projects?page_size=100")["results"]
        self.project = next(row["id"] for row in listed if word in row["description"])

    def api(self, method: str, path: str, body: Any = None) -> Any:
        answered = self.session.request(method, f"{self.server.url}/api/{path}", json=body, timeout=120)
        assert answered.ok, (path, answered.status_code, answered.text[:300])
        return answered.json()

    def tasks(self) -> list[dict[str, Any]]:
        """Tasks of the project in the order they are shown."""
        rows = self.api("GET", f"tasks?project={self.project}&page_size=1000&fields=all")["tasks"]
        return sorted(rows, key=lambda row: int(row["id"]))

    def submit(self, answers: Mapping[str, tuple[int | None, str]]) -> None:
        """Submit answers in bulk: as predictions that this account then accepts as its own annotations."""
        tasks = {
            row["data"]["candidate_id"]: row["id"] for row in self.tasks() if not row["total_annotations"]
        }
        body = [{"task": tasks[name], "result": form(*answer)} for name, answer in answers.items()]
        assert self.api("POST", f"projects/{self.project}/import/predictions", body)["created"] == len(body)
        chosen = {
            "selectedItems": {"all": False, "included": [item["task"] for item in body]},
            "ordering": [],
        }
        path = f"dm/actions?id=predictions_to_annotations&project={self.project}"
        assert self.api("POST", path, chosen)["detail"] == f"Created {len(body)} annotations"

    def correct(self, candidate: str, grade: int | None, reason: str) -> None:
        """Change the one answer this account has given to an item."""
        answers = {row["data"]["candidate_id"]: row["annotations"] for row in self.tasks()}
        (given,) = answers[candidate]
        self.api("PATCH", f"annotations/{given['id']}/", {"result": form(grade, reason)})

    def answer_in(self, other: Clinician, candidate: str, grade: int) -> None:
        """Answer an item in another person's project, as somebody does who opened the wrong one."""
        tasks = {row["data"]["candidate_id"]: row["id"] for row in other.tasks()}
        body = {"result": form(grade, ""), "lead_time": 2.0}
        self.api("POST", f"tasks/{tasks[candidate]}/annotations/", body)


def form(grade: int | None, reason: str) -> list[dict[str, Any]]:
    """The submitted form of an answer."""
    fields = {"grade": ["cannot_judge"], "reason": [reason]} if grade is None else {"grade": [str(grade)]}
    made: list[dict[str, Any]] = [
        {"from_name": name, "to_name": "left", "type": "choices", "value": {"choices": chosen}}
        for name, chosen in fields.items()
    ]
    if grade is None:
        text = {"text": ["It cannot be told."]}
        made.append({"from_name": "comment", "to_name": "left", "type": "textarea", "value": text})
    return made
