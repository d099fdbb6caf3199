"""Opens Parquet files whose footer is read once: that of a file of thousands of row groups takes a while."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.published.query import Stored

_FOOTERS = 16
"""Held at a time; one of 5,000 row groups takes some 20 MB."""
_SMALL = 1_000_000


def footer(path: Path | str) -> pq.FileMetaData:
    """Metadata of a Parquet file as it is now.

    Raises:
        OSError: the file cannot be read.
        pyarrow.ArrowException: it is no Parquet file.
    """
    known = Path(path).stat()
    if known.st_size < _SMALL:  # copies with defects are written faster than a clock ticks
        return pq.read_metadata(path)
    return _footer(str(path), known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns)


def column_names(files: Sequence[Path]) -> list[str]:
    """Columns of a table's first file, or of a table in a sandbox."""
    schema = files.schema if isinstance(files, Stored) else pq.read_schema(files[0])
    return list(schema.names)


def open_parquet(path: Path | str, **options: Any) -> pq.ParquetFile:
    """A Parquet file, to be closed by the caller; errors as `footer`.

    Args:
        path: the file.
        options: of `pyarrow.parquet.ParquetFile`.
    """
    return pq.ParquetFile(path, metadata=footer(path), **options)


@functools.lru_cache(_FOOTERS)
def _footer(path: str, *_: int) -> pq.FileMetaData:
    return pq.read_metadata(path)
