"""Who reads what: k people each, even loads, nothing moves, gold all through, specialties matched."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.assignment import Person, allot, assign, numbered, read_people
from schemas.errors import UsageError
from schemas.review import Allotment, ReviewCandidate


def item(number: int, *, gold: bool = False, specialty: str = "", language: str = "en") -> ReviewCandidate:
    return ReviewCandidate(
        id=f"cand:{number:016x}",
        dataset="d",
        task="summary",
        kind="relevance_text",
        query_id=f"q{number}",
        corpus_id=f"d{number}",
        shown=(),
        origin="gold" if gold else "positive",
        known_grade=2 if gold else None,
        specialty=specialty,
        language=language,
    )


def loads(rows: list[Allotment]) -> Counter[str]:
    return Counter(row.annotator for row in rows)


def queues(rows: list[Allotment]) -> dict[str, list[str]]:
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for row in rows:
        assert row.place not in found[row.annotator]
        found[row.annotator][row.place] = row.candidate_id
    return {name: [places[place] for place in sorted(places)] for name, places in found.items()}


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.integers(2, 6),
    st.integers(1, 3),
    st.integers(0, 8),
    st.booleans(),
)
def test_every_item_has_k_readers_loads_differ_by_one_and_nothing_moves(
    first: int, more: int, people: int, per_item: int, golds: int, has_newcomer: bool
) -> None:
    per_item = min(per_item, people)
    items = [item(number, gold=number < golds) for number in range(first)]
    before = assign(items, numbered(people), [], per_item).allotments
    assert set(Counter(row.candidate_id for row in before).values()) == {per_item}
    assert len({(row.candidate_id, row.annotator) for row in before}) == len(before)
    every = loads(before)
    assert max(every.values()) - min(every[f"A{n}"] for n in range(1, people + 1)) <= 1
    later = [*items, *(item(number) for number in range(first, first + more))]
    crew = numbered(people + has_newcomer)
    after = assign(later, crew, before, per_item)
    assert after.short == []
    assert not {(r.candidate_id, r.annotator) for r in before} & {
        (r.candidate_id, r.annotator) for r in after.allotments
    }
    together = queues([*before, *after.allotments])
    for name, queue in queues(before).items():
        assert together[name][: len(queue)] == queue
    if not has_newcomer:
        both = loads([*before, *after.allotments])
        assert max(both.values()) - min(both.values()) <= 1
    assert assign(list(reversed(later)), crew, before, per_item) == after


def test_gold_stands_all_through_a_queue_at_places_nobody_can_count_out() -> None:
    items = [item(number, gold=number % 20 == 0) for number in range(200)]
    rows = assign(items, numbered(4), [], 2).allotments
    gold = {one.id for one in items if one.origin == "gold"}
    distances = set()
    for queue in queues(rows).values():
        places = [place for place, name in enumerate(queue) if name in gold]
        assert len(queue) == 100 and [place // 20 for place in places] == [0, 1, 2, 3, 4]
        distances |= {second - first for first, second in itertools.pairwise(places)}
    assert len(distances) > 5


def test_specialists_get_their_own_specialty_within_an_even_load() -> None:
    items = [item(n, specialty=("cardiology", "neurology", "")[n % 3]) for n in range(90)]
    people = [
        Person("A1", specialties=("cardiology",)),
        Person("A2", specialties=("neurology",)),
        Person("A3"),
    ]
    rows = assign(items, people, [], 1).allotments
    assert set(loads(rows).values()) == {30}
    specialty = {one.id: one.specialty for one in items}
    got = {name: Counter(specialty[one] for one in queue) for name, queue in queues(rows).items()}
    assert got == {"A1": {"cardiology": 30}, "A2": {"neurology": 30}, "A3": {"": 30}}


def test_nobody_gets_a_language_they_do_not_read_and_what_is_missing_is_said() -> None:
    items = [item(1, language="de"), item(2, language="ja"), item(3)]
    people = [Person("A1", languages=("en", "de")), Person("A2", languages=("en",))]
    found = assign(items, people, [], 2)
    assert {(r.candidate_id, r.annotator) for r in found.allotments} == {
        (items[0].id, "A1"),
        (items[2].id, "A1"),
        (items[2].id, "A2"),
    }
    assert found.short == [(items[0].id, 1), (items[1].id, 2)]


def test_more_readers_per_item_later_adds_only_the_missing_ones() -> None:
    items = [item(number) for number in range(30)]
    before = assign(items, numbered(3), [], 2).allotments
    after = assign(items, numbered(3), before, 3).allotments
    assert len(after) == 30
    assert len({(r.candidate_id, r.annotator) for r in [*before, *after]}) == 90


def test_a_third_person_has_not_read_the_item() -> None:
    items = [item(number) for number in range(12)]
    before = assign(items, numbered(3), [], 2).allotments
    read = {(row.candidate_id, row.annotator) for row in before}
    made = allot(items, numbered(3), before, per_item=1, role="adjudicator", barred=read)
    assert made.short == [] and len(made.allotments) == 12
    assert not {(r.candidate_id, r.annotator) for r in made.allotments} & read
    assert set(loads(made.allotments).values()) == {4}
    assert min(row.place for row in made.allotments) == 9, "they follow what the person has to read"


def test_the_list_of_people_is_read_and_refused(tmp_path: object) -> None:
    people = read_people(
        '[[annotator]]\npseudonym = "B"\naccount = "b@example.org"\nspecialties = ["neurology"]\n'
        'languages = ["de"]\n[[annotator]]\npseudonym = "A"\nadjudicator = true\n'
    )
    assert people == [
        Person("A", adjudicates=True),
        Person("B", "b@example.org", ("neurology",), ("de",)),
    ]
    for text in ("x = 1", "[[annotator]]\naccount = 'a'", "[[annotator]]\npseudonym='A'\nrole='x'", "[["):
        with pytest.raises(UsageError):
            read_people(text)
    with pytest.raises(UsageError, match="two annotators"):
        read_people("[[annotator]]\npseudonym='A'\n[[annotator]]\npseudonym='A'")
    with pytest.raises(UsageError, match="3 annotators per item, but there are only 2"):
        assign([item(1)], numbered(2), [], 3)
