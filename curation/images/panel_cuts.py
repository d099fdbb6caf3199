"""Cuts a figure between its panel marks: a recursive XY cut (Nagy and Seth 1984) led by the marks.

Cuts run along empty gutters; where there are none, along nearly empty lines, then along straight edges.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from curation.images.panel_letters import Grey, Letter, Mask

_LEAD_X, _LEAD_Y = 0.35, 0.25
_TIGHT = 0.12
_CENTRE = 0.15
_REACH = 0.10
_MIN_SIDE = 0.05
_MAX_STEPS = 120
_SPECKS = 0.04
_BRACKET = 0.6
_EDGE = 2.0
_STEP = 80


class Region(NamedTuple):
    """Pixels of a working image: left and top inside, right and bottom outside."""

    left: int
    top: int
    right: int
    bottom: int


class _Cut(NamedTuple):
    level: int
    width: float
    axis: int
    at: int


class Ground:
    """A figure's ink, and the sums that answer questions about any region of it at once."""

    def __init__(self, ink: Mask, grey: Grey) -> None:
        """Sum up `ink`; `grey` is summed when first asked for. Both are (height, width)."""
        self.ink = ink
        self.grey = grey
        self.shape = ink.shape
        self._ink = (_summed(ink, 0), _summed(ink, 1))

    @functools.cached_property
    def _steps(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Sums of the differences between neighbours, down and across; one neighbour's is capped."""
        values = self.grey.astype(np.int16)
        down = np.abs(np.diff(values, axis=0, prepend=values[:1])).clip(0, _STEP)
        across = np.abs(np.diff(values, axis=1, prepend=values[:, :1])).clip(0, _STEP)
        return _summed(down, 1), _summed(across, 0)

    def turned(self, *, down: bool, across: bool) -> Ground:
        """The same figure seen upside down, or from the right."""
        rows, columns = slice(None, None, -1 if down else 1), slice(None, None, -1 if across else 1)
        return Ground(self.ink[rows, columns], self.grey[rows, columns])

    def used(self, region: Region, axis: int) -> npt.NDArray[np.int32]:
        """Pixels of ink on each row (axis 0) or column (axis 1) of a region."""
        if axis == 0:
            sums = self._ink[1][region.top : region.bottom]
            return np.asarray(sums[:, region.right] - sums[:, region.left])
        sums = self._ink[0][:, region.left : region.right]
        return np.asarray(sums[region.bottom] - sums[region.top])

    def steps(self, region: Region, axis: int) -> npt.NDArray[np.float64]:
        """Mean difference of each row or column of a region from the one before."""
        if axis == 0:
            sums = self._steps[0][region.top : region.bottom]
            return np.asarray((sums[:, region.right] - sums[:, region.left]) / (region.right - region.left))
        sums = self._steps[1][:, region.left : region.right]
        return np.asarray((sums[region.bottom] - sums[region.top]) / (region.bottom - region.top))

    def trimmed(self, region: Region) -> Region | None:
        """A region without empty margins; None when nothing is left."""
        if region.left >= region.right or region.top >= region.bottom:
            return None
        rows, columns = np.flatnonzero(self.used(region, 0)), np.flatnonzero(self.used(region, 1))
        if not len(rows):
            return None
        return Region(
            region.left + int(columns[0]),
            region.top + int(rows[0]),
            region.left + int(columns[-1]) + 1,
            region.top + int(rows[-1]) + 1,
        )


def _summed(values: npt.NDArray[np.generic], axis: int) -> npt.NDArray[np.int32]:
    """Running sums along an axis, from 0."""
    height, width = values.shape
    sums = np.zeros((height + 1, width) if axis == 0 else (height, width + 1), dtype=np.int32)
    np.cumsum(values, axis=axis, out=sums[1:] if axis == 0 else sums[:, 1:])
    return sums


@dataclass(slots=True)
class _Search:
    """One search for the cuts of a figure, bounded in steps; up to which level of cut, where marks stand."""

    ground: Ground
    level: int
    is_centred: bool
    is_tight: bool
    steps: int = 0
    found: list[tuple[Letter, Region]] = field(default_factory=list)
    failed: set[tuple[Region, tuple[Letter, ...]]] = field(default_factory=set)


def regions_by_marks(ground: Ground, marks: Sequence[Letter], level: int) -> tuple[Region, ...]:
    """One region for each mark, all standing at the same corner of their panels or in the middle of one side.

    Args:
        ground: the figure.
        marks: one for each panel.
        level: 0 cuts along empty gutters only, 1 also along nearly empty lines, 2 also along edges.
    """
    height, width = ground.shape
    whole = Region(0, 0, width, height)
    for down, across, is_centred in (
        (False, False, False),
        (False, False, True),
        (True, False, True),
        (True, False, False),
        (False, True, False),
        (True, True, False),
    ):
        if not _may_stand(marks, ground.shape, down=down, across=across, is_centred=is_centred):
            continue
        seen = ground.turned(down=down, across=across) if down or across else ground
        turned = [_turned(mark, ground.shape, down=down, across=across) for mark in marks]
        search = _Search(seen, level, is_centred, is_tight=across or is_centred or level > 0)
        if _split(search, whole, turned):
            places = dict(search.found)
            return tuple(_back(places[mark], ground.shape, down=down, across=across) for mark in turned)
    return ()


def _may_stand(
    marks: Sequence[Letter], shape: tuple[int, ...], *, down: bool, across: bool, is_centred: bool
) -> bool:
    """Whether the outermost marks leave the room of a panel on the sides where panels would be."""
    height, width = shape
    last = min(mark.top for mark in marks) if down else height - max(mark.bottom for mark in marks)
    side = min(mark.left for mark in marks) if across else width - max(mark.right for mark in marks)
    return last >= 0.04 * height and (is_centred or side >= 0.04 * width)


def _turned(mark: Letter, shape: tuple[int, ...], *, down: bool, across: bool) -> Letter:
    height, width = shape
    left, right = (width - mark.right, width - mark.left) if across else (mark.left, mark.right)
    top, bottom = (height - mark.bottom, height - mark.top) if down else (mark.top, mark.bottom)
    return replace(mark, left=left, top=top, right=right, bottom=bottom)


def _back(region: Region, shape: tuple[int, ...], *, down: bool, across: bool) -> Region:
    height, width = shape
    left, top, right, bottom = region
    if across:
        left, right = width - right, width - left
    if down:
        top, bottom = height - bottom, height - top
    return Region(left, top, right, bottom)


def _split(search: _Search, region: Region, marks: Sequence[Letter]) -> bool:
    """Cut a region until every part holds one mark; False when no cut does."""
    trimmed = search.ground.trimmed(region)
    if search.steps > _MAX_STEPS or trimmed is None or (trimmed, tuple(marks)) in search.failed:
        return False
    search.steps += 1
    if len(marks) == 1:
        if _leads(search, marks[0], trimmed):
            search.found.append((marks[0], trimmed))
            return True
        return False
    before = len(search.found)
    for cut in _cuts(search, trimmed, marks):
        first, second = _halves(trimmed, cut)
        upper = [mark for mark in marks if _start(mark, cut.axis) < cut.at]
        lower = [mark for mark in marks if _start(mark, cut.axis) >= cut.at]
        if _split(search, first, upper) and _split(search, second, lower):
            return True
        del search.found[before:]
    search.failed.add((trimmed, tuple(marks)))
    return False


def _leads(search: _Search, mark: Letter, region: Region) -> bool:
    """Whether a mark stands at the upper left (or middle) of a region large enough to be a panel."""
    height, width = search.ground.shape
    across, down = region.right - region.left, region.bottom - region.top
    if across < _MIN_SIDE * width or down < _MIN_SIDE * height:
        return False
    lead_x, lead_y = (_TIGHT, _TIGHT) if search.is_tight else (_LEAD_X, _LEAD_Y)
    if mark.top - region.top > max(lead_y * down, mark.size):
        return False
    if search.is_centred:
        off = (mark.left + mark.right - region.left - region.right) / 2
        return abs(off) <= _CENTRE * across
    return mark.left - region.left <= lead_x * across


def _cuts(search: _Search, region: Region, marks: Sequence[Letter]) -> list[_Cut]:
    """Possible cuts between marks, empty gutters first, the widest first."""
    cuts = [cut for axis in (0, 1) for cut in _cuts_along(search, region, marks, axis)]
    return sorted(cuts, key=lambda cut: (cut.level, -cut.width, cut.axis, cut.at))


def _cuts_along(search: _Search, region: Region, marks: Sequence[Letter], axis: int) -> Iterator[_Cut]:
    """For each gap between marks along an axis, the best line to cut shortly before the next mark."""
    ground = search.ground
    offset = region.top if axis == 0 else region.left
    length = (region.right - region.left) if axis == 0 else (region.bottom - region.top)
    used = ground.used(region, axis)
    is_between = search.is_centred and axis == 1
    reach = ground.shape[axis] if is_between else _REACH * ground.shape[axis]
    ordered = sorted(marks, key=lambda mark: (_start(mark, axis), mark.letter))
    for number in range(1, len(ordered)):
        free = max(_end(mark, axis) for mark in ordered[:number])
        following = _start(ordered[number], axis)
        if following <= free:
            continue
        for level, most in enumerate((0, _SPECKS * length)[: search.level + 1]):
            gap = _gap(used <= most, offset, free, following, reach)
            if gap is not None:
                middle = (gap[0] + gap[1]) // 2 if level else gap[1]
                yield _Cut(level, gap[1] - gap[0], axis, min(middle, following))
                break
        else:
            if search.level > 1:
                yield from _edge(
                    ground.steps(region, axis), offset, axis, (max(free, following - reach), following)
                )


def _gap(empty: Mask, offset: int, free: int, following: int, reach: float) -> tuple[int, int] | None:
    """The widest empty run between a mark's end and the next one's start, not far before the latter."""
    near = [
        (min(end, following) - max(start, free), end)
        for start, end in ((start + offset, end + offset) for start, end in runs(empty))
        if min(end, following) > max(start, free) and following - min(end, following) <= reach
    ]
    if not near:
        return None
    width, end = max(near)
    return min(end, following) - width, min(end, following)


def _edge(
    steps: npt.NDArray[np.float64], offset: int, axis: int, between: tuple[float, float]
) -> Iterator[_Cut]:
    """The strongest straight edge between two positions, when it stands out from its surroundings."""
    start, end = max(int(between[0]) - offset, 1), min(int(between[1]) - offset + 1, len(steps))
    if end <= start:
        return
    at = start + int(steps[start:end].argmax())
    if steps[at] >= _EDGE * max(float(np.median(steps)), 1.0):
        yield _Cut(2, float(steps[at]), axis, at + offset)


def _start(mark: Letter, axis: int) -> int:
    bracket = round(_BRACKET * (mark.bottom - mark.top)) if mark.is_bracketed else 0
    return mark.top if axis == 0 else max(mark.left - bracket, 0)


def _end(mark: Letter, axis: int) -> int:
    return mark.bottom if axis == 0 else mark.right


def _halves(region: Region, cut: _Cut) -> tuple[Region, Region]:
    if cut.axis == 0:
        return region._replace(bottom=cut.at), region._replace(top=cut.at)
    return region._replace(right=cut.at), region._replace(left=cut.at)


def runs(mask: Mask) -> list[tuple[int, int]]:
    """Start and end of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]
