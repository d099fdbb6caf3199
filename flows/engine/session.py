"""What a flow or command needs at its start: settings, an open workspace, somewhere to report progress."""

from __future__ import annotations

import contextlib
import contextvars
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flows.engine.progress import PlainReporter, Reporter
from flows.engine.scratch import own_temporary
from flows.engine.settings import Settings, load_settings
from flows.engine.workspace import Workspace, open_workspace

_REPORTER: contextvars.ContextVar[Reporter] = contextvars.ContextVar("medqrels_reporter")


@dataclass(frozen=True, slots=True)
class Session:
    """Settings, workspace and reporter of one run."""

    settings: Settings
    workspace: Workspace
    reporter: Reporter


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


@contextlib.contextmanager
def write_session(workspace: str | Path | None, *, create: bool = False) -> Iterator[Session]:
    """A session that holds the workspace's writer lock while open."""
    settings = load_settings(workspace=workspace)
    opened = open_workspace(settings.workspace, create=create)
    with opened.writing(), own_temporary():
        shutil.rmtree(opened.temporary, ignore_errors=True)  # what a killed run left half-written
        yield Session(settings, opened, current_reporter())


def current_reporter() -> Reporter:
    """The reporter set by the command line, plain lines when a flow runs by itself (a deployment)."""
    return _REPORTER.get(PlainReporter())
