"""Small tables in memory that may be damaged, each time inside a transaction that is rolled back."""

from __future__ import annotations

import contextlib
import itertools
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb  # used by its own name: another name for its classes here keeps it from ending cleanly
import pyarrow as pa

from curation.published.query import Row, Stored, UnknownNameError, Views
from flows.engine.database import add_view, connect, lock
from schemas.errors import MedqrelsError

_numbers = itertools.count()
_ARRIVED = "arrived_rows"
warnings.filterwarnings("ignore", "Arrow output on a DB-API result")  # a few rows are copied


class TableSandbox:
    """`curation.published.query.Sandbox`: a database of its own, of one thread."""

    def __init__(self, memory_limit: str, within: Sequence[Path] | None = None) -> None:
        self._open = contextlib.ExitStack()
        self._connection = self._open.enter_context(connect(memory_limit, threads=1))
        self._name = f"sandbox_{next(_numbers)}"  # what is made of one is kept by its name
        self._schema = ""
        self._shown: set[str] = set()
        weakref.finalize(self, self._open.close)
        self._run(f"ATTACH ':memory:' AS {self._name}")
        self._run("SET python_enable_replacements = false")  # a table that is not there is no Python variable
        self._run("PRAGMA disable_optimizer")  # planning costs more than reading a few rows badly
        if within is not None:
            lock(self._connection, within)

    def load(self, schema: str, tables: Mapping[str, pa.Table]) -> None:
        """Make a schema of these tables."""
        place = f"{self._name}.{schema}"
        self._run(f"DROP SCHEMA IF EXISTS {place} CASCADE; CREATE SCHEMA {place}")
        for name, table in tables.items():
            self._arrive(f'CREATE TABLE {place}."{name}" AS', table)

    @contextlib.contextmanager
    def undone(self, schema: str) -> Iterator[None]:
        """A transaction in one schema, rolled back."""
        if schema != self._schema:
            self._run(f"USE {self._name}.{schema}")
            self._schema = schema
        self._run("BEGIN")
        try:
            yield
        finally:
            self._shown.clear()
            self._connection.execute("ROLLBACK")

    def run(self, text: str) -> list[Row]:
        """Run statements and give the rows of the last."""
        self._run(text)
        names = [column[0] for column in self._connection.description or ()]
        return [dict(zip(names, row, strict=True)) for row in self._connection.fetchall()]

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        """Further rows of a table."""
        if rows:
            known = self._connection.sql(f"FROM {table} LIMIT 0").to_arrow_table().schema
            named = {name for row in rows for name in row}
            schema = pa.schema([field for field in known if field.name in named])
            self._arrive(f"INSERT INTO {table} BY NAME", pa.Table.from_pylist(list(rows), schema=schema))

    def replace(self, table: str, rows: pa.Table) -> None:
        """Another table in the place of one."""
        self._arrive(f"CREATE OR REPLACE TABLE {table} AS", rows)

    def _arrive(self, statement: str, rows: pa.Table) -> None:
        self._connection.register(_ARRIVED, rows)
        try:
            self._run(f"{statement} FROM {_ARRIVED}")
        finally:
            self._connection.unregister(_ARRIVED)

    def fetch(self, text: str, views: Views) -> list[Row]:
        """All rows of a SELECT."""
        self._show(text, views)
        return self.run(text)

    def __call__(self, text: str, views: Views) -> Iterator[pa.RecordBatch]:
        """Rows of a SELECT, all read before the first is given: others may ask meanwhile."""
        self._show(text, views)
        self._run(text)
        found: pa.Table = self._connection.to_arrow_table()
        return iter(found.to_batches())

    def _show(self, text: str, views: Views) -> None:
        """Make views visible that are not tables of this schema under their own names."""
        asked = text.lower()
        for name, files in views.items():
            if name.lower() not in asked:
                continue
            if not isinstance(files, Stored):
                add_view(self._connection, name, files, None)
            elif name in self._shown or files.name != f"{self._schema}.{name}":
                self._run(f'CREATE OR REPLACE TEMP VIEW "{name}" AS FROM {self._name}.{files.name}')
            else:
                continue
            self._shown.add(name)

    def close(self) -> None:
        """Let go of the tables."""
        self._open.close()

    def _run(self, text: str) -> None:
        try:
            self._connection.execute(text)
        except (duckdb.BinderException, duckdb.CatalogException) as error:
            raise UnknownNameError(f"SQL failed: {error}") from error
        except duckdb.Error as error:
            raise MedqrelsError(f"SQL failed: {error}") from error
