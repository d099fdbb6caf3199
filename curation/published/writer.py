"""A Parquet writer of published tables whose bytes depend on rows alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.published import IMAGE, Published

MAX_SHARD_BYTES = 400_000_000
_STR, _INT, _BOOL = pa.string(), pa.int64(), pa.bool_()


def _payload(group: pa.Table) -> int:
    """Bytes of text and images in a row group: what the size cap counts (independent of Arrow's layout)."""
    total = 0
    for column in group.columns:
        if column.type.equals(pa.list_(IMAGE)):
            column = pc.list_flatten(column)
        kind = column.type
        for part in [column] if not pa.types.is_struct(kind) else [pc.struct_field(column, [0])]:
            if pa.types.is_string(part.type) or pa.types.is_binary(part.type):
                total += pc.sum(pc.binary_length(part)).as_py() or 0
    return total


def open_writer(path: Path, table: Published) -> pq.ParquetWriter:
    """A writer of one shard: text is compressed; image bytes already are, so they are stored as they come."""
    schema = table.schema
    compression: Any = "zstd"
    packed = {
        IMAGE: ("image.bytes", "image.path"),
        pa.list_(IMAGE): ("images.list.element.bytes", "images.list.element.path"),
    }
    held = [column for column in table.columns if column.type in packed]
    if held:
        names = [name for name in schema.names if name != held[0].name]
        data, name = packed[held[0].type]
        compression = {**dict.fromkeys(names, "zstd"), data: "none", name: "zstd"}
    return pq.ParquetWriter(
        path,
        schema,
        compression=compression,
        use_dictionary=[column.name for column in table.columns if column.repeats],
        write_statistics=[column.name for column in table.columns if column.type in (_STR, _INT, _BOOL)],
    )


def write_table(
    table: Published,
    chunks: Iterable[pa.Table],
    directory: Path,
    max_shard_bytes: int = MAX_SHARD_BYTES,
    *,
    split: str = "test",
) -> int:
    """Write rows, already in key order, as `<folder>/<split>-00000-of-0000N.parquet`; return their number.

    Row groups and shards are cut by rows and payload only, so neither the size of the incoming chunks nor the
    machine shows in the bytes. An empty table is one file without rows.
    """
    folder = directory / table.folder
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    writer: pq.ParquetWriter | None = None
    payload, rows = 0, 0
    for group in _row_groups(table, chunks):
        if writer is None or payload >= max_shard_bytes:
            if writer is not None:
                writer.close()
            written.append(folder / f"part-{len(written):05d}")
            writer, payload = open_writer(written[-1], table), 0
        writer.write_table(group, row_group_size=table.rows_per_group)
        payload += _payload(group)
        rows += group.num_rows
    if writer is None:
        written.append(folder / "part-00000")
        writer = open_writer(written[-1], table)
    writer.close()
    for number, path in enumerate(written):
        path.rename(folder / f"{split}-{number:05d}-of-{len(written):05d}.parquet")
    return rows


def _row_groups(table: Published, chunks: Iterable[pa.Table]) -> Iterable[pa.Table]:
    """Cut incoming chunks into row groups of exactly `rows_per_group` rows (the last may be shorter)."""
    size = table.rows_per_group
    pending: list[pa.Table] = []
    held = 0
    for chunk in chunks:
        cast = chunk.select(table.schema.names).cast(table.schema)
        pending.append(cast)
        held += cast.num_rows
        if held >= size:
            joined = pa.concat_tables(pending)
            while joined.num_rows >= size:
                yield joined.slice(0, size).combine_chunks()
                joined = joined.slice(size)
            pending, held = [joined], joined.num_rows
    if held:
        yield pa.concat_tables(pending).combine_chunks()
