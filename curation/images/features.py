"""Numbers that tell kinds of images apart, measured on a copy of at most 384 pixels a side.

Shares are of all pixels unless said otherwise. The ideas are the field's (grey or colour, background,
flat or textured, straight rules, stain colours), as in the ImageCLEF medical modality tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIDE = 384
_EDGE = 24
_RULE_SHARE = 0.3

Plane = NDArray[np.int16]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Features:
    """What was measured; every share lies in 0 to 1 and is rounded to 3 digits.

    white, black: near-white and near-black pixels; grey: pixels without colour; vivid: strongly coloured.
    flat: no visible change to the right or below; tone: small changes between mid-tones, as in photographs
    and scans; fine: changes of any size there. stain: pink and purple of haematoxylin-eosin; warm: skin and
    mucosa; dark_border: near-black pixels in the outer 4 %; levels: 3-bit colours that each cover 0.2 %.
    rules, columns: straight horizontal and vertical lines longer than 30 % of a side, adjacent ones as one.
    """

    white: float
    black: float
    grey: float
    vivid: float
    flat: float
    tone: float
    fine: float
    stain: float
    warm: float
    dark_border: float
    levels: int
    rules: int
    columns: int
    width: int
    height: int


def measure(image: Image.Image) -> Features:
    """Features of an upright image in mode L or RGB."""
    small = shrunk(image, SIDE, Image.Resampling.BOX).convert("RGB")
    red, green, blue = (np.asarray(channel).astype(np.int16) for channel in small.split())
    high, low = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    luma: Plane = ((299 * red.astype(np.int32) + 587 * green + 114 * blue) // 1000).astype(np.int16)
    white, black, chroma = low >= 236, high <= 40, high - low
    change = _change(luma)
    middle = ~white & ~black
    return Features(
        white=_share(white),
        black=_share(black),
        grey=_share(chroma <= 24),
        vivid=_share(chroma >= 90),
        flat=_share(change <= 3),
        tone=_share(middle & (change > 3) & (change <= 40)),
        fine=_share(middle & (change > 3)),
        stain=_share((green < red - 16) & (green < blue - 8) & (low > 50) & (high > 110)),
        warm=_share((red > green + 14) & (green >= blue - 6) & (red > 70) & (chroma > 30)),
        dark_border=_share(black[_border(black.shape)]),
        levels=_levels(red, green, blue),
        rules=_rules(luma),
        columns=_rules(luma.T),
        width=image.width,
        height=image.height,
    )


def shrunk(image: Image.Image, side: int, filter: Image.Resampling) -> Image.Image:
    """The image itself, or a copy of at most `side` pixels a side; never enlarged."""
    scale = side / max(image.size)
    if scale >= 1.0:
        return image
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, filter, reducing_gap=2.0)  # whole-number reduction first: faster


def _share(mask: Mask) -> float:
    return round(np.count_nonzero(mask) / mask.size, 3) if mask.size else 0.0


def _change(luma: Plane) -> Plane:
    """Sum of absolute differences to the right and below; the last row and column repeat."""
    right = np.abs(np.diff(luma, axis=1, append=luma[:, -1:]))
    below = np.abs(np.diff(luma, axis=0, append=luma[-1:, :]))
    total: Plane = (right + below).astype(np.int16)
    return total


def _border(shape: tuple[int, ...]) -> Mask:
    margin = max(1, round(min(shape) * 0.04))
    mask = np.ones(shape, dtype=np.bool_)
    mask[margin:-margin, margin:-margin] = False
    return mask


def _levels(red: Plane, green: Plane, blue: Plane) -> int:
    codes = (red >> 5 << 6) | (green >> 5 << 3) | (blue >> 5)
    counts = np.bincount(codes.ravel(), minlength=512)
    return int((counts >= 0.002 * codes.size).sum())


def _rules(luma: Plane) -> int:
    """Horizontal straight edges longer than 30 % of the width; neighbouring rows count once."""
    if luma.shape[0] < 3 or luma.shape[1] < 3:
        return 0
    edge = np.abs(np.diff(luma, axis=0)) >= _EDGE
    least = max(8, _RULE_SHARE * luma.shape[1])
    long = np.count_nonzero(edge, axis=1) >= least
    long[long] = _longest_runs(edge[long]) >= least
    starts = long & ~np.concatenate([[False, False], long[:-2]]) & ~np.concatenate([[False], long[:-1]])
    return int(starts.sum())


def _longest_runs(mask: Mask) -> NDArray[np.int64]:
    """Length of the longest run of True in each row."""
    positions = np.arange(1, mask.shape[1] + 1)
    last_false = np.maximum.accumulate(np.where(mask, 0, positions), axis=1)
    longest: NDArray[np.int64] = (positions - last_false).max(axis=1)
    return longest
