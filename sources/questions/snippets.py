"""Texts that a collection quotes from documents in support of an answer, with the offsets it states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from schemas.errors import InputError
from schemas.question import Snippet
from schemas.stages import Reason
from sources.questions.citations import read_citations

MAX_SNIPPETS: Final = 1000
_KEYS: Final = {
    "begin_section": "beginSection",
    "begin": "offsetInBeginSection",
    "end_section": "endSection",
    "end": "offsetInEndSection",
}
"""The documented keys, and what BioASQ calls them."""


def read_snippets(value: Any) -> tuple[Snippet, ...]:
    """Snippets in order, each once.

    Args:
        value: a list of objects with `document` (as a citation) and `text`, and perhaps sections and offsets;
            None.

    Raises:
        InputError: not of that form, or offsets that cannot be (`record_invalid`).
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _invalid("snippets are no list")
    if len(value) > MAX_SNIPPETS:
        raise _invalid(f"more than {MAX_SNIPPETS} snippets")
    return tuple(dict.fromkeys(_snippet(item, place) for place, item in enumerate(value, 1)))


def _invalid(what: str) -> InputError:
    return InputError(what, reason=Reason.RECORD_INVALID.value)


def _snippet(item: Any, place: int) -> Snippet:
    if not isinstance(item, Mapping):
        raise _invalid(f"snippet {place}: no object")
    text, document = item.get("text"), item.get("document")
    if not isinstance(text, str) or not text.strip():
        raise _invalid(f"snippet {place}: no text")
    if not isinstance(document, str | Mapping):
        raise _invalid(f"snippet {place}: no document")
    found = read_citations(document)
    begin, end = _offset(item, "begin", place), _offset(item, "end", place)
    begin_section, end_section = _section(item, "begin_section", place), _section(item, "end_section", place)
    if begin is not None and end is not None and begin_section == end_section and end <= begin:
        raise _invalid(f"snippet {place}: ends at {end}, before it begins at {begin}")
    return Snippet(
        source=found[0], text=text, begin_section=begin_section, begin=begin, end_section=end_section, end=end
    )


def _value(item: Mapping[str, Any], key: str) -> Any:
    return item[key] if key in item else item.get(_KEYS[key])


def _offset(item: Mapping[str, Any], key: str, place: int) -> int | None:
    value = _value(item, key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise _invalid(f"snippet {place}: {key} is no offset")
    return value


def _section(item: Mapping[str, Any], key: str, place: int) -> str:
    value = _value(item, key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _invalid(f"snippet {place}: {key} is no text")
    return value.strip()
