"""Back-translation: whether an engine that reads a translation says in English what its source says.

An engine counts in a language only after its control: it has translated known sentences back, and their
English agrees. One that gives back what it was given fails; a translation that it gives back so is rejected.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources

from curation.fidelity.sides import sides
from curation.fidelity.words import content_words
from curation.multilingual.numbers import Numeral, english_numerals, plain
from curation.multilingual.words import denies, words_of

LEAST_SHARED = 0.4
"""Share of the source's content words that come back. Of pairs of different sentences of one document of
TICO-19, one in a hundred shares .43, one in twenty .25."""


@dataclass(frozen=True, slots=True)
class Back:
    """What an engine made of a translation, and of the known sentences of its language, in their order."""

    engine: str
    text: str
    known: Sequence[str]


@functools.cache
def known_pairs(language: str) -> tuple[tuple[str, str], ...]:
    """Known sentences: (English, what it is in the language).

    Raises:
        KeyError: none are known of the language.
    """
    table = tomllib.loads((resources.files("curation.multilingual") / "known_pairs.toml").read_text("utf-8"))
    return tuple(zip(table["en"], table[language], strict=True))


def control(language: str, known: Sequence[str]) -> str:
    """Why an engine fails its control, '' if it does not.

    Args:
        language: that it translates from.
        known: what it made of the known sentences, in their order; fewer where it did not answer.
    """
    pairs = known_pairs(language)
    if len(known) != len(pairs):
        return f"{len(known)} of {len(pairs)} known sentences translated back"
    for number, ((english, text), back) in enumerate(zip(pairs, known, strict=True), start=1):
        if is_copy(text, back):
            return f"gave back known sentence {number} as it was"
        if found := next(differences(english, back), ""):
            return f"known sentence {number}: {found}"
    return ""


def is_copy(text: str, back: str) -> bool:
    """Whether an engine gave back what it was given."""
    return _folded(text) == _folded(back)


def differences(source: str, back: str) -> Iterator[str]:
    """What an English text says otherwise than another: numbers, units, denial, sides, and content words."""
    one, other = english_numerals(plain(source)), english_numerals(plain(back))
    yield from (f"lost: {_named(item)}" for item in _missing(one, other))
    yield from (f"new: {_named(item)}" for item in _missing(other, one))
    english = words_of("en")
    told, retold = (denies(plain(text).lower(), english) for text in (source, back))
    if told != retold:
        yield "negation lost" if told else "negation new"
    named, renamed = (sides(plain(text))[""] for text in (source, back))
    if named != renamed:
        yield f"side: now {' '.join(sorted(renamed)) or 'none'}"
    words, others = ({word.stem for word in content_words(plain(text))} for text in (source, back))
    share = len(words & others) / max(1, len(words))
    if share < LEAST_SHARED:
        yield f"{share:.2f} of the words"


def _folded(text: str) -> str:
    return " ".join(plain(text).casefold().split())


def _missing(one: Sequence[Numeral], other: Sequence[Numeral]) -> list[Numeral]:
    return [
        item
        for item in one
        if item.readings != {"1"}
        and not any(item.readings & found.readings and item.unit == found.unit for found in other)
    ]


def _named(item: Numeral) -> str:
    return f"{'/'.join(sorted(item.readings))} {item.unit}".rstrip()
