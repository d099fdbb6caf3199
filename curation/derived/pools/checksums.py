"""Checksums of pools: one that changes when a candidate, its title or its text does, recomputable anywhere.

A document's digest is SHA-256 over id, title and text in UTF-8, a line feed between them; a pool's is SHA-256
over the digests (32 bytes each) of its candidates in id order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

Digests = NDArray[np.uint8]
SIZE, _BATCH = 32, 4_096


def document_digest(row: Mapping[str, Any]) -> bytes:
    """Digest of one row of the corpus table."""
    return hashlib.sha256(
        f"{row['id']}\n{row['title']}\n{row['text']}".encode("utf-8", "surrogatepass")
    ).digest()


def joined(parts: Iterable[bytes]) -> Digests:
    """Digests one below the other, shape (digests, 32)."""
    return np.frombuffer(b"".join(parts), np.uint8).reshape(-1, SIZE)


def corpus_digests(batches: Iterable[pa.RecordBatch]) -> tuple[pa.Array, Digests]:
    """Ids and digests of every document of a corpus table: columns id, title and text, in any order."""
    ids: list[pa.Array] = []
    parts: list[Digests] = []
    for batch in batches:
        ids.append(batch.column("id").cast(pa.string()))
        parts.append(joined(map(document_digest, batch.to_pylist())))
    return (
        pa.concat_arrays([pa.array([], pa.string()), *ids]),
        np.concatenate([np.empty((0, SIZE), np.uint8), *parts]),
    )


def read_documents(files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    """What `corpus_digests` needs of a corpus table, in file order."""
    for path in files:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=_BATCH, columns=["id", "title", "text"])


def pool_checksum(candidates: Digests) -> str:
    """Checksum of a pool from the digests of its candidates in id order, as hex."""
    return hashlib.sha256(candidates.tobytes()).hexdigest()
