"""Temporary folders: a killed process leaves them, the next one takes them away, and never a living one's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from flows.engine.scratch import own_temporary, owned_folder, sweep

ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import sys, tempfile, time
from flows.engine.scratch import own_temporary
with own_temporary():
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/spilled", "w").close()
        print(folder, flush=True)
        sys.stdin.read()
"""


def hold(temporary: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that holds a temporary folder until its input ends, and that folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def end(process: subprocess.Popen[str], how: int | None) -> None:
    if how is None:
        process.communicate("", timeout=30)
    else:
        process.send_signal(how)
        process.wait(30)
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_next_run_removes_what_a_killed_one_left_and_nothing_of_a_living_one(
    how: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, left = hold(tmp_path)
    living, kept = hold(tmp_path)
    end(killed, how)
    assert (left / "spilled").exists() and (kept / "spilled").exists()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with own_temporary():
        assert not left.parent.exists()
        assert (kept / "spilled").exists()
    end(living, None)
    assert list((tmp_path / f"medqrels-{os.getuid()}").iterdir()) == []


def test_everything_temporary_goes_into_one_folder_that_goes_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(RuntimeError), own_temporary():
        mine = Path(tempfile.gettempdir())
        assert mine.parent.parent == tmp_path and mine.stat().st_mode & 0o777 == 0o700
        with own_temporary():
            assert Path(tempfile.gettempdir()) == mine
            assert Path(tempfile.mkdtemp()).parent == mine
        assert mine.exists()
        raise RuntimeError
    assert not mine.exists()
    assert tempfile.gettempdir() == str(tmp_path)


def test_a_folder_of_another_s_making_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "run-1-00000000.lock").touch()
    (elsewhere / "run-1-00000000").mkdir()
    (tmp_path / f"medqrels-{os.getuid()}").symlink_to(elsewhere)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with own_temporary():
        assert Path(tempfile.gettempdir()).parent.parent == tmp_path
        assert len(list(elsewhere.iterdir())) == 2


def test_only_folders_of_the_prefix_are_swept_whatever_its_letters(tmp_path: Path) -> None:
    for name in (".runs[1].new-7-aa", ".runs1.new-7-aa"):
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.lock").touch()
    (tmp_path / ".runs[1].new-of-mine").mkdir()  # has no lock: nobody made it so
    with owned_folder(tmp_path, ".runs[1].new-") as folder:
        assert sweep(tmp_path, ".runs[1].new-") == 0
        assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {
            folder.name,
            ".runs1.new-7-aa",
            ".runs[1].new-of-mine",
        }
    assert not folder.exists()


_WATCHED = """
import sys
from pathlib import Path
tried, place = [], sys.argv[1]
sys.addaudithook(lambda event, given: tried.append(str(given[0])) if event == "open" else None)
from flows.engine.scratch import own_temporary
with own_temporary():
    pass
print(*(path for path in tried if Path(path).parent == Path(place)))
"""


def test_no_folder_is_tried_with_a_file_that_a_kill_would_leave(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", _WATCHED, str(tmp_path)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == []
    assert [path.name for path in tmp_path.iterdir()] == [f"medqrels-{os.getuid()}"]
