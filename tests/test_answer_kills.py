"""A slice of the kill campaign (the whole one: benchmarks/answer_kills.py), and that its checks can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.answer_kills import Scene, is_good, moment, scenes
from benchmarks.answer_scenes import FIGURES


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A small workspace, and what an undisturbed run leaves of it."""
    return next(iter(scenes(tmp_path_factory.mktemp("scene"), FIGURES)))


@pytest.mark.parametrize("what", ["before-put", "after-put", "after-publish"])
def test_killed_at_a_commit_point_no_stored_answer_is_paid_again(
    scene: Scene, tmp_path: Path, what: str
) -> None:
    places = [number for number, name in enumerate(scene.points, 1) if name == what]
    result = moment(scene, tmp_path / "w", places[len(places) // 2])
    assert is_good(result), result
    if what == "before-put":  # the answer under way is lost, so the checks below are not empty
        assert result["asked_twice"] == 1 and not is_good({**result, "asked_twice": 2})
    assert result["asked_twice"] == (what == "before-put")
    assert not is_good({**result, "paid_again": 1}) and not is_good({**result, "differing": ["a"]})
