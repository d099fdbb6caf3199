"""Chooses distractors: each query's start and each document's place follow from hashes of their ids.

Documents alike stand on a ring in the order of their hashes; a query takes those that follow its own hash.
A document more or less moves only the lists that pass its place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.derived.distractors.bands import BANDS
from curation.derived.distractors.documents import NONE, Coded, Codes, Documents, read_documents
from curation.evaluation.collection import Collection
from curation.evaluation.labels import RELEVANT, read_origins
from curation.published.writer import write_table
from schemas.tables import DISTRACTORS

SEED = "medqrels-distractors@1"
"""Put before every id that is hashed."""
LEVELS = (("genre", "length_band"), ("length_band",), ())
"""What is alike beside language and specialty, which always are; the next one when a ring runs short."""
FACETS = ("specialty", "genre", "length_band")
UNJUDGED = "unjudged"
_ROWS, _STEP = 100_000, 16
_MATCHED = [[name for bit, name in enumerate(FACETS) if code >> bit & 1] for code in range(8)]


@dataclass(frozen=True, slots=True)
class _Ring:
    """Documents by bucket and hash: `order[cuts[b]:cuts[b + 1]]` are those of bucket b."""

    bucket: NDArray[np.int64]
    order: Codes
    hashes: NDArray[np.uint64]
    cuts: NDArray[np.int64]

    def walk(self, like: int, start: int) -> Iterator[NDArray[np.int32]]:
        """Every document of the bucket of document `like`, from hash `start` on, in parts that grow."""
        low, high = self.cuts[self.bucket[like]], self.cuts[self.bucket[like] + 1]
        ring = self.order[low:high]
        first = int(np.searchsorted(self.hashes[low:high], np.uint64(start)))
        done, step = 0, _STEP
        while done < len(ring):
            step = min(step, len(ring) - done)
            yield ring.take(np.arange(first + done, first + done + step), mode="wrap")
            done, step = done + step, 2 * step


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query: its best positive, its positives, and the documents it may not get."""

    id: str
    best: int
    positives: Sequence[int]
    barred: AbstractSet[int]
    article: int
    patient: int


def lot(name: str) -> int:
    """The number an id draws, below 2^64: first eight bytes of SHA-256 over seed and id, big-endian."""
    return int.from_bytes(hashlib.sha256(f"{SEED}:{name}".encode()).digest()[:8], "big")


def make_distractors(collection: Collection, count: int, out: Path) -> int:
    """Write the distractors of one split into a task directory; no file when there is none.

    Args:
        collection: the split, whole, opened on `out`.
        count: distractors per query at most; a query without a positive has none.
        out: the task directory.

    Returns:
        Rows written.

    Raises:
        ReleaseError: corpus and provenance do not have the same documents.
    """
    if not count or not collection.qrels or not collection.corpus_ids:
        return 0
    documents = read_documents(collection)
    rings = _rings(documents, collection.corpus_ids)
    asked = list(_asked(collection, documents))
    found = [np.asarray(_chosen(query, documents, rings, count), np.int64) for query in asked]
    if not sum(map(len, found)):
        return 0
    return write_table(DISTRACTORS, _chunks(asked, found, documents, collection), out, split=collection.split)


def _rings(documents: Documents, ids: Sequence[str]) -> list[_Ring]:
    hashes = np.fromiter(map(lot, ids), np.uint64, len(ids))
    always = [documents.language.codes, documents.specialty.codes]
    by_name = {"genre": documents.genre.codes, "length_band": documents.band}
    return [_ring([*always, *(by_name[name] for name in level)], hashes) for level in LEVELS]


def _ring(columns: Iterable[Codes], hashes: NDArray[np.uint64]) -> _Ring:
    bucket: NDArray[np.int64] = np.zeros(len(hashes), np.int64)
    for codes in columns:
        bucket = bucket * (int(codes.max()) + 2) + codes + 1
        bucket = np.unique(bucket, return_inverse=True)[1].astype(np.int64)
    order = np.lexsort((hashes, bucket)).astype(np.int32)
    cuts = np.searchsorted(bucket[order], np.arange(int(bucket.max()) + 2))
    return _Ring(bucket, order, hashes[order], cuts)


