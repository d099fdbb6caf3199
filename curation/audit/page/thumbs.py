"""Thumbnails of published rows for the audit page: from the Parquet row alone, without metadata."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.images.decode import open_image
from curation.images.fingerprint import thumbnail as shrink
from curation.published.parquet import open_parquet
from curation.similarity.image.greys import has_images, rows
from schemas.errors import InputError
from schemas.tables import TABLES

SIDE = 160


def thumbnail(directory: Path, table: str, id: str, side: int = SIDE) -> str | None:
    """A published image as a JPEG data URI of at most `side` pixels a side.

    Args:
        directory: a task directory of a release.
        table: published table, e.g. queries.
        id: row id; the first row of that id counts.
        side: pixels of the longer side.

    Returns:
        None when there is no such row, it has no image, or the image does not decode.
    """
    files = [path for part in TABLES if part.name == table for path in part.files(directory)]
    return thumbnail_of(files, id, side)


def thumbnail_of(files: list[Path], id: str, side: int = SIDE) -> str | None:
    """The same from the Parquet files of a table, for datasets that are no release."""
    for path in files:
        try:
            data = _find(path, id)
        except (OSError, KeyError, pa.ArrowException):  # damaged files are what an audit is for
            continue
        if data is not None:
            try:
                return f"data:image/jpeg;base64,{shrink(open_image(data).image, side)}"
            except InputError:
                return None
    return None


def _find(path: Path, id: str) -> bytes | None:
    """Bytes of the first row with an id: ids are looked through first, one row group at a time."""
    if not has_images(path):
        return None
    with open_parquet(path) as shard:
        for group in range(shard.num_row_groups):
            if not _may_hold(shard.metadata.row_group(group), id):
                continue
            names = shard.read_row_group(group, columns=["id"]).column("id")
            at = pc.index(names, pa.scalar(id, names.type)).as_py()
            if at >= 0:
                found = next(rows(path, [group], frozenset({(group, at)})), None)
                return found.data if found else None
    return None


def _may_hold(group: pq.RowGroupMetaData, id: str) -> bool:
    """Whether the statistics of the id column allow an id; files sorted by id then read one row group."""
    for number in range(group.num_columns):
        column = group.column(number)
        if column.path_in_schema == "id" and column.is_stats_set and column.statistics.has_min_max:
            least, most = column.statistics.min, column.statistics.max
            if isinstance(least, str) and isinstance(most, str):
                return least <= id <= most
    return True
