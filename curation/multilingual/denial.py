"""Whether an English text denies, as its translation and its own other words tell.

A denial is said in many ways: "remains unknown" is "n'est pas connu". So in long texts what speaks for one is
weighed: logistic weights, fitted to known translations by `benchmarks/denial_weights.py`, in hundredths of a
log-odds and added as whole numbers, so that every processor finds the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from curation.multilingual.words import Words, denials, denies, words_of

_ENGLISH = re.compile(r"[a-z]+")
_WORD = re.compile(r"\w+['’]?")
_AFFIX = re.compile(r"(?:(un|in|im|ir|il|non|dis|mis)[a-z]{4,}|[a-z]+(less))\b")
_MOST = 3
_LONG = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """Whether the English text denies, and how likely that is by all else, in log-odds."""

    is_denied: bool
    chance: int
    """Hundredths of a log-odds of what the English text says of denial; below 0: the opposite is likelier."""
    is_unlikely: bool


def seen(source: str, text: str, words: Words) -> Seen | None:
    """What weights say of two texts in NFKC; None: the text is short, or the language has no weights."""
    if words.denial is None or not is_weighed(source):
        return None
    is_denied = denies(source.lower(), words_of("en"))
    weights = words.denial.weights
    total = words.denial.bias + sum(
        weights.get(name, 0) * count for name, count in features(source, text, words).items()
    )
    chance = total if is_denied else -total
    return Seen(is_denied, chance, chance < (words.denial.lost if is_denied else words.denial.new))


def is_weighed(source: str) -> bool:
    """Whether an English text may deny one thing of many; of shorter ones the lists tell more."""
    return len(source) >= _LONG


def features(source: str, text: str, words: Words) -> Mapping[str, int]:
    """What is weighed: words of denial and hints counted, every other word and pair of words there or not.

    Args:
        source: English; its words of denial are what is asked for, and are left out.
        text: its translation.
        words: of the language of the translation.
    """
    one, other = source.lower(), text.lower()
    english = words_of("en")
    found = {f"english {word}": 1 for word in _ENGLISH.findall(english.denies.sub(" ", one))}
    affixes = [match[1] or match[2] for match in _AFFIX.finditer(one)]
    found |= {f"english affix {name}": 1 for name in affixes}
    found |= {"english affixes": len(affixes), "english hints": len(english.hints.findall(one))}
    found |= {f"word {word}": 1 for word in _words(other, words)}
    told = sum(words.neutral.isdisjoint(pairs) for pairs in denials(other, words))
    found |= {f"denials {count}": 1 for count in range(1, min(told, _MOST) + 1)}
    found["hints"] = len(words.hints.findall(other))
    return found


def _words(text: str, words: Words) -> Iterator[str]:
    """Words and pairs of them; of texts without spaces, characters and pairs."""
    if words.is_unspaced:
        listed, gap = [char if char.isalpha() else "" for char in text], ""
    else:
        listed, gap = [word.replace("’", "'") for word in _WORD.findall(text)], " "
    yield from filter(None, listed)
    yield from (f"{one}{gap}{two}" for one, two in pairwise(listed) if one and two)
