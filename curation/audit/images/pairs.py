"""Pairs of published images that show the same picture: equal bytes, rescaled or re-encoded copies, crops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from curation.audit.images import confirm, greys, nominate, places
from curation.audit.images.features import ImageFeatures

How = Literal["bytes", "rescaled", "cropped"]
MAX_GROUP = 24
"""Of more images with equal bytes, each is paired with the first only; so are their visual copies."""
_IMAGES_AT_ONCE = 1200
_PAIRS_PER_TASK = 24


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
    joined = _Joint.of(one, other)
    pairs = set(joined.equal_bytes())
    for nominee, agreement in _confirmed(joined, pool):
        how: How = "rescaled" if agreement.is_whole else "cropped"
        for first, second in joined.members(*nominee):
            pairs.add(ImagePair(first, second, how, agreement.correlation))
    return sorted(pairs)


@dataclass(frozen=True, slots=True)
class _Joint:
    """Both sets in one numbering, the one first; `pictures`: distinct ones that can be compared."""

    one: ImageFeatures
    other: ImageFeatures | None
    groups: dict[str, list[int]]
    pictures: NDArray[np.int64]

    @classmethod
    def of(cls, one: ImageFeatures, other: ImageFeatures | None) -> _Joint:
        sha256 = nominate.joint(one, other, "sha256").tolist()
        groups: dict[str, list[int]] = defaultdict(list)
        for place, digest in enumerate(sha256):
            if digest:
                groups[digest].append(place)
        usable = (nominate.joint(one, other, "problem") == "") & ~nominate.joint(one, other, "is_flat")
        firsts = np.array(sorted(members[0] for members in groups.values()), np.int64)
        return cls(one, other, groups, firsts[usable[firsts]] if len(firsts) else firsts)

    @property
    def across(self) -> bool:
        return self.other is not None

    def is_other(self, place: int) -> bool:
        return self.across and place >= len(self.one)

    def source(self, place: int) -> tuple[ImageFeatures, int]:
        """Features an image is in, and its place there."""
        if self.other is not None and place >= len(self.one):
            return self.other, place - len(self.one)
        return self.one, place

    def equal_bytes(self) -> Iterator[ImagePair]:
        for members in self.groups.values():
            for first, second in self._combined(members, members):
                yield ImagePair(first, second, "bytes", 1.0)

    def members(self, first: int, second: int) -> Iterator[tuple[int, int]]:
        """Two pictures as pairs of all images with their bytes, in the numbering of each set."""
        sha256 = [features.sha256[at] for features, at in (self.source(first), self.source(second))]
        yield from self._combined(self.groups[str(sha256[0])], self.groups[str(sha256[1])])

    def _combined(self, firsts: Sequence[int], seconds: Sequence[int]) -> Iterator[tuple[int, int]]:
        if max(len(firsts), len(seconds)) > MAX_GROUP:
            firsts = self._few(firsts)
        for a in firsts:
            for b in seconds:
                low, high = min(a, b), max(a, b)
                if self.across and self.is_other(low) == self.is_other(high):
                    continue
                if low != high:
                    yield low, high - len(self.one) if self.across else high

    def _few(self, members: Sequence[int]) -> list[int]:
        """The first image of each set."""
        sides = {self.is_other(place): place for place in reversed(members)}
        return sorted(sides.values())


def _nominees(joined: _Joint, pool: Executor) -> list[places.Places]:
    """Pairs of pictures to compare, in numbers of `joined.pictures`; of one pair in several rounds."""
    one, other, pictures = joined.one, joined.other, joined.pictures
    sets = _sets(joined)
    thumbs = nominate.joint(one, other, "thumbs")[pictures]
    hashes = nominate.joint(one, other, "phash")[pictures]
    near = nominate.near_hashes(hashes, sets, pool)
    near = near[places.alike(thumbs, near)]
    points, code = _points(joined)
    matches = nominate.matching_points(code, points.image, sets, pool)
    scale = nominate.joint(one, other, "scale")[pictures].astype(np.float64)
    sides = [nominate.joint(one, other, name)[pictures] * scale for name in ("width", "height")]
    rough = places.lying_alike(matches, points)
    found = places.best_places(rough, thumbs, np.stack(sides, axis=1), points, matches)
    return [places.Places.unknown(near), *found]


def _sets(joined: _Joint) -> nominate.Sets:
    """Of each picture, which sets hold its bytes."""
    if not joined.across:
        return np.full(len(joined.pictures), 3, np.uint8)
    found = []
    for place in joined.pictures.tolist():
        features, at = joined.source(place)
        members = joined.groups[str(features.sha256[at])]
        found.append(sum({2 if joined.is_other(member) else 1 for member in members}))
    return np.array(found, np.uint8)


def _points(joined: _Joint) -> tuple[places.Keypoints, NDArray[np.uint64]]:
    """Keypoints of the distinct pictures, and their descriptors."""
    number = np.full(len(joined.one) + len(joined.other or ()), -1, np.int64)
    number[joined.pictures] = np.arange(len(joined.pictures))
    sets = [features for features in (joined.one, joined.other) if features is not None]
    image = np.repeat(number, np.concatenate([np.diff(features.first) for features in sets]))
    keep = image >= 0
    x, y, size, code = (
        nominate.joint(joined.one, joined.other, name)[keep] for name in ("x", "y", "size", "code")
    )
    return places.Keypoints(image[keep], x, y, size), code


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
    wanted: dict[tuple[bool, int], list[int]] = defaultdict(list)
    for place in images:
        features, at = joined.source(place)
        wanted[joined.is_other(place), int(features.file[at])].append(place)
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
