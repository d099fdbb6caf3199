"""The data of the context rules, read and compiled: phrases of one language as one regular expression."""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, get_args

Flag = Literal["negated", "hypothetical", "historical", "family"]
Direction = Literal["forward", "phrase", "near", "backward", "before", "around"]
FLAGS: tuple[Flag, ...] = get_args(Flag)
_ALL = frozenset(FLAGS)
_NUMBER = (
    r"(?:\d+(?:[.,–-]\d+)?|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|several|few|many|a few|some|half a|couple of)"
)
_IS_NUMBER = re.compile(rf"(?<!\w){_NUMBER}(?!\w)")
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
    """The phrases of one language, found in a text by one expression."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        """Compile phrases.

        Args:
            table: one language of the rules.
        """
        found = _phrases(table)
        self._phrases = {phrase.replace("~", ""): item for phrase, item in found.items()}
        fillers = _branch(_trie(table.get("fillers", ("~",))), {}, "")
        self._filler = re.compile(rf"\b(?:{fillers})\s+")
        self._filled = {
            self._filler.sub("", phrase.replace("~", "")): item
            for phrase, item in found.items()
            if "~" in phrase
        }
        expression = _expression(found, rf"(?:(?:{fillers})\s+){{0,2}}", bool(table.get("spaced", True)))
        self._find = re.compile(expression).finditer

    def hits(self, lowered: str, start: int, end: int) -> Iterator[Hit]:
        """Phrases in one sentence, in order and apart.

        Args:
            lowered: a text in lower case.
            start: where the sentence starts.
            end: where it ends.
        """
        get = self._phrases.get
        for match in self._find(lowered, max(0, start - 1), end):
            found, at = match[0], match.start()
            phrase = get(found)
            if phrase is None and not found[0].isalnum():
                phrase = get(found[1:])
                if phrase is not None:
                    at += 1
            if phrase is None:
                phrase, at = self._named(found, at)
            if at >= start:
                yield at, match.end(), phrase

    def _named(self, found: str, at: int) -> tuple[Phrase, int]:
        """The phrase of a match not written like its key (numbers, hyphens, fillers), and where it starts."""
        for skip in (0, 1):
            written = found[skip:].replace("’", "'")
            bare = self._filler.sub("", written)
            for numbered, known in ((written, self._phrases), (bare, self._filled)):
                for plain in (numbered, _IS_NUMBER.sub("#", numbered)):
                    phrase = known.get(_SPACES.sub(" ", plain))
                    if phrase is not None:
                        return phrase, at + skip
        return Phrase([]), at


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


def _phrases(table: Mapping[str, Any]) -> dict[str, Phrase]:
    """Every phrase of a language, "~" and "#" in place, with what all its entries say together."""
    classes = table.get("classes", {})
    found: dict[str, Phrase] = {}
    written: dict[str, Phrase] = {}

    def at(phrase: str) -> Iterator[Phrase]:
        for key in _expanded(phrase, classes):
            written[key] = found.setdefault(key.replace("~", ""), Phrase([]))
            yield written[key]

    for phrase in table.get("pseudo", ()):
        list(at(phrase))
    for flag in FLAGS:
        entries = table.get(flag, {})
        for direction in get_args(Direction):
            for phrase in entries.get(direction, ()):
                for item in at(phrase):
                    if (flag, direction) not in item.sets:
                        item.sets.append((flag, direction))
    stops: list[tuple[frozenset[Flag], bool, Iterable[str]]] = [
        (_ALL, False, table.get("stop", ())),
        (frozenset(), True, table.get("verbs", ())),
    ]
    stops += [(frozenset((flag,)), False, table.get(flag, {}).get("stop", ())) for flag in FLAGS]
    for flags, is_verb, phrases in stops:
        for phrase in phrases:
            for item in at(phrase):
                item.is_verb |= is_verb
                item.stops |= flags
    return written


def _expanded(phrase: str, classes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A phrase with each {class} replaced by each of its words, as keys."""
    parts = re.split(r"\{(\w+)\}", phrase)
    options = [[part] if place % 2 == 0 else classes[part] for place, part in enumerate(parts)]
    for chosen in itertools.product(*options):
        yield _SPACES.sub(" ", "".join(chosen)).strip().lower()


def _expression(phrases: Iterable[str], fillers: str, spaced: bool) -> str:
    """One expression that finds the longest phrase at each place; as a trie, few branches are tried."""
    listed = sorted(phrases)
    words = _trie(phrase for phrase in listed if phrase[0].isalnum() or phrase[0] == "#")
    signs: dict[str, list[str]] = {}
    for phrase in listed:
        if not (phrase[0].isalnum() or phrase[0] == "#"):
            signs.setdefault(phrase[0], []).append(phrase[1:])
    pieces = {"#": _NUMBER, " ": r"(?:\s+|[‐‑-])", "'": "['’]", "~": fillers}
    if not spaced:
        return _branch(_trie(listed), pieces, "")
    after = r"(?![\w‐‑-])"
    branches = [
        rf"(?<={re.escape(sign)}){_branch(_trie(rest), pieces, after)}" for sign, rest in signs.items()
    ]
    first = re.escape("".join(signs)) + _BEFORE_WORDS
    # The character before a word stands first, so that the search skips from one to the next.
    return rf"(?:^|[{first}])(?:{'|'.join([*branches, _branch(words, pieces, after)])})"


def _trie(phrases: Iterable[str]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for phrase in phrases:
        node = root
        for character in phrase:
            node = node.setdefault(character, {})
        node[""] = {}
    return root


def _branch(node: Mapping[str, Any], pieces: Mapping[str, str], after: str, last: str = "") -> str:
    """The expression of a node of the trie; `after` follows a phrase that ends in a letter or digit."""
    options = [
        pieces.get(character, re.escape(character)) + _branch(node[character], pieces, after, character)
        for character in sorted(node, reverse=True)  # "~" before letters: it matches nothing as well
        if character
    ]
    if "" in node:  # tried last, so that the longest phrase wins
        options.append(after if last.isalnum() or last == "#" else "")
    return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"
