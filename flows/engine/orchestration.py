"""The Prefect side: environment defaults for quiet offline use, and stages as Prefect task runs.

One Prefect task is one shard of one stage, passed by name; the work itself runs in worker processes.
Manifests, not Prefect's database, are the audit trail. The private server that is started where none
is set ends with the process that started it, even a killed one.
"""

from __future__ import annotations

import os

# Prefect reads these when it is imported: no telemetry, no chatter, patience for a slow first start.
for _name, _value in {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_CLI_PROMPT": "false",
    "PREFECT_CLIENT_RETRY_EXTRA_CODES": "500",  # what its server says while its database is away
}.items():
    os.environ.setdefault(_name, _value)

import atexit
import contextlib
import functools
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, cast

with warnings.catch_warnings():  # of a folder that cannot be made; it is looked at below
    warnings.simplefilter("ignore", UserWarning)
    from prefect import Flow, task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
    PREFECT_SERVER_EPHEMERAL_ENABLED,
    get_current_settings,
    temporary_settings,
)
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from flows.engine import prefect_server
from flows.engine.execution import StageSummary, Workers, split_done, sum_up
from flows.engine.failures import failure
from flows.engine.manifest import Manifest, read_manifest, read_run
from flows.engine.progress import Reporter
from flows.engine.runner import Job, remove_stale_shards
from flows.engine.runs import current_run, spent
from flows.engine.workspace import Workspace
from schemas.errors import WorkspaceError

__all__ = ["THREADS", "flow", "run_jobs", "task"]

THREADS: TaskRunner[PrefectFuture[Any]] = cast(
    "TaskRunner[PrefectFuture[Any]]", ThreadPoolTaskRunner(max_workers=32)
)
"""They only wait for worker processes; Prefect's process pool and Dask cost 20 times more per task."""


P = ParamSpec("P")
R = TypeVar("R")


class _Flow(Flow[P, R]):
    """A flow that has a private server started, once per process, where none is set.

    It sends no heartbeats: a deployment's run, which Prefect starts by itself, does, and what is called
    within it or on a terminal would only wait at its end, up to a second, for the thread that sends them.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ours: dict[Any, Any] = {}
        if "heartbeat_frequency" not in get_current_settings().flows.model_fields_set:
            ours[PREFECT_FLOWS_HEARTBEAT_FREQUENCY] = None
        if not PREFECT_API_URL.value() and PREFECT_SERVER_EPHEMERAL_ENABLED.value():
            ours[PREFECT_API_URL] = _private_server()
        with temporary_settings(ours):
            return super().__call__(*args, **kwargs)


def flow(**options: Any) -> Callable[[Callable[P, R]], Flow[P, R]]:
    """`prefect.flow`, of flows that see to their server themselves."""
    return lambda function: _Flow(function, **options)


@functools.cache
def _private_server() -> str:
    """The API of the private server, which is stopped when this process ends, after it was told all."""
    settings = get_current_settings().to_environment_variables(exclude_unset=True)
    own = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
    until_the_end = contextlib.ExitStack()
    atexit.register(until_the_end.close)
    return until_the_end.enter_context(prefect_server.running(None, {**own, **settings}))


def run_jobs(jobs: Sequence[Job], workspace: Workspace, workers: Workers, reporter: Reporter) -> StageSummary:
    """Run the jobs of one stage inside a flow, skipping shards that are up to date."""
    stage = jobs[0].stage.name
    run, started = current_run(), time.monotonic()
    done, waiting = split_done(jobs)
    finished: list[tuple[Manifest, bool]] = [(_manifest_of(job), False) for job in done]

    @task(name=stage, task_run_name=stage + "/{shards}", cache_policy=NO_CACHE)
    def run_shards(shards: str) -> None:
        left = list(groups[shards])
        try:
            for job, manifest in workers.run_group(groups[shards]):
                finished.append((manifest, True))
                left.remove(job)
                run.note("shard_finished", stage=stage, shard=job.shard, **read_run(job.folder))
        except Exception as error:
            failed = left[0].shard if left else shards
            run.note("shard_failed", level="error", stage=stage, shard=failed, **failure(error))
            raise

    with reporter.stage(stage, len(jobs), "shards") as steps:
        steps.advance(len(done))
        groups = {_named(group): group for group in workers.groups(list(waiting.values()))} if waiting else {}
        futures = [(run_shards.submit(shards), len(group)) for shards, group in groups.items()]
        for future, count in futures:
            future.result()
            steps.advance(count)
    remove_stale_shards(workspace, stage, [job.shard for job in jobs])
    summary = sum_up(stage, finished)
    cost = spent((job.folder for job in waiting.values()), time.monotonic() - started)
    run.stage(summary.to_dict(), cost)
    reporter.line(summary.line())
    return summary


def _named(group: Sequence[Job]) -> str:
    """Shards that are handed out together, for Prefect's page."""
    first, last = group[0].shard, group[-1].shard
    return first if len(group) == 1 else f"{first} to {last}"


def _manifest_of(job: Job) -> Manifest:
    found = read_manifest(job.folder)
    if found is None:
        raise WorkspaceError("a finished shard vanished while running", file=str(job.folder))
    return found
