"""The process that reads hostile files: capped memory and time, no network, no file outside its folder.

What Python opens, connects to or starts is seen by an audit hook; what C code of lxml, Pillow, DuckDB or
Arrow does is not, so files beside the folder are compared after each batch as well.
"""

from __future__ import annotations

import importlib
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT

SECONDS = 5.0
"""Processor seconds one file may take; the process is ended by SIGPROF then."""
WALL_SECONDS = 60
"""For one that sleeps or waits; other processes share the machine."""
LIMIT_BYTES = 4 * 1024**3
_NETWORK = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname")
_PROCESSES = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.startfile")
_CHANGES = (
    "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod",
    "os.chown",
    "shutil.rmtree", "shutil.move", "shutil.copyfile", "shutil.unpack_archive",
)  # fmt: skip
_READABLE = tuple(
    {str(Path(place).resolve()) for place in (sys.prefix, sys.base_prefix, ROOT, "/usr", "/lib")}
)
_DEVICES = (
    "/dev/null",
    "/dev/urandom",
    "/proc/self",
    "/proc/meminfo",
    "/proc/cpuinfo",
    "/sys/",
    "/etc/mime.types",
)

Case = tuple[str, float, list[str]]
"""Outcome, processor seconds, what it tried to do outside."""


class Confinement:
    """What a process may touch from now on. An audit hook stays to the end of its process."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder.resolve())
        self.breaches: list[str] = []

    def begin(self) -> None:
        """Confine this process."""
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
        os.chdir(self.folder)
        tempfile.tempdir = self.folder
        sys.addaudithook(self.hook)

    def hook(self, event: str, given: tuple[Any, ...]) -> None:
        """Note and refuse what reaches beyond."""
        if event in _NETWORK or event in _PROCESSES:
            self._refuse(f"{event} {given[1:2]!r}")
        elif event == "open":
            path, mode, flags = given
            if isinstance(path, (str, bytes, os.PathLike)):
                writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)) or bool(
                    set(mode or "") & set("wax+")
                )
                self._check(event, path, writes)
        elif event in _CHANGES:
            for path in (
                given[1:2] if event == "os.symlink" else given[:2]
            ):  # what it points to is not touched
                if isinstance(path, (str, bytes, os.PathLike)):
                    self._check(event, path, True)

    def _check(self, event: str, path: Any, writes: bool) -> None:
        told = os.path.abspath(
            os.fsdecode(path)
        )  # of a link what it is called: links are the reader's to refuse
        if told == self.folder or told.startswith(self.folder + os.sep) or told == os.devnull:
            return
        if not writes and told.startswith((*_READABLE, *_DEVICES)):
            return
        if writes and f"{os.sep}__pycache__{os.sep}" in told + os.sep:
            return
        self._refuse(f"{event} {'writes' if writes else 'reads'} {told[:80]!r}")

    def _refuse(self, what: str) -> None:
        self.breaches.append(what)
        raise PermissionError(f"hostile input reached outside: {what}")


_confined: list[Confinement] = []


def begin(names: Sequence[str], folder: str) -> None:
    """Start of a process: read whole files of each kind, so that nothing is imported later; then confine.

    Args:
        names: modules of the kinds.
        folder: the only one it may write to.
    """
    tempfile.tempdir = folder
    for name in names:
        module = importlib.import_module(f"benchmarks.hostile.{name}")
        for data in whole(module):
            module.outcome(data)
    confinement = Confinement(Path(folder))
    confinement.begin()
    _confined.append(confinement)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def whole(module: Any) -> Iterator[bytes]:
    """A few files of a kind that are hardly damaged."""
    if hasattr(module, "seeds"):
        yield from list(module.seeds())[:3]
    else:
        yield from (data for _, _, data in module.mutants(12, 1))


def run(name: str, cases: Sequence[bytes]) -> list[Case]:
    """Outcomes of some files."""
    return [_case(name, data) for data in cases]


def _case(name: str, data: bytes) -> Case:
    confinement = _confined[0]
    confinement.breaches.clear()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(WALL_SECONDS)
    started = time.process_time()
    try:
        module = importlib.import_module(f"benchmarks.hostile.{name}")
        result = re.sub(r"^(read)\b.*", r"\1", str(module.outcome(data)), flags=re.S)
    except BaseException as error:  # what is not a quarantine is the defect looked for; fastobo's panics too
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
        result = f"CRASH {type(error).__name__}: {error} at {place}"[:300]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    return result, time.process_time() - started, list(confinement.breaches)


def peak_bytes() -> int:
    """The most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
