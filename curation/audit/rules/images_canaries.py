"""Defects of images to plant: damaged bytes, drawn pictures that come back rescaled, cropped or re-encoded.

Rows are cloned from the copy's own, so that they have whatever columns it has; pictures are drawn by seed.
"""

from __future__ import annotations

import functools
import io
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from curation.audit.rule import Canary, Defect, Rows
from schemas.hashing import sha256_bytes

_SIZE = (320, 256)
_ORIGIN = {"queries": "provenance_queries", "corpus": "provenance_corpus"}
Change = Callable[[Image.Image], Image.Image]


@functools.cache
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


def encoded(image: Image.Image, kind: str = "JPEG", quality: int = 88) -> bytes:
    """The bytes of a picture."""
    out = io.BytesIO()
    image.save(out, format=kind, quality=quality)
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


def same(image: Image.Image) -> Image.Image:
    """As it is."""
    return image


def bomb() -> bytes:
    """A PNG of a few bytes that says it has 3.6 thousand million pixels."""
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _table_with_images(rows: Rows, tables: Sequence[str] = ("queries", "corpus")) -> str | None:
    return next((name for name in tables if rows[name] and "image" in rows[name][0]), None)


def add(
    rows: Rows, table: str, name: str, data: bytes | None, *, split: str = "", recorded: str = ""
) -> None:
    """A clone of the table's first row and of its provenance, with another id and image."""
    clone = dict(rows[table][0])
    is_plain = isinstance(clone["image"], bytes)
    image: Any = data if is_plain or data is None else {"bytes": data, "path": f"{name}.img"}
    rows[table].append(clone | {"id": name, "image": image})
    origins = [row for row in rows[_ORIGIN[table]] if row["id"] == clone["id"]]
    for origin in origins[:1]:
        changed = {"id": name, "image_sha256": recorded or (sha256_bytes(data) if data else None)}
        if split:
            changed["split"] = split
        rows[_ORIGIN[table]].append(dict(origin) | changed)


def judge(rows: Rows, query: str, document: str, score: int = 1) -> None:
    """A clone of the first qrel for another pair."""
    head = rows["qrels"][0] if rows["qrels"] else {}
    rows["qrels"].append(dict(head) | {"query-id": query, "corpus-id": document, "score": score})


def _damaged(label: str, data: bytes | None, recorded: bytes) -> Canary:
    """One row whose image is not what was recorded."""

    def plant(
        rows: Rows, second: Rows, name: str = f"canary-image-{label.split()[-1]}"
    ) -> Sequence[str] | None:
        table = _table_with_images(rows)
        if table is None or not rows[_ORIGIN[table]]:
            return None
        add(rows, table, name, data, recorded=sha256_bytes(recorded))
        return [name]

    return Canary(label, plant)


