"""What expansions gain: nDCG@10 with minus without, on positives not found by the reasoning view alone.

A positive that only a model's reasoning path found was chosen by what a model would write; a system that
searches with such a text finds it for that reason, so its gain there says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from curation.evaluation import measures, statistics
from curation.evaluation.collection import Collection
from curation.evaluation.labels import RELEVANT
from curation.evaluation.ranking import Indices, Run, without
from schemas.judged_tables import JUDGEMENTS

ONLY_REASONING = "only_reasoning"
"""Column that says of a pair whether the reasoning view alone found its document."""


@dataclass(frozen=True, slots=True)
class Gain:
    """Mean difference per query with its interval over articles, None below two articles or without a query.

    Attributes:
        queries: those measured: with an expansion and a positive that counts.
        positives: that count.
        left_out: positives that the reasoning view alone found; they count in neither run.
    """

    mean: float | None
    low: float | None
    high: float | None
    queries: int
    positives: int
    left_out: int


def only_reasoning(directory: Path) -> frozenset[tuple[str, str]] | None:
    """Pairs that the reasoning view alone found; None where the release does not say it."""
    files = JUDGEMENTS.files(directory, "")
    if not files:
        return None
    columns = ["query-id", "corpus-id", ONLY_REASONING]
    rows = [row for path in files for row in pq.read_table(path, columns=columns).to_pylist()]
    return frozenset((row["query-id"], row["corpus-id"]) for row in rows if row[ONLY_REASONING])


def gain(
    collection: Collection,
    runs: tuple[Run, Run],
    queries: AbstractSet[str],
    apart: AbstractSet[tuple[str, str]],
) -> Gain:
    """What the second of two runs gains over the first.

    Args:
        collection: the split.
        runs: without expansions, and with them.
        queries: ids of those that have an expansion.
        apart: pairs left out of both runs and of the labels.
    """
    part, left_out = apart_from(collection, queries, apart)
    if not part.qrels:
        return Gain(None, None, None, 0, 0, left_out)
    column = measures.names(10).index(measures.PRIMARY)
    before, after = (measures.evaluate(cut(run, part, apart), part, 10)[:, column] for run in runs)
    group = {query.id: query.group for query in collection.queries}
    groups = statistics.codes([group[query] for query in measures.measured(part)])
    [found] = statistics.estimates((after - before)[:, None], groups)
    positives = sum(grade >= RELEVANT for grades in part.qrels.values() for grade in grades.values())
    return Gain(found.mean, found.low, found.high, len(part.qrels), positives, left_out)


def apart_from(
    collection: Collection, queries: AbstractSet[str], apart: AbstractSet[tuple[str, str]]
) -> tuple[Collection, int]:
    """A collection with labels of some queries alone and without some pairs, and how many positives it lost.

    Args:
        collection: the split.
        queries: ids of those whose labels stay; one that is left without a positive is not measured.
        apart: pairs whose labels go.
    """
    kept: dict[str, Mapping[str, int]] = {}
    left_out = 0
    for query, grades in collection.qrels.items():
        if query in queries:
            rest = {name: grade for name, grade in grades.items() if (query, name) not in apart}
            left_out += sum(grade >= RELEVANT for name, grade in grades.items() if name not in rest)
            if max(rest.values(), default=0) >= RELEVANT:
                kept[query] = rest
    return replace(collection, qrels=kept), left_out


def cut(run: Run, collection: Collection, apart: AbstractSet[tuple[str, str]]) -> Run:
    """The run on the measured queries of a collection, with some pairs taken out."""
    places = {name: place for place, name in enumerate(collection.corpus_ids)}
    out: dict[str, list[int]] = {}
    for query, name in sorted(apart):
        if name in places:
            out.setdefault(query, []).append(places[name])
    taken: dict[str, Indices] = {query: np.array(found, np.int32) for query, found in out.items()}
    return {
        query: without(ranking, taken.get(query), len(ranking))
        for query, ranking in run.items()
        if query in collection.qrels
    }
