"""Small readings of one XML node: local name, href, language, plain text of short fields.

Everything here tolerates missing namespaces, because recovered files often lack the declarations.
"""

from __future__ import annotations

import re

from lxml.etree import _Element

Element = _Element

MATHML = "{http://www.w3.org/1998/Math/MathML}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_TAG = re.compile(r"^([A-Za-z]{2,3})((?:[-_][A-Za-z0-9]{1,8})*)$")
# BCP-47 asks for the two-letter code where one exists; JATS files also carry ISO 639-2 codes.
_SHORTEST = {
    "eng": "en", "spa": "es", "por": "pt", "fra": "fr", "fre": "fr", "deu": "de", "ger": "de",
    "ita": "it", "jpn": "ja", "zho": "zh", "chi": "zh", "rus": "ru", "kor": "ko", "pol": "pl",
    "nld": "nl", "dut": "nl", "tur": "tr", "ara": "ar", "cat": "ca",
}  # fmt: skip
UNDETERMINED = "und"
# Hyphen, no-break hyphen; soft hyphen, zero-width space, word joiner, byte order mark.
_HYPHENS = (
    ("\u2010", "-"), ("\u2011", "-"), ("\u00ad", ""), ("\u200b", ""), ("\u2060", ""), ("\ufeff", ""),
)  # fmt: skip


def local(element: Element) -> str:
    """Element name without namespace or undeclared prefix."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]


def plain_hyphens(text: str) -> str:
    """Text with one sign for the hyphen, and without signs that only say where a word may be parted.

    Some publishers write every hyphen as U+2010: "PD‐1" would be another word than "PD-1", for readers of
    bytes such as BM25 as for rules.
    """
    for odd, plain in _HYPHENS:
        if odd in text:
            text = text.replace(odd, plain)
    return text


def squeeze(text: str | None) -> str:
    """White space of every kind (no-break and thin spaces too) collapsed to single spaces, plain hyphens."""
    if not text:
        return ""
    return " ".join((text if text.isascii() else plain_hyphens(text)).split())


def all_text(element: Element) -> str:
    """Every character inside an element, squeezed: for ids, years and other short fields without markup."""
    return squeeze("".join(map(str, element.itertext())) if len(element) else element.text)


def href_of(element: Element) -> str:
    """The href of a link or graphic with or without its xlink namespace, '' when there is none."""
    value = element.get(_HREF) or element.get("href") or element.get("xlink:href")
    return value.strip() if value else ""


def normalise_language(tag: str | None) -> str:
    """A language attribute as BCP-47: `EN` -> `en`, `pt_br` -> `pt-BR`; '' and nonsense -> `und`."""
    found = _TAG.match(tag.strip()) if tag else None
    if not found:
        return UNDETERMINED
    primary = found.group(1).lower()
    parts = [_SHORTEST.get(primary, primary)]
    for part in re.split(r"[-_]", found.group(2))[1:]:
        parts.append(part.upper() if len(part) == 2 else part.title() if len(part) == 4 else part.lower())
    return "-".join(parts)


def language_of(element: Element) -> str | None:
    """The language an element states itself, None when it states none."""
    value = element.get(_LANG) or element.get("lang") or element.get("xml:lang")
    return normalise_language(value) if value and value.strip() else None


def first(element: Element | None, name: str) -> Element | None:
    """First child of this name."""
    return element.find(name) if element is not None else None


def child_text(element: Element | None, name: str) -> str:
    """All text of the first child of this name, squeezed; '' when there is none."""
    found = first(element, name)
    return all_text(found) if found is not None else ""
