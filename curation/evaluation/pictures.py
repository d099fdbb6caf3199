"""A weak image-only baseline: perceptual hash, colours and edges of the picture, no learning.

It tells how far copies and look-alikes carry; it knows nothing of medicine and is declared so.
"""

from __future__ import annotations

import imagehash
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from curation.images.decode import open_image
from curation.images.features import shrunk

FEATURES = "phash64+rgb4x4x4+edges4x4x8@1"
_SIDE = 128
_CELLS, _DIRECTIONS = 4, 8


def image_vector(data: bytes) -> NDArray[np.float64]:
    """Three unit parts side by side, shape (256,): 64 pHash signs, 64 colours, 128 edges.

    Raises:
        InputError: the image is damaged or too large.
    """
    image = open_image(data).image
    signs = np.where(imagehash.phash(image).hash.ravel(), 1.0, -1.0)
    small = shrunk(image, _SIDE, Image.Resampling.BOX).convert("RGB")
    return np.concatenate([_unit(signs), _unit(_colours(small)), _unit(_edges(small))])


def _unit(part: NDArray[np.float64]) -> NDArray[np.float64]:
    norm = float(np.linalg.norm(part))
    return part / norm if norm else part


def _colours(image: Image.Image) -> NDArray[np.float64]:
    levels = np.asarray(image).astype(np.int64) >> 6
    codes = (levels[..., 0] << 4) | (levels[..., 1] << 2) | levels[..., 2]
    return np.sqrt(np.bincount(codes.ravel(), minlength=64) / codes.size)


def _edges(image: Image.Image) -> NDArray[np.float64]:
    """Histograms of edge directions by strength in 4 × 4 cells, as in HOG (Dalal and Triggs 2005)."""
    grey = np.asarray(image.convert("L").resize((_SIDE, _SIDE), Image.Resampling.BOX)).astype(np.float64)
    down, right = np.gradient(grey)
    strength = np.hypot(down, right)
    angle = np.mod(np.arctan2(down, right), np.pi) / np.pi
    direction = np.minimum((angle * _DIRECTIONS).astype(np.int64), _DIRECTIONS - 1)
    cell = np.arange(_SIDE) * _CELLS // _SIDE
    codes = (cell[:, None] * _CELLS + cell[None, :]) * _DIRECTIONS + direction
    found = np.bincount(codes.ravel(), weights=strength.ravel(), minlength=_CELLS * _CELLS * _DIRECTIONS)
    return np.sqrt(found)
