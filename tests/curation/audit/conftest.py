"""Fixtures: the known build, the known release, and a copy of it to damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.curation.release.known import World, make_world


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The known release, built once; read-only for tests."""
    return make_world(tmp_path_factory.mktemp("known")).release()


@pytest.fixture
def copy(known: Path, tmp_path: Path) -> Path:
    """A copy of the known release to damage."""
    target = tmp_path / "copy"
    shutil.copytree(known, target)
    return target
