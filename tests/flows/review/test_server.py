"""The local Label Studio: started, found again, killed, stopped by its own process id only."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import requests

from flows.cli.app import run_cli
from flows.engine.workspace import Workspace
from flows.review import label_studio as servers
from flows.review import text as review_text
from flows.review.label_studio import Server
from schemas.errors import MedqrelsError, UsageError
from tests.flows.review import label_studio_server
from tests.flows.review.label_studio_server import server_venv, shared_folder, shared_server
from tests.flows.review.small_release import TASK, small_release
from tests.flows.review.small_review import person, target


def test_server_is_private_and_found_again(label_studio: Server) -> None:
    folder = label_studio.media.parent
    assert servers.start(folder) == label_studio == servers.running(folder)
    assert label_studio.password not in repr(label_studio) and label_studio.token not in repr(label_studio)
    for name in ("secrets.json", "process.json", "server.log"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    me = requests.get(
        f"{label_studio.url}/api/current-user/whoami",
        headers={"Authorization": f"Token {label_studio.token}"},
        timeout=30,
    ).json()
    assert me["email"] == label_studio.login
    line = Path(f"/proc/{label_studio.pid}/cmdline").read_text()
    assert label_studio.token not in line and label_studio.password not in line
    log = (folder / "server.log").read_text()
    assert label_studio.token not in log and label_studio.password not in log


def test_it_listens_on_loopback_only(label_studio: Server) -> None:
    port = int(label_studio.url.rpartition(":")[2])
    listening = [
        line.split()[1]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")
    ]
    assert listening == [f"0100007F:{port:04X}"]
    other = requests.get(f"{label_studio.url}/", headers={"Host": "attacker.example"}, timeout=30)
    assert other.status_code == 400


def test_who_looks_into_anothers_project_keeps_no_task_from_them(label_studio: Server) -> None:
    client = target(label_studio).client
    config = (
        '<View><Text name="left" value="$text"/>'
        '<Choices name="grade" toName="left"><Choice value="0"/><Choice value="1"/></Choices></View>'
    )
    project = client.ensure_project("medqrels:locks", "A1 · locks", "Only for A1.", config, "")
    client.import_tasks(project.id, [{"data": {"text": name}} for name in "ab"])
    accounts = [person(label_studio, client, f"{name}@medqrels.local") for name in ("curious", "owner")]
    shown = [api("POST", "/api/dm/actions", {}, id="next_task", project=project.id)["id"] for api in accounts]
    assert shown[0] == shown[1]


def test_first_start_says_how_to_log_in(label_studio: Server) -> None:
    folder = label_studio.media.parent
    said = json.loads((folder / "said.json").read_text())  # by the command that started it
    assert (said["url"], said["pid"]) == (label_studio.url, label_studio.pid)
    assert (said["login"], said["password"]) == (label_studio.login, label_studio.password)
    assert said["password_file"] == str(folder / "secrets.json") and label_studio.token not in said.values()
    text = review_text.started(said)
    assert label_studio.url in text and f"password: {label_studio.password} (shown only this once)" in text
    assert str(folder / "accounts.json") in text


def test_push_names_logins_and_where_their_passwords_lie(
    label_studio: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = label_studio.media.parent
    workspace = Workspace(folder.parent.parent)
    small_release(workspace, "logins")

    def push(*words: str) -> str:
        call = ["review", "push", f"logins/{TASK}", "--sample", "4", *words]
        assert run_cli([*call, "--workspace", str(workspace.root)]) == 0
        return capsys.readouterr().out

    text = push()
    for login in ("a1@medqrels.local", "a2@medqrels.local"):
        assert f"    login: {login}\n" in text
    assert f"passwords of these logins: {folder / 'accounts.json'}\n" in text
    assert f"next: medqrels review pull logins/{TASK}" in text
    passwords = json.loads((folder / "accounts.json").read_text())
    assert {"a1@medqrels.local", "a2@medqrels.local"} <= passwords.keys()
    planned, made = push("--dry-run", "--json"), push("--json")
    assert planned == made and not any(word in text + made for word in passwords.values())


def test_start_and_stop_by_command_line_through_a_kill(
    label_studio: Server,
    workspace: Workspace,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(servers.VENV_VARIABLE, str(server_venv()))
    folder = workspace.root / "review" / "server"

    def run(*words: str, code: int = 0) -> str:
        assert run_cli(["review", *words, "--workspace", str(workspace.root)]) == code
        said = capsys.readouterr()
        return said.out + said.err

    assert "would start" in run("start", "--dry-run") and "no server is running" in run("stop", "--dry-run")
    assert "no server was running" in run("stop") and not folder.exists()
    shutil.copytree(shared_folder(tmp_path_factory) / "fresh", folder)
    try:
        taken = label_studio.url.rpartition(":")[2]
        assert "is taken" in run("start", "--port", taken, code=2)
        first = json.loads(run("start", "--json"))
        assert "password" not in first, "it was shown at the first start"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, "whoever made it"
        os.kill(first["pid"], signal.SIGKILL)
        os.waitpid(first["pid"], 0)
        assert servers.running(folder) is None
        assert f"Label Studio runs at {first['url']}" in run("start")  # where it was
        again = servers.running(folder)
        assert again is not None and again.pid != first["pid"] and again.token == label_studio.token
        assert json.loads(run("stop", "--dry-run", "--json")) == {"running": True}
        assert json.loads(run("stop", "--json")) == {"stopped": True}
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{first['url']}/health", timeout=5)
    finally:
        servers.stop(folder)


def test_a_process_id_of_another_program_is_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        (tmp_path / "process.json").write_text(json.dumps({"pid": other.pid, "port": 1}))
        assert servers.running(tmp_path) is None and servers.stop(tmp_path) is False
        time.sleep(0.1)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(servers.VENV_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(UsageError, match="names no environment"):
        servers.install(servers.venv_folder(tmp_path))
    with pytest.raises(UsageError, match="not installed"):
        servers.start(tmp_path / "server")
    broken = tmp_path / "venv" / "bin" / "label-studio"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\necho no database >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(MedqrelsError, match="exited while starting") as caught:
        servers.start(tmp_path / "server", venv=tmp_path / "venv")
    assert "no database" in Path(caught.value.file).read_text()


def test_a_fixture_whose_server_never_answers_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = tmp_path / "venv" / "bin" / "label-studio"
    silent.parent.mkdir(parents=True)
    silent.write_text(f"#!{sys.executable} -S\nimport time\ntime.sleep(600)\n")
    silent.chmod(0o755)
    monkeypatch.setenv(servers.VENV_VARIABLE, str(tmp_path / "venv"))
    monkeypatch.setattr(servers, "START_SECONDS", 0.5)
    monkeypatch.setattr(label_studio_server, "of_label_studio", lambda venv: venv)  # it has no tables
    begun: list[int] = []
    launch = subprocess.Popen

    def noted(command: list[str], **given: Any) -> subprocess.Popen[bytes]:
        process = launch(command, **given)
        begun.append(process.pid)
        return process

    monkeypatch.setattr(subprocess, "Popen", noted)
    with pytest.raises(AssertionError), shared_server(tmp_path / "session" / "review" / "server"):
        pass
    assert begun and not any(Path(f"/proc/{pid}").exists() for pid in begun)
