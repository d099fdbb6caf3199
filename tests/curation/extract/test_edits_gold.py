"""The marks of edits: ids, offsets, hashes and verdicts only, and the samples do not overlap."""

from __future__ import annotations

import itertools
import json
import re

from benchmarks.edit_texts import Edit
from benchmarks.edits import MARKS, SIZE, marked, sample, score

PLACE = re.compile(r"[a-z]+:[\w.:/-]+#[\w.-]+(?: label)?@\d+")


def test_marks_hold_no_text() -> None:
    gold = json.loads(MARKS.read_text("utf-8"))
    places = [
        {at for group in read["read"].values() for at in group} for read in gold["samples"].values()
    ] + [set(gold["now"]["whole"]) | set(gold["now"]["broken"])]
    assert all(PLACE.fullmatch(at) for group in places for at in group)
    assert all(not one & other for one, other in itertools.combinations(places[:-1], 2))
    assert all(re.fullmatch(r"[0-9a-f]{16}", seen) for seen in gold["now"]["whole"].values())
    assert all(re.fullmatch(r"[0-9a-f]{16} [a-z ]+", seen) for seen in gold["now"]["broken"].values())
    assert [len(group) for group in places[:2]] == [SIZE, SIZE]


def edit(number: int, replacement: str = "") -> Edit:
    return Edit("a:1", "a:1#p1", number, " (Fig. 2)", replacement, "grew", ".", f"en {number % 2}")


def test_a_changed_edit_has_no_mark() -> None:
    marks = {"whole": {edit(1).at: edit(1).seen}, "broken": {edit(2).at: f"{edit(2).seen} cut in half"}}
    told, unmarked = marked([edit(1), edit(2), edit(1, "the figure")], marks)
    assert [verdict for *_, verdict in told] == ["whole", "cut in half"]
    assert unmarked == [edit(1, "the figure")]
    assert score(told)["all"]["broken"] == 1


def test_samples_are_proportional_and_follow_the_seed() -> None:
    edits = [edit(number) for number in range(100)]
    first = sample(edits, "one", size=20)
    assert sample(reversed(edits), "one", size=20) == first
    assert [sum(one.stratum == f"en {half}" for one in first) for half in (0, 1)] == [10, 10]
    assert sample(edits, "two", size=20) != first
    assert len(sample(edits, "one", size=1000)) == 100
