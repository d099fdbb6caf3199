"""Writes queries and documents with their provenance in one pass, so that each image is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from curation.partition.keys_sql import literal
from curation.release.images import read_image
from curation.release.selects import select_rows
from schemas.columns import IMAGE_ORIGIN
from schemas.published import Published

GROUP = 100
"""Rows whose images are held at once."""
_FACTS = tuple(column.name for column in IMAGE_ORIGIN)
_STORED = {"image_path": "image.path", "image_stored_sha256": "image.sha256"}
_BOX = "(SELECT [p.left, p.top, p.right, p.bottom] FROM panels AS p WHERE p.query_id = kept.id) AS image_box"
"""The panel that a query shows, NULL where it shows a whole figure."""
_BLANK = {"image_transform": "''", "image_width": "NULL::BIGINT", "image_height": "NULL::BIGINT"}
"""Of a table without images; any other of `_FACTS` is a null text."""
Select = Callable[[str], Iterator[pa.Table]]
Write = Callable[[Published, Iterator[pa.Table], str], None]


class Share(NamedTuple):
    """Rows that go into files of their own: those of a split, or of one language in it.

    `tier` is the one that they are of, where it has files apart; `apart` are all that have.
    """

    split: str
    language: str = ""
    tier: str = ""
    apart: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What its files begin with: `test`, `dev-es`, `test-parallel-es`."""
        return "-".join(part for part in (self.split or "test", self.tier, self.language) if part)

    @property
    def queries(self) -> str:
        """SQL condition on the kept queries it holds, '' for those of all languages."""
        if not self.language:
            return ""
        others = ", ".join(map(literal, self.apart))
        of_tier = f"tier = {literal(self.tier)}" if self.tier else f"tier NOT IN ({others})" if others else ""
        return " AND ".join(filter(None, [f"language = {literal(self.language)}", of_tier]))


@dataclass(frozen=True, slots=True)
class Pair:
    """A table that may have images, and the table of its origins."""

    table: Published
    origin: Published
    by_id: bool
    """Whether image files are named by row id; else by hash, because the id is no file name."""

    def rows(self, share: Share, *, more: Sequence[str]) -> str:
        """SELECT with every column of both tables that is not made here, in key order."""
        own = {column.name: column for column in (*self.origin.columns, *self.table.columns)}
        selected = tuple(column for name, column in own.items() if name not in ("image", *_FACTS))
        table = replace(self.table, columns=selected)
        return select_rows(table, share.split, more=more, queries=share.queries)


def write_pair(
    pair: Pair,
    select: Select,
    write: Write,
    *,
    raw: Path,
    with_images: bool,
    shares: Sequence[Share],
    cuts: bool = False,
) -> None:
    """Write a table and its origins from one SELECT.

    Args:
        pair: the tables.
        select: runs SQL over the work tables.
        write: writes chunks of one table and split.
        raw: the workspace's raw/ folder.
        with_images: whether any row has an image.
        shares: what to write, one after the other, where the table has splits.
        cuts: whether some rows show a panel alone, cut out of the image.
    """
    shares = shares if pair.table.has_splits else (Share(""),)
    if not with_images:
        _write_plain(pair, select, write, shares)
        return
    origins: list[pa.Table] = []
    stored = [f"{value} AS {name}" for name, value in _STORED.items()]
    stored.append(_BOX if cuts else "NULL AS image_box")

    def chunks(share: Share) -> Iterator[pa.Table]:
        for big in select(pair.rows(share, more=stored)):
            for start in range(0, big.num_rows, GROUP):
                rows = big.slice(start, GROUP)
                images = _image_columns(pair, rows, raw)
                for column in IMAGE_ORIGIN:
                    rows = rows.append_column(column.name, pa.array(images[column.name], column.type))
                origins.append(rows.select(pair.origin.schema.names))
                image = pa.array(images["image"], pair.table.schema.field("image").type)
                yield rows.append_column("image", image).select(pair.table.schema.names)

    for share in shares:
        write(pair.table, chunks(share), share.name)
    write(pair.origin, _in_order(origins), "test")


def _write_plain(pair: Pair, select: Select, write: Write, shares: Sequence[Share]) -> None:
    """Without images nothing has to be read beside the tables: rows stream through."""
    plain = pair.table.without("image")
    names = plain.schema.names
    for share in shares:
        found = select(pair.rows(share, more=()))
        write(plain, (rows.select(names) for rows in found), share.name)
    blank = [f"{_BLANK.get(name, 'NULL::VARCHAR')} AS {name}" for name in _FACTS]
    origin = pair.origin.schema.names
    write(pair.origin, (rows.select(origin) for rows in select(pair.rows(Share(""), more=blank))), "test")


def _in_order(parts: Sequence[pa.Table]) -> Iterator[pa.Table]:
    """Origins of all splits in one order."""
    if parts:
        yield pa.concat_tables(parts).sort_by("id")


def _image_columns(pair: Pair, rows: pa.Table, raw: Path) -> Mapping[str, list[Any]]:
    """Image bytes and provenance of some rows; files are never named as their source."""
    columns: dict[str, list[Any]] = {name: [] for name in ("image", *_FACTS)}
    for row in rows.select(["id", "license", "image_box", *_STORED]).to_pylist():
        values: tuple[Any, ...] = (None, None, None, "", None, None)
        if row["image_path"] is not None:
            stored = row["image_stored_sha256"]
            box = tuple(row["image_box"]) if row["image_box"] else None
            found = read_image(raw, row["image_path"], stored, row["id"], license=row["license"], box=box)
            name = row["id"] if pair.by_id else found.sha256[:32]
            image = {"bytes": found.data, "path": f"{name}.{found.extension}"}
            values = (image, found.source_sha256, found.sha256, found.transform, found.width, found.height)
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
    return columns
