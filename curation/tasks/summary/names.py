"""Takes the names of studies out of the query, and notes of the publisher off the end of an abstract.

A trial's coined name stands in the title, the caption and the abstract: whoever has it needs no retrieval.
Both are changes that can be undone, as those of figure pointers are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from curation.extract.neutralise import neutralise_caption
from schemas.benchmark import Transform

NAME_RULE = "study_name"
NOTE_RULE = "publisher_note"
_NOUN = r"(?:stud(?:y|ies)|trials?|protocols?|cohorts?|projects?|program(?:me)?s?|registr(?:y|ies))"
_IS_STUDY = re.compile(rf"\b{_NOUN}\b", re.IGNORECASE)
_COINED = re.compile(r"(?<![\w-])(?=(?:[\w-]*[A-Z]){2})[A-Z][\w-]{3,}")
"""Two capitals or more: ACCoRd, PIX301, HA-SIB-WBRT."""
_PROPER = re.compile(rf"((?<![\w-])[A-Z][\w-]*(?: [A-Z][\w-]*)*)[)\]]* {_NOUN}\b")
"""Capitalised words before an uncapitalised noun: titles that write the noun large write all words large."""
_PHASE = re.compile(r"(?:[IVX]+[ab]?|Phase)", re.IGNORECASE)
"""'A phase II trial' is of a phase, not of a name."""
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


def unnamed(
    text: str, transforms: Sequence[Transform], names: Iterable[str]
) -> tuple[str, tuple[Transform, ...]]:
    """`text` without the names where they stand before "study", "trial" and the like.

    Args:
        text: released text.
        transforms: the changes that led to it, in order, not overlapping.
        names: of `study_names`.

    Returns:
        The text and all changes that lead to it from the source, in order.
    """
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    if not alternatives:
        return text, tuple(transforms)
    pattern = re.compile(rf"(?<![\w-])(?:{alternatives}) (?={_NOUN}\b)", re.IGNORECASE)
    made = list(transforms)
    for found in reversed(list(pattern.finditer(text))):
        start, end = found.span()
        # A neighbouring change at the same offset would leave the order of undoing open.
        if any(item.start <= end and item.end >= start for item in made):
            continue
        text = text[:start] + text[end:]
        moved = start - end
        before = [item for item in made if item.end < start]
        after = [
            replace(item, start=item.start + moved, end=item.end + moved) for item in made if item.start > end
        ]
        made = [*before, Transform(start=start, end=start, original=found.group(), rule=NAME_RULE), *after]
    return text, tuple(made)


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
