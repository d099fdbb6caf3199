"""The extract flow: parse every crawled article, then figures, passages, cases, images and questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.images.stage import IMAGES
from flows.engine.execution import StageSummary, workers
from flows.engine.orchestration import THREADS, flow, run_jobs
from flows.engine.runner import Resource, plan
from flows.engine.session import write_session
from flows.engine.specs import image_params
from flows.build.stages import EXTRACTION, VERSIONS


@flow(name="extract", task_runner=THREADS, validate_parameters=False)
def extract(
    workspace: str | None = None, spec: str | None = None, overrides: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Parse and extract all crawled shards; returns one summary per stage."""
    summaries: list[StageSummary] = []
    params = {IMAGES.name: image_params(spec, overrides)}
    with write_session(workspace) as session, workers(session.settings.worker_count) as pool:
        for stage in EXTRACTION:
            jobs = plan(
                session.workspace,
                stage,
                params=params.get(stage.name),
                resources={"raw": Resource(session.workspace.raw)},
                versions=VERSIONS,
            )
            summaries.append(run_jobs(jobs, session.workspace, pool, session.reporter))
    return [summary.to_dict() for summary in summaries]
