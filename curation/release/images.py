"""Image bytes on their way into a release: JPEG and PNG are copied, other formats become PNG.

Every image is checked against its recorded hash and decoded once; a file that fails here is an error, because
the build has already dropped images that do not decode.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from schemas.errors import ReleaseError
from schemas.hashing import sha256_bytes

_MAGIC = ((b"\xff\xd8\xff", "jpeg", "jpg"), (b"\x89PNG\r\n\x1a\n", "png", "png"))


@dataclass(frozen=True, slots=True)
class ReleasedImage:
    """One image as released."""

    data: bytes
    extension: str
    sha256: str
    source_sha256: str
    transform: str
    width: int
    height: int


def read_image(raw: Path, path: str, sha256: str, record: str) -> ReleasedImage:
    """Read, verify and if needed normalise the image at `path` below `raw`; `record` is named in errors.

    Raises:
        ReleaseError: the file is missing, changed since it was fetched, or does not decode.
    """
    try:
        data = (raw / path).read_bytes()
    except OSError as error:
        raise ReleaseError(
            "a query's image is not in raw/",
            record=record,
            file=path,
            hint="medqrels crawl, then build again",
        ) from error
    if sha256_bytes(data) != sha256:
        raise ReleaseError(
            "an image's bytes are not those that were fetched",
            record=record,
            file=path,
            hint="medqrels doctor",
        )
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            width, height, kind = image.width, image.height, image.format or "unknown"
            for magic, _, extension in _MAGIC:
                if data.startswith(magic):
                    return ReleasedImage(data, extension, sha256, sha256, "", width, height)
            png = _as_png(image)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ReleaseError(
            f"an image does not decode: {error}", record=record, file=path, hint="medqrels build again"
        ) from error
    return ReleasedImage(
        png, "png", sha256_bytes(png), sha256, f"{kind.lower()} to png, first frame", width, height
    )


def _as_png(image: Image.Image) -> bytes:
    """First frame as 8-bit grey or RGB; transparency goes on white, wider samples are scaled to 8 bits."""
    image.seek(0)
    if image.mode[0] in "IF":
        low, high = image.getextrema()
        span = max(float(high) - float(low), 1.0)  # type: ignore[arg-type]
        image = image.convert("F").point(lambda value: (value - float(low)) * (255.0 / span))  # type: ignore[arg-type]
        flat = image.convert("L")
    elif image.mode in ("1", "L"):
        flat = image.convert("L")
    elif "A" in image.getbands() or "transparency" in image.info:
        rgba = image.convert("RGBA")
        flat = Image.new("RGB", rgba.size, "white")
        flat.paste(rgba, mask=rgba.getchannel("A"))
    else:
        flat = image.convert("RGB")
    out = io.BytesIO()
    flat.save(out, format="PNG", compress_level=6)
    return out.getvalue()
