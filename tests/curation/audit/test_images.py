"""The image engine: what is seen of an image, and which pairs show the same picture."""

from __future__ import annotations

import base64
import gc
import io
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageDraw

from benchmarks.image_copies import DRAWN, KNOWN_COPIES, pairs_among, real_files, run
from benchmarks.image_copies import drawn as benchmark_picture
from curation.audit.executor import SerialExecutor
from curation.audit.page.thumbs import thumbnail, thumbnail_of
from curation.audit.rules.images_defects import bomb, cropped, drawn, encoded, rescaled
from curation.images.decode import open_image
from curation.images.fingerprint import perceptual_hash
from curation.similarity.image import ImageFeatures, features, greys, nominate, same_images
from curation.similarity.image.confirm import compare, stretched
from curation.similarity.image.features import perceptual_hashes
from curation.similarity.image.greys import Grey, decode
from curation.similarity.image.points import AREA, BITS, MOST, STABLE, keypoints
from schemas.errors import InputError
from schemas.published import IMAGE
from scripts import sample_images
from scripts.sample_images import IMAGE_SUFFIXES
from sources.sample import bucket_dir

POOL = SerialExecutor()
Rows = Sequence[tuple[str, bytes | None]]


def write(path: Path, rows: Rows, group: int = 100) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [None if data is None else {"bytes": data, "path": None} for _, data in rows]
    names = pa.array([name for name, _ in rows], pa.string())
    pq.write_table(pa.table({"id": names, "image": pa.array(cells, IMAGE)}), path, row_group_size=group)
    return path


def seen(
    tmp_path: Path, rows: Rows, name: str = "q", pool: Executor = POOL, group: int = 100
) -> ImageFeatures:
    return features({"queries": [write(tmp_path / f"{name}.parquet", rows, group)]}, pool)


def chart(seed: int) -> Image.Image:
    """A bar chart: the same axes and frame for every seed, other bars."""
    source = random.Random(seed)
    image = Image.new("RGB", (400, 300), "white")
    draw = ImageDraw.Draw(image)
    draw.line((40, 20, 40, 260), fill="black", width=2)
    draw.line((40, 260, 380, 260), fill="black", width=2)
    for number in range(8):
        left = 55 + number * 40
        draw.rectangle((left, source.randrange(30, 240), left + 24, 259), fill=(70, 90, 160))
        draw.text((left, 266), "ABCDEFGH"[number], fill="black")
        draw.text((8, 30 + number * 28), str(80 - number * 10), fill="black")
    return image


def film(seed: int) -> Image.Image:
    """Something like a radiograph: one build for every seed, other details."""
    grid = np.random.default_rng(seed)
    y, x = np.mgrid[-1:1:256j, -1:1:256j]
    body = 150 * np.exp(-(x**2 * 2 + y**2)) - 70 * np.exp(-(((abs(x) - 0.45) / 0.25) ** 2 + (y / 0.6) ** 2))
    fine = np.asarray(Image.fromarray(grid.normal(0, 22, (52, 52)).astype(np.float32)).resize((256, 256), 2))
    return Image.fromarray(np.clip(body + fine + 60, 0, 255).astype(np.uint8)).convert("RGB")


def noise(seed: int) -> Image.Image:
    grid = np.random.default_rng(seed).integers(0, 256, (40, 48, 3)).astype(np.uint8)
    return Image.fromarray(grid).resize((480, 400), Image.Resampling.BICUBIC)


KINDS: Mapping[str, Callable[[int], Image.Image]] = {
    "chart": chart,
    "film": film,
    "noise": noise,
    "drawn": drawn,
}


def cut(image: Image.Image, source: random.Random) -> Image.Image:
    """70 to 95 % of each side, anywhere."""
    width, height = (round(side * source.uniform(0.7, 0.95)) for side in image.size)
    left, top = source.randrange(image.width - width + 1), source.randrange(image.height - height + 1)
    return image.crop((left, top, left + width, top + height))


def resized(image: Image.Image, factor: float) -> Image.Image:
    return image.resize((round(image.width * factor), round(image.height * factor)), Image.Resampling.BICUBIC)


