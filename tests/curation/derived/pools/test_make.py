"""Pools hold what was found and every positive, nothing excluded; hard negatives are below the margin."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from curation.derived.pools import PoolOptions, PoolSummary, SplitRuns, facts, make_pools
from curation.evaluation.ranking import EMPTY, Ranking
from schemas.tables import HARD_NEGATIVES, POOL_CHECKSUMS, POOLS, TOP_RANKED
from tests.curation.release.known import run_sql

OPTIONS = PoolOptions(depth=2, hard_negatives=10, margin=0.05)


def made(splits: list[SplitRuns], options: PoolOptions, out: Path) -> PoolSummary:
    summary = make_pools(splits, options, out)
    assert summary is not None
    return summary


def rows(directory: Path, folder: str, split: str = "test") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(
        directory / folder / f"{split}-00000-of-00001.parquet"
    ).to_pylist()
    return found


def kinds(directory: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for row in rows(directory, "provenance/pools"):
        found.setdefault(row["query-id"], {})[row["corpus-id"]] = row["kind"]
    return found


def test_pools_of_known_rankings(release: Path, splits: list[SplitRuns]) -> None:
    summary = made(splits, OPTIONS, release)
    assert {row["query-id"]: row["corpus-ids"] for row in rows(release, "top_ranked")} == {
        "q1": ["d1", "d2", "d3"],  # d5 is excluded: d3 moves up
        "q2": ["d1", "d3", "d4"],  # d6 is the query's own patient
        "q3": ["d1", "d2", "d4", "d5"],
        "q4": ["d2"],
    }
    assert rows(release, "top_ranked", "dev") == [{"query-id": "q5", "corpus-ids": ["d1", "d2", "d4"]}]
    assert kinds(release) == {
        "q1": {"d1": "positive", "d2": "positive", "d3": "likely_positive"},  # 7.7 > 0.95 x 3.0
        "q2": {"d1": "likely_positive", "d3": "positive", "d4": "likely_positive"},
        # d4 scores 0 in bm25, so whatever bm25 finds is above it; d5 (0.4) is above 0.95 x 0.3 in dense
        "q3": {"d1": "likely_positive", "d2": "likely_positive", "d4": "positive", "d5": "likely_positive"},
        "q4": {"d2": "candidate"},
        "q5": {"d1": "likely_positive", "d2": "positive", "d4": "likely_positive"},
    }
    assert (summary.queries, summary.queries_without_positive, summary.safeguarded) == (5, 1, 0)
    assert summary.held_back == {"bm25": 6, "dense": 2} and summary.likely_positives == 8
    assert summary.untested == ("hybrid",) and summary.silent == {"bm25": 0, "dense": 0}


def test_without_margin_test_all_are_hard_and_ordered_by_fusion(
    release: Path, splits: list[SplitRuns]
) -> None:
    bare = [dataclasses.replace(part, scorers={}) for part in splits]
    summary = made(bare, PoolOptions(depth=6, hard_negatives=2), release)
    hard = rows(release, "hard_negatives")
    assert [(row["query-id"], row["corpus-id"], row["rank"]) for row in hard] == [
        ("q1", "d3", 1),  # 2nd, 2nd and 5th of what is not excluded
        ("q1", "d6", 2),  # 3rd, 3rd and 4th: before d4 with 5th, 5th and 3rd
        ("q2", "d4", 1),  # 1st, 1st and 3rd
        ("q2", "d1", 2),
        ("q3", "d1", 1),
        ("q3", "d2", 2),
    ]
    assert hard[0]["systems"] == [
        {"system": "bm25", "rank": 2},
        {"system": "dense", "rank": 5},
        {"system": "hybrid", "rank": 2},
    ]
    assert {row["label_status"] for row in hard} == {"unjudged"}
    assert (summary.hard_negatives, summary.likely_positives) == (8, 0)
    assert summary.untested == ("bm25", "dense", "hybrid")
    assert kinds(release)["q4"] == {"d2": "candidate"}


def test_a_positive_nobody_found_is_safeguarded(release: Path, splits: list[SplitRuns]) -> None:
    bm25 = [dataclasses.replace(part, runs={"bm25": part.runs["bm25"]}, scorers={}) for part in splits]
    summary = made(bm25, OPTIONS, release)
    positives = [row for row in rows(release, "provenance/pools") if row["kind"] == "positive"]
    assert {(row["query-id"], row["corpus-id"]) for row in positives if not row["systems"]} == {
        ("q1", "d2"),
        ("q3", "d4"),
        ("q5", "d2"),
    }
    assert (summary.positives, summary.safeguarded) == (5, 3)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"d3": 10.0, "d1": 9.6}, "likely_positive"),
        ({"d3": 10.0, "d1": 9.5}, "hard_negative"),  # not above the threshold
        ({"d3": -1.0, "d1": -1.04}, "likely_positive"),
        ({"d3": -1.0, "d1": -1.06}, "hard_negative"),
        ({"d1": 9.0}, "hard_negative"),  # the positive has no score: nothing to compare with
        ({"d3": 1.0}, "hard_negative"),  # the candidate has none
    ],
)
def test_the_margin(release: Path, splits: list[SplitRuns], scores: dict[str, float], expected: str) -> None:
    from tests.curation.derived.pools.conftest import scorer

    test = splits[0]
    run = {"bm25": {"q2": test.runs["bm25"]["q2"]}}
    one = SplitRuns(test.collection, run, {"bm25": scorer(test.collection, {"q2": scores}, float("nan"))})
    summary = made([one], dataclasses.replace(OPTIONS, depth=4), release)
    assert kinds(release)["q2"]["d1"] == expected
    assert summary.silent["bm25"] == (3 if "d3" not in scores else 2)  # q1 and q3 have no score at all


def test_checksums_recompute_and_notice_changes(release: Path, splits: list[SplitRuns]) -> None:
    made(splits, OPTIONS, release)
    documents = {row["id"]: row for row in rows(release, "corpus")}
    stated = {row["query-id"]: row for row in rows(release, "provenance/pool_checksums")}
    assert sorted(stated) == ["q1", "q2", "q3", "q4", "q5"] and stated["q5"]["split"] == "dev"
    for row in rows(release, "top_ranked"):
        pool = hashlib.sha256()
        for name in row["corpus-ids"]:
            text = f"{name}\n{documents[name]['title']}\n{documents[name]['text']}"
            pool.update(hashlib.sha256(text.encode()).digest())
        assert stated[row["query-id"]]["pool_sha256"] == pool.hexdigest()
        assert stated[row["query-id"]]["candidates"] == len(row["corpus-ids"])
    assert len({row["pool_sha256"] for row in stated.values()}) == len(stated)


def test_equal_rankings_give_equal_bytes(release: Path, splits: list[SplitRuns], tmp_path: Path) -> None:
    def written(parts: list[SplitRuns]) -> dict[str, bytes]:
        made(parts, OPTIONS, release)
        tables = (TOP_RANKED, HARD_NEGATIVES, POOLS, POOL_CHECKSUMS)
        return {path.as_posix(): path.read_bytes() for table in tables for path in table.files(release)}

    first = written(splits)
    turned = [
        dataclasses.replace(part, runs=dict(sorted(part.runs.items(), reverse=True)))
        for part in reversed(splits)
    ]
    assert written(turned) == first and len(first) == 6


def test_without_a_system_nothing_is_written(release: Path, splits: list[SplitRuns]) -> None:
    none = [dataclasses.replace(part, runs={}) for part in splits]
    assert make_pools(none, OPTIONS, release) is None
    assert not (release / "top_ranked").exists() and facts(release, run_sql) is None


def test_a_query_nothing_was_found_for(release: Path, splits: list[SplitRuns]) -> None:
    test = splits[0]
    run: dict[str, Ranking] = {"q4": EMPTY, "q2": test.runs["bm25"]["q2"]}
    summary = made([SplitRuns(test.collection, {"x": run}, {})], OPTIONS, release)
    assert summary.queries_without_candidate == 1
    assert rows(release, "top_ranked")[3] == {"query-id": "q4", "corpus-ids": []}


def test_who_shaped_pools_includes_parts(release: Path, splits: list[SplitRuns]) -> None:
    run = splits[0].runs["bm25"]
    names = ("hybrid", "st:a/b+rerank:c/d", "their run")
    summary = made([SplitRuns(splits[0].collection, dict.fromkeys(names, run))], OPTIONS, release)
    assert summary.systems == ("hybrid", "st:a/b+rerank:c/d", "their run")
    assert summary.shaped_by == (
        "bm25", "dense", "hybrid", "rerank:c/d", "st:a/b", "st:a/b+rerank:c/d", "their run",
    )  # fmt: skip


def test_facts_are_those_of_the_summary(release: Path, splits: list[SplitRuns]) -> None:
    summary = made(splits, OPTIONS, release)
    found = facts(release, run_sql)
    assert found is not None
    assert found["sizes"] == {"queries": 5, "smallest": 1, "median": 3, "largest": 4, "pairs": summary.pairs}
    assert found["positives"] == {"positives": summary.positives, "safeguarded": summary.safeguarded}
    assert found["hard_negatives"]["pairs"] == summary.hard_negatives
    held = sum(row["pairs"] for row in found["kinds"] if row["kind"] == "likely_positive")
    assert held == summary.likely_positives
    assert [row["system"] for row in found["systems"]] == list(summary.systems)
    assert all(row["depth"] <= OPTIONS.depth for row in found["systems"])
    assert np.array([row["found_alone"] for row in found["systems"]]).tolist()[2] == 0  # as bm25
