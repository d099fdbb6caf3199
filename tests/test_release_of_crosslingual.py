"""crosslingual_qa built from the sample and released: by language, known items apart, audited."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.rules import facet_results, multilingual
from curation.tasks.registry import TASKS
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from tests.pipeline import run_partition, run_stages
from tests.releases import card_text

NAME = "crosslingual_qa"
SPEC = f"""
name = "crosslingual"
title = "Questions in several languages for a test"
[baselines]
systems = ["bm25"]
nano_queries = 0
[tasks.{NAME}]
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, sample: Workspace) -> Path:
    """The task's release; read-only."""
    root = tmp_path_factory.mktemp("crosslingual")
    cards = root / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC, "utf-8")
    spec = read_spec(cards / "spec.toml")
    workspace = Workspace(shutil.copytree(sample.root, root / "ws"))
    run_stages(workspace, spec=spec)
    run_partition(workspace, spec, "1.0.0")
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    release_task(session, TASKS[NAME], spec, cards, "1.0.0", {})
    return workspace.releases / "crosslingual/1.0.0" / NAME
