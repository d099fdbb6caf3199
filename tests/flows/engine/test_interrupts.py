"""A signal reaches what DuckDB is at, whoever waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from flows.engine import interrupts
from flows.engine.connection import query


class Counted:
    """A connection that says when it is interrupted."""

    def __init__(self) -> None:
        self.interrupted = threading.Event()

    def interrupt(self) -> None:
        self.interrupted.set()
        raise RuntimeError("closed by now")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_ends_the_process_interrupts_every_open_connection(number: signal.Signals) -> None:
    one, other = Counted(), Counted()
    known = signal.signal(number, lambda *_: None)
    try:
        interrupts.end_with_signals(one)
        interrupts.end_with_signals(other)
        os.kill(os.getpid(), number)
        assert one.interrupted.wait(60) and other.interrupted.wait(60)
    finally:
        signal.signal(number, known)


def test_another_signal_interrupts_nothing_and_a_dropped_connection_is_forgotten() -> None:
    one = Counted()
    known = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        interrupts.end_with_signals(one)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert not one.interrupted.wait(0.2)
    finally:
        signal.signal(signal.SIGUSR1, known)
    assert one in interrupts._open
    before = len(interrupts._open)
    del one
    assert len(interrupts._open) < before


def test_a_connection_is_watched_from_the_first_question_on() -> None:
    ask = query("1GB")
    list(ask("SELECT 1 AS n", {}))
    assert ask._asked().connection in interrupts._open
    assert ask._asked().idle[0].connection in interrupts._open


def test_whoever_has_the_bytes_of_signals_keeps_them() -> None:
    said = subprocess.run(
        [sys.executable, "-c", KEPT], capture_output=True, text=True, timeout=120, check=True
    )
    assert said.stdout.split() == ["kept", "1"]


KEPT = """
import os, signal
reading, writing = os.pipe()
os.set_blocking(writing, False)
signal.set_wakeup_fd(writing)
from flows.engine.connection import query
[batch] = query("1GB")("SELECT 1 AS n", {})
print("kept" if signal.set_wakeup_fd(-1) == writing else "taken", batch.num_rows)
"""
