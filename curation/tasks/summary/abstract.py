"""Takes notes of the publisher off the end of an abstract: a change that can be undone."""

from __future__ import annotations

import re

from curation.extract.neutralise import neutralise_caption
from schemas.benchmark import Transform

NOTE_RULE = "publisher_note"
_NOTE = re.compile(
    r"\s*^(?:(?:electronic |online )?supplement(?:ary|al) (?:information|materials?|data)|full protocol"
    r"|additional files?|material suplementario|material suplementar)[.:]?[ \t]*(?:\n|$)",
    re.IGNORECASE | re.MULTILINE,
)
_NOTE_WORDS = 80


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
