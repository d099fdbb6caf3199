"""Progress of long work on stderr: live on a terminal, plain lines otherwise; stdout stays data."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterator
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from schemas.wording import tell, visible

PLAIN_INTERVAL_SECONDS = 5.0


Log = logging.Logger | logging.LoggerAdapter[logging.Logger]


class Steps(Protocol):
    """One running piece of work with a known number of steps."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Some steps are done; thread-safe."""


class Reporter(Protocol):
    """Where progress is shown."""

    def stage(self, name: str, total: int, unit: str) -> contextlib.AbstractContextManager[Steps]:
        """Show a piece of work while the context is open."""

    def line(self, text: str) -> None:
        """Show one line that stays."""


class _PlainSteps:
    def __init__(self, reporter: PlainReporter, name: str, total: int, unit: str) -> None:
        self._reporter, self._name, self._total, self._unit = reporter, name, total, unit
        self._done = 0
        self._shown = time.monotonic()
        self._lock = threading.Lock()

    def advance(self, steps: int = 1, note: str = "") -> None:
        with self._lock:
            self._done += steps
            now = time.monotonic()
            if now - self._shown < PLAIN_INTERVAL_SECONDS:
                return
            self._shown = now
            tail = f" ({note})" if note else ""  # inside the lock, so that numbers only grow down the log
            self._reporter.line(f"{self._name}: {self._done}/{self._total} {self._unit}{tail}")


class PlainReporter:
    """One line now and then, for logs and pipes."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    @contextlib.contextmanager
    def stage(self, name: str, total: int, unit: str) -> Iterator[Steps]:
        """Progress lines while open."""
        yield _PlainSteps(self, name, total, unit)

    def line(self, text: str) -> None:
        """Print one line."""
        tell(text, self._stream or sys.stderr)


class _LiveSteps:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task = progress, task

    def advance(self, steps: int = 1, note: str = "") -> None:
        self._progress.update(self._task, advance=steps, note=note)


class LiveReporter:
    """Bars on a terminal."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)

    @contextlib.contextmanager
    def stage(self, name: str, total: int, unit: str) -> Iterator[Steps]:
        """A bar while open; it disappears afterwards, the summary line stays."""
        columns = (
            TextColumn("{task.description:<16}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[note]}"),
        )
        with Progress(*columns, console=self._console, transient=True) as progress:
            yield _LiveSteps(progress, progress.add_task(name, total=total, note=""))

    def line(self, text: str) -> None:
        """Print one line."""
        self._console.print(visible(text), highlight=False, markup=False)


class LoggingReporter:
    """For scheduled flows: what begins, and lines that stay, go to a log."""

    def __init__(self, log: Log) -> None:
        self._log = log

    @contextlib.contextmanager
    def stage(self, name: str, total: int, unit: str) -> Iterator[Steps]:
        """Say what begins."""
        self._log.info("%s: %d %s", name, total, unit)
        yield _LiveNothing()

    def line(self, text: str) -> None:
        """Log one line."""
        self._log.info("%s", text)


class SilentReporter:
    """Shows nothing."""

    @contextlib.contextmanager
    def stage(self, name: str, total: int, unit: str) -> Iterator[Steps]:
        """Nothing to show."""
        yield _LiveNothing()

    def line(self, text: str) -> None:
        """Nothing to show."""


class _LiveNothing:
    def advance(self, steps: int = 1, note: str = "") -> None:
        return


def reporter_for(stream: TextIO | None = None) -> Reporter:
    """Live on a terminal, plain lines otherwise."""
    return LiveReporter() if (stream or sys.stderr).isatty() else PlainReporter(stream)
