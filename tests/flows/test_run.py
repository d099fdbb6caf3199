"""The scheduled run, day after day in one process: what it releases follows from what changed.

Its parameters are those of a schedule: a spec, and no version.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from annotation.assignment import numbered
from annotation.verdicts import Terms
from flows.cli.app import run_cli
from flows.cluster import hired
from flows.crawl.locators import read_ids
from flows.engine.workspace import Workspace, open_workspace
from flows.inspect.status import status
from flows.review.candidates import Options, prepare
from flows.review.store import review_folder
from flows.review.verdicts import settle
from flows.specs import DATA_CARDS
from schemas.review import ReviewAnnotation, annotation_id
from schemas.spec import DatasetSpec, load_spec
from sources.sample import bucket_dir, ids_path
from sources.sample.server import BucketServer
from tests.conftest import share_vocabulary
from tests.fewer import plant_fewer

TASK = "visual_context"
SPEC = """
name = "daily"
title = "What a schedule makes"
[sources]
pmc_ids = "ids.txt"
[baselines]
systems = []
[tasks.visual_context]
"""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with BucketServer([bucket_dir()], synthetic_images=False) as server:
        monkeypatch.setenv("MEDQRELS_PMC__ENDPOINT", server.endpoint)
        yield


def judge(workspace: Workspace, directory: Path) -> None:
    """Two readers agree with the grade of every label: labels change, and nothing else does."""
    crew = tuple(numbered(2))
    prepare(directory, workspace, Options(people=crew, ocr=False))
    folder = review_folder(workspace, "daily", TASK)
    items = {item.id: item for item in folder.candidates()}
    rows = []
    for given in folder.allotments():
        item = items[given.candidate_id]
        grade = item.rule_grade if item.origin == "positive" else item.known_grade
        if grade is None:
            continue  # of the pool: nobody judges what has no label
        rows.append(
            ReviewAnnotation(
                id=annotation_id(item.id, given.annotator, given.role, grade, ""),
                candidate_id=item.id,
                task=TASK,
                annotator=given.annotator,
                role=given.role,
                grade=grade,
                reason="",
                comment="",
                seconds=2.0,
                sequence=given.place,
            )
        )
    folder._write("annotations", ReviewAnnotation, sorted(rows, key=lambda row: row.id))
    assert settle(folder, Terms(), crew).verdicts


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("bucket", "loads_in_one_process")
def test_the_run_works_for_many_days(
    tmp_path: Path, sample: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flows.run import run

    plant_fewer(monkeypatch)
    cards = tmp_path / "cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC, "utf-8")
    monkeypatch.setenv("MEDQRELS_WORKSPACE", str(tmp_path / "ws"))
    monkeypatch.setenv("MEDQRELS_WORKERS", "1")
    workspace = open_workspace(tmp_path / "ws", create=True)
    share_vocabulary(sample, workspace)
    ids = read_ids(ids_path())

    reads: list[Path] = []

    def counted(path: Path, overrides: Mapping[str, str] | None = None) -> DatasetSpec:
        reads.append(path)
        return load_spec(path, overrides)

    monkeypatch.setattr("flows.specs.load_spec", counted)

    def day(articles: list[str]) -> dict[str, Any]:
        (cards / "ids.txt").write_text("\n".join(articles), "utf-8")
        reads.clear()
        made: dict[str, Any] = run(str(cards / "spec.toml"))["releases"][0]
        assert reads == [cards / "spec.toml"], "a run reads its spec once"
        return made

    first = day(ids[:2])
    assert (first["version"], first["why"], first["change"]) == ("1.0.0", "first release", {})
    stamp = os.stat(first["audit_page"]).st_mtime_ns
    unchanged = day(ids[:2])
    assert (unchanged["version"], unchanged["is_new"], unchanged["why"]) == (
        "1.0.0",
        False,
        "nothing changed",
    )
    assert unchanged["audit"] == first["audit"] == "clean"
    assert os.stat(unchanged["audit_page"]).st_mtime_ns == stamp
    report = Path(unchanged["path"]) / "audit.json"
    report.write_text(
        report.read_text("utf-8").replace('"verdict": "clean"', '"verdict": "invalid"'), "utf-8"
    )
    assert '"invalid"' in report.read_text("utf-8")
    assert day(ids[:2])["audit"] == "clean", "an audit that missed a defect says nothing of the release"
    grown = day(ids[:3])
    assert (grown["version"], grown["is_new"]) == ("1.1.0", True)
    assert grown["why"].startswith("minor since 1.0.0: visual_context +") and "documents" in grown["why"]
    judge(workspace, Path(grown["path"]))
    judged = day(ids[:3])
    assert (judged["version"], judged["is_new"]) == ("1.1.1", True)
    assert judged["why"].startswith("patch since 1.1.0: ")
    assert any(note.startswith("labels ") for note in judged["change"]["notes"])
    told = {(row["rule_grade"], row["grade"], row["is_same"]) for row in judged["judged_by_people"]}
    assert (2, 2, True) in told and grown["judged_by_people"] == []
    assert all(same == (rule is not None) for rule, _, same in told), "gold items of grade 0 had no label"
    assert not any("quer" in note and "rows of" not in note for note in judged["change"]["notes"])
    listed = {item["version"]: item for item in status(workspace)["releases"]}
    assert list(listed) == ["1.0.0", "1.1.0", "1.1.1"]
    assert not any(item["publishable"] for item in listed.values()), "the sample is synthetic"


def test_a_cluster_that_is_not_there_is_found_out_before_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crawl(*_: Any) -> None:
        raise AssertionError("hours of it")

    monkeypatch.setattr("flows.run.crawl", crawl)
    monkeypatch.setattr(hired, "PATIENCE_SECONDS", 0.5)
    spec = str(DATA_CARDS / "medqrels-sample" / "spec.toml")
    dask, store = ("--dask", "tcp://127.0.0.1:9"), ("--store", str(tmp_path / "store"))
    for options, code, told in (
        (dask, 2, "--store (or MEDQRELS_STORE) is missing"),
        (store, 2, "--dask (or MEDQRELS_DASK) is missing"),
        ((*dask, *store), 3, "no Dask scheduler answers"),
        ((*dask, "--store", "gs://bucket"), 2, "names no place"),
    ):
        given = ["run", "--spec", spec, "--workspace", str(tmp_path / "ws"), *options]
        for command in (given, [*given, "--dry-run"]):
            assert run_cli(command) == code and told in capsys.readouterr().err
    assert not (tmp_path / "store").exists()
