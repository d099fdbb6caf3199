"""The ground flow: concepts in every text of the articles, then what each record is about."""

from __future__ import annotations

from typing import Any

from flows.build.jobs import jobs_of
from flows.cluster.hired import hired
from flows.engine.orchestration import THREADS, flow, run_jobs
from flows.engine.session import write_session
from flows.pipeline import Choices, steps
from flows.vocabulary.indexes import index_in_use
from schemas.spec import Grounding


@flow(name="ground", task_runner=THREADS, validate_parameters=False)
def ground(workspace: str | None = None, grounding: Grounding | None = None) -> list[dict[str, Any]]:
    """Ground all extracted shards against the vocabulary in use; returns one summary per stage."""
    wanted = grounding or Grounding()
    chosen = Choices(grounding=wanted)
    summaries = []
    with write_session(workspace, flow="ground") as session, hired(session) as pool:
        jobs_of(session, steps("ground")[0], chosen)  # what is lacking is said before an index is built
        index_in_use(session.workspace, wanted.backend, session.reporter)
        for step in steps("ground"):
            jobs = jobs_of(session, step, chosen)
            summaries.append(run_jobs(jobs, session.workspace, pool, session.reporter))
    return [summary.to_dict() for summary in summaries]
