"""Two releases of one task side by side, as views `old_<table>` and `new_<table>`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from curation.published.manifest import ReleaseManifest
from curation.published.parquet import column_names
from curation.published.query import QueryRunner, Row
from schemas.published import Published
from schemas.tables import TABLES

Side = Literal["old", "new"]
SIDES: tuple[Side, Side] = ("old", "new")


@dataclass(frozen=True, slots=True)
class Sides:
    """An earlier and a later task folder; only their tables are read.

    Attributes:
        old: the earlier folder.
        new: the later one, whose release.json may not be written yet.
        heads: release.json of both.
        query: runs SQL over Parquet.
    """

    old: Path
    new: Path
    heads: tuple[ReleaseManifest, ReleaseManifest]
    query: QueryRunner
    files: Mapping[str, list[Path]] = field(init=False)
    columns: Mapping[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        files = {
            f"{side}_{table.name}": found
            for side, folder in zip(SIDES, (self.old, self.new), strict=True)
            for table in TABLES
            if (found := table.files(folder))
        }
        object.__setattr__(self, "files", files)
        object.__setattr__(self, "columns", {name: tuple(column_names(of)) for name, of in files.items()})

    def rows(self, text: str) -> Iterator[Row]:
        """Rows of one SELECT over both sides."""
        for batch in self.query(text, self.files):
            yield from batch.to_pylist()

    def has(self, table: Published) -> tuple[bool, bool]:
        """Whether the earlier and the later release have a table."""
        return f"old_{table.name}" in self.files, f"new_{table.name}" in self.files

    def common(self, table: Published) -> list[str]:
        """Columns that both have of a table, beside its key."""
        old, new = (self.columns.get(f"{side}_{table.name}", ()) for side in SIDES)
        return [name for name in old if name in new and name not in table.key]

    def select(self, side: Side, table: str, *names: str) -> str:
        """SELECT of text columns of one side's table; '' for one it lacks, no row without the table."""
        view = f"{side}_{table}"
        held = self.columns.get(view)
        if held is None:
            return f"SELECT {', '.join(_empty(name) for name in names)} WHERE false"
        return (
            f"SELECT {', '.join(_of(name) if name in held else _empty(name) for name in names)} FROM {view}"
        )


def _of(name: str) -> str:
    return f"""coalesce("{name}", '') AS "{name}\""""


def _empty(name: str) -> str:
    return f"""'' AS "{name}\""""
