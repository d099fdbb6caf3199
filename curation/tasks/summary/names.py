"""Takes the names of studies out of the query, and notes of the publisher off the end of an abstract.

A trial's coined name stands in the title, the caption and the abstract: whoever has it needs no retrieval.
Both are changes that can be undone, as those of figure pointers are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from curation.extract.neutralise import neutralise_caption
from schemas.benchmark import Transform

NAME_RULE = "study_name"
PLACEHOLDER = "[study name]"
NOTE_RULE = "publisher_note"
_NOUN = r"(?:stud(?:y|ies)|trials?|protocols?|cohorts?|projects?|program(?:me)?s?|registr(?:y|ies))"
_IS_STUDY = re.compile(rf"\b{_NOUN}\b", re.IGNORECASE)
_COINED = re.compile(r"(?<![\w-])(?=(?:[\w-]*[A-Z]){2})[A-Z][\w-]{3,}")
"""Two capitals or more: ACCoRd, PIX301, HA-SIB-WBRT."""
_COINED_BEFORE_NOUN = re.compile(rf"({_COINED.pattern})[\"'”’)\]]* (?i:{_NOUN})\b")
_PROPER = re.compile(rf"((?<![\w-])[A-Z][\w-]*(?: [A-Z][\w-]*)*)[)\]]* {_NOUN}\b")
"""Capitalised words before an uncapitalised noun: titles that write the noun large write all words large."""
_MIN_BEFORE_NOUN = 2
"""Times a coined word must stand before "study" or the like, and at every second of its places at least: then
it is the study's name and not the short form of a disease or of a method."""
_PHASE = re.compile(r"(?:[IVX]+[ab]?|Phase)", re.IGNORECASE)
"""'A phase II trial' is of a phase, not of a name."""
_BEGINS = re.compile(r"(?:^|\n|[.!?:]\s)[\"“(\[]?\Z")
"""Before the first word of a sentence, which takes the name's capital over."""
_FIRST = re.compile(r"^(?:A|An|The|This|Our)\b ?")
_NOTE = re.compile(
    r"\s*^(?:(?:electronic |online )?supplement(?:ary|al) (?:information|materials?|data)|full protocol"
    r"|additional files?|material suplementario|material suplementar)[.:]?[ \t]*(?:\n|$)",
    re.IGNORECASE | re.MULTILINE,
)
_NOTE_WORDS = 80


def study_names(title: str) -> frozenset[str]:
    """Names a title may give its study: coined words if it names a study at all, proper ones before the noun.

    An abbreviation of something else does little harm: only what stands before "study" or "trial" goes.
    """
    if not _IS_STUDY.search(title):
        return frozenset()
    proper = {_FIRST.sub("", found) for found in _PROPER.findall(title)}
    names = {*_COINED.findall(title), *proper}
    return frozenset(name for name in names if len(name) > 1 and not _PHASE.fullmatch(name))


@dataclass(frozen=True, slots=True)
class Names:
    """Names of studies: those that go where they stand before "study" or the like; those that go anywhere."""

    before_noun: frozenset[str] = frozenset()
    anywhere: frozenset[str] = frozenset()


def names_of(titles: Iterable[str], abstracts: Iterable[str], texts: Iterable[str]) -> Names:
    """Names an article gives to its own study or to others.

    Args:
        titles: its titles.
        abstracts: its abstracts.
        texts: its passages and captions: they show whether a coined word is a name.
    """
    titles, abstracts = tuple(titles), tuple(abstracts)
    coined = {name for text in (*titles, *abstracts) for name in _COINED.findall(text)}
    everywhere = Counter[str]()
    before_noun = Counter[str]()
    for text in (*titles, *abstracts, *texts) if coined else ():
        everywhere.update(_COINED.findall(text))
        before_noun.update(_COINED_BEFORE_NOUN.findall(text))
    always = {
        name
        for name in coined
        if before_noun[name] >= _MIN_BEFORE_NOUN and everywhere[name] <= 2 * before_noun[name]
    }
    titled = {name for title in titles for name in study_names(title)}
    return Names(frozenset(titled | always), frozenset(name for name in always if not _PHASE.fullmatch(name)))


def unnamed(text: str, transforms: Sequence[Transform], names: Names) -> tuple[str, tuple[Transform, ...]]:
    """`text` without the names: gone before "study", "trial" and the like, else `[study name]`.

    Args:
        text: released text.
        transforms: the changes that led to it, in order, not overlapping.
        names: of `names_of`.

    Returns:
        The text and all changes that lead to it from the source, in order.
    """
    if not names.before_noun:
        return text, tuple(transforms)
    pattern = rf"(?<![\w-])(?i:{_alternatives(names.before_noun)}) (?=(?i:{_NOUN})\b)"
    if names.anywhere:
        pattern += rf"|(?<![\w-])(?:{_alternatives(names.anywhere)})(?!\w)"
    made = list(transforms)
    for found in reversed(list(re.compile(pattern).finditer(text))):
        start, end = found.span()
        put = "" if found.group().endswith(" ") else PLACEHOLDER
        if not put and text[end].islower() and _BEGINS.search(text, max(start - 4, 0), start):
            put, end = text[end].upper(), end + 1
        # A neighbouring change at the same offset would leave the order of undoing open.
        if any(item.start <= end and item.end >= start for item in made):
            continue
        original, text = text[start:end], text[:start] + put + text[end:]
        moved = len(put) + start - end
        before = [item for item in made if item.end < start]
        after = [
            replace(item, start=item.start + moved, end=item.end + moved) for item in made if item.start > end
        ]
        change = Transform(start=start, end=start + len(put), original=original, rule=NAME_RULE)
        made = [*before, change, *after]
    return text, tuple(made)


def _alternatives(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))


def released_abstract(text: str, language: str) -> tuple[str, tuple[Transform, ...]]:
    """An abstract without figure pointers and without a note of the publisher at its end.

    Such a note names the files beside the article and often its DOI. It must open with a heading of its own
    and be the last, short part.
    """
    found = next(
        (found for found in _NOTE.finditer(text) if len(text[found.start() :].split()) <= _NOTE_WORDS), None
    )
    if found is None:
        return neutralise_caption(text, language)
    released, transforms = neutralise_caption(text[: found.start()], language)
    at = len(released)
    note = Transform(start=at, end=at, original=text[found.start() :], rule=NOTE_RULE)
    return released, (*transforms, note)
