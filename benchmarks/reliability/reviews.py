"""Faults before Label Studio: while a review is pushed, and while its answers are pulled."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotation.client import Client, Patience
from benchmarks.reliability.fault_proxy import FaultProxy
from benchmarks.reliability.server_faults import Scene, Source
from benchmarks.reliability.services import TRIES, told_of, undisturbed
from benchmarks.reliability.warm import Warm
from flows.engine.workspace import open_workspace
from flows.review import sync
from flows.review.delivery import MediaFolder
from flows.review.label_studio import Server
from flows.review.store import ReviewFolder, review_folder
from sources.sample.loopback import LoopbackServer
from tests.flows.review.label_studio_server import server_venv
from tests.flows.review.postgres_server import team_server
from tests.flows.review.small_review import Api, review

TASKS, ANSWERED_EVERY, BATCH = 30, 3, 10
_SECONDS = 3.0
"""A request that a busy Label Studio answers itself takes up to a second here."""


class Pushed(Scene):
    """A queue of tasks, sent to a server without projects."""

    server: Server
    name = "push"

    def fresh(self) -> None:
        """Nothing sent yet, here and there."""
        shutil.rmtree(self.now, ignore_errors=True)
        (self.now / "tmp").mkdir(parents=True)
        review(open_workspace(self.now / "ws", create=True), self.name, TASKS)
        api = Api(self.server)
        for project in api("GET", "/api/projects", page_size=100)["results"]:
            api("DELETE", f"/api/projects/{project['id']}")

    def crawl(self, at: str = "") -> dict[str, Any]:
        """Push or pull everything."""
        given = (str(self.now), self.name, at or self.proxy.root, self.server.token, str(self.server.media))
        return self._driven("synced", *given)

    def stands(self) -> dict[str, str]:
        """Projects, their tasks with the answers, and the answers that came."""
        api, found = Api(self.server), {}
        for project in api("GET", "/api/projects", page_size=100)["results"]:
            named = f"project {project['title']}"
            found[named if named not in found else f"{named}, once more"] = project["description"]
            asked = {"project": project["id"], "page_size": 1000, "fields": "all"}
            for task in api("GET", "/api/tasks", **asked)["tasks"]:
                named = f"task {task['data']['candidate_id']}"
                held = json.dumps([task["data"], task["total_annotations"]], sort_keys=True)
                found[named if named not in found else f"{named}, once more"] = held
        rows = _folder(self.now, self.name).annotations()
        for row in rows:
            found[f"answer {row.candidate_id}"] = str(replace(row, id=""))
        return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in found.items()}


class Pulled(Pushed):
    """The same with answers of a person, none of which has come yet."""

    name = "pull"

    def fresh(self) -> None:
        """All is sent and partly answered."""
        kept = self.folder / "answered"
        if not kept.exists():
            super().fresh()
            folder = _folder(self.now, self.name)
            target = sync.Target(
                Client(self.server.url, self.server.token), MediaFolder(self.server.media), True
            )
            project = sync.push(folder, target)[0]["project"]
            api = Api(self.server)
            for number, task in enumerate(api.tasks(project).values()):
                if number % ANSWERED_EVERY == 0:
                    api.grade(task["id"], str(number % 3))
            self.now.rename(kept)
        shutil.rmtree(self.now, ignore_errors=True)
        shutil.copytree(kept, self.now)


def synced(now: str, name: str, at: str, token: str, media: str, told: str) -> int:
    """Push or pull by way of an address."""
    sync.BATCH_TASKS = BATCH
    folder = _folder(Path(now), name)

    def work() -> None:
        patience = Patience(attempts=TRIES, first_wait=0.01, read_timeout=_SECONDS, connect_timeout=_SECONDS)
        client = Client(at, token, patience=patience)
        if name == Pushed.name:
            sync.push(folder, sync.Target(client, MediaFolder(Path(media)), is_local=True))
        else:
            sync.pull(folder, client, {})

    return told_of(now, told, work)


def _folder(now: Path, name: str) -> ReviewFolder:
    return review_folder(open_workspace(now / "ws"), name, "visual_context")


@contextlib.contextmanager
def before(server: Server, kind: type[Pushed], folder: Path, warm: Warm) -> Iterator[Scene]:
    """A server to which, or from which, all has gone once."""
    folder.mkdir()
    source = Source(f"Label Studio, {kind.name}", LoopbackServer, lambda at: {}, "")
    with FaultProxy(server.url) as proxy:
        scene = kind(source, folder, warm, proxy, {}, place="reviews")
        scene.server = server
        undisturbed(scene)
        yield scene


@contextlib.contextmanager
def label_studio(folder: Path) -> Iterator[Server]:
    """A server that lasts for both."""
    with team_server(folder, server_venv() / "bin" / "label-studio") as team:
        yield team.start()
