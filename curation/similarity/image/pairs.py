"""Pairs of published images that show the same picture: equal bytes, rescaled or re-encoded copies, crops."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from curation.similarity.image import confirm, greys, nominate, places
from curation.similarity.image.features import THUMB, ImageFeatures

How = Literal["bytes", "rescaled", "cropped"]
MAX_GROUP = 24
"""Of more images with equal bytes, each is paired with the first only; so are their visual copies."""
_IMAGES_AT_ONCE = 1200
_PAIRS_PER_TASK = 24
_POINTS_AT_ONCE = 150_000


@dataclass(frozen=True, slots=True, order=True)
class ImagePair:
    """Two images of the same picture, as places in the features they come from.

    `how`: bytes are equal; rescaled (or re-encoded) copies of the same cut; one is a cut of the other, or
    both of a third. `score`: 1 for equal bytes, else the correlation of the common area after alignment.
    """

    one: int
    other: int
    how: How
    score: float


def same_images(one: ImageFeatures, other: ImageFeatures | None, pool: Executor) -> list[ImagePair]:
    """Pairs of images that show the same picture.

    Args:
        one: features of a dataset.
        other: of another one; None for pairs within `one`.
        pool: where hashes are joined, and where images are decoded again and compared.

    Returns:
        Sorted pairs; within one dataset `one` comes before `other`. Images that do not decode count by their
        bytes only, and so do pictures too uniform to be told apart.
    """
    if other is None:
        return same_among((one,), pool)[0, 0]
    return _same(_Joint.of((one, other), across=True), pool)[0, 1]


def same_among(sets: Sequence[ImageFeatures], pool: Executor) -> Mapping[tuple[int, int], list[ImagePair]]:
    """Pairs of images that show the same picture, within and between several datasets.

    Returns:
        (number of the one set, number of the other), in order -> pairs as `same_images` gives them.
    """
    return _same(_Joint.of(tuple(sets), across=False), pool)


def _same(joined: _Joint, pool: Executor) -> dict[tuple[int, int], list[ImagePair]]:
    count = len(joined.sets)
    found: dict[tuple[int, int], set[ImagePair]] = {
        (one, other): set() for one in range(count) for other in range(one, count)
    }

    def add(first: int, second: int, how: How, score: float) -> None:
        (one, a), (other, b) = joined.place(first), joined.place(second)
        found[one, other].add(ImagePair(a, b, how, score))

    for first, second in joined.equal_bytes():
        add(first, second, "bytes", 1.0)
    for nominee, agreement in _confirmed(joined, pool):
        how: How = "rescaled" if agreement.is_whole else "cropped"
        for first, second in joined.members(*nominee):
            add(first, second, how, agreement.correlation)
    return {key: sorted(pairs) for key, pairs in found.items()}


@dataclass(frozen=True, slots=True)
class _Joint:
    """Several sets in one numbering; `pictures`: distinct ones that can be compared.

    `across`: whether only pairs of two sets are wanted. `first`: number of each set's first image.
    """

    sets: tuple[ImageFeatures, ...]
    across: bool
    first: NDArray[np.int64]
    groups: dict[str, list[int]]
    pictures: NDArray[np.int64]

    @classmethod
    def of(cls, sets: tuple[ImageFeatures, ...], *, across: bool) -> _Joint:
        groups: dict[str, list[int]] = defaultdict(list)
        for place, digest in enumerate(nominate.joint(sets, "sha256").tolist()):
            if digest:
                groups[digest].append(place)
        usable = (nominate.joint(sets, "problem") == "") & ~nominate.joint(sets, "is_flat")
        firsts = np.array(sorted(members[0] for members in groups.values()), np.int64)
        first = np.cumsum([0, *(len(one) for one in sets)])
        return cls(sets, across, first, groups, firsts[usable[firsts]] if len(firsts) else firsts)

    def place(self, image: int) -> tuple[int, int]:
        """Number of the set an image is in, and its place there."""
        number = int(np.searchsorted(self.first, image, side="right")) - 1
        return number, image - int(self.first[number])

    def looks(self) -> Iterator[tuple[ImageFeatures, NDArray[np.int32]]]:
        """Every set with the number that each of its looks has among `pictures`; -1 for one that is none."""
        bounds = np.searchsorted(self.pictures, self.first).tolist()
        for place, features in enumerate(self.sets):
            low, high = bounds[place : place + 2]
            number = np.full(len(features.first) - 1, -1, np.int32)
            own = features.look[self.pictures[low:high] - self.first[place]]
            number[own] = np.arange(low, high, dtype=np.int32)
            yield features, number

    def thumbs(self) -> NDArray[np.uint8]:
        """Thumbnails of `pictures`, which are in the order of their looks."""
        found = np.empty((len(self.pictures), THUMB, THUMB), np.uint8)
        for features, number in self.looks():
            found[number[number >= 0]] = features.thumbs[number >= 0]
        return found

    def source(self, image: int) -> tuple[ImageFeatures, int]:
        """Features an image is in, and its place there."""
        number, at = self.place(image)
        return self.sets[number], at

    def equal_bytes(self) -> Iterator[tuple[int, int]]:
        """Pairs of images with the same bytes."""
        for members in self.groups.values():
            if len(members) > 1:
                yield from self._combined(members, members)

    def members(self, first: int, second: int) -> Iterator[tuple[int, int]]:
        """Two pictures as pairs of all images with their bytes."""
        sha256 = [features.sha256[at] for features, at in (self.source(first), self.source(second))]
        yield from self._combined(self.groups[str(sha256[0])], self.groups[str(sha256[1])])

    def _combined(self, firsts: Sequence[int], seconds: Sequence[int]) -> Iterator[tuple[int, int]]:
        if max(len(firsts), len(seconds)) > MAX_GROUP:
            firsts = self._few(firsts)
        for a in firsts:
            for b in seconds:
                low, high = min(a, b), max(a, b)
                if low != high and not (self.across and self.place(low)[0] == self.place(high)[0]):
                    yield low, high

    def _few(self, members: Sequence[int]) -> list[int]:
        """The first image of each set."""
        found = {self.place(image)[0]: image for image in reversed(members)}
        return sorted(found.values())

    def sides(self) -> nominate.Sets:
        """Of each picture, on which side of a pair it may stand: the first set's, the others', or both."""
        if not self.across:
            return np.full(len(self.pictures), 3, np.uint8)
        found = []
        for image in self.pictures.tolist():
            features, at = self.source(image)
            members = self.groups[str(features.sha256[at])]
            found.append(sum({2 if self.place(member)[0] else 1 for member in members}))
        return np.array(found, np.uint8)


@dataclass(frozen=True, slots=True)
class _Field:
    """What is needed to seek places, written down so that every process maps the same pages."""

    folder: Path

    @classmethod
    def of(cls, joined: _Joint, folder: Path, pool: Executor) -> _Field:
        """Write keypoints, hash tables and thumbnails of all pictures."""
        pictures, sets = joined.pictures, joined.sets
        image = [np.repeat(number, np.diff(features.first)) for features, number in joined.looks()]
        keep = [of >= 0 for of in image]
        scale = nominate.joint(sets, "scale")[pictures].astype(np.float64)
        sizes = [nominate.joint(sets, name)[pictures] * scale for name in ("width", "height")]
        columns: dict[str, NDArray[Any]] = {
            "image": np.concatenate([of[own] for of, own in zip(image, keep, strict=True)]),
            "sides": joined.sides(),
            "sizes": np.stack(sizes, axis=1),
            "thumbs": joined.thumbs(),
        }
        del image
        for name, values in columns.items():
            np.save(folder / f"{name}.npy", values)
        for name in ("x", "y", "size", "code"):
            parts = [features.points(name)[own] for features, own in zip(sets, keep, strict=True)]
            np.save(folder / f"{name}.npy", np.concatenate(parts))
        field = cls(folder)
        list(pool.map(_write_buckets, [(field, table) for table in range(nominate.TABLES)]))
        return field

    def column(self, name: str) -> NDArray[Any]:
        """One array, mapped."""
        found: NDArray[Any] = np.load(self.folder / f"{name}.npy", mmap_mode="r")
        return found

    def table(self, number: int) -> nominate.Buckets:
        """One hash table, mapped."""
        return nominate.Buckets(*(self.column(f"{number}-{item.name}") for item in fields(nominate.Buckets)))


def _write_buckets(task: tuple[_Field, int]) -> None:
    field, number = task
    made = nominate.buckets((field.column("code"), number))
    for item in fields(made):
        np.save(field.folder / f"{number}-{item.name}.npy", getattr(made, item.name))


def _nominees(joined: _Joint, pool: Executor) -> list[places.Places]:
    """Pairs of pictures to compare, in numbers of `joined.pictures`; of one pair in several rounds."""
    thumbs = joined.thumbs()
    hashes = nominate.joint(joined.sets, "phash")[joined.pictures]
    near = nominate.near_hashes(hashes, joined.sides(), pool)
    near = near[places.alike(thumbs, near)]
    del thumbs
    with tempfile.TemporaryDirectory(prefix="medqrels-images-") as folder:
        field = _Field.of(joined, Path(folder), pool)
        total = len(field.column("image"))
        blocks = [
            (field, start, min(start + _POINTS_AT_ONCE, total)) for start in range(0, total, _POINTS_AT_ONCE)
        ]
        parts = list(pool.map(_places, blocks))
    rounds = [places.joined([part[number] for part in parts]) for number in range(len(places.BEST))]
    return [places.Places.unknown(near), *rounds]


def _places(task: tuple[_Field, int, int]) -> list[places.Places]:
    """Best places of all pairs whose first picture has its keypoints in one block."""
    field, start, end = task
    image = field.column("image")
    start, end = (int(np.searchsorted(image, image[at])) if at < len(image) else at for at in (start, end))
    tables = (field.table(number) for number in range(nominate.TABLES))
    block = slice(start, end)
    matches = nominate.matching_points(field.column("code"), image, field.column("sides"), tables, block)
    points = places.Keypoints(image, *(field.column(name) for name in ("x", "y", "size")))
    rough = places.lying_alike(matches, points)
    return places.best_places(rough, field.column("thumbs"), field.column("sizes"), points, matches)


def _confirmed(joined: _Joint, pool: Executor) -> Iterator[tuple[tuple[int, int], confirm.Agreement]]:
    """Nominated pairs that agree pixel by pixel, as places in the joint numbering.

    A pair's next place is tried only when the places before it did not hold.
    """
    held: dict[tuple[int, int], confirm.Agreement] = {}
    for found in _nominees(joined, pool):
        for batch, starts in _passes(joined, found, held):
            shown = _decoded(joined, sorted({place for pair in batch for place in pair}), pool)
            work = [
                (shown[one], shown[other], start) for (one, other), start in zip(batch, starts, strict=True)
            ]
            tasks = [work[at : at + _PAIRS_PER_TASK] for at in range(0, len(work), _PAIRS_PER_TASK)]
            agreements = [item for part in pool.map(_compare, tasks) for item in part]
            for pair, agreement in zip(batch, agreements, strict=True):
                if agreement is not None:
                    held[pair] = agreement
    yield from sorted(held.items(), key=lambda item: item[0])


Start = tuple[float, float, float] | None


def _passes(
    joined: _Joint, found: places.Places, done: Container[tuple[int, int]]
) -> Iterator[tuple[list[tuple[int, int]], list[Start]]]:
    """Cut the work that is not done so that few decoded images are in memory at once."""
    order = np.lexsort((found.scale, found.other, found.one))
    batch: list[tuple[int, int]] = []
    starts: list[Start] = []
    held: set[int] = set()
    for at in order:
        pair = int(joined.pictures[found.one[at]]), int(joined.pictures[found.other[at]])
        if pair in done:
            continue
        if len(held | set(pair)) > _IMAGES_AT_ONCE:
            yield batch, starts
            batch, starts, held = [], [], set()
        held |= set(pair)
        batch.append(pair)
        starts.append(_start(joined, pair, found, int(at)))
    if batch:
        yield batch, starts


def _start(joined: _Joint, pair: tuple[int, int], found: places.Places, at: int) -> Start:
    """Where the other picture lies on the one, in pixels of the files: one = scale * other + shift."""
    if np.isnan(found.scale[at]):
        return None
    scales = [float(features.scale[place]) for features, place in map(joined.source, pair)]
    scale = float(found.scale[at]) * scales[0] / scales[1]
    x, y = float(found.x[at]) / scales[1], float(found.y[at]) / scales[1]
    return 1 / scale, -x / scale, -y / scale


@dataclass(frozen=True, slots=True)
class _Shown:
    """A decoded picture that can be sent to another process."""

    pixels: NDArray[np.uint8]
    shrunk: float
    """Pixels of the picture per pixel of the file."""


def _decoded(joined: _Joint, images: Sequence[int], pool: Executor) -> dict[int, _Shown]:
    """Decode some images again, each row group read once."""
    wanted: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place in images:
        features, at = joined.source(place)
        wanted[joined.place(place)[0], int(features.file[at])].append(place)
    tasks = []
    for _, members in sorted(wanted.items()):
        for start in range(0, len(members), 100):
            part = members[start : start + 100]
            sources = [joined.source(place) for place in part]
            rows = [(int(features.group[at]), int(features.row[at])) for features, at in sources]
            path = sources[0][0].files[int(sources[0][0].file[sources[0][1]])]
            tasks.append((path, dict(zip(rows, part, strict=True))))
    return {place: shown for part in pool.map(_open, tasks) for place, shown in part}


def _open(task: tuple[Path, dict[tuple[int, int], int]]) -> list[tuple[int, _Shown]]:
    path, wanted = task
    found = []
    for row in greys.rows(path, sorted({group for group, _ in wanted}), frozenset(wanted)):
        grey = greys.decode(row.data or b"")
        shown = _Shown(np.asarray(grey.image), grey.image.width / grey.width)
        found.append((wanted[row.group, row.row], shown))
    return found


def _compare(task: Sequence[tuple[_Shown, _Shown, Start]]) -> list[confirm.Agreement | None]:
    """Align and compare some pairs; None where they are no copies."""
    found: list[confirm.Agreement | None] = []
    for one, other, start in task:
        first, second = Image.fromarray(one.pixels), Image.fromarray(other.pixels)
        if start is None:
            place = confirm.stretched(first, second)
        else:
            scale = start[0] * one.shrunk / other.shrunk
            place = confirm.Place(scale, scale, start[1] * one.shrunk, start[2] * one.shrunk)
        agreement = confirm.compare(first, second, place)
        found.append(agreement if agreement is not None and agreement.is_copy else None)
    return found
