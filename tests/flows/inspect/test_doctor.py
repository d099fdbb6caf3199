"""The doctor finds what is planted, tells how to mend it, asks no server unasked, and shows no secret."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from flows import specs
from flows.cluster import hired
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.inspect import doctor, servers
from flows.inspect.servers import clock_of
from sources.sample.loopback import LoopbackServer, Reply, Request

SECRET = "s3cr3t-that-nobody-sees"


class Answering(LoopbackServer):
    """Answers everything with one status."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.asked: list[str] = []

    def answer(self, request: Request) -> Reply:
        self.asked.append(request.path)
        return Reply(self.status)


def examined(settings: Settings, **options: bool) -> dict[str, dict[str, Any]]:
    return {item["check"]: item for item in doctor.examine(settings, **options)}


def test_a_missing_and_a_wrong_package_is_found(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = ["lxml>=6", "duckdb>=99", "no-such-package-of-ours>=1", 'openai>=3; extra == "llm"']
    monkeypatch.setattr("importlib.metadata.requires", lambda name: needs)
    found = examined(Settings(workspace=workspace.root))
    assert found["package lxml"]["ok"] is True and found["package lxml"]["fix"] == ""
    assert found["package duckdb"]["ok"] is False and ">=99 is needed" in found["package duckdb"]["detail"]
    absent = found["package no-such-package-of-ours"]
    assert (absent["detail"], absent["fix"]) == ("not installed", "make setup")
    assert "package openai" not in found
    assert not doctor.is_well(list(found.values()))


def test_no_server_is_asked_unless_wanted_and_each_is_told(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Answering(404) as up, Answering(503) as down:
        monkeypatch.setenv("PREFECT_API_URL", f"{up.root}/api")
        monkeypatch.setenv("HF_ENDPOINT", down.root)
        monkeypatch.setenv("LABEL_STUDIO_URL", f"http://somebody:{SECRET}@127.0.0.1:1/")
        for name in ("PMC", "EUTILS", "EUROPEPMC"):
            monkeypatch.setenv(f"MEDQRELS_{name}__ENDPOINT", f"{up.root}/")
        settings = Settings(workspace=workspace.root)
        silent = examined(settings)
        with monkeypatch.context() as patch:
            patch.setenv("PREFECT_API_URL", f"http://me:{SECRET}@127.0.0.1:1/api")
            assert SECRET not in json.dumps(examined(settings))
        assert not up.asked and not down.asked
        assert silent["hub"]["ok"] is None and "not asked" in silent["hub"]["detail"]
        asked = examined(settings, ask_servers=True)
    assert asked["prefect server"]["ok"] is True and "/api/health" in up.asked
    assert asked["hub"]["ok"] is False and "answers 503" in asked["hub"]["detail"] and asked["hub"]["fix"]
    assert asked["label studio"]["ok"] is False and "no answer" in asked["label studio"]["detail"]
    assert SECRET not in json.dumps([silent, asked])
    assert clock_of([-1000.0, 400.0], 120)[1] is False and clock_of([-1000.0, 4.0], 120)[1] is True


def test_a_writer_is_told_while_it_lives(workspace: Workspace) -> None:
    (workspace.root / ".writer.json").write_text('{"who": "a run that was killed"}', "utf-8")
    (workspace.root / ".lock").touch()
    settings = Settings(workspace=workspace.root)
    assert "writer of the workspace" not in examined(settings)
    with workspace.writing("a run that goes on"):
        assert "a run that goes on" in examined(settings)["writer of the workspace"]["detail"]


def test_credentials_are_told_and_never_shown(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = (
        "HF_TOKEN", "LABEL_STUDIO_API_KEY", "OPENAI_API_KEY", "MEDQRELS_EUTILS__API_KEY",
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
    )  # fmt: skip
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    checks = (
        "token of the Hub", "token of Label Studio", "key of a model server", "key of NCBI",
        "credentials of S3",
    )  # fmt: skip
    for name in names:
        monkeypatch.delenv(name, raising=False)
    without = examined(Settings(workspace=workspace.root))
    assert {without[check]["ok"] for check in checks} == {None}
    for name in names:
        monkeypatch.setenv(name, SECRET)
    found = examined(Settings(workspace=workspace.root))
    assert {found[check]["ok"] for check in checks} == {True}
    text = doctor.describe(list(found.values()))
    assert SECRET not in text and SECRET not in json.dumps(found)
    assert "       next: set OPENAI_API_KEY" in doctor.describe(list(without.values()))
    assert doctor.is_well(
        [row for row in without.values() if "token" in row["check"] or "key" in row["check"]]
    )


def test_disk_clock_and_a_damaged_workspace(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(workspace.root)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=2**30))
    marker = workspace.root / "workspace.json"
    os.utime(marker, (time.time() + 86_400,) * 2)
    found = examined(Settings(workspace=workspace.root))
    assert (
        found["disk of the workspace"]["ok"] is False
        and "--workspace" in found["disk of the workspace"]["fix"]
    )
    assert found["clock"]["ok"] is False and "86" in found["clock"]["detail"]
    assert found["vocabulary"]["ok"] is None
    marker.write_text("{", "utf-8")
    assert examined(Settings(workspace=workspace.root))["workspace"]["ok"] is False
    lines = doctor.describe(list(found.values())).splitlines()
    place = lines.index(next(line for line in lines if line.startswith("FAIL disk of the workspace")))
    assert lines[place + 1].lstrip().startswith("next: free some space")


def test_cluster_and_store_are_told_and_asked(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hired, "PATIENCE_SECONDS", 0.5)
    root = workspace.root
    for settings, state, detail in (
        (Settings(workspace=root), None, "none set: this machine makes the shards"),
        (Settings(workspace=root, store=str(tmp_path)), False, "none set, and the other is"),
        (Settings(workspace=root, dask="tcp://127.0.0.1:9", store=str(tmp_path)), None, "not asked"),
    ):
        found = examined(settings)["dask scheduler"]
        assert found["ok"] is state and detail in found["detail"] and found["fix"]
    asked = examined(settings, ask_servers=True)
    assert (
        asked["dask scheduler"]["ok"] is False
        and "no Dask scheduler answers" in asked["dask scheduler"]["detail"]
    )
    assert "dask worker" in asked["dask scheduler"]["fix"]
    assert asked["store"]["ok"] is True and asked["store"]["detail"] == f"{tmp_path}, with nothing in it yet"
    for count, state, told in ((0, None, "0 workers at"), (2, True, "2 workers at")):
        monkeypatch.setattr(servers, "count_workers", lambda settings, count=count: count)
        row = examined(settings, ask_servers=True)["dask scheduler"]
        assert row["ok"] is state and row["detail"] == f"{told} tcp://127.0.0.1:9"
        assert ("dask worker tcp://127.0.0.1:9" in row["fix"]) is (count == 0)


def test_what_a_spec_crawls_is_asked_and_a_spec_that_cannot_be_read_is_told(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(specs, "DATA_CARDS", tmp_path)
    head = 'name = "{0}"\ntitle = "Some books"\nlicence_profile = "open"\n'
    for name, more in (("books", '[sources]\nlitarch = ["NBK1"]\n'), ("broken", "[sources]\nnowhere = 1\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "spec.toml").write_text(head.format(name) + more + "[tasks.summary]\n", "utf-8")
    settings = Settings(workspace=workspace.root)
    found = examined(settings)
    assert found["spec of books"]["ok"] is True and found["spec of broken"]["ok"] is False
    addresses = {
        row["detail"].partition(",")[0] for name, row in found.items() if name.startswith("litarch at ")
    }
    assert addresses == {settings.litarch.endpoint, settings.litarch.oai_endpoint}
    assert not any(name.startswith("openstax") for name in found)


def test_no_contact_is_no_failure_and_says_how_to_set_one(workspace: Workspace) -> None:
    found = examined(Settings(workspace=workspace.root, contact=""))["contact"]
    assert (
        found["ok"] is None
        and doctor.is_well([found])
        and f"next: {doctor.CONTACT}" in doctor.describe([found])
    )
