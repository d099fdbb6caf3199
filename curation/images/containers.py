"""Image files as containers: segments, chunks and blocks, walked without decoding a pixel.

Small files can ask for hours of work (a progressive JPEG of 400,000 scans, a PNG of millions of chunks): what
is counted here is refused before a decoder sees it. The walks also find what may be removed losslessly.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.errors import InputError
from schemas.stages import Reason

MAX_SCANS = 100
"""Scans of a JPEG. Encoders write 1 or about 10; each costs a pass over all pixels, whatever its own size."""
MAX_BLOCKS = 100_000
"""Chunks of a PNG, top-level blocks of a GIF. A 64 MiB PNG in chunks of 8 KiB has 8,192."""

_PNG_SIGNATURE = 8
_STANDALONE = frozenset({0x01, *range(0xD0, 0xDA)})
_SOS = b"\xff\xda"


@dataclass(frozen=True, slots=True)
class Part:
    """One JPEG segment (`name` is the marker as two hex digits) or PNG chunk (`name` is its type).

    `start` and `end` enclose all its bytes in the file, `body` is where its payload begins.
    """

    name: str
    start: int
    body: int
    end: int


def check_work(data: bytes, kind: str) -> None:
    """Refuse a file that costs far more to decode than its size and its pixels tell.

    Args:
        data: the whole file.
        kind: format told by magic bytes: jpeg, png, gif; others pass.

    Raises:
        InputError: image_too_large.
    """
    if kind == "jpeg":
        count, what, limit = data.count(_SOS), "scans", MAX_SCANS
    elif kind == "png":
        count, what, limit = _count(png_chunks(data)), "chunks", MAX_BLOCKS
    elif kind == "gif":
        count, what, limit = _count(gif_blocks(data)), "blocks", MAX_BLOCKS
    else:
        return
    if count > limit:
        raise InputError(f"more than {limit} {what}", reason=Reason.IMAGE_TOO_LARGE)


def _count(parts: Iterator[object]) -> int:
    return sum(1 for _, _ in zip(range(MAX_BLOCKS + 1), parts, strict=False))


def jpeg_segments(data: bytes) -> Iterator[Part]:
    """Segments before the first scan, or as far as the structure holds (ITU-T T.81, annex B)."""
    position = 2
    while position + 4 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xFF or marker in _STANDALONE:
            position += 1 if marker == 0xFF else 2
            continue
        length = int.from_bytes(data[position + 2 : position + 4], "big")
        if marker == 0xDA or length < 2 or position + 2 + length > len(data):
            return
        yield Part(f"{marker:02x}", position, position + 4, position + 2 + length)
        position += 2 + length


def jpeg_end(data: bytes, start: int) -> int | None:
    """Offset after the end-of-image marker of the image whose first scan starts at `start`, or None.

    Inside a scan 0xFF is followed by 0x00 or a restart marker, so any other marker is a real one.
    """
    position = start
    while (position := data.find(b"\xff", position)) >= 0 and position + 1 < len(data):
        marker = data[position + 1]
        if marker == 0xD9:
            return position + 2
        if marker == 0xFF:
            position += 1
        elif marker == 0x00 or marker in _STANDALONE:
            position += 2
        else:
            position += 2 + int.from_bytes(data[position + 2 : position + 4], "big")
    return None


def png_chunks(data: bytes) -> Iterator[Part]:
    """Chunks up to and with IEND, or as far as the structure holds (W3C PNG, 5.3)."""
    position = _PNG_SIGNATURE
    while position + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, position)
        name = data[position + 4 : position + 8].decode("latin-1")
        end = position + 12 + length
        if end > len(data):
            return
        yield Part(name, position, position + 8, end)
        if name == "IEND":
            return
        position = end


def gif_blocks(data: bytes) -> Iterator[str]:
    """`image` or `extension` for each top-level block, as far as the structure holds (GIF89a, 18 to 27)."""
    if len(data) < 13:
        return
    position = 13 + (3 << ((data[10] & 7) + 1) if data[10] & 0x80 else 0)
    while position + 2 < len(data):
        if data[position] == 0x21:
            name, position = "extension", position + 2
        elif data[position] == 0x2C and position + 10 < len(data):
            packed = data[position + 9]
            name, position = "image", position + 11 + (3 << ((packed & 7) + 1) if packed & 0x80 else 0)
        else:
            return
        while position < len(data) and data[position]:
            position += 1 + data[position]
        position += 1
        yield name


def gif_frames(data: bytes) -> int:
    """Frames of a GIF as its blocks tell."""
    return sum(1 for name in gif_blocks(data) if name == "image")
