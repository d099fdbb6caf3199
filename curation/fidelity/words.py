"""Content words of a text, with their places: what numbers and sides are said of."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import Stemmer

from curation.concepts.english import fold_english

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def listed(words: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(words.split())


FUNCTION_WORDS = listed(
    """
    a about after again all also an and any are as at be because been before being both but by can could
    did do does during each for from further had has have having he her hers him his how i if in into is
    it its may more most my no nor not of off on once only or other our out over own per same she should
    so some such than that the their them then there these they this those through to too under until up
    upon very was we were what when where which while who whom why will with within without would yet
    """
)
"""English words that say nothing of a finding."""


@dataclass(frozen=True, slots=True)
class Word:
    """One content word: its place and its stem."""

    start: int
    end: int
    stem: str


@functools.cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def stem(word: str) -> str:
    """One form for the spellings and inflections of an English word."""
    bare = word.lower().removesuffix("'s").removesuffix("’s")
    return str(_stemmer().stemWord(fold_english(bare)))


def content_words(text: str) -> list[Word]:
    """Words of an English text that are no function words, in order."""
    return [
        Word(match.start(), match.end(), stem(match.group()))
        for match in _WORD.finditer(text)
        if match.group().lower() not in FUNCTION_WORDS
    ]
