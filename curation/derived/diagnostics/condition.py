"""What one condition ranked, for which queries and by which system; where it is null, why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.derived.diagnostics.conditions import Values
from curation.evaluation import measures
from curation.evaluation.collection import Collection
from curation.evaluation.dense import Embedding, packed, read_vectors, write_embeddings
from curation.evaluation.labels import RELEVANT
from curation.evaluation.ranking import EMPTY, Run, fuse

_DEPTH = 10


@dataclass
class Condition:
    """One condition: its run, the queries it holds for, the system, and why it is null elsewhere."""

    run: Run | None = None
    queries: frozenset[str] = frozenset()
    system: str = ""
    why_not: str = ""
    not_for: dict[str, int] = field(default_factory=dict)

    def told(self, values: Values) -> dict[str, Any]:
        """What the notes of a split say of it."""
        return {
            "system": self.system,
            "queries": int((~np.isnan(values)).sum()),
            "why_not": self.why_not,
            "not_for": dict(sorted(self.not_for.items())),
        }

    def ndcg(self, collection: Collection) -> Values:
        """nDCG@10 of every measured query, NaN where the condition does not hold."""
        queries = measures.measured(collection)
        values = np.full(len(queries), np.nan)
        if self.run is None:
            return values
        kept = np.array([query in self.queries for query in queries], bool)
        chosen = {query: collection.qrels[query] for query in queries if query in self.queries}
        place = measures.names(_DEPTH).index(measures.PRIMARY)
        values[kept] = measures.evaluate(self.run, replace(collection, qrels=chosen), _DEPTH)[:, place]
        return values


def holding(
    run: Run, measured: frozenset[str], queries: frozenset[str], system: str, why_not: str
) -> Condition:
    """A condition that holds for some of the measured queries, and why not for the others."""
    others = len(measured) - len(queries)
    return Condition(run, queries, system, "", {why_not: others} if others else {})


def fused(text: Condition, image: Condition, measured: frozenset[str], k: int) -> Condition:
    """Both modalities: reciprocal rank fusion of the two, for the queries that have both."""
    if text.run is None or image.run is None:
        return Condition(why_not=image.why_not or text.why_not)
    queries = text.queries & image.queries
    run = fuse([text.run, image.run], sorted(queries), k)
    system = f"reciprocal rank fusion of {text.system} and {image.system}"
    return holding(run, measured, queries, system, "the query lacks text or image")


def write_exchanged(queries: Path, given: Mapping[str, str], path: Path) -> None:
    """Write the vectors of some queries, each with those of the query it is given."""
    vectors = dict(pair for ids, block in read_vectors(queries) for pair in zip(ids, block, strict=True))
    rows = (
        Embedding(id=query, vector=packed(vectors[given[query]]), tokens=0, tokens_kept=0)
        for query in sorted(given)
    )
    write_embeddings(rows, path)


def solvable(run: Run, collection: Collection, queries: Sequence[str]) -> NDArray[np.bool_]:
    """Whether a run puts a relevant document first, whichever way documents of equal score are ordered."""
    found = np.zeros(len(queries), bool)
    for place, query in enumerate(queries):
        ranking, judged = run.get(query, EMPTY), collection.qrels[query]
        equal = ranking.documents[ranking.scores == ranking.scores[0]] if len(ranking) else ranking.documents
        grades = [judged.get(collection.corpus_ids[item], 0) for item in equal.tolist()]
        found[place] = bool(grades) and min(grades) >= RELEVANT
    return found
