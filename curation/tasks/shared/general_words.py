"""Which English words tell no article from another.

They are counted, not listed: general_words.txt holds the words found in every twentieth medical article
(`python -m scripts.general_words`), after the idea of inverse document frequency (Spärck Jones 1972).
"""

from __future__ import annotations

import functools
from importlib import resources

from schemas.hashing import normalise_text


@functools.cache
def general_words() -> frozenset[str]:
    """English words that tell no article from another."""
    text = resources.files("curation.tasks.shared").joinpath("general_words.txt").read_text("utf-8")
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))


def stems(text: str) -> list[str]:
    """The words of a text without numbers; singular and plural, "randomised" and "randomized" are one."""
    return [_stem(word) for word in normalise_text(text).split() if len(word) > 1 and not word.isdigit()]


def telling(text: str) -> list[str]:
    """Those of `stems` that tell one article from another."""
    return [stem for stem in stems(text) if stem not in _general_stems()]


@functools.cache
def _general_stems() -> frozenset[str]:
    return frozenset(map(_stem, general_words()))


def _stem(word: str) -> str:
    return word.replace("z", "s").removesuffix("s")
