"""A database that is asked again and again, for code that may not open one itself."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb  # used by its own name: another name for its classes here keeps it from ending cleanly
import pyarrow as pa

from curation.published.query import Row
from flows.engine.database import ROW_GROUP, add_view, connect, literal, sql_failed
from flows.engine.interrupts import end_with_signals
from flows.engine.sandbox import TableSandbox

_HELD_BYTES, _HELD_TABLES = 1_000_000, 200


def query(memory_limit: str = "4GB", within: Sequence[Path] | None = None) -> Connection:
    """A function that runs one SELECT over Parquet views, for code that may not open a database itself.

    Args:
        memory_limit: of DuckDB.
        within: the only folders it may read from, for files that others made; None where all are ours.
    """
    return Connection(memory_limit, within)


class Connection:
    """`curation.published.query.Database`: one for all calls, opened by the first of them."""

    def __init__(self, memory_limit: str, within: Sequence[Path] | None = None) -> None:
        self._memory_limit, self._within = memory_limit, within
        self._open = contextlib.ExitStack()
        self._shared: list[_Asked] = []
        self._lock = threading.Lock()
        weakref.finalize(self, self._open.close)

    def __call__(self, text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        """Run one SELECT, with views of its own."""
        yield from self._asked().answer(text, views)

    def fetch(self, text: str, views: Mapping[str, Sequence[Path]]) -> list[Row]:
        """All rows of one SELECT with a small result."""
        with self._asked().shown(text, views) as cursor:
            return cursor.fetch(text)

    def sandbox(self) -> TableSandbox:
        """Small tables in memory that may be damaged."""
        return TableSandbox(self._memory_limit, self._within)

    def _asked(self) -> _Asked:
        with self._lock:  # opening costs more than most questions
            if not self._shared:
                opened = connect(self._memory_limit, within=self._within)
                self._shared.append(_Asked(self._open.enter_context(opened)))
            return self._shared[0]


class _Asked:
    """A database that is asked again and again: small files and views are kept."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.held = _Held(connection)
        self.idle: list[_Cursor] = []
        self.lock = threading.Lock()

    def answer(self, text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        """Rows of one SELECT."""
        with self.shown(text, views) as cursor:
            yield from cursor.rows(text)

    @contextlib.contextmanager
    def shown(self, text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[_Cursor]:
        """A cursor that sees the views of one SELECT."""
        asked = text.lower()  # a view reads its files' footers; few are asked for
        wanted = {name: files for name, files in views.items() if not files or name.lower() in asked}
        with self.lock:
            tables = {name: self.held.table(files) for name, files in wanted.items()}
        with self._cursor() as cursor:
            cursor.show(wanted, tables, asked)
            yield cursor

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[_Cursor]:
        """A cursor no other question uses; one whose rows were not all read is closed."""
        with self.lock:
            cursor = self.idle.pop() if self.idle else _Cursor(self.connection.cursor())
        try:
            yield cursor
        except BaseException:
            cursor.connection.close()
            raise
        with self.lock:
            self.idle.append(cursor)


class _Cursor:
    """One connection and the views it has: they stay for the next question, which mostly asks the same."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        end_with_signals(connection)
        self.connection = connection
        self.shown: dict[str, str] = {}
        self.is_small = False
        """Whether all that is asked is held: a relation, which streams, takes longer to make than rows."""

    def show(self, views: Mapping[str, Sequence[Path]], tables: Mapping[str, str], asked: str) -> None:
        """Make views visible, each over a held table or over its files, and no other that is asked for."""
        for name in [name for name in self.shown if name not in views and name.lower() in asked]:
            self.connection.execute(f'DROP VIEW "{name}"')
            del self.shown[name]
        for name, files in views.items():
            if not tables[name]:
                add_view(self.connection, name, files, None)
            elif self.shown.get(name) != tables[name]:
                self.connection.execute(f'CREATE OR REPLACE TEMP VIEW "{name}" AS FROM {tables[name]}')
            self.shown[name] = tables[name]
        self.is_small = all(tables.values())

    def rows(self, text: str) -> Iterator[pa.RecordBatch]:
        """Run one SELECT."""
        try:
            if self.is_small:
                rows: pa.Table = self.connection.execute(text).to_arrow_table()
                yield from rows.combine_chunks().to_batches(ROW_GROUP)
            else:
                yield from self.connection.sql(text).to_arrow_reader(ROW_GROUP)
        except duckdb.Error as error:
            raise sql_failed(error) from error

    def fetch(self, text: str) -> list[Row]:
        """Run one SELECT; all rows at once."""
        try:
            self.connection.execute(text)
            names = [column[0] for column in self.connection.description or ()]
            return [dict(zip(names, row, strict=True)) for row in self.connection.fetchall()]
        except duckdb.Error as error:
            raise sql_failed(error) from error


class _Held:
    """Small files kept as tables: an audit asks a thousand questions of the same few kilobytes.

    Files are known by their bytes, so that copies of one file are one table.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.tables: OrderedDict[tuple[bytes, ...], str] = OrderedDict()
        self.made = 0

    def table(self, files: Sequence[Path]) -> str:
        """Name of a table that holds all rows of some files, '' when they are large or cannot be read."""
        try:
            if not files or sum(path.stat().st_size for path in files) > _HELD_BYTES:
                return ""
            key = tuple(hashlib.sha256(path.read_bytes()).digest() for path in files)
        except OSError:
            return ""
        if key in self.tables:
            self.tables.move_to_end(key)
            return self.tables[key]
        name = f"held_{self.made}"
        listed = ", ".join(literal(path) for path in files)
        try:
            self.connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_parquet([{listed}])")
        except duckdb.Error:  # the question itself shall fail, with its own words
            return ""
        self.made += 1
        self.tables[key] = name
        if len(self.tables) > _HELD_TABLES:
            self.connection.execute(f"DROP TABLE {self.tables.popitem(last=False)[1]}")
        return name
