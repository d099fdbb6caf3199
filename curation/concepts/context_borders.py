"""Where the phrase of a denial ends that is no clause of its own: "Without treatment, [the disease spreads]".

A preposition denies what its phrase names: up to a participle that goes on with whom it is said of ("people
without asthma [treated for pneumonia]"), and, where it begins the sentence or stands behind a noun for
people, up to a comma that parts no list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_GOES_ON = re.compile(
    r"\s(?<=[\w)]\s)\s*(?<!being )(?<!been )(?<!having )(?:"
    r"(?!(?:accompanied|associated|complicated|characteri[sz]ed)\b)\w+ed\s+(?:with|for|by|to)\b"
    r"|(?:undergoing|receiving|requiring|attending)\b)"
)
_DETERMINED = re.compile(r" (?:the|an?|this|these|those|our|his|her|its|their) ")
_LIST = re.compile(r"\s*(?:and|or)\b")
_PAIR = re.compile(r"\s*(?:[^\s,]+\s+){1,5}?(?:and|or)\b")
_MARKS = re.compile(r"[,()（）]")


class Borders:
    """The words of one language that say where such a phrase ends; without them none ends early."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        """Compile words.

        Args:
            table: one language of context_rules.toml.
        """
        self._fronted: tuple[str, ...] = tuple(table.get("fronted", ()))
        self._group = re.compile(rf"\b(?:{_either(table.get('classes', {}).get('group', ()))})\s+\Z")
        self._begins = re.compile(rf"\s*(?:{_either(table.get('borders', ()))})\b")

    def last(self, lowered: str, start: int, begin: int, end: int, *, is_first: bool) -> int:
        """How far a denial reaches at most.

        Args:
            lowered: a text in lower case.
            start: where its trigger begins.
            begin: where its trigger ends.
            end: where the sentence ends.
            is_first: whether the trigger begins the sentence.
        """
        if not lowered.startswith(self._fronted or ("\0",), start):
            return end
        goes_on = _GOES_ON.search(lowered, begin + 1, end)
        if goes_on is not None:
            end = goes_on.start()
        if is_first:
            return self._border(lowered, begin, end, is_first=True)
        if self._group.search(lowered, max(start - 20, 0), start):
            return self._border(lowered, begin, end, is_first=False)
        return end

    def begin(self, lowered: str, begin: int, joint: int) -> int:
        """The comma where the subject of a clause begins that joins two: ", [a mass and oedema] were seen".

        Args:
            lowered: a text in lower case.
            begin: where the scope begins.
            joint: the last joint before the verb, which is returned where no article stands behind a comma.
        """
        comma = -1 if lowered.startswith(",", joint) else lowered.rfind(",", begin, joint)
        return comma if comma >= 0 and _DETERMINED.match(lowered, comma + 1, joint) else joint

    def _border(self, lowered: str, begin: int, end: int, *, is_first: bool) -> int:
        """The first comma behind which no item of a list stands."""
        commas = [*_commas(lowered, begin, end), end]
        for place, comma in enumerate(commas[:-1]):
            following = commas[place + 1]
            if self._begins.match(lowered, comma + 1, following):
                return comma
            if _LIST.match(lowered, comma + 1, following):
                return following
            if _PAIR.match(lowered, comma + 1, following) and (not is_first or following < end):
                return following
            if not any(_LIST.match(lowered, later + 1, end) for later in commas[place + 1 : -1]):
                return comma
        return end


def _either(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, words)) or r"(?!)"


def _commas(lowered: str, begin: int, end: int) -> Iterator[int]:
    """Commas outside brackets."""
    depth = 0
    for mark in _MARKS.finditer(lowered, begin, end):
        if mark[0] == ",":
            if depth == 0:
                yield mark.start()
        else:
            depth = max(depth + (1 if mark[0] in "(（" else -1), 0)
