"""A deadline over one whole HTTP exchange, including headers that never end.

A socket timeout bounds each wait but not their sum; here a timer shuts the socket down when the time is over.
"""

from __future__ import annotations

import contextlib
import contextvars
import socket
import threading
from collections.abc import Callable
from typing import Any

import urllib3
from requests.adapters import HTTPAdapter

_current: contextvars.ContextVar[Deadline | None] = contextvars.ContextVar("deadline", default=None)


class Deadline:
    """Seconds left for one exchange; a context manager that applies to requests made inside it."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds
        self._token: contextvars.Token[Deadline | None] | None = None

    def __enter__(self) -> Deadline:
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _current.reset(self._token)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - self._clock())

    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._clock() >= self._end


@contextlib.contextmanager
def _shut_when_over(sock: socket.socket | None) -> Any:
    deadline = _current.get()
    if deadline is None or sock is None:
        yield
        return
    timer = threading.Timer(deadline.remaining(), _shut, [sock])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class _HTTPConnection(urllib3.connection.HTTPConnection):
    def getresponse(self) -> Any:
        with _shut_when_over(self.sock):
            return super().getresponse()


class _HTTPSConnection(urllib3.connection.HTTPSConnection):
    def getresponse(self) -> Any:
        with _shut_when_over(self.sock):
            return super().getresponse()


class _HTTPPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _HTTPConnection


class _HTTPSPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _HTTPSConnection


class DeadlineAdapter(HTTPAdapter):
    """Transport of requests whose waits for response headers end at the current :class:`Deadline`."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pool manager open connections that know the deadline."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}
