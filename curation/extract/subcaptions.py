"""Which words of a caption belong to which panel letter.

A letter stands before what it names, "(A) CT. (B) MRI", or after it, "CT (A) and MRI (B) show …", or inside,
"the left kidney (A) is enlarged; the right (B) is not". What the end says of the whole figure is no panel's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from curation.extract.sentences import sentence_spans

Span = tuple[int, int]


class Marker(NamedTuple):
    """Letters as they stand in a caption, brackets included, and where."""

    start: int
    end: int
    letters: tuple[str, ...]


_CLAUSE = re.compile(r"[;:]\s+")
_BEFORE = re.compile(
    r"(?:^|[.;:!?…|]|[\s(](?:of|for|with|in|by|on|to|from|as|and|or|at|into|the|an?|under|between"
    r"|versus|vs\.?|show(?:s|ing|n)?|are|is|were|was|de|del|para|por|com|con|y|e|et|und))[\s\"'(\[]*$",
    re.IGNORECASE,
)
"""What a letter that names the words after it follows: a boundary, or a word that cannot end a phrase."""
_AFTER = re.compile(r"\s*(?:[.,;:)\]]|$|(?:and|or|but|y|e|et|und|&|as well as|while|whereas|respectively)\b)")
"""What follows a letter that names the words before it."""
_GOES_ON = re.compile(
    r"\s(?:(?:show|demonstrat|reveal|display|depict|illustrat|indicat|confirm|represent|suggest)\w*"
    r"|with|of|in|at|from|before|after|during|was|were|is|are|has|had|secondary)\b"
)
"""What goes on a phrase after a letter that stands inside it."""
_WHOLE = re.compile(
    r"(?P<abbreviations>abbreviations?\b|(?-i:([A-Z])(?=\S*[A-Z])[\w-]+(?:,|:|\s?=)?)\s\2[a-z])"
    r"|(?P<bars>(?:scale |error |the |horizontal )*bars?\b|whiskers\b)"
    r"|(?P<data>(?:the )?(?:data|values|results|columns?|graphs?"
    r"|all (?:data|values|results|samples|images|panels))\s|means?\s|statistic)"
    r"|(?P<significance>\*|#\s?p|p[\s-]?values?\b|p\s?[<=>]|(?:different |the |lower-?case )*letters?\b"
    r"|asterisks?\b|significan|ns\b|n\s?=)"
    r"|(?P<counts>experiments? |the experiments? |triplicates?\b|at least )"
    r"|(?P<stain>nuclei |dapi\b|(?:original )?magnification)"
    r"|(?P<remark>\(?for interpretation|note[s:]|in (?:both|all) |these "
    r"|samples? (?:were )?(?:collected|from)|(?:different )?colou?rs?\b|symbols?\b|source"
    r"|the (?:left|right|upper|lower) panels? |additional |adapted |modified |reproduced |taken from )",
    re.IGNORECASE,
)
"""How a sentence on a whole figure begins, by kind; a kind that an earlier panel has is the panels' own."""
_SEVERAL = re.compile(r"\((?:[A-Z]\s?(?:[,&–—‐-]|and|to)\s?)+[A-Z]\)\s", re.IGNORECASE)
"""Several panels that such a sentence is of: "(B–F) Data are means"."""
_HIDDEN = re.compile(r"[.;]\s(?=\([A-Z]\s?[,&–—‐-]\s?[A-Z]\)\s)|(?<=\w)\.(?=[A-Z]{2,}[,:=]\s[A-Z])")
"""Where several panels are named behind an initial ("of A. (B–E) Data"), or short forms without a space."""
_STAR = re.compile(r"[.;)]\s+(?=(?:\*+|#+)\s?[Pp]\b)")
"""Where a list of marks of significance begins; such a sentence begins with no letter."""


