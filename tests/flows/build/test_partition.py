"""A second release: what the first published keeps its task and split, whatever was crawled since."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.tasks.registry import TASKS
from flows.crawl.locators import read_ids
from flows.engine.progress import SilentReporter
from flows.engine.releases import earlier_releases
from flows.engine.runner import table_files
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from schemas.spec import DatasetSpec
from sources.sample import ids_path
from tests.conftest import share_vocabulary
from tests.pipeline import crawl_bucket, new_workspace, run_partition, run_stages

SPEC = """
name = "grown"
title = "A dataset that grows"
[partition]
dev_share = 0.3
[tasks.visual_context]
"""
Placed = dict[str, tuple[str, str, str]]
"""Query id -> task, split, version that first published it."""


def release(workspace: Workspace, spec: DatasetSpec, cards: Path, version: str) -> Placed:
    run_partition(workspace, spec, version)
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    found: Placed = {}
    for task in sorted(spec.tasks):
        release_task(session, TASKS[task], spec, cards, version, {})
        folder = workspace.releases / spec.name / version / task / "provenance" / "queries"
        for row in pq.read_table(folder, columns=["id", "split", "since"]).to_pylist():
            found[row["id"]] = (task, row["split"], row["since"])
    return found


@pytest.mark.timeout(300)
def test_what_was_published_stays_where_it_is(tmp_path: Path, sample: Workspace) -> None:
    cards = tmp_path / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC, "utf-8")
    spec = read_spec(cards / "spec.toml")
    workspace = new_workspace(tmp_path / "ws")
    share_vocabulary(sample, workspace)
    ids = read_ids(ids_path())
    crawl_bucket(workspace, ids[::2])
    run_stages(workspace, spec=spec)
    first = release(workspace, spec, cards, "1.0.0")
    assert {since for _, _, since in first.values()} == {"1.0.0"}

    crawl_bucket(workspace, ids)
    run_stages(workspace, spec=spec)
    second = release(workspace, spec, cards, "1.1.0")
    assert {name: second[name] for name in first} == first
    added = {place for name, place in second.items() if name not in first}
    assert added and {since for _, _, since in added} == {"1.1.0"}

    published = pq.read_table(list(table_files(workspace, "published.keys"))).to_pylist()
    assert {row["query_id"] for row in published} == set(first)
    assert [version for version, _ in earlier_releases(workspace, "grown", "1.1.0")] == ["1.0.0"]
    assert [version for version, _ in earlier_releases(workspace, "grown", None)] == ["1.0.0", "1.1.0"]


def test_versions_are_ordered_as_versions(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "ws")
    for version in ("0.9.0", "0.10.0", "1.0.0-rc1", "1.0.0", "notes"):
        folder = workspace.releases / "grown" / version / "summary"
        folder.mkdir(parents=True)
        (folder / "release.json").write_text("{}", "utf-8")
    found = [version for version, _ in earlier_releases(workspace, "grown", None)]
    assert found == ["0.9.0", "0.10.0", "1.0.0-rc1", "1.0.0"]
    assert [version for version, _ in earlier_releases(workspace, "grown", "1.0.0")] == found[:3]
