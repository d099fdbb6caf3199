"""A database that is asked again and again, for code that may not open one itself."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb  # used by its own name: another name for its classes here keeps it from ending cleanly
import pyarrow as pa

from flows.engine.database import ROW_GROUP, add_view, connect, literal
from flows.engine.sandbox import TableSandbox
from schemas.errors import MedqrelsError

_HELD_BYTES, _HELD_TABLES = 1_000_000, 200
_ANSWER_BYTES, _ANSWERS = 50_000, 2_000
_SETTLED_NS, _DIGESTS = 2_000_000_000, 10_000
_Question = tuple[str, tuple[tuple[str, str], ...]]
"""A statement, and the tables its views stand for."""


def query(memory_limit: str = "4GB") -> Connection:
    """A function that runs one SELECT over Parquet views, for code that may not open a database itself."""
    return Connection(memory_limit)


class Connection:
    """`curation.published.query.Database`: one for all calls, opened by the first of them."""

    def __init__(self, memory_limit: str) -> None:
        self._memory_limit = memory_limit
        self._open = contextlib.ExitStack()
        self._shared: list[_Asked] = []
        self._lock = threading.Lock()
        weakref.finalize(self, self._open.close)

    def __call__(self, text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        """Run one SELECT, with views of its own."""
        yield from self._asked().answer(text, views)

    def sandbox(self) -> TableSandbox:
        """Small tables in memory that may be damaged."""
        return TableSandbox(self._memory_limit)

    def _asked(self) -> _Asked:
        with self._lock:  # opening costs more than most questions
            if not self._shared:
                self._shared.append(_Asked(self._open.enter_context(connect(self._memory_limit))))
            return self._shared[0]


class _Asked:
    """A database that is asked again and again: small files, views and small answers are kept."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.held = _Held(connection)
        self.idle: list[_Cursor] = []
        self.answers: OrderedDict[_Question, list[pa.RecordBatch]] = OrderedDict()
        self.lock = threading.Lock()

    def answer(self, text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        """Rows of one SELECT; what was asked before of the same content is not worked out again."""
        asked = text.lower()  # a view reads its files' footers; few are asked for
        wanted = {name: files for name, files in views.items() if not files or name.lower() in asked}
        with self.lock:
            tables = {name: self.held.table(files) for name, files in wanted.items()}
            question = (text, tuple(sorted(tables.items())))
            known = self.answers.get(question)
            if known is not None:
                self.answers.move_to_end(question)
        if known is not None:
            yield from known
            return
        with self._cursor() as cursor:
            cursor.show(wanted, tables, asked)
            is_small = bool(tables) and all(tables.values())
            kept: list[pa.RecordBatch] = []
            size = 0
            for batch in cursor.rows(text):
                size += batch.get_total_buffer_size()
                is_small = is_small and size <= _ANSWER_BYTES
                kept = [*kept, batch] if is_small else []
                yield batch
        if is_small:
            self._keep(question, kept)

    def _keep(self, question: _Question, answer: list[pa.RecordBatch]) -> None:
        with self.lock:
            self.answers[question] = answer
            if len(self.answers) > _ANSWERS:
                self.answers.popitem(last=False)

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
        self.connection = connection
        self.shown: dict[str, str] = {}

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

    def rows(self, text: str) -> Iterator[pa.RecordBatch]:
        """Run one SELECT."""
        try:
            yield from self.connection.sql(text).to_arrow_reader(ROW_GROUP)
        except duckdb.Error as error:
            raise MedqrelsError(f"SQL failed: {error}") from error


class _Held:
    """Small files kept as tables: an audit asks a thousand questions of the same few kilobytes.

    Files are known by their bytes, so that copies of one file are one table.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.tables: OrderedDict[tuple[bytes, ...], str] = OrderedDict()
        self.digests: OrderedDict[tuple[int, ...], bytes] = OrderedDict()
        self.made = 0

    def table(self, files: Sequence[Path]) -> str:
        """Name of a table that holds all rows of some files, '' when they are large or cannot be read."""
        try:
            known = [path.stat() for path in files]
            if not files or sum(file.st_size for file in known) > _HELD_BYTES:
                return ""
            key = tuple(self._digest(path, file) for path, file in zip(files, known, strict=True))
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

    def _digest(self, path: Path, file: os.stat_result) -> bytes:
        """Hash of a small file: read again while another write could leave size and time as they are."""
        key = (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns)
        if key in self.digests:
            return self.digests[key]
        found = hashlib.sha256(path.read_bytes()).digest()
        if time.time_ns() - file.st_mtime_ns > _SETTLED_NS:
            self.digests[key] = found
            if len(self.digests) > _DIGESTS:
                self.digests.popitem(last=False)
        return found
