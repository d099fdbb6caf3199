"""Intervals of whole simulated reviews hold the truth at the stated rate; the benchmark has 200 of them."""

from __future__ import annotations

import pytest

from annotation.agreement.coefficients import COEFFICIENTS
from benchmarks.review_intervals import READERS, SCALE, coverage, review, true_agreement, true_precision
from tests.flows.review.replay import outcome


def test_intervals_of_a_slice_of_reviews_hold_the_truth() -> None:
    found = coverage(range(100, 116))
    assert found["all"] >= 0.93
    assert min(found["covered"].values()) >= 0.8, found["covered"]
    assert set(found["covered"]) == {*map(str, COEFFICIENTS), "rule_precision"}


def test_the_truth_is_what_a_large_review_gives() -> None:
    asked, rows = review(1, 12_000)
    given: dict[str, dict[str, int | None]] = {item.id: {} for item in asked}
    third: dict[str, int | None] = {}
    for row in rows:
        if row.role == "annotator":
            given[row.candidate_id][row.annotator] = row.grade
        else:
            third[row.candidate_id] = row.grade
    final = [outcome(given[item.id], None, third.get(item.id)).grade for item in asked]
    known = [grade for grade in final if grade is not None]
    assert sum(grade > 0 for grade in known) / len(known) == pytest.approx(true_precision(), abs=0.015)
    one, two, _ = READERS
    pairs = [(row[one], row[two]) for row in given.values() if None not in (row[one], row[two])]
    assert set(SCALE) == {grade for pair in pairs for grade in pair}
    three = [list(row.values()) for row in given.values() if None not in row.values()]
    same = sum((row[0] == row[1]) + (row[0] == row[2]) + (row[1] == row[2]) for row in three) / 3 / len(three)
    assert true_agreement()["percent_agreement"] == pytest.approx(same, abs=0.01)
