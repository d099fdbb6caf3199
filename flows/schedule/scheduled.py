"""The scheduled flows: plain typed parameters, which Prefect shows as a form, and a record of every run.

What each is for and when it may end, `flows.schedules` declares. Only what a server did not answer is tried
again; a defect is not. Runs on one workspace take turns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from prefect import get_run_logger
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from pydantic import Field

from curation.release.card import load_prose
from flows.build.extract import extract
from flows.build.ground import ground
from flows.build.tasks import build
from flows.cluster.hired import hired_once
from flows.crawl.flow import crawl
from flows.crawl.repositories.base import Changes, CrawlRequest
from flows.engine.orchestration import THREADS, flow, task
from flows.engine.progress import LoggingReporter
from flows.engine.runs import Run, recorded
from flows.engine.session import patient, reporting
from flows.engine.settings import load_settings
from flows.engine.workspace import Busy, Workspace, open_workspace
from flows.release.flow import release
from flows.review.commands import pull_reviews
from flows.review.store import has_review
from flows.review.text import pulled
from flows.schedule.report import report
from flows.schedules import TIMEOUT_SECONDS, FlowName
from flows.specs import Dataset, read_dataset
from flows.takedown.sweep import check_answered
from flows.takedown.sweep import describe as swept
from flows.takedown.sweep import sweep as sweep_sources
from schemas.errors import FetchError

RETRY_SECONDS = (10.0, 60.0, 300.0)
"""Between attempts to do what a server did not answer, beyond the patience of each request."""
Minutes = Annotated[float, Field(ge=0, le=24 * 60)]
Overrides = dict[str, str]


@flow(name="nightly", task_runner=THREADS, timeout_seconds=TIMEOUT_SECONDS["nightly"])
def nightly(
    spec: str,
    as_of: date | None = None,
    workspace: str | None = None,
    changes: Changes = "inventory",
    wait_minutes: Minutes = 360,
    overrides: Overrides | None = None,
) -> dict[str, Any]:
    """Crawl what is new or changed, then extract and ground it.

    Args:
        spec: The dataset's spec.toml.
        as_of: Day the run stands for; today when empty. Articles released later are not asked for.
        workspace: Folder of raw/, work/ and releases/; empty for that of the settings.
        changes: How to learn which articles changed: PMC's inventory, asking for each, or not at all.
        wait_minutes: How long to wait for another run that holds the workspace.
        overrides: Keys of the spec to override, as --set does.
    """
    with _begun("nightly", spec, as_of, workspace, wait_minutes, overrides) as (run, dataset):
        for request in dataset.requests():
            _crawled(request.brought_up_to_date(changes, _day(as_of)), workspace)
        with hired_once():
            extract(workspace, dataset.spec)
            ground(workspace, dataset.spec.grounding)
        return report(run)


@flow(name="weekly", task_runner=THREADS, timeout_seconds=TIMEOUT_SECONDS["weekly"])
def weekly(
    spec: str,
    as_of: date | None = None,
    workspace: str | None = None,
    version: str | None = None,
    wait_minutes: Minutes = 360,
    overrides: Overrides | None = None,
) -> dict[str, Any]:
    """Build the tasks; release and audit them where something changed.

    Args:
        spec: The dataset's spec.toml.
        as_of: Day the run stands for, for its record; what is built is what the workspace holds.
        workspace: Folder of raw/, work/ and releases/; empty for that of the settings.
        version: Of the release, MAJOR.MINOR.PATCH; empty to have it follow from what changed.
        wait_minutes: How long to wait for another run that holds the workspace.
        overrides: Keys of the spec to override, as --set does.
    """
    with _begun("weekly", spec, as_of, workspace, wait_minutes, overrides) as (run, dataset):
        load_prose(dataset.cards, sorted(dataset.spec.tasks))
        build(sorted(dataset.spec.tasks), workspace, dataset.spec)
        run.set(releases=release(dataset, version, workspace))
        return report(run)


@flow(name="sweep", timeout_seconds=TIMEOUT_SECONDS["sweep"])
def sweep(
    spec: str,
    as_of: date | None = None,
    workspace: str | None = None,
    wait_minutes: Minutes = 60,
    overrides: Overrides | None = None,
) -> dict[str, Any]:
    """Ask the sources for retractions, concerns, changed licences and vanished articles.

    Args:
        spec: The dataset's spec.toml.
        as_of: Day the run stands for; today when empty. Later inventories are not looked at.
        workspace: Folder of raw/, work/ and releases/; empty for that of the settings.
        wait_minutes: How long to wait for another run that holds the workspace.
        overrides: Keys of the spec to override, as --set does.
    """
    with _begun("sweep", spec, as_of, workspace, wait_minutes, overrides) as (run, dataset):

        def work() -> None:
            found = sweep_sources(dataset.spec, workspace=workspace, as_of=_day(as_of))
            run.set(notes=swept(found, is_plan=False).splitlines())
            check_answered(found)

        _of_the_network("sweep", work)
        return report(run)


@flow(name="review_pull", timeout_seconds=TIMEOUT_SECONDS["review_pull"])
def review_pull(
    spec: str,
    as_of: date | None = None,
    workspace: str | None = None,
    wait_minutes: Minutes = 15,
    overrides: Overrides | None = None,
) -> dict[str, Any]:
    """Fetch new answers of annotators into the workspace.

    Where there is no review, or another run holds the workspace for longer, do nothing and say so.

    Args:
        spec: The dataset's spec.toml.
        as_of: Day the run stands for, for its record; answers are those that stand now.
        workspace: Folder of raw/, work/ and releases/; empty for that of the settings.
        wait_minutes: How long to wait for another run that holds the workspace.
        overrides: Keys of the spec to override, as --set does.
    """
    with _begun("review_pull", spec, as_of, workspace, wait_minutes, overrides) as (run, dataset):
        name = dataset.spec.name
        if not has_review(_opened(workspace), name):
            run.set(notes=[f"{name} has no review"])
            return report(run)

        def work() -> None:
            try:
                run.set(notes=pulled(pull_reviews(workspace, name), dry_run=False).splitlines())
            except Busy as error:  # the next one fetches the same answers
                run.set(notes=[f"nothing fetched this time: {error.message}"])

        _of_the_network("review pull", work)
        return report(run)


@contextlib.contextmanager
def _begun(
    name: FlowName,
    spec: str,
    as_of: date | None,
    workspace: str | None,
    wait_minutes: float,
    overrides: Overrides | None,
) -> Iterator[tuple[Run, Dataset]]:
    """A recorded run of a flow, patient with others, and the dataset it is for.

    Until the spec is read, and where it cannot be, the run is one of the folder it stands in.
    """
    given = {"spec": spec, "as_of": _day(as_of), "overrides": dict(overrides or {})}
    with (
        recorded(
            _opened(workspace), name, dataset=Path(spec).absolute().parent.name, parameters=given
        ) as run,
        patient(wait_minutes * 60),
        reporting(LoggingReporter(get_run_logger())),
    ):
        try:
            dataset = read_dataset(Path(spec), overrides)
            run.set(dataset=dataset.spec.name)
            yield run, dataset
        except BaseException as error:
            report(run, error)
            raise


def _opened(workspace: str | None) -> Workspace:
    """The workspace, made if it is missing: a first night has none."""
    return open_workspace(load_settings(workspace=workspace).workspace, create=True)


def _day(as_of: date | None) -> str:
    return "" if as_of is None else as_of.isoformat()


def _of_a_server(_task: Any, _run: Any, state: State[Any]) -> bool:
    """Whether a server did not answer: the only failure that may pass by itself."""
    return isinstance(state.result(raise_on_failure=False), FetchError)


def _of_the_network(name: str, work: Callable[[], Any]) -> Any:
    """Do something that asks servers; again after a while where one did not answer."""

    @task(
        name=name,
        retries=len(RETRY_SECONDS),
        retry_delay_seconds=list(RETRY_SECONDS),
        retry_condition_fn=_of_a_server,
        cache_policy=NO_CACHE,
    )
    def attempt() -> Any:
        return work()

    return attempt()


def _crawled(request: CrawlRequest, workspace: str | None) -> None:
    _of_the_network(f"crawl {request.source}", lambda: crawl(request, workspace))
