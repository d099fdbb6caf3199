"""Takes what is about the publication off the end of an abstract: a change that can be undone."""

from __future__ import annotations

from collections.abc import Sequence

from curation.extract.boilerplate import boilerplate_paragraph, is_title
from curation.extract.neutralise import neutralise_caption
from schemas.benchmark import Transform

NOTE_RULE = "publisher_note"
_PROTOCOL = "full protocol"
_NOTE_WORDS, _HEADING = 80, 80
"""Words of the longest such end, characters of the longest heading."""


def released_abstract(text: str, language: str) -> tuple[str, tuple[Transform, ...]]:
    """An abstract without figure pointers and without what is about its publication at its end.

    Such parts name registries, funders or the files beside the article. Each opens with a heading of its own
    or says nothing else; together they must be short.
    """
    lines = text.split("\n")
    begin = _notes_begin(lines)
    end = len("\n".join(lines[:begin]).rstrip())
    if begin == len(lines) or len(text[end:].split()) > _NOTE_WORDS:
        return neutralise_caption(text, language)
    released, transforms = neutralise_caption(text[:end], language)
    at = len(released)
    note = Transform(start=at, end=at, original=text[end:], rule=NOTE_RULE)
    return released, (*transforms, note)


def _notes_begin(lines: Sequence[str]) -> int:
    """The line from which on all parts are about the publication; their number if the last part is not."""
    begin = len(lines)
    for place in range(len(lines) - 1, 0, -1):
        line = lines[place].strip()
        if _is_note(line) or (place == begin - 1 and boilerplate_paragraph(line)):
            begin = place
        elif place < len(lines) - 1 and _is_heading(line) and not _is_note(lines[place - 1]):
            break
    return begin


def _is_note(line: str) -> bool:
    title = line.strip(" .:")
    return _is_heading(title) and ("@" in title or is_title(title) or title.lower() == _PROTOCOL)


def _is_heading(line: str) -> bool:
    return 0 < len(line) <= _HEADING and line[-1] not in ".?!"
