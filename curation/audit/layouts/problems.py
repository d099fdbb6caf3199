"""What could not be read as written: one row each, quarantined and listed, never a crash and never silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

NAME = "problems.parquet"
"""File of the problems, beside the canonical tables."""
SCHEMA = pa.schema(
    [
        pa.field("table", pa.string(), metadata={"doc": "table the row would have been in"}),
        pa.field("file", pa.string(), metadata={"doc": "file inside the dataset"}),
        pa.field("line", pa.int64(), metadata={"doc": "1-based line or row; null for the whole file"}),
        pa.field("id", pa.string(), metadata={"doc": "id of the row, else file:line"}),
        pa.field("reason", pa.string(), metadata={"doc": "closed reason code, see REASONS"}),
        pa.field("detail", pa.string(), metadata={"doc": "what was seen, at most 200 characters"}),
    ]
)
REASONS: Mapping[str, str] = {
    "not_json": "the line is not JSON",
    "not_an_object": "the line is JSON, but no object",
    "not_utf8": "the line is not UTF-8",
    "lone_surrogate": "half a character, replaced by U+FFFD",
    "line_too_long": "the line is longer than the cap",
    "wrong_columns": "the row has other columns than the table needs",
    "missing_id": "the row has no id",
    "missing_text": "the row has neither a text nor an image column; kept with an empty text",
    "score_not_a_number": "the score is not a number",
    "score_not_whole": "the score is not a whole number; kept rounded away from zero",
    "dtype_drift": "a column has another type than in the rows or files before",
    "too_many_columns": "columns beyond the cap are not read",
    "image_missing": "the image file a row names does not exist; kept without its bytes",
    "image_outside": "the image path leads out of the dataset; kept without its bytes",
    "image_too_large": "the image is larger than the cap; kept without its bytes",
    "file_unreadable": "the rest of the file cannot be read",
    "file_too_large": "the file unpacks beyond the cap; the rest is not read",
    "file_not_recognised": "a data file of unknown purpose was not read",
}
INFORMATIVE = frozenset({"file_not_recognised"})
"""Reasons that are no defect of the data."""
_LONGEST = 200
_PER_GROUP = 5_000


@dataclass
class Problems:
    """Collects problems into one Parquet file, in the order they are met."""

    path: Path
    count: int = 0
    _rows: list[dict[str, Any]] = field(default_factory=list, repr=False)
    _writer: pq.ParquetWriter | None = field(default=None, repr=False)

    def add(
        self,
        reason: str,
        table: str,
        file: str,
        line: int | None = None,
        *,
        id: str = "",
        detail: object = "",
    ) -> None:
        """Write one down.

        Raises:
            KeyError: the reason is not one of REASONS.
        """
        text = clean(str(detail) or REASONS[reason])[0][:_LONGEST]
        name = id or (file if line is None else f"{file}:{line}")
        self._rows.append(
            {
                "table": table,
                "file": clean(file)[0],
                "line": line,
                "id": name,
                "reason": reason,
                "detail": text,
            }
        )
        self.count += 1
        if len(self._rows) >= _PER_GROUP:
            self._flush()

    def close(self) -> Path:
        """Finish the file; it exists even without rows."""
        self._flush()
        assert self._writer is not None
        self._writer.close()
        return self.path

    def _flush(self) -> None:
        if self._writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self.path, SCHEMA, compression="zstd")
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=SCHEMA))
            self._rows = []


def clean(text: str) -> tuple[str, bool]:
    """A text every tool can store, and whether halves of characters had to be replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"), True
    return text, False
