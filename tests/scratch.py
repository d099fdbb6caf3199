"""Temporary files of the tests in memory where there is room: ext4 takes milliseconds to remove a folder.

Tests make and remove them by the thousand.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
NAME = "medqrels-tests-"
NEEDED = 4 << 30
"""Bytes free in the file system: many times what all tests leave."""
SPARE = 8 << 30
"""Bytes of memory free before the first test: the files, and the servers and workers that tests start."""
DISK = "TESTS_DISK"
"""Variable that names the folder of temporary files outside memory, for what outlives a run."""
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def free_memory() -> int:
    """Bytes that processes may still take; what a container may have at most, if that is less."""
    found = re.search(r"MemAvailable: +(\d+) kB", _read(Path("/proc/meminfo")))
    limits = [int(text) for path in _LIMITS if (text := _read(path).strip()).isdigit()]
    return min([int(found[1]) << 10 if found else 0, *limits])


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def to_memory() -> Path | None:
    """Have this process and those it starts make temporary files in memory.

    Returns:
        The folder to remove at the end; None where there is too little room or $TMPDIR says where to go.
    """
    if os.environ.get("TMPDIR") or not MEMORY.is_dir():
        return None
    system = os.statvfs(MEMORY)
    if system.f_flag & os.ST_NOEXEC or system.f_bavail * system.f_frsize < NEEDED or free_memory() < SPARE:
        return None
    _remove_left()
    os.environ[DISK] = tempfile.gettempdir()
    folder = MEMORY / f"{NAME}{os.getpid()}"
    folder.mkdir(mode=0o711)  # PostgreSQL, which runs as another user, has its folder below
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # it is looked up once
    return folder


def _remove_left() -> None:
    """What killed or failed runs left behind."""
    for folder in MEMORY.glob(f"{NAME}*"):
        runs = Path("/proc", folder.name.removeprefix(NAME)).exists()
        with contextlib.suppress(OSError):
            if not runs and folder.stat().st_uid == os.getuid():
                shutil.rmtree(folder)
