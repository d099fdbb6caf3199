"""WebDataset: tar shards of corpus and queries, one sample a row; labels and excluded pairs as JSON Lines."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator

from curation.export import tables
from curation.export.files import Out, bytes_of, kind_of, one_line
from curation.export.source import Row, Source
from schemas.tables import CORPUS, QUERIES

SHARD_BYTES = 256_000_000
_MODE = 0o644


def write(source: Source, out: Out) -> list[str]:
    """Write the files; what a reader must know of them."""
    _shards(source.rows(CORPUS), "corpus", out)
    for split in source.splits:
        _shards(source.rows(QUERIES, split), f"queries-{split}", out)
        tables.labels(source, split, out, f"qrels-{split}.jsonl")
        out.objects(f"excluded-{split}.jsonl", _left_out(source, split))
        tables.candidates(source, split, out, f"top_ranked-{split}.jsonl")
    return [
        "a sample has KEY.json (all columns but text and image), KEY.txt and the image of a row that has one",
        f"shards hold queries and documents alone: {tables.LEFT_OUT.format('excluded-SPLIT.jsonl')}",
    ]


def _left_out(source: Source, split: str) -> Iterator[dict[str, str]]:
    for query, document, reason in source.left_out(split):
        yield {"query-id": query, "corpus-id": document, "reason": reason}


def _shards(rows: Iterator[Row], name: str, out: Out) -> None:
    """Write rows to `NAME-000000.tar` and on; one shard, without samples, where there are no rows."""
    shard, written = 0, 0
    archive = _opened(out, name, shard)
    for number, row in enumerate(rows):
        if written > SHARD_BYTES:
            archive.close()
            shard, written = shard + 1, 0
            archive = _opened(out, name, shard)
        for ending, data in _parts(row):
            entry = tarfile.TarInfo(f"{number:09d}.{ending}")
            entry.size, entry.mode = len(data), _MODE  # no owner, no time: equal rows, equal bytes
            archive.addfile(entry, io.BytesIO(data))
            written += len(data)
        out.told(1)
    archive.close()


def _opened(out: Out, name: str, shard: int) -> tarfile.TarFile:
    return tarfile.open(out.path(f"{name}-{shard:06d}.tar"), "w", format=tarfile.USTAR_FORMAT)


def _parts(row: Row) -> Iterator[tuple[str, bytes]]:
    yield "json", one_line(tables.rest(row, "text")).encode("utf-8")
    yield "txt", row["text"].encode("utf-8")
    data = bytes_of(row)
    if data is not None:
        yield kind_of(data), data
