"""Queries that are ranked among a set of their own: what is left out, what is ranked, pooled and measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from curation.derived.pools.pairs import collect
from curation.evaluation.collection import Collection, open_collection, restricted
from curation.evaluation.measures import PRIMARY, evaluate, names, primary_of
from curation.evaluation.ranking import Ranking
from curation.evaluation.results import Measured, summarise
from tests.curation.evaluation.world import toy
from tests.releases import write

SETS = {"q1": ("d1", "d2", "d5"), "q2": ("d3", "d4")}


def sets(tmp_path: Path) -> Collection:
    """The toy release; two of its queries have sets, in one of which a document is excluded."""
    release = toy()
    folder = release.write(tmp_path)
    rows = [{"query-id": query, "corpus-id": name} for query, found in SETS.items() for name in found]
    write(folder, {"confusions": rows})
    release.seal(folder)
    return open_collection(folder)


def test_what_is_outside_of_a_set_is_left_out_and_so_is_what_is_excluded_in_it(tmp_path: Path) -> None:
    data = sets(tmp_path)
    assert {query: places.tolist() for query, places in data.sets.items()} == {"q1": [0, 1, 4], "q2": [2, 3]}
    assert data.left_out["q1"].tolist() == [2, 3, 4, 5] and data.left_out["q2"].tolist() == [0, 1, 4, 5]
    assert "q3" not in data.left_out and sorted(data.left_out) == ["q1", "q2"] and len(data.left_out) == 2


def test_a_part_of_a_collection_keeps_what_it_holds_of_the_sets(tmp_path: Path) -> None:
    part = restricted(sets(tmp_path), {"q1", "q3"}, {"d1", "d2", "d4", "d5"})
    assert {query: places.tolist() for query, places in part.sets.items()} == {"q1": [0, 1, 3]}
    assert part.left_out["q1"].tolist() == [2, 3]
    assert restricted(sets(tmp_path / "b"), {"q2"}).left_out["q2"].tolist() == [0, 1, 4, 5]


def test_a_set_is_in_the_pool_whole_found_or_not(tmp_path: Path) -> None:
    data = sets(tmp_path)
    ranked = {"q2": Ranking(np.array([5, 2], np.int32), np.array([2.0, 1.0]))}
    pairs = collect([(data, {"bm25": ranked})], 10)
    of_q2 = slice(*pairs.offsets[pairs.query_ids.index("q2") :][:2])
    assert pairs.documents[of_q2].tolist() == [2, 3]
    assert pairs.ranks[of_q2].tolist() == [[1], [0]]


def test_results_say_how_often_a_guess_is_right_and_go_by_the_first_document(tmp_path: Path) -> None:
    data = sets(tmp_path)
    run = {query.id: Ranking(np.array([2], np.int32), np.array([1.0])) for query in data.queries}
    summary = summarise(data, [Measured("bm25", "bm25", run)], 10).summary
    assert summary["sets"] == {"queries": 2, "chance": round((1 / 3 + 1 / 2) / 2, 6)}
    assert primary_of(summary) == "R@1" and primary_of({}) == PRIMARY
    assert primary_of({"measures": [PRIMARY, "RR"]}) == PRIMARY and primary_of({"measures": ["RR"]}) == "RR"
    assert evaluate(run, data, 10)[:, names(10).index("R@1")].tolist() == [0.0, 1.0, 0.0]
