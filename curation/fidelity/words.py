"""Content words of a text, with their places: what numbers and sides are said of."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
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
_FORMS = (
    "fall fell fallen",
    "loss lose loses lost losing",
    "bleed bled bleeding",
    "feel felt",
    "grow grew grown growth",
    "swell swollen swelling",
    "break broke broken",
    "bite bit bitten",
    "drink drank drunk",
    "eat ate eaten",
    "sleep slept asleep",
    "see saw seen",
    "take took taken",
    "give gave given",
    "rise rose risen",
    "weigh weight",
    "breath breathe breathing",
    "speech speak spoke spoken",
    "choose chose chosen choice",
    "sit sat",
    "stand stood",
    "hear heard hearing",
    "think thought",
    "tear tore torn",
    "wake woke woken",
    "thick thickened thickening",
)
_BASE = {form: forms.split()[0] for forms in _FORMS for form in forms.split()}
"""Irregular forms of English words in vignettes -> the one they are read as."""
HAVING = {
    "febrile": "fever",
    "feverish": "fever",
    "icteric": "jaundice",
    "jaundiced": "jaundice",
    "cyanotic": "cyanosis",
    "hypertensive": "hypertension",
    "hypotensive": "hypotension",
    "tachycardic": "tachycardia",
    "bradycardic": "bradycardia",
    "diabetic": "diabetes",
    "asthmatic": "asthma",
    "epileptic": "epilepsy",
    "anemic": "anemia",
    "anaemic": "anemia",
    "edematous": "edema",
    "dyspneic": "dyspnea",
    "smoker": "smoke",
    "painful": "pain",
    "hurt": "pain",
    "hurts": "pain",
    "hurting": "pain",
    "ache": "pain",
    "aches": "pain",
    "aching": "pain",
    "achy": "pain",
    "sore": "pain",
}
"""Words for one who has something -> what."""
LACKING = {
    "afebrile": "fever",
    "anicteric": "jaundice",
    "acyanotic": "cyanosis",
    "painless": "pain",
    "painlessly": "pain",
    "nonsmoker": "smoke",
    "nontender": "tenderness",
    "nondiabetic": "diabetes",
}
"""Words for one who has not."""
_LACKS = re.compile(r"\b(?:non|never)[-‐‑]\Z", re.IGNORECASE)
"""Beginnings that deny the word they are joined to."""


@dataclass(frozen=True, slots=True)
class Word:
    """One content word: its place and its stem."""

    start: int
    end: int
    stem: str


@functools.cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@functools.lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """One form for the spellings and inflections of an English word."""
    bare = word.lower().removesuffix("'s").removesuffix("’s")
    base = _BASE.get(bare) or _BASE.get(str(_stemmer().stemWord(bare)), bare)
    return str(_stemmer().stemWord(fold_english(base)))


def also_said(text: str) -> Iterator[tuple[Word, bool]]:
    """Words for having or lacking something, by the stem of what it is, and whether it is lacking."""
    for match in _WORD.finditer(text):
        word = match.group().lower()
        for table, is_lacking in ((HAVING, False), (LACKING, True)):
            if word in table:
                is_prefixed = _LACKS.search(text, 0, match.start()) is not None
                yield Word(match.start(), match.end(), stem(table[word])), is_lacking or is_prefixed


def content_words(text: str) -> list[Word]:
    """Words of an English text that are no function words, in order."""
    return [
        Word(match.start(), match.end(), stem(match.group()))
        for match in _WORD.finditer(text)
        if match.group().lower() not in FUNCTION_WORDS
    ]
