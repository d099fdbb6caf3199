"""The status of a workspace adds up and survives what people leave lying in folders."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from curation.audit.verify import to_bytes
from curation.published.manifest import ReleaseManifest
from flows.crawl.selection import select
from flows.engine.workspace import Workspace
from flows.inspect.status import describe, status
from schemas.audit import AuditReport
from tests.curation.audit.small import manifest
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
    assert "release set@1.0.0 visual_context: audit clean, publishable" in describe(status(workspace))
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
    assert "visual_context: empty, audit not audited, not publishable" in text
    (empty / "release.json").write_text("{}", "utf-8")
    assert "release.json is of format None" in describe(status(workspace))
