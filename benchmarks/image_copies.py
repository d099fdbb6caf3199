"""Planted copies of pictures, and pairs among real ones: recall, false pairs, speed, beside imagehash.

Pictures are drawn by seed or are the shared real ones; copies are rescaled, re-encoded, brightened, cropped.
Only names, sizes and counts are written down.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import imagehash
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageDraw

from benchmarks.measure import SHARED, save
from curation.audit.executor import SerialExecutor
from curation.similarity.image import ImageFeatures, features, same_images
from schemas.hashing import sha256_bytes
from schemas.published import IMAGE

POOL = SerialExecutor()
KINDS = (
    "re-encoded",
    "brighter",
    "half size",
    "twice the size",
    "any size",
    "cropped",
    "cropped and rescaled",
)
DRAWN = ("noise", "chart", "shapes", "gradient")
SMALL = 256
KNOWN_COPIES: Mapping[frozenset[str], str] = {
    frozenset(
        ("fd89fb6a2a0f973016f2de7ee2b64b51ca573999.jpg", "0c10c88b56f3f9b4f4eccfe9ddbca3fd581aac1b.jpg")
    ): ("a figure and its thumbnail"),
    frozenset(
        ("afd520e3ff23a23f2c973bbbaa26094e9e50f487.jpg", "c2e5f2b77881866ef9820b03e99b3fedbb14cb69.jpg")
    ): ("a figure and its thumbnail"),
}
"""Pairs of real files found to be copies by looking at them."""
Rows = list[tuple[str, bytes]]


def drawn(kind: str, seed: int) -> Image.Image:
    """A generated picture; pictures of one kind share their build and differ in what they show."""
    source, grid = random.Random(f"{kind} {seed}"), np.random.default_rng(seed)
    if kind == "noise":
        coarse = grid.integers(0, 256, (36 + seed % 9, 44, 3)).astype(np.uint8)
        return Image.fromarray(coarse).resize((520, 420), Image.Resampling.BICUBIC)
    if kind == "gradient":
        y, x = np.mgrid[0:1:400j, 0:1:500j]
        waves = sum(
            source.uniform(10, 40)
            * np.sin(2 * np.pi * (source.uniform(-6, 6) * x + source.uniform(-6, 6) * y))
            for _ in range(9)
        )
        fine = np.asarray(
            Image.fromarray(grid.normal(0, 14, (60, 75)).astype(np.float32)).resize((500, 400), 2)
        )
        return Image.fromarray(np.clip(90 + 80 * x + waves + fine, 0, 255).astype(np.uint8)).convert("RGB")
    image = Image.new("RGB", (480, 360), "white")
    draw = ImageDraw.Draw(image)
    if kind == "chart":
        draw.rectangle((50, 20, 460, 310), outline="black", width=2)
        for number in range(9):
            left = 66 + number * 43
            draw.rectangle((left, source.randrange(40, 290), left + 26, 309), fill=(70, 90, 170))
            draw.text((left, 318), source.choice("ABCDEFGHJKLMNPQR") * 2, fill="black")
            draw.text((14, 30 + number * 30), str(source.randrange(10, 99)), fill="black")
        return image
    for _ in range(60):
        left, top = source.randrange(480), source.randrange(360)
        box = (left, top, left + source.randrange(10, 90), top + source.randrange(10, 80))
        fill = tuple(source.randrange(256) for _ in range(3))
        (draw.ellipse if source.random() < 0.6 else draw.rectangle)(box, fill=fill)
    return image


def real_files(shared: Path) -> list[Path]:
    """The shared real images, in order of name."""
    found = [
        path
        for folder in ("jats-with-images", "openstax")
        for path in (shared / folder).rglob("*")
        if path.suffix.lower() in {".jpg", ".jpeg", ".png", ".gif", ".tif", ".tiff"}
    ]
    return sorted(found, key=lambda path: (path.name, str(path)))


def copy(image: Image.Image, kind: str, source: random.Random) -> bytes:
    """One copy as JPEG of quality 60."""
    made = image.convert("RGB")
    if kind.startswith("cropped"):
        width, height = (max(24, round(side * source.uniform(0.7, 0.95))) for side in made.size)
        left = source.randrange(max(1, made.width - width + 1))
        top = source.randrange(max(1, made.height - height + 1))
        made = made.crop((left, top, left + width, top + height))
    factor = {"half size": 0.5, "twice the size": 2.0}.get(kind, 1.0)
    if kind in {"any size", "cropped and rescaled"}:
        factor = math.exp(source.uniform(math.log(0.5), math.log(2.0)))
    if factor != 1.0:
        size = (max(16, round(made.width * factor)), max(16, round(made.height * factor)))
        made = made.resize(size, Image.Resampling.BICUBIC)
    if kind in {"brighter", "cropped and rescaled"}:
        gain = source.uniform(0.9, 1.1)
        made = made.point([min(255, round(value * gain)) for value in range(256)] * 3)
    out = io.BytesIO()
    made.save(out, format="JPEG", quality=60)
    return out.getvalue()


def written(path: Path, rows: Rows) -> Path:
    """Rows as the `queries` table of a release, as far as images go."""
    cells = [{"bytes": data, "path": None} for _, data in rows]
    names = pa.array([name for name, _ in rows], pa.string())
    pq.write_table(pa.table({"id": names, "image": pa.array(cells, IMAGE)}), path, row_group_size=100)
    return path


def png(image: Image.Image) -> bytes:
    """Bytes of a generated picture."""
    out = io.BytesIO()
    image.save(out, format="PNG")
    return out.getvalue()


def small(image: Image.Image) -> bytes:
    """A JPEG of at most 256 pixels a side, the size speed is told for."""
    made = image.convert("RGB")
    made.thumbnail((SMALL, SMALL))
    out = io.BytesIO()
    made.save(out, format="JPEG", quality=85)
    return out.getvalue()


def ours(
    originals: Rows, copies: Rows, folder: Path
) -> tuple[set[tuple[str, str]], set[tuple[str, str]], float]:
    """Pairs within all, pairs of two originals apart, and seconds."""
    started = time.process_time()
    found = features({"queries": [written(folder / "all.parquet", originals + copies)]}, POOL)
    pairs = {
        (str(found.ids[pair.one]), str(found.ids[pair.other])) for pair in same_images(found, None, POOL)
    }
    seconds = time.process_time() - started
    names = {name for name, _ in originals}
    return pairs, {pair for pair in pairs if names.issuperset(pair)}, seconds


Fingerprint = Callable[[Image.Image], Any]
Near = Callable[[Any, Any], bool]


def peer(
    originals: Rows, copies: Rows, make: Fingerprint, near: Near
) -> tuple[set[tuple[str, str]], set[tuple[str, str]], float]:
    """The same by imagehash, comparing every pair."""
    started = time.process_time()
    hashes = [(name, make(Image.open(io.BytesIO(data)).convert("RGB"))) for name, data in originals + copies]
    pairs = {
        (one, other)
        for place, (one, first) in enumerate(hashes)
        for other, second in hashes[place + 1 :]
        if near(first, second)
    }
    seconds = time.process_time() - started
    names = {name for name, _ in originals}
    return pairs, {pair for pair in pairs if names.issuperset(pair)}, seconds


PEERS: Mapping[str, tuple[Fingerprint, Near]] = {
    "imagehash phash <= 8": (imagehash.phash, lambda one, other: bool(one - other <= 8)),
    "imagehash crop_resistant_hash": (
        lambda image: imagehash.crop_resistant_hash(image, min_segment_size=500, segmentation_image_size=300),
        lambda one, other: bool(one.matches(other)),
    ),
}


def planted(originals: Sequence[tuple[str, Image.Image]], per_kind: int, seed: int) -> Rows:
    """Copies named `<original>|<kind>|<number>`."""
    rows = []
    for name, image in originals:
        for kind in KINDS:
            for number in range(per_kind):
                source = random.Random(f"{seed} {name} {kind} {number}")
                rows.append((f"{name}|{kind}|{number}", copy(image, kind, source)))
    return rows


def scored(pairs: set[tuple[str, str]], copies: Rows, groups: Mapping[str, str]) -> dict[str, Any]:
    """Recall per kind, of original and copy; and pairs of different pictures."""
    both = pairs | {(other, one) for one, other in pairs}
    recall: dict[str, dict[str, int]] = {kind: {"planted": 0, "found": 0} for kind in KINDS}
    for name, _ in copies:
        original, kind, _ = name.split("|")
        recall[kind]["planted"] += 1
        recall[kind]["found"] += (original, name) in both
    wrong = sum(groups[one.split("|")[0]] != groups[other.split("|")[0]] for one, other in pairs)
    return {"recall": recall, "pairs": len(pairs), "pairs_of_different_pictures": wrong}


def pairs_among(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Every pair among image files that is taken for copies, and whether it was seen to be one."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [(str(path), path.read_bytes()) for path in files]
        found = features({"queries": [written(Path(folder) / "real.parquet", rows)]}, POOL)
        listed = []
        for pair in same_images(found, None, POOL):
            names = [Path(str(found.ids[place])).name for place in (pair.one, pair.other)]
            known = KNOWN_COPIES.get(frozenset(names), "")
            is_copy = pair.how == "bytes" or bool(known)
            listed.append(
                {"files": names, "how": pair.how, "score": pair.score, "is_copy": is_copy, "seen": known}
            )
        return listed


def speed(images: Sequence[bytes], folder: Path) -> dict[str, Any]:
    """Milliseconds of CPU an image through everything but the comparison of pixels."""
    path = written(folder / "speed.parquet", [(f"{place:05}", data) for place, data in enumerate(images)])
    best, found = math.inf, None
    for _ in range(3):
        started = time.process_time()
        found = features({"queries": [path]}, POOL)
        best = min(best, (time.process_time() - started) / len(images))
    assert isinstance(found, ImageFeatures)
    return {
        "images": len(images),
        "pixels_a_side_at_most": SMALL,
        "mean_bytes": round(sum(map(len, images)) / len(images)),
        "milliseconds_each": round(best * 1000, 3),
        "images_per_cpu_second": round(1 / best),
        "keypoints_each": round(float(found.first[-1]) / len(images), 1),
    }


def run(
    originals: Sequence[tuple[str, Image.Image]],
    groups: Mapping[str, str],
    per_kind: int,
    seed: int,
    peers: bool,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Score every contestant on one set of pictures."""
    rows = [(name, png(image)) for name, image in originals]
    copies = planted(originals, per_kind, seed)
    with tempfile.TemporaryDirectory() as folder:
        pairs, _, seconds = ours(rows, copies, Path(folder))
    yield "medqrels", {**scored(pairs, copies, groups), "cpu_seconds": round(seconds, 1)}
    for name, (make, near) in PEERS.items() if peers else ():
        pairs, _, seconds = peer(rows, copies, make, near)
        yield name, {**scored(pairs, copies, groups), "cpu_seconds": round(seconds, 1)}


