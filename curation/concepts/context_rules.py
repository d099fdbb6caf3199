"""The data of the context rules, read, and their phrases found in texts."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib import resources
from itertools import accumulate
from operator import itemgetter
from typing import Any, Literal, get_args

Flag = Literal["negated", "hypothetical", "historical", "family"]
Direction = Literal["forward", "phrase", "near", "backward", "before", "around"]
FLAGS: tuple[Flag, ...] = get_args(Flag)
_ALL = frozenset(FLAGS)
_AMOUNTS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "several", "few", "many",
    "a few", "some", "half a", "couple of",
)  # fmt: skip
_DIGITS_GO_ON = r"(?:[.,–-]\d+)?"
_NUMBER = rf"(?:\d+{_DIGITS_GO_ON}|{'|'.join(_AMOUNTS)})"
_CLASS = re.compile(r"( ?)\{(\w+)\}")
_FIRST = re.compile(r"\w+|#")
_WHOLE_WORD = re.compile(r"\w+(?![\w~#{])")
_AFTER_WORDS = r"(?![\w‐‑-])"
_SPACES = re.compile(r"[\s‐‑-]+")
_BEFORE_WORDS = frozenset(" \n\t\r\u00a0\u2002\u2003\u2009\u202f([{\"'“”‘’/,;:.>=≥≤–—（、，。")


@dataclass(slots=True)
class Phrase:
    """What one phrase does: flags it sets by direction, scopes it ends, or neither (a pseudo-trigger)."""

    sets: list[tuple[Flag, Direction]]
    stops: frozenset[Flag] = frozenset()
    is_verb: bool = False


Hit = tuple[int, int, Phrase]
"""Start and end of a phrase in a text, and what it does."""


class Lexicon:
    """The phrases of one language, looked for where their first words stand.

    Each has an expression of its own, compiled when it is first tried. A phrase with several {classes} stands
    for tens of thousands: one expression of all took seconds to compile in every process, and long to search.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        """Read phrases.

        Args:
            table: one language of the rules.
        """
        writer = _Writer(table)
        self._is_spaced = writer.is_spaced
        starting: dict[str, list[_Pattern]] = {}
        for written, phrase in _phrases(table).items():
            for pattern in writer.patterns(written, phrase):
                starting.setdefault(pattern.first, []).append(pattern)
        self._starting = {first: _Beginning(patterns) for first, patterns in starting.items()}
        self._signs = {first: begun for first, begun in self._starting.items() if _is_sign(first)}
        self._numbers = self._starting.get("#")
        characters = "".join(re.escape(first) for first in starting if first != "#")
        self._split = re.compile(r"(\w+)" if self._is_spaced else rf"([{characters}\d])").split
        self._joined: dict[tuple[int, ...], Phrase] = {}

    def hits(self, lowered: str, start: int, end: int) -> list[Hit]:
        """Phrases in one sentence, in order and apart; of several at one place the longest.

        A sentence without a trigger has none: what ends scopes or only looks like a trigger is not told then.

        Args:
            lowered: a text in lower case.
            start: where the sentence starts.
            end: where it ends.
        """
        places = list(self._places(lowered, start, end))
        if not any(
            one.match(lowered, behind, end) for _, _, behind, tried in places for one in tried.triggers
        ):
            return []
        hits: list[Hit] = []
        free = -1
        for begins, at, behind, tried in places:
            if begins < free:
                continue
            ends = [
                (found.end(), one.phrase) for one in tried.all if (found := one.match(lowered, behind, end))
            ]
            if len(ends) == 1:
                free, phrase = ends[0]
                hits.append((at, free, phrase))
            elif ends:
                free = max(ends, key=itemgetter(0))[0]
                hits.append((at, free, self._together([phrase for stop, phrase in ends if stop == free])))
        return hits

    def _places(self, lowered: str, start: int, end: int) -> Iterator[tuple[int, int, int, _Tried]]:
        """Where phrases may begin in a sentence, and which.

        Of each the character before a word or the sign, where its first word starts, and where that ends.
        """
        parts = self._split(lowered[start:end])
        gaps, words = parts[::2], [*parts[1::2], "", ""]
        begins = self._starting
        looked_at = [
            (place, gap, word)
            for place, (gap, word) in enumerate(zip(gaps, words, strict=False))
            if gap != " " or word in begins or word.isdecimal()
        ]
        starts = [*accumulate(map(len, parts), initial=start)][1::2]
        for place, gap, word in looked_at:
            at = starts[place]
            if gap != " " and self._is_spaced:
                for sign_at, sign in enumerate(gap, at - len(gap)):
                    if sign in self._signs and (tried := self._signs[sign].tried(word)):
                        yield sign_at, sign_at, sign_at + 1, tried
                if at and lowered[at - 1] not in _BEFORE_WORDS and lowered[at - 1] not in self._signs:
                    continue
            begun, second = begins.get(word), words[place + 1]
            if begun is None and word.isdecimal():
                begun = self._numbers
                if second.isdecimal():  # "1.5 years"
                    second = words[place + 2]
            if begun is not None and (tried := begun.tried(second)):
                yield at - self._is_spaced, at, at + len(word), tried

    def _together(self, phrases: Sequence[Phrase]) -> Phrase:
        """What phrases do that are written alike."""
        if len(phrases) == 1:
            return phrases[0]
        key = tuple(map(id, phrases))
        if key not in self._joined:
            self._joined[key] = Phrase(
                list(dict.fromkeys(item for phrase in phrases for item in phrase.sets)),
                frozenset().union(*(phrase.stops for phrase in phrases)),
                any(phrase.is_verb for phrase in phrases),
            )
        return self._joined[key]


