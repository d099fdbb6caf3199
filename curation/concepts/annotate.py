"""Mentions in the texts of one document: names found, short forms it defines, and what is said of them.

A short form means what the document says it means: where its long form is a concept, the short form is too;
where the long form is none, the short form is not looked up as if it were a name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from curation.concepts.abbreviations import Definition, DocumentAbbreviations
from curation.concepts.context import Context, assign
from curation.concepts.matcher import Match, Matcher
from schemas.concept import Mention

WHOLE, PART = 0.95, 0.75
"""A short form is less sure than its long form; more so when only the end of the long form is a concept."""
SPECIFIC = 6
"""Characters of short forms that are looked up even so: 'COVID-19' is hardly anything else."""
_HEADS = frozenset(["disease", "diseases", "disorder", "syndrome", "condition", "infection", "injury"])
"""Ends of long forms that say nothing alone: 'CMD' is no name for every disease."""
_HYPHENS = ("-", "‐", "‑", "–")


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a document."""

    id: str
    text: str
    language: str = "en"


def annotate(
    document: str, texts: Sequence[Text], matcher: Matcher, *, overlaps: bool = False
) -> Iterator[Mention]:
    """Mentions in the texts of one document, in order.

    Args:
        document: id of the document.
        texts: its texts in reading order; a short form means what was said of it last.
        matcher: a backend.
        overlaps: names inside longer ones too.
    """
    found = _find(texts, matcher, overlaps)
    abbreviations = DocumentAbbreviations()
    meanings: dict[int, Match | None] = {}
    for text, matches in zip(texts, found, strict=True):
        for definition in abbreviations.add(text.text):
            meanings[id(definition)] = _meaning(definition, matches)
    for position, (text, matches) in enumerate(zip(texts, found, strict=True)):
        read = _with_short_forms(matches, abbreviations.uses(text.text, position), meanings)
        spans = [(match.start, match.end) for match in read]
        for match, context in zip(read, assign(text.text, spans, text.language), strict=True):
            yield _mention(document, text, match, context)


def _find(texts: Sequence[Text], matcher: Matcher, overlaps: bool) -> list[list[Match]]:
    """Matches in each text; texts of one language are read together, which is faster."""
    found: list[list[Match]] = [[] for _ in texts]
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(text.language, []).append(place)
    for language, those in places.items():
        together = matcher.find_many((texts[place].text for place in those), language, overlaps=overlaps)
        for place, matches in zip(those, together, strict=True):
            found[place] = matches
    return found


def _meaning(definition: Definition, matches: Sequence[Match]) -> Match | None:
    """What a definition's long form is: a match of all of it, else of its end."""
    start, end = definition.long_start, definition.long_end
    inside = [match for match in matches if match.end == end and match.start >= start]
    longest = min(inside, key=lambda match: match.start, default=None)
    if longest is not None and definition.long[: longest.start - start].rstrip().endswith(_HYPHENS):
        return None  # 'ST-elevation infarction' is not what 'non-ST-elevation infarction' means
    if longest is None:
        return None
    is_whole = longest.start == start
    if not is_whole and definition.long[longest.start - start :].lower() in _HEADS:
        return None
    sure = WHOLE if is_whole else PART
    return dataclasses.replace(longest, rule="short_form", score=round(longest.score * sure, 3))


def _with_short_forms(
    matches: Sequence[Match],
    uses: Sequence[tuple[int, int, Definition]],
    meanings: Mapping[int, Match | None],
) -> list[Match]:
    """Matches with the short forms' own readings in place of whatever the vocabulary makes of them."""
    read: list[Match] = []
    taken: set[tuple[int, int]] = set()
    for start, end, definition in uses:
        if any(match.start <= start and end < match.end for match in matches):
            continue  # part of a longer name: "CKD stage 3"
        meaning = meanings[id(definition)]
        if meaning is None and end - start >= SPECIFIC:
            continue
        taken.add((start, end))
        if meaning is not None:
            read.append(dataclasses.replace(meaning, start=start, end=end))
    kept = [match for match in matches if (match.start, match.end) not in taken]
    return sorted([*kept, *read], key=lambda match: (match.start, -match.end, match.concept))


def _mention(document: str, text: Text, match: Match, context: Context) -> Mention:
    return Mention(
        article_id=document,
        text_id=text.id,
        start=match.start,
        end=match.end,
        text=text.text[match.start : match.end],
        concept=match.concept,
        name=match.name,
        score=match.score,
        rule=match.rule,
        is_negated=context.is_negated,
        is_hypothetical=context.is_hypothetical,
        is_historical=context.is_historical,
        is_family=context.is_family,
    )
