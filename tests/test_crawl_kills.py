"""A slice of the kill campaign (the whole one: benchmarks/crawl_kills.py), and that its checks can fail."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from benchmarks import crawl_kills
from benchmarks.crawl_kills import Scene, is_good, moment, prepare


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A small bucket and what an undisturbed crawl of it leaves."""
    return prepare(tmp_path_factory.mktemp("scene"), 14)


@pytest.mark.parametrize("seed", [0, pytest.param(11, marks=pytest.mark.campaign)])
def test_killed_anywhere_the_rerun_ends_with_the_same_bytes(scene: Scene, tmp_path: Path, seed: int) -> None:
    result = moment(scene, tmp_path / "w", seed)
    assert is_good(result), result
    assert result["requests_before"] > 0 and result["requests_after"] > 0
    assert result["faults"]


def test_the_checks_notice_what_they_are_for(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = crawl_kills.crawl_again

    def after_damage(scene: Scene, root: Path, server: Any) -> dict[str, Any]:
        with contextlib.closing(sqlite3.connect(root / "raw" / "ledger.sqlite")) as ledger:
            ledger.execute("DELETE FROM objects")
            ledger.commit()
        said = again(scene, root, server)
        (root / "raw" / "pmc" / f"{scene.pmcids[0]}.1" / "fig1.jpg").write_bytes(b"other")
        (root / "raw" / "pmc" / ".x.part").write_bytes(b"")
        shutil.rmtree(root / "work" / "crawl")
        return said

    monkeypatch.setattr(crawl_kills, "crawl_again", after_damage)
    result = moment(scene, tmp_path / "w", 5)
    assert not is_good(result)
    assert len(result["sent_again"]) == result["objects_stored_before"] > 0
    assert result["litter"] == ["raw/pmc/.x.part"]
    assert f"raw/pmc/{scene.pmcids[0]}.1/fig1.jpg" in result["differing"]
    assert any(name.startswith("work/crawl/") for name in result["differing"])
