"""What release.json says of the change since the release before: its level, in words and in counts.

A dataset has one version over all its tasks. Against the newest release before it, each task's change is the
largest level that holds; the dataset's change is the largest of its tasks'. The first release is 1.0.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curation.changes.columns import of_columns
from curation.changes.counts import Count, of_rows
from curation.changes.heads import Found, is_other_rule, of_heads
from curation.changes.levels import LEVELS, Level, largest
from curation.changes.reasons import Why
from curation.changes.rows_sql import of_table
from curation.changes.sides import Sides
from curation.published.manifest import ReleaseManifest, read_manifest
from curation.published.query import QueryRunner
from schemas.tables import CORPUS, MAIN, QUERIES

FIRST = "1.0.0"
_MAIN = frozenset(table.name for table in MAIN)
_NAMED = 20
"""Withdrawn rows that release.json names; `medqrels diff` has all."""


@dataclass(frozen=True, slots=True)
class Change:
    """What differs from the release `previous`, in words; the words of the largest level come first.

    `parent` is the release hash of that release; `counts` are rows of the four main tables, as the words were
    told from them; `withdrawn` are the first queries and documents that were, each with its reason, and
    `more_withdrawn` counts the others; `earlier` is what that release said of itself, newest first.
    """

    previous: str
    level: Level
    notes: tuple[str, ...]
    parent: str = ""
    counts: tuple[Count, ...] = ()
    withdrawn: tuple[Mapping[str, str], ...] = ()
    more_withdrawn: int = 0
    earlier: tuple[Mapping[str, Any], ...] = ()

    def content(self) -> dict[str, Any]:
        """Plain values, as release.json holds them."""
        return {
            "previous": self.previous,
            "parent": self.parent,
            "level": self.level,
            "notes": list(self.notes),
            "counts": [item.content() for item in self.counts],
            "withdrawn": [dict(item) for item in self.withdrawn],
            "more_withdrawn": self.more_withdrawn,
            "earlier": [dict(item) for item in self.earlier],
        }


def new_task(previous: str) -> Change:
    """The change of a task that the earlier release did not have: its rows were added."""
    return Change(previous, "minor", ("the task is new in the dataset",))


@dataclass(frozen=True, slots=True)
class Since:
    """What the change of a task is told from: what is `recorded` of it, or the release `before` it.

    `leaving` is a rule that review found too imprecise, whose labels leave; '' for none.
    """

    recorded: Mapping[str, Any] = field(default_factory=dict)
    before: Path | None = None
    leaving: str = ""

    def change(self, new: Path, head: ReleaseManifest, query: QueryRunner) -> Mapping[str, Any]:
        """What release.json holds of it; nothing in a first release.

        Args:
            new: the task directory in the making, its tables written.
            head: its release.json as far as it is known.
            query: runs SQL over Parquet.
        """
        if self.before is None:
            return self.recorded
        return compare(self.before, new, head, query, leaving=self.leaving).content()


def compare(old: Path, new: Path, head: ReleaseManifest, query: QueryRunner, *, leaving: str = "") -> Change:
    """How a task directory in the making differs from a published one of the same task.

    Args:
        old: the published task directory.
        new: the other one, its tables written; what baseline runs give may be missing.
        head: the release.json of `new` as far as it is known.
        query: runs SQL over Parquet.
        leaving: a rule that review found too imprecise, whose labels leave; '' for none.
    """
    before = read_manifest(old)
    told: Found = ("major", f"labels of the rule {leaving} leave: review found it too imprecise")
    sides, by_rule = Sides(old, new, (before, head), query), is_other_rule(before, head)
    rows, counts = of_rows(sides, by_rule)
    withdrawn = _withdrawn(sides, by_rule, counts)
    found = [*([told] if leaving else []), *rows, *of_columns(old, new), *of_heads(before, head)]
    found.sort(key=lambda item: -LEVELS.index(item[0]))  # stable: the order of looking within a level
    return Change(
        before.version,
        largest(level for level, _ in found),
        tuple(note for _, note in found),
        before.release_hash,
        tuple(item for item in counts if item.table in _MAIN),
        tuple(withdrawn[:_NAMED]),
        len(withdrawn[_NAMED:]),
        _earlier(before),
    )


def _withdrawn(sides: Sides, by_rule: bool, counts: Sequence[Count]) -> list[Mapping[str, str]]:
    """Withdrawn queries, then documents, each with the reason that was given."""
    found: list[Mapping[str, str]] = []
    for table in (QUERIES, CORPUS):
        if any(item.table == table.name and item.reason == Why.WITHDRAWAL for item in counts):
            rows = of_table(sides, table, by_rule)
            of_them = f"WHERE reason = '{Why.WITHDRAWAL}' ORDER BY id"
            text = f"SELECT key AS id, detail AS reason FROM ({rows}) {of_them}"
            found += [{"id": row["id"], "reason": row["reason"]} for row in sides.rows(text)]
    return found


def _earlier(before: ReleaseManifest) -> tuple[Mapping[str, Any], ...]:
    """What the earlier releases said of themselves, as the last of them tells it, newest first."""
    told = {name: value for name, value in before.change.items() if name != "earlier"}
    held: Sequence[Mapping[str, Any]] = before.change.get("earlier", ())
    return ({"version": before.version, **told}, *held)
