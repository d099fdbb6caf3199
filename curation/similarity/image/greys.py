"""Published images as bytes and as small grey pictures, whatever the bytes are.

JPEG is decoded as luma at an eighth to all of its size; what is odd goes through `curation.images.decode`.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from PIL import Image

from curation.images.containers import check_work
from curation.images.decode import MAX_BYTES, MAX_PIXELS, open_image, sniff
from curation.images.metadata import orientation_of
from curation.published.parquet import footer, open_parquet
from schemas.errors import InputError
from schemas.stages import Reason

IMAGE = "image"
ROWS_AT_ONCE = 16
LONGEST = 512
_BUFFER = 1 << 20
_warnings_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Grey:
    """A decoded image: luma, upright, at most LONGEST pixels a side; `width` and `height` are the file's."""

    image: Image.Image
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Row:
    """One published row with an image cell; `data` is None when the cell names a path and holds no bytes."""

    id: str
    group: int
    row: int
    data: bytes | None


def has_images(path: Path) -> bool:
    """Whether a Parquet file has an image column whose bytes can be read."""
    schema = footer(path).schema.to_arrow_schema()
    return IMAGE in schema.names and _is_image(schema.field(IMAGE).type)


def _is_image(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return bool(kind.get_field_index("bytes") >= 0)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def rows(
    path: Path, groups: Sequence[int], wanted: frozenset[tuple[int, int]] | None = None
) -> Iterator[Row]:
    """Rows with images of some row groups, a few in memory at a time.

    Args:
        path: Parquet file with an `id` and an `image` column.
        groups: row groups, in order.
        wanted: (row group, row in it) to yield; all when not given.
    """
    with open_parquet(path, buffer_size=_BUFFER, pre_buffer=False) as shard:
        for group in groups:
            at = 0
            for batch in shard.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=["id", IMAGE]):
                names, cells = batch.column("id"), batch.column(IMAGE)
                for place in range(batch.num_rows):
                    if wanted is None or (group, at + place) in wanted:
                        cell = cells[place].as_py()
                        if cell is not None:
                            yield Row(str(names[place].as_py()), group, at + place, _bytes(cell))
                at += batch.num_rows


def _bytes(cell: Any) -> bytes | None:
    found = cell.get("bytes") if isinstance(cell, dict) else cell
    return found if isinstance(found, bytes) else None


def decode(data: bytes) -> Grey:
    """Decode a whole image file to a small grey picture.

    Raises:
        InputError: image_corrupt or image_too_large; nothing else, whatever the bytes.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"{len(data)} bytes, limit {MAX_BYTES}", reason=Reason.IMAGE_TOO_LARGE)
    kind = sniff(data)
    if kind in {"jpeg", "png"}:
        check_work(data, kind)
        plain = _plain(data, kind)
        if plain is not None:
            return plain
    image = open_image(data).image
    return _small(image.convert("L"), image.width, image.height)


def _plain(data: bytes, kind: str) -> Grey | None:
    """The quick way for an upright one-frame picture in grey or RGB; None when the file is not that."""
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(data), formats=[kind.upper()]) as image:
                width, height = image.size
                if width * height > MAX_PIXELS:
                    detail = f"{width} x {height} pixels, limit {MAX_PIXELS}"
                    raise InputError(detail, reason=Reason.IMAGE_TOO_LARGE)
                is_plain = image.mode in {"L", "RGB"} and "transparency" not in image.info
                if not is_plain or image.format != kind.upper() or getattr(image, "n_frames", 1) != 1:
                    return None
                if orientation_of(image) != 1:
                    return None
                if kind == "jpeg":
                    image.draft("L", (LONGEST, LONGEST))
                image.load()
                return _small(image.convert("L"), width, height)
        except InputError:
            raise
        except Image.DecompressionBombError as error:
            message = "more pixels than can be opened safely"
            raise InputError(message, reason=Reason.IMAGE_TOO_LARGE) from error
        except Exception as error:  # decoders of hostile bytes raise anything, MemoryError too
            message = f"does not decode: {type(error).__name__}"
            raise InputError(message, reason=Reason.IMAGE_CORRUPT) from error


def _small(image: Image.Image, width: int, height: int) -> Grey:
    factor = -(-max(image.size) // LONGEST)
    return Grey(image.reduce(factor) if factor > 1 else image, width, height)
