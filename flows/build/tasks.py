"""The build flow: each benchmark task per article, then over all of them, then the partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from curation.tasks.registry import TASKS
from flows.build.earlier_stages import bring_earlier
from flows.build.jobs import jobs_of
from flows.build.model_stages import settle, take_in
from flows.build.partition import partition_jobs
from flows.build.review_stages import bring_verdicts
from flows.cluster.hired import hired
from flows.engine.orchestration import THREADS, flow, run_jobs
from flows.engine.runner import shards_of
from flows.engine.session import write_session
from flows.pipeline import Choices, steps
from flows.specs import chosen_tasks
from flows.vocabulary.indexes import index_in_use
from flows.vocabulary.languages import without_names
from flows.vocabulary.store import current
from schemas.spec import DatasetSpec, Prompts


@flow(name="build", task_runner=THREADS, validate_parameters=False)
def build(
    tasks: Sequence[str] = (), workspace: str | None = None, spec: DatasetSpec | None = None
) -> list[dict[str, Any]]:
    """Build tasks and, once every task of the spec is built, share their queries out among tasks and splits.

    `spec` sets their parameters; model stages it asks for take what answers are stored. Returns one summary
    per stage.
    """
    chosen = Choices.of(spec)
    summaries = []
    with write_session(workspace, flow="build") as session, hired(session) as pool:
        chosen_names = chosen_tasks(tasks, spec)
        if lacking := without_names(session.workspace, spec, chosen_names):
            session.reporter.line(lacking)
        wanted = steps("build", chosen_names)
        needs_names = any(step.stage is not None and step.stage.resources for step in wanted)
        if needs_names and current(session.workspace) is not None:
            index_in_use(session.workspace, "native", session.reporter)
        for step in wanted:
            if step.model is not None:
                take_in(session, spec.prompts if spec else Prompts(), step.model)
                continue
            if step.review is not None:
                bring_verdicts(session, spec.name if spec else "", step.review)
                continue
            if step.earlier is not None:
                bring_earlier(session, spec.name if spec else "", step.task, step.earlier)
                continue
            jobs = jobs_of(session, step, chosen)
            summaries.append(run_jobs(jobs, session.workspace, pool, session.reporter))
        if spec is not None and all(
            shards_of(session.workspace, TASKS[name].over_all.name) for name in spec.tasks
        ):
            jobs = partition_jobs(session, spec)
            summaries.append(run_jobs(jobs, session.workspace, pool, session.reporter))
            settle(session, spec)
    return [summary.to_dict() for summary in summaries]