def _document_truncated(rows: Rows, second: Rows) -> Sequence[str] | None:
    if _table_with_images(rows, ("corpus",)) is None:
        return None
    data = encoded(drawn(11))
    add(rows, "corpus", "canary-document-cut", data[: len(data) // 2])
    return ["canary-document-cut"]


_GOOD = encoded(drawn(10))
_HTML = b"<!DOCTYPE html><html><body>Forbidden</body></html>"
UNDECODED = (
    _damaged("an image cut short", _GOOD[: len(_GOOD) // 2], _GOOD[: len(_GOOD) // 2]),
    _damaged("an error page instead of an image: HTML", _HTML, _HTML),
    _damaged("an image of 60,000 x 60,000 pixels in 100 bytes: bomb", bomb(), bomb()),
    Canary("a document's image cut in half", _document_truncated),
)
OTHER_BYTES = _damaged("another picture than the one recorded: other", encoded(drawn(12)), _GOOD)
NO_BYTES = _damaged("a recorded image without a byte: empty", b"", _GOOD)
LOST = (
    _damaged("a recorded image that is missing", None, _GOOD),
    Defect(
        "a recorded image of a row that is missing",
        """UPDATE provenance_corpus SET image_sha256 = repeat('0', 64) WHERE rowid = 0;
    DELETE FROM corpus WHERE id = (SELECT id FROM provenance_corpus WHERE rowid = 0) RETURNING id""",
    ),
)


def _pair_of_documents(rows: Rows, seed: int, change: Change) -> Sequence[str] | None:
    """Two documents with one picture, the first positive for a query, the second unjudged."""
    if _table_with_images(rows, ("corpus",)) is None or not rows["qrels"]:
        return None
    names = [f"canary-document-{seed}a", f"canary-document-{seed}b"]
    add(rows, "corpus", names[0], encoded(drawn(seed)))
    add(rows, "corpus", names[1], encoded(change(drawn(seed)), quality=60))
    judge(rows, rows["queries"][0]["id"], names[0])
    return names


def _pair_of_queries(rows: Rows, seed: int, change: Change) -> Sequence[str] | None:
    """Two queries with one picture and different positives."""
    if _table_with_images(rows, ("queries",)) is None or len(rows["corpus"]) < 2 or not rows["qrels"]:
        return None
    names = [f"canary-query-{seed}a", f"canary-query-{seed}b"]
    add(rows, "queries", names[0], encoded(drawn(seed)))
    add(rows, "queries", names[1], encoded(change(drawn(seed)), quality=60))
    for name, document in zip(names, rows["corpus"][:2], strict=True):
        judge(rows, name, document["id"])
    return names


def _equal(made: Callable[[Rows, int, Change], Sequence[str] | None], seed: int, change: Change) -> Any:
    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        return made(rows, seed, change)

    return plant


def _byte_copies(table: str) -> Any:
    made = _pair_of_queries if table == "queries" else _pair_of_documents

    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        names = made(rows, 20, same)
        if names is not None:
            rows[table][-1]["image"] = rows[table][-2]["image"]
        return names

    return plant


DUPLICATES = {
    "queries": (
        Canary("two queries with equal image bytes and different labels", _byte_copies("queries")),
        Canary("two queries, one picture at 0.6 of its size", _equal(_pair_of_queries, 21, rescaled)),
    ),
    "corpus": (
        Canary("two documents with equal image bytes and different labels", _byte_copies("corpus")),
        Canary("two documents, one picture at 0.6 of its size", _equal(_pair_of_documents, 22, rescaled)),
    ),
}
CROPS = {
    "queries": Canary("two queries, one picture cut to four fifths", _equal(_pair_of_queries, 23, cropped)),
    "corpus": Canary(
        "two documents, one picture cut to four fifths", _equal(_pair_of_documents, 24, cropped)
    ),
}


def _self(seed: int, change: Change, quality: int) -> Any:
    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not all(_table_with_images(rows, (table,)) for table in ("queries", "corpus")):
            return None
        names = [f"canary-self-{seed}q", f"canary-self-{seed}d"]
        add(rows, "queries", names[0], encoded(drawn(seed)))
        add(rows, "corpus", names[1], encoded(change(drawn(seed)), quality=quality))
        return names

    return plant


SELF_MATCH = (
    Canary("a query's picture, byte for byte, among the documents", _self(30, same, 88)),
    Canary("a query's picture, rescaled, among the documents", _self(31, rescaled, 60)),
    Canary("a query's picture, cropped, among the documents", _self(32, cropped, 60)),
)


def _across_splits(seed: int, change: Change) -> Any:
    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if _table_with_images(rows, ("queries",)) is None or not rows["provenance_queries"]:
            return None
        names = [f"canary-split-{seed}t", f"canary-split-{seed}d"]
        add(rows, "queries", names[0], encoded(drawn(seed)), split="test")
        add(rows, "queries", names[1], encoded(change(drawn(seed)), quality=60), split="dev")
        return names

    return plant


def _across_tasks(seed: int, change: Change) -> Any:
    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if _table_with_images(rows, ("queries",)) is None or not rows["provenance_queries"]:
            return None
        here, there = f"canary-task-{seed}", f"canary-sibling-{seed}"
        add(rows, "queries", here, encoded(drawn(seed)))
        first = rows["queries"][0]["id"]  # with two splits, provenance may begin with another query
        for table in ("queries", "provenance_queries"):
            second[table] += [dict(row) for row in rows[table] if row["id"] == first]
        add(second, "queries", there, encoded(change(drawn(seed)), quality=60))
        for table in ("queries", "provenance_queries"):
            second[table] = [row for row in second[table] if str(row["id"]).startswith("canary-sibling-")]
        return [here, there]

    return plant


def _positive_documents(rows: Rows, second: Rows) -> Sequence[str] | None:
    """A test query's positive document is a crop of a dev query's."""
    if _table_with_images(rows, ("corpus",)) is None or not rows["provenance_queries"] or not rows["qrels"]:
        return None
    names = ["canary-positive-t", "canary-positive-d"]
    for name, split, change in zip(names, ("test", "dev"), (same, cropped), strict=True):
        add(rows, "corpus", name, encoded(change(drawn(44)), quality=75))
        query = dict(rows["queries"][0]) | {"id": f"{name}-query"}
        rows["queries"].append(query | ({"image": None} if "image" in query else {}))
        origin = dict(rows["provenance_queries"][0]) | {"id": query["id"], "split": split}
        rows["provenance_queries"].append(origin)
        judge(rows, query["id"], name)
    return names


OVERLAP = (
    Canary("a test query's picture rescaled in dev", _across_splits(40, rescaled)),
    Canary("a test query's picture cropped in dev", _across_splits(41, cropped)),
    Canary("a positive document's picture cropped in dev", _positive_documents),
    Canary("a picture rescaled in another task", _across_tasks(42, rescaled), "sibling"),
    Canary("a picture cropped in another task", _across_tasks(43, cropped), "sibling"),
)
