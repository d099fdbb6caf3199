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
from flows.engine.runner import table_files
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.review.candidates import Options, prepare
from flows.specs import DATA_CARDS, read_spec
from tests.conftest import copied
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
    made = copied(sample, tmp_path / "ws")
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
    panels = set(pq.read_table(folder / "provenance/panels").column("query-id").to_pylist())
    tiers = {row["id"]: row["tier"] for row in pq.read_table(folder / "queries").to_pylist()}
    assert {tiers[name] for name in panels} == {"panel"} and "" in tiers.values()
    assert {tiers[row["id"]] for row in asked} >= {"several figures"}, "and a figure may have several images"
    report = audit(folder, query(), plant=False)
    wrong = {rule.rule: rule.findings[:2] for rule in report.rules if rule.status in ("failed", "error")}
    assert not wrong, wrong
    status = {rule.rule: rule.status for rule in report.rules}
    assert {status[rule] for rule in ("several_images", "cites_all", "panels", "facets")} == {"passed"}
    _told_of_sets(folder, made)
    _reviewed(folder, made)


def _told_of_sets(folder: Path, made: Workspace) -> None:
    """A query over several figures has the modality and region of all of them, or their group, or none."""
    labels = {
        row["id"]: row
        for path in table_files(made, "labels.records")
        for row in pq.read_table(path).to_pylist()
    }
    asked = {row["id"]: row for row in pq.read_table(folder / "queries").to_pylist()}
    told = set()
    for row in pq.read_table(folder / "provenance/queries").to_pylist():
        first, *others = row["source_id"].split("+")
        if not others:
            continue
        shown = [labels[name] for name in (first, *(f"{first.partition('#')[0]}#{one}" for one in others))]
        one, group, region = (
            {(row[column] or [""])[0] for row in shown}
            for column in ("modalities", "modality_groups", "regions")
        )
        wanted = one if len(one) == 1 else group if len(group) == 1 else {""}
        found = asked[row["id"]]
        assert {found["modality"]} == wanted and {found["region"]} == (region if len(region) == 1 else {""})
        told.add(found["modality"] != "")
    assert True in told


def _reviewed(folder: Path, made: Workspace) -> None:
    """A review shows every image that a query has, in order, and a panel as it was cut."""
    listed: dict[str, list[str]] = {}
    for row in pq.read_table(folder / "provenance/images").sort_by("position").to_pylist():
        listed.setdefault(row["id"], []).append(row["image_source_sha256"])
    panels = set(pq.read_table(folder / "provenance/panels").column("query-id").to_pylist())
    sent: dict[str, bytes] = {}
    done = prepare(
        folder,
        made,
        Options(sample=500, ocr=False),
        images=lambda name, data, extension: sent.update({name: data}),
    )
    shown = {
        row.query_id: next((item.value for item in row.shown if item.name == "query_image"), "").split()
        for row in done.folder.candidates()
    }
    assert len(listed.keys() & shown.keys()) > 5 and panels & shown.keys()
    for name, images in shown.items():
        assert images == listed.get(name, images[:1]) and set(images) <= sent.keys()
        assert ("-" in images[0]) == (name in panels)
