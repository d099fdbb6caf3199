"""The build flow: each benchmark task per article, then over all of them, then the partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.tasks.registry import TASKS
from flows.engine.execution import workers
from flows.engine.orchestration import THREADS, flow, run_jobs
from flows.build.partition import partition_jobs
from flows.engine.runner import plan, shards_of
from flows.engine.session import write_session
from flows.engine.specs import chosen_tasks, read_spec, task_params
from flows.build.stages import VERSIONS
from flows.build.resources import task_resources


@flow(name="build", task_runner=THREADS, validate_parameters=False)
def build(
    tasks: Sequence[str] = (),
    workspace: str | None = None,
    spec: str | None = None,
    overrides: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Build tasks and, once every task of the spec is built, share their queries out among tasks and splits.

    `spec` (a spec.toml path) sets their parameters. Returns one summary per stage.
    """
    summaries = []
    params = task_params(spec, overrides)
    with write_session(workspace) as session, workers(session.settings.worker_count) as pool:
        for name in chosen_tasks(tasks or sorted(params)):
            task = TASKS[name]
            limit = session.settings.memory_limit
            jobs = plan(
                session.workspace,
                task.per_article,
                params=params.get(name),
                resources=task_resources(session.workspace, task),
                versions=VERSIONS,
            )
            summaries.append(run_jobs(jobs, session.workspace, pool, session.reporter))
            jobs = plan(session.workspace, task.over_all, memory_limit=limit, versions=VERSIONS)
            summaries.append(run_jobs(jobs, session.workspace, pool, session.reporter))
        if spec is not None:
            wanted = read_spec(Path(spec), overrides)
            if all(shards_of(session.workspace, TASKS[name].over_all.name) for name in wanted.tasks):
                jobs = partition_jobs(session, wanted)
                summaries.append(run_jobs(jobs, session.workspace, pool, session.reporter))
    return [summary.to_dict() for summary in summaries]
