"""A Prefect server on a free port of loopback, with a database of its own; it can be killed and come back."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Self

from flows.engine.prefect_server import TOGETHER

STARTUP_SECONDS = 120


def free_port() -> int:
    """A port of loopback that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PrefectServer:
    """Context manager: the server.

    Args:
        home: its folder, with its database unless `database` names another.
        database: address of one, as SQLAlchemy takes it.
    """

    def __init__(self, home: Path, database: str = "") -> None:
        self._home, self._port = home, free_port()
        self._database = {"PREFECT_API_DATABASE_CONNECTION_URL": database} if database else {}

    @property
    def environment(self) -> dict[str, str]:
        """What points a process to it, and to no other Prefect."""
        return {
            "PREFECT_HOME": str(self._home),
            "PREFECT_API_URL": f"http://127.0.0.1:{self._port}/api",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
        }

    @property
    def pid(self) -> int:
        """Id of the process that runs."""
        return self._process.pid

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, on its port, and wait until it answers."""
        factory = "prefect.server.api.server:create_app"
        address = ("--host", "127.0.0.1", "--port", str(self._port), "--log-level", "critical")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "--factory", factory, *address],
            env={**TOGETHER, **os.environ, **self.environment, **self._database, "PREFECT_UI_ENABLED": "0"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + STARTUP_SECONDS
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.environment['PREFECT_API_URL']}/health", timeout=2):
                    return
            except OSError:
                time.sleep(0.3)
        raise RuntimeError("the Prefect server did not start")

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
