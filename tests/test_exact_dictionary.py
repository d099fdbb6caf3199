"""Exact matching of whole words with offsets that re-extract."""

from __future__ import annotations

from benchmarks.grounding.exact_dictionary import build
from schemas.vocabulary import ConceptName

NAMES = [
    ConceptName(concept="T:2", name="Spotted skin", is_preferred=True),
    ConceptName(concept="T:2", name="Skin spots"),
    ConceptName(concept="T:3", name="Deeply spotted skin", is_preferred=True),
]


def test_the_longest_whole_words_match_and_offsets_re_extract() -> None:
    text = "Severe: deeply-spotted  SKIN, skin spots; spotted skins and spotted skin."
    found = list(build(NAMES).find(text))
    assert [(text[match.start : match.end], match.concept) for match in found] == [
        ("deeply-spotted  SKIN", "T:3"),
        ("skin spots", "T:2"),
        ("spotted skin", "T:2"),
    ]


def test_a_label_wins_over_a_synonym_and_short_names_are_left_out() -> None:
    rows = [
        ConceptName(concept="T:1", name="Fever"),
        ConceptName(concept="T:2", name="fever", is_preferred=True),
        ConceptName(concept="T:3", name="ill", is_preferred=True),
    ]
    assert [match.concept for match in build(rows).find("ill with fever")] == ["T:2"]
