"""Where Prefect's private server cannot keep its database, that is said at once."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL, PREFECT_HOME, temporary_settings

from flows.engine import prefect_server
from flows.engine.prefect_home import check_prefect_home
from schemas.errors import MedqrelsError, UsageError
from tests.tables import of_prefect


def test_a_folder_that_cannot_be_made_or_written_is_named(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("")
    for home, named in ((file / "home", file / "home"), (file, file)):
        with temporary_settings({PREFECT_HOME: home}), pytest.raises(UsageError) as told:
            check_prefect_home()
        assert told.value.file == str(named) and "PREFECT_HOME" in told.value.hint
    with temporary_settings({PREFECT_HOME: tmp_path / "new"}):
        check_prefect_home()
        (tmp_path / "new/prefect.db").mkdir()
        with pytest.raises(UsageError, match="database cannot be written"):
            check_prefect_home()


def test_a_database_elsewhere_needs_no_folder(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("")
    elsewhere = "postgresql+asyncpg://prefect@127.0.0.1:1/prefect"
    with temporary_settings({PREFECT_HOME: file}, {PREFECT_API_DATABASE_CONNECTION_URL: elsewhere}):
        check_prefect_home()


def test_a_server_that_ends_at_once_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with (
        temporary_settings({PREFECT_HOME: tmp_path}),
        pytest.raises(MedqrelsError, match="ends as soon as it is started") as told,
        prefect_server.running(None, {}),
    ):
        raise AssertionError("it runs")
    assert told.value.file == str(tmp_path) and "PREFECT_API_URL" in told.value.hint


def test_a_server_whose_port_was_taken_is_started_on_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = shutil.copytree(of_prefect(), tmp_path / "home")
    with socket.create_server(("127.0.0.1", 0)) as taken, temporary_settings({PREFECT_HOME: home}):
        ports = iter([taken.getsockname()[1], free := prefect_server.free_port()])
        monkeypatch.setattr(prefect_server, "free_port", lambda: next(ports))
        monkeypatch.setenv("PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL", "3")
        with prefect_server.running(None, {}) as url:
            assert url == f"http://127.0.0.1:{free}/api"
            with urllib.request.urlopen(f"{url}/admin/settings", timeout=10) as answer:
                recorder = json.load(answer)["server"]["services"]["task_run_recorder"]
            assert (recorder["batch_size"], recorder["flush_interval"]) == (50, 3), "the user's own counts"
    assert next(ports, None) is None


ENDED = """
import signal, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Healthy(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass

def end(*_):
    sys.exit("cancelled, and not written")

signal.signal(signal.SIGTERM, end)
print("the disk is slow", file=sys.stderr, flush=True)
HTTPServer(("127.0.0.1", int(sys.argv[1])), Healthy).serve_forever()
"""


def test_a_server_may_complain_until_it_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Prefect's tells in sixty lines that what it was writing was cancelled."""

    def start(port: int, _: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", ENDED, str(port)], stderr=subprocess.PIPE)

    monkeypatch.setattr(prefect_server, "_start", start)
    with temporary_settings({PREFECT_HOME: tmp_path}), prefect_server.running(None, {}):
        pass
    assert capfd.readouterr().err == "the disk is slow\n"


def test_a_server_that_could_not_start_has_said_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def start(*_: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", "exit('no module')"], stderr=subprocess.PIPE)

    monkeypatch.setattr(prefect_server, "_start", start)
    with (
        temporary_settings({PREFECT_HOME: tmp_path}),
        pytest.raises(MedqrelsError, match="ends as soon"),
        prefect_server.running(4200, {}),
    ):
        raise AssertionError("it runs")
    assert capfd.readouterr().err == "no module\n"
