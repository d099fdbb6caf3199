"""Runs one command as a user would and says what it took: time, memory of the process tree, disk, scratch."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.audit_scale import _family, _Peak
from benchmarks.measure import ROOT

WORKERS, MEMORY, AUDIT_MEMORY = 2, "2GB", "1GB"
_EVERY = 1.0
_PROGRESS = re.compile(r"\d+/\d+ (shards|tables)")
"""Lines that only say how far a stage is."""


class Scratch(threading.Thread):
    """The most that some folders held, asked once a second."""

    def __init__(self, folders: Sequence[Path]) -> None:
        super().__init__(daemon=True)
        self.folders, self.most = folders, 0
        self.done = threading.Event()

    def run(self) -> None:
        """Ask until told to stop."""
        while not self.done.wait(_EVERY):
            self.most = max(self.most, sum(size_of(folder) for folder in self.folders))


def size_of(folder: Path) -> int:
    """Bytes of the files below a folder; files that go meanwhile do not count."""
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(base, name)).st_size
    return total


def environment(folder: Path, memory: str) -> dict[str, str]:
    """Settings of every command: two workers, a bounded database, temporary files in a folder of ours."""
    given = {
        "MEDQRELS_WORKERS": str(WORKERS),
        "MEDQRELS_MEMORY_LIMIT": memory,
        "TMPDIR": str(folder),
        "PYTHONPATH": str(ROOT),
    }
    return {**os.environ, **given}


def measured(
    arguments: Sequence[str], workspace: Path, *, accepted: Sequence[int] = (0,), memory: str = MEMORY
) -> dict[str, Any]:
    """Run `medqrels ARGUMENTS` on a workspace and measure it.

    Args:
        arguments: verb and its arguments.
        workspace: the workspace.
        accepted: exit codes that are no failure; an audit that finds something ends with 1.
        memory: what the database may hold.

    Returns:
        Seconds by the clock, CPU seconds of the process tree, its peak memory in MB (resident; `pss` counts
        shared pages once), MB added to the workspace, MB that it and its descendants read and wrote, most
        scratch space in MB, and what was said when.

    Raises:
        RuntimeError: the command failed; says its last lines.
    """
    before = size_of(workspace)
    with tempfile.TemporaryDirectory(prefix="scale-", dir=workspace.parent) as folder:
        program = str(Path(sys.executable).parent / "medqrels")
        command = [program, *arguments, "--workspace", str(workspace)]
        cpu, started = os.times(), time.perf_counter()
        child = subprocess.Popen(
            command, cwd=ROOT, env=environment(Path(folder), memory), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        with _watching(child, Path(folder), workspace) as (peak, scratch):
            lines = _read(child, started)
            moved = _moved(child.pid)
            code = child.wait()
        seconds, after = time.perf_counter() - started, os.times()
    if code not in accepted:
        raise RuntimeError(f"medqrels {' '.join(arguments)} ended with {code}: {lines[-8:]}")
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(sum(after[2:4]) - sum(cpu[2:4]), 1),
        "peak_rss_mb": peak.resident // 1024,
        "peak_pss_mb": peak.proportional // 1024,
        "written_mb": round((size_of(workspace) - before) / 1e6, 1),
        **moved,
        "scratch_mb": round(scratch.most / 1e6, 1),
        "exit": code,
        "said": [line for line in lines if not _PROGRESS.search(str(line[2]))],
    }


@contextlib.contextmanager
def _watching(child: subprocess.Popen[str], folder: Path, workspace: Path) -> Iterator[tuple[_Peak, Scratch]]:
    """Memory and scratch space of a process while it runs."""
    peak, scratch = _Peak(child.pid), Scratch((folder, workspace / "tmp"))
    peak.start()
    scratch.start()
    yield peak, scratch
    for thread in (peak, scratch):
        thread.done.set()
        thread.join()


def _read(child: subprocess.Popen[str], started: float) -> list[tuple[float, float, str]]:
    """What the command says: seconds and CPU seconds of the process tree so far, and the line."""
    lines: list[tuple[float, float, str]] = []
    for line in child.stdout or ():
        text = line.rstrip()
        if text:
            lines.append((round(time.perf_counter() - started, 1), _cpu_seconds(child.pid), text[:300]))
            print(f"{lines[-1][0]:8.1f} s {lines[-1][1]:8.1f}  {text[:150]}", file=sys.stderr, flush=True)
    return lines


def _moved(pid: int) -> dict[str, float]:
    """MB that passed read and write calls of a process that ends, and of those it waited for.

    Files and pipes, from the cache or the disk; sockets are no files.
    """
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    counters = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text("ascii").splitlines())
    return {
        f"io_{name}_mb": round(int(counters[key]) / 1e6, 1)
        for name, key in (("read", "rchar"), ("write", "wchar"))
    }


def _cpu_seconds(pid: int) -> float:
    """CPU seconds of a process, its descendants and those of them that have ended."""
    ticks = 0
    for one in _family(pid):
        with contextlib.suppress(OSError, IndexError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return round(ticks / os.sysconf("SC_CLK_TCK"), 1)


def stage_seconds(workspace: Path) -> dict[str, float]:
    """Seconds of every stage in the workspace, added over its shards (two run at a time)."""
    found: dict[str, float] = {}
    for path in workspace.glob("work/*/*/_run.json"):
        run: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        stage = path.parent.parent.name
        found[stage] = found.get(stage, 0.0) + float(run["seconds"])
    return {name: round(seconds, 1) for name, seconds in sorted(found.items()) if seconds}
