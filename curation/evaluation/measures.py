"""Measures of a run per query, by ir-measures (trec_eval's conventions), and judged@10.

nDCG has graded gains (the grade itself, log2 discount); the other measures count grade 1 and above. Where a
collection also knows pairs that were judged not relevant, two measures leave unjudged documents out of the
rankings instead of counting them as not relevant: condensed nDCG (Sakai 2007) and bpref (Buckley and Voorhees
2004).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
from ir_measures import AP, RR, Bpref, R, Success, nDCG
from numpy.typing import NDArray

from curation.evaluation.collection import Collection
from curation.evaluation.labels import RELEVANT
from curation.evaluation.ranking import EMPTY, Run

_BLOCK = 2_000
_ALL = (nDCG @ 10, R @ 1, R @ 10, R @ 100, AP @ 100, RR, Success @ 1)
_OF_JUDGED = (nDCG(judged_only=True) @ 10, Bpref)
JUDGED, CONDENSED, BPREF = "judged@10", "condensed-nDCG@10", "bpref"
_NAMES = {str(measure): name for measure, name in zip(_OF_JUDGED, (CONDENSED, BPREF), strict=True)}
PRIMARY, OF_SETS = "nDCG@10", "R@1"
"""The measure that counts; the other one where each query is ranked among a set of its own."""

Values = NDArray[np.float64]
"""(measured queries, measures), in the order of :func:`names` and of `measured`; NaN where undefined."""


def primary_of(summary: Mapping[str, Any]) -> str:
    """The measure that counts on what a summary is of; of rankings too shallow for it, the first that is."""
    if "sets" in summary:
        return OF_SETS
    taken = summary.get("measures", (PRIMARY,))
    return PRIMARY if PRIMARY in taken else str(taken[0])


def names(k: int, *, knows_zeros: bool = False) -> tuple[str, ...]:
    """Measures of rankings of depth k; those that look deeper are left out.

    Args:
        k: depth.
        knows_zeros: whether the labels tell documents judged not relevant from unjudged ones.
    """
    return (*(_name(measure) for measure in _chosen(k, knows_zeros)), JUDGED)


def knows_zeros(collection: Collection) -> bool:
    """Whether a measured query has a document judged not relevant, and others that nobody judged.

    Queries ranked among a set of their own have no unjudged documents.
    """
    return not collection.sets and any(
        grade < RELEVANT for found in collection.qrels.values() for grade in found.values()
    )


def _chosen(k: int, zeros: bool) -> list[ir_measures.measures.Measure]:
    return [measure for measure in (*_ALL, *(_OF_JUDGED if zeros else ())) if _cutoff(measure) <= k]


def _name(measure: ir_measures.measures.Measure) -> str:
    return _NAMES.get(str(measure), str(measure))


def measured(collection: Collection) -> list[str]:
    """Ids of the queries that measures are taken over, sorted."""
    return sorted(collection.qrels)


def evaluate(run: Run, collection: Collection, k: int) -> Values:
    """Measure every query that has a relevant document; one that is not in the run gets zeros.

    `judged@10` is the share of the first ten documents that carry a label, undefined where none was found.
    Documents keep the order of the ranking: ir-measures is given ranks for scores, so it sees no ties.
    """
    chosen = _chosen(k, knows_zeros(collection))
    columns = {str(measure): place for place, measure in enumerate(chosen)}
    queries = measured(collection)
    values = np.zeros((len(queries), len(chosen) + 1))
    for start in range(0, len(queries), _BLOCK):
        block = queries[start : start + _BLOCK]
        rows = {query: start + place for place, query in enumerate(block)}
        qrels = {query: dict(collection.qrels[query]) for query in block}
        ranked = {query: _ranked(run, query, collection.corpus_ids, k) for query in block}
        for found in ir_measures.iter_calc(chosen, qrels, ranked):
            values[rows[found.query_id], columns[str(found.measure)]] = found.value
        for query in block:
            values[rows[query], -1] = _judged(list(ranked[query])[:10], qrels[query])
    return values


def _ranked(run: Run, query: str, corpus_ids: Sequence[str], k: int) -> dict[str, float]:
    documents = run.get(query, EMPTY).documents[:k].tolist()
    return {corpus_ids[place]: float(k - rank) for rank, place in enumerate(documents)}


def _judged(documents: Sequence[str], judged: dict[str, int]) -> float:
    return sum(document in judged for document in documents) / len(documents) if documents else float("nan")


def _cutoff(measure: ir_measures.measures.Measure) -> int:
    return int(measure.params.get("cutoff", 1))
