"""Ways to damage a copy of a release that several rules' canaries share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.rule import Rows
from schemas.tables import TABLES

GONE = "canary:gone"
"""An id that no row has."""
PAIR = '"query-id", "corpus-id"'
ANY_PAIR = """SELECT q.id AS "query-id", c.id AS "corpus-id"
    FROM (SELECT id FROM queries WHERE rowid = 0) q, (SELECT id FROM corpus WHERE rowid = 0) c"""
Plant = Callable[[Rows, Rows], Sequence[str] | None]
_SCHEMAS = {table.name: table.schema for table in TABLES}
_FOLDERS = {table.name: table.folder for table in TABLES}


def ids_of(table: str) -> str:
    """SQL: the columns a finding calls a row of a table by."""
    names = _SCHEMAS[table].names
    wanted = ("id",) if "id" in names else ("query-id", "corpus-id")
    return ", ".join(f'"{name}"' for name in wanted if name in names)


def set_row(table: str, values: str, at: int = 0, names: str = "") -> str:
    """SQL: some cells (`column = value, …`) of row `at` of a table.

    Its ids as they are then must be named, or the columns `names`.
    """
    return f"UPDATE {table} SET {values} WHERE rowid = {at} RETURNING {names or ids_of(table)}"


def add_row(table: str, values: str = "", at: int = 0, names: str = "") -> str:
    """SQL: row `at` of a table once more, with other `values` (`value AS column, …`)."""
    replaced = f" REPLACE ({values})" if values else ""
    return (
        f"INSERT INTO {table} SELECT *{replaced} FROM {table} WHERE rowid = {at} "
        f"RETURNING {names or ids_of(table)}"
    )


def drop_row(table: str, at: int = 0, names: str = "") -> str:
    """SQL: row `at` of a table taken away."""
    return f"DELETE FROM {table} WHERE rowid = {at} RETURNING {names or ids_of(table)}"


def new_row(table: str, values: Mapping[str, object]) -> str:
    """SQL: an invented row of a table; what it lacks is null."""
    listed = ", ".join(f'{_literal(value)} AS "{name}"' for name, value in values.items())
    return f"INSERT INTO {table} BY NAME SELECT {listed}"


def _literal(value: object) -> str:
    """A value as SQL; bytes are ASCII."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_literal(name)}: {_literal(item)}' for name, item in value.items())}}}"
    if isinstance(value, bytes):
        return f"{_literal(value.decode('ascii'))}::BLOB"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def exclude(pair: str, names: str = PAIR) -> str:
    """SQL: a pair that is excluded, for no known reason; its ids must be named, or the columns `names`."""
    return f"INSERT INTO excluded BY NAME SELECT *, 'canary' AS reason FROM ({pair}) RETURNING {names}"


def table_file(directory: Path, table: str) -> Path | None:
    """The first file of a table in a copy, None when it has none."""
    return next(iter(sorted((directory / _FOLDERS[table]).glob("*.parquet"))), None)


def columns(
    table: str, change: Callable[[pa.Table], pa.Table], name: str, *, beside: bool = False
) -> Callable[[Path], Sequence[str] | None]:
    """One file of a table written with other columns; `beside` makes it a further shard.

    The rule must name the column `name`, or the file when it is ''.
    """

    def damage(directory: Path) -> Sequence[str] | None:
        path = table_file(directory, table)
        if path is None:
            return None
        changed = change(pq.read_table(path))
        if beside:
            split = path.name.split("-")[0]
            changed, path = changed.slice(0, 0), path.with_name(f"{split}-00001-of-00002.parquet")
        pq.write_table(changed, path)
        return [name or path.relative_to(directory).as_posix()]

    return damage


def retyped(column: str, kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    """A column of another type."""

    def change(table: pa.Table) -> pa.Table:
        place = table.column_names.index(column)
        return table.set_column(place, column, table.column(column).cast(kind))

    return change


def not_null(column: str) -> Callable[[pa.Table], pa.Table]:
    """A column declared to hold no null."""

    def change(table: pa.Table) -> pa.Table:
        field = table.schema.field(column).with_nullable(False)
        return table.cast(table.schema.set(table.column_names.index(column), field))

    return change
