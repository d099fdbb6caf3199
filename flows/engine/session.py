"""What a flow or command needs at its start: settings, an open workspace, somewhere to report progress."""

from __future__ import annotations

import contextlib
import contextvars
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from flows.engine.progress import PlainReporter, Reporter, Steps
from flows.engine.runs import Run, recorded
from flows.engine.scratch import own_temporary
from flows.engine.settings import Settings, load_settings
from flows.engine.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from flows.engine.connection import Connection

_REPORTER: contextvars.ContextVar[Reporter] = contextvars.ContextVar("medqrels_reporter")
_PATIENCE: contextvars.ContextVar[float] = contextvars.ContextVar("medqrels_patience", default=0.0)
_CHOSEN: contextvars.ContextVar[Mapping[str, str] | None] = contextvars.ContextVar(
    "medqrels_chosen", default=None
)


@dataclass(frozen=True, slots=True)
class Noting:
    """Shows progress as `shown` does, and writes lines that stay into the log of a run."""

    shown: Reporter
    run: Run

    def stage(self, name: str, total: int, unit: str) -> contextlib.AbstractContextManager[Steps]:
        """Show a piece of work while the context is open."""
        self.run.note("progress", stage=name, total=total, unit=unit)
        return self.shown.stage(name, total, unit)

    def line(self, text: str) -> None:
        """Show one line that stays."""
        self.run.note("told", message=text)
        self.shown.line(text)


@dataclass(frozen=True)
class Session:
    """Settings, workspace and reporter of one run."""

    settings: Settings
    workspace: Workspace
    reporter: Reporter

    @cached_property
    def query(self) -> Connection:
        """One database for all questions of the run: it keeps the small tables it was asked of."""
        from flows.engine.connection import query  # most commands ask none

        return query(self.settings.memory_limit)


@contextlib.contextmanager
def reporting(reporter: Reporter) -> Iterator[None]:
    """Send the progress of flows started inside to `reporter`."""
    token = _REPORTER.set(reporter)
    try:
        yield
    finally:
        _REPORTER.reset(token)


def read_session(workspace: str | Path | None) -> Session:
    """A session that only reads; the workspace must exist."""
    settings = load_settings(workspace=workspace)
    return Session(settings, open_workspace(settings.workspace), current_reporter())


def chosen_settings(workspace: str | Path | None) -> Settings:
    """The settings that a session opened now would have."""
    return load_settings(workspace=workspace, **(_CHOSEN.get() or {}))


@contextlib.contextmanager
def choosing(**settings: str | None) -> Iterator[None]:
    """Have sessions opened inside use these settings, before file and environment; None is no choice."""
    token = _CHOSEN.set({name: value for name, value in settings.items() if value is not None})
    try:
        yield
    finally:
        _CHOSEN.reset(token)


@contextlib.contextmanager
def patient(seconds: float) -> Iterator[None]:
    """Have sessions opened inside wait that long for another process that holds the workspace."""
    token = _PATIENCE.set(seconds)
    try:
        yield
    finally:
        _PATIENCE.reset(token)


@contextlib.contextmanager
def write_session(workspace: str | Path | None, *, create: bool = False, flow: str = "") -> Iterator[Session]:
    """A session that holds the workspace's writer lock while open; as a run of that flow, if it is named."""
    settings = chosen_settings(workspace)
    opened = open_workspace(settings.workspace, create=create)
    with (
        recorded(opened, flow) as run,
        opened.writing(run.who, wait=_PATIENCE.get(), waits_for=run.waits_for),
        own_temporary(),
    ):
        run.begins()
        shutil.rmtree(opened.temporary, ignore_errors=True)  # what a killed run left half-written
        try:
            yield Session(settings, opened, Noting(current_reporter(), run))
        finally:
            shutil.rmtree(opened.temporary, ignore_errors=True)  # and what this one did


def current_reporter() -> Reporter:
    """The reporter set by the command line, plain lines when a flow runs by itself (a deployment)."""
    return _REPORTER.get(PlainReporter())
