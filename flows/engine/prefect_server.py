"""Prefect's server as a process of its own, for who names none: it ends with the process that started it.

Prefect can start one itself, but then imports the whole server into the process that only asks it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from flows.engine import worker_lifetime
from flows.engine.prefect_home import check_prefect_home
from schemas.errors import MedqrelsError

STARTUP_SECONDS = 120.0
"""The first start makes the database."""
_SAID_SECONDS = 5.0
"""For the last words of a server that has ended."""
_STARTS = 3
"""Another process may have taken the port since, or hold the database that both would make."""
TOGETHER = {
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}
"""What tasks did is written together, once a second. Written one by one into SQLite, as Prefect does, it
gets in the way of a flow that begins: the server answers 503, and the client waits two seconds."""


def free_port() -> int:
    """A port on loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def running(port: int | None, environment: Mapping[str, str]) -> Iterator[str]:
    """A Prefect server on loopback, ended with this process however that ends; yields its API.

    Its database is the one of $PREFECT_HOME; schedules and records of runs do not depend on it.

    Args:
        port: where it listens; None: on any port that is free.
        environment: what it is given beside that of this process.

    Raises:
        UsageError: Prefect's folder cannot be written.
        MedqrelsError: it does not start.
    """
    check_prefect_home()
    for is_last in (*[False] * (_STARTS - 1 if port is None else 0), True):
        chosen = free_port() if port is None else port
        process, url = _start(chosen, environment), f"http://127.0.0.1:{chosen}/api"
        is_ending = threading.Event()
        assert process.stderr is not None
        forwarding = threading.Thread(target=_forward, args=(process.stderr, is_ending), daemon=True)
        forwarding.start()
        try:
            if _answers(process, url):
                yield url
                return
            _check_goes_on(process, is_last)
        finally:
            if process.poll() is None:
                is_ending.set()
            _end(process)
            forwarding.join(_SAID_SECONDS)


def _forward(said: IO[bytes], is_ending: threading.Event) -> None:
    """Pass on what the server says, until it is ended: then it complains of all that it did not finish."""
    for line in said:
        if not is_ending.is_set():
            with contextlib.suppress(OSError):
                os.write(2, line)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _start(port: int, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    command = f"uvicorn --factory prefect.server.api.server:create_app --host 127.0.0.1 --port {port}"
    script = str(Path(worker_lifetime.__file__))
    return subprocess.Popen(
        [sys.executable, "-P", script, str(os.getpid()), *command.split(), "--log-level", "error"],
        env={**TOGETHER, **os.environ, "PREFECT_SERVER_ANALYTICS_ENABLED": "false", **environment},
        stderr=subprocess.PIPE,
        process_group=0,  # Ctrl-C is for who asks it, and has still to tell it so
    )


def _answers(process: subprocess.Popen[bytes], url: str) -> bool:
    """Wait until the server answers; false when it ended or takes too long."""
    deadline = time.monotonic() + STARTUP_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=2):
            return process.poll() is None  # or another's answers there
        time.sleep(0.1)
    return False


def _check_goes_on(process: subprocess.Popen[bytes], is_last: bool) -> None:
    """Refuse to start one more."""
    from prefect.settings import PREFECT_HOME

    has_ended = process.poll() is not None
    if has_ended and not is_last:
        return
    hint = "name another folder in PREFECT_HOME, or a running server in PREFECT_API_URL; above stands why"
    file = str(PREFECT_HOME.value())
    if has_ended:
        raise MedqrelsError("Prefect's private server ends as soon as it is started", file=file, hint=hint)
    raise MedqrelsError("Prefect's private server does not start in time", file=file, hint=hint)
