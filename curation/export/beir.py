"""BEIR: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv; further columns under `metadata`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from curation.export import tables
from curation.export.files import Out, columns
from curation.export.source import Source
from schemas.tables import CORPUS, QRELS, QUERIES


def write(source: Source, out: Out) -> list[str]:
    """Write the files; what a reader must know of them."""
    out.objects("corpus.jsonl", _corpus(source, out))
    out.objects("queries.jsonl", _queries(source, out))
    for split in source.splits:
        out.lines(f"qrels/{split}.tsv", _qrels(source, split))
        tables.labels(source, split, out, f"labels/{split}.jsonl")
        out.lines(f"excluded/{split}.tsv", tables.left_out(source, split))
        tables.candidates(source, split, out, f"top_ranked/{split}.jsonl")
    notes = [f"BEIR has no place for them: {tables.LEFT_OUT.format('excluded/SPLIT.tsv')}"]
    if source.has_images(CORPUS) or source.has_images(QUERIES):
        notes.append("BEIR's loader reads no images: metadata.image names the file of each row that has one")
    return notes


def _corpus(source: Source, out: Out) -> Iterator[dict[str, Any]]:
    for row in source.rows(CORPUS):
        metadata = {**tables.rest(row, "id", "title", "text"), **tables.with_image(row, out)}
        yield {"_id": row["id"], "title": row["title"], "text": row["text"], "metadata": metadata}


def _queries(source: Source, out: Out) -> Iterator[dict[str, Any]]:
    for split in source.splits:
        for row in source.rows(QUERIES, split):
            metadata = {**tables.rest(row, "id", "text"), "split": split, **tables.with_image(row, out)}
            yield {"_id": row["id"], "text": row["text"], "metadata": metadata}


def _qrels(source: Source, split: str) -> Iterator[str]:
    yield "query-id\tcorpus-id\tscore"
    for row in source.rows(QRELS, split):
        yield columns((row["query-id"], row["corpus-id"], row["score"]), "qrels", "\t")
