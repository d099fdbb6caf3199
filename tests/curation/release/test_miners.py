"""What a search that mined pairs scores with and without the positives that it alone found."""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import pytest

from curation.release.card import template
from curation.release.miners import miner_facts
from tests.curation.audit.small import dataset, qrels
from tests.curation.release.known import run_sql

FOUND = {
    ("q1", "d1"): ["concepts:answer:1"],
    ("q1", "d2"): ["bm25:answer:3", "concepts:answer:2", "concepts:question:5"],
    ("q1", "d3"): ["bm25:answer:1"],
    ("q2", "d1"): ["concepts:answer:4"],
    ("q3", "d1"): ["citation", "concepts:answer:2"],
    ("q9", "d1"): ["concepts:answer:1"],  # of a query that is not released
}
POSITIVE = (("q1", "d1"), ("q1", "d2"), ("q2", "d1"), ("q3", "d1"))


def told(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    judgements = [{"query-id": q, "corpus-id": c, "found_by": by} for (q, c), by in FOUND.items()]
    labels = [*qrels(*POSITIVE, score=2), *qrels(("q1", "d3"), score=0)]
    views = dataset(folder, {"judgements": judgements, "qrels": labels}).views
    return {(row["system"], row["view"]): row for row in miner_facts(run_sql, views)["miners"]}


def test_a_miner_is_measured_at_its_own_ranks_without_what_it_alone_found(tmp_path: Path) -> None:
    found = told(tmp_path)
    assert found.keys() == {("bm25", "answer"), ("concepts", "answer"), ("concepts", "question")}
    best = 1 + 1 / log2(3)
    # bm25 found no positive alone; of q1 it has one of two at rank 3
    assert found["bm25", "answer"] == {
        "system": "bm25", "view": "answer", "queries": 3, "left_out": 0,
        "before": pytest.approx(1 / log2(4) / best / 3, abs=1e-4),
        "mean": pytest.approx(1 / log2(4) / best / 3, abs=1e-4),
    }  # fmt: skip
    # concepts alone found d1 of q1 and of q2, which keeps none; the citation of q3 found it as well
    assert found["concepts", "answer"] == {
        "system": "concepts", "view": "answer", "queries": 2, "left_out": 2,
        "before": pytest.approx((1 + 1 / log2(3)) / 2, abs=1e-4),
        "mean": pytest.approx((1 + 1 / log2(3)) / 2, abs=1e-4),
    }  # fmt: skip
    other = found["concepts", "question"]
    assert other["before"] == pytest.approx(1 / log2(6) / best / 2, abs=1e-4)
    assert other["mean"] == pytest.approx(1 / log2(6) / 2, abs=1e-4)  # one positive is left of q1


def test_the_card_tells_of_each_miner(tmp_path: Path) -> None:
    page = template("miners.md.jinja").render(miners=list(told(tmp_path).values()))
    assert "| concepts | answer | 2 | 2 | 0.816 | 0.816 |" in page
    assert template("miners.md.jinja").render(miners=[]).strip() == ""
