"""What mining systems score without the positives that they alone found, worked by hand."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.judges import beside_people, of_judge, stability, tau
from curation.evaluation.mining import finders
from curation.evaluation.page.render import render
from curation.evaluation.ranking import Ranking
from curation.evaluation.results import Measured, summarise
from curation.release.results import shown
from schemas.judged_tables import JUDGEMENTS
from tests.curation.evaluation.world import toy

FOUND = {
    ("q1", "d1"): ["bm25:answer:1", "dense:query:4"],
    ("q1", "d2"): ["bm25:answer:2", "bm25:reasoning:1"],
    ("q2", "d3"): ["bm25:query:1"],
    ("q3", "d4"): ["dense:query:1", "st:some/model:answer:2"],
    ("q3", "d1"): ["citation"],
}


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    found = open_collection(toy().write(tmp_path))
    folder = found.directory / JUDGEMENTS.folder
    folder.mkdir(parents=True)
    rows = [{"query-id": q, "corpus-id": c, "found_by": by} for (q, c), by in FOUND.items()]
    pq.write_table(pa.Table.from_pylist(rows), folder / "test-00000-of-00001.parquet")
    return found


def measured(name: str, *parts: str) -> Measured:
    places = {"q1": [1, 0], "q2": [2], "q3": [5, 3]}
    run = {
        query: Ranking(np.array(found, np.int32), np.arange(len(found), 0, -1).astype(float))
        for query, found in places.items()
    }
    return Measured(name, "run", run, parts=frozenset(parts))


def test_positives_that_a_system_alone_found_are_left_out_of_its_score(collection: Collection) -> None:
    assert finders(collection.directory)["q3", "d4"] == {"dense", "st:some/model"}
    systems = [measured("bm25"), measured("dense"), measured("hybrid", "bm25", "dense"), measured("image")]
    summary = summarise(collection, systems, 100).summary
    bm25, dense, hybrid, image = (system.get("without_own_positives") for system in summary["systems"])
    assert image is None  # it found nothing for the judge
    # bm25 alone found d2 and d3: q2 has no positive left, q1 has d1 at rank 1 when d2 is gone
    with_own = (1 / 1 + 2 / math.log2(3)) / (2 / 1 + 1 / math.log2(3))
    at_two = 1 / math.log2(3)
    assert (bm25["left_out"], bm25["queries"], bm25["positives"]) == (2, 2, 2)
    assert bm25["before"] == pytest.approx((with_own + at_two) / 2, abs=1e-8)
    assert bm25["mean"] == pytest.approx((1.0 + at_two) / 2, abs=1e-8)
    assert bm25["low"] <= bm25["mean"] <= bm25["high"]
    assert (dense["left_out"], dense["queries"], dense["before"]) == (0, 3, dense["mean"])
    assert (hybrid["left_out"], hybrid["queries"], hybrid["positives"]) == (3, 1, 1)
    page = render(summary)
    assert "Systems that found documents for the judge" in page
    [item] = shown({"test": summary})
    assert [name for name, _ in item.mined] == ["bm25", "dense", "hybrid"]


def test_a_system_that_alone_found_everything_is_not_measured(collection: Collection) -> None:
    parts = ("bm25", "dense", "st:some/model")
    found = summarise(collection, [measured("all", *parts)], 100).summary["systems"][0]
    found = found["without_own_positives"]
    assert (found["left_out"], found["queries"], found["mean"], found["before"]) == (4, 0, None, None)


def test_orders_of_systems_under_labels_of_judge_and_people(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bm25 ranks q1: d2, d1; q2: d3; q3: d6, d4. Only pairs that both graded are looked at."""
    sample = {("q1", "d1"): (2, 0), ("q1", "d2"): (0, 2), ("q2", "d3"): (2, 0), ("q3", "d4"): (1, 2)}
    runs = {
        name: {"q1": Ranking(np.array(order, np.int32), np.arange(len(order), 0, -1).astype(float))}
        for name, order in {"first": [0, 1], "second": [1, 0], "third": [5, 1]}.items()
    }
    found = beside_people(collection, runs, sample)
    assert found["status"] == "not_run" and "30 are needed" in found["why_not"]
    assert (found["queries"], found["pairs"]) == (2, 3)  # q2: people found nothing there
    monkeypatch.setattr("curation.evaluation.judges.LEAST_QUERIES", 2)
    found = beside_people(collection, runs, sample)
    second = 1 / math.log2(3)
    # q1: by the judge d1 counts, by people d2; q3 was answered by no system
    wanted = {"first": (1.0, second), "second": (second, 1.0), "third": (0.0, 1.0)}
    for name, (judge, people) in wanted.items():
        told = found["systems"][name]
        assert (told["judge"], told["people"]) == (pytest.approx(judge / 2), pytest.approx(people / 2))
    # orders 1 2 3 and 3 1 1: two pairs of three differ, one is tied by people
    assert found["tau"] == pytest.approx(-2 / math.sqrt(3 * 2))
    assert found["low"] <= found["tau"] <= found["high"] or found["high"] is None
    summary = summarise(collection, [measured("bm25")], 100).summary
    assert "Not run: systems that ran: 1;" in render(summary)
    page = render({**summary, "judge_and_people": found})
    assert "by judge and by people" in page and "orders: -0.816<" in page
    assert tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])) == 1
    assert tau(np.array([1.0, 2.0, 3.0]), np.array([5.0, 5.0, 5.0])) is None
    del runs["third"]
    assert beside_people(collection, runs, sample)["why_not"].startswith("systems that ran: 2")


def test_pairs_that_a_judge_was_asked_about_twice_are_counted(collection: Collection) -> None:
    """In the other order a conclusion changes, with a seed a score; what is not judged in both is no pair."""
    assert of_judge(collection.directory).twice == {}  # a release that does not tell what the judge said
    columns = ("query-id", "forward", "reversed", "seeded", "reason", "found_by")
    told = [
        ("q1", "2 2", "2 2", "2 2", "", ["bm25:answer:1"]),
        ("q1", "2 2", "0 1", "2 3", "unstable", ["bm25:answer:2"]),
        ("q2", "0 0", "0 0", "", "", ["bm25:answer:1"]),
        ("q2", "3 3", "", "3 2", "not_run", ["bm25:answer:2"]),
        ("elsewhere", "3 3", "0 0", "0 0", "unstable", ["bm25:answer:1"]),
    ]
    rows = [
        {"corpus-id": f"d{place}", **dict(zip(columns, row, strict=True))} for place, row in enumerate(told)
    ]
    pq.write_table(
        pa.Table.from_pylist(rows), collection.directory / JUDGEMENTS.folder / "test-00000-of-00001.parquet"
    )
    judge = of_judge(collection.directory)
    found = stability(collection, judge.twice)
    assert found["order"] == {"pairs": 3, "changed": 1, "share": pytest.approx(1 / 3)}
    assert found["seeds"] == {"pairs": 2, "changed": 1, "share": 0.5}
    summary = summarise(collection, [measured("bm25")], 100).summary
    assert summary["judge_stability"] == found and "The judge asked twice" in render(summary)
