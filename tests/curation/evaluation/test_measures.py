"""Measures against values worked by hand and against trec_eval's own code on the written run file."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from curation.evaluation import measures
from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.ranking import Ranking
from curation.evaluation.runs import write_run
from tests.curation.evaluation.world import Release, toy


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return open_collection(toy().write(tmp_path))


def ranking(*places: int) -> Ranking:
    return Ranking(np.array(places, np.int32), np.arange(len(places), 0, -1).astype(float))


def test_values_worked_by_hand(collection: Collection) -> None:
    # q1: d2 (grade 1), d3, d1 (grade 2); ideal is d1, d2. q2: nothing found. q3: d4 alone, at rank 2.
    run = {"q1": ranking(1, 2, 0), "q3": ranking(5, 3)}
    found = measures.evaluate(run, collection, 100)
    values = dict(zip(measures.names(100), found.T.tolist(), strict=True))
    dcg, ideal = 1 / math.log2(2) + 2 / math.log2(4), 2 / math.log2(2) + 1 / math.log2(3)
    assert measures.measured(collection) == ["q1", "q2", "q3"]
    assert values["nDCG@10"] == pytest.approx([dcg / ideal, 0.0, 1 / math.log2(3)])
    assert values["R@1"] == [0.5, 0.0, 0.0]
    assert values["R@10"] == values["R@100"] == [1.0, 0.0, 1.0]
    assert values["AP@100"] == pytest.approx([(1 / 1 + 2 / 3) / 2, 0.0, 0.5])
    assert values["RR"] == [1.0, 0.0, 0.5]
    assert values["Success@1"] == [1.0, 0.0, 0.0]
    assert values["judged@10"][0] == pytest.approx(2 / 3)
    assert math.isnan(values["judged@10"][1])
    assert values["judged@10"][2] == 0.5


def test_shallow_rankings_claim_no_deep_recall() -> None:
    assert "R@100" not in measures.names(10)
    assert "R@10" in measures.names(10)


def test_unjudged_documents_are_left_out_where_some_are_judged_not_relevant(tmp_path: Path) -> None:
    release = toy()
    run = {"q1": ranking(1, 2, 4, 0), "q2": ranking(2), "q3": ranking(5, 3)}
    plain = open_collection(release.write(tmp_path / "plain"))
    assert not measures.knows_zeros(plain)
    assert measures.evaluate(run, plain, 100).shape[1] == len(measures.names(100))
    release.qrels.append(("q1", "d3", 0))
    collection = open_collection(release.write(tmp_path / "zeros"))
    names = measures.names(100, knows_zeros=measures.knows_zeros(collection))
    assert set(names) - set(measures.names(100)) == {measures.CONDENSED, measures.BPREF}
    values = dict(zip(names, measures.evaluate(run, collection, 100).T.tolist(), strict=True))
    # q1: d2 (1), d3 (0), d5 (unjudged), d1 (2): the third of those judged. q3: d4 behind an unjudged one.
    dcg, ideal = 1 / math.log2(2) + 2 / math.log2(4), 2 / math.log2(2) + 1 / math.log2(3)
    assert values[measures.CONDENSED] == pytest.approx([dcg / ideal, 1.0, 1.0])
    assert values[measures.BPREF] == pytest.approx([(1 + 0) / 2, 1.0, 1.0])
    assert values["nDCG@10"][2] < 1.0


def test_equal_to_trec_eval_on_the_run_file(tmp_path: Path) -> None:
    rng = np.random.Generator(np.random.PCG64(11))
    documents = [{"id": f"d{n:03}", "text": "x"} for n in range(150)]
    queries = [{"id": f"q{n:02}", "text": "x"} for n in range(30)]
    qrels = [
        (query["id"], f"d{place:03}", int(rng.integers(0, 4)))
        for query in queries
        for place in sorted(rng.choice(150, 8, replace=False).tolist())
    ]
    collection = open_collection(Release(documents=documents, queries=queries, qrels=qrels).write(tmp_path))
    run = {}
    for query in queries[:-1]:  # heavy ties: only four different scores
        scores = np.sort(rng.integers(0, 4, 120))[::-1].astype(float)
        run[query["id"]] = Ranking(rng.permutation(150)[:120].astype(np.int32), scores)
    path = tmp_path / "run.trec.gz"
    write_run(run, [query["id"] for query in queries], collection.corpus_ids, "toy", path)
    with gzip.open(path, "rt") as file:
        parsed = pytrec_eval.parse_run(file)
    judge = pytrec_eval.RelevanceEvaluator(
        {query: dict(found) for query, found in collection.qrels.items()},
        {"ndcg_cut_10", "recall_1,10,100", "map_cut_100", "recip_rank", "success_1"},
    )
    theirs: dict[str, dict[str, float]] = judge.evaluate(parsed)
    names = {name: place for place, name in enumerate(measures.names(100))}
    ours = measures.evaluate(run, collection, 100)
    pairs = {
        "nDCG@10": "ndcg_cut_10",
        "R@1": "recall_1",
        "R@10": "recall_10",
        "R@100": "recall_100",
        "AP@100": "map_cut_100",
        "RR": "recip_rank",
        "Success@1": "success_1",
    }
    for row, measured in enumerate(measures.measured(collection)):
        for mine, their_name in pairs.items():
            expected = theirs[measured][their_name] if measured in theirs else 0.0
            if their_name == "recip_rank" and expected < 1 / 100:
                expected = 0.0  # found below our depth
            assert ours[row, names[mine]] == pytest.approx(expected, abs=1e-9), (measured, mine)
