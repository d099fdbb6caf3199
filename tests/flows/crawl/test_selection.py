"""What to crawl is cut into shards once and written down before anything is fetched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flows.crawl.selection import STAGE, Selection, select, selections
from flows.engine.workspace import Workspace
from schemas.errors import WorkspaceError

IDS = [f"PMC{number}" for number in range(100, 125)]


def held(found: list[Selection]) -> list[str]:
    return sorted(locator for item in found for locator in item.locators)


def test_shards_have_their_size_and_hold_everything_once(workspace: Workspace) -> None:
    made = select(workspace, "pmc", [*IDS[::-1], *IDS], 10)
    assert sorted(len(item.locators) for item in made) == [5, 10, 10]
    assert held(made) == sorted(IDS)
    assert all(list(item.locators) == sorted(item.locators) for item in made)
    assert all(item.source == "pmc" and item.root == "" and item.shard.startswith("pmc-") for item in made)
    assert selections(workspace) == made == sorted(made, key=lambda item: item.shard)


def test_selecting_again_changes_nothing(workspace: Workspace) -> None:
    made = select(workspace, "pmc", IDS, 10)
    files = {path.name: path.read_bytes() for path in workspace.stage(STAGE).iterdir()}
    assert select(workspace, "pmc", reversed(IDS), 3) == made  # another shard size does not cut anew
    assert {path.name: path.read_bytes() for path in workspace.stage(STAGE).iterdir()} == files


def test_only_new_ids_form_new_shards(workspace: Workspace) -> None:
    first = select(workspace, "pmc", IDS, 10)
    wanted = ["PMC100", "PMC900", "PMC901"]
    again = select(workspace, "pmc", wanted, 10)
    new = [item for item in again if item not in first]
    assert [item.locators for item in new] == [("PMC900", "PMC901")]
    assert len(again) == 2 and "PMC100" in held(again)
    assert len(selections(workspace)) == 4


def test_nothing_wanted_is_nothing_made(workspace: Workspace) -> None:
    assert select(workspace, "pmc", [], 10) == [] and selections(workspace) == []


def test_sources_and_folders_are_kept_apart(workspace: Workspace) -> None:
    one = select(workspace, "folder", ["a.xml"], 10, root="/data/one")
    two = select(workspace, "folder", ["a.xml"], 10, root="/data/two")
    three = select(workspace, "pmc", ["a.xml"], 10)
    assert len({item.shard for item in one + two + three}) == 3 == len(selections(workspace))
    assert [item.root for item in one + two + three] == ["/data/one", "/data/two", ""]


def test_the_same_ids_give_the_same_shards_elsewhere(workspace: Workspace, tmp_path: Path) -> None:
    other = Workspace(tmp_path / "other")
    assert select(other, "pmc", IDS, 10) == select(workspace, "pmc", set(IDS), 10)


def test_a_crash_while_recording_goes_on_where_it_was(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = select(Workspace(workspace.root / "undisturbed"), "pmc", IDS, 4)
    real, calls = os.replace, iter(range(100))

    def crash_at_the_third(*arguments: str) -> None:
        if next(calls) == 2:
            raise KeyboardInterrupt
        real(*arguments)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "replace", crash_at_the_third)
        select(workspace, "pmc", IDS, 4)
    assert len(selections(workspace)) == 2
    assert select(workspace, "pmc", IDS, 4) == undisturbed


def test_file_names_of_any_kind_are_recorded(workspace: Workspace) -> None:
    names = ["ä/ö.xml", "a b.xml", "it's.xml", "🫀.xml", os.fsdecode(b"latin\xe9.xml")]
    made = select(workspace, "folder", names, 10, root="/data/ü")
    assert selections(workspace) == made and held(made) == sorted(names)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"shard": "x"}'])
def test_a_damaged_record_is_named(workspace: Workspace, text: str) -> None:
    select(workspace, "pmc", ["PMC1"], 10)
    path = next(workspace.stage(STAGE).iterdir())
    path.write_text(text)
    with pytest.raises(WorkspaceError, match="selection is damaged") as caught:
        selections(workspace)
    assert caught.value.file == str(path)
