"""Runs the stages of the pipeline without Prefect, for tests that compare bytes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from curation.tasks.registry import TASKS
from flows.build.earlier_stages import bring_earlier
from flows.build.jobs import jobs_of
from flows.build.model_stages import take_in
from flows.build.partition import partition_jobs
from flows.build.review_stages import bring_verdicts
from flows.crawl.fetch import crawl_shard, finished, identity, shard_params
from flows.crawl.selection import select
from flows.engine.execution import Workers, split_done, workers
from flows.engine.progress import SilentReporter
from flows.engine.runner import Job
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace, open_workspace
from flows.pipeline import Choices, steps
from flows.vocabulary.indexes import index_in_use
from schemas.spec import DatasetSpec, Prompts
from sources import litarch, openstax, pmc, questions
from sources.http import ClientSettings, PoliteClient
from sources.ledger import Ledger
from sources.openstax.checkout import open_folder
from sources.sample import bucket_dir
from sources.sample.bookshelf_server import BookshelfServer
from sources.sample.server import BucketServer
from sources.store import RawStore


def crawl_bucket(
    workspace: Workspace,
    ids: Sequence[str],
    *,
    roots: Sequence[Path] = (),
    shard_size: int = 500,
    synthetic_images: bool = False,
) -> BucketServer:
    """Crawl articles from a loopback bucket; returns the server, stopped, with its counters."""
    with BucketServer(list(roots) or [bucket_dir()], synthetic_images=synthetic_images) as server:
        host = server.endpoint.split("/")[2]
        client = PoliteClient(
            ClientSettings(
                allowed_hosts=(host,), contact="test@localhost", requests_per_second=5_000, burst=5_000
            )
        )
        store = RawStore(workspace.raw, Ledger(workspace.ledger))
        context = pmc.PmcContext(client=client, store=store, endpoint=server.endpoint)
        with SilentReporter().stage("crawl", len(ids), "articles") as steps:
            for selection in select(workspace, "pmc", ids, shard_size):
                wanted = identity(selection, shard_params(Settings(), "open"), "")
                if finished(workspace, wanted) is None:
                    crawl_shard(workspace, selection, wanted, lambda item: pmc.fetch(item, context), 4, steps)
        return server


def crawl_bookshelf(workspace: Workspace) -> BookshelfServer:
    """Crawl the sample book from a loopback Bookshelf; returns the server, stopped, with its counters."""
    with BookshelfServer() as server:
        client = PoliteClient(
            ClientSettings(allowed_hosts=("127.0.0.1",), contact="test@localhost", requests_per_second=5_000)
        )
        store = RawStore(workspace.raw, Ledger(workspace.ledger))
        context = litarch.LitarchContext(
            client=client, store=store, endpoint=server.endpoint, oai_endpoint=server.oai_endpoint
        )
        chapters = litarch.chapters("inventox", context)
        with SilentReporter().stage("crawl", len(chapters), "articles") as steps:
            for selection in select(workspace, "litarch", chapters, 500):
                wanted = identity(selection, shard_params(Settings(), "open"), "")
                if finished(workspace, wanted) is None:
                    fetch = functools.partial(litarch.fetch, context=context)
                    crawl_shard(workspace, selection, wanted, fetch, 1, steps)
        return server


def crawl_textbook(workspace: Workspace, folder: Path) -> None:
    """Crawl the modules of an OpenStax checkout on disk."""
    context = openstax.OpenStaxContext(open_folder(folder), RawStore(workspace.raw, Ledger(workspace.ledger)))
    modules = openstax.locators(context.checkout)
    with SilentReporter().stage("crawl", len(modules), "articles") as steps:
        for selection in select(workspace, "openstax", modules, 500):
            wanted = identity(selection, shard_params(Settings(), "open"), "")
            crawl_shard(
                workspace, selection, wanted, functools.partial(openstax.fetch, context=context), 1, steps
            )


def crawl_questions(workspace: Workspace, path: Path) -> None:
    """Take a collection of questions with its sidecar, or a folder of them."""
    context = questions.QuestionsContext(
        root=questions.root_of(path), store=RawStore(workspace.raw, Ledger(workspace.ledger))
    )
    with SilentReporter().stage("crawl", 1, "articles") as steps:
        for selection in select(workspace, "questions", questions.discover(path), 500):
            wanted = identity(selection, shard_params(Settings(), "open"), "")
            crawl_shard(
                workspace, selection, wanted, functools.partial(questions.fetch, context=context), 1, steps
            )


LABELLED = tuple(
    name
    for name, task in TASKS.items()
    if not task.candidates_because and "confusions" not in task.extra_tables
)
"""Tasks whose rules give labels and that are ranked over a whole corpus: the shipped specs have all of them.
Others are built where asked for."""
UNGROUNDED = ("visual_context",)
"""Tasks that read nothing of what grounding makes."""
SEVERAL_TASKS = (
    "PMC5845260", "PMC6334730", "PMC5819207", "PMC4745298", "PMC6760546", "PMC5833907",
    "PMC8194346", "PMC4739453", "PMC4738724", "PMC4738734", "PMC8116530", "PMC4745305",
    "PMC8149731", "PMC6342895", "PMC4735908", "PMC4738737", "PMC4736587", "PMC7738079",
)  # fmt: skip
"""Articles of the shared data that several tasks want."""


def run_jobs(jobs: Sequence[Job], pool: Workers) -> int:
    """Run what is not done; how many shards were made."""
    _, waiting = split_done(jobs)
    for group in pool.groups(list(waiting.values())):
        for _ in pool.run_group(group):
            pass
    return len(waiting)


def run_stages(
    workspace: Workspace,
    count: int = 1,
    *,
    ground: bool = True,
    spec: DatasetSpec | None = None,
    tasks: Sequence[str] | None = None,
) -> int:
    """Parse, extract, ground and build; how many shards were made. Without grounding only UNGROUNDED.

    Tasks are those named, else those of the spec, else all.
    """
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    named = sorted(spec.tasks if spec else TASKS) if ground else UNGROUNDED
    wanted = named if tasks is None else tasks
    planned = steps("extract") + (steps("ground") if ground else [])
    planned += steps("build", wanted) if wanted else []
    made = 0
    with workers(count) as pool:
        for step in planned:
            if step.model is not None:
                take_in(session, spec.prompts if spec else Prompts(), step.model)
                continue
            if step.review is not None:
                bring_verdicts(session, spec.name if spec else "", step.review)
                continue
            if step.earlier is not None:
                bring_earlier(session, spec.name if spec else "", step.task, step.earlier)
                continue
            if step.verb == "ground":
                index_in_use(workspace, "native", SilentReporter())
            made += run_jobs(jobs_of(session, step, Choices.of(spec)), pool)
    return made


def run_partition(workspace: Workspace, spec: DatasetSpec, version: str | None = None) -> int:
    """Share the queries of a spec's tasks out; how many shards were made."""
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    with workers(1) as pool:
        return run_jobs(partition_jobs(session, spec, version), pool)


def new_workspace(root: Path) -> Workspace:
    """An empty workspace."""
    return open_workspace(root, create=True)
