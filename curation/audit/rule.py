"""What a rule is, what it may look at, and how it reports.

A rule reads published files through a Context and returns an Outcome; what it cannot read makes it not_run.
It is a list of checks, and every check names a defect that this very check must find: one without cannot be
made.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.dataset import Dataset
from curation.published.manifest import ReleaseManifest
from curation.published.query import QueryRunner, Row, Sandbox, Stored, fetch
from curation.similarity.text.sketch import Texts
from schemas.audit import Coverage, Finding, OverlapCell, RuleStatus, Severity, Side
from schemas.tables import PROVENANCE

MAX_EXAMPLES = 50
MAX_QUOTE = 300
OPTIONAL = frozenset(table.name for table in PROVENANCE if table.is_optional and table.step == "write")
"""Tables a release has only when its task needs them."""


SPLITS = ("test", "dev")
_NAME = re.compile(r"(?<![\w-])[a-z]\w*(?![\w-])")


class CannotRun(Exception):  # noqa: N818 - a reason, not a fault
    """A rule cannot run although it should; the text says why."""

    status: RuleStatus = "not_run"


class NotCovered(CannotRun):
    """The rule needs what these files do not hold, e.g. a sibling task or provenance."""

    status = "not_covered"


def since(format_version: int, context: Context, what: str) -> None:
    """Go on only with a release of this format of release.json or a later one.

    Raises:
        NotCovered: it is older, so its `what` is another: the version that wrote it checks that.
    """
    found = context.manifest.format_version
    if found < format_version:
        raise NotCovered(f"a release of format {found} has another {what}, or none")


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
"""Table name -> rows of a small copy of the release."""


@dataclass(frozen=True, slots=True)
class FileDefect:
    """One defect to plant into the files of a release.

    `damage` changes the folder of a copy and returns the ids that the check must name, or None when there is
    nothing it could be planted in.
    """

    name: str
    damage: Callable[[Path], Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect to plant into tables of a sandbox; what it changed is undone afterwards.

    `plant` is SQL (UPDATE, INSERT, DELETE; several parted by semicolons) whose last statement returns the ids
    that the check must name, or a function that does the same. No id: these tables have nothing it could be
    planted in (it then counts as neither found nor missed, and is planted in invented ones).
    """

    name: str
    plant: str | Callable[[Sandbox], Sequence[str] | None]
    stated: Mapping[str, Any] = field(default_factory=dict)
    """Fields of release.json as they are then."""
    files: Callable[[Path, Sequence[str]], None] | None = None
    """Writes files beside the tables, into an empty folder; it is told the ids."""
    second: str = ""
    """'' when one dataset is enough, else what the tables of schema `second` (empty at first, planted into as
    `second.corpus`) are: sibling (a task of the same release), against (another benchmark) or hashlist (its
    hash list)."""

    def ids(self, tables: Sandbox) -> list[str]:
        """Plant it; the ids that must be named."""
        if not isinstance(self.plant, str):
            return list(self.plant(tables) or ())
        rows = tables.run(self.plant)
        return [str(value) for row in rows for value in row.values() if value is not None]


Proof = Defect | FileDefect


@dataclass(frozen=True, slots=True)
class Check:
    """What must not be, how it is found, and the defect (or several) that this very check must find.

    `name` is the message of a finding; `{column}` in it stands for a value of the row. `test` is SQL that
    selects one violation a row (see `curation.audit.checks`), a function that gives such SQL ('' when these
    files have nothing to check), or a function that gives an Outcome. With `of`, it is a condition on rows of
    that SELECT, which all neighbours with the same `of` share in one scan.

    Raises:
        ValueError: no defect is named.
    """

    name: str
    test: str | Callable[[Context], str | Outcome]
    defect: Proof | tuple[Proof, ...]
    of: str = ""
    at_once: bool = False
    """Whether its defects are in rows of their own, so that all can be planted before it runs once."""

    def __post_init__(self) -> None:
        if not self.defects:
            raise ValueError(f"the check '{self.name}' names no defect that it must find")
        if self.of and not isinstance(self.test, str):
            raise ValueError(f"the check '{self.name}' is a function, not a condition on rows of a SELECT")

    @property
    def defects(self) -> tuple[Proof, ...]:
        """Every defect it must find."""
        return self.defect if isinstance(self.defect, tuple) else (self.defect,)


