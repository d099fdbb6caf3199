"""Metadata of a chapter and its book: identifiers, titles, authors, dates, and its place in the book.

BITS 2.x and NLM book 2.3 differ in attribute names only; what the chapter leaves out the book tells.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from schemas.article import BookPlace, Translated
from schemas.ids import normalise_doi
from sources.bits.load import Chapter
from sources.jats import front
from sources.jats.front import Ids
from sources.jats.nodes import UNDETERMINED, Element, all_text, child_text, first, language_of
from sources.jats.text import flatten, title_text

_ACCESSION = re.compile(r"^NBK\d{1,9}$", re.IGNORECASE)
_PMID = re.compile(r"^\d{1,9}$")
_YEAR = re.compile(r"^(1[6-9]|20)\d\d$")
_NUMBER = re.compile(r"(?:^|\s)(\d+(?:[.-]\d+)*[A-Za-z]?|[IVXLC]+)\s*[.:]?$")


def _ids(meta: Element | None, name: str) -> Iterator[tuple[str, str]]:
    """(kind, value) of the identifiers: the kind's attribute was renamed in BITS."""
    for element in meta.iterchildren(name) if meta is not None else ():
        kind = element.get(f"{name}-type") or element.get("pub-id-type") or ""
        if text := all_text(element):
            yield kind.lower(), text


def names_of(chapter: Chapter) -> tuple[str, ...]:
    """Every name a table of contents may call the chapter by: its ids and those of its elements."""
    written = [text for _, text in _ids(chapter.meta, "book-part-id")]
    attributes = [element.get("id") for element in (chapter.part, chapter.root)]
    return tuple(dict.fromkeys([*written, *filter(None, attributes)]))


def accession(chapter: Chapter) -> str | None:
    """The chapter's own Bookshelf accession (`NBK…`), None when it states none."""
    stated = (text.upper() for _, text in _ids(chapter.meta, "book-part-id") if _ACCESSION.match(text))
    return next(stated, None)


def chapter_ids(chapter: Chapter) -> Ids:
    """PMID and DOI of the chapter; a `pmcid` of a book is no PMCID but its name."""
    pmid = doi = None
    for kind, text in _ids(chapter.meta, "book-part-id"):
        if kind == "pmid" and _PMID.match(text):
            pmid = pmid or text
        elif kind == "doi":
            doi = doi or normalise_doi(text)
    return Ids(None, pmid, doi)


def titles(meta: Element | None) -> tuple[str, tuple[Translated, ...]]:
    """Title of a chapter with its subtitle, and translated titles."""
    group = first(meta, "title-group")
    if group is None:
        return "", ()
    main = [title_text(group.find("title")), *map(title_text, group.iterchildren("subtitle"))]
    translated = [
        Translated(language=language_of(title) or language_of(part) or UNDETERMINED, text=text)
        for part in group.iterchildren("trans-title-group")
        for title in part.iterchildren("trans-title", "title")
        if (text := title_text(title))
    ]
    return ": ".join(filter(None, main)), tuple(translated)


def book_title(book_metas: Sequence[Element]) -> str:
    """Title of the book, '' when nothing states it."""
    for meta in book_metas:
        for holder in (meta.find("book-title-group"), meta):
            if holder is not None and (text := title_text(holder.find("book-title"))):
                return text
    return ""


def publisher(book_metas: Sequence[Element]) -> str:
    """Name of the publisher, '' when nothing states it."""
    found = (child_text(first(meta, "publisher"), "publisher-name") for meta in book_metas)
    return next(filter(None, found), "")


def authors(chapter: Chapter, book_metas: Sequence[Element]) -> tuple[str, ...]:
    """Authors of the chapter, else of the book (never its editors)."""
    found = (front.authors(meta) for meta in (chapter.meta, *book_metas))
    return next(filter(None, found), ())


def year(chapter: Chapter, book_metas: Sequence[Element]) -> int | None:
    """Earliest year of the chapter's dates, else of the book's."""
    for meta in (chapter.meta, *book_metas):
        if meta is not None and (stated := _years(meta.iter("pub-date", "date"))):
            return min(stated)
    return None


def _years(dates: Iterable[Element]) -> list[int]:
    texts = (child_text(date, "year") or (date.get("iso-8601-date") or "")[:4] for date in dates)
    return [int(text) for text in texts if _YEAR.match(text)]


def place(stated: BookPlace | None, chapter: Chapter, book_metas: Sequence[Element]) -> BookPlace | None:
    """What the crawl knows of the chapter's place, completed from the chapter itself."""
    if stated is None:
        return None
    return dataclasses.replace(
        stated,
        title=stated.title or book_title(book_metas),
        chapter=stated.chapter or number(chapter),
        chapter_title=stated.chapter_title or titles(chapter.meta)[0],
    )


def number(chapter: Chapter) -> str:
    """Number of the chapter as printed ('Chapter 3.' is 3), '' when it has none."""
    label = flatten(first(first(chapter.meta, "title-group"), "label"))
    found = _NUMBER.search(label)
    return found.group(1) if found else label or chapter.part.get("book-part-number") or ""
