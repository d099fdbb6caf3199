"""Fixtures every test may use: the checkout, the shared real data, an empty workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.workspace import Workspace, open_workspace

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real articles and vocabularies beside the checkout; the only thing a test may be skipped for."""
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is absent")
    return SHARED_DATA


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """An empty workspace."""
    yield open_workspace(tmp_path / "workspace", create=True)
