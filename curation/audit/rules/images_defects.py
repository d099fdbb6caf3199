"""Defects of images to plant: damaged bytes, drawn pictures that come back rescaled, cropped or re-encoded.

Pictures are drawn by seed when they are needed; each stands in a row of its own.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from PIL import Image, ImageDraw

from curation.audit.rule import Defect
from curation.published.query import Sandbox
from schemas.hashing import sha256_bytes

_SIZE = (320, 256)


@cache
def drawn(seed: int) -> Image.Image:
    """A picture of shapes, strokes and tones that no other seed gives."""
    source = np.random.default_rng(seed)

    def chance(low: int, high: int) -> int:
        return int(source.integers(low, high))

    image = Image.new("RGB", _SIZE, (chance(60, 200), chance(60, 200), chance(60, 200)))
    draw = ImageDraw.Draw(image)
    for number in range(70):
        left, top = chance(0, _SIZE[0]), chance(0, _SIZE[1])
        right, bottom = left + chance(8, 70), top + chance(8, 60)
        fill = (chance(0, 256), chance(0, 256), chance(0, 256))
        if number % 3:
            draw.ellipse((left, top, right, bottom), fill=fill)
        else:
            draw.rectangle((left, top, right, bottom), fill=fill)
    return image


def encoded(image: Image.Image, kind: str = "JPEG", quality: int = 88, **options: int) -> bytes:
    """The bytes of a picture."""
    out = io.BytesIO()
    image.save(out, format=kind, quality=quality, **options)
    return out.getvalue()


def rescaled(image: Image.Image) -> Image.Image:
    """At 0.6 of its size, a little brighter."""
    small = image.resize((int(image.width * 0.6), int(image.height * 0.6)), Image.Resampling.BICUBIC)
    return small.point([min(255, round(value * 1.06)) for value in range(256)] * 3)


def cropped(image: Image.Image) -> Image.Image:
    """About four fifths of each side, at 1.3 of its size."""
    width, height = image.size
    cut = image.crop((round(width * 0.14), round(height * 0.04), round(width * 0.96), round(height * 0.87)))
    return cut.resize((round(cut.width * 1.3), round(cut.height * 1.3)), Image.Resampling.BICUBIC)


def bomb() -> bytes:
    """A PNG of a few bytes that says it has 3.6 thousand million pixels."""
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def add(sandbox: Sandbox, table: str, name: str, data: bytes | None) -> None:
    """A further row with a picture."""
    picture = "NULL" if data is None else f"{{'bytes': unhex('{data.hex()}'), 'path': '{name}.img'}}"
    sandbox.run(f"INSERT INTO {table} BY NAME SELECT '{name}' AS id, {picture} AS image")


def pictured(sandbox: Sandbox) -> str:
    """The table to add pictures to: queries, or the corpus if only that can hold them."""
    columns = sandbox.run("DESCRIBE queries")
    return "queries" if any(row["column_name"] == "image" for row in columns) else "corpus"


def shown_twice(
    name: str,
    one: str,
    other: str,
    seed: int,
    again: Callable[[Image.Image], bytes],
    beside: str = "",
    second: str = "",
) -> Defect:
    """A picture in a row of one table ('' for `pictured`), and `again` in a row of another.

    `beside` is SQL for what else there is of the rows {0} and {1}.
    """
    names = [f"planted-{seed}a", f"planted-{seed}b"]

    def plant(sandbox: Sandbox) -> list[str]:
        image = drawn(seed)
        add(sandbox, one or pictured(sandbox), names[0], encoded(image))
        add(sandbox, other, names[1], again(image))
        if beside:
            sandbox.run(beside.format(*names))
        return names

    return Defect(name, plant, second=second)


def rescaled_file(image: Image.Image) -> bytes:
    """The picture rescaled, as another file."""
    return encoded(rescaled(image), quality=60)


def cropped_file(image: Image.Image) -> bytes:
    """The picture cropped, as another file."""
    return encoded(cropped(image), quality=60)


def same_pixels(image: Image.Image) -> bytes:
    """Another file with the pixels of `encoded`."""
    return encoded(Image.open(io.BytesIO(encoded(image))), "PNG")


def _damaged(name: str, data: bytes | None, recorded: bytes | None = None, table: str = "") -> Defect:
    """A row whose picture is damaged, or not the one recorded."""

    def plant(sandbox: Sandbox) -> list[str]:
        of, row = table or pictured(sandbox), f"planted: {name}"
        add(sandbox, of, row, data)
        if recorded is not None:
            digest = sha256_bytes(recorded)
            sandbox.run(
                f"INSERT INTO provenance_{of} BY NAME SELECT '{row}' AS id, '{digest}' AS image_sha256"
            )
        return [row]

    return Defect(name, plant)


_GOOD = encoded(drawn(10))
UNDECODED = (
    _damaged("an image cut short", _GOOD[: len(_GOOD) // 2]),
    _damaged("an error page instead of an image", b"<!DOCTYPE html><html><body>Forbidden</body></html>"),
    _damaged("an image of 60,000 x 60,000 pixels in 100 bytes", bomb()),
    _damaged("an image of a document cut short", _GOOD[: len(_GOOD) // 3], table="corpus"),
)
OTHER_BYTES = _damaged("another image than the one recorded", _GOOD, bomb())
NO_BYTES = _damaged("a recorded image without a byte", b"", _GOOD)
LOST = (
    _damaged("a recorded image that is missing", None, _GOOD),
    Defect(
        "a recorded image of a row that is missing",
        """INSERT INTO provenance_corpus BY NAME
        SELECT 'planted: a row' AS id, repeat('0', 64) AS image_sha256 RETURNING id""",
    ),
)
_TO_QUERIES = """INSERT INTO qrels BY NAME SELECT '{0}' AS "query-id", id AS "corpus-id", 1 AS score
        FROM corpus WHERE rowid = 0;
    INSERT INTO qrels BY NAME SELECT '{1}' AS "query-id", id AS "corpus-id", 1 AS score
        FROM corpus WHERE rowid = 1"""
_TO_DOCUMENT = """INSERT INTO qrels BY NAME SELECT id AS "query-id", '{0}' AS "corpus-id", 1 AS score
    FROM queries WHERE rowid = 0"""
_queries = partial(shown_twice, one="queries", other="queries", beside=_TO_QUERIES)
_documents = partial(shown_twice, one="corpus", other="corpus", beside=_TO_DOCUMENT)
DUPLICATES = {
    "queries": (
        _queries("two queries with equal image bytes and different labels", seed=20, again=encoded),
        _queries("two queries, one image at 0.6 of its size", seed=21, again=rescaled_file),
    ),
    "corpus": (
        _documents("two documents with equal image bytes and different labels", seed=22, again=encoded),
        _documents("two documents, one image at 0.6 of its size", seed=23, again=rescaled_file),
    ),
}
CROPS = {
    "queries": _queries("two queries, one image cut to four fifths", seed=24, again=cropped_file),
    "corpus": _documents("two documents, one image cut to four fifths", seed=25, again=cropped_file),
}
_SELF = ("queries", "corpus")
SELF_MATCH = (
    shown_twice("a query's image, byte for byte, among the documents", *_SELF, 30, encoded),
    shown_twice("a query's image, rescaled, among the documents", *_SELF, 31, rescaled_file),
    shown_twice("a query's image, cropped, among the documents", *_SELF, 32, cropped_file),
)
_SPLITS = "INSERT INTO provenance_queries BY NAME FROM (VALUES ('{0}', 'test'), ('{1}', 'dev')) o(id, split)"
_POSITIVE = """INSERT INTO queries BY NAME FROM (VALUES ('{0}q'), ('{1}q')) q(id);
    INSERT INTO qrels BY NAME
        FROM (VALUES ('{0}q', '{0}', 1), ('{1}q', '{1}', 1)) r("query-id", "corpus-id", score);
    INSERT INTO provenance_queries BY NAME
        FROM (VALUES ('{0}q', 'test'), ('{1}q', 'dev')) o(id, split)"""
_TASKS = """INSERT INTO provenance_queries BY NAME SELECT '{0}' AS id, 'test' AS split;
    INSERT INTO second.provenance_queries BY NAME SELECT '{1}' AS id, 'test' AS split"""
_beside = partial(shown_twice, one="queries", other="queries", beside=_SPLITS)
_sibling = partial(shown_twice, one="queries", other="second.queries", beside=_TASKS, second="sibling")
OVERLAP = (
    _beside("a test query's image rescaled in dev", seed=40, again=rescaled_file),
    _beside("a test query's image cropped in dev", seed=41, again=cropped_file),
    shown_twice(
        "a positive document's image cropped in dev", "corpus", "corpus", 42, cropped_file, _POSITIVE
    ),
    _sibling("a image rescaled in another task", seed=43, again=rescaled_file),
    _sibling("a image cropped in another task", seed=44, again=cropped_file),
)
