"""Everything that differs between two releases of a task, row by row; from the published files alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.changes import rows_sql
from curation.changes.columns import of_columns
from curation.changes.counts import COMPARED, Count, is_same, of_rows
from curation.changes.heads import is_other_rule, of_heads
from curation.changes.levels import LEVELS, Level, largest
from curation.changes.reasons import MEANINGS, Why
from curation.changes.sides import Sides
from curation.published.links import refuse_links_out
from curation.published.manifest import ReleaseManifest, read_manifest
from curation.published.query import QueryRunner
from schemas.tables import DERIVED, PROVENANCE

_TOLD = (*COMPARED, *DERIVED, *(table for table in PROVENANCE if table.step == "derive"))


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """One row that is new, gone or another.

    `key` is the id, or what the table's rows are sorted by, with spaces between; `fields` are the columns
    that differ; `before` and `after` are grade, status and rule of a label.
    """

    table: str
    key: str
    change: str
    reason: str
    detail: str
    fields: tuple[str, ...]
    level: Level
    before: str
    after: str

    def content(self) -> dict[str, Any]:
        """Plain values; what says nothing is left out."""
        told = {"table": self.table, "key": self.key, "change": self.change, "reason": self.reason}
        more = {"detail": self.detail, "fields": list(self.fields), "from": self.before, "to": self.after}
        return {**told, "level": self.level, **{name: value for name, value in more.items() if value}}


@dataclass(frozen=True, slots=True)
class Difference:
    """Two releases of one task: what differs in words, in counts, and by row in the order of the tables."""

    old: ReleaseManifest
    new: ReleaseManifest
    level: Level
    notes: tuple[str, ...]
    counts: tuple[Count, ...]
    rows: tuple[ChangedRow, ...]

    @property
    def is_child(self) -> bool:
        """Whether the later release was made after the earlier one, as it states itself."""
        return bool(self.new.change) and self.new.change.get("parent", "") == self.old.release_hash

    def content(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "dataset": self.new.dataset,
            "task": self.new.task,
            "from": {"version": self.old.version, "release_hash": self.old.release_hash},
            "to": {"version": self.new.version, "release_hash": self.new.release_hash},
            "is_child": self.is_child,
            "level": self.level,
            "notes": list(self.notes),
            "counts": [{**item.content(), "level": item.level} for item in self.counts],
            "rows": [row.content() for row in self.rows],
            "reasons": {reason: MEANINGS[Why(reason)] for reason in sorted({c.reason for c in self.counts})},
        }


def difference(old: Path, new: Path, query: QueryRunner) -> Difference:
    """What differs between two task folders of releases.

    Args:
        old: the earlier one.
        new: the later one.
        query: runs SQL over Parquet.

    Raises:
        ReleaseError: one of them is no release.
    """
    for directory in (old, new):
        refuse_links_out(directory)
    heads = read_manifest(old), read_manifest(new)
    sides = Sides(old, new, heads, query)
    by_rule = is_other_rule(*heads)
    told, _ = of_rows(sides, by_rule)
    found = sorted([*told, *of_columns(old, new), *of_heads(*heads)], key=lambda item: -LEVELS.index(item[0]))
    rows = tuple(_rows(sides, by_rule))
    level = largest(level for level, _ in found)
    return Difference(*heads, level, tuple(note for _, note in found), _counted(rows), rows)


def _rows(sides: Sides, by_rule: bool) -> Iterator[ChangedRow]:
    for table in _TOLD:
        if not all(sides.has(table)) or is_same(table, sides):
            continue
        text = f"FROM ({rows_sql.of_table(sides, table, by_rule)}) ORDER BY key, change"
        for row in sides.rows(f"SELECT * {text}"):
            ends = {"before": row.pop("from"), "after": row.pop("to")}
            yield ChangedRow(table.name, **{**row, **ends, "fields": tuple(row["fields"] or ())})


def _counted(rows: tuple[ChangedRow, ...]) -> tuple[Count, ...]:
    """Rows that changed alike, in the order of the tables, the largest step first."""
    found: dict[tuple[str, str, str, Level, bool], int] = {}
    for row in rows:
        key = (row.table, row.change, row.reason, row.level, "split" in row.fields)
        found[key] = found.get(key, 0) + 1
    order = {table.name: number for number, table in enumerate(_TOLD)}
    made = [Count(*key, number) for key, number in found.items()]
    return tuple(
        sorted(made, key=lambda c: (order[c.table], -LEVELS.index(c.level), c.change, c.reason, c.is_moved))
    )
