"""The ground flow: concepts in every text of the articles, then what each record is about."""

from __future__ import annotations

from typing import Any

from curation.concepts.stage import GROUND, GROUND_QUESTIONS
from flows.engine.execution import StageSummary, workers
from flows.engine.orchestration import THREADS, flow, run_jobs
from flows.build.new_vocabulary import carry_over
from flows.engine.runner import plan
from flows.engine.session import write_session
from flows.build.stages import GROUNDING, VERSIONS
from flows.vocabulary.indexes import index_in_use


@flow(name="ground", task_runner=THREADS, validate_parameters=False)
def ground(
    workspace: str | None = None, backend: str = "native", overlaps: bool = False
) -> list[dict[str, Any]]:
    """Ground all extracted shards against the vocabulary in use; returns one summary per stage."""
    summaries: list[StageSummary] = []
    with write_session(workspace) as session, workers(session.settings.worker_count) as pool:
        index = index_in_use(session.workspace, backend, session.reporter)
        given = {"backend": backend, "overlaps": overlaps}
        params = {GROUND.name: given, GROUND_QUESTIONS.name: given}
        for stage in GROUNDING:
            jobs = plan(
                session.workspace,
                stage,
                params=params.get(stage.name),
                resources=index.resources,
                versions=VERSIONS,
            )
            if stage is GROUND:
                carry_over(session.workspace, jobs, index, session.reporter)
            summaries.append(run_jobs(jobs, session.workspace, pool, session.reporter))
    return [summary.to_dict() for summary in summaries]
