"""Exact nearest neighbours over embeddings: whole-number vectors, so scores do not hang on blocks or threads.

Unit vectors are rounded to steps of 2^-15; products and sums of such numbers are exact in 64-bit floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from curation.evaluation.ranking import Indices, Keys, Ranking, Scores, best, keys_of, ranking_of
from schemas.record import arrow_schema, column, record

SCALE = 1 << 15
STEP = 1.0 / (SCALE * SCALE)
_QUERIES, _DOCUMENTS, _PAIRS = 512, 8_192, 16_384
_LEVELS = 1 << 20
_NOTHING = np.iinfo(np.int64).min

Vectors = NDArray[np.int16]


@record
class EmbedRequest:
    """One thing to be embedded: a text, images, or both."""

    id: str = column("query or document id")
    role: str = column("query or document; models may prompt them differently")
    text: str = column("text, '' when only the image is wanted")
    images: tuple[bytes, ...] = column("image files in order, when they are wanted", default=())


@record
class Embedding:
    """One answer to an EmbedRequest."""

    id: str = column("query or document id")
    vector: bytes = column("unit vector as little-endian 16-bit whole numbers, 1.0 = 32768, capped at 32767")
    tokens: int = column("tokens of the text, 0 when the model does not count them")
    tokens_kept: int = column("tokens the model read")


def rounded(vectors: NDArray[np.floating]) -> Vectors:
    """Rows scaled to unit length and rounded to whole numbers; a row of zeros stays zero.

    Lengths are of entries in whole steps, so equal rows give equal numbers on any processor.

    Args:
        vectors: (n, dimensions).
    """
    wide = np.asarray(vectors, np.float64)
    largest = np.abs(wide).max(axis=1, keepdims=True, initial=0.0)
    whole = np.rint(np.divide(wide, largest, out=np.zeros_like(wide), where=largest > 0) * _LEVELS)
    lengths = np.sqrt(np.einsum("ij,ij->i", whole, whole))[:, None]  # exact below 2^13 dimensions
    unit = np.divide(whole, lengths, out=np.zeros_like(wide), where=lengths > 0)
    steps: Vectors = np.clip(np.rint(unit * SCALE), -SCALE + 1, SCALE - 1).astype(np.int16)
    return steps


def packed(vector: Vectors) -> bytes:
    """One vector as the bytes an Embedding holds."""
    return vector.astype("<i2").tobytes()


def write_embeddings(rows: Iterable[Embedding], path: Path, rows_per_group: int = 4_096) -> int:
    """Write answers in the order given; the same rows give the same bytes."""
    schema = arrow_schema(Embedding)
    written, held = 0, []
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for row in rows:
            held.append({name: getattr(row, name) for name in schema.names})
            written += 1
            if len(held) == rows_per_group:
                writer.write_table(pa.Table.from_pylist(held, schema=schema))
                held = []
        if held or not written:
            writer.write_table(pa.Table.from_pylist(held, schema=schema))
    return written


def read_vectors(path: Path, rows: int = _DOCUMENTS) -> Iterator[tuple[list[str], Vectors]]:
    """Ids and vectors of an Embedding file, block by block."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=rows, columns=["id", "vector"]):
            joined = b"".join(batch.column("vector").to_pylist())
            yield batch.column("id").to_pylist(), np.frombuffer(joined, "<i2").reshape(batch.num_rows, -1)


def texts_cut(path: Path) -> frozenset[str]:
    """Ids of an Embedding file whose text the model did not read to the end."""
    found: set[str] = set()
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=["id", "tokens", "tokens_kept"]):
            is_cut = pc.less(batch.column("tokens_kept"), batch.column("tokens"))
            found.update(batch.column("id").filter(is_cut).to_pylist())
    return frozenset(found)


def search_vectors(
    queries: Path,
    corpus: Path,
    corpus_ids: Sequence[str],
    left_out: Mapping[str, Indices],
    k: int,
    threads: int = 1,
) -> dict[str, Ranking]:
    """The k documents of highest cosine for every query that has a vector.

    Args:
        queries: Embedding file of the queries.
        corpus: Embedding file of the documents, in corpus order; some may be absent, they are not found.
        corpus_ids: every document id, in order.
        left_out: positions to leave out, by query.
        k: depth.
        threads: that BLAS multiplies with.
    """
    places = {document: place for place, document in enumerate(corpus_ids)}
    run: dict[str, Ranking] = {}
    with threadpool_limits(threads, user_api="blas"):
        for ids, vectors in read_vectors(queries, _QUERIES):
            wide = vectors.astype(np.float64)
            top: Keys = np.full((len(ids), 0), _NOTHING, np.int64)
            for documents, block in read_vectors(corpus):
                positions = np.array([places[document] for document in documents], np.int64)
                steps = np.rint(wide @ block.T.astype(np.float64)).astype(np.int64)
                keys = keys_of(steps, positions[None, :])
                _mask(keys, ids, positions, left_out)
                top = best(np.concatenate([top, keys], axis=1), k)
            for query, row in zip(ids, top, strict=True):
                run[query] = ranking_of(row[row != _NOTHING], STEP)
    return run


def _mask(
    keys: Keys, queries: Sequence[str], positions: NDArray[np.int64], left_out: Mapping[str, Indices]
) -> None:
    for row, query in enumerate(queries):
        out = left_out.get(query)
        if out is not None and len(out):
            keys[row, np.isin(positions, out)] = _NOTHING


def pair_scorer(
    queries: Path, corpus: Path, query_ids: Sequence[str], corpus_ids: Sequence[str]
) -> Callable[[Indices, Indices], Scores]:
    """Scores of given pairs, equal to those `search_vectors` ranks by; NaN where one has no vector.

    Args:
        queries: Embedding file of the queries.
        corpus: Embedding file of the documents, in corpus order.
        query_ids: every query id, in the order positions refer to.
        corpus_ids: every document id, in order.

    Returns:
        A function of query positions and document positions, of one length, in any order. It holds the
        vectors of all queries and reads the corpus once.
    """

    def score(asked: Indices, documents: Indices) -> Scores:
        scores = np.full(len(asked), np.nan)
        rows, held = _all_vectors(queries, query_ids)
        places = {document: place for place, document in enumerate(corpus_ids)}
        order = np.argsort(documents, kind="stable")
        order = order[rows[asked[order]] >= 0]
        rising = documents[order]
        for ids, block in read_vectors(corpus):
            positions = np.array([places[document] for document in ids], np.int64)
            begin, end = np.searchsorted(rising, [positions[0], positions[-1] + 1])
            for first in range(int(begin), int(end), _PAIRS):
                pairs = order[first : min(first + _PAIRS, int(end))]
                at = np.searchsorted(positions, documents[pairs])
                has = positions[at] == documents[pairs]
                pairs, at = pairs[has], at[has]
                one, other = held[rows[asked[pairs]]].astype(np.float64), block[at].astype(np.float64)
                scores[pairs] = np.rint(np.einsum("ij,ij->i", one, other)) * STEP
        return scores

    return score


def _all_vectors(path: Path, ids: Sequence[str]) -> tuple[NDArray[np.int64], Vectors]:
    """Row of each id in the vectors, -1 where it has none, and the vectors of a whole file."""
    places = {name: place for place, name in enumerate(ids)}
    rows = np.full(len(ids), -1, np.int64)
    blocks: list[Vectors] = []
    count = 0
    for names, block in read_vectors(path):
        rows[[places[name] for name in names]] = np.arange(count, count + len(names))
        blocks.append(block)
        count += len(names)
    return rows, np.concatenate(blocks) if blocks else np.empty((0, 0), np.int16)
