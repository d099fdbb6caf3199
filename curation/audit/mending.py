"""Folders that one canary after another damages: mended for the next, as disks are slow at removing folders.

Every file written here gets a time of its own: a file that was changed is told by its size and time, however
fast one change follows the other.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_FIRST_TIME = 1_000_000_000
"""Seconds of the epoch, long before any file is changed by hand."""
_times = itertools.count(_FIRST_TIME)
Content = Mapping[str, Mapping[str, pa.Table]]
"""Folder -> file name -> content."""


def stamp(path: Path) -> None:
    """Give a file a time no other file of this process has, whole seconds apart."""
    seconds = next(_times)
    os.utime(path, (seconds, seconds))


def write_tables(directory: Path, tables: Content) -> None:
    """Write tables so that each of their folders holds nothing else."""
    for folder, files in tables.items():
        place = directory / folder
        place.mkdir(parents=True, exist_ok=True)
        for path in place.iterdir():
            if path.name not in files:
                path.unlink()
        for name, content in files.items():
            pq.write_table(content, place / name)
            stamp(place / name)


def empty(directory: Path) -> None:
    """Remove what is in a folder, or make it."""
    directory.mkdir(parents=True, exist_ok=True)
    for path in directory.iterdir():
        _remove(path)


class Tables:
    """A task directory whose tables are links: to those of a sound one, or to changed ones beside it."""

    def __init__(self, sound: Path, directory: Path, folders: Sequence[str]) -> None:
        self.sound = sound.resolve()
        self.directory = directory
        self.folders = folders
        self.changed_in = directory.with_name(f"{directory.name}-changed").resolve()
        self.changed: set[str] = set()

    def show(self, changed: Content) -> None:
        """Have some tables changed, in folders that hold nothing else, and all others sound."""
        if not self.directory.exists():
            for folder in self.folders:
                (self.directory / folder).parent.mkdir(parents=True, exist_ok=True)
                (self.directory / folder).symlink_to(self.sound / folder, target_is_directory=True)
        for folder in self.changed.difference(changed):
            self._link(folder, self.sound)
            self.changed.remove(folder)
        write_tables(self.changed_in, changed)
        for folder in set(changed) - self.changed:
            self._link(folder, self.changed_in)
            self.changed.add(folder)

    def _link(self, folder: str, place: Path) -> None:
        link = self.directory / folder
        link.unlink()
        link.symlink_to(place / folder, target_is_directory=True)


class Files:
    """A copy of a sound folder, in files of its own that may be damaged in any way."""

    def __init__(self, sound: Path, directory: Path) -> None:
        self.sound = sound
        self.directory = directory
        self.known = dict(_entries(sound))

    def mend(self) -> None:
        """Undo whatever was done to it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        there = dict(_entries(self.directory))
        for name in self._differing(there):
            if os.path.lexists(self.directory / name):  # not gone with its folder
                _remove(self.directory / name)
        for name, state in self.known.items():
            if name in there and there[name] == state:
                continue
            if state is None:
                (self.directory / name).mkdir()
            else:
                shutil.copy2(self.sound / name, self.directory / name)

    def stamp(self) -> None:
        """Give files that were changed a time of their own."""
        there = dict(_entries(self.directory))
        for name in self._differing(there):
            if there[name] not in (None, _NEITHER):
                stamp(self.directory / name)

    def _differing(self, there: Mapping[str, _State]) -> list[str]:
        """Names that the sound folder has not, or not so; folders before what is in them."""
        return [name for name, state in there.items() if name not in self.known or self.known[name] != state]


_State = tuple[int, int] | None
"""Size and time of a file, None for a folder."""
_NEITHER = (-1, -1)


def _entries(directory: Path, inside: str = "") -> Iterator[tuple[str, _State]]:
    """What is in a folder and those in it, by path; folders before what is in them."""
    with os.scandir(directory / inside) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            name = f"{inside}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield name, None
                yield from _entries(directory, f"{name}/")
            elif entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                yield name, (found.st_size, found.st_mtime_ns)
            else:
                yield name, _NEITHER


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
