"""Rules on evidence and images: what a label rests on re-extracts, what a row shows decodes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow.parquet as pq
from PIL import Image

from curation.release.audit.rule import CannotRun, Collector, Context, Outcome, Rule, side
from schemas.hashing import normalise_text, sha256_bytes, sha256_text

_DECODES = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)
_ORIGINS = (("queries", "provenance_queries"), ("corpus", "provenance_corpus"))
_EVIDENCE = """
    SELECT q."query-id" AS q, q."corpus-id" AS c, q.evidence, d.text, p.transforms
    FROM provenance_qrels q LEFT JOIN corpus d ON d.id = q."corpus-id"
    LEFT JOIN provenance_corpus p ON p.id = q."corpus-id" ORDER BY q, c"""


def undo(text: str, transforms: Iterable[Mapping[str, Any]]) -> str:
    """The source text: every transform undone, last first."""
    for change in reversed(list(transforms)):
        text = text[: change["start"]] + change["original"] + text[change["end"] :]
    return text


def _source_texts(context: Context) -> Outcome:
    found = Collector("source_texts", "error")
    compared = 0
    for table, origin in _ORIGINS:
        text = f"""SELECT t.id, t.text, p.text_sha256, p.transforms FROM {table} t
            JOIN {origin} p ON p.id = t.id ORDER BY t.id"""
        for batch in context.batches(text, table, origin):
            for row in batch.to_pylist():
                compared += 1
                if sha256_text(undo(row["text"] or "", row["transforms"] or ())) != row["text_sha256"]:
                    found.add(
                        "undoing the transforms does not give the source text",
                        side(table, row["id"], row["text"]),
                    )
    return found.outcome(compared)


def _spans(context: Context) -> Outcome:
    found = Collector("evidence", "error")
    compared, unpublished = 0, 0
    for batch in context.batches(_EVIDENCE, "provenance_qrels", "corpus", "provenance_corpus"):
        for row in batch.to_pylist():
            pair = (side("queries", row["q"]), side("corpus", row["c"], row["text"]))
            if not row["evidence"]:
                found.add("the label has no evidence", *pair)
            source = undo(row["text"] or "", row["transforms"] or ())
            for span in row["evidence"] or ():
                compared += 1
                if span["text_id"] != row["c"]:
                    # A merged duplicate: its own passage is not published; only its words can be sought.
                    if normalise_text(span["text"]) not in normalise_text(source):
                        unpublished += 1
                elif source[span["start"] : span["end"]] != span["text"] or not span["text"]:
                    quoted = side("provenance_qrels", f"{row['q']} {row['c']}", span["text"])
                    found.add(
                        f"the quote is not at {span['start']}–{span['end']} of its passage", *pair, quoted
                    )
    note = (
        f"{unpublished} quotes lie in passages merged into another document and are not published"
        if unpublished
        else ""
    )
    return found.outcome(compared, note)


def _images(context: Context) -> Outcome:
    """Decode every released image and compare its bytes with the recorded hash."""
    found = Collector("images", "error")
    recorded = _recorded(context)
    compared = 0
    for name, data in _released(context):
        compared += bool(data)
        for message in _problems(data, recorded.pop(name, None)):
            found.add(message, side("queries", name))
    for name, wanted in sorted(recorded.items()):
        if wanted is not None:
            found.add("the image that provenance records is missing", side("queries", name))
    return found.outcome(compared)


def _released(context: Context) -> Iterator[tuple[str, bytes | None]]:
    """Query ids and image bytes, a few rows at a time: a batch of a SQL result would hold gigabytes."""
    if "queries" not in context.views:
        raise CannotRun("table absent: queries")
    for path in context.views["queries"]:
        shard = pq.ParquetFile(path)
        if "image" in shard.schema_arrow.names:
            for batch in shard.iter_batches(batch_size=100, columns=["id", "image"]):
                for row in batch.to_pylist():
                    yield row["id"], (row["image"] or {}).get("bytes")


def _recorded(context: Context) -> dict[str, str | None]:
    rows = context.rows("SELECT id, image_sha256 FROM provenance_queries", "provenance_queries")
    return {row["id"]: row["image_sha256"] for row in rows}


def _problems(data: bytes | None, wanted: str | None) -> Sequence[str]:
    """What is wrong with one image."""
    if not data:
        return ["the image that provenance records is missing"] if wanted else []
    problems = []
    if sha256_bytes(data) != wanted:
        problems.append("the image's bytes are not those provenance records")
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
    except _DECODES as error:
        # Pillow names the in-memory stream by its address, which differs from run to run.
        reason = re.sub(r"\s*<_io\.BytesIO[^>]*>", " the bytes", str(error))
        problems.append(f"the image does not decode: {reason}")
    return problems


RULES = (
    Rule(
        "source_texts",
        1,
        "Released text leads back to its source",
        (
            "Undoing the recorded changes of every query and document gives a text with the recorded "
            "hash of the source text."
        ),
        "error",
        "texts",
        _source_texts,
    ),
    Rule(
        "evidence",
        1,
        "Evidence re-extracts",
        "Every label has evidence, and each quote stands at its offsets in the source passage.",
        "error",
        "quotes",
        _spans,
    ),
    Rule(
        "images",
        1,
        "Images decode",
        "Every image that provenance records is there, has the recorded hash, and decodes whole.",
        "error",
        "images",
        _images,
    ),
)
