"""The draw: seeded, stratified, growing only by adding; what is known in advance; what a candidate shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.candidates import (
    Facets,
    Pair,
    check_facets,
    continued,
    draw,
    known_items,
    make_candidate,
    populations,
    random_pairs,
    reserved,
)
from schemas.errors import UsageError
from schemas.review import Origin, ReviewCandidate

SPECIALTIES = ("cardiology", "neurology", "neurology", "oncology", "")
RULE = "summary/own-abstract@2"


def frame(queries: int, depth: int = 12) -> list[Pair]:
    pairs = []
    for number in range(queries):
        facets = Facets(SPECIALTIES[number % 5], ("en", "de")[number % 7 == 0])
        query = f"q{number:04}"
        pairs.append(Pair(query, f"d{number}", "positive", facets, rule=RULE, rule_grade=2))
        pairs += [
            Pair(query, f"p{number}-{rank}", "pool", facets, rank=rank, systems=("bm25",))
            for rank in range(1, depth + 1)
        ]
        pairs.append(Pair(query, f"r{number}", "random", facets))
    return pairs


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 300), st.integers(0, 300), st.randoms())
def test_a_larger_sample_holds_a_smaller_one_in_any_order(
    queries: int, sample: int, more: int, order: object
) -> None:
    pairs = frame(queries)
    by = check_facets(["language", "specialty"])
    small = draw(pairs, sample, by, "seed")
    order.shuffle(pairs)  # type: ignore[attr-defined]
    large = draw(pairs, sample + more, by, "seed")
    assert len(small) == min(sample, len(pairs))
    assert set(small) <= set(large)
    assert draw(pairs, sample, by, "seed") == small


def test_every_stratum_gets_one_and_then_its_share() -> None:
    pairs = frame(100)
    by = check_facets(["specialty"])
    sizes = populations(pairs, by)
    drawn = draw(pairs, 160, by, "seed")
    found = populations(drawn, by)
    assert set(found) == set(sizes)
    origins = Counter(pair.origin for pair in drawn)
    assert origins == {"positive": 80, "pool": 60, "random": 20}
    assert found["positive", RULE, "neurology"] == 32
    assert {name: found["pool", name, "neurology"] for name in ("rank 1-3", "rank 4-10", "rank 11-20")} == {
        "rank 1-3": 6,
        "rank 4-10": 14,
        "rank 11-20": 4,
    }
    other = draw(pairs, 160, by, "another release")
    assert 0 < len({pair.key for pair in other} & {pair.key for pair in drawn}) < 120


def test_what_was_drawn_before_counts_first() -> None:
    pairs = frame(30)
    by = check_facets([])
    before = {pair.key for pair in draw(pairs, 40, by, "first")}
    now = {pair.key for pair in draw(pairs, 60, by, "second", before)}
    assert before <= now and len(now) == 60


def is_reserved(pair: Pair) -> bool:
    return reserved("seed", pair, (RULE.partition("@")[0],))


def test_known_items_are_half_positive_half_of_another_specialty_and_in_no_sample() -> None:
    pairs = frame(400, depth=1)
    labelled = [pair for pair in pairs if pair.origin == "positive"]
    facets = {pair.query_id: pair.facets for pair in labelled}
    documents = [(f"d{number}", SPECIALTIES[number % 5]) for number in range(400)]
    reserve = [pair for pair in labelled if is_reserved(pair)]
    made = known_items(reserve, facets, documents, lambda q, c: q[1:].lstrip("0") != c[1:], 20, "seed")
    assert Counter(pair.known_grade for pair in made) == {2: 10, 0: 10}
    assert all(pair.origin == "gold" for pair in made)
    of = dict(documents)
    for pair in made:
        if pair.known_grade == 0:
            assert of[pair.corpus_id] and pair.facets.specialty
            assert of[pair.corpus_id] != pair.facets.specialty
        else:
            assert is_reserved(replace(pair, origin="positive"))
    kept = [pair for pair in labelled if not is_reserved(pair)]
    assert 0.85 * len(labelled) < len(kept) < 0.95 * len(labelled)
    assert not {pair.key for pair in kept} & {pair.key for pair in made if pair.known_grade == 2}
    assert not any(is_reserved(replace(pair, rule="case_study/same-diagnosis@1")) for pair in labelled)
    assert not any(is_reserved(replace(pair, rule_grade=1)) for pair in labelled)


def test_random_pairs_come_from_all_the_corpus_and_only_where_nothing_is_known() -> None:
    facets = {f"q{number}": Facets() for number in range(300)}
    corpus = [f"d{number:03}" for number in range(50)]
    made = random_pairs(facets, corpus, lambda q, c: c >= "d010", "seed")
    assert len(made) == 300 and {pair.corpus_id for pair in made} == set(corpus[10:])
    assert random_pairs(facets, corpus, lambda q, c: False, "seed") == []


def test_a_candidate_shows_its_fields_in_the_layouts_order_and_nothing_hidden() -> None:
    pair = Pair("q", "d", "pool", Facets("neurology", "de"), rank=3, systems=("bm25",))
    fields = {
        "license": "CC-BY-4.0",
        "document_text": "A text.",
        "query_text": "Eine Frage?",
        "document_image": "ab" * 32,
        "language": "de",
        "reference_diagnosis": "",
        "unknown": "not shown",
    }
    made = make_candidate(pair, "data", "image_search", fields, is_sensitive=True)
    assert made.kind == "relevance_image" and made.is_sensitive
    assert [item.name for item in made.shown] == [
        "language",
        "query_text",
        "document_text",
        "document_image",
    ], "no licence: an article named on both sides would give the answer away"
    for other in (
        replace(pair, origin="positive", rule="r@1", rule_grade=2),
        replace(pair, rank=9, systems=(), known_grade=0),
    ):
        assert make_candidate(other, "data", "image_search", fields).id == made.id
    changed = make_candidate(pair, "data", "image_search", fields | {"document_text": "A  text."})
    assert changed.id != made.id
    text_only = make_candidate(pair, "data", "image_search", fields | {"document_image": ""})
    assert text_only.kind == "relevance_text"


def test_a_pair_is_asked_about_in_the_form_that_was_answered_while_text_and_image_are_the_same() -> None:
    def one(document: str, origin: Origin = "pool", **more: str) -> ReviewCandidate:
        fields = {"query_text": "q", "document_text": document, **more}
        return make_candidate(Pair("q", "d", origin, Facets()), "data", "summary", fields)

    old, marked, changed = one("a"), one("a", "positive", concepts="[1]"), one("b", "positive")
    pair = ("q", "d")
    assert continued([old], {pair: one("a", "random")}, ())[pair].origin == "pool", "it says why it was drawn"
    assert continued([old], {pair: marked}, ()) == {pair: marked}
    assert continued([old], {pair: marked}, {old.id}) == {pair: old}
    assert continued([old], {pair: changed}, {old.id}) == {pair: changed}
    assert continued([old, changed], {pair: marked}, {old.id, changed.id}) == {pair: old}
    assert continued([old, marked], {pair: marked}, {old.id, marked.id}) == {pair: marked}
    assert continued([old, marked], {pair: marked}, {old.id}) == {pair: old}
    assert continued([], {pair: old}, ()) == {pair: old}


def test_facets_are_checked() -> None:
    assert check_facets(["tier", "language"]) == ("language", "tier")
    with pytest.raises(UsageError, match="no stratum 'age'"):
        check_facets(["age"])
