"""What a rule is, what it may look at, and how it reports.

A rule reads published files through a Context and returns an Outcome; what it cannot read makes it not_run.
Every rule says how to plant a defect it must find (its canaries): a rule without canaries proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from curation.audit.dataset import Dataset
from curation.published.manifest import ReleaseManifest
from curation.published.query import QueryRunner
from curation.similarity.text.sketch import Texts
from schemas.audit import Coverage, Finding, OverlapCell, RuleStatus, Severity, Side
from schemas.tables import PROVENANCE

MAX_EXAMPLES = 50
MAX_QUOTE = 300
OPTIONAL = frozenset(table.name for table in PROVENANCE if table.is_optional and table.step == "write")
"""Tables a release has only when its task needs them."""


class CannotRun(Exception):  # noqa: N818 - a reason, not a fault
    """A rule cannot run although it should; the text says why."""

    status: RuleStatus = "not_run"


class NotCovered(CannotRun):
    """The rule needs what these files do not hold, e.g. a sibling task or provenance."""

    status = "not_covered"


class NotAsked(CannotRun):
    """The rule needs an input the user did not name."""

    status = "not_asked"


class NotApplicable(CannotRun):
    """The rule has nothing to say about this task."""

    status = "not_applicable"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rule looked at and found; `findings` are the first examples in id order.

    `missed` says what was not covered although the rest was: the rule is then not_covered unless it found
    something. `nothing` says why there was nothing to compare (`compared` is 0): it is then not_applicable.
    """

    compared: int
    found: int
    findings: tuple[Finding, ...] = ()
    note: str = ""
    coverage: tuple[Coverage, ...] = ()
    missed: str = ""
    matrix: tuple[OverlapCell, ...] = ()
    nothing: str = ""


Rows = dict[str, list[dict[str, Any]]]
"""Table name -> rows of a small copy of the release, to be damaged in place."""


SECONDS = ("sibling", "against", "hashlist")


@dataclass(frozen=True, slots=True)
class Canary:
    """One defect to plant.

    `plant` changes rows of the copy and returns the ids the rule must name, or None when this release has
    nothing it could be planted in (the note then says so; it counts as neither found nor missed).
    What is planted in an invented second dataset (empty tables at first) makes it a sibling task of the copy,
    another benchmark, or the hash list of one.
    `files` instead damages the copy's directory itself, for rules on files.
    """

    name: str
    plant: Callable[[Rows, Rows], Sequence[str] | None] | None = None
    second: str = ""
    """'' when one dataset is enough, else the role of the second: one of `SECONDS`."""
    files: Callable[[Path], Sequence[str] | None] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One check. `unit` says what `compared` counts; `per_task` overrides the severity by task name.

    A release is publishable only when every rule that `is_required` looked at it, or has nothing to say about
    its task. Rules that need what only their user can name (`--against`) are not.
    """

    id: str
    version: int
    title: str
    definition: str
    severity: Severity
    unit: str
    check: Callable[[Context], Outcome]
    canaries: tuple[Canary, ...] = ()
    per_task: Mapping[str, Severity] = field(default_factory=dict)
    is_required: bool = True

    def severity_for(self, task: str) -> Severity:
        """Severity of its findings in one task."""
        return self.per_task.get(task, self.severity)


@dataclass
class Context:
    """The published files of one task, those it is compared with, and what several rules share.

    `pool` runs module-level functions in other processes (or at once, in this one); `scratch` is an empty
    folder for intermediate files.
    """

    subject: Dataset
    query: QueryRunner
    scratch: Path
    pool: Executor
    siblings: Sequence[Dataset] = ()
    against: Sequence[Dataset] = ()
    shared: dict[tuple[str, ...], Any] = field(default_factory=dict)
    """What the audits of one command share, by the hashes of the datasets it was made of."""

    @property
    def directory(self) -> Path:
        """Folder of the audited files."""
        return self.subject.directory

    @property
    def manifest(self) -> ReleaseManifest:
        """The release's manifest.

        Raises:
            NotCovered: the audited files are not a release of ours.
        """
        if self.subject.manifest is None:
            raise NotCovered(f"a {self.subject.kind} dataset has no release.json")
        return self.subject.manifest

    @property
    def views(self) -> Mapping[str, Sequence[Path]]:
        """View name -> shards present."""
        return self.subject.views

    def batches(self, text: str, *tables: str) -> Iterator[pa.RecordBatch]:
        """Run SQL over some published tables.

        Raises:
            CannotRun: a table of a release is absent.
            NotCovered: the layout of the audited files has no such table.
        """
        absent = [name for name in tables if name not in self.views]
        if absent:
            listed = ", ".join(absent)
            if self.subject.kind == "release" and not OPTIONAL.issuperset(absent):
                raise CannotRun(f"table absent: {listed}")
            raise NotCovered(f"table absent: {listed}")
        return self.query(text, {name: self.views[name] for name in tables})

    def rows(self, text: str, *tables: str) -> list[dict[str, Any]]:
        """All rows of a small result."""
        return [row for batch in self.batches(text, *tables) for row in batch.to_pylist()]

    def count(self, table: str) -> int:
        """Number of rows of a table."""
        return int(self.rows(f"SELECT count(*) AS n FROM {table}", table)[0]["n"])

    @cached_property
    def queries(self) -> Texts:
        """Every query's text, sketched once for all rules."""
        return self.texts("queries")

    @cached_property
    def corpus(self) -> Texts:
        """Every document's text, sketched once for all rules."""
        return self.texts("corpus")

    def texts(self, table: str) -> Texts:
        """Texts of a table, read by row group.

        Raises:
            CannotRun: the table or its text column is absent.
        """
        for _ in self.batches(f"SELECT id, text FROM {table} LIMIT 0", table):
            pass
        return Texts(table, files=self.views[table], pool=self.pool)


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
    table: str,
    row_id: object,
    text: object = "",
    start: int | None = None,
    end: int | None = None,
    *,
    dataset: str = "",
) -> Side:
    """One side of a finding; the quote is the given span, or the beginning of the text."""
    words = "" if text is None else str(text)
    quote = words[start:end] if start is not None else words
    return Side(table=table, id=str(row_id), start=start, end=end, quote=quote[:MAX_QUOTE], dataset=dataset)


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
