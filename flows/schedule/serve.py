"""`medqrels serve`: one process that runs the scheduled flows, with a Prefect server where none is set."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Sequence

from flows.schedules import Planned
from schemas.errors import UsageError

_SHOWN = {
    "PREFECT_LOGGING_LEVEL": "INFO",
    "PREFECT_LOGGING_TO_API_ENABLED": "true",
}
"""Runs that nobody watches on a terminal are looked at on Prefect's pages."""


def serve(items: Sequence[Planned], workspace: str | None, port: int, limit: int) -> None:
    """Serve deployments until the process is ended (Ctrl-C, SIGTERM); runs are processes of their own.

    Args:
        items: what runs by itself.
        workspace: folder of the workspace, None for that of the settings.
        port: of the private server on loopback, where no PREFECT_API_URL is set.
        limit: runs at the same time.

    Raises:
        UsageError: the port is taken.
        MedqrelsError: the private server does not start.
    """
    for name, value in _SHOWN.items():
        os.environ.setdefault(name, value)
    from prefect import serve as serve_deployments
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from flows.schedule.deployments import runner_deployments

    set_already = PREFECT_API_URL.value()
    with own_server(port) if not set_already else contextlib.nullcontext(set_already) as url:
        os.environ["PREFECT_API_URL"] = url
        with temporary_settings({PREFECT_API_URL: url}):
            serve_deployments(*runner_deployments(items, workspace), limit=limit)


@contextlib.contextmanager
def own_server(port: int) -> Iterator[str]:
    """A Prefect server on loopback with its pages, see `flows.engine.prefect_server`; yields its API.

    Raises:
        UsageError: the port is taken, or Prefect's folder cannot be written.
        MedqrelsError: it does not start.
    """
    from flows.engine.prefect_server import running

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(
                f"port {port} is taken",
                hint=f"another --port; or, if a Prefect server answers there, "
                f"PREFECT_API_URL=http://127.0.0.1:{port}/api medqrels serve",
            ) from error
    url = f"http://127.0.0.1:{port}/api"
    with running(port, {"PREFECT_SERVER_UI_API_URL": url, "PREFECT_LOGGING_LEVEL": "ERROR"}):
        yield url
