"""The only place that opens DuckDB: bounded memory, no extension downloads, always ORDER BY a unique key."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import duckdb.func
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.concepts.stems import name_form, told_forms
from flows.engine.interrupts import end_with_signals
from flows.engine.manifest import DROPPED, Output
from schemas.errors import ConservationError, MedqrelsError
from schemas.hashing import normalise_text, sha256_file
from schemas.record import arrow_schema
from schemas.stages import Drop, SetAccount, SetStage, Sql, check_reasons

ROW_GROUP = 20_000


@contextlib.contextmanager
def connect(
    memory_limit: str = "4GB",
    scratch_in: Path | None = None,
    *,
    threads: int = 0,
    within: Sequence[Path] | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory database that spills to a temporary folder and never reaches the network.

    Without a number of threads it takes one per processor. With `within` it reads and writes no file
    outside these folders, loads no extension, and nothing that it is asked can change that.
    """
    with tempfile.TemporaryDirectory(prefix="medqrels-duckdb-", dir=scratch_in) as scratch:
        try:
            connection = duckdb.connect(
                ":memory:",
                config={
                    "memory_limit": memory_limit,
                    "temp_directory": scratch,
                    "autoinstall_known_extensions": "false",
                    "autoload_known_extensions": "false",
                    **({"threads": threads} if threads else {}),
                },
            )
        except duckdb.Error as error:
            raise MedqrelsError(
                f"DuckDB does not start with memory limit {memory_limit!r}: {error}"
            ) from error
        end_with_signals(connection)
        try:
            connection.execute("SET enable_progress_bar = false")  # it would go to stdout, amid --json
            for function, answer in _FUNCTIONS.items():
                connection.create_function(
                    function, answer, ["VARCHAR"], "VARCHAR", type=duckdb.func.PythonUDFType.ARROW
                )
            if within is not None:
                lock(connection, within)
            yield connection
        finally:
            connection.close()


def lock(connection: duckdb.DuckDBPyConnection, folders: Sequence[Path]) -> None:
    """Files of some folders and no other; what spills goes to the temporary folder, which is set already.

    DuckDB compares a path as it is written, which may be as a pattern, and as links make it.
    """
    named = {form for folder in folders for form in (folder.absolute(), folder.resolve())}
    listed = ", ".join(sorted({form for path in named for form in (quoted(str(path)), literal(path))}))
    connection.execute(f"SET allowed_directories = [{listed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _of_texts(read: Callable[[str], str]) -> Callable[[pa.Array], pa.Array]:
    """A function of one text as an SQL function: what counts as equal does so everywhere."""

    def answer(texts: pa.Array) -> pa.Array:
        return pa.array([None if text is None else read(text) for text in texts.to_pylist()], pa.string())

    return answer


_FUNCTIONS = {read.__name__: _of_texts(read) for read in (normalise_text, name_form, told_forms)}
"""DuckDB itself has NFC only, and no stemmer."""


def literal(path: Path) -> str:
    """The path as an SQL string for this one file: read_parquet takes `*`, `?` and `[` for patterns."""
    return quoted(re.sub(r"([*?[])", r"[\1]", str(path)))


def quoted(text: str) -> str:
    """A text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def add_view(
    connection: duckdb.DuckDBPyConnection, name: str, files: Sequence[Path], row: type | None
) -> None:
    """Make Parquet files visible under `name`; no files means an empty table of the row's columns."""
    if files:
        listed = ", ".join(literal(path) for path in files)
        try:
            connection.execute(f'CREATE OR REPLACE TEMP VIEW "{name}" AS FROM read_parquet([{listed}])')
        except duckdb.Error as error:
            raise sql_failed(error) from error
    elif row is not None:
        connection.register(name, arrow_schema(row).empty_table())
    else:
        raise MedqrelsError(f"no files for the view {name}")


def select(connection: duckdb.DuckDBPyConnection, sql: Sql) -> Iterator[pa.RecordBatch]:
    """Rows of a statement in its declared order and schema, batch by batch."""
    ordering = ", ".join(f'"{column}"' for column in sql.order_by)
    names = ", ".join(f'"{field.name}"' for field in arrow_schema(sql.row))
    try:
        rows = connection.sql(f"SELECT {names} FROM ({sql.text}) ORDER BY {ordering}")
        reader = rows.to_arrow_reader(ROW_GROUP)
        for batch in reader:
            yield conform(batch, arrow_schema(sql.row))
    except (duckdb.Error, pa.ArrowException, OSError) as error:  # the last two: what a reader raises midway
        raise sql_failed(error) from error


def sql_failed(error: Exception) -> MedqrelsError:
    """An error of DuckDB as one of ours: too little memory is the user's to mend."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return MedqrelsError(
            f"DuckDB needs more memory: {str(error).splitlines()[0]}",
            hint="a larger memory_limit in medqrels.toml, or MEDQRELS_MEMORY_LIMIT=8GB",
        )
    return MedqrelsError(f"SQL failed: {error}")


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The same values under the declared schema (DuckDB marks every nested field nullable).

    Raises:
        MedqrelsError: a column that must not be null has nulls.
    """
    arrays = [_conform(batch.column(field.name), field) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _conform(array: pa.Array, field: pa.Field) -> pa.Array:
    if array.null_count and not field.nullable:
        raise MedqrelsError(f"column {field.name}: {array.null_count} nulls in a column that may not be null")
    wanted = field.type
    if array.type == wanted:
        return array
    if pa.types.is_list(wanted):
        # flatten() leaves out what nulls and slices hide, so the offsets are made again from the lengths
        items = _conform(array.flatten(), wanted.value_field)
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), type=pa.int32())
        mask = array.is_null() if array.null_count else None
        return pa.ListArray.from_arrays(offsets, items, type=wanted, mask=mask)
    if pa.types.is_struct(wanted):
        return _conform_struct(array, wanted)
    return array.cast(wanted)