def brighter(image: Image.Image, factor: float) -> Image.Image:
    return image.point([min(255, round(value * factor)) for value in range(256)] * 3)


def pairs(found: ImageFeatures) -> dict[tuple[str, str], str]:
    return {
        (str(found.ids[pair.one]), str(found.ids[pair.other])): pair.how
        for pair in same_images(found, None, POOL)
    }


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_copies_are_found_and_others_are_not(tmp_path: Path, kind: str) -> None:
    source = random.Random(kind)
    rows = []
    for seed in range(5):
        picture = KINDS[kind](seed)
        copies = {
            "": picture,
            "-small": brighter(resized(picture, 0.5), 1.08),
            "-large": resized(picture, 1.9),
            "-cut": resized(cut(picture, source), source.uniform(0.6, 1.8)),
        }
        rows += [(f"{seed}{name}", encoded(copy, quality=60)) for name, copy in copies.items()]
    found = pairs(seen(tmp_path, rows))
    assert all(one.split("-")[0] == other.split("-")[0] for one, other in found), "different images paired"
    for seed in range(5):
        assert found[f"{seed}", f"{seed}-small"] == "rescaled"
        assert found[f"{seed}", f"{seed}-large"] == "rescaled"
        assert found[f"{seed}", f"{seed}-cut"] == "cropped"


def test_equal_bytes_are_found_whatever_they_are(tmp_path: Path) -> None:
    blank = encoded(Image.new("L", (60, 60), 255), "PNG")
    found = seen(tmp_path, [("a", b"no image"), ("b", b"no image"), ("c", blank), ("d", blank), ("e", None)])
    assert pairs(found) == {("a", "b"): "bytes", ("c", "d"): "bytes"}
    assert [bool(problem) for problem in found.problem] == [True, True, False, False]
    assert found.is_flat.tolist()[2:] == [True, True]


def test_equal_bytes_are_decoded_once_whatever_table_they_are_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = encoded(film(1)), encoded(film(2))
    rows: dict[str, Rows] = {
        "queries": [("q1", one), ("q2", b"no image"), ("q3", other)],
        "corpus": [("d1", other), ("d2", None), ("d3", one), ("d4", b"no image"), ("d5", one)],
    }
    given = {table: [write(tmp_path / f"{table}.parquet", cells, 2)] for table, cells in rows.items()}
    decoded: list[bytes] = []

    def counted(data: bytes) -> Grey:
        decoded.append(data)
        return decode(data)

    monkeypatch.setattr(greys, "decode", counted)
    found = features(given, POOL)
    assert decoded == [one, b"no image", other]
    assert found.ids.tolist() == ["q1", "q2", "q3", "d1", "d3", "d4", "d5"]
    assert found.row.tolist() == [0, 1, 0, 0, 0, 1, 0]
    assert found.group.tolist() == [0, 0, 1, 0, 1, 1, 2]
    for at, data in enumerate((one, b"no image", other, other, one, b"no image", one)):
        alone = seen(tmp_path, [("x", data)], f"alone-{at}")
        for name in ("sha256", "problem", "width", "is_flat", "phash", "scale"):
            assert np.array_equal(getattr(found, name)[at], getattr(alone, name)[0]), name
        look = int(found.look[at])
        assert np.array_equal(found.thumbs[look], alone.thumbs[0])
        own = slice(int(found.first[look]), int(found.first[look + 1]))
        for name in ("x", "y", "size", "code"):
            assert np.array_equal(found.points(name)[own], alone.points(name)), name


def test_looks_lie_in_files_that_go_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = seen(tmp_path, [("a", encoded(drawn(1))), ("b", encoded(drawn(2)))])
    (folder,) = tmp_path.glob("medqrels-looks-*")
    assert found.thumbs.shape == (2, 32, 32)
    assert len(found.points("code")) == int(found.first[-1])
    del found
    gc.collect()
    assert not folder.exists()


def test_many_equal_images_are_each_paired_with_the_first(tmp_path: Path) -> None:
    data = encoded(drawn(1), "PNG")
    found = pairs(seen(tmp_path, [(f"{number:03}", data) for number in range(40)]))
    assert found == {("000", f"{number:03}"): "bytes" for number in range(1, 40)}


