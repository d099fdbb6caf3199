"""What becomes of overlapping, inexact readings: one per span, those worth most, and how each came about."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from curation.concepts.matcher import Match
from schemas.concept import MatchRule

_WORD = re.compile(r"[^\W_]+")
_STEM = 4
_ENDING = 3


def rule_of(text: str, name: str) -> MatchRule:
    """How the words of a text come to be taken for a name.

    Words are the same form of a word when they share four letters or more and differ in at most three at
    the end: an inflection in most European languages.
    """
    mine, theirs = _WORD.findall(text.casefold()), _WORD.findall(name.casefold())
    if mine == theirs:
        return "exact"
    mine, theirs = [_plain(word) for word in mine], [_plain(word) for word in theirs]
    if "".join(mine) == "".join(theirs) or _same_forms(mine, theirs):
        return "form"
    return "order" if _same_forms(sorted(mine), sorted(theirs)) else "typo"


def _plain(word: str) -> str:
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter)
    )


def _same_forms(one: Sequence[str], other: Sequence[str]) -> bool:
    return len(one) == len(other) and all(map(_same_form, one, other))


def _same_form(one: str, other: str) -> bool:
    shared = next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return one == other or (shared >= _STEM and max(len(one), len(other)) - shared <= _ENDING)


def settle(found: Iterable[Match], *, overlaps: bool, strictness: float = 1.0) -> list[Match]:
    """Readings to report of those found, at most one per span, sorted by (start, -end, concept).

    Of exact readings the longest wins. An inexact one is worth less than its length: "old myocardial
    infarction" loses to the exact "myocardial infarction" inside it, but "acute myocardial infarctoin" does
    not lose to "acute".

    Args:
        found: readings of spans of bounded length.
        overlaps: keep nested and crossing ones too, but for a reading that is worth less than one inside
            it, and for one inside a reading of the same concept.
        strictness: a reading of similarity s is worth s - strictness × (1 - s) of its length.
    """
    best: dict[tuple[int, int], Match] = {}
    for match in found:
        old = best.get((match.start, match.end))
        if old is None or (-match.score, match.concept) < (-old.score, old.concept):
            best[match.start, match.end] = match
    priced = [(_worth(match, strictness), match) for match in best.values()]
    return sorted(_but_contradicted(priced) if overlaps else _apart(priced), key=_position)


def _position(match: Match) -> tuple[int, int, str]:
    return match.start, -match.end, match.concept


def _worth(match: Match, strictness: float) -> float:
    return round((match.score - strictness * (1 - match.score)) * (match.end - match.start), 6)


def _apart(priced: Iterable[tuple[float, Match]]) -> list[Match]:
    starts: list[int] = []
    taken: list[Match] = []
    for _, match in sorted(priced, key=lambda item: (-item[0], item[1].start - item[1].end, item[1].start)):
        place = bisect_left(starts, match.start)
        if place and taken[place - 1].end > match.start:
            continue
        if place < len(taken) and taken[place].start < match.end:
            continue
        starts.insert(place, match.start)
        taken.insert(place, match)
    return taken


def _but_contradicted(priced: list[tuple[float, Match]]) -> list[Match]:
    priced.sort(key=lambda item: _position(item[1]))
    dropped: set[int] = set()
    for outer, (worth, match) in enumerate(priced):
        for inner in range(outer + 1, len(priced)):
            other_worth, other = priced[inner]
            if other.start >= match.end:
                break
            if other.end > match.end:
                continue
            if other_worth > worth:
                dropped.add(outer)
            elif other.concept == match.concept:
                dropped.add(inner)
    return [match for place, (_, match) in enumerate(priced) if place not in dropped]
