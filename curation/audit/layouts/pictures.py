"""Pictures of a foreign dataset: bytes in a row, files that rows name, members of zip archives beside them.

A row may name a picture by its path from its own file or from the dataset's root, or by a file name (with or
without its suffix) that only one picture below the root has.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from curation.audit.layouts.problems import clean
from schemas.hashing import sha256_bytes, sha256_file

MAX_IMAGE = 64 << 20
_MAX_FILES = 2_000_000
_MAX_RATIO = 200
_RATIO_FROM = 1 << 20
_SUFFIX = re.compile(r"\.(png|jpe?g|gif|bmp|tiff?|webp)$", re.I)
_INLINE = re.compile(r"data:image/[\w.+-]+;base64,", re.I)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{400,}={0,2}\s*")

Note = Callable[[str, str], None]
"""Told a reason of `problems.REASONS` and a detail."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One picture below the root; `archive` is the zip file it is in, None for a file of its own."""

    name: str
    archive: Path | None
    member: str


@dataclass
class Pictures:
    """Finds and reads the pictures of one dataset; `hashes` gets the name and SHA-256 of what was read.

    Args:
        root: a folder, a zip file, or a single data file: then only what its rows name beside it is read.
    """

    root: Path
    hashes: dict[str, str]
    _named: dict[str, list[_Place]] | None = None
    _used: set[str] = field(default_factory=set)
    _archives: dict[Path, zipfile.ZipFile] = field(default_factory=dict)

    def of(self, value: Any, file: str, note: Note) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
        """A row's picture as a struct of bytes and path, and those beside it where a column holds several.

        Args:
            value: bytes, a struct, a path, base64, or a list of these.
            file: the data file the row is in, from the root.
            note: told what could not be read.
        """
        if isinstance(value, list | tuple):
            found = [image for image in (self.one(item, file, note) for item in value) if image is not None]
            return (found[0] if found else None), found[1:]
        return self.one(value, file, note), []

    def one(self, value: Any, file: str, note: Note) -> dict[str, Any] | None:
        """One picture; None when the row has none, without bytes when it names one that cannot be read."""
        if value is None or value == "":
            return None
        if isinstance(value, bytes):
            return {"bytes": value, "path": None}
        if isinstance(value, dict):
            given, data = value.get("path"), value.get("bytes")
            path = clean(given)[0] if isinstance(given, str) else None
            if isinstance(data, bytes) or path is None:
                return {"bytes": data if isinstance(data, bytes) else None, "path": path}
            value = given
        text = value if isinstance(value, str) else str(value)
        inline = _inline(text)
        if inline is not None:
            return {"bytes": inline, "path": None}
        return {"bytes": self._file(text, file, note), "path": clean(text)[0]}

    def rest(self, note: Note) -> Iterator[tuple[str, bytes]]:
        """Every picture below the root that no row named: its name and bytes."""
        for place in sorted(self._all(), key=lambda item: item.name):
            if place.name not in self._used:
                data = self._read(place, note)
                if data is not None:
                    yield place.name, data

    def close(self) -> None:
        """Close the archives."""
        for archive in self._archives.values():
            archive.close()
        self._archives.clear()

    def _file(self, path: str, file: str, note: Note) -> bytes | None:
        given = PurePosixPath(path.replace("\\", "/").removeprefix("file://"))
        if given.is_absolute() or ".." in given.parts or "\0" in path or "://" in path:
            note("image_outside", path)
            return None
        place = self._beside(given, file) or self._by_name(given)
        if place is None:
            note("image_missing", path)
            return None
        self._used.add(place.name)
        return self._read(place, note)

    def _beside(self, given: PurePosixPath, file: str) -> _Place | None:
        """A file at the path as given, from the data file or from the root."""
        base = self.root if self.root.is_dir() else self.root.parent
        folder = PurePosixPath(file).parent if self.root.is_dir() else PurePosixPath()
        for name in (folder / given, given):
            try:
                if (base / name).is_file():
                    return _Place(name.as_posix(), None, name.as_posix())
            except OSError:
                continue
        return None

    def _by_name(self, given: PurePosixPath) -> _Place | None:
        """The one picture whose path ends as given; of several the one that agrees in most folders."""
        found = self._index().get(_key(given.name), [])
        wanted = [part.lower() for part in given.parts[:-1]]
        best: list[_Place] = []
        most = -1
        for place in found:
            parents = [part.lower() for part in PurePosixPath(place.name).parts[:-1]]
            alike = 0
            while alike < min(len(wanted), len(parents)) and wanted[-1 - alike] == parents[-1 - alike]:
                alike += 1
            if alike > most:
                best, most = [place], alike
            elif alike == most:
                best.append(place)
        return best[0] if len(best) == 1 else None

    def _index(self) -> dict[str, list[_Place]]:
        """Pictures by file name and by name without suffix, both in lower case."""
        if self._named is None:
            self._named = {}
            for place in self._all():
                name = PurePosixPath(place.name).name
                for key in {_key(name), _key(_SUFFIX.sub("", name))}:
                    self._named.setdefault(key, []).append(place)
        return self._named

    def _all(self) -> Iterator[_Place]:
        if self.root.is_dir():
            count = 0
            for folder, folders, files in os.walk(self.root):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                count += len(files)
                if count > _MAX_FILES:
                    return
                for file in sorted(name for name in files if not name.startswith(".")):
                    path = Path(folder) / file
                    name = path.relative_to(self.root).as_posix()
                    if _SUFFIX.search(file):
                        yield _Place(name, None, name)
                    elif file.lower().endswith(".zip"):
                        yield from self._members(path, name)
        elif self.root.name.lower().endswith(".zip"):
            yield from self._members(self.root, self.root.name)

    def _members(self, path: Path, name: str) -> Iterator[_Place]:
        archive = self._archive(path)
        for member in archive.namelist()[:_MAX_FILES] if archive else ():
            if _SUFFIX.search(member) and not PurePosixPath(member).name.startswith("."):
                yield _Place(f"{name}/{member}", path, member)

    def _archive(self, path: Path) -> zipfile.ZipFile | None:
        if path not in self._archives:
            try:
                self._archives[path] = zipfile.ZipFile(path)
            except (OSError, zipfile.BadZipFile):
                return None
        return self._archives[path]

    def _read(self, place: _Place, note: Note) -> bytes | None:
        try:
            if place.archive is not None:
                return self._unpacked(place, place.archive, note)
            path = (self.root if self.root.is_dir() else self.root.parent) / place.member
            if path.stat().st_size > MAX_IMAGE:
                note("image_too_large", place.name)
                return None
            data = path.read_bytes()
        except (OSError, RuntimeError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error):
            note("image_missing", place.name)
            return None
        self.hashes[place.name] = sha256_bytes(data)
        return data

    def _unpacked(self, place: _Place, path: Path, note: Note) -> bytes | None:
        """A member of a zip archive, under a cap of its own size and of what it unpacks to."""
        archive = self._archive(path)
        if archive is None:
            return None
        about = archive.getinfo(place.member)
        is_bomb = about.file_size > _RATIO_FROM and about.file_size > _MAX_RATIO * max(about.compress_size, 1)
        if about.file_size > MAX_IMAGE or is_bomb:
            note("image_too_large", place.name)
            return None
        name = place.name.removesuffix(f"/{place.member}")
        if name not in self.hashes:
            self.hashes[name] = sha256_file(path)
        with archive.open(about) as handle:
            return handle.read(MAX_IMAGE)


def holds_pictures(root: Path) -> bool:
    """Whether there is a picture below a folder, or in a zip archive."""
    pictures = Pictures(root, {})
    try:
        return next(iter(pictures._all()), None) is not None
    finally:
        pictures.close()


def _key(name: str) -> str:
    return name.lower()


def _inline(text: str) -> bytes | None:
    """A picture written out as base64, None when the text is none."""
    head = _INLINE.match(text)
    if head is None and not _BASE64.fullmatch(text):
        return None
    try:
        data = base64.b64decode("".join(text[head.end() if head else 0 :].split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return data[:MAX_IMAGE] or None
