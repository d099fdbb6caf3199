"""Splits a compound image into the panels its caption names; precision before recall.

Printed panel letters lead a recursive XY cut along empty gutters (Nagy and Seth 1984); without letters only a
plain grid of photographs is split. Whatever image and caption do not agree on stays whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from curation.images.panel_letters import Letter, Mask, filled, letter_sets

_WORKING_SIDE = 1_000
_MAX_PANELS = 16
_INK = 32
_LEAD_X, _LEAD_Y = 0.35, 0.25
_REACH = 0.10
_MIN_SIDE = 0.05
_FILLED = 0.97
_SAME_SIZE = 1.25
_MAX_STEPS = 400


class Box(NamedTuple):
    """One panel's pixels: left and top inside, right and bottom outside it."""

    letter: str
    left: int
    top: int
    right: int
    bottom: int


class _Region(NamedTuple):
    left: int
    top: int
    right: int
    bottom: int


class _Cut(NamedTuple):
    width: int
    axis: int
    at: int


@dataclass(slots=True)
class _Search:
    """One search for a cut of `ink`, bounded in steps."""

    ink: Mask
    steps: int = 0
    found: list[tuple[Letter, _Region]] = field(default_factory=list)


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
    small = image.convert("RGB")
    small.thumbnail((_WORKING_SIDE, _WORKING_SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small)
    ink = _ink(pixels)
    grey = np.asarray(small.convert("L"))
    for found in letter_sets(grey, marks):
        regions = _by_letters(ink, found)
        if regions:
            return _boxes(marks, regions, image.size, small.size)
    regions = _photo_grid(ink, len(marks))
    return _boxes(marks, regions, image.size, small.size)


def _ink(pixels: npt.NDArray[np.uint8]) -> Mask:
    """Where pixels differ from the background: white where the image has white margins or gutters."""
    values = pixels.astype(np.int16)
    edge = np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])
    background = np.median(edge, axis=0)
    if background.min() < 225 and (values.min(axis=2) > 240).mean() > 0.02 and background.max() > 40:
        background = np.array([255, 255, 255])
    ink: Mask = (np.abs(values - background.astype(np.int16)) > _INK).any(axis=2)
    return ink


