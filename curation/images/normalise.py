"""Image bytes as they may be released: a byte-for-byte copy where that fits, else an upright sRGB PNG.

A fitting file whose metadata may identify someone loses the metadata, not a pixel. Licences without
derivatives (ND) admit the copy alone: cropping, turning and converting make a derived form.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

from PIL import Image

from curation.images.decode import Decoded
from curation.images.metadata import without_metadata
from schemas.errors import InputError
from schemas.licences import terms
from schemas.stages import Reason

_EXTENSIONS = {"jpeg": "jpg", "png": "png"}
_COMPRESSION = 6


@dataclass(frozen=True, slots=True)
class Normalised:
    """Bytes ready for a release. `transform` is '' for a copy, else what was done, in order."""

    data: bytes
    extension: str
    transform: str


def normalise(image: Decoded, *, license: str) -> Normalised:
    """The releasable form of an image; the same bytes for the same file.

    Args:
        image: the decoded file.
        license: SPDX id that holds for the figure.

    Raises:
        InputError: licence_not_allowed: only a derived form would do and the licence forbids those.
    """
    if image.is_fitting:
        return Normalised(image.data, _EXTENSIONS[image.format], "")
    if not terms(license).derivatives:
        raise InputError(
            f"{license} allows a byte-for-byte copy only, and this {image.format} is not fit for one",
            reason=Reason.LICENCE_NOT_ALLOWED,
        )
    if image.is_plain:
        cut = without_metadata(image.data, image.format)
        if cut is not None:
            removed = ", ".join(name.replace("_", " ") for name in image.private)
            return Normalised(cut, _EXTENSIONS[image.format], f"metadata removed ({removed})")
    steps = ", ".join((f"{image.format} to png", "first frame", *image.steps))
    return Normalised(as_png(image.image), "png", steps)


def cut_out(image: Decoded, box: tuple[int, int, int, int], *, license: str) -> Normalised:
    """A stretch of an image as PNG, pixel for pixel.

    Args:
        image: the decoded file.
        box: left, top, right and bottom in pixels of the upright image; the last two lie outside.
        license: SPDX id that holds for the figure.

    Raises:
        InputError: licence_not_allowed: the licence forbids derived forms; image_corrupt: the box lies not
            inside the image.
    """
    left, top, right, bottom = box
    if not terms(license).derivatives:
        raise InputError(f"{license} allows no stretch of an image", reason=Reason.LICENCE_NOT_ALLOWED)
    if not (0 <= left < right <= image.width and 0 <= top < bottom <= image.height):
        size = f"{image.width}×{image.height} pixels"
        raise InputError(f"the panel {box} lies not inside the image of {size}", reason=Reason.IMAGE_CORRUPT)
    place = f"panel {left},{top},{right},{bottom} cut out"
    steps = ", ".join((f"{image.format} to png", "first frame", *image.steps, place))
    return Normalised(as_png(image.image.crop(box)), "png", steps)


def as_png(image: Image.Image) -> bytes:
    """Mode L or RGB as PNG; decoding has left no metadata that would be written."""
    out = io.BytesIO()
    image.save(out, format="PNG", compress_level=_COMPRESSION)
    return out.getvalue()
