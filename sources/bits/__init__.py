"""Chapters of books (BITS 2.x, NLM book 2.3, as NCBI Bookshelf has them) read into one :class:`Article`.

The text is JATS in all but its front matter, so sections, boxes, passages and figures come from its reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from schemas.article import Article, RawArticle
from schemas.errors import InputError
from schemas.stages import Reason
from sources.bits import front
from sources.bits.licence import chapter_licence
from sources.bits.load import Chapter, chapter_of, load_book_part
from sources.jats.abstracts import abbreviations, abstracts, keywords
from sources.jats.body import BodyReader
from sources.jats.figures import Place
from sources.jats.front import is_retracted, is_synthetic, related, subject_headings
from sources.jats.nodes import UNDETERMINED, Element, first, language_of

__all__ = ["CONTENTS", "parse"]

CONTENTS = "contents"
"""Name of the part that holds the book's table of contents: it tells what a chapter's file leaves out."""
ARTICLE_TYPE = "book-chapter"
_NO_PARTS: Mapping[str, bytes] = MappingProxyType({})


class ChapterReader(BodyReader):
    """The reader of articles; a part inside the chapter is a section."""

    def __init__(self, raw: RawArticle, language: str) -> None:
        super().__init__(raw, language)
        skipped = ("book-part-meta", "book-meta", "front-matter", "toc", "index", "named-book-part-body")
        self._handlers |= {"book-part": self._part, **dict.fromkeys(skipped, self._skip)}

    def _part(self, element: Element, place: Place) -> None:
        kind = element.get("book-part-type") or "book-part"
        title = element.find("book-part-meta/title-group/title")
        number = self._open_section(element, place, kind, title)
        for part in element.iterchildren("body", "back", "floats-group"):
            self._blocks(part, place._replace(section=number))

    def _skip(self, element: Element, place: Place) -> None:
        """No running text."""


def parse(data: bytes, raw: RawArticle, parts: Mapping[str, bytes] = _NO_PARTS) -> Article:
    """Read one chapter.

    Args:
        data: bytes of the chapter's XML: a `book-part-wrapper`, a `book-part`, or an OAI answer with one.
        raw: what the crawl stored of it; its media resolve the figures' hrefs, `book` is its place.
        parts: further files by name; `contents` is the book's table of contents, whose `book-meta` holds
            where the chapter's file has none.

    Returns:
        The chapter as an article of type `book-chapter`, its journal the book. `flags` as for JATS.

    Raises:
        InputError: `too_large`, `xml_hostile`, `xml_invalid`, `not_an_article` (a table of contents, an
            index, a whole book), or `no_body` when there is neither text, figure nor abstract.
    """
    try:
        root, flags = load_book_part(data)
        return _article(chapter_of(root), raw, flags, _contents_meta(parts))
    except InputError as error:
        raise InputError(
            error.message, reason=error.reason, record=raw.id, file=raw.path, hint=error.hint
        ) from error


def _contents_meta(parts: Mapping[str, bytes]) -> Element | None:
    """The `book-meta` of the table of contents; one that cannot be read tells nothing."""
    if CONTENTS not in parts:
        return None
    try:
        root, _ = load_book_part(parts[CONTENTS])
    except InputError:
        return None
    return first(root, "book-meta")


def _article(chapter: Chapter, raw: RawArticle, flags: set[str], contents: Element | None) -> Article:
    metas = [meta for meta in (chapter.book_meta, contents) if meta is not None]
    language = language_of(chapter.part) or language_of(chapter.root) or UNDETERMINED
    body = ChapterReader(raw, language)
    body.read(chapter.part, meta="book-part-meta")
    written = abstracts(chapter.meta, language)
    flags |= body.flags
    if not body.passages and not body.figures:
        flags |= _without_text(flags, bool(written))
    publisher = front.publisher(metas)
    return Article(
        id=raw.id,
        source=raw.source,
        version=raw.version,
        language=language,
        **_front_matter(chapter, raw, metas),
        publisher=publisher,
        keywords=keywords(chapter.meta),
        abstracts=written,
        licence=chapter_licence(chapter.meta, metas, publisher=publisher, license_code=raw.license_code),
        sections=tuple(body.sections),
        passages=tuple(body.passages),
        figures=tuple(body.figures),
        tables=tuple(body.tables),
        boxes=tuple(body.boxes),
        flags=tuple(sorted(flags)),
        raw_sha256=raw.sha256,
    )


def _front_matter(chapter: Chapter, raw: RawArticle, metas: list[Element]) -> dict[str, Any]:
    ids = front.chapter_ids(chapter)
    title, translated = front.titles(chapter.meta)
    links = related(chapter.meta)
    marked = is_synthetic(chapter.meta) or any(map(is_synthetic, metas))
    return {
        "pmid": ids.pmid or raw.pmid,
        "doi": ids.doi or raw.doi,
        "article_type": ARTICLE_TYPE,
        "title": title,
        "translated_titles": translated,
        "authors": front.authors(chapter, metas),
        "journal": front.book_title(metas),
        "year": front.year(chapter, metas),
        "subjects": subject_headings(chapter.meta),
        "abbreviations": abbreviations(chapter.part, chapter.meta),
        "related": links,
        "is_retracted": is_retracted("", title, links),
        "book": front.place(raw.book, chapter, metas),
        "is_synthetic": raw.is_synthetic or marked,
    }


def _without_text(flags: set[str], has_abstract: bool) -> set[str]:
    if not has_abstract:
        reason = Reason.XML_INVALID if "xml_recovered" in flags else Reason.NO_BODY
        raise InputError("no text, figure or abstract", reason=reason)
    return {"no_body"}
