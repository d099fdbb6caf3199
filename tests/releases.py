"""Releases made by hand: chosen rows written as published, and a plain release.json over them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.published.manifest import FORMAT_VERSION, NAME, ReleaseManifest, hash_files
from curation.release.card import PAGES
from schemas.published import Published
from schemas.tables import TABLES

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
_BY_NAME = {table.name: table for table in TABLES}


def manifest(**changes: Any) -> ReleaseManifest:
    """A plain release.json of the task clinical_case."""
    plain = ReleaseManifest(
        format_version=FORMAT_VERSION,
        dataset="small",
        title="Small",
        version="1.0.0",
        task="clinical_case",
        task_title="Clinical case",
        task_description="Find cases with the same diagnosis.",
        licence_profile="open",
        license="CC-BY-4.0",
        label="silver",
        expert_minimum=5,
        publishable_by_content=True,
        not_publishable_because=(),
        accessed=None,
        grades={"2": "same", "1": "near"},
        exclusions={},
        versions={},
        stages=(),
        overrides={},
        counts={},
        files={},
    )
    return dataclasses.replace(plain, **changes)


def write(
    directory: Path, tables: Tables, *, splits: Sequence[str] = (), without: Sequence[str] = ()
) -> Path:
    """Write tables by name; what a row does not say is null.

    Where a table has splits, a row's `split` is the file it goes to; files for `splits` there are in any
    case. `without` names columns left out.
    """
    for name, rows in tables.items():
        table = _BY_NAME[name]
        found = {*splits, *(row.get("split", "test") for row in rows)} if table.has_splits else set()
        for split in sorted(found) or ["test"]:
            mine = [row for row in rows if not table.has_splits or row.get("split", "test") == split]
            path = directory / table.folder / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(_rows(table, rows, mine, without), path)
    return directory


def card_text(directory: Path) -> str:
    """The card of a release and the pages beside it, one after another."""
    return "\n".join((directory / name).read_text("utf-8") for name in PAGES)


def seal(directory: Path, head: ReleaseManifest | None = None) -> ReleaseManifest:
    """Write release.json over the files as they are."""
    (directory / NAME).unlink(missing_ok=True)
    made = dataclasses.replace(head or manifest(), files=hash_files(directory))
    made = dataclasses.replace(made, release_hash=made.computed_hash())
    (directory / NAME).write_text(made.to_json(), encoding="utf-8")
    return made


def _rows(table: Published, every: Sequence[Row], mine: Sequence[Row], without: Sequence[str]) -> pa.Table:
    unused = [
        column.name
        for column in table.columns
        if column.is_optional and all(row.get(column.name) is None for row in every)
    ]
    schema = table.without(*unused, *without).schema
    rows = [{name: row.get(name) for name in schema.names} for row in mine]
    return pa.Table.from_pylist(rows, schema=schema)
