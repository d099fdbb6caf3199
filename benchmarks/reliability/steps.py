"""The steps of a process by which something outlives it: what it renames, writes, deletes, commits or sends.

A step is named by its kind and by what it changes, with numbers and hashes left out of names, and counted
from 1 among those of one name. Files that Arrow and DuckDB write are no steps of their own: they come to
count when Python renames what holds them.
"""

from __future__ import annotations

import collections
import functools
import os
import re
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any, NamedTuple

BEFORE, AFTER = "before", "after"
RENAME, WRITE, REMOVE, MAKE, COMMIT, SEND = "rename", "write", "remove", "make", "commit", "send"
KINDS = (RENAME, COMMIT, SEND, REMOVE, MAKE, WRITE)
"""By how much depends on them."""
_EVENTS = {
    "os.rename": (RENAME, 1),
    "os.remove": (REMOVE, 0),
    "os.rmdir": (REMOVE, 0),
    "os.truncate": (WRITE, 0),
    "os.mkdir": (MAKE, 0),
    "os.link": (MAKE, 1),
}
"""Audit event -> kind, and which of its arguments names what is changed."""
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|COMMIT|END)", re.IGNORECASE)
_VARYING = re.compile(
    r"\d+T\d+Z-\w+-[0-9a-f]{6}|(?<=runs/)[^/]+|(?<=\.index-)[^/]+|(?<=medqrels-)\w+-[^/]+"
    r"|(?<=tmp)[a-z0-9_]{8}|(?<=tmp/)[a-z0-9_]{8}\Z|(?<=takedown-)[a-z0-9_]{8}|[0-9a-f]{8,}|\d+"
)
_OF_PYTHON = ("__pycache__", "/dev/", "/proc/")


class Step(NamedTuple):
    """One step: kind, name, which of that name, and whether the kill comes before or after it."""

    kind: str
    name: str
    nth: int
    when: str


class Watch:
    """Counts the steps of this process from now on, and kills it at one.

    Args:
        root: names are told relative to it.
        kill: the step, None to count alone; or which of all steps, from 1, to be killed before.
        error: number of an error of the system that the step fails with, in the place of a kill.
    """

    def __init__(self, root: Path, kill: Step | int | None = None, *, error: int = 0) -> None:
        self._root, self._kill, self._error = f"{root}/", kill, error
        self._struck = False
        self.counts: collections.Counter[tuple[str, str]] = collections.Counter()

    def begin(self) -> None:
        """From here on."""
        watch = self

        class Counted(sqlite3.Connection):
            """A statement that changes something is a step; so is a commit."""

            def __init__(self, database: Any, *given: Any, **named: Any) -> None:
                super().__init__(database, *given, **named)
                self.named = Path(str(database)).name

            def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
                if _CHANGES.match(sql):
                    watch.step(COMMIT, self.named)
                return super().execute(sql, *given)

            def executemany(self, sql: str, *given: Any) -> sqlite3.Cursor:
                watch.step(COMMIT, self.named)
                return super().executemany(sql, *given)

            def commit(self) -> None:
                watch.step(COMMIT, self.named)
                super().commit()

        sqlite3.connect = functools.partial(  # type: ignore[assignment]  # a factory for all
            sqlite3.connect, factory=Counted
        )
        sys.addaudithook(self._heard)

    def step(self, kind: str, name: str, path: str = "") -> None:
        """Note one step, on a file at `path`; does not return from the one to be killed at."""
        self.counts[kind, name] += 1
        kill = self._kill
        if isinstance(kill, int):
            if kill == self.counts.total():
                os.kill(os.getpid(), signal.SIGKILL)
        elif kill is not None and (kind, name, self.counts[kind, name]) == kill[:3]:
            if self._error:
                raise OSError(self._error, os.strerror(self._error), path or name)
            if kill.when == BEFORE:
                os.kill(os.getpid(), signal.SIGKILL)
            self._struck = True

    def _heard(self, event: str, given: tuple[Any, ...]) -> None:
        if self._struck:  # the first thing that happens after the step
            self._struck = False  # a kill is an event, too
            os.kill(os.getpid(), signal.SIGKILL)
        if event == "http.client.send":
            data = given[1]
            if isinstance(data, bytes) and data[:5] in (b"POST ", b"PATCH", b"PUT /", b"DELET"):
                line = data.split(b"\r\n")[0].decode("latin-1").split("?")[0]
                self.step(SEND, _VARYING.sub("#", line))
            return
        kind, place = _EVENTS.get(event, ("", 0))
        if event == "open" and isinstance(given[2], int) and given[2] & _WRITES:
            kind = WRITE
        if kind and isinstance(given[place], (str, bytes, os.PathLike)):
            path = os.fsdecode(given[place])
            if not any(part in path for part in _OF_PYTHON):
                self.step(kind, _VARYING.sub("#", path.removeprefix(self._root)), path)
