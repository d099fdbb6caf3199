"""Where the tests write: in memory if there is room, else where they were told to."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests import scratch


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of /dev/shm, with room."""
    monkeypatch.setattr(scratch, "MEMORY", tmp_path)
    monkeypatch.setattr(scratch, "NEEDED", 1)
    monkeypatch.setattr(scratch, "SPARE", 1)
    monkeypatch.setattr(tempfile, "tempdir", "/var/tmp")
    monkeypatch.setenv("TMPDIR", "")
    monkeypatch.setenv(scratch.DISK, "")
    return tmp_path


def test_temporary_files_go_to_memory_and_what_dead_runs_left_goes(memory: Path) -> None:
    alive, dead = memory / f"{scratch.NAME}1", memory / f"{scratch.NAME}4194305"  # above the highest id
    for name in (alive, dead, memory / "of somebody else"):
        name.mkdir()
    folder = scratch.to_memory()
    assert folder is not None and folder.parent == memory and Path(tempfile.gettempdir()) == folder
    assert os.environ["TMPDIR"] == str(folder) and os.environ[scratch.DISK] == "/var/tmp"
    assert folder.stat().st_mode & 0o777 == 0o711, "PostgreSQL's user must get through"
    assert sorted(memory.iterdir()) == sorted([alive, memory / "of somebody else", folder])


@pytest.mark.parametrize("lack", ["NEEDED", "SPARE", "TMPDIR", "no such folder"])
def test_without_room_or_when_told_where_they_stay(
    memory: Path, monkeypatch: pytest.MonkeyPatch, lack: str
) -> None:
    if lack == "TMPDIR":
        monkeypatch.setenv("TMPDIR", "/var/tmp")
    elif lack == "no such folder":
        monkeypatch.setattr(scratch, "MEMORY", memory / "absent")
    else:
        monkeypatch.setattr(scratch, lack, 1 << 60)
    assert scratch.to_memory() is None
    assert tempfile.gettempdir() == "/var/tmp" and not list(memory.iterdir())


def test_a_containers_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(scratch, "_LIMITS", (limit, tmp_path / "absent"))
    unlimited = scratch.free_memory()
    assert unlimited > 1 << 20
    limit.write_text("1000000\n")
    assert scratch.free_memory() == 1_000_000
    limit.write_text("max\n")
    assert scratch.free_memory() > 1 << 20
