"""Builds the embedded sample up to the tasks, in several shards, for the golden hashes."""

from __future__ import annotations

from pathlib import Path

from flows.crawl.locators import read_ids
from flows.engine.workspace import Workspace
from flows.specs import read_spec, spec_path
from sources.sample import ids_path
from tests.pipeline import crawl_bookshelf, crawl_bucket, new_workspace, run_partition, run_stages

SHARD_SIZE = 5


def build_sample(root: Path) -> Workspace:
    """Crawl, parse, extract, ground, build and partition the sample into a new workspace."""
    workspace = new_workspace(root)
    crawl_bucket(workspace, read_ids(ids_path()), shard_size=SHARD_SIZE)
    crawl_bookshelf(workspace)
    run_stages(workspace)
    run_partition(workspace, read_spec(spec_path("medqrels-sample")))
    return workspace
