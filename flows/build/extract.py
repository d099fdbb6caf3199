"""The extract flow: parse every crawled article, then figures, passages, cases, images and questions."""

from __future__ import annotations

from typing import Any

from flows.build.jobs import jobs_of
from flows.cluster.hired import hired
from flows.engine.orchestration import THREADS, flow, run_jobs
from flows.engine.session import write_session
from flows.pipeline import Choices, steps
from schemas.spec import DatasetSpec


@flow(name="extract", task_runner=THREADS, validate_parameters=False)
def extract(workspace: str | None = None, spec: DatasetSpec | None = None) -> list[dict[str, Any]]:
    """Parse and extract all crawled shards; returns one summary per stage."""
    chosen = Choices.of(spec)
    summaries = []
    with write_session(workspace, flow="extract") as session, hired(session) as pool:
        for step in steps("extract"):
            jobs = jobs_of(session, step, chosen)
            summaries.append(run_jobs(jobs, session.workspace, pool, session.reporter))
    return [summary.to_dict() for summary in summaries]
