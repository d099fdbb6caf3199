"""The documents that shortcuts rank: published candidates, or what systems found and every positive.

Ranking a whole corpus by a shallow feature would only show its longest document again and again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.derived.diagnostics.shortcuts import Lists
from curation.evaluation.collection import Collection
from curation.evaluation.labels import RELEVANT
from curation.evaluation.ranking import EMPTY, Indices, Run
from curation.evaluation.reading import pairs, positions_of
from schemas.hashing import sha256_text
from schemas.tables import TOP_RANKED

SAMPLE, SEED = 100, "shortcut-candidates@1"


def lists_of(
    collection: Collection, directory: Path, queries: Sequence[str], runs: Mapping[str, Run], depth: int
) -> tuple[Lists, str]:
    """What shortcuts rank, and where it is from.

    Args:
        collection: one split.
        directory: the task folder; its top_ranked is taken when it has one.
        queries: measured queries.
        runs: rankings of the systems that ran, by name; where none did, documents are drawn.
        depth: documents taken from each run.
    """
    if not runs:
        return sampled(collection, queries), f"{SAMPLE} documents drawn by seed, and every positive"
    given = published(collection, directory)
    if given is not None:
        return _lists(collection, queries, given), TOP_RANKED.name
    found = candidates(collection, queries, list(runs.values()), depth)
    return found, f"the first {depth} of {', '.join(runs)}, and every positive"


def candidates(collection: Collection, queries: Sequence[str], runs: Sequence[Run], depth: int) -> Lists:
    """The first `depth` documents of every run, and all relevant documents.

    Args:
        collection: one split.
        queries: measured queries.
        runs: rankings without documents that are left out.
        depth: documents taken from each run.
    """
    given = {
        query: np.concatenate(
            [np.empty(0, np.int32), *(run.get(query, EMPTY).documents[:depth] for run in runs)]
        )
        for query in queries
    }
    return _lists(collection, queries, given)


def published(collection: Collection, directory: Path) -> dict[str, Indices] | None:
    """Positions of the candidates in `top_ranked` by query; None when the release has no such table.

    Raises:
        ReleaseError: a candidate is not in the corpus.
    """
    files = TOP_RANKED.files(directory, collection.split)
    if not files:
        return None
    ids = pa.array(collection.corpus_ids, pa.string())
    found: dict[str, Indices] = {}
    for table in pairs(files, ["query-id", "corpus-ids"]):
        lists = table.column("corpus-ids").combine_chunks()
        flat = positions_of(pa.table({"corpus-id": lists.flatten()}), ids, directory / TOP_RANKED.folder)
        cuts = np.concatenate([[0], np.cumsum(pc.list_value_length(lists).to_numpy())])
        for place, query in enumerate(table.column("query-id").to_pylist()):
            found[query] = flat[cuts[place] : cuts[place + 1]]
    return found


def sampled(collection: Collection, queries: Sequence[str], size: int = SAMPLE) -> Lists:
    """The same seeded draw of documents for every query, less what is left out, and all relevant ones.

    For tasks that no system can search: there is nothing else to rank relevant documents against.
    """
    order = sorted(range(len(collection.corpus_ids)), key=lambda place: _drawn(collection.corpus_ids[place]))
    drawn = np.sort(np.array(order[:size], np.int32))
    given = {
        query: drawn[~np.isin(drawn, collection.left_out.get(query, EMPTY.documents))] for query in queries
    }
    return _lists(collection, queries, given)


def _drawn(name: str) -> str:
    return sha256_text(f"{SEED} {name}")


def _lists(collection: Collection, queries: Sequence[str], given: Mapping[str, Indices]) -> Lists:
    """Given documents as lists; a relevant document that is not among them is added."""
    places = dict(_relevant_places(collection, queries))
    documents, grades, sizes = [], [], []
    for query in queries:
        judged = collection.qrels[query]
        relevant = [places[name] for name, grade in judged.items() if grade >= RELEVANT]
        chosen = np.unique(np.concatenate([given.get(query, EMPTY.documents), np.array(relevant, np.int32)]))
        by_place = {places[name]: grade for name, grade in judged.items() if name in places}
        documents.append(chosen.astype(np.int32))
        grades.append(np.array([by_place.get(place, 0) for place in chosen.tolist()], np.int64))
        sizes.append(len(chosen))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Lists(starts, _joined(documents, np.int32), _joined(grades, np.int64))


def _relevant_places(collection: Collection, queries: Sequence[str]) -> Iterator[tuple[str, int]]:
    """(id, position) of every judged document of some queries."""
    wanted = {name for query in queries for name in collection.qrels[query]}
    for place, name in enumerate(collection.corpus_ids):
        if name in wanted:
            yield name, place


def _joined(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)
