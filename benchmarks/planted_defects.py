"""Defects written by hand into a published release of any size: its Parquet files are edited."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from curation.published.writer import open_writer
from schemas.published import Published
from schemas.tables import CORPUS, EXCLUDED, QRELS, QUERIES

PLANTED = {
    "duplicate_documents": "the text of one document copied into one of another article",
    "near_duplicate_documents": "a positive, three of its words changed, in a document of another article",
    "copied_span": "20 words of a query in a document nobody judged for it",
    "overlap_query": "the text of a query of dev on a query of test",
    "dangling_ids": "a label of a document that is not there",
    "overlap_image_copies": "a picture of a query of dev, half its size and re-encoded, on a query of test",
    "query_without_positive": "the labels of one query deleted",
    "phi_identifiers": "a medical record number in a document",
}
"""Rule -> what is planted for it."""
GONE = "pmc:PMC999.1#p1"

Row = dict[str, Any]


def plant(directory: Path) -> dict[str, list[str]]:
    """Damage the files of one task; rule -> ids that its findings must name."""
    queries = {split: _first(directory / "queries", split, 3) for split in ("test", "dev")}
    pairs = _first(directory / "qrels", "test", 400)
    documents = _first(directory / "corpus", "test", 200)
    positives = {row["corpus-id"] for row in _all(directory / QRELS.folder, "corpus-id")}
    free = [row for row in documents if row["id"] not in positives]
    one, other, target, holder, record = _apart(free, 5)
    test, dev, changed = queries["test"][0], queries["dev"][0], queries["test"][1]
    lost, unanswered = pairs[0], queries["test"][2]["id"]
    positive = next(row for row in _first(directory / "corpus", "test", 3_000) if row["id"] in positives)
    words = test["text"].split(" ")
    texts = {
        other["id"]: one["text"],
        target["id"]: _nearly(positive["text"]),
        holder["id"]: " ".join([*holder["text"].split(" ")[:40], *words[:20], "indeed."]),
        record["id"]: f"{record['text']} Her medical record number is 4482913.",
    }
    _rewrite(directory, CORPUS, lambda row: row | {"text": texts.get(row["id"], row["text"])}, set(texts))
    copy = {"bytes": smaller(dev["image"]["bytes"]), "path": "copy.jpeg"}
    damage = {changed["id"]: {"text": dev["text"]}, test["id"]: {"image": copy}}
    _rewrite(directory, QUERIES, lambda row: row | damage.get(row["id"], {}), set(damage))
    gone = {(lost["query-id"], lost["corpus-id"])}
    _relabel(directory, unanswered, gone)
    return {
        "duplicate_documents": [one["id"], other["id"]],
        "near_duplicate_documents": [positive["id"], target["id"]],
        "copied_span": [test["id"], holder["id"]],
        "overlap_query": [dev["id"], changed["id"]],
        "dangling_ids": [GONE],
        "overlap_image_copies": [test["id"], dev["id"]],
        "query_without_positive": [unanswered],
        "phi_identifiers": [record["id"]],
    }


def _first(folder: Path, split: str, count: int) -> list[Row]:
    """The first rows of a table's first shard."""
    path = min(folder.glob(f"{split}-*.parquet"))
    with pq.ParquetFile(path) as shard:
        found: list[Row] = []
        for batch in shard.iter_batches(count):
            found += batch.to_pylist()
            if len(found) >= count:
                break
    return found[:count]


def _all(folder: Path, column: str) -> Iterator[Row]:
    for path in sorted(folder.glob("*.parquet")):
        yield from pq.read_table(path, columns=[column]).to_pylist()


def _apart(rows: list[Row], count: int) -> list[Row]:
    """Documents of different articles."""
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(row["id"].partition("#")[0], row)
    return list(found.values())[1 : count + 1]


def _nearly(text: str) -> str:
    words = text.split(" ")
    for place in (5, len(words) // 2, len(words) - 3):
        words[place] = "otherwise"
    return " ".join(words)


def smaller(data: bytes) -> bytes:
    """A picture at half its size, re-encoded."""
    with Image.open(io.BytesIO(data)) as image:
        small = image.resize((image.width // 2, image.height // 2), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, format="JPEG", quality=60)
    return out.getvalue()


def _rewrite(directory: Path, table: Published, change: Callable[[Row], Row], ids: set[str]) -> None:
    """Write every shard that holds one of some rows again, row group by row group."""
    for path in table.files(directory):
        if not ids & set(pq.read_table(path, columns=["id"]).column(0).to_pylist()):
            continue
        partial = path.with_suffix(".partial")
        written = table.only(pq.read_schema(path).names)
        with pq.ParquetFile(path) as shard, open_writer(partial, written) as out:
            for group in range(shard.num_row_groups):
                rows = shard.read_row_group(group).cast(written.schema)
                if ids & set(rows.column("id").to_pylist()):
                    changed = [change(row) for row in rows.to_pylist()]
                    rows = pa.Table.from_pylist(changed, schema=written.schema)
                out.write_table(rows, row_group_size=max(rows.num_rows, 1))
        partial.replace(path)


def _relabel(directory: Path, unanswered: str, gone: set[tuple[str, str]]) -> None:
    """Labels of one query deleted, one label turned to a document that is not there."""

    def labels(row: Row) -> Row | None:
        if row["query-id"] == unanswered:
            return None
        return row | {"corpus-id": GONE} if (row["query-id"], row["corpus-id"]) in gone else row

    _each(directory, QRELS, labels)
    _each(directory, EXCLUDED, lambda row: None if row["query-id"] == unanswered else row)


def _each(directory: Path, table: Published, change: Callable[[Row], Row | None]) -> None:
    for path in table.files(directory):
        if path.name.startswith("test"):
            rows = [row for row in map(change, pq.read_table(path).to_pylist()) if row is not None]
            pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
