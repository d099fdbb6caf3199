"""Processes below a process, and whether they still run: what kill campaigns and their tests ask."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """Process ids below a process, whatever session they are in."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        if fields := _fields(stat):
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = list(children.get(pid, []))
    for child in found:
        found.extend(children.get(child, []))
    return found


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended, and that nobody has asked after, does not."""
    fields = _fields(Path(f"/proc/{pid}/stat"))
    return bool(fields) and fields[0] not in "ZX"


def left_running(pids: Sequence[int], seconds: float = 10.0) -> list[int]:
    """Those of some processes that have not ended after that time; they are killed then."""
    end = time.monotonic() + seconds
    while any(map(is_running, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    left = list(filter(is_running, pids))
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return left


def _fields(stat: Path) -> list[str]:
    """State, parent, … of a process; empty when it is gone."""
    try:
        return stat.read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []
