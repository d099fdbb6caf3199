"""The status of a workspace adds up and survives what people leave lying in folders."""

from __future__ import annotations

import json

from flows.selection import select
from flows.status import describe, status
from flows.workspace import Workspace
from tests.flows.toy import CUT, POOL, articles, run, seed


def test_an_empty_workspace(workspace: Workspace) -> None:
    found = status(workspace)
    assert found["selected"] == {"articles": 0, "shards": 0} and found["stages"] == found["releases"] == []
    assert "no release yet; next: medqrels run" in describe(found)


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
    assert f"dropped {word['dropped']} short_passage" in text and "selected: 3 articles in 2 shards" in text
    json.dumps(found)


def test_stray_files_are_no_stages(workspace: Workspace) -> None:
    seed(workspace, articles(2), 4)
    (workspace.work / "notes.txt").write_text("x")
    (workspace.stage("seed") / ".DS_Store").write_text("x")
    assert [stage["stage"] for stage in status(workspace)["stages"]] == ["seed"]


def test_releases_are_listed_with_their_verdict(workspace: Workspace) -> None:
    folder = workspace.releases / "set" / "1.0.0" / "visual_context"
    folder.mkdir(parents=True)
    body = {
        "dataset": "set",
        "version": "1.0.0",
        "task": "visual_context",
        "release_hash": "00",
        "publishable": False,
    }
    (folder / "release.json").write_text(json.dumps(body))
    assert status(workspace)["releases"][0]["audit"] == "not audited"
    (folder / "audit.json").write_text(json.dumps({"verdict": "clean"}))
    text = describe(status(workspace))
    assert (
        "release set@1.0.0 visual_context: audit clean, not publishable" in text and "no release" not in text
    )
