"""Plots as inline SVG text. They keep their type size at any width: places are percentages, not a viewBox.

The figures drawn stand as text beside each plot, so plots without a label of their own are hidden from
screen readers. Everything shown is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

_MARGIN = 3.0
_SPREAD = 100 - 2 * _MARGIN
SHADES = 5


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values and the ticks on it."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Where a value lies, in percent of the width; values outside lie on the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_MARGIN + _SPREAD * share, 3)


def agreement_axis(lows: Sequence[float]) -> Axis:
    """0 to 1 in steps of 0.2; from -0.6 or from -1 in steps of 0.5 when an interval reaches down there."""
    below = min([0.0, *lows])
    if below < -0.6:
        return Axis(-1.0, 1.0, (-1.0, -0.5, 0.0, 0.5, 1.0))
    steps = math.ceil(-below / 0.2 - 1e-9)
    return Axis(-0.2 * steps, 1.0, tuple(round(0.2 * step, 1) for step in range(-steps, 6)))


def seconds_axis(highest: float) -> Axis:
    """0 to a round number of seconds at or above the highest value, in at most five steps."""
    step = next(
        (unit * 10**power for power in range(7) for unit in (1, 2, 5) if 5 * unit * 10**power >= highest),
        10**7,
    )
    count = max(1, math.ceil(highest / step))
    return Axis(0.0, float(step * count), tuple(float(step * place) for place in range(count + 1)))


def scale_of(axis: Axis, *, digits: int = 1) -> Markup:
    """The axis' numbers, to stand above the rows of `whisker`."""
    parts = ['<svg class="axis" width="100%" height="18" aria-hidden="true">']
    for tick in axis.ticks:
        parts.append(f'<text x="{axis.place(tick)}%" y="13">{tick:.{digits}f}</text>')
    return Markup("".join([*parts, "</svg>"]))


def whisker(axis: Axis, value: float | None, low: float | None, high: float | None) -> Markup:
    """A dot with its interval; without a value only the grid."""
    parts = ['<svg class="whisker" width="100%" height="22" aria-hidden="true">']
    for tick in axis.ticks:
        kind = "zero" if tick == 0 else "grid"
        parts.append(_line(kind, axis.place(tick), 0, axis.place(tick), 22))
    if low is not None and high is not None:
        left, right = axis.place(low), axis.place(high)
        parts.append(_line("reach", left, 11, right, 11))
        parts += [_line("reach", end, 7, end, 15) for end in (left, right)]
    if value is not None:
        parts.append(f'<circle class="dot" cx="{axis.place(value)}%" cy="11" r="4.5"/>')
    return Markup("".join([*parts, "</svg>"]))


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1}%" y1="{y1}" x2="{x2}%" y2="{y2}"/>'


def stacked(counts: Sequence[int]) -> Markup:
    """One bar of shares, in the order given; part n has the class `part-n`, the last one `part-none`."""
    total = sum(counts)
    parts = ['<svg class="stacked" width="100%" height="20" aria-hidden="true">']
    start = 0.0
    for place, count in enumerate(counts):
        if not count:
            continue
        width = 100 * count / total
        kind = "none" if place == len(counts) - 1 else str(place)
        parts.append(f'<rect class="part-{kind}" x="{start:.3f}%" y="2" width="{width:.3f}%" height="16"/>')
        start += width
    return Markup("".join([*parts, "</svg>"]))


def drift(course: Sequence[int], limit: int, alarm: int | None, label: str) -> Markup:
    """The count after each gold answer as steps, with the limit and the answer that set off the alarm.

    Args:
        course: counts, in order of the answers.
        limit: the count at which the alarm sounds.
        alarm: position in `course` of the alarm, None without one.
        label: what a screen reader says.
    """
    top = max([limit * 1.25, *course])
    across = 100 / max(1, len(course))
    down = [round(100 - 100 * count / top, 3) for count in course]
    steps = "".join(f"V{y}H{(place + 1) * across:.3f}" for place, y in enumerate(down))
    edge = round(100 - 100 * limit / top, 3)
    parts = [
        f'<svg class="drift" width="100%" height="110" role="img" aria-label="{escape(label)}">',
        '<svg x="0" y="4" width="100%" height="102" viewBox="0 0 100 100" preserveAspectRatio="none">',
        '<line class="zero" x1="0" y1="100" x2="100" y2="100" vector-effect="non-scaling-stroke"/>',
        f'<line class="limit" x1="0" y1="{edge}" x2="100" y2="{edge}" vector-effect="non-scaling-stroke"/>',
        f'<path class="course" d="M0 100{steps}" vector-effect="non-scaling-stroke"/></svg>',
        f'<text class="note" x="2" y="{edge * 1.02 - 2:.1f}">limit {limit}</text>',
    ]
    if alarm is not None:
        x, y = (alarm + 0.5) * across, 4 + down[alarm] * 1.02
        parts.append(f'<circle class="alarm" cx="{x:.3f}%" cy="{y:.1f}" r="5"/>')
    return Markup("".join([*parts, "</svg>"]))


def shade(count: int, total: int) -> int:
    """How dark a cell of a heat map is: 0 when nothing is in it, else 1 to 5 by its share of all."""
    if not count or not total:
        return 0
    return min(SHADES, 1 + int(count / total * 2 * SHADES))
