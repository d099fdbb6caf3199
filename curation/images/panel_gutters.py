"""Cuts a figure in its widest gutters when only some of its panel letters can be read.

The parts must be as many as the caption names, no further gutter may be nearly as wide, and half of the
letters must stand at the upper left of the parts that are theirs in reading order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from curation.images.panel_cuts import Ground, Region, runs
from curation.images.panel_letters import Letter

_SIDE = 0.1
_NARROWEST = 4
_SECOND = 0.5
_READ = 0.6
_CORNER = 0.2
_OUTSIDE = 2


class _Cut(NamedTuple):
    """A gutter of a region: how wide, along which axis, and what stands on its two sides."""

    width: int
    axis: int
    first: Region
    second: Region


def gutter_regions(ground: Ground, letters: Sequence[str], read: Sequence[Letter]) -> tuple[Region, ...]:
    """A region for each letter, in their order; else ().

    Args:
        ground: the figure.
        letters: upper-case letters of the caption's panels, in order.
        read: letters that were read in the figure.
    """
    height, width = ground.shape
    whole = ground.trimmed(Region(0, 0, width, height))
    parts = [whole] if whole is not None else []
    widths: list[int] = []
    while parts and len(parts) < len(letters):
        found = _widest(ground, parts)
        if found is None:
            return ()
        place, cut = found
        parts[place : place + 1] = [cut.first, cut.second]
        widths.append(cut.width)
    further = _widest(ground, parts)
    is_clear = bool(widths) and min(widths) >= _NARROWEST
    if not is_clear or (further is not None and further[1].width > _SECOND * min(widths)):
        return ()
    told = sum(_is_at(read, letter, part) for letter, part in zip(letters, parts, strict=True))
    return tuple(parts) if told >= max(1, len(letters) // 2) else ()


def _widest(ground: Ground, parts: Sequence[Region]) -> tuple[int, _Cut] | None:
    """The part with the widest gutter, and the gutter; of equal ones the first."""
    cuts = [(place, cut) for place, part in enumerate(parts) for cut in _cuts(ground, part)]
    return max(cuts, key=lambda item: (item[1].width, -item[0], -item[1].axis), default=None)


def _cuts(ground: Ground, region: Region) -> Iterator[_Cut]:
    """Gutters with something as large as a panel on either side."""
    height, width = ground.shape
    for axis in (0, 1):
        used = ground.used(region, axis)
        start = region.top if axis == 0 else region.left
        for first, last in runs(used == 0):
            if axis == 0:
                sides = region._replace(bottom=start + first), region._replace(top=start + last)
            else:
                sides = region._replace(right=start + first), region._replace(left=start + last)
            trimmed = [ground.trimmed(side) for side in sides]
            large = [
                side
                for side in trimmed
                if side is not None
                and side.right - side.left >= _SIDE * width
                and side.bottom - side.top >= _SIDE * height
            ]
            if len(large) == 2:
                yield _Cut(last - first, axis, *large)


def _is_at(read: Sequence[Letter], letter: str, part: Region) -> bool:
    """Whether a letter was read at the upper left of a part."""
    across, down = _CORNER * (part.right - part.left), _CORNER * (part.bottom - part.top)
    return any(
        mark.letter == letter
        and mark.score >= _READ
        and -_OUTSIDE <= mark.left - part.left <= across
        and -_OUTSIDE <= mark.top - part.top <= down
        for mark in read
    )
