"""A signal that ends the process ends what DuckDB is at: by itself it may notice after minutes.

Python's handler of a signal runs in the main thread, which waits for DuckDB meanwhile. The byte that Python
writes for each signal wakes a thread, and that one interrupts every open connection.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import weakref
from typing import Protocol

_ENDING = frozenset({signal.SIGINT, signal.SIGTERM})


class Interruptible(Protocol):
    """A connection of DuckDB."""

    def interrupt(self) -> None:
        """End what it is at; of one that is at nothing, nothing."""


_open: weakref.WeakSet[Interruptible] = weakref.WeakSet()
_lock = threading.RLock()
_watching: list[threading.Thread] = []


def end_with_signals(connection: Interruptible) -> None:
    """From now on SIGINT and SIGTERM interrupt what the connection is at."""
    with _lock:
        _open.add(connection)
        if not _watching and threading.current_thread() is threading.main_thread():  # no other may ask for it
            _watch()


def _watch() -> None:
    """Have the byte of each signal; left alone where someone else has it."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    known = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    if known != -1:
        signal.set_wakeup_fd(known)
        os.close(reading)
        os.close(writing)
        return
    _watching.append(threading.Thread(target=_interrupt, args=(reading,), name="interrupts", daemon=True))
    _watching[0].start()


def _interrupt(reading: int) -> None:
    while sent := os.read(reading, 64):
        if not _ENDING.isdisjoint(sent):
            _interrupt_all()  # holds none while it waits: DuckDB complains of those that outlive the process


def _interrupt_all() -> None:
    with _lock:
        known = list(_open)
    for connection in known:
        with contextlib.suppress(Exception):  # it may be closed by now
            connection.interrupt()
