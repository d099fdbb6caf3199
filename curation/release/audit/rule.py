"""What a rule is, what it may look at, and how it reports.

A rule reads published files through a Context and returns an Outcome; what it cannot read makes it not_run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from curation.release.audit.ngrams import TextProfile, profile
from curation.release.facts import views
from curation.release.manifest import ReleaseManifest
from curation.release.query import QueryRunner, fetch
from schemas.audit import Finding, Severity, Side

MAX_EXAMPLES = 50
MAX_QUOTE = 300


class CannotRun(Exception):  # noqa: N818 - a reason, not a fault
    """A rule cannot run; the text says why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rule looked at and found; `findings` are the first examples in id order."""

    compared: int
    found: int
    findings: tuple[Finding, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One check. `unit` says what `compared` counts."""

    id: str
    version: int
    title: str
    definition: str
    severity: Severity
    unit: str
    check: Callable[[Context], Outcome]


@dataclass
class Context:
    """The published files of one task directory, and what several rules share."""

    directory: Path
    manifest: ReleaseManifest
    query: QueryRunner

    @cached_property
    def views(self) -> Mapping[str, Sequence[Path]]:
        """View name -> shards present."""
        return views(self.directory)

    def batches(self, text: str, *tables: str) -> Iterator[pa.RecordBatch]:
        """Run SQL over some published tables.

        Raises:
            CannotRun: a table is absent.
        """
        absent = [name for name in tables if name not in self.views]
        if absent:
            raise CannotRun(f"table absent: {', '.join(absent)}")
        return self.query(text, {name: self.views[name] for name in tables})

    def rows(self, text: str, *tables: str) -> list[dict[str, Any]]:
        """All rows of a small result."""
        return [row for batch in self.batches(text, *tables) for row in batch.to_pylist()]

    def count(self, table: str) -> int:
        """Number of rows of a table."""
        return int(self.rows(f"SELECT count(*) AS n FROM {table}", table)[0]["n"])

    @cached_property
    def queries(self) -> TextProfile:
        """Tokens of every query, hashed, in id order."""
        return profile(self.batches("SELECT id, text FROM queries ORDER BY id", "queries"))

    @cached_property
    def corpus(self) -> TextProfile:
        """Tokens of every document, hashed, in id order, with the spans they share with queries."""
        return profile(
            self.batches("SELECT id, text FROM corpus ORDER BY id", "corpus"), probe=self.queries.grams
        )


@dataclass
class Collector:
    """Counts every finding and keeps the first few as examples."""

    rule: str
    severity: Severity
    found: int = 0
    kept: list[Finding] = field(default_factory=list)

    def add(self, message: str, *sides: Side) -> None:
        """Count one finding."""
        self.found += 1
        if len(self.kept) < MAX_EXAMPLES:
            self.kept.append(Finding(rule=self.rule, severity=self.severity, message=message, sides=sides))

    def outcome(self, compared: int, note: str = "") -> Outcome:
        """The result so far."""
        return Outcome(compared, self.found, tuple(self.kept), note)


def side(
    table: str, row_id: object, text: object = "", start: int | None = None, end: int | None = None
) -> Side:
    """One side of a finding; the quote is the given span, or the beginning of the text."""
    words = "" if text is None else str(text)
    quote = words[start:end] if start is not None else words
    return Side(table=table, id=str(row_id), start=start, end=end, quote=quote[:MAX_QUOTE])


Describe = Callable[[Mapping[str, Any]], tuple[str, tuple[Side, ...]]]


@dataclass(frozen=True, slots=True)
class SqlCheck:
    """A rule told in SQL: `violations` selects one row each, `order` makes the examples repeatable."""

    rule: str
    severity: Severity
    tables: tuple[str, ...]
    compared: str
    violations: str
    order: str
    describe: Describe

    def __call__(self, context: Context) -> Outcome:
        """Run it."""
        compared = context.rows(self.compared, *self.tables)[0]["n"]
        found = context.rows(f"SELECT count(*) AS n FROM ({self.violations})", *self.tables)[0]["n"]
        rows = (
            context.rows(f"{self.violations} ORDER BY {self.order} LIMIT {MAX_EXAMPLES}", *self.tables)
            if found
            else []
        )
        examples = []
        for row in rows:
            message, sides = self.describe(row)
            examples.append(Finding(rule=self.rule, severity=self.severity, message=message, sides=sides))
        return Outcome(int(compared), int(found), tuple(examples))


__all__ = ["CannotRun", "Collector", "Context", "Outcome", "Rule", "SqlCheck", "fetch", "side"]
