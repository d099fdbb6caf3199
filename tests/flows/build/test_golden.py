"""The golden mechanism notices changed output, and the stages of the product make what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from flows.engine.workspace import Workspace, open_workspace
from schemas.stages import Drop
from tests.flows.toy import CUT, POOL, ToyArticle, ToyWord, articles, cut, run, seed
from tests.golden import RECORDED, UPDATE, changed_versions, load, measure, problems, save
from tests.golden.__main__ import update


def shouts(article: ToyArticle, *, shortest: int) -> Iterator[ToyWord | Drop]:
    for out in cut(article, shortest=shortest):
        yield replace(out, word=out.word.upper()) if isinstance(out, ToyWord) else out


def built(root: Path, stage: Any = CUT) -> dict[str, dict[str, str]]:
    workspace = open_workspace(root, create=True)
    seed(workspace, articles(12), 4)
    run(workspace, stage)
    run(workspace, POOL)
    return measure(workspace)


def test_equal_output_is_no_problem(tmp_path: Path) -> None:
    first, again = built(tmp_path / "one"), built(tmp_path / "two")
    assert set(first) == {"seed@1", "cut@1", "pool@1"}
    assert set(first["pool@1"]) == {"chosen", "totals", "_dropped"}
    assert problems(again, first) == []


def test_changed_output_without_a_new_version_says_what_to_do(tmp_path: Path) -> None:
    before, after = built(tmp_path / "one"), built(tmp_path / "two", replace(CUT, process=shouts))
    found = problems(after, before)
    assert [text.partition(":")[0] for text in found] == ["stage cut", "stage pool"]
    assert "output changed (words) but its version is still 1" in found[0] and UPDATE in found[0]
    assert changed_versions(after, before) == ["cut@1", "pool@1"]


def test_a_new_version_asks_to_be_recorded(tmp_path: Path) -> None:
    before = built(tmp_path / "one")
    after = built(tmp_path / "two", replace(CUT, process=shouts, version=2))
    found = problems(after, before)
    assert any(text.startswith("cut@2 has no recorded hashes (recorded: cut@1)") for text in found)
    assert any(text.startswith("cut@1 is recorded but nothing makes it") for text in found)


def test_update_refuses_to_hide_a_change(tmp_path: Path) -> None:
    path = tmp_path / "hashes.json"
    before, after = built(tmp_path / "one"), built(tmp_path / "two", replace(CUT, process=shouts))
    assert update(before, path, same_version=False) == [] and load(path) == before
    assert update(after, path, same_version=False) == ["cut@1", "pool@1"] and load(path) == before
    assert update(after, path, same_version=True) == [] and load(path) == after


def test_order_dropped_rows_and_columns_all_count(tmp_path: Path) -> None:
    base = built(tmp_path / "base")
    longer = built(tmp_path / "longer", replace(CUT, params={"shortest": 4}))
    assert base["cut@1"]["words"] != longer["cut@1"]["words"]
    assert base["cut@1"]["_dropped"] != longer["cut@1"]["_dropped"]


def test_records_are_stable_text(tmp_path: Path) -> None:
    save({"b@1": {"y": "2", "x": "1"}, "a@1": {}}, tmp_path / "h.json")
    assert (tmp_path / "h.json").read_text().startswith('{\n "a@1": {},\n "b@1": {\n  "x": "1"')


def test_the_stages_make_of_the_sample_what_was_recorded(sample: Workspace) -> None:
    assert RECORDED.is_file(), f"nothing is recorded yet: run {UPDATE}"
    assert not (found := problems(measure(sample), load())), "\n".join(found)


def test_the_sample_shows_something_of_every_stage(sample: Workspace) -> None:
    assert {"crawl", "parse", "extract", "ground"} < {key.partition("@")[0] for key in measure(sample)}
