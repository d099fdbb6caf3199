"""Perceptual hash and thumbnail of an upright image."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from curation.images.features import shrunk
from curation.images.phash import image_bits

THUMBNAIL_SIDE = 256
_QUALITY = 80


def perceptual_hash(image: Image.Image) -> str:
    """64-bit pHash as 16 hex digits: signs of the 8 × 8 lowest DCT terms of a 32 × 32 grey copy.

    Images of one colour all share one hash.

    Args:
        image: upright, mode L or RGB.
    """
    return np.packbits(image_bits(image)).tobytes().hex()


def thumbnail(image: Image.Image, side: int = THUMBNAIL_SIDE) -> str:
    """Base64 JPEG of at most `side` pixels a side, never enlarged; for pages and review, never released.

    Args:
        image: upright, mode L or RGB.
        side: pixels of the longer side.
    """
    small = shrunk(image, side, Image.Resampling.HAMMING)
    out = io.BytesIO()
    small.save(out, format="JPEG", quality=_QUALITY)
    return base64.b64encode(out.getvalue()).decode("ascii")
