"""Exact dictionary matching: the longest run of whole words that is a name, case and spacing apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from schemas.vocabulary import ConceptName

_WORD = re.compile(r"[^\W_]+")
MIN_LENGTH = 4
"""Shorter names ('ill', 'AF') are too ambiguous for exact matching."""


@dataclass(frozen=True, slots=True)
class Match:
    """One name found in a text; offsets in code points."""

    start: int
    end: int
    concept: str
    name: str


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Names by their folded words. Build with :func:`build`."""

    names: Mapping[tuple[str, ...], tuple[str, str]]
    longest_from: Mapping[str, int]

    def find(self, text: str) -> Iterator[Match]:
        """Longest matches from left to right, never overlapping."""
        found = [(match.start(), match.end(), match.group().casefold()) for match in _WORD.finditer(text)]
        words = [word for _, _, word in found]
        position = 0
        while position < len(words):
            step = 1
            for length in range(min(self.longest_from.get(words[position], 0), len(words) - position), 0, -1):
                known = self.names.get(tuple(words[position : position + length]))
                if known is not None:
                    yield Match(found[position][0], found[position + length - 1][1], *known)
                    step = length
                    break
            position += step


def build(names: Iterable[ConceptName]) -> Dictionary:
    """A dictionary of names; of concepts sharing a name, a label wins over a synonym, then the lower id."""
    best: dict[tuple[str, ...], tuple[bool, str, str]] = {}
    for item in names:
        key = tuple(word.casefold() for word in _WORD.findall(item.name))
        if sum(map(len, key)) < MIN_LENGTH:
            continue
        candidate = (not item.is_preferred, item.concept, item.name)
        if key not in best or candidate < best[key]:
            best[key] = candidate
    longest: dict[str, int] = {}
    for key in best:
        longest[key[0]] = max(longest.get(key[0], 0), len(key))
    return Dictionary({key: (concept, name) for key, (_, concept, name) in best.items()}, longest)