def test_across_two_sets_only_pairs_of_both(tmp_path: Path) -> None:
    shared = encoded(drawn(3), "PNG")
    one = seen(tmp_path, [("a", shared), ("b", encoded(drawn(4))), ("c", encoded(rescaled(drawn(4))))], "one")
    rows = [("x", shared), ("y", encoded(cropped(drawn(4)))), ("z", encoded(drawn(5)))]
    other = seen(tmp_path, rows, "other")
    found = {
        (str(one.ids[pair.one]), str(other.ids[pair.other])): pair.how
        for pair in same_images(one, other, POOL)
    }
    assert found == {("a", "x"): "bytes", ("b", "y"): "cropped", ("c", "y"): "cropped"}


def test_nothing_to_compare(tmp_path: Path) -> None:
    assert same_images(seen(tmp_path, []), None, POOL) == []
    assert same_images(seen(tmp_path, []), seen(tmp_path, [("a", encoded(drawn(1)))], "b"), POOL) == []
    text = tmp_path / "text.parquet"
    pq.write_table(pa.table({"id": ["a"], "text": ["b"]}), text)
    assert len(features({"queries": [text], "corpus": []}, POOL)) == 0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (encoded(drawn(1))[:3000], "does not decode"),
        (b"<html><body>not found</body></html>", "no raster image"),
        (bomb(), "pixels"),
        (b"\xff\xd8\xff", "does not decode"),
        (b"\x89PNG\r\n\x1a\n" + bytes(500), "does not decode"),
    ],
)
def test_hostile_bytes_are_a_problem_not_a_crash(tmp_path: Path, data: bytes, reason: str) -> None:
    found = seen(tmp_path, [("a", data), ("b", encoded(drawn(1)))])
    assert reason in found.problem[0]
    assert found.problem[1] == ""
    assert same_images(found, None, POOL) == []
    with pytest.raises(InputError):
        decode(data)


def test_quick_and_thorough_decoding_agree() -> None:
    picture = drawn(2)
    for data in (encoded(picture, "PNG"), encoded(picture, quality=90), encoded(picture.convert("L"))):
        quick = np.asarray(decode(data).image, np.int16)
        thorough = np.asarray(open_image(data).image.convert("L"), np.int16)
        assert quick.shape == thorough.shape
        assert np.abs(quick - thorough).mean() < 0.5  # saturated colours are cut off in RGB only
    turned = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.save(turned, "JPEG", exif=exif)
    assert decode(turned.getvalue()).image.size == (picture.height, picture.width)
    palette = io.BytesIO()
    picture.quantize(16).save(palette, "GIF")
    assert decode(palette.getvalue()).width == picture.width


def test_phash_is_that_of_the_release() -> None:
    for kind in KINDS.values():
        grey = kind(1).convert("L")
        thumb = np.asarray(grey.resize((32, 32), Image.Resampling.LANCZOS))
        assert f"{int(perceptual_hashes(thumb[None])[0]):016x}" == perceptual_hash(grey)


def test_where_images_lie_does_not_show(tmp_path: Path) -> None:
    rows = [(f"{seed}", encoded(drawn(seed))) for seed in range(6)] + [("7", encoded(rescaled(drawn(3))))]
    one = seen(tmp_path, rows, "one", group=100)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        many = seen(tmp_path, rows, "many", pool, group=2)
        assert same_images(many, None, pool) == same_images(one, None, POOL)
    for name in ("ids", "sha256", "phash", "thumbs", "look", "first"):
        assert np.array_equal(getattr(one, name), getattr(many, name)), name
    for name in ("x", "y", "size", "code"):
        assert np.array_equal(one.points(name), many.points(name)), name


