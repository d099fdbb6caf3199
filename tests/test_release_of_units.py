"""Queries over several figures and of panels, before passages and before sections: released and audited."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.tasks.registry import TASKS
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from tests.pipeline import run_partition, run_stages

NAME = "visual_context"
SPEC = f"""
name = "units"
title = "Several figures, panels and sections"
[tasks.{NAME}]
max_images = 6
panels = true
granularity = "{{granularity}}"
"""


@pytest.mark.parametrize("granularity", ["passage", "section"])
def test_a_release_of_every_unit_is_clean(sample: Workspace, tmp_path: Path, granularity: str) -> None:
    made = Workspace(shutil.copytree(sample.root, tmp_path / "ws"))
    cards = shutil.copytree(DATA_CARDS / "medqrels-sample", tmp_path / "cards")
    (cards / "spec.toml").write_text(SPEC.format(granularity=granularity), "utf-8")
    spec = read_spec(cards / "spec.toml")
    run_stages(made, spec=spec, tasks=[NAME])
    run_partition(made, spec, "1.0.0")
    session = Session(Settings(workspace=made.root), made, SilentReporter())
    release_task(session, TASKS[NAME], spec, cards, "1.0.0", {})
    folder = made.releases / "units/1.0.0" / NAME
    asked = pq.read_table(folder / "provenance/images").to_pylist()
    assert {row["side"] for row in asked} == {"query"} and len({row["id"] for row in asked}) > 5
    assert pq.read_table(folder / "provenance/panels").num_rows
    report = audit(folder, query(), plant=False)
    wrong = {rule.rule: rule.findings[:2] for rule in report.rules if rule.status in ("failed", "error")}
    assert not wrong, wrong
    status = {rule.rule: rule.status for rule in report.rules}
    assert {status[rule] for rule in ("several_images", "cites_all", "panels", "facets")} == {"passed"}
