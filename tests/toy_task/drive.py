"""`python -m tests.toy_task.drive WORKSPACE CARDS`: takes the toy task all the way and tells what came of it.

The registry gets its one line first: what modules make of it when they are imported sees the toy, too.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from curation.tasks import registry
from tests.toy_task.task import TASK

cast(dict[str, Any], registry.TASKS)[TASK.name] = registry.load("tests.toy_task.task")  # the one line

from curation.audit import RULES, audit  # noqa: E402
from curation.prompts.relevance import judged  # noqa: E402
from flows.engine.connection import query  # noqa: E402
from flows.engine.progress import SilentReporter  # noqa: E402
from flows.engine.session import Session  # noqa: E402
from flows.engine.settings import Settings  # noqa: E402
from flows.engine.workspace import Workspace  # noqa: E402
from flows.inspect.preview import preview_stages  # noqa: E402
from flows.pipeline import Choices, steps  # noqa: E402
from flows.release.versions import release_task  # noqa: E402
from flows.review import judge  # noqa: E402
from flows.review.candidates import Options, prepare  # noqa: E402
from flows.review.delivery import queues  # noqa: E402
from flows.review.tasks import offered  # noqa: E402
from flows.review.verdicts import source_of  # noqa: E402
from flows.specs import read_spec  # noqa: E402
from schemas.prompt import ModelAnswer, Prompt  # noqa: E402
from schemas.record import to_dict  # noqa: E402
from scripts import task_docs  # noqa: E402
from tests.pipeline import run_partition, run_stages  # noqa: E402


def drive(root: Path, cards: Path) -> dict[str, Any]:
    """Build, share out, release, audit, draw for review, lay out, judge."""
    workspace = Workspace(root)
    path = cards / "spec.toml"
    spec = read_spec(path)
    told: dict[str, Any] = {"shards": run_stages(workspace, ground=False, spec=spec, tasks=[TASK.name])}
    run_partition(workspace, spec, "1.0.0")
    told["planned"] = preview_stages(str(root), steps("build", [TASK.name]), Choices.of(spec))
    session = Session(Settings(workspace=root), workspace, SilentReporter())
    head = release_task(session, TASK, spec, cards, "1.0.0", {})
    directory = workspace.releases / spec.name / "1.0.0" / TASK.name
    told["release"] = head.content()
    report = audit(directory, query(), plant=False)
    told["audit"] = {item.rule: [item.status, item.note] for item in report.rules}
    told["rules"] = len(RULES)
    told["source"] = source_of(workspace, spec.name, TASK.name)
    return told | review(directory, workspace) | {"docs": task_docs.page(TASK.name, "")}


def review(directory: Path, workspace: Workspace) -> dict[str, Any]:
    """Candidates, the queue of a reader, and what a judge makes of them."""
    made = prepare(directory, workspace, Options(per_item=1, sample=16, gold_share=0.5, ocr=False))
    candidates = made.folder.candidates()
    (queue,) = queues(made.folder, str)
    plan = judge.plan(directory, workspace, judge.Options("m"))
    answers = [_answered(row, at % 4) for at, row in enumerate(plan.rows)]
    graded = judged(plan.rows, answers, "m", "umbrela", plan.task.scale)
    known = [replace(item, shown=()) for item in candidates if item.origin == "gold" and item.known_grade]
    return {
        "candidates": len(candidates),
        "known": [to_dict(item) for item in known],
        "offered": offered(candidates[0]),
        "layout": queue.config,
        "guideline": queue.instruction,
        "tasks": len(queue.tasks),
        "prompt": "".join(part.value for part in plan.rows[0].parts),
        "judged": [row.grade for row in graded],
    }


def _answered(prompt: Prompt, score: int) -> ModelAnswer:
    numbers = dict.fromkeys(("intent_match", "trust", "score"), score)
    return ModelAnswer(
        prompt_id=prompt.id,
        subject=prompt.subject,
        model="m",
        served_model="m",
        state="answered",
        text=json.dumps(numbers),
        mode="plain",
        tokens_in=1,
        tokens_out=1,
    )


if __name__ == "__main__":
    print(json.dumps(drive(Path(sys.argv[1]), Path(sys.argv[2])), default=str))
