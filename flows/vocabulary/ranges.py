"""Big tables are written range by range of their first key, so that no sort outgrows memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from flows.engine.database import select
from flows.engine.progress import Steps
from flows.vocabulary.connection import Connection
from schemas.stages import Sql

RANGE_ROWS = 2_000_000


def bounds(files: Sequence[Path], column: str, rows_per_range: int = RANGE_ROWS) -> list[str]:
    """Values that cut a text column of Parquet files into ranges of about that many rows.

    Read from a few values of each row group; the rows written do not depend on where the cuts are.
    """
    values: list[str] = []
    total = 0
    for path in files:
        file = pq.ParquetFile(path)
        total += file.metadata.num_rows
        index = file.schema_arrow.get_field_index(column)
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            statistics = group.column(index).statistics
            if statistics is not None and statistics.has_min_max:
                values += [str(statistics.min), str(statistics.max)]
    count = total // rows_per_range
    values.sort()
    if count < 1 or len(values) < 2:
        return []
    cuts = {values[len(values) * number // (count + 1)] for number in range(1, count + 1)}
    return sorted(cuts)


def conditions(cuts: Sequence[str], column: str) -> Iterator[str]:
    """One SQL condition per range; together they hold for every value once."""
    quoted = ["'" + cut.replace("'", "''") + "'" for cut in cuts]
    for low, high in zip([None, *quoted], [*quoted, None], strict=True):
        parts = [f"{column} >= {low}"] if low else []
        parts += [f"{column} < {high}"] if high else []
        yield " AND ".join(parts) or "true"


def told(cuts: Sequence[str], column: str, steps: Steps, what: str) -> Iterator[str]:
    """The conditions, telling which range is being written."""
    listed = list(conditions(cuts, column))
    for number, condition in enumerate(listed, start=1):
        if len(listed) > 1:
            steps.advance(0, note=f"{what}, range {number} of {len(listed)}")
        yield condition


def select_ranges(connection: Connection, statements: Iterator[Sql]) -> Iterator[pa.RecordBatch]:
    """Rows of one statement per range, in the order of the ranges."""
    for sql in statements:
        yield from select(connection, sql)
