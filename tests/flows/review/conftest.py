"""Fixtures of tests that need a real Label Studio."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flows.review.label_studio import Server
from tests.flows.review.label_studio_server import label_studio, server_venv
from tests.flows.review.postgres_server import TeamServer, team_server
from tests.tables import of_label_studio_in_postgres

__all__ = ["label_studio", "server", "team"]


@pytest.fixture(scope="session")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    """Label Studio on PostgreSQL; its tests are one xdist group, for each worker would start its own."""
    folder = tmp_path_factory.mktemp("team") / "server"
    venv = server_venv()
    with team_server(folder, venv / "bin" / "label-studio", of_label_studio_in_postgres(venv)) as made:
        yield made


@pytest.fixture
def server(team: TeamServer) -> Server:
    """The team's server, started again if a test killed it."""
    return team.start()
