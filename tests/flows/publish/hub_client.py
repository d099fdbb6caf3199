"""A Hub on loopback that this process's library talks to, over LFS, and a publisher for it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from huggingface_hub import constants

from curation.published.manifest import read_manifest
from flows.adapters.hub import Hub
from flows.engine.progress import SilentReporter
from flows.publish.hub import Publisher
from flows.publish.ready import TaskRelease
from tests.flows.publish.hub_server import ORGANIZATION, TOKEN, HubServer


@contextlib.contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """The server; nobody waits between tries."""
    with HubServer() as running:
        monkeypatch.setattr(constants, "ENDPOINT", running.root)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield running


def client() -> Hub:
    """Calls to it: three tries, no waiting."""
    return Hub(attempts=3, timeout_seconds=5.0, sleep=lambda seconds: None)


def publisher(directories: Sequence[Path], *, private: bool = False) -> Publisher:
    """Publishes task folders without asking whether they may be."""
    tasks = [TaskRelease(path, read_manifest(path)) for path in directories]
    return Publisher(client(), ORGANIZATION, tasks, private=private, reporter=SilentReporter())
