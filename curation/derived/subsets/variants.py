"""The systems that tell whether a part ranks systems as the whole does, and what they are measured on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from curation.derived.subsets.correlation import SystemValues
from curation.derived.subsets.draw import lot
from curation.evaluation import measures
from curation.evaluation.collection import Collection, restricted
from curation.evaluation.ranking import Run
from curation.evaluation.systems import Kind

DEPTH = 10
"""Depth the systems are measured at; nDCG@10 needs no more."""
REFERENCE_QUERIES = 1_000
"""Queries that stand for the whole release, where it has more."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One system: what `medqrels evaluate` calls it, and BM25's parameters."""

    name: str
    system: Kind
    k1: float = 0.9
    b: float = 0.4


VARIANTS = (
    Variant("bm25", "bm25"),
    Variant("bm25 k1=0", "bm25", 0.0, 0.0),
    Variant("bm25 k1=1.2 b=0.75", "bm25", 1.2, 0.75),
    Variant("bm25 k1=2 b=1", "bm25", 2.0, 1.0),
    Variant("bm25 k1=8 b=0", "bm25", 8.0, 0.0),
    Variant("dense", "dense"),
    Variant("hybrid", "hybrid"),
    Variant("image", "image"),
)
"""Cheap systems that differ: term counts unused to hardly saturated, lengths unused to fully used, vectors,
fusion, pictures. Which of them can run depends on the task."""


def reference(collection: Collection, limit: int = REFERENCE_QUERIES) -> Collection:
    """The whole corpus with at most `limit` of the measured queries, those with the lowest lots."""
    measured = sorted(collection.qrels, key=lambda name: (lot(name), name))
    if len(measured) <= limit and len(measured) == len(collection.queries):
        return collection
    return restricted(collection, frozenset(measured[:limit]))


def measure(collection: Collection, runs: Mapping[str, Run]) -> SystemValues:
    """nDCG@10 of every system and measured query, for :func:`curation.derived.subsets.correlate`."""
    queries = measures.measured(collection)
    groups = {query.id: query.group for query in collection.queries}
    column = measures.names(DEPTH).index(measures.PRIMARY)
    return SystemValues(
        tuple(queries),
        tuple(groups[query] for query in queries),
        {name: measures.evaluate(run, collection, DEPTH)[:, column] for name, run in sorted(runs.items())},
    )