class _Pattern:
    """A phrase of the rules by its first word, and the expression of what follows it.

    `seconds` are the words that may stand second; "" among them where any may, or none need.
    """

    def __init__(self, first: str, seconds: Set[str], expression: str, phrase: Phrase) -> None:
        self.first, self.seconds, self.phrase = first, seconds, phrase
        self._expression = expression

    @functools.cached_property
    def match(self) -> Callable[[str, int, int], re.Match[str] | None]:
        """Finds the rest of the phrase at a place."""
        return re.compile(self._expression).match


class _Tried:
    """Phrases that may stand at a place, and which of them are triggers."""

    def __init__(self, patterns: Iterable[_Pattern]) -> None:
        self.all = list(patterns)
        self.triggers = [one for one in self.all if one.phrase.sets]


class _Beginning:
    """The phrases that begin with one word, by their second words: few are tried at a place."""

    def __init__(self, patterns: Sequence[_Pattern]) -> None:
        others = _Tried(one for one in patterns if "" in one.seconds)
        self._others = others if others.all else None
        self._followed = {
            second: _Tried(one for one in patterns if second in one.seconds or "" in one.seconds)
            for pattern in patterns
            for second in pattern.seconds
            if second
        }

    def tried(self, second: str) -> _Tried | None:
        """The phrases that may stand where this word is next; None for none."""
        return self._followed.get(second, self._others)