def spans_of(caption: str, markers: Sequence[Marker]) -> list[Span]:
    """The sub-caption of each marker, its letters included.

    Args:
        caption: the caption.
        markers: in the order of the caption.

    Returns:
        (start, end) pairs, without white space at their ends.
    """
    if not markers:
        return []
    breaks = _breaks(caption)
    follows = _follow(caption, markers)
    spans: list[Span] = []
    for at, marker in enumerate(markers):
        start, end = marker.start, marker.end
        if follows[at]:
            start = max(breaks[bisect_right(breaks, marker.start) - 1], markers[at - 1].end if at else 0)
            end = _end_of_clause(caption, markers, at, breaks)
        elif at + 1 < len(markers):
            end = markers[at + 1].start
            last = breaks[bisect_right(breaks, end - 1) - 1]
            has_words = re.search(r"\w", caption[marker.end : max(last, marker.end)]) is not None
            is_heading = caption[last:end].rstrip().endswith(":")
            if (has_words and follows[at + 1]) or is_heading:
                end = max(last, marker.end)
        else:
            end = _without_whole(caption, spans, marker)
        spans.append(_trimmed(caption, start, end))
    return spans


def _breaks(caption: str) -> list[int]:
    """Where sentences and clauses begin, from 0."""
    sentences = [start for start, _ in sentence_spans(caption)]
    return sorted({0, *sentences, *(found.end() for found in _CLAUSE.finditer(caption))})


def _follow(caption: str, markers: Sequence[Marker]) -> list[bool]:
    """Whether each marker follows the words it names; what its own place leaves open, the others decide."""
    told = [_follows(caption, marker) for marker in markers]
    known = [way for way in told if way is not None]
    usual = 2 * sum(known) > len(known) or (not known and bool(re.search(r"\w", caption[: markers[0].start])))
    return [usual if way is None else way for way in told]


def _follows(caption: str, marker: Marker) -> bool | None:
    before = caption[max(marker.start - 24, 0) : marker.start]
    is_open = marker.start == 0 or bool(re.search(r"(?:[.;:!?|][)\]]?|^)\s*$", before))
    if is_open:
        return False
    if _AFTER.match(caption, marker.end):
        return True
    if _BEFORE.search(before) or before.rstrip().endswith(","):
        return False
    return True if _GOES_ON.match(caption, marker.end) else None


def _end_of_clause(caption: str, markers: Sequence[Marker], at: int, breaks: Sequence[int]) -> int:
    """Where the words before a marker end: with it, unless its clause is its own and goes on."""
    marker = markers[at]
    place = bisect_right(breaks, marker.start)
    end = breaks[place] if place < len(breaks) else len(caption)
    is_alone = all(other is marker or not breaks[place - 1] <= other.start < end for other in markers)
    goes_on = re.match(r"\s*[a-z]", caption[marker.end : end]) and not _AFTER.match(caption, marker.end)
    return end if is_alone and goes_on else marker.end


def _without_whole(caption: str, before: Sequence[Span], marker: Marker) -> int:
    """The end of the last panel's words: where what is said of the whole figure begins."""
    earlier = {
        found.lastgroup
        for start, end in before
        for at, _ in sentence_spans(caption[start:end])
        if at and (found := _WHOLE.match(caption, start + at))
    }
    starts = [marker.end + start for start, _ in sentence_spans(caption[marker.end :])[1:]]
    starts += [found.end() for found in _STAR.finditer(caption, marker.end)]
    starts += [found.end() for found in _HIDDEN.finditer(caption, marker.end)]
    for start in sorted(starts):
        several = _SEVERAL.match(caption, start)
        found = _WHOLE.match(caption, several.end() if several else start)
        if found and found.lastgroup not in earlier:
            return start
    return len(caption)


def _trimmed(caption: str, start: int, end: int) -> Span:
    while start < end and caption[start] in " ,;.\u00a0":
        start += 1
    while end > start and caption[end - 1].isspace():
        end -= 1
    return start, end
