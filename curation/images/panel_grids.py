"""Finds panels that no letter marks: a full grid of as many photographs or charts as the caption names.

Each cell must hold one large thing (a photograph, a chart's axes with what touches them), all of comparable
size and in line; a figure with one more or one fewer of them is no such grid.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from curation.images.panel_cuts import Ground, Region, runs

_MIN_SIDE = 0.05
_FILLED = 0.97
_SAME_SIZE = 1.25
_COMPARABLE = 2.2
_SECOND = 0.5
_LINE_SHARE = 0.7
_COVER = 0.35
_FLUSH = 0.06
_EDGE = 3.0
_EDGE_NEAR = 8


def grid_regions(ground: Ground, count: int) -> tuple[Region, ...]:
    """The cells of a grid, in reading order, when it has exactly `count`; else ()."""
    height, width = ground.shape
    whole = ground.trimmed(Region(0, 0, width, height))
    if whole is None:
        return ()
    return (
        _strip_grid(ground, whole, count)
        or _thing_grid(ground, whole, count)
        or _edge_grid(ground, whole, count)
    )


def _strip_grid(ground: Ground, whole: Region, count: int) -> tuple[Region, ...]:
    """Filled rectangles of one size between empty gutters."""
    found = [
        part
        for row in _strips(ground, whole, 0)
        for column in _strips(ground, row, 1)
        if (part := ground.trimmed(column)) is not None
    ]
    if len(found) != count:
        return ()
    widths, heights = [part.right - part.left for part in found], [part.bottom - part.top for part in found]
    is_even = max(widths) <= _SAME_SIZE * min(widths) and max(heights) <= _SAME_SIZE * min(heights)
    are_photos = all(ground.ink[p.top : p.bottom, p.left : p.right].mean() >= _FILLED for p in found)
    return tuple(found) if is_even and are_photos and _are_large(ground, found) else ()


def _are_large(ground: Ground, found: Sequence[Region]) -> bool:
    height, width = ground.shape
    return all(
        part.right - part.left >= _MIN_SIDE * width and part.bottom - part.top >= _MIN_SIDE * height
        for part in found
    )


def _strips(ground: Ground, region: Region, axis: int) -> list[Region]:
    """A region cut at every empty run along an axis."""
    offset = region.top if axis == 0 else region.left
    used = ground.used(region, axis)
    bounds = [offset, *(offset + end for _, end in runs(used == 0)), offset + len(used)]
    return _between(region, axis, bounds)


def _between(region: Region, axis: int, bounds: Sequence[int]) -> list[Region]:
    pairs = [(start, end) for start, end in itertools.pairwise(bounds) if end > start]
    if axis == 0:
        return [region._replace(top=start, bottom=end) for start, end in pairs]
    return [region._replace(left=start, right=end) for start, end in pairs]


def _thing_grid(ground: Ground, whole: Region, count: int) -> tuple[Region, ...]:
    """A grid cut in the widest gutters between the `count` large things of a figure."""
    is_composite = any(count % side == 0 for side in range(2, count // 2 + 1))
    if not is_composite or not _has_bands(ground, whole):
        return ()
    rows = _rows(_things(ground, count))
    if len(rows) < 2 or len(rows[0]) < 2 or len({len(row) for row in rows}) != 1 or not _are_columns(rows):
        return ()
    lines = [
        (max(p.bottom for p in upper), min(p.top for p in lower)) for upper, lower in itertools.pairwise(rows)
    ]
    found: list[Region] = []
    bands = _cut_at_gaps(ground, whole, 0, lines)
    for band, row in zip(bands, rows, strict=bool(bands)):
        gaps = [(left.right, right.left) for left, right in itertools.pairwise(row)]
        found += _cut_at_gaps(ground, band, 1, gaps)
    trimmed = [part for region in found if (part := ground.trimmed(region)) is not None]
    is_grid = len(trimmed) == count and _are_large(ground, trimmed) and _are_flush(trimmed, len(rows[0]))
    return tuple(trimmed) if is_grid else ()


def _has_bands(ground: Ground, whole: Region) -> bool:
    """Whether two large bands fall into two large parts each: without them no search for things is needed."""
    height, width = ground.shape
    bands = [band for band in _strips(ground, whole, 0) if band.bottom - band.top >= _MIN_SIDE * height]
    parts = [
        [part for part in _strips(ground, band, 1) if part.right - part.left >= _MIN_SIDE * width]
        for band in bands
    ]
    return sum(len(row) >= 2 for row in parts) >= 2


def _are_flush(found: Sequence[Region], columns: int) -> bool:
    """Whether cells of a column share their sides, of a row their top and bottom: no legend sticks out."""
    across = all(
        abs(one - other) <= _FLUSH * min(a.right - a.left, b.right - b.left)
        for a, b in zip(found, found[columns:], strict=False)
        for one, other in ((a.left, b.left), (a.right, b.right))
    )
    down = all(
        abs(one - other) <= _FLUSH * min(a.bottom - a.top, b.bottom - b.top)
        for number, (a, b) in enumerate(itertools.pairwise(found), start=1)
        if number % columns
        for one, other in ((a.top, b.top), (a.bottom, b.bottom))
    )
    return across and down


def _things(ground: Ground, count: int) -> list[Region]:
    """The `count` largest connected things, when they are of comparable size and no other is; else []."""
    from scipy import ndimage  # slow to load, and most commands see no image

    labels, _ = ndimage.label(ground.ink, structure=np.ones((3, 3), dtype=int))
    places = ndimage.find_objects(labels)
    boxes = [Region(x.start, y.start, x.stop, y.stop) for y, x in places]
    boxes.sort(key=lambda box: (-_area(box), box))
    large: list[Region] = []
    for box in boxes[: 8 * count]:
        if not any(_contains(other, box) for other in large):
            large.append(box)
    if len(large) < count:
        return []
    chosen, rest = large[:count], large[count:]
    widths, heights = [b.right - b.left for b in chosen], [b.bottom - b.top for b in chosen]
    is_comparable = max(widths) <= _COMPARABLE * min(widths) and max(heights) <= _COMPARABLE * min(heights)
    stands_out = not rest or _area(rest[0]) <= _SECOND * _area(chosen[-1])
    covers = sum(_area(box) for box in chosen) >= _COVER * ground.ink.size
    return chosen if is_comparable and stands_out and covers else []


def _area(box: Region) -> int:
    return (box.right - box.left) * (box.bottom - box.top)


def _contains(outer: Region, inner: Region) -> bool:
    return (
        outer.left <= inner.left
        and outer.top <= inner.top
        and inner.right <= outer.right
        and inner.bottom <= outer.bottom
    )


def _rows(things: Sequence[Region]) -> list[list[Region]]:
    """Things whose vertical extents mostly overlap, each row from the left."""
    rows: list[list[Region]] = []
    for thing in sorted(things, key=lambda box: (box.top + box.bottom, box.left)):
        if rows and _overlap(thing, rows[-1][0], 0) >= _LINE_SHARE:
            rows[-1].append(thing)
        else:
            rows.append([thing])
    return [sorted(row, key=lambda box: box.left) for row in rows]


def _overlap(one: Region, other: Region, axis: int) -> float:
    """Common extent along an axis as a share of the shorter one."""
    if axis == 0:
        common = min(one.bottom, other.bottom) - max(one.top, other.top)
        return common / min(one.bottom - one.top, other.bottom - other.top)
    common = min(one.right, other.right) - max(one.left, other.left)
    return common / min(one.right - one.left, other.right - other.left)


def _are_columns(rows: Sequence[Sequence[Region]]) -> bool:
    """Whether things of every row stand under those of the first and apart from their neighbours."""
    under = all(
        _overlap(first, other, 1) >= _LINE_SHARE
        for row in rows[1:]
        for first, other in zip(rows[0], row, strict=True)
    )
    apart = all(left.right <= right.left for row in rows for left, right in itertools.pairwise(row))
    above = all(
        max(p.bottom for p in upper) <= min(p.top for p in lower) for upper, lower in itertools.pairwise(rows)
    )
    return under and apart and above


def _cut_at_gaps(ground: Ground, region: Region, axis: int, gaps: Sequence[tuple[int, int]]) -> list[Region]:
    """A region cut at the end of the widest empty run inside each gap; [] when a gap has none."""
    offset = region.top if axis == 0 else region.left
    empty = ground.used(region, axis) == 0
    bounds = [offset]
    for start, end in gaps:
        free = [(right - left, -left, right) for left, right in runs(empty[start - offset : end - offset])]
        if free:
            bounds.append(start + max(free)[2])
        elif start == end:
            bounds.append(start)
        else:
            return []
    return _between(region, axis, [*bounds, offset + len(empty)])


def _edge_grid(ground: Ground, whole: Region, count: int) -> tuple[Region, ...]:
    """Photographs that touch: straight edges from side to side make a grid of `count` cells."""
    if ground.ink[whole.top : whole.bottom, whole.left : whole.right].mean() < _FILLED:
        return ()
    across, down = (_edges(ground, whole, axis) for axis in (1, 0))
    if not across or not down or (len(across) + 1) * (len(down) + 1) != count:
        return ()
    bands = _between(whole, 0, [whole.top, *down, whole.bottom])
    found = [part for band in bands for part in _between(band, 1, [whole.left, *across, whole.right])]
    return tuple(found) if _are_large(ground, found) else ()


def _edges(ground: Ground, region: Region, axis: int) -> list[int]:
    """Where straight edges run from side to side of a region, its own margins apart."""
    steps = ground.steps(region, axis)
    offset = region.top if axis == 0 else region.left
    usual = max(float(np.median(steps)), 1.0)
    inner = _MIN_SIDE * len(steps)
    strong = [int(at) for at in np.flatnonzero(steps > _EDGE * usual) if inner <= at <= len(steps) - inner]
    groups: list[list[int]] = []
    for at in strong:
        if groups and at - groups[-1][-1] <= _EDGE_NEAR:
            groups[-1].append(at)
        else:
            groups.append([at])
    return [offset + (group[0] + group[-1] + 1) // 2 for group in groups]
