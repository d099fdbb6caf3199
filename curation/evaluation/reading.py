"""Reading a release's Parquet tables batch by batch; every pair of ids is checked to resolve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.evaluation.ranking import Indices
from schemas.errors import InputError, ReleaseError
from schemas.published import Published
from schemas.stages import Reason
from schemas.tables import CORPUS

_BATCH, _IMAGE_BATCH = 4_096, 64
Row = TypeVar("Row")
Pictures = Iterator[tuple[str, tuple[bytes, ...]]]
"""(id, its images in the order of the article), in id order."""
_PAIRS = 1_000_000


def column_names(files: list[Path]) -> list[str]:
    """Columns of a table, none when it has no files."""
    return list(pq.read_schema(files[0]).names) if files else []


def rows(files: list[Path], names: list[str]) -> Iterator[dict[str, Any]]:
    """Rows of some columns, in file order."""
    size = _IMAGE_BATCH if {"image", "images"} & set(names) else _BATCH
    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=size, columns=names):
                yield from batch.to_pylist()


def has_texts(files: list[Path]) -> bool:
    """Whether any row of a corpus has a title or a text."""
    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_PAIRS, columns=["title", "text"]):
                if any(pc.any(pc.not_equal(column, "")).as_py() for column in batch.columns):
                    return True
    return False


def image_rows(files: list[Path], origins: list[Path]) -> Iterator[tuple[str, bytes]]:
    """(id, image bytes) of every row that has an image by its provenance.

    Raises:
        InputError: the image of such a row is not there.
    """
    if "image" not in column_names(files):
        return
    without = _without_image(origins)
    for row in rows(files, ["id", "image"]):
        if row["image"] and row["image"]["bytes"]:
            yield row["id"], row["image"]["bytes"]
        elif row["id"] not in without:
            raise _missing(row["id"], files)


def every_image(files: list[Path], origins: list[Path], several: list[Path], side: str) -> Pictures:
    """Every image of every row that has one, or several by the table `images`.

    Args:
        files: of queries or corpus.
        origins: of its provenance.
        several: of the table `images`, none where no row has several.
        side: query or document.

    Raises:
        InputError: an image is not there.
    """
    single = ((row, (row, data)) for row, data in image_rows(files, origins))
    for (row, data), images in beside(single, _listed_images(several, side)):
        yield row, images or (data,)


def beside(found: Iterable[tuple[str, Row]], pictures: Pictures) -> Iterator[tuple[Row, tuple[bytes, ...]]]:
    """Each of some rows, given with their ids and in id order, with its images, () where it has none."""
    following = next(pictures, None)
    for name, row in found:
        while following is not None and following[0] < name:
            following = next(pictures, None)
        yield row, following[1] if following is not None and following[0] == name else ()


def _listed_images(files: list[Path], side: str) -> Pictures:
    for row in rows(files, ["id", "side", "images"]):
        if row["side"] != side:
            continue
        held = tuple(image["bytes"] for image in row["images"] if image and image["bytes"])
        if len(held) < len(row["images"]) or not held:
            raise _missing(row["id"], files)
        yield row["id"], held


def _missing(row: str, files: list[Path]) -> InputError:
    return InputError(
        "the image of this row is missing",
        reason=Reason.IMAGE_MISSING,
        record=row,
        file=str(files[0].parent),
        hint="download the release again",
    )


def _without_image(origins: list[Path]) -> set[str]:
    """Ids of rows that never had an image: their provenance names none."""
    if "image_sha256" not in column_names(origins):
        return set()
    return {row["id"] for row in rows(origins, ["id", "image_sha256"]) if not row["image_sha256"]}


def read_corpus_ids(directory: Path, table: Published = CORPUS) -> pa.Array:
    """Every document id of a corpus table; they are unique and in order.

    Raises:
        ReleaseError: they are not.
    """
    files = table.files(directory)
    if not files:
        raise ReleaseError("no corpus", file=str(directory / table.folder))
    ids = pa.concat_tables([pq.read_table(path, columns=["id"]) for path in files]).column("id")
    ids = ids.combine_chunks()
    if len(ids) > 1 and not pc.all(pc.less(ids[:-1], ids[1:])).as_py():
        raise ReleaseError(
            "corpus ids are not unique and in order",
            file=str(directory / table.folder),
            hint="medqrels audit",
        )
    return ids


def pairs(files: list[Path], names: list[str]) -> Iterator[pa.Table]:
    """Tables of up to a million rows."""
    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_PAIRS, columns=names):
                yield pa.Table.from_batches([batch])


def positions_of(table: pa.Table, corpus_ids: pa.Array, folder: Path) -> Indices:
    """Where in the corpus the documents of `corpus-id` stand.

    Raises:
        ReleaseError: one is not there.
    """
    found = pc.index_in(table.column("corpus-id"), value_set=corpus_ids)
    if found.null_count:
        missing = table.filter(pc.is_null(found)).slice(0, 1).to_pylist()[0]
        raise ReleaseError(
            "a pair names a document that is not in the corpus",
            record=f"{missing['query-id']} {missing['corpus-id']}",
            file=str(folder),
            hint="medqrels audit",
        )
    return np.asarray(found.to_numpy(), dtype=np.int32)
