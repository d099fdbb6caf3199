"""Bars with intervals as inline SVG text: horizontal, one group per row label, one bar per system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

LABEL, WIDTH, VALUE = 210, 430, 60
_BAR, _GAP, _TOP, _FOOT = 13, 10, 6, 22
_LONGEST = 32


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. `series` picks the colour; a mean of None draws nothing but a dash."""

    series: int
    mean: float | None
    low: float | None
    high: float | None
    title: str


@dataclass(frozen=True, slots=True)
class Row:
    """Bars under one label."""

    label: str
    bars: Sequence[Bar]


def bars(rows: Sequence[Row], title: str) -> Markup:
    """A bar chart of values in 0 to 1. Everything shown is escaped."""
    heights = [len(row.bars) * _BAR + _GAP for row in rows]
    height = _TOP + sum(heights) + _FOOT
    parts = [
        f'<svg class="plot" viewBox="0 0 {LABEL + WIDTH + VALUE} {height}" role="img" '
        f'aria-label="{escape(title)}">',
        *_axis(height - _FOOT),
    ]
    top = float(_TOP)
    for row, tall in zip(rows, heights, strict=True):
        middle = top + (tall - _GAP) / 2
        parts.append(
            f'<text class="label" x="{LABEL - 8}" y="{middle + 4:.1f}">{escape(_short(row.label))}</text>'
        )
        for place, bar in enumerate(row.bars):
            parts += _bar(bar, top + place * _BAR)
        top += tall
    return Markup("".join([*parts, "</svg>"]))


def _axis(bottom: float) -> list[str]:
    parts = []
    for step in range(6):
        x = LABEL + WIDTH * step / 5
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom:.1f}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 15:.1f}">{step / 5:.1f}</text>')
    return parts


def _bar(bar: Bar, top: float) -> list[str]:
    middle = top + _BAR / 2 - 1
    if bar.mean is None:
        return [f'<text class="value" x="{LABEL + 4}" y="{middle + 4:.1f}">–</text>']
    width = WIDTH * min(1.0, max(0.0, bar.mean))
    parts = [
        f'<rect class="series-{bar.series % 8}" x="{LABEL}" y="{top:.1f}" width="{width:.1f}" '
        f'height="{_BAR - 2}"><title>{escape(bar.title)}</title></rect>'
    ]
    end = LABEL + width
    if bar.low is not None and bar.high is not None:
        left, right = (LABEL + WIDTH * value for value in (bar.low, bar.high))
        parts.append(
            f'<path class="interval" d="M{left:.1f} {middle:.1f}H{right:.1f}M{left:.1f} {middle - 3:.1f}v6'
            f'M{right:.1f} {middle - 3:.1f}v6"/>'
        )
        end = max(end, right)
    parts.append(f'<text class="value" x="{end + 5:.1f}" y="{middle + 4:.1f}">{bar.mean:.3f}</text>')
    return parts


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