def _boxes(
    marks: Sequence[str], regions: Sequence[_Region], size: tuple[int, int], small: tuple[int, int]
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


def _by_letters(ink: Mask, marks: Sequence[Letter]) -> tuple[_Region, ...]:
    """One region for each mark, which stands at its upper or, for all alike, at its lower left corner."""
    height, width = ink.shape
    whole = _Region(0, 0, width, height)
    search = _Search(ink)
    if _split(search, whole, marks):
        return _in_order(search, marks)
    turned = [
        Letter(m.letter, m.left, height - m.bottom, m.right, height - m.top, m.score, m.size, m.is_upper)
        for m in marks
    ]
    search = _Search(ink[::-1])
    if _split(search, whole, turned):
        found = _in_order(search, turned)
        return tuple(_Region(r.left, height - r.bottom, r.right, height - r.top) for r in found)
    return ()


def _in_order(search: _Search, marks: Sequence[Letter]) -> tuple[_Region, ...]:
    regions = dict(search.found)
    return tuple(regions[mark] for mark in marks)


def _split(search: _Search, region: _Region, marks: Sequence[Letter]) -> bool:
    """Cut a region until every part holds one mark; False when no cut along empty gutters does."""
    search.steps += 1
    trimmed = _trimmed(search.ink, region)
    if search.steps > _MAX_STEPS or trimmed is None:
        return False
    if len(marks) == 1:
        if _leads(marks[0], trimmed, search.ink.shape):
            search.found.append((marks[0], trimmed))
            return True
        return False
    before = len(search.found)
    for cut in _cuts(search.ink, trimmed, marks):
        first, second = _halves(trimmed, cut)
        upper = [mark for mark in marks if _start(mark, cut.axis) < cut.at]
        lower = [mark for mark in marks if _start(mark, cut.axis) >= cut.at]
        if _split(search, first, upper) and _split(search, second, lower):
            return True
        del search.found[before:]
    return False


def _leads(mark: Letter, region: _Region, shape: tuple[int, ...]) -> bool:
    """Whether a mark stands in the upper left corner of a region that is large enough to be a panel."""
    width, height = region.right - region.left, region.bottom - region.top
    if width < _MIN_SIDE * shape[1] or height < _MIN_SIDE * shape[0]:
        return False
    down = mark.top - region.top
    return mark.left - region.left <= _LEAD_X * width and down <= max(_LEAD_Y * height, mark.size)


def _cuts(ink: Mask, region: _Region, marks: Sequence[Letter]) -> list[_Cut]:
    """Possible cuts between marks, the widest gutter first."""
    cuts = [cut for axis in (0, 1) for cut in _cuts_along(ink, region, marks, axis)]
    return sorted(cuts, key=lambda cut: (-cut.width, cut.axis, cut.at))


def _cuts_along(ink: Mask, region: _Region, marks: Sequence[Letter], axis: int) -> Iterator[_Cut]:
    """For each gap between marks along an axis, the widest empty run shortly before the next mark."""
    offset = region.top if axis == 0 else region.left
    inside = ink[region.top : region.bottom, region.left : region.right]
    runs = [(start + offset, end + offset) for start, end in _empty_runs(filled(inside, 1 - axis))]
    reach = _REACH * ink.shape[axis]
    ordered = sorted(marks, key=lambda mark: (_start(mark, axis), mark.letter))
    for number in range(1, len(ordered)):
        free = max(_end(mark, axis) for mark in ordered[:number])
        following = _start(ordered[number], axis)
        near = [
            (min(end, following) - max(start, free), end)
            for start, end in runs
            if min(end, following) > max(start, free) and following - min(end, following) <= reach
        ]
        if near:
            width, end = max(near)
            at = min(end, following)
            yield _Cut(width, axis, at)


def _start(mark: Letter, axis: int) -> int:
    return mark.top if axis == 0 else mark.left


def _end(mark: Letter, axis: int) -> int:
    return mark.bottom if axis == 0 else mark.right


def _halves(region: _Region, cut: _Cut) -> tuple[_Region, _Region]:
    if cut.axis == 0:
        return region._replace(bottom=cut.at), region._replace(top=cut.at)
    return region._replace(right=cut.at), region._replace(left=cut.at)


def _empty_runs(used: Mask) -> list[tuple[int, int]]:
    """Start and end of each run of False."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], used, [True]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _trimmed(ink: Mask, region: _Region) -> _Region | None:
    """A region without empty margins; None when nothing is left."""
    inside = ink[region.top : region.bottom, region.left : region.right]
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    if not len(rows) or not len(columns):
        return None
    return _Region(
        region.left + int(columns[0]),
        region.top + int(rows[0]),
        region.left + int(columns[-1]) + 1,
        region.top + int(rows[-1]) + 1,
    )


def _photo_grid(ink: Mask, count: int) -> tuple[_Region, ...]:
    """A grid of filled rectangles of one size, reading order, when there are `count` of them; else ()."""
    whole = _trimmed(ink, _Region(0, 0, ink.shape[1], ink.shape[0]))
    if whole is None:
        return ()
    found = [
        part
        for row in _strips(ink, whole, 0)
        for column in _strips(ink, row, 1)
        if (part := _trimmed(ink, column)) is not None
    ]
    if len(found) != count:
        return ()
    widths = [part.right - part.left for part in found]
    heights = [part.bottom - part.top for part in found]
    is_even = max(widths) <= _SAME_SIZE * min(widths) and max(heights) <= _SAME_SIZE * min(heights)
    are_large = min(widths) >= _MIN_SIDE * ink.shape[1] and min(heights) >= _MIN_SIDE * ink.shape[0]
    are_photos = all(ink[p.top : p.bottom, p.left : p.right].mean() >= _FILLED for p in found)
    return tuple(found) if is_even and are_large and are_photos else ()


def _strips(ink: Mask, region: _Region, axis: int) -> list[_Region]:
    """A region cut at every empty run along an axis."""
    inside = ink[region.top : region.bottom, region.left : region.right]
    offset = region.top if axis == 0 else region.left
    runs = _empty_runs(filled(inside, 1 - axis))
    bounds = [offset, *(offset + end for _, end in runs), offset + inside.shape[axis]]
    pairs = [(start, end) for start, end in itertools.pairwise(bounds) if end > start]
    if axis == 0:
        return [region._replace(top=start, bottom=end) for start, end in pairs]
    return [region._replace(left=start, right=end) for start, end in pairs]
