"""How a match is told and which of overlapping readings stay; needs no extra."""

from __future__ import annotations

import pytest

from curation.concepts.backends.loading import pieces
from curation.concepts.backends.readings import rule_of, settle
from curation.concepts.matcher import Match
from schemas.concept import MatchRule


@pytest.mark.parametrize(
    ("text", "name", "rule"),
    [
        ("BREAST  cancer", "Breast cancer", "exact"),
        ("breast-cancer", "Breast cancer", "exact"),
        ("breast cancers", "Breast cancer", "form"),
        ("cafe au lait", "Café au lait", "form"),
        ("low set ears", "Lowset ears", "form"),
        ("cancer, breast", "Breast cancer", "order"),
        ("cancers, breast", "Breast cancer", "order"),
        ("braest cancer", "Breast cancer", "typo"),
        ("breast tumor cancer", "Breast cancer", "typo"),
        ("心力衰竭", "心力衰竭", "exact"),
    ],
)
def test_rules(text: str, name: str, rule: MatchRule) -> None:
    assert rule_of(text, name) == rule


def found(start: int, end: int, concept: str, score: float = 1.0) -> Match:
    return Match(start, end, concept, concept, "exact", score)


@pytest.mark.parametrize("overlaps", [False, True])
def test_the_best_reading_of_a_span(overlaps: bool) -> None:
    readings = [found(0, 5, "C", 0.9), found(0, 5, "B"), found(0, 5, "A")]
    assert settle(readings, overlaps=overlaps) == [found(0, 5, "A")]


def test_the_longest_exact_reading_wins() -> None:
    inner, outer, later = found(6, 12, "A"), found(0, 12, "B"), found(20, 25, "C")
    assert settle([later, inner, outer], overlaps=False) == [outer, later]
    assert settle([later, inner, outer], overlaps=True) == [outer, inner, later]


def test_an_inexact_reading_loses_to_what_it_lives_on() -> None:
    old, infarction = found(0, 25, "old", 0.85), found(4, 25, "infarction")
    acute, misspelt = found(0, 5, "acute"), found(0, 27, "misspelt", 0.8)
    assert settle([old, infarction], overlaps=False) == [infarction]
    assert settle([old, infarction], overlaps=True) == [infarction]
    assert settle([acute, misspelt], overlaps=False) == [misspelt]
    assert settle([acute, misspelt], overlaps=True) == [misspelt, acute]


def test_parts_of_a_mention_of_the_same_concept_are_not_mentions() -> None:
    assert settle([found(0, 12, "A"), found(6, 12, "A")], overlaps=True) == [found(0, 12, "A")]


def test_crossing_readings() -> None:
    left, right = found(0, 10, "A"), found(5, 20, "B")
    assert settle([left, right], overlaps=False) == [right]
    assert settle([left, right], overlaps=True) == [left, right]


def test_many_readings_take_linear_time() -> None:
    readings = [found(place, place + 9, "A", 0.9) for place in range(0, 300_000, 3)]
    assert len(settle(readings, overlaps=False)) > 30_000


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pieces_keep_every_character_in_place(language: str) -> None:
    text = ("Seizure. " * 900 + "\n" + "心不全。" * 3000) * 3 + "x" * 30_000
    parts = list(pieces(text, language))
    assert (
        "".join(part for _, part in parts).rstrip() == (text if language == "zh" else parts_of(text)).rstrip()
    )
    assert all(len(part) <= 10_000 for _, part in parts)
    assert all(start == sum(len(part) for _, part in parts[:place]) for place, (start, _) in enumerate(parts))


def parts_of(text: str) -> str:
    """The text with its tokens of 500 characters or more blanked."""
    words = [word if len(word) < 500 else " " * len(word) for word in text.replace("\n", " \n ").split(" ")]
    return " ".join(words).replace(" \n ", "\n")
