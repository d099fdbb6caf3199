"""Files of an export: UTF-8 lines, images under their hash; equal rows give equal bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.errors import ReleaseError
from schemas.hashing import sha256_bytes

_KINDS = {
    b"\x89PNG": "png",
    b"\xff\xd8\xff": "jpg",
    b"GIF8": "gif",
    b"RIFF": "webp",
    b"II*\x00": "tif",
    b"MM\x00*": "tif",
}
Told = Callable[[int], None]


@dataclass(slots=True)
class Out:
    """The folder an export is written to; `told` is called with the number of rows that were written."""

    folder: Path
    told: Told = lambda _: None
    _images: set[str] = field(default_factory=set)

    def path(self, name: str) -> Path:
        """Path of a file, its folder made."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def lines(self, name: str, lines: Iterable[str]) -> int:
        """Write lines; how many there were."""
        count = 0
        with self.path(name).open("w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")
                count += 1
                self.told(1)
        return count

    def objects(self, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """Write JSON Lines in the order of the keys; how many there were."""
        return self.lines(name, map(one_line, rows))

    def text(self, name: str, text: str) -> None:
        """Write a whole file."""
        self.path(name).write_text(text, encoding="utf-8", newline="\n")

    def image(self, folder: str, data: bytes) -> str:
        """Write image bytes once, under their hash; the path inside the export."""
        name = f"{folder}/{sha256_bytes(data)}.{kind_of(data)}"
        if name not in self._images:
            self.path(name).write_bytes(data)
            self._images.add(name)
        return name


def one_line(row: Mapping[str, Any]) -> str:
    """A row as JSON on one line: line separators of Unicode are escaped, as some readers split at them."""
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    for mark in ("\x85", "\u2028", "\u2029"):
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def kind_of(data: bytes) -> str:
    """File name extension of image bytes."""
    return next((kind for start, kind in _KINDS.items() if data.startswith(start)), "bin")


def bytes_of(row: Mapping[str, Any]) -> bytes | None:
    """Image bytes of a row, None where it has none."""
    held = row.get("image")
    return held["bytes"] if held else None


def columns(values: Sequence[object], where: str, separator: str = " ") -> str:
    """One line of columns.

    Raises:
        ReleaseError: a value has white space, by which such files are read.
    """
    texts = [str(value) for value in values]
    for text in texts:
        if not text or any(mark.isspace() for mark in text):
            raise ReleaseError(
                "an id is empty or has white space, so this format cannot hold it",
                record=text,
                file=where,
                hint="export it as webdataset or mteb",
            )
    return separator.join(texts)
