"""What decayed on the disk is found by `doctor --files`: each file by name, with what makes it good."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.cli.app import run_cli
from flows.engine.progress import SilentReporter
from flows.engine.workspace import Workspace, open_workspace
from flows.release.files import damages
from flows.vocabulary import current
from flows.vocabulary.commands import add, obo_reading
from flows.vocabulary.indexes import index_in_use
from schemas.errors import WorkspaceError
from tests.curation.vocabulary.builders import OBO

PLACES = {
    "raw/pmc/*/*.xml": "crawl again",
    "raw/ledger.sqlite": "move the file away",
    "work/crawl/*/raw.parquet": "medqrels crawl",
    "work/crawl/*/_manifest.json": "medqrels crawl",
    "vocabulary/merged-*/names.parquet": "vocabulary build",
    "vocabulary/merged-*/manifest.json": "vocabulary build",
    "vocabulary/sources/*/types.parquet": "vocabulary build",
    "vocabulary/indexes/*-native-*[0-9a-z]": "medqrels ground",
    "releases/known/1.0.0/visual_context/queries/*.parquet": "restore it",
    "releases/known/1.0.0/visual_context/release.json": "restore it",
    "recorded/known/1.0.0/record.json": "restore it",
    "recorded/known/1.0.0/cards/spec.toml": "restore it",
}
"""One file of every kind -> what is said of how it is made good."""


@pytest.fixture
def whole(recorded: Workspace, tmp_path: Path) -> Workspace:
    """With a vocabulary, its index and an audit, too."""
    (tmp_path / "toy.obo").write_text(OBO, "utf-8")
    add([obo_reading(tmp_path / "toy.obo")], str(recorded.root))
    with recorded.writing():
        index_in_use(recorded, "native", SilentReporter())
    for name in ("audit.json", "audit.html"):
        (recorded.releases / "known/1.0.0/visual_context" / name).write_text("{}", "utf-8")
    return recorded


def found(workspace: Workspace) -> dict[Path, tuple[str, str]]:
    return {one.path: (one.why, one.fix) for one in damages(workspace, SilentReporter())[1]}


def flip(path: Path, place: int | None = None) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if place is None else place] ^= 1
    path.write_bytes(content)


def garble(path: Path) -> None:
    path.write_bytes(b"{" + path.read_bytes()[: path.stat().st_size // 3])
    path.with_name(f"{path.name}-wal").unlink(missing_ok=True)


@pytest.mark.parametrize("place", sorted(PLACES))
def test_a_damaged_file_of_every_kind_is_named(whole: Workspace, place: str) -> None:
    count, before = damages(whole, SilentReporter())
    assert count > 20 and not before
    path = sorted(whole.root.glob(place))[0]
    damage: Callable[[Path], None] = garble if path.suffix in (".json", ".sqlite") else flip
    damage(path)
    told = {name: fix for name, (_, fix) in found(whole).items() if name in (path, path.parent)}
    assert list(told.values()) and PLACES[place] in next(iter(told.values())), found(whole)


def test_files_that_are_gone_are_named(whole: Workspace) -> None:
    gone = [next(whole.root.glob(name)) for name in ("raw/pmc/*/*.xml", "releases/*/*/*/audit.html")]
    for path in gone:
        path.unlink()
    assert {path: why for path, (why, _) in found(whole).items()} == dict.fromkeys(gone, "is missing")


def test_the_command_ends_with_a_finding(whole: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["doctor", "--files", "--json", "--workspace", str(whole.root)]
    run_cli(arguments)
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert rows[-1]["check"] == "files" and rows[-1]["ok"] is True
    flip(next(whole.root.glob("raw/pmc/*/*.xml")))
    assert run_cli(arguments) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [row["ok"] for row in rows if row["check"] in ("file", "files")] == [False, False]
    run_cli([*arguments[:-1], str(whole.root / "none")])
    assert json.loads(capsys.readouterr().out)[-1]["detail"] == "no workspace yet"


def test_a_changed_index_is_made_again_and_a_changed_table_refused(tmp_path: Path) -> None:
    (tmp_path / "toy.obo").write_text(OBO, "utf-8")
    workspace = open_workspace(tmp_path / "ws", create=True)
    add([obo_reading(tmp_path / "toy.obo")], str(workspace.root))
    with workspace.writing():
        index = index_in_use(workspace, "native", SilentReporter()).path
        written = index.read_bytes()
        flip(index)
        assert index_in_use(workspace, "native", SilentReporter()).path.read_bytes() == written
        vocabulary = current(workspace)
        assert vocabulary is not None
        table = vocabulary.table("names")
        magic = table.stat().st_size - 1
        flip(table, magic)
        with pytest.raises(WorkspaceError, match="cannot be read"):
            index_in_use(workspace, "native", SilentReporter())
        flip(table, magic)
        flip(table, 20)
        with pytest.raises(WorkspaceError, match="was changed since it was made") as caught:
            index_in_use(workspace, "native", SilentReporter())
        assert caught.value.file == str(vocabulary.table("names"))
