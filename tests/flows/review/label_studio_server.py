"""A real Label Studio for tests: one per session, shared by the workers, and its copy after the first start.

Its environment is that of $MEDQRELS_LABEL_STUDIO_VENV, else `.venv-label-studio` in the checkout.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from flows.cli.app import run_cli
from flows.engine.workspace import open_workspace
from flows.review import label_studio as servers
from flows.review.label_studio import Server
from tests.conftest import ROOT
from tests.tables import of_label_studio


def server_venv() -> Path:
    """The environment of the server, installed when it is not there."""
    venv = Path(os.environ.get(servers.VENV_VARIABLE) or ROOT / ".venv-label-studio")
    servers.install(venv)
    return venv


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder of this session's server; every worker of it finds the same."""
    base = factory.getbasetemp()
    workspace = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "label-studio"
    return workspace / "review" / "server"


def first_start(folder: Path) -> None:
    """Start the session's server for the first time as people do, but that its tables are there.

    What the command says is kept in a file.
    """
    workspace = str(open_workspace(folder.parent.parent, create=True).root)
    said = io.StringIO()
    shutil.copytree(of_label_studio(server_venv()), folder / "data")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setenv(servers.VENV_VARIABLE, str(server_venv()))
        assert run_cli(["review", "start", "--json", "--workspace", workspace]) == 0
    (folder / "said.json").write_text(said.getvalue())


def copy_fresh(folder: Path, target: Path) -> None:
    """Copy a server's folder; the database may be in use."""
    (target / "data").mkdir(parents=True)
    for name in ("secrets.json", "data/.env"):
        shutil.copy2(folder / name, target / name)
    database = "data/label_studio.sqlite3"
    with sqlite3.connect(folder / database) as source, sqlite3.connect(target / database) as copied:
        source.backup(copied)


def users(path: Path, change: int) -> list[int]:
    """Processes that use the shared server, after this one came (1) or went (-1)."""
    noted = json.loads(path.read_text()) if path.is_file() else []
    alive = [pid for pid in noted if pid != os.getpid() and Path(f"/proc/{pid}").exists()]
    left = alive + [os.getpid()] * (change > 0)
    path.write_text(json.dumps(left))
    return left


def leave(folder: Path) -> None:
    """Go, and stop the shared server if nobody else uses it: also one that was started and never answered."""
    if folder.is_dir() and not users(folder / "users.json", -1):
        servers.stop(folder)


@contextlib.contextmanager
def shared_server(folder: Path) -> Iterator[Server]:
    """The server of a folder, made when there is none; the last of its users stops it."""
    lock = FileLock(f"{folder.parent.parent}.lock")
    with lock, contextlib.ExitStack() as failed:
        failed.callback(leave, folder)
        if not (folder / "fresh").exists():
            first_start(folder)
            copy_fresh(folder, folder / "fresh")
        server = servers.start(folder, venv=server_venv())
        users(folder / "users.json", 1)
        failed.pop_all()
    try:
        yield server
    finally:
        with lock:
            leave(folder)


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The session's server: make projects of your own in it, and leave it running."""
    with shared_server(shared_folder(tmp_path_factory)) as server:
        yield server
