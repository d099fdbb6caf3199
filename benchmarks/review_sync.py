"""Label Studio push: ours beside a plain import by label-studio-sdk, both done twice on one fresh server.

Needs $MEDQRELS_LABEL_STUDIO_VENV or installs Label Studio into a temporary folder. With --postgres it runs on
PostgreSQL, as a team's server does, else on its own SQLite. A run replaces one of the same size and database.
Run: python -m benchmarks.review_sync [TASKS] [--postgres]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from annotation.client import Client
from annotation.layouts import layout
from benchmarks import measure
from curation.tasks.registry import TASKS
from flows.review import label_studio
from flows.review.delivery import MediaFolder, queues
from flows.review.label_studio import Server
from flows.review.store import ReviewFolder
from flows.review.sync import Target, pull, push
from schemas.review import Allotment, ReviewCandidate, ShownItem, candidate_id
from tests.flows.review.postgres_server import team_server

TASK = "visual_context"
NAME = "review_sync"
PASSAGE = (
    "The axial computed tomography shows a consolidation with an air bronchogram in the lower lobe. " * 12
)


def candidate(number: int) -> ReviewCandidate:
    """One candidate with a passage of about 1.1 kB."""
    shown = (
        ShownItem(name="query_text", value=f"Figure {number}: axial CT of the chest."),
        ShownItem(name="document_text", value=f"{number}: {PASSAGE}"),
    )
    query, document = f"q{number}", f"d{number}"
    name = candidate_id("relevance_text", TASK, query, document, shown)
    return ReviewCandidate(
        id=name,
        dataset="benchmark",
        task=TASK,
        kind="relevance_text",
        query_id=query,
        corpus_id=document,
        shown=shown,
        origin="pool",
    )


def review(folder: Path, count: int) -> ReviewFolder:
    """A review of one person."""
    made = ReviewFolder(folder / "review")
    rows = [candidate(number) for number in range(count)]
    made.write_candidates(rows)
    made.write_allotments(
        Allotment(candidate_id=row.id, task=TASK, annotator="A1", role="annotator", place=place)
        for place, row in enumerate(rows, 1)
    )
    return made


class Clock:
    """Takes wall time, and the CPU time of this process and of the server's."""

    def __init__(self, server: Server) -> None:
        self._stat = Path(f"/proc/{server.pid}/stat")
        self.taken: dict[str, dict[str, float]] = {}

    def _server(self) -> float:
        after_name = self._stat.read_text().rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")

    def time(self, name: str, work: Callable[[], Any]) -> Any:
        """Do something and note what it took, in seconds."""
        began, own, theirs = time.perf_counter(), time.process_time(), self._server()
        value = work()
        self.taken[name] = {
            "seconds": round(time.perf_counter() - began, 2),
            "cpu_here": round(time.process_time() - own, 2),
            "cpu_server": round(self._server() - theirs, 2),
        }
        print(name, self.taken[name], file=sys.stderr, flush=True)  # a large run takes long
        return value


def ours(server: Server, made: ReviewFolder, count: int) -> dict[str, Any]:
    """Push twice and pull twice: the second pull asks for what changed since."""
    client = Client(server.url, server.token)
    target = Target(client, MediaFolder(server.media), is_local=True)
    clock = Clock(server)
    sent = clock.time("push", lambda: push(made, target))
    clock.time("push_again", lambda: push(made, target))
    clock.time("pull", lambda: pull(made, client, {}))
    clock.time("pull_again", lambda: pull(made, client, {}))
    held = client.count_tasks(sent[0]["project"])
    return {
        "steps": clock.taken,
        "tasks_per_second": round(count / clock.taken["push"]["seconds"], 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "tasks_after_two_pushes": held,
        "duplicates": held - count,
    }


def sdk(server: Server, made: ReviewFolder, count: int) -> dict[str, Any]:
    """The plain way: `projects.import_tasks`, 1,000 tasks per call."""
    import label_studio_sdk

    made_by: Any = label_studio_sdk.LabelStudio  # its constructor has no types
    client = made_by(base_url=server.url, api_key=server.token)
    seen = layout("relevance_text", TASKS[TASK])
    project = client.projects.create(title="plain import", label_config=seen.config)
    tasks = [{"data": dict(item.data)} for item in queues(made, str)[0].tasks]

    def work() -> None:
        for start in range(0, len(tasks), 1000):
            client.projects.import_tasks(id=project.id, request=tasks[start : start + 1000])

    clock = Clock(server)
    clock.time("import", work)
    clock.time("import_again", work)
    held = Client(server.url, server.token).count_tasks(int(project.id))
    return {
        "steps": clock.taken,
        "tasks_per_second": round(count / clock.taken["import"]["seconds"], 1),
        "tasks_after_two_imports": held,
        "duplicates": held - count,
    }


@contextlib.contextmanager
def fresh_server(folder: Path, on_postgres: bool) -> Iterator[Server]:
    """A server without any project."""
    venv = label_studio.venv_folder(folder)
    program = label_studio.install(venv)
    if on_postgres:
        with team_server(folder / "server", program) as team:
            yield team.start()
        return
    try:
        yield label_studio.start(folder / "server", venv=venv)
    finally:
        label_studio.stop(folder / "server")


def kept(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs measured before, with this one in its place."""
    path = measure.RESULTS / f"{NAME}.json"
    before = json.loads(path.read_text("utf-8")).get("runs", []) if path.is_file() else []
    key = (result["tasks"], result["database"])
    runs = [run for run in before if (run["tasks"], run["database"]) != key]
    return sorted([*runs, result], key=lambda run: (run["tasks"], run["database"]))


def main() -> None:
    """Measure and save."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="?", type=int, default=10_000)
    parser.add_argument("--postgres", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="medqrels-bench-") as name:
        folder = Path(name)
        with fresh_server(folder, asked.postgres) as server:
            made = review(folder, asked.tasks)
            result = {
                "tasks": asked.tasks,
                "database": "PostgreSQL" if asked.postgres else "SQLite",
                "ours": ours(server, made, asked.tasks),
                "label-studio-sdk": sdk(server, made, asked.tasks),
            }
    print(json.dumps(result, indent=1))
    measure.save(NAME, {"runs": kept(result)})


if __name__ == "__main__":
    main()
