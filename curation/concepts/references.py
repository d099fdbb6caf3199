"""Stretches of a text that point elsewhere and name no concept: "Appendix 1", "(Gout Association, 2013)"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from curation.concepts.matcher import Match
from curation.extract.pointers import pointers_in

Span = tuple[int, int]
_NUMBERED = re.compile(r"[ \u00a0]S?\d")
_CITED = re.compile(r"(?:19|20)\d\d[a-z]?[;,)\]]")
"""In every text that cites by years."""
_YEAR = re.compile(r"(?:,|\bal\.)[ \u00a0](?:19|20)\d\d[a-z]?(?=[;,)\]])")
_NAME = r"[A-Z][^\W\d_A-Z]*(?:[-'’]?[A-Z]?[^\W\d_A-Z]+)"
_ET_AL = re.compile(rf"{_NAME}(?:,? and {_NAME})? et al\b")
_YEARS = r"(?:19|20)\d\d[a-z]?[;,)\]]"
_TWO_AUTHORS = re.compile(rf"{_NAME} (?:and|&|y|e|et|und) {_NAME},? \(?{_YEARS}")
_ONE_AUTHOR = re.compile(rf"(?<=[(;])[ \u00a0]?(?:see |e\.g\.,? |cf\. )?{_NAME} {_YEARS}")
"""Not the years of wars: "between Armenia and Azerbaijan (1988–1994)"."""
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SMALL = frozenset(
    {"of", "and", "et", "al", "for", "the", "in", "on", "de", "von", "van", "der", "la", "y", "e", "see"}
)
"""Words without a capital in the names of authors."""
_LONGEST = 120


def outside(text: str, matches: Sequence[Match]) -> list[Match]:
    """Matches that lie in no pointer to a table, figure or appendix, and in no citation of authors and year.

    Args:
        text: the text they were found in.
        matches: in any order.
    """
    spans = [*_pointers(text, matches), *_citations(text)] if matches else []
    if not spans:
        return list(matches)
    return [
        match
        for match in matches
        if not any(start <= match.start and match.end <= end for start, end in spans)
    ]


def _pointers(text: str, matches: Sequence[Match]) -> list[Span]:
    if not any(text[match.start].isupper() and _NUMBERED.match(text, match.end) for match in matches):
        return []
    return [(pointer.start, pointer.end) for pointer in pointers_in(text)]


def _citations(text: str) -> Iterator[Span]:
    """Names before a year, back to the bracket or the citation before; authors begin with capitals."""
    if " et al" in text:
        yield from (found.span() for found in _ET_AL.finditer(text))
    if _CITED.search(text) is None:
        return
    for year in _YEAR.finditer(text):
        first = max(0, year.start() - _LONGEST)
        opening = max(text.rfind(mark, first, year.start()) for mark in "([;")
        names = _WORD.findall(text, opening + 1, year.start()) if opening >= 0 else []
        if names and all(name[0].isupper() or name in _SMALL for name in names):
            yield opening, year.end()
    yield from (found.span() for found in _TWO_AUTHORS.finditer(text))
    yield from (found.span() for found in _ONE_AUTHOR.finditer(text))
