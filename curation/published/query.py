"""How release code asks questions of Parquet: it receives a runner, it never opens DuckDB itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

Views = Mapping[str, Sequence[Path]]


class QueryRunner(Protocol):
    """Runs one SELECT over Parquet files."""

    def __call__(self, text: str, views: Views, /) -> Iterator[pa.RecordBatch]:
        """Yield the result in batches.

        Args:
            text: one SELECT in DuckDB's dialect; it carries its own ORDER BY over a unique key.
            views: view name -> Parquet files (never an empty list). Columns keep their file's names.
        """


def fetch(query: QueryRunner, text: str, views: Views) -> list[dict[str, Any]]:
    """All rows of a small result as plain dicts. Not for bulk: aggregates and findings only."""
    return [row for batch in query(text, views) for row in batch.to_pylist()]


def fetch_one(query: QueryRunner, text: str, views: Views) -> dict[str, Any]:
    """The one row of an aggregate."""
    return fetch(query, text, views)[0]
