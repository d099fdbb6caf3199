"""Writes the tables of queries and documents with several images; each row's images are read when it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from curation.release.images import read_image
from curation.release.pictured import Select, Write
from schemas.columns import IMAGE_ORIGIN
from schemas.errors import ReleaseError
from schemas.image_tables import ORIGIN_IMAGES, ROW_IMAGES

GROUP = 20
"""Rows whose images are held at once."""
_ROWS = f"""SELECT i.id, i.side, i.position, i.article_id, i.figure_id, i.figure_number, i.graphic_number,
        i.caption, i.caption_sha256, i.caption_transforms, i.image.path AS path,
        i.image.sha256 AS stored, i.license, i.license_evidence, r.license AS row_license, r.is_synthetic
    FROM {ROW_IMAGES.name} AS i JOIN (
        SELECT id, 'query' AS side, license, is_synthetic FROM kept
        UNION ALL SELECT id, 'document', license, is_synthetic FROM described) AS r USING (id, side)
    ORDER BY i.side, i.id, i.position"""
"""One row an image, of what the release keeps, see `curation.release.selects.kept`."""
_FACTS = ("source_sha256", "sha256", "transform", "width", "height")
Row = Mapping[str, Any]


def write_several(select: Select, write: Write, raw: Path) -> None:
    """Write both tables, or neither where no released row has several images.

    Args:
        select: runs SQL over the work tables.
        write: writes chunks of one table and split.
        raw: the workspace's raw/ folder.

    Raises:
        ReleaseError: an image is unusable, or the first is not the image of the row.
        WorkspaceError: a file is missing, or not the one that was fetched.
    """
    origins: list[pa.Table] = []
    rows = (row for batch in select(_ROWS) for row in batch.to_pylist())
    chunks = _chunks(rows, raw, origins)
    first = next(chunks, None)
    if first is None:
        return
    write(ROW_IMAGES, _after(first, chunks), "test")
    write(ORIGIN_IMAGES, iter(origins), "test")


def _after(first: pa.Table, others: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    yield from others


def _chunks(rows: Iterator[Row], raw: Path, origins: list[pa.Table]) -> Iterator[pa.Table]:
    """Tables of at most GROUP rows with their images; where they come from is added to `origins`."""
    made: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    for _, images in groupby(rows, key=lambda row: (row["side"], row["id"])):
        row, facts = _listed(list(images), raw)
        made.append(row)
        told += facts
        if len(made) == GROUP:
            origins.append(pa.Table.from_pylist(told, schema=ORIGIN_IMAGES.schema))
            yield pa.Table.from_pylist(made, schema=ROW_IMAGES.schema)
            made, told = [], []
    if made:
        origins.append(pa.Table.from_pylist(told, schema=ORIGIN_IMAGES.schema))
        yield pa.Table.from_pylist(made, schema=ROW_IMAGES.schema)


def _listed(images: Sequence[Row], raw: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The row of some images, and what is told of each."""
    first = images[0]
    if [row["position"] for row in images] != list(range(1, len(images) + 1)) or len(images) < 2:
        raise ReleaseError(
            "its images are not numbered from 1, or it has one alone",
            record=first["id"],
            hint="medqrels build again",
        )
    held, facts = [], []
    for row in images:
        found = read_image(raw, row["path"], row["stored"], row["id"], license=row["license"])
        held.append({"bytes": found.data, "path": f"{found.sha256[:32]}.{found.extension}"})
        seen = {column.name: getattr(found, name) for column, name in zip(IMAGE_ORIGIN, _FACTS, strict=True)}
        facts.append({**{name: row[name] for name in ORIGIN_IMAGES.schema.names if name in row}, **seen})
    captions = [row["caption"] for row in images]
    return {
        "id": first["id"],
        "side": first["side"],
        "images": held,
        "captions": captions if any(captions) else [],
        "license": first["row_license"],
        "is_synthetic": first["is_synthetic"],
    }, facts
