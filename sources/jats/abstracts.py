"""Abstracts, keywords and declared abbreviations, each in its stated language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schemas.article import Abstract, KeywordGroup
from sources.jats.nodes import UNDETERMINED, Element, language_of, squeeze
from sources.jats.text import flatten, running_text, title_text

_ABBREVIATION_TYPE = re.compile(r"abbrev|acronym", re.IGNORECASE)
_SHORT_LONG = re.compile(
    r"^(?P<short>[^\s,:;=]{1,20}(?: [^\s,:;=]{1,10})?)\s*(?:=|:|,|;|–|—| - )\s*(?P<long>.+)$"
)
_KEYWORDS = "kwd-group"
_LEAD = re.compile(r"[^:,;]{3,30}:\s*")
"""What such a section begins with: "Keywords:", in the article's language."""
_FIGURES = frozenset(
    {"fig", "fig-group", "graphic", "media", "table-wrap", "supplementary-material", "object-id"}
)
_CONTAINERS = frozenset(
    {"sec", "list", "list-item", "def-list", "def-item", "def", "disp-quote", "boxed-text"}
)


def _lines(element: Element) -> Iterator[str]:
    """Titles and paragraphs, one each, the title of the abstract itself ('Abstract') included."""
    for child in element:
        if child.tag in _FIGURES or child.tag == "label" or child.get("sec-type") == _KEYWORDS:
            continue
        if child.tag in _CONTAINERS:
            yield from _lines(child)
        elif child.tag == "title":
            yield title_text(child)
        else:
            flow = running_text(child)
            yield flow.text
            for block in flow.floats:
                if block.tag in _CONTAINERS:
                    yield from _lines(block)


def _abstract_text(element: Element) -> str:
    lines = list(_lines(element))
    if element.find("title") is not None and lines:
        lines = lines[1:]
    direct = squeeze(element.text)  # not valid JATS, but met
    return "\n".join(filter(None, [direct, *lines]))


def abstracts(meta: Element | None, language: str) -> tuple[Abstract, ...]:
    """Abstracts in order: `abstract` without a language is in the article's, `trans-abstract` is not.

    Args:
        meta: `article-meta` or the `front-stub` of a translation.
        language: language of the article, for abstracts that state none.
    """
    found = []
    for element in meta.iterchildren("abstract", "trans-abstract") if meta is not None else ():
        default = language if element.tag == "abstract" else UNDETERMINED
        if text := _abstract_text(element):
            found.append(
                Abstract(
                    language=language_of(element) or default,
                    type=element.get("abstract-type") or "",
                    text=text,
                )
            )
    return tuple(found)


def _keyword(element: Element) -> str:
    if element.tag == "compound-kwd":
        return " ".join(filter(None, map(flatten, element.iterchildren("compound-kwd-part"))))
    if element.tag == "nested-kwd":
        return " > ".join(filter(None, map(_keyword, element.iterchildren("kwd", "nested-kwd"))))
    return flatten(element)


def _is_abbreviations(group: Element) -> bool:
    return bool(_ABBREVIATION_TYPE.search(group.get("kwd-group-type") or ""))


def keywords(meta: Element | None, language: str = UNDETERMINED) -> tuple[KeywordGroup, ...]:
    """Keyword groups in order with language and type; :func:`abbreviations` reads the other kind.

    Args:
        meta: `article-meta` or the `front-stub` of a translation.
        language: language of the article, for groups that state none and are the only ones of their type
            that do not.
    """
    found = []
    groups = list(meta.iterchildren("kwd-group")) if meta is not None else []
    unstated = [group.get("kwd-group-type") for group in groups if language_of(group) is None]
    for group in groups:
        words = (_keyword(word) for word in group.iterchildren("kwd", "compound-kwd", "nested-kwd"))
        terms = tuple(dict.fromkeys(filter(None, words)))
        if terms and not _is_abbreviations(group):
            kind = group.get("kwd-group-type")
            default = language if unstated.count(kind) == 1 else UNDETERMINED
            found.append(KeywordGroup(language=language_of(group) or default, type=kind or "", terms=terms))
    return tuple(found) or tuple(_in_abstracts(meta, language))


def _in_abstracts(meta: Element | None, own: str) -> Iterator[KeywordGroup]:
    """Keywords as PMC's newer files have them: a paragraph of a section in the abstract, parted by commas."""
    for abstract in meta.iterchildren("abstract", "trans-abstract") if meta is not None else ():
        for section in abstract.iterfind(f".//sec[@sec-type='{_KEYWORDS}']"):
            listed = " ".join(map(flatten, section.iter("p")))
            lead = _LEAD.match(listed)
            if lead and _ABBREVIATION_TYPE.search(lead.group()):
                continue
            listed = listed[lead.end() :] if lead else listed
            terms = tuple(
                word for part in re.split(";" if ";" in listed else ",", listed) if (word := part.strip(" ."))
            )
            if terms:
                default = own if abstract.tag == "abstract" else UNDETERMINED
                language = language_of(section) or language_of(abstract) or default
                yield KeywordGroup(language=language, type="", terms=tuple(dict.fromkeys(terms)))


def _pair(short: str, long: str) -> str:
    return f"{short.rstrip(':;,=')} = {long.rstrip(';')}" if short and long else ""


def _from_keyword(element: Element) -> str:
    parts = [flatten(part) for part in element.iterchildren("compound-kwd-part")]
    if len(parts) == 2:
        return _pair(*parts)
    found = _SHORT_LONG.match(flatten(element))
    return _pair(found.group("short"), found.group("long")) if found else ""


def is_of_abbreviations(element: Element) -> bool:
    """Whether a list, or what holds one, is of abbreviations: by its title, or a glossary without one."""
    title = title_text(element.find("title"))
    return bool(_ABBREVIATION_TYPE.search(title)) or (element.tag == "glossary" and not title)


def _definition_lists(article: Element) -> Iterator[Element]:
    for items in article.iter("def-list"):
        parent = items.getparent()
        if is_of_abbreviations(items) or (parent is not None and is_of_abbreviations(parent)):
            yield items


def abbreviations(article: Element, meta: Element | None) -> tuple[str, ...]:
    """Declared abbreviations as `SHORT = long form`, from keyword groups and definition lists, each once."""
    found = [
        _from_keyword(word)
        for group in (meta.iterchildren("kwd-group") if meta is not None else ())
        if _is_abbreviations(group)
        for word in group.iterchildren("kwd", "compound-kwd")
    ]
    for items in _definition_lists(article):
        for item in items.iterchildren("def-item"):
            found.append(_pair(flatten(item.find("term")), flatten(item.find("def"))))
    return tuple(dict.fromkeys(filter(None, found)))
