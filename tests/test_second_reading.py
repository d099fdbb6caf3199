"""The second reading: of the test halves alone, no text of others, and the figures that follow from it."""

from __future__ import annotations

import json
import re

from benchmarks.measure import RESULTS
from benchmarks.second_reading import CLEAR, first_labels, mark, of_scope, second


def test_it_is_of_the_test_half_and_holds_labels_and_hashes_alone() -> None:
    marks = second()
    ids = {article for article, _, _ in first_labels()}
    assert marks["scope"].keys() <= ids and len(marks["scope"]) > 600
    assert set(marks["scope"].values()) == CLEAR | {"unclear", "notice"}
    found = [one for chosen in marks["sentences"].values() for one in chosen]
    assert len(marks["sentences"]) > 100 and len(found) > 150
    assert all(re.fullmatch(r"[0-9a-f]{12}", one) for one in found)
    assert re.fullmatch(r"[0-9a-f]{12}", mark("A sentence."))


def test_the_committed_counts_of_scope_follow_from_the_marks() -> None:
    result = json.loads((RESULTS / "second_reading.json").read_text("utf-8"))
    assert of_scope(second()["scope"]) == result["scope"]


def test_a_mark_on_the_other_side_is_counted_as_one() -> None:
    marks = dict(second()["scope"])
    article = next(one for one, label in marks.items() if label == "not_human" and one.startswith("pmid:"))
    before, after = of_scope(marks), of_scope({**marks, article: ""})
    assert sum(row["side"] for row in before.values()) - sum(row["side"] for row in after.values()) == 1
