"""A toy release with hand-made rankings whose pools are known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from curation.derived.pools import PairScorer, SplitRuns
from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.ranking import Indices, Ranking, Scores
from tests.curation.evaluation.world import toy

Scored = dict[str, dict[str, float]]
LEXICAL: Scored = {
    "q1": {"d5": 9.0, "d1": 8.0, "d3": 7.7, "d6": 4.0, "d2": 3.0, "d4": 1.0},
    "q2": {"d6": 9.0, "d4": 5.0, "d3": 4.0, "d1": 3.0},
    "q3": {"d1": 6.0, "d2": 5.0},
    "q4": {"d2": 1.0},
    "q5": {"d5": 4.0, "d1": 3.0, "d4": 2.0},
}
SEMANTIC: Scored = {
    "q1": {"d1": 0.9, "d2": 0.8, "d4": 0.7, "d6": 0.1, "d3": 0.0, "d5": 0.0},
    "q2": {"d1": -0.3, "d3": -0.4, "d4": -0.5},
    "q3": {"d5": 0.4, "d4": 0.3, "d1": 0.2, "d2": 0.1},
    "q5": {"d2": 0.5},
}
"""d4 answers q3, where the first system does not find it; nothing answers q4."""


def ranked(collection: Collection, scored: Scored, names: Sequence[str]) -> dict[str, Ranking]:
    """A run: documents by score."""
    places = {name: place for place, name in enumerate(collection.corpus_ids)}
    run = {}
    for query in names:
        found = sorted(scored.get(query, {}).items(), key=lambda item: -item[1])
        documents = np.array([places[name] for name, _ in found], np.int32)
        run[query] = Ranking(documents, np.array([score for _, score in found], np.float64))
    return run


def scorer(collection: Collection, scored: Scored, missing: float) -> PairScorer:
    """Scores of pairs, `missing` where none is given."""

    def score(queries: Indices, documents: Indices) -> Scores:
        pairs = zip(queries.tolist(), documents.tolist(), strict=True)
        return np.array(
            [
                scored.get(collection.queries[query].id, {}).get(collection.corpus_ids[document], missing)
                for query, document in pairs
            ],
            np.float64,
        )

    return score


def split_runs(directory: Path, split: str) -> SplitRuns:
    """One split with two scoring systems and one that only ranks."""
    collection = open_collection(directory, split)
    names = [query.id for query in collection.queries]
    lexical, semantic = ranked(collection, LEXICAL, names), ranked(collection, SEMANTIC, names)
    runs = {"bm25": lexical, "dense": semantic, "hybrid": lexical}
    scorers = {
        "bm25": scorer(collection, LEXICAL, 0.0),
        "dense": scorer(collection, SEMANTIC, float("nan")),
    }
    return SplitRuns(collection, runs, scorers)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return toy().write(tmp_path)


@pytest.fixture
def splits(release: Path) -> list[SplitRuns]:
    return [split_runs(release, "test"), split_runs(release, "dev")]
