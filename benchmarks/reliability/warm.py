"""Runs functions in forks of one process that has everything imported, and looks for what they leave running.

Whatever a function starts becomes a child of that process when the function is killed, whatever session it
is in: so nothing that is left running is overlooked.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from benchmarks.measure import ROOT
from benchmarks.processes import descendants, is_running, left_running

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Ended:
    """How a fork ended: exit code, negative for a signal, and commands of processes that it left running."""

    code: int
    left: tuple[str, ...]

    @property
    def is_killed(self) -> bool:
        """Whether SIGKILL ended it."""
        return self.code == -signal.SIGKILL


class Warm:
    """Context manager: the process that forks.

    Args:
        modules: what it imports, once.
        environment: its variables, and those of its forks.
        grace: seconds after a fork's end in which what it started has to end.
    """

    def __init__(
        self, modules: Sequence[str], environment: Mapping[str, str] | None = None, *, grace: float = 5.0
    ) -> None:
        self._command = [sys.executable, "-m", "benchmarks.reliability.warm", str(grace), *modules]
        self._environment = {**os.environ, **(environment or {})}

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._line() != "ready":
            raise RuntimeError("the process that forks did not start")
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def run(
        self,
        function: str,
        *given: Any,
        said: Path,
        started: Callable[[int], None] = lambda pid: None,
    ) -> Ended:
        """Call a function in a fork and wait for its end.

        Args:
            function: `module:name`; the fork's exit code is what it returns.
            given: its arguments, as JSON has them.
            said: file of what it prints.
            started: told the process id.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([function, given, str(said)]) + "\n")
        self._process.stdin.flush()
        started(int(self._line()))
        told = json.loads(self._line())
        return Ended(told["code"], tuple(told["left"]))

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def _serve(grace: float, modules: Sequence[str]) -> None:
    """Read calls from standard input until it ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for name in modules:
        importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    _tell(answers, "ready")
    for line in sys.stdin:
        function, given, said = json.loads(line)
        pid = os.fork()
        if not pid:
            _called(function, given, said)
        _tell(answers, str(pid))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        _tell(answers, json.dumps({"code": code, "left": _left(grace)}))


def _tell(answers: IO[str], text: str) -> None:
    answers.write(text + "\n")
    answers.flush()


def _called(function: str, given: Sequence[Any], said: str) -> None:
    """In the fork: call, and end without ending what the parent has open."""
    code = 70
    try:
        target = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for old, new in ((nothing, 0), (target, 1), (target, 2)):
            os.dup2(old, new)
        module, _, name = function.partition(":")
        code = int(getattr(importlib.import_module(module), name)(*given) or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code)


def _left(grace: float) -> list[str]:
    """Command lines of what still runs below this process after a grace; it is killed and reaped."""
    end = time.monotonic() + grace
    while any(map(is_running, pids := descendants(os.getpid()))) and time.monotonic() < end:
        time.sleep(0.02)
    found = [_command_of(pid) for pid in pids if is_running(pid)]
    left_running(pids, 0.0)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return sorted(found)


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
    except OSError:
        return ""


if __name__ == "__main__":
    _serve(float(sys.argv[1]), sys.argv[2:])
