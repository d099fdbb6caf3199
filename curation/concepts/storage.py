"""The file of a name index: named arrays behind a checked header, read by memory map.

Layout: magic, header length, SHA-256 of the header, header (JSON), then the arrays, each aligned to 64 bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from schemas.errors import WorkspaceError

MAGIC = b"MEDQRELS NAMES 1\n"
_ALIGN = 64
_PREFIX = len(MAGIC) + 8 + 32
_HINT = "medqrels vocabulary build"

Array = npt.NDArray[Any]


def places_of(values: Array, wanted: Array) -> Array:
    """Where each wanted value would stand in sorted values; asked in order, to touch few pages."""
    order = wanted.argsort()
    places = np.empty(len(wanted), dtype=np.int64)
    places[order] = values.searchsorted(wanted[order])
    return places


class IndexWriter:
    """Collects arrays piece by piece in a scratch folder, then writes them as one file.

    Args:
        scratch: an existing folder for the pieces.
    """

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._types: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def append(self, name: str, values: Array) -> None:
        """Add values to the end of an array; its first piece sets the type."""
        kind = self._types.setdefault(name, values.dtype.str)
        self._counts[name] = self._counts.get(name, 0) + len(values)
        with (self._scratch / name).open("ab") as file:
            file.write(np.ascontiguousarray(values, dtype=kind).tobytes())

    def count(self, name: str) -> int:
        """Values an array has so far."""
        return self._counts.get(name, 0)

    def finish(self, destination: Path, about: Mapping[str, Any]) -> None:
        """Write the file beside its destination and rename it into place."""
        arrays, offset = {}, 0
        for name in sorted(self._types):
            arrays[name] = {"type": self._types[name], "count": self._counts[name], "offset": offset}
            size = self._counts[name] * np.dtype(self._types[name]).itemsize
            offset += size + -size % _ALIGN
        body = {"about": about, "arrays": arrays, "size": offset}
        header = json.dumps(body, sort_keys=True).encode()
        header += b" " * (-(_PREFIX + len(header)) % _ALIGN)
        temporary = self._scratch / "index"
        with temporary.open("wb") as file:
            file.write(MAGIC + len(header).to_bytes(8, "little") + hashlib.sha256(header).digest() + header)
            for name in sorted(self._types):
                for block in self._blocks(name):
                    file.write(block)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(destination)

    def _blocks(self, name: str) -> Iterator[bytes]:
        size = 0
        with (self._scratch / name).open("rb") as file:
            while block := file.read(1 << 20):
                size += len(block)
                yield block
        yield b"\0" * (-size % _ALIGN)

    def load(self, name: str) -> Array:
        """What an array holds so far, mapped."""
        return np.memmap(self._scratch / name, dtype=self._types[name], mode="r")


class IndexFile:
    """An opened index: `about` (what it was built from) and its arrays, mapped and read-only.

    Raises:
        WorkspaceError: the file is missing, damaged, cut short or of another version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                head = self._header(file.read(_PREFIX), file)
                size = os.fstat(file.fileno()).st_size
            self._start = _PREFIX + head["length"]
            if size != self._start + head["size"]:
                raise self._damaged(f"{size} bytes where {self._start + head['size']} are expected")
            self._mapped = np.memmap(path, dtype=np.uint8, mode="r")
        except OSError as error:
            raise WorkspaceError(
                f"cannot open the name index: {error.strerror}", file=str(path), hint=_HINT
            ) from error
        self.about: Mapping[str, Any] = head["about"]
        self._arrays: Mapping[str, Mapping[str, Any]] = head["arrays"]

    def _header(self, prefix: bytes, file: Any) -> dict[str, Any]:
        if not prefix.startswith(MAGIC) or len(prefix) < _PREFIX:
            raise self._damaged("not a name index of this version")
        length = int.from_bytes(prefix[len(MAGIC) : len(MAGIC) + 8], "little")
        header = file.read(length) if length < 1 << 24 else b""
        if hashlib.sha256(header).digest() != prefix[-32:]:
            raise self._damaged("its header is damaged")
        return {**json.loads(header), "length": length}

    def _damaged(self, why: str) -> WorkspaceError:
        return WorkspaceError(f"the name index cannot be read: {why}", file=str(self.path), hint=_HINT)

    def array(self, name: str) -> Array:
        """One array; no byte of it is read before it is used."""
        entry = self._arrays[name]
        first = self._start + entry["offset"]
        kind = np.dtype(entry["type"])
        view = self._mapped[first : first + entry["count"] * kind.itemsize].view(kind)
        return np.asarray(view)

    def items(self, name: str) -> memoryview:
        """One array for reading single values, which a view gives as plain numbers and quickly."""
        values: Any = self.array(name)
        return memoryview(values)
