"""Text as HTML: escaped, so that nothing in a caption or passage is markup, with concepts marked.

Label Studio lets any attribute and nearly any element in task data through to the page, event handlers
included (its sanitiser drops only scripts and frames): escaping here is what keeps texts harmless.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlsplit

from schemas.errors import InputError

_LANGUAGES = {
    "ar": "Arabic", "de": "German", "en": "English", "es": "Spanish", "fr": "French", "hi": "Hindi",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese",
    "ru": "Russian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept named in a text: half-open character offsets into the field."""

    field: str
    start: int
    end: int
    id: str
    name: str


def concepts(value: str, texts: Mapping[str, str]) -> list[Concept]:
    """Concepts of the JSON field `concepts`, sorted, of overlapping ones the longer.

    Raises:
        InputError: not of the form in `fields.CONCEPTS`, or a span outside its text.
    """
    found: list[Concept] = []
    for item in parse_list(value, "concepts", ("field", "start", "end", "id", "name")):
        concept = Concept(**item)
        length = len(texts.get(concept.field, ""))
        if not 0 <= concept.start < concept.end <= length:
            raise InputError(f"a concept lies outside {concept.field!r}: {concept.start}–{concept.end}")
        found.append(concept)
    kept: list[Concept] = []
    for concept in sorted(found, key=lambda c: (c.field, c.start - c.end, c.start, c.id)):
        if all(c.field != concept.field or concept.end <= c.start or c.end <= concept.start for c in kept):
            kept.append(concept)
    return sorted(kept, key=lambda c: (c.field, c.start))


def parse_list(value: str, name: str, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """A JSON list of objects with exactly these keys.

    Raises:
        InputError: anything else.
    """
    try:
        items = json.loads(value)
    except json.JSONDecodeError as error:
        raise InputError(f"the field {name!r} is not JSON") from error
    if not isinstance(items, list) or not all(isinstance(i, dict) and set(i) == set(keys) for i in items):
        raise InputError(f"the field {name!r} is not a list of objects with the keys {', '.join(keys)}")
    for item in items:
        for key in keys:
            if not isinstance(item[key], int if key in ("start", "end") else str):
                raise InputError(f"the field {name!r} holds a {key} of the wrong type")
    return items


def text_html(text: str, marks: Iterable[Concept] = (), css: str = "mq-mark") -> str:
    """Text with its concepts marked, everything escaped; `marks` sorted and disjoint."""
    parts, at = [], 0
    for concept in marks:
        parts.append(escape(text[at : concept.start]))
        tip = " · ".join(part for part in (concept.name, concept.id) if part)
        title = f' title="{escape(tip)}"' if tip else ""
        parts.append(f'<mark class="{css}"{title}>{escape(text[concept.start : concept.end])}</mark>')
        at = concept.end
    parts.append(escape(text[at:]))
    return "".join(parts)


def block(css: str, html: str, language: str = "") -> str:
    """A box of HTML, '' when there is nothing in it. Direction follows the text."""
    if not html:
        return ""
    lang = f' lang="{escape(language)}"' if language else ""
    return f'<div class="{css}" dir="auto"{lang}>{html}</div>'


def source_html(url: str, license_id: str) -> str:
    """Link to the source, without its address in words, and the licence."""
    parts = []
    if url:
        if urlsplit(url).scheme not in ("http", "https"):
            raise InputError(f"not a web address: {url[:80]!r}")
        link = f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">Source</a>'
        parts.append(link)
    if license_id:
        parts.append(f"Licence {escape(license_id)}")
    return block("mq-source", " · ".join(parts))


def language_name(code: str) -> str:
    """English name of a language, the BCP-47 code itself when it is a rare one."""
    return _LANGUAGES.get(code.split("-")[0].lower(), code)
