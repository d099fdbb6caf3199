"""Splits a compound image into the panels its caption names; precision before recall.

Printed panel letters lead the cut (panel_marks, panel_cuts); without letters only a full grid of photographs
or charts is split (panel_grids), with some of them a figure of clear gutters (panel_gutters). Whatever image
and caption do not agree on stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image

from curation.images.panel_cuts import Ground, Region, regions_by_marks
from curation.images.panel_grids import grid_regions
from curation.images.panel_gutters import gutter_regions
from curation.images.panel_letters import Grey, Mask, read_print
from curation.images.panel_marks import UNSEEN, mark_sets

_WORKING_SIDE = 1_000
_MAX_PANELS = 16
_INK = 32
_WHITE_SHARE = 0.02
_UNIFORM = 0.5
_LINE = 0.95
_FRAME = 0.02
_WHITE, _BLACK = (255, 255, 255), (0, 0, 0)


class Box(NamedTuple):
    """One panel's pixels: left and top inside, right and bottom outside it."""

    letter: str
    left: int
    top: int
    right: int
    bottom: int


def find_panels(image: Image.Image, letters: Sequence[str]) -> tuple[Box, ...]:
    """The panels of a compound image, one for each letter of the caption, in their order; else ().

    Args:
        image: upright, mode L or RGB.
        letters: upper-case letters of the caption's panels, as `Panel.letter`.

    Returns:
        Boxes in pixels of `image`, trimmed to what is not background; () when image and letters disagree,
        when fewer than 2 or more than 16 panels are named, or one by another thing than a letter.
    """
    marks = tuple(letters)
    if not 2 <= len(marks) <= _MAX_PANELS or len(set(marks)) != len(marks):
        return ()
    if any(len(mark) != 1 or not "A" <= mark <= "Z" for mark in marks):
        return ()
    frame = _frame(image)
    if frame is not None:
        inner = find_panels(image.crop(frame), letters)
        return tuple(
            Box(
                box.letter,
                box.left + frame[0],
                box.top + frame[1],
                box.right + frame[0],
                box.bottom + frame[1],
            )
            for box in inner
        )
    small = image.convert("RGB")
    small.thumbnail((_WORKING_SIDE, _WORKING_SIDE), Image.Resampling.BOX)
    grey = np.asarray(small.convert("L"))
    regions = _regions(Ground(_ink(small), grey), marks)
    return _boxes(marks, regions, image.size, small.size)


def _frame(image: Image.Image) -> Region | None:
    """What a bright line around a dark figure encloses; None where there is no such line."""
    grey = np.asarray(image.convert("L"))
    height, width = grey.shape
    most = max(2, round(_FRAME * min(height, width)))
    sides = (grey[:most], grey[:, :most].T, grey[::-1][:most], grey[:, ::-1][:, :most].T)
    depths = [int((np.median(side, axis=1) > 255 - _INK).argmin()) for side in sides]
    top, left, bottom, right = depths
    if not all(depths) or min(height, width) <= 4 * most:
        return None
    inner = grey[top:-bottom, left:-right]
    edge = np.concatenate([inner[2], inner[-3], inner[:, 2], inner[:, -3]])
    is_dark = float((edge < _INK).mean()) >= _UNIFORM
    return Region(left + 1, top + 1, width - right - 1, height - bottom - 1) if is_dark else None


def _regions(ground: Ground, letters: Sequence[str]) -> tuple[Region, ...]:
    """A region for each letter, the surest way first."""
    following = chr(ord(max(letters)) + 1)
    found = read_print(ground.grey, (*letters, following))
    sets = list(mark_sets(found, letters))
    for level in (0, 1, 2):
        for marks in sets:
            if level and min(mark.score for mark in marks) == UNSEEN:
                continue
            regions = regions_by_marks(ground, marks, level)
            if regions:
                return regions
    return grid_regions(ground, len(letters)) or gutter_regions(ground, letters, found.letters)


def _ink(image: Image.Image) -> Mask:
    """Where an RGB image differs from its background; everywhere when it has none."""
    channels = [np.asarray(channel) for channel in image.split()]
    background = _background(channels)
    ink = np.full(channels[0].shape, background is None, dtype=np.bool_)
    for channel, usual in zip(channels, background or (), strict=False):
        ink |= (channel < max(usual - _INK, 0)) | (channel > min(usual + _INK, 255))
    return ink


def _background(channels: Sequence[Grey]) -> tuple[int, ...] | None:
    """The colour of margins and gutters: white where the image has white ones, else that of its edge."""
    edge = np.stack([np.concatenate([c[0], c[-1], c[:, 0], c[:, -1]]) for c in channels], axis=1)
    usual = np.median(edge, axis=0).astype(np.int16)
    lowest = np.minimum(np.minimum(channels[0], channels[1]), channels[2])
    if usual.min() < 225 and (lowest > 240).mean() > _WHITE_SHARE and usual.max() > 40:
        return _WHITE
    if (np.abs(edge.astype(np.int16) - usual) <= _INK).all(axis=1).mean() >= _UNIFORM:
        return tuple(int(value) for value in usual)
    if _has_line(lowest > 255 - _INK):
        return _WHITE
    highest = np.maximum(np.maximum(channels[0], channels[1]), channels[2])
    return _BLACK if _has_line(highest < _INK) else None


def _has_line(mask: Mask) -> bool:
    """Whether a line from side to side is nearly all set."""
    return bool(max(mask.mean(axis=0).max(), mask.mean(axis=1).max()) >= _LINE)


def _boxes(
    marks: Sequence[str], regions: Sequence[Region], size: tuple[int, int], small: tuple[int, int]
) -> tuple[Box, ...]:
    across, down = size[0] / small[0], size[1] / small[1]
    return tuple(
        Box(
            mark,
            int(region.left * across),
            int(region.top * down),
            min(round(region.right * across), size[0]),
            min(round(region.bottom * down), size[1]),
        )
        for mark, region in zip(marks, regions, strict=bool(regions))
    )
