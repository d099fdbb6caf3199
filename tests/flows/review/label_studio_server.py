"""A real Label Studio for tests: one per session, shared by the workers, and copies of it that may be killed.

Its environment is that of $MEDQRELS_LABEL_STUDIO_VENV, else `.venv-label-studio` in the checkout.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from flows.review import label_studio as servers
from flows.review.label_studio import Server
from tests.conftest import ROOT


def server_venv() -> Path:
    """The environment of the server, installed when it is not there."""
    venv = Path(os.environ.get(servers.VENV_VARIABLE) or ROOT / ".venv-label-studio")
    servers.install(venv)
    return venv


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder of this session's server; every worker of it finds the same."""
    base = factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "label-studio"


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


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The session's server: make projects of your own in it, and leave it running."""
    folder = shared_folder(tmp_path_factory)
    folder.mkdir(exist_ok=True, mode=0o700)
    lock = FileLock(f"{folder}.lock")
    with lock:
        server = servers.start(folder, venv=server_venv())
        if not (folder / "fresh").exists():
            copy_fresh(folder, folder / "fresh")
        users(folder / "users.json", 1)
    yield server
    with lock:
        if not users(folder / "users.json", -1):
            servers.stop(folder)


@pytest.fixture
def own_label_studio(
    label_studio: Server, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Server]]:
    """A function that starts (again) a server of this test's own, as fresh as one after its first start."""
    folder = tmp_path / "own-label-studio"
    shutil.copytree(shared_folder(tmp_path_factory) / "fresh", folder)
    yield lambda: servers.start(folder, venv=server_venv())
    servers.stop(folder)
