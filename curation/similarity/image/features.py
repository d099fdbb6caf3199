"""What the audit knows of every published image: hash of its bytes, whether it decodes, what it looks like.

Work is cut by file and row group and may be spread over processes. Of a picture 2 to 3 kB are kept, in files:
they are asked for a few times, and would else be most of what an audit of many pictures holds.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from curation.images.phash import SIDE, hash_bits
from curation.published.parquet import footer
from curation.similarity.image import greys, points
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from schemas.stages import Reason

TABLES: tuple[str, ...] = ("queries", "corpus")
THUMB = SIDE
MIN_SPREAD = 4.0
"""Standard deviation of the thumbnail in grey levels below which a picture is too uniform to be compared."""
_ROWS_PER_TASK = 400
_AT_ONCE = 12
"""Pictures whose keypoints are sought together: what is computed of them fits a processor's cache."""
_GAP = 2.0
"""A thumbnail is made of a copy of at least twice its size, by averaging: a bit of a pHash may change."""


class Looks:
    """Thumbnails and keypoints of pictures, in files that go with this object."""

    def __init__(self, parts: Iterable[dict[str, NDArray[Any]]]) -> None:
        """Write the columns of `_LARGE`, taken out of the parts; the rest is `columns`, joined."""
        self._folder = Path(tempfile.mkdtemp(prefix="medqrels-looks-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        small = []
        with contextlib.ExitStack() as opened:
            files = {name: opened.enter_context((self._folder / name).open("wb")) for name in _LARGE}
            for part in parts:
                for name, file in files.items():
                    part.pop(name).tofile(file)
                small.append(part)
        self.columns = _joined(small)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column of `_LARGE`, read anew at every call."""
        return np.fromfile(self._folder / name, _LARGE[name])


@dataclass(frozen=True, slots=True)
class ImageFeatures:
    """One entry per published image, in order of table, file and row.

    `table` indexes TABLES; `file` indexes `files`; `group` and `row` say where the image lies in its file.
    `sha256` is of the bytes as hex, '' when there are none. `problem` is '' or why it does not decode.
    `is_flat`: too uniform to be compared by sight. `phash` is the 64-bit pHash. `look` is the number of the
    image's look, which images of equal bytes share. The keypoints of look i are entries `first[i]` to
    `first[i + 1]` of `points`, at a copy that is `scale` times the file's size.
    """

    files: tuple[Path, ...]
    ids: NDArray[np.object_]
    table: NDArray[np.uint8]
    file: NDArray[np.int32]
    group: NDArray[np.int32]
    row: NDArray[np.int32]
    sha256: NDArray[np.str_]
    problem: NDArray[np.object_]
    width: NDArray[np.int32]
    height: NDArray[np.int32]
    is_flat: NDArray[np.bool_]
    phash: NDArray[np.uint64]
    scale: NDArray[np.float32]
    look: NDArray[np.int64]
    first: NDArray[np.int64]
    looks: Looks

    @property
    def thumbs(self) -> NDArray[np.uint8]:
        """(looks, 32, 32) grey thumbnails, read from a file."""
        return self.looks["thumbs"].reshape(-1, THUMB, THUMB)

    def points(self, name: str) -> NDArray[Any]:
        """`x`, `y`, `size` or `code` of the keypoints of all looks, read from a file."""
        return self.looks[name]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_ok(self) -> NDArray[np.bool_]:
        """Whether each image decoded."""
        found: NDArray[np.bool_] = self.problem == ""
        return found

    def table_of(self, place: int) -> str:
        """Name of the table an image is in."""
        return TABLES[int(self.table[place])]


def features(views: Mapping[str, Sequence[Path]], pool: Executor) -> ImageFeatures:
    """Look at every image of a dataset's queries and corpus.

    Args:
        views: table -> Parquet files; only `queries` and `corpus` are read, where they have an image column.
        pool: where files are read and decoded, part by part.

    Returns:
        Features in order of table, file and row; empty arrays when there are no images.
    """
    files: list[Path] = []
    tasks: list[tuple[int, int, Path, tuple[int, ...]]] = []
    for number, table in enumerate(TABLES):
        for path in views.get(table, ()):
            if greys.has_images(path):
                tasks += [(number, len(files), path, groups) for groups in _parts(path)]
                files.append(path)
    listed = list(pool.map(_listed, tasks))
    places = _joined([dict(part) for part in listed] or [_listed_nothing()])
    # A query's picture is often a document too: of equal bytes the first are looked at.
    _, first, copies = np.unique(places["sha256"], return_index=True, return_inverse=True)
    chosen = np.sort(first)
    looks = Looks(chain(pool.map(_look, _chosen(tasks, listed, chosen)), [_looked([])]))
    at = np.searchsorted(chosen, first[copies])
    ends = np.cumsum(looks.columns.pop("points"))
    made = {name: column[at] for name, column in looks.columns.items()}
    return ImageFeatures(
        files=tuple(files), **places, **made, look=at, first=np.concatenate(([0], ends)), looks=looks
    )


def _parts(path: Path) -> list[tuple[int, ...]]:
    """Row groups of a file in parts of a few hundred rows."""
    parts: list[tuple[int, ...]] = []
    pending: list[int] = []
    held = 0
    metadata = footer(path)
    for group in range(metadata.num_row_groups):
        pending.append(group)
        held += metadata.row_group(group).num_rows
        if held >= _ROWS_PER_TASK:
            parts.append(tuple(pending))
            pending, held = [], 0
    return [*parts, tuple(pending)] if pending else parts


def _listed(task: tuple[int, int, Path, tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    """Where the images of some row groups lie, and the hashes of their bytes, as columns."""
    table, file, path, groups = task
    seen = [(item.id, item.group, item.row, _hash(item.data)) for item in greys.rows(path, groups)]
    names, of, at, digests = zip(*seen, strict=True) if seen else ((), (), (), ())
    return {
        "ids": np.array(names, object),
        "table": np.full(len(seen), table, np.uint8),
        "file": np.full(len(seen), file, np.int32),
        "group": np.array(of, np.int32),
        "row": np.array(at, np.int32),
        "sha256": np.array(digests, "U64"),
    }


def _listed_nothing() -> dict[str, NDArray[Any]]:
    kinds = {"ids": object, "table": np.uint8, "file": np.int32, "group": np.int32, "row": np.int32}
    return {**{name: np.zeros(0, kind) for name, kind in kinds.items()}, "sha256": np.zeros(0, "U64")}


def _hash(data: bytes | None) -> str:
    return sha256_bytes(data) if data else ""


def _chosen(
    tasks: Sequence[tuple[int, int, Path, tuple[int, ...]]],
    listed: Sequence[Mapping[str, NDArray[Any]]],
    chosen: NDArray[np.int64],
) -> Iterator[tuple[Path, frozenset[tuple[int, int]]]]:
    """Files with the rows of theirs to look at, as (row group, row), part by part."""
    start = 0
    for (_, _, path, _), columns in zip(tasks, listed, strict=True):
        end = start + len(columns["row"])
        own = chosen[np.searchsorted(chosen, start) : np.searchsorted(chosen, end)] - start
        if len(own):
            groups, rows = columns["group"][own].tolist(), columns["row"][own].tolist()
            yield path, frozenset(zip(groups, rows, strict=True))
        start = end


def _look(task: tuple[Path, frozenset[tuple[int, int]]]) -> dict[str, NDArray[Any]]:
    """What some images of one file look like, in order of their rows."""
    path, wanted = task
    looks: list[_Look] = []
    rows = greys.rows(path, sorted({group for group, _ in wanted}), wanted)
    while batch := list(islice(rows, _AT_ONCE)):
        looks += _looks([item.data for item in batch])
    return _looked(looks)


def _looked(looks: Sequence[_Look]) -> dict[str, NDArray[Any]]:
    """The same as columns."""
    count = len(looks)
    thumbs = np.array([look.thumb for look in looks], np.uint8).reshape(count, THUMB, THUMB)
    return {
        "problem": np.array([look.problem for look in looks], object),
        "width": np.array([look.width for look in looks], np.int32),
        "height": np.array([look.height for look in looks], np.int32),
        "is_flat": thumbs.reshape(count, -1).std(axis=1) < MIN_SPREAD if count else np.zeros(0, bool),
        "phash": perceptual_hashes(thumbs),
        "thumbs": thumbs,
        "scale": np.array([look.scale for look in looks], np.float32),
        "points": np.array([len(look.points.x) for look in looks], np.int64),
        **{
            name: np.concatenate([getattr(look.points, name) for look in looks] or [empty])
            for name, empty in zip(_POINTS, _columns(_NOTHING), strict=True)
        },
    }


@dataclass(frozen=True, slots=True)
class _Look:
    problem: str
    width: int
    height: int
    thumb: NDArray[np.uint8]
    scale: float
    points: points.Points


_POINTS = ("x", "y", "size", "code")
_LARGE = {"thumbs": np.uint8, "x": np.float32, "y": np.float32, "size": np.float32, "code": np.uint64}
_NOTHING = points.keypoints(np.zeros((1, 1), np.uint8))
_BLANK = np.zeros((THUMB, THUMB), np.uint8)


def _columns(found: points.Points) -> tuple[NDArray[Any], ...]:
    return tuple(getattr(found, item.name) for item in fields(found))


def _looks(cells: Sequence[bytes | None]) -> list[_Look]:
    """What some images look like; keypoints of all are sought together."""
    known: dict[int, greys.Grey] = {}
    found: dict[int, _Look] = {}
    for place, data in enumerate(cells):
        try:
            if not data:
                raise InputError(Reason.IMAGE_MISSING.value)
            known[place] = greys.decode(data)
        except InputError as error:
            found[place] = _Look(str(error), 0, 0, _BLANK, 0.0, _NOTHING)
    copies = [_copy(grey.image) for grey in known.values()]
    sought = points.keypoints_of([small for small, _ in copies])
    for (place, grey), (_, scale), seen in zip(known.items(), copies, sought, strict=True):
        thumb = np.asarray(grey.image.resize((THUMB, THUMB), Image.Resampling.LANCZOS, reducing_gap=_GAP))
        shown = scale * grey.image.width / grey.width
        found[place] = _Look("", grey.width, grey.height, thumb, shown, seen)
    return [found[place] for place in range(len(cells))]


def _copy(image: Image.Image) -> tuple[NDArray[np.uint8], float]:
    """The picture at about points.AREA pixels, and how much smaller or larger that is."""
    scale = min(math.sqrt(points.AREA / (image.width * image.height)), points.LONGEST / max(image.size))
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return np.asarray(image.resize(size, Image.Resampling.HAMMING)), scale


def perceptual_hashes(thumbs: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """64-bit pHash of 32 x 32 grey thumbnails, shape (n, 32, 32): the bits of `imagehash.phash`."""
    return np.packbits(hash_bits(thumbs), axis=1).view(">u8").reshape(-1).astype(np.uint64)


def _joined(parts: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Columns of several parts, one part after the other; taken out of the parts, as they are large."""
    return {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}
