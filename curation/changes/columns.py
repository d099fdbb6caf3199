"""Tables and columns that are new, gone or of another type."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.changes.heads import Found
from schemas.published import Published
from schemas.tables import DERIVED, EXTRA, MAIN


def of_columns(old: Path, new: Path) -> Iterator[Found]:
    """Level and words of each difference; tables that baseline runs give count by their columns alone."""
    for table in (*MAIN, *EXTRA, *DERIVED):
        before = _schema(table, old)
        if before is None:
            continue
        kept = table.schemas if table.step == "derive" else (_schema(table, new),)
        after = next((item for item in kept if item is not None and not _lost(before, item)), kept[0])
        if after is None:
            yield "major", f"table {table.name} is gone"
            continue
        lost = _lost(before, after)
        if lost:
            yield "major", f"columns of {table.name} gone or of another type: {', '.join(lost)}"
        added = [name for name in after.names if name not in before.names]
        if added and table.step != "derive":
            yield "minor", f"new columns of {table.name}: {', '.join(added)}"


def _schema(table: Published, directory: Path) -> pa.Schema | None:
    files = table.files(directory)
    return pq.read_schema(files[0]) if files else None


def _lost(old: pa.Schema, new: pa.Schema) -> list[str]:
    return [
        name
        for name in old.names
        if name not in new.names or not new.field(name).type.equals(old.field(name).type)
    ]
