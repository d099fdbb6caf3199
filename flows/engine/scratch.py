"""Temporary folders that a kill does not leave behind: the next run removes those whose owner is gone.

A folder's owner holds a lock file beside it, which the system lets go when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

_LOCK = ".lock"
_inside = threading.Event()


@contextlib.contextmanager
def own_temporary() -> Iterator[None]:
    """Have `tempfile` work in a folder of this process, below the system's; inside another it does nothing.

    Whoever asks `tempfile` for a folder, libraries too, gets one that the next run removes if this is killed.
    """
    if _inside.is_set():
        yield
        return
    before = tempfile.tempdir
    with owned_folder(home(), "run-") as folder:
        tempfile.tempdir = str(folder)
        _inside.set()
        try:
            yield
        finally:
            _inside.clear()
            tempfile.tempdir = before


@contextlib.contextmanager
def owned_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """An empty folder in `parent`, gone at the end; what dead processes left there by that prefix goes too.

    Args:
        parent: an existing folder.
        prefix: begins the names of such folders and of nothing else.
    """
    sweep(parent, prefix)
    lock, folder = _new(parent, prefix)
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _forget(lock)


def sweep(parent: Path, prefix: str = "") -> int:
    """Remove folders of processes that are gone; how many. Those of living ones stay, this one's too."""
    removed = 0
    for path in sorted(parent.glob(f"{_escaped(prefix)}*{_LOCK}")):
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except (Timeout, OSError):
            continue  # its owner lives, or it is not ours
        folder = path.with_name(path.name.removesuffix(_LOCK))
        removed += folder.is_dir()
        shutil.rmtree(folder, ignore_errors=True)
        _forget(lock)
    return removed


def _new(parent: Path, prefix: str) -> tuple[FileLock, Path]:
    """A name nobody has, and its lock. The lock comes first: a folder without a held lock has no owner."""
    while True:
        folder = parent / f"{prefix}{os.getpid()}-{secrets.token_hex(4)}"
        lock = FileLock(folder.with_name(folder.name + _LOCK))
        lock.acquire()
        if Path(lock.lock_file).exists():  # nobody swept it between its making and its locking
            return lock, folder
        lock.release()


def _forget(lock: FileLock) -> None:
    Path(lock.lock_file).unlink(missing_ok=True)  # while it is held: whoever waits for it finds no folder
    lock.release()


def _escaped(text: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


def home() -> Path:
    """One folder for all scratch of this user; where another user has taken its name, one of a new name."""
    folder = system_temporary() / f"medqrels-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    held = folder.lstat()
    if stat.S_ISDIR(held.st_mode) and held.st_uid == os.getuid():
        return folder
    return Path(tempfile.mkdtemp(prefix="medqrels-"))


def system_temporary() -> Path:
    """What `tempfile.gettempdir` gives, without the file by which that tries a folder: a kill leaves it."""
    if tempfile.tempdir is None:
        named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
        for place in filter(None, (*named, "/tmp")):
            if os.path.isdir(place) and os.access(place, os.R_OK | os.W_OK | os.X_OK):
                return Path(place).absolute()
    return Path(tempfile.gettempdir())
