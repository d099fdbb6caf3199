"""Writes canonical tables: Parquet in bounded memory, with columns that may turn up late."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.published import IMAGE

MAX_EXTRAS = 64
_ROWS, _PAYLOAD, _IMAGES = 10_000, 16 << 20, 100
BASE = {
    "queries": (("id", pa.string()), ("text", pa.string())),
    "corpus": (("id", pa.string()), ("title", pa.string()), ("text", pa.string())),
    "qrels": (("query-id", pa.string()), ("corpus-id", pa.string()), ("score", pa.int64())),
}


@dataclass
class CanonicalTable:
    """One table being written, a file per split and set of columns; `close` makes all files alike."""

    name: str
    folder: Path
    count: int = 0
    files: list[Path] = field(default_factory=list)
    _columns: dict[str, pa.DataType] = field(default_factory=dict)
    _rows: list[dict[str, Any]] = field(default_factory=list)
    _payload: int = 0
    _images: int = 0
    _split: str = ""
    _writer: pq.ParquetWriter | None = None

    def __post_init__(self) -> None:
        self._columns = dict(BASE[self.name])

    def add(self, row: dict[str, Any], split: str) -> bool:
        """Append one row; False when one of its columns is beyond MAX_EXTRAS and was left out."""
        if split != self._split:
            self._finish()
            self._split = split
        is_whole = True
        for name in [name for name in row if name not in self._columns]:
            if len(self._columns) >= MAX_EXTRAS:
                del row[name]
                is_whole = False
                continue
            self._finish()
            self._columns[name] = IMAGE if name == "image" else pa.string()
        self._rows.append(row)
        self._payload += sum(len(value) for value in row.values() if isinstance(value, str))
        image = row.get("image")
        if image is not None:
            self._images += 1
            self._payload += len(image["bytes"] or b"")
        if len(self._rows) >= _ROWS or self._payload >= _PAYLOAD or self._images >= _IMAGES:
            self._flush()
        self.count += 1
        return is_whole

    def close(self) -> list[Path]:
        """Finish; every file then has the same columns. A table without rows is one empty file."""
        if not self.count:
            self._split = self._split or "all"
            self._open()
        self._finish()
        schema = pa.schema(list(self._columns.items()))
        for path in self.files:
            if pq.read_schema(path).names != schema.names:
                _widen(path, schema)
        return self.files

    def _open(self) -> pq.ParquetWriter:
        if self._writer is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{self._split}-{len(self.files):05d}.parquet"
            self.files.append(path)
            codec: Any = dict.fromkeys((name for name in self._columns if name != "image"), "zstd")
            if "image" in self._columns:  # files of pictures are packed already
                codec |= {"image.path": "zstd", "image.bytes": "none"}
            schema = pa.schema(list(self._columns.items()))
            self._writer = pq.ParquetWriter(path, schema, compression=codec, use_dictionary=False)
        return self._writer

    def _flush(self) -> None:
        if self._rows:
            writer = self._open()
            writer.write_table(pa.Table.from_pylist(self._rows, schema=writer.schema))
        self._rows, self._payload, self._images = [], 0, 0

    def _finish(self) -> None:
        self._flush()
        if self._writer is not None:
            self._writer.close()
        self._writer = None


def _widen(path: Path, schema: pa.Schema) -> None:
    """Rewrite a file with the columns it lacks, empty, in the common order."""
    target = path.with_suffix(".wide")
    with (
        pq.ParquetFile(path) as source,
        pq.ParquetWriter(target, schema, compression="zstd", use_dictionary=False) as out,
    ):
        for group in range(source.num_row_groups):
            table = source.read_row_group(group)
            columns = [
                table.column(name)
                if name in table.schema.names
                else pa.nulls(table.num_rows, schema.field(name).type)
                for name in schema.names
            ]
            out.write_table(pa.Table.from_arrays(columns, schema=schema))
    target.replace(path)
