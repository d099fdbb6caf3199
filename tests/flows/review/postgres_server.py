"""PostgreSQL on a free port of loopback in a temporary folder, and Label Studio on it: a team's server.

PostgreSQL refuses to run as root; there it runs as the user `postgres` that Debian's package makes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from flows.review import label_studio as servers
from flows.review.label_studio import Server

LONGEST_START = 60.0
SYSTEM_USER = "postgres"
# Nothing has to outlive a power failure here.
SETTINGS = (
    "listen_addresses=127.0.0.1",
    "fsync=off",
    "full_page_writes=off",
    "logging_collector=off",
)


def program(name: str) -> str:
    """Path of one of PostgreSQL's programs; Debian keeps them apart from PATH, by version."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[4]))
    chosen = shutil.which(name) or (str(found[-1]) if found else "")
    assert chosen, "no PostgreSQL: run scripts/system-deps.sh"
    return chosen


def as_its_user(*command: str) -> list[str]:
    """A command that PostgreSQL lets run, and that ends when this process does, however it ends."""
    if os.getuid() == 0:
        user = [f"--reuid={SYSTEM_USER}", f"--regid={SYSTEM_USER}", "--init-groups"]
        return ["setpriv", "--pdeathsig", "INT", *user, *command]
    return ["setpriv", "--pdeathsig", "INT", *command] if shutil.which("setpriv") else [*command]


class Postgres:
    """Context manager: a database server of its own; `kill` and `start` restart it with what it holds.

    Args:
        begins_with: the folder of a server that was `stopped`; an empty database when None.
    """

    def __init__(self, begins_with: Path | None = None) -> None:
        self._begins_with = begins_with

    def __enter__(self) -> Self:
        # Not below pytest's folder: that one is closed to other users.
        self._folder = Path(tempfile.mkdtemp(prefix="medqrels-postgres-"))
        self._process: subprocess.Popen[bytes] | None = None
        try:
            data = self._folder / "data"
            if self._begins_with is not None:
                shutil.copytree(self._begins_with, data)
            if os.getuid() == 0:
                for path in (self._folder, *self._folder.rglob("*")):
                    shutil.chown(path, SYSTEM_USER, SYSTEM_USER)
            if self._begins_with is None:
                made = ("-U", "medqrels", "--auth=trust", "-E", "UTF8", "--no-sync")
                _run("initdb", "-D", str(data), *made)
            self.port = _free_port()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            _end(self._process)
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """Address of its database, as SQLAlchemy takes it."""
        return f"postgresql+asyncpg://medqrels@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, on its port, and wait until it answers."""
        options = [item for setting in SETTINGS for item in ("-c", setting)]
        where = ["-D", str(self._folder / "data"), "-p", str(self.port), "-k", str(self._folder)]
        log = self._folder / "log"
        with log.open("ab") as handle:
            command = as_its_user(program("postgres"), *where, *options)
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=handle, stderr=handle, cwd="/"
            )
        _await(self._process, self.port, log)

    def stopped(self) -> Path:
        """End it; the folder with what it held, until this context ends."""
        assert self._process is not None
        _end(self._process)
        return self._folder / "data"

    def kill(self) -> None:
        """End it and every connection at once, as after a crash: what was committed is recovered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)  # after SIGKILL its children would hold its memory a while
        self._process.wait()


def postgres_variables(port: int) -> dict[str, str]:
    """What tells Label Studio to keep its tables in a database server of ours."""
    return {
        "DJANGO_DB": "default",
        "POSTGRE_NAME": "postgres",
        "POSTGRE_USER": "medqrels",
        "POSTGRE_PASSWORD": "none",
        "POSTGRE_HOST": "127.0.0.1",
        "POSTGRE_PORT": str(port),
    }


def _run(name: str, *arguments: str) -> None:
    done = subprocess.run(
        as_its_user(program(name), *arguments), capture_output=True, text=True, cwd="/", check=False
    )
    assert done.returncode == 0, done.stderr


def _await(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + LONGEST_START
    ready = [program("pg_isready"), "--quiet", "--host=127.0.0.1", f"--port={port}"]
    while subprocess.run(ready, check=False).returncode:
        assert process.poll() is None and time.monotonic() < until, log.read_text("utf-8", "replace")
        time.sleep(0.05)


def _end(process: subprocess.Popen[bytes]) -> None:
    """A fast shutdown, which closes connections; then, if that takes too long, an immediate one."""
    for sent in (signal.SIGINT, signal.SIGQUIT):
        process.send_signal(sent)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)
            return
    process.kill()
    process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class TeamServer:
    """Label Studio whose tasks, answers and accounts are in PostgreSQL; may be killed and started again."""

    def __init__(self, folder: Path, program: Path, port: int) -> None:
        self.folder = folder
        self._venv = folder.with_name(f"{folder.name}-venv")
        starter = self._venv / "bin" / "label-studio"
        starter.parent.mkdir(parents=True)
        # The product's own start with another database: variables that only this starter sets.
        lines = [f"export {name}={value}" for name, value in postgres_variables(port).items()]
        starter.write_text("\n".join(["#!/bin/sh", *lines, f'exec "{program}" "$@"', ""]))
        starter.chmod(0o755)

    def start(self) -> Server:
        """Start it, or find it running; it keeps its port."""
        return servers.start(self.folder, venv=self._venv)


@contextlib.contextmanager
def team_server(folder: Path, program: Path, begins_with: Path | None = None) -> Iterator[TeamServer]:
    """PostgreSQL and Label Studio on it, for one test session or benchmark.

    Args:
        folder: Label Studio's own folder: secrets, log, images.
        program: path of label-studio.
        begins_with: what PostgreSQL holds; nothing when None.
    """
    with Postgres(begins_with) as database:
        made = TeamServer(folder, program, database.port)
        try:
            made.start()
            yield made
        finally:
            servers.stop(folder)
