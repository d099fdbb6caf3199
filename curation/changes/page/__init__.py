"""Differences as one HTML page that loads nothing and runs no script; everything shown is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import jinja2

from curation.changes.difference import ChangedRow, Difference
from curation.changes.reasons import MEANINGS

SHOWN = 500
"""Rows shown of each table."""
_SIGNS = {"added": "+", "removed": "−", "changed": "~"}


def render_page(differences: Sequence[Difference], alone: Sequence[tuple[str, str]] = ()) -> str:
    """One document; the same differences give the same text.

    Args:
        differences: of one task each.
        alone: (task, version) of tasks that only one of the two releases has.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = [(difference, _tables(difference)) for difference in differences]
    template = environment.get_template("diff.html.jinja")
    return template.render(shown=shown, alone=alone, signs=_SIGNS, meanings=MEANINGS, most=SHOWN)


def _tables(difference: Difference) -> list[tuple[str, int, list[ChangedRow]]]:
    """(table, rows that differ, those that are shown)."""
    found = []
    for table, rows in groupby(difference.rows, key=lambda row: row.table):
        listed = list(rows)
        found.append((table, len(listed), listed[:SHOWN]))
    return found
