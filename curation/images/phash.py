"""pHash in whole numbers: the bits of `imagehash.phash` (after Zauner 2010), the same on every processor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from schemas.exact import product

SIDE = 32
"""Rows and columns of the grey copy that is hashed."""
NARROW, WIDE = 8, 16
"""Lowest DCT terms an axis: 64 bits to be compared, 256 to be sure."""
_BITS = 28
_GRAIN = 2.0**-40
"""Terms are cut to 2**-16 grey levels: what should be equal, as in a symmetric picture, is."""

Bits = NDArray[np.bool_]

_COSINES = np.rint(
    np.ldexp(np.cos(np.pi * np.arange(WIDE)[:, None] * (2 * np.arange(SIDE) + 1) / (2 * SIDE)), _BITS)
)


def hash_bits(thumbs: NDArray[np.uint8], terms: int = NARROW) -> Bits:
    """Which of the lowest DCT terms lie above their median.

    Args:
        thumbs: (n, 32, 32) grey.
        terms: how many an axis, at most WIDE.

    Returns:
        (n, terms * terms), row by row.
    """
    waves = _COSINES[:terms]
    columns = np.moveaxis(waves @ thumbs.astype(np.float64), 2, 0)  # whole, below 2**41: always exact
    found = product(waves, columns.reshape(SIDE, -1)).reshape(terms, len(thumbs), terms)
    flat = np.rint(found.transpose(1, 2, 0).reshape(len(thumbs), terms * terms) * _GRAIN)
    bits: Bits = flat > np.median(flat, axis=1, keepdims=True)
    return bits


def image_bits(image: Image.Image) -> Bits:
    """The 64 bits of one picture, shape (64,), by its grey copy of 32 x 32 pixels."""
    grey = image.convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    bits: Bits = hash_bits(np.asarray(grey)[None])[0]
    return bits
