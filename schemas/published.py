"""What a published table is: its columns with their meaning, its folder, its key.

The schema carries the `huggingface` metadata that makes images decode.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

IMAGE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
TRANSFORMS = pa.list_(
    pa.struct([("start", pa.int64()), ("end", pa.int64()), ("original", pa.string()), ("rule", pa.string())])
)
EVIDENCE = pa.list_(
    pa.struct([("text_id", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())])
)
STRINGS = pa.list_(pa.string())


def columns(*columns: tuple[str, pa.DataType, str]) -> pa.Schema:
    """Schema of (name, type, meaning) columns, with the features `datasets` reads."""
    schema = pa.schema([pa.field(name, kind, metadata={"doc": doc}) for name, kind, doc in columns])
    features = {field.name: _feature(field.type) for field in schema}
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}}, sort_keys=True)})


def _feature(kind: pa.DataType) -> dict[str, Any]:
    """The `datasets` feature of an Arrow type, as its JSON form."""
    if kind.equals(IMAGE):
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"_type": "List", "feature": _feature(kind.value_type)}
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    return {"_type": "Value", "dtype": str(kind)}


@dataclass(frozen=True, slots=True)
class Published:
    """One published table. `folder` holds its shards; `key` is its unique, sorted key.

    A table that `has_splits` has one set of files per split; the others have one set, called `test`, because
    tools of the field want a split's name. An `optional` table is left out where a task has no rows for it.
    `other` are further column sets it may have.
    """

    name: str
    folder: str
    schema: pa.Schema
    key: tuple[str, ...]
    rows_per_group: int = 10_000
    has_splits: bool = False
    is_optional: bool = False
    other: tuple[pa.Schema, ...] = ()

    def files(self, directory: Path) -> list[Path]:
        """Its shards inside a task directory, in order."""
        return sorted((directory / self.folder).glob("*.parquet"))
