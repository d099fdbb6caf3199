"""Image files of an article: which stored file an href means, what the bytes are, whether they decode.

File names and extensions lie (an error page named .jpg, `.g001` which is no extension): magic bytes decide.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from PIL import Image

EXTENSIONS = ("jpg", "jpeg", "png", "gif", "tif", "tiff", "webp")
"""Raster images that can be decoded, most useful first: of several files with one stem the first wins."""

_NAMED_EXTENSIONS = frozenset({*EXTENSIONS, "eps", "ps", "ai", "svg", "pdf", "bmp", "jp2"})
"""Extensions an href may carry although a converted copy is stored (`fig1.eps` kept as `fig1.jpg`)."""

_SCHEME = re.compile(r"^[a-z][a-z0-9+.\-]*:", re.IGNORECASE)
_SHORT_TOKEN = re.compile(r"^[a-z]{1,6}\d{1,5}[a-z]?$")
_ELIFE = re.compile(r"^elife-\d+-(?P<core>.+?)(?:-v\d+)?$")
_warnings_lock = threading.Lock()

MAX_PIXELS = 100_000_000
MAX_BYTES = 64 * 1024 * 1024
MAX_SCANS = 100
"""Scans of a JPEG. Encoders write 1 or about 10; each costs a pass over all pixels, whatever its own size."""


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What a stored image file is.

    `problem` is '' or a reason code: image_missing, image_corrupt, image_too_large. `format` is told by magic
    bytes even where a problem is found; width and height are pixels, None when they could not be read.
    """

    format: str | None
    width: int | None
    height: int | None
    problem: str = ""
    detail: str = ""


def base_name(href: str) -> str:
    """Last path segment of an href: `info:doi/…`, absolute URLs and paths lose everything before it."""
    text = href.strip()
    if _SCHEME.match(text):
        text = text.split("#", 1)[0].split("?", 1)[0]
    return unquote(text.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]).strip()


def resolve_href(href: str, names: Sequence[str]) -> str | None:
    """The file an href means, or None.

    Tried in order: exact base name; base name without regard to case; stem without regard to case among
    raster extensions (a stem may hold dots: `pone.0000217.g001`) or no extension; eLife's long and short
    names (`elife-00353-fig1-v1` and `fig1`); the last dotted token of a DOI-style name
    (`journal.pone.0091296.g001` and `g001`).

    Args:
        href: as written in the XML.
        names: file names to choose from, in any order.
    """
    wanted = base_name(href)
    if not wanted:
        return None
    if wanted in names:
        return wanted
    folded = wanted.casefold()
    for name in sorted(names):
        if name.casefold() == folded:
            return name
    stems = _by_stem(names)
    stem = _stem(folded)
    token = stem.rsplit(".", 1)[-1]
    for key in dict.fromkeys((folded, stem)):
        if key in stems:
            return stems[key]
    cores = {_elife_core(known): name for known, name in reversed(sorted(stems.items()))}
    if _elife_core(stem) in cores:
        return cores[_elife_core(stem)]
    return stems.get(token) if token != stem and _SHORT_TOKEN.match(token) else None


def _by_stem(names: Sequence[str]) -> dict[str, str]:
    """Lower-case stem -> file, the most useful extension first; other extensions are no candidates."""
    chosen: dict[str, tuple[int, str]] = {}
    for name in names:
        folded = name.casefold()
        stem = _stem(folded)
        extension = folded[len(stem) + 1 :]
        if extension and extension not in EXTENSIONS:
            continue
        rank = EXTENSIONS.index(extension) if extension else len(EXTENSIONS)
        if stem not in chosen or (rank, name) < chosen[stem]:
            chosen[stem] = (rank, name)
    return {stem: name for stem, (_, name) in chosen.items()}


def _stem(folded: str) -> str:
    stem, dot, extension = folded.rpartition(".")
    return stem if dot and stem and extension in _NAMED_EXTENSIONS else folded


def _elife_core(stem: str) -> str:
    found = _ELIFE.match(stem)
    return found.group("core") if found else stem


def sniff(data: bytes) -> str | None:
    """Format told by the first bytes: jpeg, png, gif, tiff or webp; None for anything else."""
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if data.startswith((b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")):
        return "tiff"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return None


def describe(data: bytes) -> str:
    """What bytes that are no raster image look like, for a problem's detail."""
    start = data[:512].lstrip().lower()
    if not data:
        return "empty file"
    if start.startswith(b"%pdf"):
        return "PDF, not a raster image"
    if start.startswith((b"%!ps", b"\xc5\xd0\xd3\xc6")):
        return "PostScript, not a raster image"
    if b"<html" in start or start.startswith(b"<!doctype html"):
        return "HTML, not an image"
    if b"<svg" in start:
        return "SVG, not a raster image"
    if start.startswith((b"<?xml", b"<")):
        return "XML, not an image"
    return f"unknown format, first bytes {data[:8].hex()}"


def inspect(path: Path, *, max_pixels: int = MAX_PIXELS, max_bytes: int = MAX_BYTES) -> ImageFacts:
    """Decode one image file fully, under caps. Never raises: what is wrong is in the result.

    Args:
        path: the file.
        max_pixels: width × height above this is not decoded (decompression bombs).
        max_bytes: larger files are not opened.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as handle:
            head = handle.read(512)
    except OSError as error:
        return ImageFacts(None, None, None, "image_missing", type(error).__name__)
    kind = sniff(head)
    if kind is None:
        return ImageFacts(None, None, None, "image_corrupt", describe(head))
    if size > max_bytes:
        return ImageFacts(kind, None, None, "image_too_large", f"{size} bytes, limit {max_bytes}")
    if kind == "jpeg" and path.read_bytes().count(b"\xff\xda") > MAX_SCANS:
        return ImageFacts(kind, None, None, "image_too_large", f"more than {MAX_SCANS} scans")
    # Pillow warns about large and about odd images; the filter list is process-wide, hence the lock.
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _decode(path, kind, max_pixels)


def _decode(path: Path, kind: str, max_pixels: int) -> ImageFacts:
    width: int | None = None
    height: int | None = None
    try:
        with Image.open(path, formats=[kind.upper()]) as image:
            width, height = image.size
            if width * height > max_pixels:
                detail = f"{width} x {height} pixels, limit {max_pixels}"
                return ImageFacts(kind, width, height, "image_too_large", detail)
            image.load()
    except Image.DecompressionBombError:
        return ImageFacts(kind, width, height, "image_too_large", "more pixels than can be opened safely")
    except Exception as error:  # decoders of hostile bytes raise anything, MemoryError too
        return ImageFacts(kind, width, height, "image_corrupt", f"does not decode: {type(error).__name__}")
    return ImageFacts(kind, width, height)