def test_near_hashes_of_many_are_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = np.random.default_rng(3)
    hashes = grid.integers(0, 1 << 63, 900, dtype=np.int64).astype(np.uint64)
    for place in range(0, 400, 2):
        for bit in grid.choice(64, place % 11, replace=False):
            hashes[place + 1] = hashes[place] if bit == 0 else hashes[place] ^ np.uint64(1 << int(bit))
    hashes[800:] = hashes[0]
    sets = np.full(900, 3, np.uint8)
    few = nominate.near_hashes(hashes, sets, POOL)
    monkeypatch.setattr(nominate, "_FEW", 10)
    assert np.array_equal(few, nominate.near_hashes(hashes, sets, POOL))
    assert len(few) > 100 * 99 / 2
    distance = np.bitwise_count(hashes[:, None] ^ hashes[None, :])
    assert len(few) == int(np.triu(distance <= nominate.MAX_DISTANCE, 1).sum())


def test_keypoints_stay_with_the_picture() -> None:
    grey = np.asarray(drawn(6).convert("L").resize((101, 81), Image.Resampling.HAMMING))
    found = keypoints(grey)
    assert 20 < len(found.x) <= MOST
    assert (found.x < 101).all()
    assert (found.y < 81).all()
    assert int(found.code.max()) < 1 << BITS
    assert sorted(STABLE) == sorted(set(STABLE))
    assert max(STABLE) < BITS
    assert len(keypoints(np.zeros((1, 1), np.uint8)).x) == 0
    assert len(keypoints(np.full((90, 90), 7, np.uint8)).x) == 0
    assert abs(101 * 81 - AREA) < 200


def test_alignment_measures_what_is_common() -> None:
    picture = drawn(7).convert("L")
    whole = compare(picture, resized(picture, 0.5), stretched(picture, resized(picture, 0.5)))
    assert whole is not None
    assert whole.is_copy
    assert whole.is_whole
    other = compare(picture, drawn(8).convert("L"), stretched(picture, picture))
    assert other is None or not other.is_copy


def test_thumbnails(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "name of a patient"
    named = io.BytesIO()
    drawn(1).save(named, "JPEG", exif=exif)
    rows = [("a", named.getvalue()), ("b", b"broken"), ("c", None), ("it's \n", encoded(drawn(2), "PNG"))]
    write(tmp_path / "queries" / "test-00000-of-00001.parquet", rows, group=2)
    uri = thumbnail(tmp_path, "queries", "a", 50)
    assert uri is not None
    head, _, body = uri.partition(",")
    assert head == "data:image/jpeg;base64"
    assert b"patient" not in base64.b64decode(body)
    assert max(Image.open(io.BytesIO(base64.b64decode(body))).size) == 50
    assert thumbnail(tmp_path, "queries", "it's \n") is not None
    for table, name in (("queries", "b"), ("queries", "c"), ("queries", "none"), ("corpus", "a"), ("x", "a")):
        assert thumbnail(tmp_path, table, name) is None
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    assert thumbnail_of([tmp_path / "broken.parquet"], "a") is None


def test_pairs_among_images_of_the_sample_are_its_copies() -> None:
    """One article has two versions with the same files; another a figure for print and one for the web."""
    found = pairs_among(sorted(path for path in bucket_dir().rglob("*.*") if path.suffix in IMAGE_SUFFIXES))
    assert {(*sorted(pair["files"]), pair["how"] == "bytes") for pair in found} == {
        *((name, name, True) for name in sample_images.ALVEOLAR),
        ("10.5555_msjo.9.31-F1_OC.jpg", "10.5555_msjo.9.31-F1_PB.jpg", False),
    }


@pytest.mark.sibling("test_pairs_among_images_of_the_sample_are_its_copies")
def test_pairs_among_real_images_were_looked_at(shared_data: Path) -> None:
    found = pairs_among(real_files(shared_data))
    assert all(pair["is_copy"] for pair in found)
    assert sum(bool(pair["seen"]) for pair in found) == len(KNOWN_COPIES)


def test_a_slice_of_the_benchmark() -> None:
    made = [(f"{kind}-{seed}", benchmark_picture(kind, seed)) for kind in DRAWN for seed in range(2)]
    names = {name: name for name, _ in made}
    scores = dict(run(made, names, per_kind=1, seed=5, peers=False))["medqrels"]
    assert scores["pairs_of_different_pictures"] == 0
    for kind, counts in scores["recall"].items():
        assert counts["planted"] == len(made)
        assert counts["found"] >= len(made) - 1, kind
