"""The benchmark of what the partition gives to two tasks runs over both, on articles we wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import partition_sides
from tests.curation.tasks.summary_corpus import report


def test_both_tasks_are_made_and_parted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_sides, "articles", lambda _: [report(number) for number in range(1, 4)])
    made = partition_sides.tables(tmp_path, tmp_path)
    assert made["summary.queries"] and "visual_context.queries" in made
    assert set(partition_sides.owners(made, tmp_path).values()) <= set(partition_sides.NAMES)
