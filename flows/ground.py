"""The ground flow: vocabulary concepts named in captions and passages."""

from __future__ import annotations

from typing import Any

from curation.concepts.stage import GROUND
from flows.execution import workers
from flows.orchestration import THREADS, flow, run_jobs
from flows.runner import plan
from flows.session import write_session
from flows.stages import VERSIONS
from flows.vocabulary import hpo_names


@flow(name="ground", task_runner=THREADS, validate_parameters=False)
def ground(workspace: str | None = None) -> list[dict[str, Any]]:
    """Ground all extracted shards against the installed HPO; returns the stage's summary."""
    with write_session(workspace) as session, workers(session.settings.worker_count) as pool:
        jobs = plan(
            session.workspace,
            GROUND,
            resources={"vocabulary": hpo_names(session.workspace)},
            versions=VERSIONS,
        )
        return [run_jobs(jobs, session.workspace, pool, session.reporter).to_dict()]
