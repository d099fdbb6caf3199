"""Words that speak for labels, found in text as the longest phrase at each place.

A phrase is one or more words; `*` after a word stands for any ending. A phrase with a capital letter is
matched as written (`CT` is not `Ct`), others in any case.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\b[^\W_] ?& ?[^\W_]\b|\b\d+(?:[-‐‑–](?:foot|feet)| foot)\b"
    r"|\bhand[-‐‑–](?:held|made|sewn|drawn|[^\W_]+ed)\b|[^\W_]+(?:['’][^\W_]+)*",
    re.IGNORECASE,
)
"""A word; `3-foot` and `hand-held` are one each: a length is no foot, and work by hand shows no hand."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One phrase of one label."""

    label: str
    strength: str
    phrase: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One phrase found: the entries it stands for and the words as written."""

    start: int
    end: int
    text: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    is_open: bool
    is_cased: bool

    def fits(self, token: str, folded: str) -> bool:
        given = token if self.is_cased else folded
        return given.startswith(self.text) if self.is_open else given == self.text


_Phrase = tuple[tuple[_Word, ...], tuple[Entry, ...]]
_REMEMBERED = 100_000


def tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Offsets and words of a text; hyphens part words, single letters are joined: `H & E`."""
    for found in _TOKEN.finditer(text):
        yield found.start(), found.end(), found.group().replace(" ", "")


def _words(phrase: str) -> tuple[_Word, ...]:
    made = []
    for _, end, word in tokens(phrase):
        made.append(_Word(word, phrase[end : end + 1] == "*", word != word.casefold()))
    return tuple(made)


class Lexicon:
    """All phrases of one facet, indexed by their first word."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        merged: dict[tuple[_Word, ...], list[Entry]] = defaultdict(list)
        for entry in entries:
            words = _words(entry.phrase)
            if not words:
                raise ValueError(f"{entry.label}: a phrase without words: {entry.phrase!r}")
            merged[words].append(entry)
        whole: dict[str, list[_Phrase]] = defaultdict(list)
        open_: dict[str, list[_Phrase]] = defaultdict(list)
        for words, held in merged.items():
            index = open_ if words[0].is_open else whole
            index[words[0].text.casefold()].append((words, tuple(held)))
        self._whole, self._open = dict(whole), dict(open_)
        self._known: dict[str, tuple[_Phrase, ...]] = {}
        self._lengths = tuple(sorted({len(start) for start in open_}, reverse=True))

    def find(self, text: str) -> list[Hit]:
        """Phrases in a text, in order, the longest at each place, none inside another."""
        words = list(tokens(text))
        folded = [word.casefold() for _, _, word in words]
        found: list[Hit] = []
        at = 0
        while at < len(words):
            candidates = self._candidates(folded[at])
            length, entries = self._longest(candidates, words, folded, at) if candidates else (0, ())
            if length:
                start, end = words[at][0], words[at + length - 1][1]
                found.append(Hit(start, end, text[start:end], entries))
            at += length or 1
        return found

    @staticmethod
    def _longest(
        candidates: Sequence[_Phrase], words: Sequence[tuple[int, int, str]], folded: Sequence[str], at: int
    ) -> tuple[int, tuple[Entry, ...]]:
        best: tuple[tuple[int, int], tuple[Entry, ...]] = ((0, 0), ())
        for phrase, entries in candidates:
            if len(phrase) > len(words) - at:
                continue
            if all(word.fits(words[at + step][2], folded[at + step]) for step, word in enumerate(phrase)):
                size = (len(phrase), sum(len(word.text) for word in phrase))
                if size > best[0]:
                    best = (size, entries)
                elif size == best[0]:  # the same words, once with and once without an ending or capitals
                    best = (size, (*best[1], *entries))
        return best[0][0], best[1]

    def _candidates(self, folded: str) -> tuple[_Phrase, ...]:
        """Phrases whose first word fits; remembered, as few different words make up most text."""
        known = self._known.get(folded)
        if known is None:
            found = list(self._whole.get(folded, ()))
            for length in self._lengths:
                if length <= len(folded):
                    found += self._open.get(folded[:length], ())
            known = tuple(found)
            if len(self._known) < _REMEMBERED:
                self._known[folded] = known
        return known
