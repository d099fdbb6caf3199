"""The workspace on disk: raw/ bytes, work/ stage outputs, releases/; one storage version, one writer."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from schemas.errors import UsageError, WorkspaceError

STORAGE_VERSION = 1
_WRITER = ".writer.json"
RELEASE = "release.json"
"""What every published task directory holds."""


class Busy(WorkspaceError):  # noqa: N818 - the name says it
    """Another process holds the workspace for writing."""


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves either the old content or the new, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")  # one name: what a kill leaves, the rerun replaces
    with temporary.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(temporary, path)


def check_outside_releases(path: Path, option: str) -> None:
    """Results of looking at a release never change one.

    Raises:
        UsageError: the path lies inside a published task directory.
    """
    whole = path.resolve()
    for folder in (whole, *whole.parents):
        if (folder / RELEASE).is_file():
            raise UsageError(
                "results would change the release",
                file=str(path),
                hint=f"choose {option} outside the release {folder}",
            )


def check_writable(path: Path, option: str) -> None:
    """Find out that a file cannot be written before the work that it is to hold the result of.

    Raises:
        UsageError: it cannot.
    """
    probe = path.with_name(f".{path.name}.tmp")
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        path.parent.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"{option} cannot be written: {why}", file=str(path), hint=f"name another place for {option}"
        ) from error


@dataclass(frozen=True, slots=True)
class Workspace:
    """Paths of one workspace. Build with :func:`open_workspace`."""

    root: Path

    @property
    def raw(self) -> Path:
        """Bytes as fetched."""
        return self.root / "raw"

    @property
    def work(self) -> Path:
        """Stage outputs."""
        return self.root / "work"

    @property
    def releases(self) -> Path:
        """Releases by dataset and version."""
        return self.root / "releases"

    @property
    def answers(self) -> Path:
        """Answers of language models, one file per model."""
        return self.root / "answers"

    @property
    def ledger(self) -> Path:
        """The crawl ledger."""
        return self.raw / "ledger.sqlite"

    @property
    def temporary(self) -> Path:
        """Scratch space of DuckDB and half-written shards."""
        return self.root / "tmp"

    def stage(self, name: str) -> Path:
        """Folder of one stage's shards."""
        return self.work / name

    @contextlib.contextmanager
    def writing(
        self, who: str = "", *, wait: float = 0.0, waits_for: Callable[[str], None] = lambda holder: None
    ) -> Iterator[None]:
        """Hold the workspace for writing.

        Args:
            who: holds it, as others that want it are told.
            wait: seconds to wait for another process that holds it.
            waits_for: told who holds it, before waiting begins.

        Raises:
            Busy: another medqrels process is writing to it, and goes on beyond `wait`.
        """
        lock = FileLock(self.root / ".lock", is_singleton=True)  # subflows take it again
        try:
            lock.acquire(timeout=0)
        except Timeout:
            waits_for(self.writer())
            self._wait(lock, wait)
        try:
            if lock.lock_counter == 1:
                told = {"who": who or f"process {os.getpid()}", "process": os.getpid()}
                write_atomic(self.root / _WRITER, (json.dumps(told) + "\n").encode())
            yield
        finally:
            if lock.lock_counter == 1:
                (self.root / _WRITER).unlink(missing_ok=True)
            lock.release()

    @property
    def is_written(self) -> bool:
        """Whether a process holds it for writing; one that was killed has let go."""
        return is_held(self.root / ".lock")

    def writer(self) -> str:
        """Who holds the workspace for writing, as far as that is known."""
        try:
            return str(json.loads((self.root / _WRITER).read_text("utf-8"))["who"])
        except (OSError, ValueError, KeyError, TypeError):  # just taken, or just let go
            return "a process that has not said its name"

    def _wait(self, lock: BaseFileLock, seconds: float) -> None:
        try:
            lock.acquire(timeout=seconds, poll_interval=0.25)
        except Timeout as error:
            waited = f"; {seconds:g} s were waited" if seconds else ""
            raise Busy(
                f"another medqrels process is writing to this workspace: {self.writer()}{waited}",
                file=str(self.root),
                hint="wait for it, or use another --workspace",
            ) from error


def is_held(lock: Path) -> bool:
    """Whether a process that lives has this lock."""
    if not lock.is_file():
        return False
    tried = FileLock(lock)
    try:
        tried.acquire(timeout=0)
    except (Timeout, OSError):
        return True
    tried.release()
    return False


def open_workspace(root: Path, *, create: bool = False) -> Workspace:
    """Open a workspace, or make an empty one.

    Raises:
        WorkspaceError: it is missing (and `create` is false), not a workspace, or of another storage version.
    """
    marker = root / "workspace.json"
    if marker.is_file():
        _check_version(marker)
        return Workspace(root)
    if not create:
        raise WorkspaceError(
            "no workspace here", file=str(root), hint="medqrels crawl … --workspace " + str(root)
        )
    if root.exists() and (not root.is_dir() or any(not _half_made(item) for item in root.iterdir())):
        raise WorkspaceError(
            "this folder is not empty and is not a workspace",
            file=str(root),
            hint="choose an empty --workspace",
        )
    write_atomic(marker, (json.dumps({"storage_version": STORAGE_VERSION}) + "\n").encode())
    return Workspace(root)


def is_workspace(root: Path) -> bool:
    """Whether a folder is a workspace, of whatever version."""
    return (root / "workspace.json").is_file()


def _half_made(item: Path) -> bool:
    """Whether this is a marker whose writing was interrupted."""
    return item.name.startswith(".workspace.json.") and item.suffix == ".tmp"


def _check_version(marker: Path) -> None:
    try:
        version = json.loads(marker.read_text("utf-8"))["storage_version"]
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError("the workspace marker is damaged", file=str(marker)) from error
    if version != STORAGE_VERSION:
        raise WorkspaceError(
            f"the workspace has storage version {version}; this medqrels reads {STORAGE_VERSION}",
            file=str(marker),
            hint="use the medqrels that wrote it, or crawl into a new --workspace",
        )
