"""Builds the embedded sample up to the tasks: the real client, a loopback bucket, no Prefect server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curation.concepts.stage import GROUND
from curation.extract.stage import EXTRACT
from curation.tasks.registry import TASKS
from flows.crawl import _pmc_fetch
from flows.crawling import crawl_shard, identity
from flows.locators import read_ids
from flows.progress import SilentReporter
from flows.runner import Resource, execute, plan
from flows.selection import select
from flows.settings import PmcSettings, Settings
from flows.specs import spec_path, task_params
from flows.vocabulary import hpo_names
from flows.workspace import Workspace, open_workspace
from schemas.stages import RecordStage, SetStage
from sources.ledger import Ledger
from sources.sample import bucket_dir, ids_path
from sources.sample.server import BucketServer
from sources.stage import PARSE
from sources.store import RawStore


def build_sample(root: Path) -> Workspace:
    """Crawl, parse, extract, ground and build the sample into a new workspace."""
    workspace = open_workspace(root, create=True)
    _crawl(workspace)
    params = task_params(str(spec_path("medqrels-sample")), None)
    stages: list[tuple[RecordStage | SetStage, Any, dict[str, Resource]]] = [
        (PARSE, None, {"raw": Resource(workspace.raw)}),
        (EXTRACT, None, {}),
        (GROUND, None, {"vocabulary": hpo_names(workspace)}),
    ]
    for name, given in sorted(params.items()):
        stages += [(TASKS[name].per_article, given, {}), (TASKS[name].over_all, None, {})]
    for stage, given, resources in stages:
        for job in plan(workspace, stage, params=given, resources=resources):
            execute(job)
    return workspace


def _crawl(workspace: Workspace) -> None:
    store = RawStore(workspace.raw, Ledger(workspace.ledger))
    with BucketServer([bucket_dir()], synthetic_images=False) as server:
        settings = Settings(pmc=PmcSettings(endpoint=server.endpoint))
        fetch = _pmc_fetch(settings, store, "open")
        for selection in select(workspace, "pmc", read_ids(ids_path()), 5):
            with SilentReporter().stage("crawl", len(selection.locators), "articles") as steps:
                crawl_shard(workspace, selection, identity(selection, {}, ""), fetch, 4, steps)
