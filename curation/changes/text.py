"""A difference as text for people: words and counts first, then rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from curation.changes.difference import ChangedRow, Difference
from schemas.wording import counted

SHOWN = 20
"""Rows shown of each table; --json has all."""
_SIGNS = {"added": "+", "removed": "−", "changed": "~"}


def describe(difference: Difference, shown: int = SHOWN) -> str:
    """The text; `shown` rows of each table."""
    return "\n".join(_lines(difference, shown))


def _lines(difference: Difference, shown: int) -> Iterator[str]:
    old, new = difference.old, difference.new
    yield f"{new.dataset}/{new.task} {old.version} → {new.version}: {difference.level}"
    if difference.new.change and not difference.is_child:
        yield f"  {new.version} was not made after this {old.version}; its parent is {_parent(difference)}"
    yield from (f"  {note}" for note in difference.notes)
    if not difference.rows:
        yield "  no row differs"
        return
    yield from _counts(difference)
    for table, rows in groupby(difference.rows, key=lambda row: row.table):
        yield from ("", table)
        listed = list(rows)
        yield from (f"  {told(row)}" for row in listed[:shown])
        if len(listed) > shown:
            yield f"  … {counted(len(listed) - shown, 'further row')}: --json has all"


def _parent(difference: Difference) -> str:
    change = difference.new.change
    return f"{change.get('previous', '?')} {str(change.get('parent', ''))[:12]}".strip()


def _counts(difference: Difference) -> Iterator[str]:
    rows = [("table", "what", "why", "step", "rows")]
    rows += [
        (item.table, item.change, item.reason, item.level, f"{item.rows:,}") for item in difference.counts
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(5)]
    yield ""
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:4], widths, strict=False)]
        yield f"  {'  '.join(cells)}  {row[4].rjust(widths[4])}"


def told(row: ChangedRow) -> str:
    """One row on one line."""
    ends = f"  {row.before or '∅'} → {row.after or '∅'}" if row.before or row.after else ""
    fields = f"  [{', '.join(row.fields)}]" if row.fields else ""
    detail = f" ({row.detail})" if row.detail else ""
    return f"{_SIGNS[row.change]} {row.key}{ends}{fields}  {row.reason}{detail}"
