"""Copies rows of published tables as they are, image bytes included; only row groups with a hit are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.published.writer import write_table
from schemas.published import Published


def matching(files: Sequence[Path], wanted: Mapping[str, pa.Array]) -> Iterator[pa.Table]:
    """Rows whose columns all have a wanted value, in file order, row group by row group.

    Args:
        files: shards of one table.
        wanted: column -> its wanted values.
    """
    names = list(wanted)
    for path in files:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                keys = file.read_row_group(group, columns=names)
                mask = pa.array([True] * keys.num_rows, pa.bool_())
                for name, values in wanted.items():
                    mask = pc.and_(mask, pc.is_in(keys.column(name), value_set=values))
                if pc.any(mask).as_py():
                    yield file.read_row_group(group).filter(mask)


def copy_rows(
    source: Published, files: Sequence[Path], wanted: Mapping[str, pa.Array], target: Published, out: Path
) -> int:
    """Write the wanted rows of a table as another one, with the columns the files have; returns their number.

    Args:
        source: the table the files are of.
        files: its shards, or those of one split.
        wanted: column -> its wanted values.
        target: the table to write.
        out: the task directory.
    """
    names = (pq.read_schema(files[0]) if files else source.schema).names
    return write_table(target.only(names), matching(files, wanted), out)
