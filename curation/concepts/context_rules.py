"""The data of the context rules, read, and their phrases found in texts."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
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
_AFTER_WORDS = r"(?![\w‐‑-])"
_SPACES = re.compile(r"[\s‐‑-]+")
_BEFORE_WORDS = r" \n\t\r\u00a0\u2002\u2003\u2009\u202f(\[{\"'“”‘’/,;:.>=≥≤–—（、，。"


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

    Each has an expression of its own, compiled when its first word is first met. A phrase with several
    {classes} stands for tens of thousands: one expression of all took seconds to compile in every process.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        """Read phrases.

        Args:
            table: one language of the rules.
        """
        writer = _Writer(table)
        self._is_spaced = writer.is_spaced
        self._starting: dict[str, list[_Pattern]] = {}
        for written, phrase in _phrases(table).items():
            for first, expression in writer.beginnings(written).items():
                self._starting.setdefault(first, []).append(_Pattern(expression, phrase))
        self._places = re.compile(_any_of(self._starting, self._is_spaced)).finditer
        triggers = {
            first: [one for one in patterns if one.phrase.sets] for first, patterns in self._starting.items()
        }
        self._trigger = re.compile(_any_of(triggers, self._is_spaced)).search
        self._joined: dict[tuple[int, ...], Phrase] = {}

    def hits(self, lowered: str, start: int, end: int) -> Iterator[Hit]:
        """Phrases in one sentence, in order and apart; of several at one place the longest.

        A sentence without a trigger has none: what ends scopes or only looks like a trigger is not told then.

        Args:
            lowered: a text in lower case.
            start: where the sentence starts.
            end: where it ends.
        """
        free = begins = max(0, start - 1) if self._is_spaced else start
        if not self._trigger(lowered, begins, end):
            return
        for place in self._places(lowered, begins, end):
            if place.start() < free:
                continue
            at = place.end()
            for begins, word in ((at - 1, place[0]), (at, self._first(lowered, at))):
                patterns = self._starting.get("#" if word.isdigit() else word)
                if patterns and begins >= start:
                    behind = begins + len(word)
                    tried = ((one.match(lowered, behind, end), one.phrase) for one in patterns)
                    found = [(match.end(), phrase) for match, phrase in tried if match]
                    if found:
                        free = max(stop for stop, _ in found)
                        yield begins, free, self._together([phrase for stop, phrase in found if stop == free])
                        break

    def _first(self, lowered: str, at: int) -> str:
        """The word at a place, or its character where no spaces are written."""
        word = _FIRST.match(lowered, at) if self._is_spaced else None
        return word[0] if word else lowered[at : at + 1]

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
    """A phrase of the rules, and the expression of what follows its first word."""

    def __init__(self, expression: str, phrase: Phrase) -> None:
        self.expression, self.phrase = expression, phrase

    @functools.cached_property
    def match(self) -> Callable[[str, int, int], re.Match[str] | None]:
        """Finds the rest of the phrase at a place."""
        return re.compile(self.expression).match


class _Writer:
    """Writes the phrases of a language as expressions."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.is_spaced = bool(table.get("spaced", True))
        self._classes: Mapping[str, Sequence[str]] = table.get("classes", {})
        fillers = "|".join(map(re.escape, sorted(table.get("fillers", ()), key=_longest))) or "(?!)"
        self._pieces = {
            "#": _NUMBER,
            " ": r"(?:\s+|[‐‑-])",
            "'": "['’]",
            "~": rf"(?:(?:{fillers})\s+){{0,2}}",
        }

    def beginnings(self, written: str) -> dict[str, str]:
        """First words of a phrase, each with the expression of what follows it.

        A first word may be a sign, "#" for digits, or a character where no spaces are written.
        """
        name = _CLASS.match(written)
        begun = [word + written[name.end() :] for word in self._classes[name[2]]] if name else [written]
        if written.startswith("#"):
            begun += [amount + written[1:] for amount in _AMOUNTS]
        found: dict[str, list[str]] = {}
        for one in begun:
            is_word = self.is_spaced and not _is_sign(one)
            first = _FIRST.findall(one)[0] if is_word else one[0]
            rest = self._expression(one[len(first) :], is_word=not _is_sign(one[-1]))
            found.setdefault(first, []).append(_DIGITS_GO_ON + rest if first == "#" else rest)
        return {first: f"(?:{'|'.join(rest)})" if rest[1:] else rest[0] for first, rest in found.items()}

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


def _any_of(starting: Mapping[str, Sequence[_Pattern]], is_spaced: bool) -> str:
    """What finds the places where a phrase begins: the character before it, and the phrase ahead.

    Words are sorted by their first letters, so that few are tried at a place.
    """
    behind: list[str] = []
    letters: dict[str, list[str]] = {}
    for first, patterns in starting.items():
        if not patterns:
            continue
        rest = f"(?:{'|'.join(dict.fromkeys(one.expression for one in patterns))})"
        if is_spaced and _is_sign(first):
            behind.append(f"(?<={re.escape(first)}){rest}")
        elif first == "#":
            behind.append(rf"\d+{rest}")
        else:
            letters.setdefault(first[0], []).append(re.escape(first[1:]) + rest)
    listed = (f"{re.escape(letter)}(?:{'|'.join(rest)})" for letter, rest in letters.items())
    ahead = "|".join([*behind, *listed])
    if not is_spaced:
        return f"(?={ahead})"
    # The character before a word stands first, so that the search skips from one to the next.
    signs = "".join(re.escape(first) for first in starting if _is_sign(first))
    return f"(?:^|[{signs}{_BEFORE_WORDS}])(?={ahead})"


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