@dataclass(frozen=True, slots=True)
class Rule:
    """Some checks. `unit` says what `compared` counts; `per_task` overrides the severity by task name.

    A release is publishable only when every rule that `is_required` looked at it, or has nothing to say about
    its task. Rules that need what only their user can name (`--against`) are not.
    """

    id: str
    version: int
    title: str
    definition: str
    severity: Severity
    unit: str
    per_task: Mapping[str, Severity] = field(default_factory=dict)
    is_required: bool = True
    checks: tuple[Check, ...] = ()
    compared: str | Callable[[Context], str] = ""
    """SQL that selects what is compared, a row each, or a function that gives it; '' when checks count it."""
    tables: tuple[str, ...] = ()
    """Tables it cannot do without."""
    about: tuple[str, ...] = ()
    """Tables it is about: without any of them it has nothing to say."""
    holds: str = ""
    """What they are, in words."""

    def __post_init__(self) -> None:
        names = [item.name for item in self.defects]
        if len(names) != len(set(names)):
            raise ValueError(f"rule {self.id} names two defects alike")

    @property
    def defects(self) -> tuple[Proof, ...]:
        """Every defect it must find."""
        return tuple(item for check in self.checks for item in check.defects)

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
    def directories(self) -> tuple[Path, ...]:
        """Folders of all files that are looked at."""
        return tuple(one.directory for one in (self.subject, *self.siblings, *self.against))

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
        return self.query(text, self._asked(tables))

    def _asked(self, tables: Sequence[str]) -> Mapping[str, Sequence[Path]]:
        absent = [name for name in tables if name not in self.views]
        if absent:
            listed = ", ".join(absent)
            if self.subject.kind == "release" and not OPTIONAL.issuperset(absent):
                raise CannotRun(f"table absent: {listed}")
            raise NotCovered(f"table absent: {listed}")
        return {name: self.views[name] for name in tables}

    def rows(self, text: str, *tables: str) -> list[Row]:
        """All rows of a small result; errors as `batches`."""
        return fetch(self.query, text, self._asked(tables))

    def select(self, text: str) -> list[Row]:
        """All rows of a small result; tables, and their files of one split (`qrels_test`), by their names."""
        named = {name: self._by_name[name] for name in _names_in(text) if name in self._by_name}
        return fetch(self.query, text, named)

    def columns(self, table: str) -> list[str]:
        """Names of a table's columns, in order; errors as `batches`."""
        text = f"SELECT column_name AS name FROM (DESCRIBE SELECT * FROM {table})"
        return [row["name"] for row in self.rows(text, table)]

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Path]]:
        found = dict(self.views)
        for name, files in self.views.items():
            for split in SPLITS:
                if chosen := [path for path in files if path.name.startswith(f"{split}-")]:
                    found[f"{name}_{split}"] = chosen
        return found

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
        return self.texts_of(self.subject, table, table)

    def texts_of(self, dataset: Dataset, table: str, name: str) -> Texts:
        """Texts of a table of any dataset."""
        files = dataset.views[table]
        if not isinstance(files, Stored):
            return Texts(name, files=list(files), pool=self.pool)
        batches = list(self.query("SELECT id, text FROM stored", {"stored": files}))
        return Texts(name, lambda: iter(batches))

    def on_disk(self, dataset: Dataset, *tables: str) -> dict[str, Sequence[Path]]:
        """Files of those tables a dataset has, for engines that read files."""
        found: dict[str, Sequence[Path]] = {}
        for name in tables:
            files = dataset.views.get(name, ())
            if isinstance(files, Stored):
                path = self.scratch / f"{files.name}.parquet"
                rows = self.query("FROM stored", {"stored": files})
                pq.write_table(pa.Table.from_batches(rows, files.schema), path)
                files = [path]
            if files:
                found[name] = files
        return found


@functools.lru_cache(2_000)
def _names_in(text: str) -> tuple[str, ...]:
    """Words of a statement that may name a table; `corpus` of `"corpus-id"` is none."""
    return tuple(sorted(set(_NAME.findall(text))))


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
