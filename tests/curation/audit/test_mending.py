"""Folders that are damaged and mended: whatever was done to them, they are as the sound one again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit.mending import Files, Tables, empty, write_tables

Tree = dict[str, bytes | None]


def table(*numbers: int) -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64())})


def tree(directory: Path) -> Tree:
    """Everything in a folder: bytes of files, None for folders."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() if path.is_file() else None
        for path in directory.rglob("*")
    }


def shown(directory: Path) -> dict[str, list[int]]:
    """File -> numbers, through whatever links there are."""
    return {
        path.relative_to(directory).as_posix(): pq.read_table(path)["n"].to_pylist()
        for folder in ("queries", "provenance/queries", "corpus")
        for path in sorted((directory / folder).glob("*.parquet"))
    }


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    directory = tmp_path / "sound"
    write_tables(
        directory,
        {
            "queries": {"test.parquet": table(1), "dev.parquet": table(2)},
            "provenance/queries": {"test.parquet": table(3)},
            "corpus": {"test.parquet": table(4)},
        },
    )
    (directory / "README.md").write_text("card")
    return directory


def _same_size(directory: Path) -> None:
    path = directory / "README.md"
    path.write_bytes(bytes(reversed(path.read_bytes())))


def _file_for_folder(directory: Path) -> None:
    shutil.rmtree(directory / "provenance")
    (directory / "provenance").write_text("a file")


def _folder_for_file(directory: Path) -> None:
    (directory / "README.md").unlink()
    (directory / "README.md" / "deep").mkdir(parents=True)
    (directory / "README.md" / "deep" / "file").write_text("x")


def _links(directory: Path) -> None:
    (directory / "README.md").unlink()
    (directory / "README.md").symlink_to(directory / "corpus")
    (directory / "to-nowhere").symlink_to("nowhere")


def _swapped(directory: Path) -> None:
    one, other = directory / "queries/test.parquet", directory / "queries/dev.parquet"
    one.rename(directory / "queries/between")
    other.rename(one)
    (directory / "queries/between").rename(other)


def _further(directory: Path) -> None:
    (directory / "runs/test").mkdir(parents=True)
    (directory / "runs/test/bm25").write_text("run")
    (directory / "corpus/more.parquet").write_text("more")


def _gone(directory: Path) -> None:
    shutil.rmtree(directory)


DAMAGES = (_same_size, _file_for_folder, _folder_for_file, _links, _swapped, _further, _gone)


@pytest.mark.parametrize("damage", DAMAGES, ids=[item.__name__[1:] for item in DAMAGES])
def test_whatever_was_done_to_files_is_undone(
    sound: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    before = tree(sound)
    files = Files(sound, tmp_path / "copy")
    files.mend()
    assert tree(files.directory) == before
    for _ in range(2):
        damage(files.directory)
        if files.directory.exists():
            assert tree(files.directory) != before
            files.stamp()
        files.mend()
        assert tree(files.directory) == before
        assert not any(path.is_symlink() for path in files.directory.rglob("*"))
    assert tree(sound) == before


def test_changed_files_have_times_of_their_own(sound: Path, tmp_path: Path) -> None:
    """Two changes in one tick of the clock, to files of one size, can be told apart."""
    files = Files(sound, tmp_path / "copy")
    path = files.directory / "README.md"
    times = set()
    for text in ("aaaa", "bbbb", "cccc"):
        files.mend()
        assert path.read_text() == "card"
        times.add(path.stat().st_mtime_ns)
        path.write_text(text)
        os.utime(path, (0, 0))
        files.stamp()
        times.add(path.stat().st_mtime_ns)
    assert len(times) == 4


def test_what_is_as_it_was_is_not_copied_again(sound: Path, tmp_path: Path) -> None:
    files = Files(sound, tmp_path / "copy")
    files.mend()
    kept = (files.directory / "corpus/test.parquet").stat().st_ino
    (files.directory / "corpus/more").write_text("x")
    files.mend()
    assert (files.directory / "corpus/test.parquet").stat().st_ino == kept
    assert not os.path.lexists(files.directory / "corpus/more")


def test_tables_are_changed_and_sound_again(sound: Path, tmp_path: Path) -> None:
    before = shown(sound)
    tables = Tables(sound, tmp_path / "beside" / "copy", ["queries", "provenance/queries", "corpus"])
    tables.show({})
    assert shown(tables.directory) == before
    tables.show({"queries": {"test.parquet": table(9)}})
    others = {name: numbers for name, numbers in before.items() if not name.startswith("queries/")}
    assert shown(tables.directory) == others | {"queries/test.parquet": [9]}
    tables.show({"queries": {"dev.parquet": table(8)}, "corpus": {"test.parquet": table()}})
    assert shown(tables.directory) == {
        "queries/dev.parquet": [8],
        "provenance/queries/test.parquet": [3],
        "corpus/test.parquet": [],
    }
    tables.show({})
    assert shown(tables.directory) == before == shown(sound)


def test_tables_that_could_not_be_written_do_no_harm_to_the_next(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shown(sound)
    tables = Tables(sound, tmp_path / "copy", ["queries", "provenance/queries", "corpus"])
    tables.show({"queries": {"test.parquet": table(9)}})

    def full(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no space"):
        patch.setattr(pq, "write_table", full)
        tables.show({"corpus": {"test.parquet": table(5)}})
    tables.show({"queries": {"test.parquet": table(7)}})
    assert shown(tables.directory)["queries/test.parquet"] == [7]
    assert shown(tables.directory)["corpus/test.parquet"] == [4]
    tables.show({})
    assert shown(tables.directory) == before


def test_emptying_a_folder(sound: Path, tmp_path: Path) -> None:
    empty(sound)
    empty(tmp_path / "new")
    assert tree(sound) == tree(tmp_path / "new") == {}
