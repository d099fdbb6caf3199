"""A workspace with a release whose inputs were recorded, for tests of what becomes of it later."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from curation.published.manifest import NAME, read_manifest
from curation.release.card import SHARED
from flows.crawl.locators import read_ids
from flows.engine.environment import made_with
from flows.engine.workspace import Workspace, open_workspace
from flows.pipeline import VERSIONS
from flows.release.recorded import keep
from flows.specs import DATA_CARDS, read_dataset
from sources.sample import ids_path
from tests.curation.release.known import make_world
from tests.pipeline import crawl_bucket

SPEC = 'name = "known"\ntitle = "Known release"\nlicence_profile = "open"\n[tasks.visual_context]\n'


@pytest.fixture(scope="package")
def recorded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two crawled articles and a release whose inputs were recorded."""
    folder = tmp_path_factory.mktemp("rebuild") / "own"
    (folder.parent / SHARED).mkdir(parents=True)
    workspace = open_workspace(folder / "ws", create=True)
    crawl_bucket(workspace, read_ids(ids_path())[:2])
    directory = make_world(folder / "world").release(made_with=made_with())
    target = workspace.releases / "known/1.0.0/visual_context"
    shutil.copytree(directory, target)
    manifest = read_manifest(target)
    stages = tuple(
        {**stage, "version": VERSIONS[stage["name"]]}
        for stage in manifest.stages
        if stage["name"] in VERSIONS
    )
    other = dataclasses.replace(manifest, stages=stages)
    other = dataclasses.replace(other, release_hash=other.computed_hash())
    (target / NAME).write_text(other.to_json(), "utf-8")
    shutil.copytree(DATA_CARDS / "medqrels-sample", folder, dirs_exist_ok=True)  # beside the workspace
    (folder / "limitations.md").rename(folder.parent / SHARED / "limitations.md")
    (folder / "spec.toml").write_text(SPEC, "utf-8")
    (workspace.answers / "a-model").mkdir(parents=True)
    (workspace.answers / "a-model/answers.jsonl").write_text('{"answer": 1}\n', "utf-8")
    keep(workspace, read_dataset(folder / "spec.toml"), "1.0.0")
    return folder / "ws"


@pytest.fixture
def recorded(recorded_once: Path, tmp_path: Path) -> Workspace:
    """A copy of it."""
    return Workspace(shutil.copytree(recorded_once, tmp_path / "ws"))