class _Writer:
    """Writes the phrases of a language as expressions."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.is_spaced = bool(table.get("spaced", True))
        self._classes: Mapping[str, Sequence[str]] = table.get("classes", {})
        self._fillers: Sequence[str] = sorted(table.get("fillers", ()), key=_longest)
        fillers = "|".join(map(re.escape, self._fillers)) or "(?!)"
        self._pieces = {
            "#": _NUMBER,
            " ": r"(?:\s+|[‐‑-])",
            "'": "['’]",
            "~": rf"(?:(?:{fillers})\s+){{0,2}}",
        }

    def patterns(self, written: str, phrase: Phrase) -> Iterator[_Pattern]:
        """A phrase by its first words, each with the expression of what follows it.

        A first word may be a sign, "#" for digits, or a character where no spaces are written.
        """
        name = _CLASS.match(written)
        begun = [word + written[name.end() :] for word in self._classes[name[2]]] if name else [written]
        if written.startswith("#"):
            begun += [amount + written[1:] for amount in _AMOUNTS]
        found: dict[str, list[str]] = {}
        seconds: dict[str, set[str]] = {}
        for one in begun:
            is_word = self.is_spaced and not _is_sign(one)
            first = _FIRST.findall(one)[0] if is_word else one[0]
            rest = self._expression(one[len(first) :], is_word=not _is_sign(one[-1]))
            found.setdefault(first, []).append(_DIGITS_GO_ON + rest if first == "#" else rest)
            seconds.setdefault(first, set()).update(self._seconds(one[len(first) :]))
        for first, rests in found.items():
            expression = f"(?:{'|'.join(rests)})" if rests[1:] else rests[0]
            yield _Pattern(first, seconds[first], expression, phrase)

    def _seconds(self, rest: str) -> Iterable[str]:
        """The second words of a phrase by what follows its first; "" where there need be no certain one."""
        if not self.is_spaced or not rest.startswith(" "):
            return [""]
        if rest.startswith(" ~"):
            return [*map(_first_word, self._fillers), *self._seconds(f" {rest[2:]}")]
        name = _CLASS.match(rest)
        if name is None:
            return [_first_word(rest[1:])]
        if "" in self._classes[name[2]]:
            return [""]
        return [_first_word(word + rest[name.end() :]) for word in self._classes[name[2]]]

    def _expression(self, written: str, *, is_word: bool) -> str:
        """What finds the rest of a phrase; an empty word of a class leaves out the space before it, too."""
        literal, *classes = _CLASS.split(written)
        pieces = [self._literal(literal)]
        for space, name, literal in zip(classes[::3], classes[1::3], classes[2::3], strict=True):
            words = sorted(filter(None, self._classes[name]), key=_longest)
            listed = f"{self._literal(space)}(?:{'|'.join(map(self._literal, words))})"
            pieces += (f"(?:{listed})?" if "" in self._classes[name] else listed, self._literal(literal))
        return "".join(pieces) + (_AFTER_WORDS if self.is_spaced and is_word else "")

    def _literal(self, text: str) -> str:
        return (
            "".join(self._pieces.get(one, re.escape(one)) for one in text)
            if self.is_spaced
            else re.escape(text)
        )


def _first_word(written: str) -> str:
    """The word that a phrase begins with; "" where it is no certain one."""
    word = _WHOLE_WORD.match(written)
    return word[0] if word else ""


def _longest(word: str) -> tuple[int, str]:
    """Sorts the longest first: of alternatives the first that fits is taken."""
    return -len(word), word


def _is_sign(text: str) -> bool:
    """Whether a phrase begins with a sign, or ends with one."""
    return not text[0].isalnum() and text[0] not in "#~{}"


@functools.cache
def tables() -> dict[str, Any]:
    """Rules of every language, by primary BCP-47 subtag."""
    folder = resources.files("curation.concepts")
    files = ("context_rules.toml", "context_rules_more.toml")
    return {
        language: table
        for name in files
        for language, table in tomllib.loads((folder / name).read_text("utf-8")).items()
    }


@functools.cache
def lexicon(language: str) -> Lexicon:
    """The phrases of a language that has rules."""
    return Lexicon(tables()[language])


def _phrases(table: Mapping[str, Any]) -> dict[str, Phrase]:
    """Every phrase of a language as its rules write it, with what all its entries say together."""
    found: dict[str, Phrase] = {}

    def at(written: str) -> Phrase:
        return found.setdefault(_SPACES.sub(" ", written).strip().lower(), Phrase([]))

    for written in table.get("pseudo", ()):
        at(written)
    for flag in FLAGS:
        entries = table.get(flag, {})
        for direction in get_args(Direction):
            for written in entries.get(direction, ()):
                item = at(written)
                if (flag, direction) not in item.sets:
                    item.sets.append((flag, direction))
    stops: list[tuple[frozenset[Flag], bool, Iterable[str]]] = [
        (_ALL, False, table.get("stop", ())),
        (frozenset(), True, table.get("verbs", ())),
    ]
    stops += [(frozenset((flag,)), False, table.get(flag, {}).get("stop", ())) for flag in FLAGS]
    for flags, is_verb, phrases in stops:
        for written in phrases:
            item = at(written)
            item.is_verb |= is_verb
            item.stops |= flags
    return found