def _conform_struct(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    present = array.drop_null() if array.null_count else array
    children = [_conform(present.field(child.name), child) for child in wanted]
    if not array.null_count:
        return pa.StructArray.from_arrays(children, fields=list(wanted))
    if not len(present):
        return pa.array([None] * len(array), type=wanted)
    # The Parquet writer wants some value under a null parent: the one before, hidden by the mask.
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    filler = pa.array(np.maximum(np.cumsum(valid) - 1, 0))
    return pa.StructArray.from_arrays(
        [child.take(filler) for child in children], fields=list(wanted), mask=array.is_null()
    )


def write_select(connection: duckdb.DuckDBPyConnection, sql: Sql, path: Path) -> Output:
    """Write a statement's rows to Parquet with fixed row groups: same rows, same bytes."""
    schema = arrow_schema(sql.row)
    rows = 0
    pending: list[pa.RecordBatch] = []
    held = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in select(connection, sql):
            pending.append(batch)
            held += batch.num_rows
            rows += batch.num_rows
            while held >= ROW_GROUP:
                table = pa.Table.from_batches(pending, schema=schema).combine_chunks()
                writer.write_table(table.slice(0, ROW_GROUP), row_group_size=ROW_GROUP)
                pending = table.slice(ROW_GROUP).to_batches()
                held -= ROW_GROUP
        if held or not rows:
            writer.write_table(
                pa.Table.from_batches(pending, schema=schema).combine_chunks(), row_group_size=ROW_GROUP
            )
    return Output(path.name, sha256_file(path), rows)


def run_set_stage(
    stage: SetStage,
    inputs: Mapping[str, Sequence[Path]],
    folder: Path,
    memory_limit: str,
    params: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Output], dict[str, dict[str, int]], dict[str, int]]:
    """Run a set stage on the files of each view: its outputs in `folder`, unit counts, drops by reason.

    `params` are settings that differ from the stage's own; whole numbers are variables of its statements.
    """
    outputs: dict[str, Output] = {}
    with connect(memory_limit, folder.parent) as connection:
        for name, value in {**stage.params, **(params or {})}.items():
            if type(value) is int:
                connection.execute(f'SET VARIABLE "{name}" = {value}')
        rows = {view: row for view, (_, row) in stage.inputs.items()} | dict(stage.resources)
        for view, row in rows.items():
            add_view(connection, view, inputs[view], row)
        for name, sql in stage.outputs.items():
            file = DROPPED if name == "drops" else name
            path = folder / f"{file}.parquet"
            outputs[file] = write_select(connection, sql, path)
            add_view(connection, name, [path], sql.row)
            _check_key(connection, stage, name, sql)
        if DROPPED not in outputs:
            path = folder / f"{DROPPED}.parquet"
            pq.write_table(arrow_schema(Drop).empty_table(), path, compression="zstd")
            outputs[DROPPED] = Output(path.name, sha256_file(path), 0)
            add_view(connection, "drops", [path], Drop)
        units = {account.unit: _account(connection, stage, account) for account in stage.accounts}
        found = connection.execute("SELECT reason, count(*) FROM drops GROUP BY ALL ORDER BY ALL").fetchall()
    check_reasons(stage, (reason for reason, _ in found))
    return outputs, units, {str(reason): int(count) for reason, count in found}


def _check_key(connection: duckdb.DuckDBPyConnection, stage: SetStage, name: str, sql: Sql) -> None:
    """A key that is not unique leaves the order, and so the bytes, to chance."""
    key = ", ".join(f'"{column}"' for column in sql.order_by)
    twice = connection.execute(
        f'SELECT {key} FROM "{name}" GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL LIMIT 1'
    ).fetchone()
    if twice is not None:
        raise MedqrelsError(
            f"stage {stage.name}: table {name}: two rows have the key {twice}", record=str(twice[0])
        )


def _account(connection: duckdb.DuckDBPyConnection, stage: SetStage, account: SetAccount) -> dict[str, int]:
    everything = f'SELECT "{account.source_key}" AS id FROM "{account.source}"'
    kept = f'SELECT "{account.key}" AS id FROM "{account.table}"'
    unit = account.unit.replace("'", "''")
    lost = f"SELECT id FROM drops WHERE unit = '{unit}'"
    out = f"({kept} UNION ALL {lost})"
    wrong = connection.execute(
        f"SELECT id FROM (({everything} EXCEPT ALL SELECT id FROM {out}) UNION ALL"
        f" (SELECT id FROM {out} EXCEPT ALL {everything})) ORDER BY id LIMIT 1"
    ).fetchone()
    counts = {
        key: _count(connection, text) for key, text in (("in", everything), ("kept", kept), ("dropped", lost))
    }
    if wrong is not None:
        raise ConservationError(
            f"stage {stage.name}: {account.unit}: {counts['in']} in, {counts['kept']} kept, "
            f"{counts['dropped']} dropped; first unaccounted: {wrong[0]}",
            record=str(wrong[0]),
        )
    return counts


def _count(connection: duckdb.DuckDBPyConnection, text: str) -> int:
    row: Any = connection.execute(f"SELECT count(*) FROM ({text})").fetchone()
    return int(row[0])
