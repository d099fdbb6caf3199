"""Draws: largest remainder, proportions by facet, many articles, and nothing but ids decides."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.derived.subsets.draw import lot, lots, shared_out, stratified
from curation.evaluation.collection import EvaluationQuery


def query(number: int, specialty: str = "", group: str = "") -> EvaluationQuery:
    return EvaluationQuery(f"q{number:03d}", "", "en", group or f"a{number}", {"specialty": specialty})


@pytest.mark.parametrize(
    ("sizes", "total", "places"),
    [
        ([50, 30, 20], 10, [5, 3, 2]),
        ([53, 33, 14], 10, [5, 3, 2]),  # remainders .3, .3, .4
        ([1, 1, 1], 2, [1, 1, 0]),  # equal remainders: the earlier
        ([7, 0, 2], 9, [7, 0, 2]),
        ([3, 4], 0, [0, 0]),
        ([], 0, []),
    ],
)
def test_places_by_largest_remainder(sizes: list[int], total: int, places: list[int]) -> None:
    assert shared_out(sizes, total) == places


@given(st.lists(st.integers(0, 50), max_size=8), st.data())
def test_every_place_is_given_and_nobody_gets_more_than_there_are(
    sizes: list[int], data: st.DataObject
) -> None:
    total = data.draw(st.integers(0, sum(sizes)))
    places = shared_out(sizes, total)
    assert sum(places) == total
    for size, got in zip(sizes, places, strict=True):
        assert 0 <= got <= size
        assert not sum(sizes) or abs(got - size * total / sum(sizes)) < 1


def test_more_places_than_members_is_an_error() -> None:
    with pytest.raises(ValueError, match="5 places for 3 members"):
        shared_out([1, 2], 5)


def test_a_draw_is_in_proportion_and_does_not_hang_on_order() -> None:
    queries = [query(n, "a" if n < 60 else "b" if n < 90 else "") for n in range(100)]
    drawn = stratified(queries, 20, ("specialty", "tier"))
    assert Counter(item.facets["specialty"] for item in drawn) == {"a": 12, "b": 6, "": 2}
    assert {item.id for item in stratified(queries[::-1], 20, ("specialty", "tier"))} == {
        item.id for item in drawn
    }
    mine = sorted(
        (item for item in queries if item.facets["specialty"] == "b"), key=lambda item: lot(item.id)
    )
    assert {item.id for item in drawn if item.facets["specialty"] == "b"} == {item.id for item in mine[:6]}


def test_articles_are_used_again_only_when_none_is_left() -> None:
    queries = [query(n, "a" if n % 2 else "b", f"article{n // 10}") for n in range(40)]
    drawn = stratified(queries, 4, ("specialty",))
    assert len({item.group for item in drawn}) == 4, "across specialties, too"
    again = stratified(queries, 10, ())
    assert sorted(Counter(item.group for item in again).values()) == [2, 2, 3, 3]
    assert stratified(queries, 0, ()) == []


def test_lots_are_hashes_of_seed_and_id() -> None:
    assert lots(["a", "b"], 2).tolist() == [lot("a"), lot("b")]
    assert lot("a") == 0xE39F0F8833AFCDEB, "another value would draw other parts of every release"