def _asked(collection: Collection, documents: Documents) -> Iterator[_Asked]:
    """The queries that have a positive, in id order."""
    names = sorted(collection.qrels)
    origins = read_origins(collection.directory)
    own = {
        column: coded.find([(origins.get(name) or {}).get(column) or "" for name in names])
        for column, coded in (("article_id", documents.article), ("patient_id", documents.patient))
    }
    ids = pa.array(collection.corpus_ids, pa.string())
    listed = pa.array([document for name in names for document in collection.qrels[name]], pa.string())
    places = iter(pc.index_in(listed, value_set=ids).to_pylist())
    for number, name in enumerate(names):
        judged = {document: next(places) for document in collection.qrels[name]}
        grades = collection.qrels[name]
        positive = [document for document in grades if grades[document] >= RELEVANT]
        best = min(positive, key=lambda document: (-grades[document], document))
        left_out = collection.left_out.get(name)
        yield _Asked(
            name,
            judged[best],
            [judged[document] for document in positive],
            {*judged.values(), *(() if left_out is None else left_out.tolist())},
            own["article_id"][number],
            own["patient_id"][number],
        )


def _chosen(query: _Asked, documents: Documents, rings: Sequence[_Ring], count: int) -> list[int]:
    """Positions of the distractors of one query, the best matched first."""
    shunned = [
        (documents.article.codes, _of(documents.article, query.positives, query.article)),
        (documents.patient.codes, _of(documents.patient, query.positives, query.patient)),
        (documents.text.codes, _of(documents.text, query.positives)),
        (documents.image.codes, _of(documents.image, query.positives)),
    ]
    shunned = [(codes, values) for codes, values in shunned if values]
    start, taken, seen = lot(query.id), [], set(query.barred)
    for ring in rings:
        for part in ring.walk(query.best, start):
            told = [(codes[part].tolist(), values) for codes, values in shunned]
            for at, place in enumerate(part.tolist()):
                if place in seen or any(codes[at] in values for codes, values in told):
                    continue
                taken.append(place)
                if len(taken) == count:
                    return taken
                seen.add(place)
    return taken


def _of(coded: Coded, positives: Sequence[int], *more: int) -> set[int]:
    """Codes of the positives, and further ones, without NONE."""
    return {*coded.codes[positives].tolist(), *more} - {NONE}


def _chunks(
    asked: Sequence[_Asked], found: Sequence[NDArray[np.int64]], documents: Documents, collection: Collection
) -> Iterator[pa.Table]:
    """Rows in key order: query, rank."""
    sizes = np.array([len(part) for part in found])
    owner = np.repeat(np.arange(len(asked)), sizes)
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    place, best = np.concatenate(found), np.array([query.best for query in asked])[owner]
    matched = _matched(documents, place, best)
    queries, ids = pa.array([query.id for query in asked]), pa.array(collection.corpus_ids)
    lists, bands = pa.array(_MATCHED, pa.list_(pa.string())), pa.array(BANDS)
    for low in range(0, len(owner), _ROWS):
        rows = slice(low, low + _ROWS)
        of = place[rows]
        yield pa.table(
            {
                "query-id": queries.take(pa.array(owner[rows])),
                "corpus-id": ids.take(pa.array(of)),
                "rank": rank[rows],
                "matched": lists.take(pa.array(matched[rows])),
                "specialty": documents.specialty.texts(of),
                "genre": documents.genre.texts(of),
                "length_band": bands.take(pa.array(documents.band[of])),
                "label_status": pa.array([UNJUDGED] * len(of)),
            }
        )


def _matched(documents: Documents, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """A bit for each of FACETS that is decided and the same in two documents."""
    bits = np.zeros(len(one), np.int64)
    columns = ((documents.specialty.codes, NONE), (documents.genre.codes, NONE), (documents.band, 0))
    for bit, (codes, undecided) in enumerate(columns):
        same = (codes[one] == codes[other]) & (codes[one] != undecided)
        bits |= same.astype(np.int64) << bit
    return bits
