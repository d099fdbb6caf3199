"""A weak image-only baseline: perceptual hash, colours and edges of the picture, no learning.

It tells how far copies and look-alikes carry; it knows nothing of medicine and is declared so.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from curation.images.decode import open_image
from curation.images.features import shrunk
from curation.images.phash import image_bits

FEATURES = "phash64+rgb4x4x4+edges4x4x8@1"
_SIDE = 128
_CELLS, _DIRECTIONS = 4, 8
_ANGLES = np.pi * np.arange(1, _DIRECTIONS)[:, None, None] / _DIRECTIONS
_ACROSS, _DOWN = (np.rint(np.ldexp(of(_ANGLES), 20)).astype(np.int64) for of in (np.cos, np.sin))
"""Where directions part. Gradients of bytes are too coarse to lie nearer to one than its 20 bits tell."""


def image_vector(data: bytes) -> NDArray[np.float64]:
    """Three unit parts side by side, shape (256,): 64 pHash signs, 64 colours, 128 edges.

    Raises:
        InputError: the image is damaged or too large.
    """
    image = open_image(data).image
    signs = np.where(image_bits(image), 1.0, -1.0)
    small = shrunk(image, _SIDE, Image.Resampling.BOX).convert("RGB")
    return np.concatenate([_unit(signs), _unit(_colours(small)), _unit(_edges(small))])


def _unit(part: NDArray[np.float64]) -> NDArray[np.float64]:
    norm = math.sqrt(math.fsum((part * part).tolist()))
    return part / norm if norm else part


def _colours(image: Image.Image) -> NDArray[np.float64]:
    levels = np.asarray(image).astype(np.int64) >> 6
    codes = (levels[..., 0] << 4) | (levels[..., 1] << 2) | levels[..., 2]
    return np.sqrt(np.bincount(codes.ravel(), minlength=64) / codes.size)


def _edges(image: Image.Image) -> NDArray[np.float64]:
    """Histograms of edge directions by strength in 4 × 4 cells, as in HOG (Dalal and Triggs 2005)."""
    grey = np.asarray(image.convert("L").resize((_SIDE, _SIDE), Image.Resampling.BOX)).astype(np.float64)
    down, right = np.gradient(grey)
    strength = np.sqrt(down * down + right * right)
    direction = _directions(down, right)
    cell = np.arange(_SIDE) * _CELLS // _SIDE
    codes = (cell[:, None] * _CELLS + cell[None, :]) * _DIRECTIONS + direction
    found = np.bincount(codes.ravel(), weights=strength.ravel(), minlength=_CELLS * _CELLS * _DIRECTIONS)
    return np.sqrt(found)


def _directions(down: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.int64]:
    """In which eighth of a half turn each gradient points, by cross products of whole numbers."""
    turned = np.where((down < 0) | ((down == 0) & (right < 0)), -2, 2)  # gradients come in halves
    y, x = (down * turned).astype(np.int64), (right * turned).astype(np.int64)
    found: NDArray[np.int64] = (_ACROSS * y >= _DOWN * x).sum(axis=0)
    return found
