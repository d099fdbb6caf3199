"""The status of a workspace adds up and survives what people leave lying in folders."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import Any

from curation.audit.verify import to_bytes
from curation.published.manifest import ReleaseManifest
from flows.crawl.selection import select
from flows.engine.manifest import Manifest, Output
from flows.engine.workspace import Workspace
from flows.inspect.status import describe, status
from schemas.audit import AuditReport
from tests.flows.toy import CUT, POOL, articles, run, seed
from tests.pipeline import crawl_bucket, new_workspace, run_stages
from tests.releases import manifest


def test_an_empty_workspace(workspace: Workspace) -> None:
    found = status(workspace)
    assert found["selected"] == {"articles": 0, "shards": 0} and found["stages"] == found["releases"] == []
    assert "no release yet" in describe(found) and "next: medqrels run --spec" in describe(found)


def test_counts_add_up(workspace: Workspace) -> None:
    seed(workspace, articles(12), 4)
    run(workspace, CUT)
    run(workspace, POOL)
    select(workspace, "pmc", ["PMC1", "PMC2", "PMC3"], 2)
    found = status(workspace)
    stages = {stage["stage"]: stage for stage in found["stages"]}
    assert list(stages) == ["cut", "pool", "seed"]
    assert stages["cut"]["shards"] == 3 and stages["pool"]["shards"] == 1
    word = stages["cut"]["units"]["word"]
    assert word["in"] == word["kept"] + word["dropped"]
    assert stages["cut"]["rows"] == {"words": word["kept"]}
    assert stages["pool"]["units"]["word"]["in"] == word["kept"]
    assert found["selected"] == {"articles": 3, "shards": 2}
    text = describe(found)
    assert f"{word['dropped']} short_passage" in text and "articles: 3 selected" in text
    assert "stages: 3 of 3 fresh" in text
    json.dumps(found)


def test_a_stage_made_from_something_older_is_stale_with_the_command_that_helps(workspace: Workspace) -> None:
    seed(workspace, articles(12), 4)
    run(workspace, CUT)
    run(workspace, POOL)
    seed(workspace, articles(13), 4)  # one shard more, and the last one of before is another
    found = status(workspace)
    stages = {stage["stage"]: stage for stage in found["stages"]}
    assert stages["seed"]["state"] == "fresh" and stages["cut"]["state"] == stages["pool"]["state"] == "stale"
    assert "cut" in stages["cut"]["why"] and found["next"] == "medqrels build"
    text = describe(found)
    assert "stages: 1 of 3 fresh" in text and "for the same reason stale: pool" in text
    run(workspace, CUT)
    run(workspace, POOL)
    assert "stages: 3 of 3 fresh" in describe(status(workspace))


def test_a_damaged_manifest_and_a_killed_shard_are_told_and_end_nothing(workspace: Workspace) -> None:
    seed(workspace, articles(12), 4)
    run(workspace, CUT)
    run(workspace, POOL)
    (workspace.stage("cut") / "s0004" / "_manifest.json").unlink()
    stages = {stage["stage"]: stage for stage in status(workspace)["stages"]}
    assert (stages["cut"]["state"], stages["cut"]["why"]) == ("unfinished", "1 shard not finished")
    assert stages["cut"]["shards"] == 2 and stages["pool"]["state"] == "stale"
    (workspace.stage("pool") / "all" / "_manifest.json").write_text("{", "utf-8")
    found = status(workspace)
    stages = {stage["stage"]: stage for stage in found["stages"]}
    assert stages["pool"]["state"] == "failed" and "a manifest is damaged" in stages["pool"]["why"]
    assert stages["seed"]["state"] == "fresh" and "pool: failed; " in describe(found)


def test_articles_that_could_not_be_fetched_are_told(workspace: Workspace) -> None:
    (selection,) = select(workspace, "pmc", ["PMC1", "PMC2"], 2)
    assert status(workspace)["stages"] == []
    dropped = {"fetch_failed": 1, "retracted": 1}
    head = Manifest("crawl", 1, selection.shard, {}, {}, {"raw": Output("raw.parquet", "", 0)}, {}, dropped)
    publish_empty(workspace.stage("crawl") / selection.shard, head)
    select(workspace, "pmc", ["PMC3"], 2)
    found = status(workspace)
    assert found["stages"][0]["state"] == "unfinished" and found["next"] == "the same medqrels crawl command"
    (workspace.stage("selection") / f"{select(workspace, 'pmc', ['PMC3'], 2)[0].shard}.json").unlink()
    text = describe(status(workspace))
    assert (
        "crawl: fresh; 1 article the next crawl asks for again" in text and "next: medqrels extract" in text
    )


def publish_empty(folder: Path, head: Manifest) -> None:
    folder.mkdir(parents=True)
    (folder / "_manifest.json").write_text(head.to_json(), "utf-8")


def test_default_text_fits_a_terminal_and_keeps_internals_out(workspace: Workspace) -> None:
    seed(workspace, articles(12), 4)
    run(workspace, CUT)
    run(workspace, POOL)
    write_release(workspace.releases / "set" / "1.0.0" / "visual_context")
    text = describe(status(workspace))
    assert all(len(line) <= 80 for line in text.splitlines()[1:]), text
    assert "totals" not in text and "chosen" not in text  # tables on the way are for --json


def test_stray_files_are_no_stages(workspace: Workspace) -> None:
    seed(workspace, articles(2), 4)
    (workspace.work / "notes.txt").write_text("x")
    (workspace.stage("seed") / ".DS_Store").write_text("x")
    assert [stage["stage"] for stage in status(workspace)["stages"]] == ["seed"]


def write_release(folder: Path, **changes: Any) -> ReleaseManifest:
    folder.mkdir(parents=True)
    head = manifest(dataset="set", task="visual_context", counts={"queries": 3}, **changes)
    head = dataclasses.replace(head, release_hash=head.computed_hash())
    (folder / "release.json").write_text(head.to_json(), "utf-8")
    return head


def report_of(head: ReleaseManifest, **changes: Any) -> AuditReport:
    values: dict[str, Any] = {"verdict": "clean", "publishable": True}
    return AuditReport(
        release="set@1.0.0", task=head.task, release_hash=head.release_hash, rules=(), **(values | changes)
    )


def test_a_release_is_publishable_only_by_an_audit_of_exactly_its_files(workspace: Workspace) -> None:
    folder = workspace.releases / "set" / "1.0.0" / "visual_context"
    head = write_release(folder)

    def listed() -> tuple[str, bool, list[str]]:
        (found,) = status(workspace)["releases"]
        return found["audit"], found["publishable"], found["not_publishable_because"]

    assert listed() == ("not audited", False, ["It has no audit."])
    audit = folder / "audit.json"
    audit.write_bytes(to_bytes(report_of(head)))
    assert listed() == ("clean", True, [])
    text = describe(status(workspace))
    assert "release set@1.0.0" in text and "audit clean" in text and "  publishable: visual_context" in text
    errors = ("Rules found errors: dangling_ids.",)
    audit.write_bytes(
        to_bytes(report_of(head, verdict="findings", publishable=False, not_publishable_because=errors))
    )
    assert listed() == ("findings", False, list(errors))
    assert errors[0] in describe(status(workspace))
    audit.write_bytes(to_bytes(dataclasses.replace(report_of(head), release_hash="0" * 64)))
    assert listed() == ("not audited", False, ["Its audit.json is of other files: audit it again."])
    audit.write_bytes(to_bytes(dataclasses.replace(report_of(head), version=2)))
    assert listed()[:2] == ("not audited", False)
    audit.write_text("[]", "utf-8")
    assert listed()[:2] == ("not audited", False)


def test_of_many_releases_the_newest_is_told_and_the_others_named(workspace: Workspace) -> None:
    for version in ("1.2.0", "1.10.0", "1.9.0"):
        write_release(workspace.releases / "set" / version / "visual_context", version=version)
    found = status(workspace)
    assert [item["version"] for item in found["releases"]] == ["1.2.0", "1.9.0", "1.10.0"]
    text = describe(found)
    assert "release set@1.10.0" in text and "release set@1.9.0" not in text
    assert "earlier: 1.2.0, 1.9.0" in text


def test_content_that_forbids_publishing_and_emptiness_are_told(workspace: Workspace) -> None:
    folder = workspace.releases / "set" / "1.0.0" / "visual_context"
    why = "It has no query."
    head = write_release(
        folder, publishable_by_content=False, not_publishable_because=(why,), version="1.0.0"
    )
    (folder / "audit.json").write_bytes(to_bytes(report_of(head)))  # as nobody's audit would say
    assert not status(workspace)["releases"][0]["publishable"]
    empty = workspace.releases / "set" / "1.0.1" / "visual_context"
    write_release(empty)
    body = json.loads((empty / "release.json").read_text("utf-8"))
    (empty / "release.json").write_text(json.dumps(body | {"counts": {"queries": 0}}), "utf-8")
    text = describe(status(workspace))
    assert re.search(r"visual_context +0 +0 +0 +0  empty", text) and "not publishable" in text
    (empty / "release.json").write_text("{}", "utf-8")
    assert "release.json is of format None" in describe(status(workspace))


def test_after_a_command_that_was_interrupted_comes_the_same(tmp_path: Path) -> None:
    """Some of its stages are there, and are fresh."""
    workspace = new_workspace(tmp_path / "w")
    crawl_bucket(workspace, ["PMC990000001"])
    run_stages(workspace, ground=False)
    assert status(workspace)["next"] == "medqrels ground"
    for folder in workspace.work.iterdir():
        if folder.name not in ("selection", "crawl", "parse"):
            shutil.rmtree(folder)
    assert status(workspace)["next"] == "medqrels extract"
