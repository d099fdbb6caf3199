"""A deadline over one whole HTTP exchange, including headers that never end.

A socket timeout bounds each wait but not their sum; here a watchdog shuts the socket when time is over.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

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

    def at_least(self, seconds: float) -> Deadline:
        """This deadline, or one that many seconds from now if that is a longer allowance."""
        return self if seconds <= self.seconds else Deadline(seconds, self._clock)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - self._clock())

    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._clock() >= self._end


class _Watchdog:
    """One thread for all waits of the process: a timer thread for each costs more than many a wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waits: dict[int, tuple[float, socket.socket]] = {}
        self._numbers = itertools.count()
        self._wakes_at = math.inf
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def over(self, sock: socket.socket, seconds: float) -> Iterator[None]:
        """Shut the socket down if the block takes longer than that."""
        end = time.monotonic() + seconds
        with self._changed:
            number = next(self._numbers)
            self._waits[number] = (end, sock)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._watch, name="deadlines", daemon=True)
                self._thread.start()
            elif end < self._wakes_at:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._waits.pop(number, None)

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for number, (end, sock) in list(self._waits.items()):
                    if end <= now:
                        del self._waits[number]
                        _shut(sock)
                # A wait that ends in time does not wake this thread: it finds out at its next look.
                self._wakes_at = min((end for end, _ in self._waits.values()), default=math.inf)
                self._changed.wait(max(0.0, self._wakes_at - now) if self._waits else None)


def _shut_when_over(sock: socket.socket | None) -> contextlib.AbstractContextManager[None]:
    deadline = _current.get()
    if deadline is None or sock is None:
        return contextlib.nullcontext()
    return _watchdog.over(sock, deadline.remaining())


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


_watchdog = _Watchdog()


def _renew() -> None:
    """A forked process has no thread, and may hold a copy of a taken lock."""
    global _watchdog
    _watchdog = _Watchdog()


os.register_at_fork(after_in_child=_renew)


class DeadlineAdapter(HTTPAdapter):
    """Connections of requests whose waits for response headers end at the current :class:`Deadline`."""

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """The connections that go directly."""
        super().init_poolmanager(*arguments, **options)
        _watch_headers(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """The connections through a proxy."""
        is_new = proxy not in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **options)
        if is_new:
            _watch_headers(manager)
        return manager


def _watch_headers(manager: Any) -> None:
    pools = manager.pool_classes_by_scheme
    manager.pool_classes_by_scheme = {scheme: _watched(pool) for scheme, pool in pools.items()}


def _watched(pool: Any) -> type:
    class Connection(pool.ConnectionCls):  # type: ignore[misc] # what requests brings
        def getresponse(self) -> Any:
            with _shut_when_over(self.sock):
                return super().getresponse()

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})
