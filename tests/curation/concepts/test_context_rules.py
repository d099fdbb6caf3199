"""Phrases of the context rules in texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from curation.concepts.context_rules import Lexicon, tables

WORDS = [f"w{number}" for number in range(40)]
TABLE = {
    "fillers": ["very", "quite"],
    "classes": {"first": WORDS, "second": ["", *WORDS], "third": WORDS, "fourth": WORDS, "fifth": WORDS},
    "stop": ["but", "; ", "not seen by"],
    "verbs": ["was"],
    "pseudo": ["not only", "{first} ~{third} cell"],
    "negated": {
        "forward": ["not", "no", "not {first} {second} {third} {fourth} {fifth}", ", sans"],
        "backward": ["was ~seen", "# days off"],
    },
}


def found(text: str, table: Mapping[str, Any] = TABLE) -> list[str]:
    return [text[start:end] for start, end, _ in Lexicon(table).hits(text, 0, len(text))]


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("it is not w7 w9 w1 w2 w3 here", ["not w7 w9 w1 w2 w3"]),
        ("it is not w7 w1 w2 w3 here", ["not w7 w1 w2 w3"]),  # the second class has an empty word
        ("it is not w7 w1 w2 here", ["not"]),
        ("no fever, sans w1 but not only w2", ["no", ", sans", "but", "not only"]),
        ("not w3 very w5 cell", ["not", "w3 very w5 cell"]),
        ("it was quite very seen", ["was quite very seen"]),
        ("no, it was not-seen by us", ["no", "was", "not-seen by"]),
        ("nothing, but 12–24 days off", ["but", "12–24 days off"]),
        ("a few days off; several-days off", ["a few days off", ";", "several-days off"]),
        ("it was here but gone", []),  # no trigger
        ("knot and notes", []),
    ],
)
def test_the_longest_phrase_at_a_place(text: str, phrases: list[str]) -> None:
    """The classes stand for 160 million phrases: none is written out."""
    assert found(text) == phrases


def test_phrases_that_are_written_alike_do_what_all_of_them_do() -> None:
    table = {**TABLE, "stop": ["w7 w9"], "negated": {"near": ["{first} w9"], "before": ["w7 {third}"]}}
    ((_, _, phrase),) = Lexicon(table).hits("w7 w9", 0, 5)
    assert sorted(phrase.sets) == [("negated", "before"), ("negated", "near")]
    assert phrase.stops == {"negated", "hypothetical", "historical", "family"}


@pytest.mark.parametrize("language", sorted(tables()))
def test_every_phrase_without_a_class_is_found(language: str) -> None:
    table = tables()[language]
    lexicon = Lexicon(table)
    for flag in ("negated", "hypothetical", "historical", "family"):
        for direction in ("forward", "near", "backward", "before", "around"):
            for written in table.get(flag, {}).get(direction, ()):
                if not set(written) & set("{~#"):
                    text = f" {written.lower()} "
                    hits = [text[start:end] for start, end, _ in lexicon.hits(text, 1, len(text))]
                    assert written.lower().strip() in hits, written
