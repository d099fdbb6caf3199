"""A workspace is recognised, versioned, and written by one process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flows.engine.workspace import STORAGE_VERSION, Busy, Workspace, open_workspace, write_atomic
from schemas.errors import WorkspaceError

HOLD = """
import sys
from pathlib import Path
from flows.engine.workspace import Busy, open_workspace
with open_workspace(Path(sys.argv[1])).writing():
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_new_workspace_opens_again(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "workspace"
    made = open_workspace(root, create=True)
    assert open_workspace(root) == open_workspace(root, create=True) == made
    assert made.stage("parse") == root / "work" / "parse" and made.ledger.parent == made.raw


def test_no_workspace_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no workspace here") as caught:
        open_workspace(tmp_path / "absent")
    assert "medqrels crawl" in caught.value.hint and str(tmp_path / "absent") in caught.value.hint
    assert not (tmp_path / "absent").exists()


def test_somebody_elses_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    for create in (False, True):
        with pytest.raises(WorkspaceError):
            open_workspace(tmp_path, create=create)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_workspace(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    with pytest.raises(WorkspaceError):
        open_workspace(path)
    with pytest.raises(WorkspaceError, match="is not a workspace"):
        open_workspace(path, create=True)


def test_a_workspace_whose_making_was_interrupted_is_made(tmp_path: Path) -> None:
    (tmp_path / ".workspace.json.4711.tmp").write_text('{"stor')
    open_workspace(tmp_path, create=True)
    open_workspace(tmp_path)


@pytest.mark.parametrize("version", [0, STORAGE_VERSION + 1, "1", None])
def test_another_storage_version_is_refused(workspace: Workspace, version: object) -> None:
    marker = workspace.root / "workspace.json"
    marker.write_text(f'{{"storage_version": {version!r}}}'.replace("'", '"').replace("None", "null"))
    for create in (False, True):
        with pytest.raises(WorkspaceError, match="storage version") as caught:
            open_workspace(workspace.root, create=create)
        assert f"reads {STORAGE_VERSION}" in str(caught.value) and caught.value.hint


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b"\xff", b"null"])
def test_a_damaged_marker_is_named(workspace: Workspace, text: bytes) -> None:
    marker = workspace.root / "workspace.json"
    marker.write_bytes(text)
    with pytest.raises(WorkspaceError, match="marker is damaged") as caught:
        open_workspace(workspace.root)
    assert caught.value.file == str(marker)


def test_another_process_holds_the_lock(workspace: Workspace, repository: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(workspace.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=repository,
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(Busy, match="another medqrels process") as caught, workspace.writing():
            pass
        assert caught.value.file == str(workspace.root) and "wait" in caught.value.hint
        assert f"process {other.pid}" in caught.value.message
        assert open_workspace(workspace.root) == workspace  # reading needs no lock
        other.stdin.write("\n")
        other.stdin.flush()
        other.wait(30)
    with workspace.writing():
        pass


def test_the_lock_of_a_killed_process_is_free(workspace: Workspace, repository: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(workspace.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=repository,
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        other.kill()
    with workspace.writing():
        pass


def test_the_lock_is_reentrant_and_comes_free_after_an_error(workspace: Workspace) -> None:
    with pytest.raises(RuntimeError), workspace.writing(), open_workspace(workspace.root).writing():
        raise RuntimeError
    seen: list[bool] = []

    def other_thread() -> None:
        with workspace.writing():
            seen.append(True)

    thread = threading.Thread(target=other_thread)
    thread.start()
    thread.join()
    assert seen == [True]


def test_files_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "file"
    write_atomic(path, b"old")

    def crash(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "replace", crash)
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
