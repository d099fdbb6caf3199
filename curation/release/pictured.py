"""Writes queries and documents with their provenance in one pass, so that each image is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from curation.release.images import read_image
from schemas.published import Published

GROUP = 100
"""Rows whose images are held at once."""
_FACTS = ("image_source_sha256", "image_sha256", "image_transform", "image_width", "image_height")
_STORED = ("image_path", "image_stored_sha256")
Write = Callable[[Published, Iterator[pa.Table], str], None]


@dataclass(frozen=True, slots=True)
class Pair:
    """A table, with and without an image column, and the table of its origins."""

    pictured: Published
    plain: Published
    origin: Published
    by_id: bool
    """Whether image files are named by row id; else by hash, because the id is no file name."""


def write_pair(
    pair: Pair,
    select: Callable[[str], Iterator[pa.Table]],
    text: str,
    write: Write,
    *,
    raw: Path,
    with_images: bool,
    splits: Sequence[str] = ("test",),
) -> None:
    """Write a table and its origins from one SELECT.

    Args:
        pair: the tables.
        select: runs SQL over the work tables.
        text: SELECT with every column of both tables, `image_path` and `image_stored_sha256`, in key order.
        write: writes chunks of one table and split.
        raw: the workspace's raw/ folder.
        with_images: whether any row has an image.
        splits: splits to write, one after the other, the rows told apart by column `split`.
    """
    if not with_images:
        _write_plain(pair, select, text, write, splits)
        return
    origins: list[pa.Table] = []

    def chunks(split: str) -> Iterator[pa.Table]:
        for big in select(_of_split(text, split, splits)):
            for start in range(0, big.num_rows, GROUP):
                rows = big.slice(start, GROUP)
                images = _image_columns(pair, rows, raw)
                for name in _FACTS:
                    kind = pair.origin.schema.field(name).type
                    rows = rows.append_column(name, pa.array(images[name], kind))
                origins.append(rows.select(pair.origin.schema.names))
                image = pa.array(images["image"], pair.pictured.schema.field("image").type)
                yield rows.append_column("image", image).select(pair.pictured.schema.names)

    for split in splits:
        write(pair.pictured, chunks(split), split)
    write(pair.origin, _in_order(origins), "test")


def _write_plain(
    pair: Pair,
    select: Callable[[str], Iterator[pa.Table]],
    text: str,
    write: Write,
    splits: Sequence[str],
) -> None:
    """Without images nothing has to be read beside the tables: rows stream through."""
    for split in splits:
        names = pair.plain.schema.names
        write(pair.plain, (rows.select(names) for rows in select(_of_split(text, split, splits))), split)
    blank = {"image_transform": "''", **dict.fromkeys(("image_width", "image_height"), "NULL::BIGINT")}
    extra = ", ".join(f"{blank.get(name, 'NULL::VARCHAR')} AS {name}" for name in _FACTS)
    origin = (
        rows.select(pair.origin.schema.names)
        for rows in select(f"SELECT *, {extra} FROM ({text}) ORDER BY id")
    )
    write(pair.origin, origin, "test")


def _of_split(text: str, split: str, splits: Sequence[str]) -> str:
    return text if len(splits) == 1 else f"SELECT * FROM ({text}) WHERE split = '{split}' ORDER BY id"


def _in_order(parts: Sequence[pa.Table]) -> Iterator[pa.Table]:
    """Origins of all splits in one order."""
    if parts:
        yield pa.concat_tables(parts).sort_by("id")


def _image_columns(pair: Pair, rows: pa.Table, raw: Path) -> Mapping[str, list[Any]]:
    """Image bytes and provenance of some rows; files are never named as their source."""
    columns: dict[str, list[Any]] = {name: [] for name in ("image", *_FACTS)}
    for row in rows.select(["id", "license", *_STORED]).to_pylist():
        values: tuple[Any, ...] = (None, None, None, "", None, None)
        if row["image_path"] is not None:
            stored = row["image_stored_sha256"]
            found = read_image(raw, row["image_path"], stored, row["id"], license=row["license"])
            name = row["id"] if pair.by_id else found.sha256[:32]
            image = {"bytes": found.data, "path": f"{name}.{found.extension}"}
            values = (image, found.source_sha256, found.sha256, found.transform, found.width, found.height)
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
    return columns
