"""Label Studio push: ours beside a plain import by label-studio-sdk, both done twice on one fresh server.

Needs $MEDQRELS_LABEL_STUDIO_VENV or installs Label Studio into a temporary folder.
Run: python -m benchmarks.review_sync [TASKS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotation.client import Client
from annotation.layouts import layout
from benchmarks import measure
from flows.review import label_studio
from flows.review.delivery import MediaFolder, queues
from flows.review.label_studio import Server
from flows.review.store import ReviewFolder
from flows.review.sync import Target, pull, push
from schemas.review import Allotment, ReviewCandidate, ShownItem, candidate_id

TASK = "visual_context"
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


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall seconds of a call, and its value."""
    started = time.perf_counter()
    value = work()
    return round(time.perf_counter() - started, 2), value


def ours(server: Server, made: ReviewFolder, count: int) -> dict[str, Any]:
    """Push twice and pull once."""
    client = Client(server.url, server.token)
    target = Target(client, MediaFolder(server.media), is_local=True)
    first, sent = timed(lambda: push(made, target))
    second, _ = timed(lambda: push(made, target))
    pulled, _ = timed(lambda: pull(made, client, {}))
    held = client.count_tasks(sent[0]["project"])
    return {
        "seconds": {"push": first, "push_again": second, "pull": pulled},
        "tasks_per_second": round(count / first, 1),
        "tasks_after_two_pushes": held,
        "duplicates": held - count,
    }


def sdk(server: Server, made: ReviewFolder, count: int) -> dict[str, Any]:
    """The plain way: `projects.import_tasks`, 1,000 tasks per call."""
    import label_studio_sdk

    made_by: Any = label_studio_sdk.LabelStudio  # its constructor has no types
    client = made_by(base_url=server.url, api_key=server.token)
    seen = layout("relevance_text", TASK)
    project = client.projects.create(title="plain import", label_config=seen.config)
    tasks = [{"data": dict(item.data)} for item in queues(made, str)[0].tasks]

    def work() -> None:
        for start in range(0, len(tasks), 1000):
            client.projects.import_tasks(id=project.id, request=tasks[start : start + 1000])

    first, _ = timed(work)
    second, _ = timed(work)
    held = Client(server.url, server.token).count_tasks(int(project.id))
    return {
        "seconds": {"import": first, "import_again": second},
        "tasks_per_second": round(count / first, 1),
        "tasks_after_two_imports": held,
        "duplicates": held - count,
    }


def main() -> None:
    """Measure and save."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory(prefix="medqrels-bench-") as name:
        folder = Path(name)
        venv = label_studio.venv_folder(folder)
        label_studio.install(venv)
        server = label_studio.start(folder / "server", venv=venv)
        try:
            made = review(folder, count)
            result = {
                "tasks": count,
                "ours": ours(server, made, count),
                "label-studio-sdk": sdk(server, made, count),
            }
        finally:
            label_studio.stop(folder / "server")
    suffix = "" if count == 10_000 else f"_{count}"
    print(measure.save(f"review_sync{suffix}", result).read_text("utf-8"))


if __name__ == "__main__":
    main()
