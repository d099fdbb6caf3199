"""Longer names that a short form is part of: "Charcot-Marie-Tooth (CMT) disease", later "CMT disease".

They are looked up with the long form in the place of the short one, and of the brackets around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from curation.concepts.abbreviations import FUNCTION, Definition
from curation.concepts.matcher import Match
from curation.concepts.normalise import ADJECTIVE

Use = tuple[int, int, Definition]
_BRACKETS = re.compile(r"[\"'“”‘’\s]*[)\]）］]")
_OPENS = re.compile(r"[(\[（［][\"'“”‘’\s]*")
_BEHIND = re.compile(r"[ \u00a0-](?=[^\W\d_])(\w+)[^.;:()\[\]<>=\n]{0,40}")


_ILLNESS = re.compile(r"[ -](?:disease|disorder|syndrome)s?")


class Phrase(NamedTuple):
    """A long form with the words that follow its short form.

    Attributes:
        start: where the name would begin: at the long form where that stands before its short form.
        behind: where the words that follow begin.
        words: the long form, and those words.
        definition: the short form's.
        is_defining: whether it stands where the short form is defined.
    """

    start: int
    behind: int
    words: str
    definition: Definition
    is_defining: bool


def phrases(text: str, uses: Sequence[Use], own: Sequence[Definition]) -> Iterator[Phrase]:
    """What may be a longer name at each use of a short form.

    Args:
        text: any text.
        uses: of short forms in it.
        own: definitions that stand in it.
    """
    for start, end, definition in uses:
        behind = end
        is_defining = start == definition.short_start and any(definition is one for one in own)
        if is_defining:
            closing, opening = _BRACKETS.match(text, end), _OPENS.match(text, definition.long_end + 1)
            if closing is None or opening is None or opening.end() != start:
                continue
            start, behind = definition.long_start, closing.end()
        following = _BEHIND.match(text, behind)
        if following is not None and following[1] not in FUNCTION:
            yield Phrase(start, behind, definition.long + following[0], definition, is_defining)


def named_by(phrase: Phrase, found: Sequence[Match]) -> Match | None:
    """The name of a phrase that begins with its long form and goes beyond it, where it stands in the text."""
    length = len(phrase.definition.long)
    longest = max((one for one in found if one.start == 0), key=lambda one: one.end, default=None)
    if longest is None or longest.end <= length + 1 or longest.rule == "typo":
        return None
    return longest._replace(start=phrase.start, end=phrase.behind + longest.end - length)


def stands_for(phrase: Phrase, found: Match) -> bool:
    """Whether the short form alone means the longer name: "CMT" is the disease, but "GI" is no disorder."""
    long = phrase.definition.long
    end = len(long) + found.end - phrase.behind
    is_illness = _ILLNESS.fullmatch(phrase.words, len(long), end) is not None
    return phrase.is_defining and is_illness and ADJECTIVE.search(long) is None


def with_longer(matches: Sequence[Match], longer: Sequence[Match], *, overlaps: bool) -> list[Match]:
    """Matches with longer names among them, in the place of those inside unless these are wanted, too."""
    taken: list[Match] = []
    for one in longer:
        is_part = any(
            match.start < one.end < match.end or (match.start <= one.start and one.end <= match.end)
            for match in (*matches, *taken)
        )
        if not is_part:
            taken.append(one)
    kept = [
        match
        for match in matches
        if overlaps or not any(one.start < match.end and match.start < one.end for one in taken)
    ]
    return sorted([*kept, *taken], key=lambda match: (match.start, -match.end, match.concept))
