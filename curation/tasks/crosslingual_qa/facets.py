"""Facets of a concept: which heading announces one, which sentence answers it, which words touch it.

All that is known of them stands in facets.toml; here it is read.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from curation.tasks.crosslingual_qa.records import Facet

FACETS: tuple[Facet, ...] = get_args(Facet)
_NUMBER = re.compile(r"^\W*(?:\d+(?:\.\d+)*\.?|[IVX]+\.)?\W*")
_EDGES = re.compile(r"^(?:(?:the|of|in|for|and|with|an?)\b\W*)+|(?:\W*\b(?:the|of|in|for|and|with|an?))+$")
_OF_ONE_PATIENT = re.compile(
    r"\b(?:our|this|the present|present) (?:patients?|case|study|report)\b|\b(?:he|she|we)\b"
    r"|\bthe patient\b|\bwas (?:treated|diagnosed|referred|admitted)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:^|[;:] |^(?:thus|however|therefore|furthermore|moreover|in general|usually|clinically|typically), )"
    r"(?:(?:the|an?|most|all|acute|chronic|newly diagnosed) )*$",
    re.IGNORECASE,
)
"""What may stand before a name that is the subject of its clause."""


_CLAUSE = re.compile(r"[;:,]|\b(?:but|while|whereas|although|though|yet)\b", re.IGNORECASE)
"""What parts a clause from the next."""
_NOTHING = re.compile(r"^\W*(?:no|none|neither|there (?:is|are|was|were) no)\b(?!.*\bbut\b)", re.IGNORECASE)
"""A sentence that begins with a denial denies, commas or not: "No drug, vaccine or surgery is used for"."""
_ANAPHOR = re.compile(
    r"^\W*(?:(?:\w+|in (?:addition|contrast|turn)), )?"
    r"(?:this|these|those(?! with| who)|it|they|such|the (?:latter|former))\b",
    re.IGNORECASE,
)
"""A sentence that begins with a word for what the sentence before it told of."""
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class _Bars:
    """What takes an answer back, compiled."""

    denies: re.Pattern[str]
    unknown: re.Pattern[str]
    points: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Rules:
    """What is known of one facet, compiled."""

    neighbours: frozenset[Facet]
    headings: re.Pattern[str]
    after: tuple[re.Pattern[str], ...]
    before: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
    touches: re.Pattern[str]


@functools.cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("facets.toml").read_text("utf-8"))


def _compiled(text: str) -> re.Pattern[str]:
    lists = _data()["lists"]
    for _ in lists:  # a list may name one before it
        for name, words in lists.items():
            text = text.replace("{" + name + "}", words)
    return re.compile(text, re.IGNORECASE)


@functools.cache
def _bars() -> _Bars:
    return _Bars(**{name: _compiled(text) for name, text in _data()["bars"].items()})


@functools.cache
def _rules() -> Mapping[Facet, _Rules]:
    return {
        facet: _Rules(
            frozenset(known["neighbours"]),
            _compiled(known["headings"]),
            tuple(_compiled(text) for text in known["after"]),
            tuple((_compiled(f"(?:{item['text']})$"), _compiled(item["then"])) for item in known["before"]),
            _compiled(known["touches"]),
        )
        for facet, known in ((facet, _data()["facets"][facet]) for facet in FACETS)
    }


def neighbours(facet: Facet) -> frozenset[Facet]:
    """Facets whose answers are near enough to another's for grade 1."""
    return _rules()[facet].neighbours


def facets_of_types(types: tuple[str, ...]) -> frozenset[str]:
    """What can be asked of a concept of some UMLS semantic types."""
    known = _data()["by_type"]
    return frozenset().union(*(known.get(name, known["other"]) for name in types)) if types else frozenset()


def facet_of_heading(heading: str) -> Facet | None:
    """The facet that a heading announces and nothing else, its number and small words apart.

    Args:
        heading: the heading, with the concept's name taken out.
    """
    bare = _EDGES.sub("", _NUMBER.sub("", heading.lower()).strip(" .,:;–-()'’")).strip(" .,:;–-()")
    found = [facet for facet, rules in _rules().items() if rules.headings.fullmatch(bare)]
    return found[0] if len(found) == 1 else None


def touched(text: str) -> tuple[Facet, ...]:
    """Facets that have a word of theirs in a passage."""
    return tuple(facet for facet, rules in _rules().items() if rules.touches.search(text))


def looks_back(sentence: str) -> bool:
    """Whether nobody can tell what a sentence is about without the one before it: "These cause gout."."""
    return _ANAPHOR.search(sentence) is not None


def answered(sentence: str, start: int, end: int) -> tuple[Facet, ...]:
    """Facets of a concept that a sentence answers in so many words.

    Args:
        sentence: one sentence.
        start: offset of the concept's name in it.
        end: offset after it.

    A sentence about one patient answers none, nor does one that denies what would answer, says that nobody
    knows it, or points to where it is told.
    """
    before, after = sentence[:start], sentence[end:]
    if _OF_ONE_PATIENT.search(sentence) or _says_nothing(before, after):
        return ()
    is_subject = _OPENING.search(before) is not None
    found = []
    for facet, rules in _rules().items():
        after_it = [one.match(after) for one in rules.after] if is_subject else []
        leading = [then.match(after) for one, then in rules.before if one.search(before)]
        said = [match.end() for match in (*after_it, *leading) if match]
        if any(not _is_denied(before, after, at) for at in said):
            found.append(facet)
    return tuple(found)


def _says_nothing(before: str, after: str) -> bool:
    """Whether the clause around a name says that nobody knows, or the sentence where it is told."""
    parts = [_BRACKETS.sub(" ", part) for part in (before, after)]
    ends = _CLAUSE.search(parts[1])
    led = _CLAUSE.split(parts[0])[-1]
    clause = len(led) + 1 + (ends.start() if ends else len(parts[1]))
    unknown = _bars().unknown.search(f"{led} {parts[1]}")
    return bool((unknown and unknown.start() < clause) or _bars().points.search(" ".join(parts)))


def _is_denied(before: str, after: str, at: int) -> bool:
    """Whether the words that answer, which end at a place after the name, are denied."""
    denies = _bars().denies
    said = f"{_CLAUSE.split(before)[-1]} {after[:at]}"
    is_followed = at > 0 and denies.match(after[at:].lstrip())  # "gout that does not respond" is no denial
    return bool(_NOTHING.search(before) or denies.search(said) or is_followed)