def main() -> None:
    """Plant, find, count, save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--drawn", type=int, default=12, help="generated pictures of each kind")
    options.add_argument("--per-kind", type=int, default=1, help="copies of each kind of each picture")
    options.add_argument("--seed", type=int, default=20_261_121)
    options.add_argument("--no-peers", action="store_true")
    given = options.parse_args()
    made = [(f"{kind}-{seed}", drawn(kind, seed)) for kind in DRAWN for seed in range(given.drawn)]
    files = real_files(given.data)
    real = [(f"{sha256_bytes(path.read_bytes())[:16]}", Image.open(path).convert("RGB")) for path in files]
    same = {sha256_bytes(path.read_bytes())[:16]: path.name for path in files}
    groups = {name: name for name, _ in (*made, *real)}
    for known in KNOWN_COPIES:
        members = [digest for digest, name in same.items() if name in known]
        groups.update(dict.fromkeys(members, members[0]))
    result: dict[str, Any] = {"seed": given.seed, "kinds": list(KINDS), "sets": {}}
    for name, originals in (("generated", made), ("real", real)):
        distinct = list(dict(originals).items())
        scores = dict(run(distinct, groups, given.per_kind, given.seed, not given.no_peers))
        result["sets"][name] = {"pictures": len(distinct), **scores}
    result["real_pairs"] = pairs_among(real_files(given.data))
    with tempfile.TemporaryDirectory() as folder:
        result["speed"] = speed([small(image) for _, image in real] * 4, Path(folder))
    print(json.dumps(result, indent=1))
    print(save("image_copies", result))


if __name__ == "__main__":
    main()
