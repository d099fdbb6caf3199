"""A release is proved by making it again; what cannot be is refused before any work, by name."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.published.manifest import NAME, read_manifest
from curation.release.card import prose_files
from flows.cli.app import run_cli
from flows.crawl.locators import read_ids
from flows.engine.environment import made_with
from flows.engine.progress import SilentReporter
from flows.engine.purged import PURGED
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace, open_workspace
from flows.pipeline import VERSIONS
from flows.release import rebuild as rebuilding
from flows.release.rebuild import NotRebuildable, rebuild
from flows.release.recorded import RECORD, keep, read_record, record_folder, stage_hashes
from flows.release.versions import Maker
from flows.specs import DATA_CARDS, read_dataset
from schemas.errors import MedqrelsError, UsageError, WorkspaceError
from schemas.hashing import sha256_bytes
from schemas.spec import DatasetSpec
from sources.sample import ids_path
from tests.conftest import share_vocabulary
from tests.flows.release.conftest import SPEC
from tests.pipeline import crawl_bucket, run_partition, run_stages

LABEL = "known@1.0.0"


@pytest.fixture
def workspace(recorded: Workspace) -> Workspace:
    return recorded


def refused(workspace: Workspace) -> NotRebuildable:
    with pytest.raises(NotRebuildable) as caught:
        rebuild(LABEL, workspace.root)
    assert str(caught.value).startswith(f"not_rebuildable: {caught.value.reason}: ")
    assert caught.value.attrs()["reason"] == caught.value.reason
    return caught.value


def test_a_record_holds_all_that_later_work_changes(workspace: Workspace) -> None:
    folder = record_folder(workspace, "known", "1.0.0")
    record = read_record(folder)
    assert record is not None and record.spec == "cards/spec.toml"
    assert not any(name.endswith("_run.json") for name in record.files), "it tells time"
    prose = {f"cards/{name}" for name in prose_files(["visual_context"])["visual_context"]}
    assert {name for name in record.files if name.startswith("cards/")} == {"cards/spec.toml", *prose}
    assert {name.split("/")[0] for name in record.files} == {"cards", "work", "answers"}
    assert "cards/limitations.md" in prose and "answers/a-model/answers.jsonl" in record.files
    assert record.stages == stage_hashes(workspace) and list(record.stages) == ["crawl"]
    (crawled,) = folder.glob("work/crawl/*/raw.parquet")
    assert pq.read_metadata(crawled).num_rows == 2
    (workspace.answers / "a-model/answers.jsonl").write_text("later\n", "utf-8")
    assert (folder / "answers/a-model/answers.jsonl").read_text("utf-8") == '{"answer": 1}\n'


def test_what_was_deleted_for_good_is_not_rebuildable(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"id": "pmc:PMC1.1", "reason": "privacy", "releases": [LABEL]}
    other = {"id": "pmc:PMC2.1", "reason": "court", "releases": ["other@1.0.0"]}
    (workspace.root / PURGED).write_text(f"{json.dumps(other)}\n{json.dumps(entry)}\n", "utf-8")
    error = refused(workspace)
    assert (error.reason, error.record) == ("purged", "pmc:PMC1.1") and "privacy" in error.message
    assert run_cli(["rebuild", LABEL, "--check", "--json", "--workspace", str(workspace.root)]) == 3
    told = json.loads(capsys.readouterr().err)
    assert told["reason"] == "purged" and told["message"].startswith("not_rebuildable: purged: privacy: ")
    (workspace.root / PURGED).write_text("{}\n", "utf-8")
    with pytest.raises(MedqrelsError, match="line 1 is no record of a purge"):
        rebuild(LABEL, workspace.root)


def test_bytes_that_are_gone_are_named(workspace: Workspace) -> None:
    media = next(path for path in sorted(workspace.raw.rglob("*")) if path.suffix in (".jpg", ".png", ".xml"))
    whole = media.read_bytes()
    media.write_bytes(whole + b" ")
    error = refused(workspace)
    assert (error.reason, error.file) == ("missing_raw", str(media)) and error.record.startswith("pmc:PMC99")
    media.unlink()
    assert refused(workspace).file == str(media)


def test_a_recorded_answer_or_shard_that_is_gone_is_named(workspace: Workspace) -> None:
    folder = record_folder(workspace, "known", "1.0.0")
    (folder / "answers/a-model/answers.jsonl").write_text("", "utf-8")
    assert refused(workspace).reason == "missing_answer"
    (folder / "answers/a-model/answers.jsonl").write_text('{"answer": 1}\n', "utf-8")
    next(folder.glob("work/crawl/*/raw.parquet")).unlink()
    assert refused(workspace).reason == "missing_input"


def test_another_program_or_vocabulary_is_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = workspace.releases / "known/1.0.0/visual_context"
    with monkeypatch.context() as changed:
        changed.setattr(rebuilding, "VERSIONS", {**VERSIONS, "extract": 999})
        error = refused(workspace)
        assert error.reason == "other_code" and "stage " in error.message
    with monkeypatch.context() as changed:
        changed.setattr(rebuilding, "made_with", lambda: {**made_with(), "python": "2.7"})
        assert refused(workspace).reason == "other_environment"
    manifest = dataclasses.replace(read_manifest(directory), vocabulary="f" * 64, stages=())
    (directory / NAME).write_text(manifest.to_json(), "utf-8")
    error = refused(workspace)
    assert error.reason == "other_vocabulary" and "ffffffffffff" in error.message


def test_a_release_without_a_record_or_that_is_not_there(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match=r"no release known@9\.0\.0 in this workspace"):
        rebuild("known@9.0.0", workspace.root)
    record = record_folder(workspace, "known", "1.0.0") / RECORD
    content = json.loads(record.read_text("utf-8"))
    record.write_text(json.dumps({**content, "format_version": 99}), "utf-8")
    with pytest.raises(WorkspaceError, match="of format 99"):
        rebuild(LABEL, workspace.root)
    record.unlink()
    assert refused(workspace).reason == "no_record"
    assert run_cli(["rebuild", LABEL, "--workspace", str(workspace.root)]) == 2
    assert "--check proves it" in capsys.readouterr().err


def test_the_first_stage_that_gave_something_else_is_named(workspace: Workspace) -> None:
    record = read_record(record_folder(workspace, "known", "1.0.0"))
    assert record is not None
    record = dataclasses.replace(
        record, stages={"parse": "1", "extract": "2", "other_task": "3", "cases": "4"}
    )
    assert rebuilding._stage(record, {"parse": "1", "extract": "x", "cases": "y"}) == "extract"
    assert rebuilding._stage(record, {"parse": "1", "extract": "2", "cases": "4"}) == "release"


def test_the_model_that_answered_is_the_one_of_the_release(workspace: Workspace) -> None:
    found = rebuilding._find(workspace, LABEL)
    told: dict[str, Any] = {"name": "known", "title": "Known", "prompts": {"stages": ["hyde", "query2doc"]}}
    spec = DatasetSpec.model_validate({**told, "tasks": {"visual_context": {}}})
    directory = found.tasks["visual_context"]
    manifest = read_manifest(directory)

    def answered(**models: str) -> None:
        stages = [
            {"name": f"{stage}_answers", "version": 1, "params": {"model": model, "prompt_sha256": ""}}
            for stage, model in models.items()
        ]
        stages.append({"name": "visual_context_hyde_texts", "version": 1, "params": {"prompt_sha256": ""}})
        (directory / NAME).write_text(dataclasses.replace(manifest, stages=tuple(stages)).to_json(), "utf-8")

    assert rebuilding._answered_by(spec, found) == spec
    answered(visual_context_hyde="")
    assert rebuilding._answered_by(spec, found) == spec
    answered(visual_context_hyde="a-model", visual_context_query2doc="b-model")
    made = rebuilding._answered_by(spec, found).prompts
    assert made.models == {"hyde": "a-model", "query2doc": "b-model"} and made.model == ""
    answered(visual_context_hyde="a-model", summary_hyde="b-model")
    both = DatasetSpec.model_validate({**told, "tasks": {"visual_context": {}, "summary": {}}})
    with pytest.raises(NotRebuildable, match="several_models"):
        rebuilding._answered_by(both, found)


@pytest.mark.usefixtures("loads_in_one_process")
def test_a_release_is_proved_although_the_workspace_went_on(
    tmp_path: Path, sample: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two articles, released; then a third is crawled, prose is edited, and one sealed byte is added."""
    monkeypatch.setenv("MEDQRELS_WORKERS", "1")
    workspace = open_workspace(tmp_path / "ws", create=True)
    share_vocabulary(sample, workspace)
    crawl_bucket(workspace, read_ids(ids_path())[:2])
    cards = tmp_path / "known"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC.replace("[tasks", "[baselines]\nsystems = []\n[tasks"), "utf-8")
    dataset = read_dataset(cards / "spec.toml")
    run_stages(workspace, spec=dataset.spec)
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    maker = Maker(
        session, dataset.spec, cards, {}, lambda version: run_partition(workspace, dataset.spec, version)
    )
    assert maker.make(None).version == "1.0.0"
    keep(workspace, dataset, "1.0.0")

    crawl_bucket(workspace, read_ids(ids_path())[2:3])
    (cards / "collection.md").write_text("Told in other words.\n", "utf-8")
    directory = workspace.releases / "known/1.0.0/visual_context"
    whole = (directory / "README.md").read_bytes()
    (directory / "README.md").write_bytes(whole + b" ")
    found = rebuild(LABEL, workspace.root)
    assert [row["file"] for row in found["differing"]] == ["README.md"], "every other byte is equal"
    assert found["first"]["stage"] == "release" and found["first"]["found"] == sha256_bytes(whole)
    assert found["files"] == len(read_manifest(directory).files) + 1 and found["same_code"]
    assert not found["is_equal"] and found["tasks"] == ["visual_context"]
