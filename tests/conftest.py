"""Fixtures every test may use: the checkout, the shared real data, an empty workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from curation.audit import canaries
from curation.audit.rule import Context, Rule
from flows.workspace import Workspace, open_workspace
from schemas.audit import CanaryResult

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"


TOGETHER = frozenset(
    {
        "curation/audit/test_images_rules.py",
        "curation/audit/test_page_browser.py",
        "curation/audit/test_pools.py",
        "curation/audit/test_runs.py",
        "curation/audit/test_verify.py",
        "curation/release/test_card_results.py",
        "flows/test_cli_audit.py",
        "flows/test_evaluate.py",
        "flows/test_prefect.py",
        "flows/test_show.py",
        "flows/review/test_loop.py",
        "flows/review/test_browser.py",
        "flows/review/test_sync.py",
        "flows/review/test_server.py",
        "test_audit_scale.py",
        "test_end_to_end.py",
        "test_pipeline_scale.py",
        "test_release_of_tasks.py",
    }
)
"""Modules whose fixtures are dear: one worker runs all tests of such a module."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep modules with dear fixtures on one worker (`--dist loadgroup`)."""
    for item in items:
        name = item.path.relative_to(ROOT / "tests").as_posix()
        if name in TOGETHER:
            item.add_marker(pytest.mark.xdist_group(name))


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


@pytest.fixture
def fewer_canaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits in this process plant the canaries of every twelfth rule.

    For tests of something else that needs a verdict: all canaries of one audit take twenty seconds.
    """
    whole = canaries.run

    def run(rules: Sequence[Rule], context: Context, run_rule: canaries.RunRule) -> tuple[CanaryResult, ...]:
        return whole(rules[::12], context, run_rule)

    monkeypatch.setattr(canaries, "run", run)
