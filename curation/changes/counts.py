"""How many rows of each table changed, by what happened, why and how large a step that is; in words too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from curation.changes import rows_sql
from curation.changes.heads import Found
from curation.changes.levels import LEVELS, Level
from curation.changes.reasons import Why
from curation.changes.sides import Sides
from schemas.hashing import sha256_file
from schemas.published import Published
from schemas.tables import CORPUS, EXCLUDED, EXTRA, PROVENANCE, QRELS, QUERIES
from schemas.wording import counted

_NAMES = {
    QUERIES.name: ("query", "queries"),
    CORPUS.name: ("document", "documents"),
    QRELS.name: ("labels", "labels"),
    EXCLUDED.name: ("excluded pairs", "excluded pairs"),
}
_TOLD = {QRELS.name: "with another rule or status", EXCLUDED.name: "with another reason"}
_SIGNS = {"added": "+", "removed": "−"}
_OTHERS = tuple(table for table in (*EXTRA, *PROVENANCE) if table.step != "derive")
COMPARED = (QUERIES, CORPUS, QRELS, EXCLUDED, *_OTHERS)
"""Tables whose rows are compared, in the order in which they are told of."""


@dataclass(frozen=True, slots=True)
class Count:
    """Rows of one table that changed alike."""

    table: str
    change: str
    reason: str
    level: Level
    is_moved: bool
    rows: int

    def content(self) -> dict[str, str | int]:
        """Plain values."""
        return {"table": self.table, "change": self.change, "reason": self.reason, "rows": self.rows}


def is_same(table: Published, sides: Sides) -> bool:
    """Whether both releases have the same bytes of a table, or neither has it."""
    old, new = (
        [sha256_file(path) for path in sides.files.get(f"{side}_{table.name}", ())] for side in ("old", "new")
    )
    return old == new


def count(table: Published, sides: Sides, is_other_rule: bool) -> list[Count]:
    """Counts of a table that both releases have."""
    if is_same(table, sides):
        return []
    text = f"""SELECT change, reason, level, list_contains(fields, 'split') AS is_moved, count(*) AS n
        FROM ({rows_sql.of_table(sides, table, is_other_rule, is_told=False)}) GROUP BY ALL ORDER BY ALL"""
    found = [
        Count(table.name, row["change"], row["reason"], row["level"], bool(row["is_moved"]), row["n"])
        for row in sides.rows(text)
    ]
    return sorted(found, key=lambda item: (-LEVELS.index(item.level), item.change, item.reason))


def of_rows(sides: Sides, is_other_rule: bool) -> tuple[list[Found], list[Count]]:
    """Level and words of what became of the rows, and the counts they are told from."""
    found: list[Found] = []
    counts: list[Count] = []
    others: list[str] = []
    for table in COMPARED:
        before, after = sides.has(table)
        if before and after:
            mine = count(table, sides, is_other_rule)
            counts += mine
            if table.name in _NAMES:
                found += _told(table, mine)
            elif mine:
                others.append(table.name)
        elif before != after and (table not in EXTRA or after):  # one of EXTRA that is gone: `of_columns`
            found.append(("patch", f"table {table.name} is {'new' if after else 'gone'}"))
    if others:
        found.append(("patch", f"rows of {', '.join(others)} differ"))
    return found, counts


def _told(table: Published, counts: Sequence[Count]) -> Iterator[Found]:
    """Words on one of the four tables that measures rest on, by level."""
    for level in reversed(LEVELS):
        mine = [item for item in counts if item.level == level]
        if not mine:
            continue
        if table in (QUERIES, CORPUS):
            yield from ((level, words) for words in _of_texts(table, level, mine))
        else:
            yield level, _of_pairs(table, level, mine)


def _of_texts(table: Published, level: Level, counts: Sequence[Count]) -> Iterator[str]:
    singular, plural = _NAMES[table.name]
    moved = sum(item.rows for item in counts if item.is_moved)
    if moved:
        yield f"{counted(moved, singular, plural)} in another split"
    for change, sign in _SIGNS.items():
        rows = sum(item.rows for item in counts if item.change == change)
        if rows:
            yield f"{sign}{counted(rows, singular, plural)}{' withdrawn' if level == 'patch' else ''}"
    rows = sum(item.rows for item in counts if item.change == "changed" and not item.is_moved)
    if rows and level == "major":
        yield f"{counted(rows, singular, plural)} changed"
    elif rows:
        yield f"facets, licence or source of {counted(rows, singular, plural)} changed"


def _of_pairs(table: Published, level: Level, counts: Sequence[Count]) -> str:
    said = []
    for change, sign in _SIGNS.items():
        rows = sum(item.rows for item in counts if item.change == change)
        if rows:
            said.append(f"{sign}{rows:,}{' withdrawn' if change == 'removed' and level == 'patch' else ''}")
    changed = sum(item.rows for item in counts if item.change == "changed")
    if changed:
        said.append(f"{changed:,} {'changed' if level == 'major' else _TOLD[table.name]}")
    reviewed = sum(item.rows for item in counts if item.reason == Why.REVIEW)
    told = f"{_NAMES[table.name][0]} {' '.join(said)}"
    if reviewed:
        return f"{told} ({reviewed:,} by review)"
    return told
