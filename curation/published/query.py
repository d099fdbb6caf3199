"""How release and audit code asks questions of tables: it receives a runner, it never opens DuckDB itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from schemas.errors import MedqrelsError

Views = Mapping[str, Sequence[Path]]
Row = dict[str, Any]


class Stored(tuple[Path, ...]):
    """A table of a sandbox where a view else has files: `schema.table`. No file can be opened by it."""

    name: str
    schema: pa.Schema

    def __new__(cls, name: str, schema: pa.Schema) -> Stored:
        """A view of this table; `schema` is that of its rows."""
        made = super().__new__(cls, (Path(name),))
        made.name, made.schema = name, schema
        return made


class UnknownNameError(MedqrelsError):
    """A statement names a table or column that is not there."""


class QueryRunner(Protocol):
    """Runs one SELECT over Parquet files."""

    def __call__(self, text: str, views: Views, /) -> Iterator[pa.RecordBatch]:
        """Yield the result in batches.

        Args:
            text: one SELECT in DuckDB's dialect; it carries its own ORDER BY over a unique key.
            views: view name -> Parquet files (never an empty list). Columns keep their file's names.
        """


@runtime_checkable
class RowRunner(QueryRunner, Protocol):
    """A runner that also gives small results as rows, without Arrow, which takes half of their time."""

    def fetch(self, text: str, views: Views) -> list[Row]:
        """All rows of a SELECT."""


@runtime_checkable
class Sandbox(RowRunner, Protocol):
    """Small tables in memory, some in each schema, that may be damaged: all that is done is undone."""

    def load(self, schema: str, tables: Mapping[str, pa.Table]) -> None:
        """Make a schema of these tables, row numbers (`rowid`) from 0 on; one of that name is replaced."""

    def undone(self, schema: str) -> AbstractContextManager[None]:
        """What is done inside is undone at the end, also after an error.

        Names of tables without a schema are of this one. Statements outside are not allowed.
        """

    def run(self, text: str) -> list[Row]:
        """Run statements (UPDATE, INSERT, DELETE, SELECT) and give the rows of the last, e.g. RETURNING.

        Raises:
            UnknownNameError: the tables have no such column.
            MedqrelsError: a statement failed; the others of this `undone` will, too.
        """

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        """Further rows of a table; columns they lack are null."""

    def replace(self, table: str, rows: pa.Table) -> None:
        """Another table in the place of one, columns too."""

    def close(self) -> None:
        """Let go of the tables."""


@runtime_checkable
class Database(QueryRunner, Protocol):
    """A runner that also lends sandboxes."""

    def sandbox(self) -> Sandbox:
        """A new one, without tables; the caller closes it."""


def fetch(query: QueryRunner, text: str, views: Views) -> list[Row]:
    """All rows of a small result as plain dicts. Not for bulk: aggregates and findings only."""
    if isinstance(query, RowRunner):
        return query.fetch(text, views)
    return [row for batch in query(text, views) for row in batch.to_pylist()]


def fetch_one(query: QueryRunner, text: str, views: Views) -> Row:
    """The one row of an aggregate."""
    return fetch(query, text, views)[0]


def columns_of(query: QueryRunner, views: Views, table: str) -> frozenset[str]:
    """Names of the columns that a view has; releases of older formats lack some."""
    described = fetch(query, f"SELECT column_name AS name FROM (DESCRIBE {table})", {table: views[table]})
    return frozenset(row["name"] for row in described)
