"""Metadata of image files: orientation, what may identify a person or place, and its lossless removal.

Looked for: GPS position, serial numbers, the camera owner's name, and an embedded preview that shows another
picture than the image itself, as when a face was cropped away but not from the preview.
"""

from __future__ import annotations

import base64
import binascii
import io
import re
from collections.abc import Iterator

from PIL import ExifTags, Image

from curation.images.containers import jpeg_end, jpeg_segments, png_chunks
from curation.images.phash import image_bits

_ORIENTATION = 0x0112
_OWNER = 0xA430
_SERIALS = (0xA431, 0xA435, 0xC62F)
_PREVIEW_OFFSET, _PREVIEW_LENGTH = 0x0201, 0x0202
_PHOTOSHOP_PREVIEWS = (1033, 1036)
_PHOTOSHOP_HEADER = 28
_XMP_PRIVATE = re.compile(rb"exif:GPS(?:Latitude|Longitude)|aux:(?:(?:Lens)?SerialNumber|OwnerName)\b")
_XMP_PREVIEW = re.compile(rb"<xmpGImg:image>([^<]{1,400000})</xmpGImg:image>")
_SAME_SHAPE = 0.08
_SAME_HASH = 14
"""Previews are small and badly compressed: of 64 bits they differ in a few, other pictures in about 32."""

_JPEG_KEPT = frozenset({"c0", "c1", "c2", "c4", "db", "dd", "ee"})
_PNG_KEPT = frozenset(
    {"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "pHYs"}
)


def orientation_of(image: Image.Image) -> int:
    """EXIF orientation 1 to 8; 1 where none can be read."""
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # damaged EXIF raises anything; an image without it is upright
        return 1
    return int(value) if isinstance(value, int) and 1 <= value <= 8 else 1


def private_metadata(image: Image.Image, data: bytes, kind: str) -> tuple[str, ...]:
    """Which identifying metadata a file holds: location, owner_name, preview, serial_number; sorted.

    Args:
        image: the loaded frame, as stored.
        data: the whole file.
        kind: its format.
    """
    found = set()
    try:
        exif = image.getexif()
        details = exif.get_ifd(ExifTags.IFD.Exif)
        if exif.get_ifd(ExifTags.IFD.GPSInfo):
            found.add("location")
        if str(details.get(_OWNER, "")).strip():
            found.add("owner_name")
        if any(str(details.get(tag, exif.get(tag, ""))).strip() for tag in _SERIALS):
            found.add("serial_number")
    except Exception:  # damaged EXIF raises anything: then nothing of it can be read out either
        found.discard("")
    packet = image.info.get("xmp", b"")  # PNG may hold it compressed
    for match in _XMP_PRIVATE.finditer(data + (packet if isinstance(packet, bytes) else b"")):
        found.add(_xmp_name(match.group()))
    if any(_is_other(image, preview) for preview in _previews(image, data, kind)):
        found.add("preview")
    return tuple(sorted(found))


def _xmp_name(written: bytes) -> str:
    if b"GPS" in written:
        return "location"
    return "owner_name" if b"Owner" in written else "serial_number"


def _previews(image: Image.Image, data: bytes, kind: str) -> Iterator[bytes]:
    """JPEG bytes of the small copies in EXIF, Photoshop resources and XMP."""
    try:
        first = image.getexif().get_ifd(ExifTags.IFD.IFD1)
        start, length = int(first.get(_PREVIEW_OFFSET, 0)), int(first.get(_PREVIEW_LENGTH, 0))
        blob = image.info.get("exif", b"")
        if start and length and kind == "jpeg":
            yield blob[6 + start : 6 + start + length]
    except Exception:  # as above
        return
    resources = image.info.get("photoshop")
    if isinstance(resources, dict):
        for number in _PHOTOSHOP_PREVIEWS:
            blob = resources.get(number, b"")
            if isinstance(blob, bytes) and len(blob) > _PHOTOSHOP_HEADER:
                yield blob[_PHOTOSHOP_HEADER:]
    for match in _XMP_PREVIEW.finditer(data):
        try:
            yield base64.b64decode(match.group(1).replace(b"&#xA;", b""))
        except binascii.Error:
            continue


def _is_other(image: Image.Image, preview: bytes) -> bool:
    """Whether an embedded preview shows something else than the image; unreadable ones show nothing."""
    try:
        with Image.open(io.BytesIO(preview), formats=["JPEG"]) as small:
            if small.width * small.height > 1_000_000 or min(small.size) < 8:
                return False
            shape = (small.width / small.height) / (image.width / image.height)
            distance = int((image_bits(small) != image_bits(image)).sum())
    except Exception:  # a preview is hostile bytes like any file
        return False
    # One pixel more or less is much of the short side of a narrow preview.
    slack = _SAME_SHAPE + 1.0 / min(small.size)
    return abs(shape - 1.0) > slack or distance > _SAME_HASH


def without_metadata(data: bytes, kind: str) -> bytes | None:
    """The same coded pixels without EXIF, XMP, IPTC, comments, previews and trailing bytes.

    Kept are what decoding and colour need: tables, frame and scan, JFIF, Adobe and ICC segments; PNG's
    critical, colour and resolution chunks. None where the structure is not one that can be cut safely.

    Args:
        data: the whole file.
        kind: jpeg or png.
    """
    if kind == "png":
        chunks = list(png_chunks(data))
        if not chunks or chunks[-1].name != "IEND":
            return None
        return data[:8] + b"".join(data[part.start : part.end] for part in chunks if part.name in _PNG_KEPT)
    segments = list(jpeg_segments(data))
    start = segments[-1].end if segments else 2
    end = jpeg_end(data, start) if data[start : start + 2] == b"\xff\xda" else None
    if end is None:
        return None
    kept = [data[part.start : part.end] for part in segments if _is_kept(data, part.name, part.body)]
    return data[:2] + b"".join(kept) + data[start:end]


def _is_kept(data: bytes, name: str, body: int) -> bool:
    if name == "e0":  # its sibling JFXX is a preview
        return data.startswith(b"JFIF\x00", body)
    return name in _JPEG_KEPT or (name == "e2" and data.startswith(b"ICC_PROFILE\x00", body))
