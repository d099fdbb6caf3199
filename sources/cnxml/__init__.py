"""Modules of OpenStax books (CNXML) read into one :class:`Article` each, with their place in the book.

The module is turned into JATS elements and read by the reader of JATS; numbers, titles of links and boxes
that go on elsewhere come from the collection and the other modules of the book.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from schemas.article import Article, ArticlePassage, Box, Continuation, KeywordGroup, RawArticle, Xref
from schemas.errors import InputError
from schemas.stages import Reason
from sources.cnxml.book import COLLECTION, Book, document_of, open_book
from sources.cnxml.rights import book_licence, figure_rights
from sources.cnxml.stories import Story, beginning, sequel, stories
from sources.jats.body import BodyReader
from sources.jats.nodes import Element, all_text, child_text
from sources.jats.text import title_text

__all__ = ["COLLECTION", "parse"]

ARTICLE_TYPE = "book-chapter"
PUBLISHER = "OpenStax"
_NO_PARTS: Mapping[str, bytes] = MappingProxyType({})


@dataclass(slots=True)
class _Module:
    """One module as read."""

    root: Element
    language: str
    body: BodyReader
    flags: set[str]


def _read(book: Book, document: str, raw: RawArticle) -> _Module:
    """Read one module.

    Raises:
        InputError: it cannot be used.
    """
    made = book.translate(document)
    body = BodyReader(replace(raw, id=book.article_id(document)), made.language)
    body.read(made.article)
    body.passages = [replace(each, xrefs=_located(each.xrefs)) for each in body.passages]
    return _Module(made.root, made.language, body, made.flags | body.flags)


def parse(data: bytes, raw: RawArticle, parts: Mapping[str, bytes] = _NO_PARTS) -> Article:
    """Read one module of a book.

    Args:
        data: bytes of the module's CNXML.
        raw: what the crawl stored of it; its media resolve the figures' images, `book` is its place.
        parts: further files by name: `collection`, `licence`, `readme`, and `module:<id>` for the other
            modules of its chapter and of the chapters these link to.

    Returns:
        The module as an article of type `book-chapter`, its journal the book. Flags beside those of JATS:
        `exercises_left_out`, `navigation_left_out`, `number_unknown` (a module before it in the chapter is
        not at hand), `link_unresolved`, `story_begins_elsewhere` (a box goes on from a missing one).

    Raises:
        InputError: `too_large`, `xml_hostile`, `xml_invalid`, `not_an_article`, or `no_body`.
    """
    try:
        return _article(data, raw, parts)
    except InputError as error:
        raise InputError(
            error.message, reason=error.reason, record=raw.id, file=raw.path, hint=error.hint
        ) from error


def _article(data: bytes, raw: RawArticle, parts: Mapping[str, bytes]) -> Article:
    document = document_of(raw)
    book = open_book(data, raw, parts)
    module = _read(book, document, raw)
    body, metadata = module.body, module.root.find("metadata")
    if not body.passages and not body.figures:
        raise InputError("no text and no figure", reason=Reason.NO_BODY.value)
    boxes, continuations, is_torn = _boxes(document, raw, book, body.boxes)
    flags = module.flags | ({"story_begins_elsewhere"} if is_torn else set())
    title = title_text(module.root.find("title")) or child_text(metadata, "title")
    return Article(
        id=raw.id,
        source=raw.source,
        version=raw.version,
        language=module.language,
        article_type=ARTICLE_TYPE,
        title=title,
        authors=book.collection.authors,
        journal=book.collection.title or (raw.book.title if raw.book else ""),
        publisher=PUBLISHER,
        subjects=_texts(metadata, "subjectlist/subject"),
        keywords=_keywords(metadata, module.language),
        licence=book_licence(book.collection, metadata, parts),
        sections=tuple(body.sections),
        passages=tuple(body.passages),
        figures=tuple(
            replace(
                figure,
                caption_xrefs=_located(figure.caption_xrefs),
                rights=figure_rights(figure.caption),
            )
            for figure in body.figures
        ),
        tables=tuple(body.tables),
        boxes=boxes,
        continuations=continuations,
        book=raw.book,
        flags=tuple(sorted(flags)),
        is_synthetic=raw.is_synthetic,
        raw_sha256=raw.sha256,
    )


def _located(xrefs: tuple[Xref, ...]) -> tuple[Xref, ...]:
    """Targets written as `document#id` taken apart."""
    return tuple(_taken_apart(xref) if "#" in "".join(xref.rids) else xref for xref in xrefs)


def _taken_apart(xref: Xref) -> Xref:
    document, _, target = xref.rids[0].partition("#")
    return replace(xref, document=document, rids=(target,) if target else ())


def _texts(metadata: Element | None, path: str) -> tuple[str, ...]:
    found = [all_text(each) for each in metadata.iterfind(path)] if metadata is not None else []
    return tuple(text for text in found if text)


def _keywords(metadata: Element | None, language: str) -> tuple[KeywordGroup, ...]:
    terms = _texts(metadata, "keywordlist/keyword")
    return (KeywordGroup(language=language, type="", terms=terms),) if terms else ()


def _boxes(
    document: str, raw: RawArticle, book: Book, boxes: list[Box]
) -> tuple[tuple[Box, ...], tuple[Continuation, ...], bool]:
    """Boxes with what they go on from, later passages of stories begun here, if a beginning is missing."""
    found = stories(document, book.library)
    numbers = {box.xml_id: box.number for box in reversed(boxes) if box.xml_id}
    own = {key: story for key, story in found.items() if key[0] == document and key[1] in numbers}
    linked = tuple(
        replace(box, continues=numbers.get(story.before[1], 0))
        if box.xml_id
        and (story := own.get((document, box.xml_id))) is not None
        and story.before is not None
        and story.before[0] == document
        else box
        for box in boxes
    )
    begun = [story for story in own.values() if story.before is None and not story.starts_elsewhere]
    later = _Later(raw, book)
    continuations = [
        Continuation(box=numbers[story.key[1]], document=book.article_id(other.key[0]), passage=passage)
        for story in begun
        for other in sequel(story, found)
        if other.key[0] != document
        for passage in later.passages(other)
    ]
    is_torn = any(beginning(story, found).starts_elsewhere for story in own.values())
    return linked, tuple(continuations), is_torn


class _Later:
    """Passages of boxes in other modules, each module read once."""

    def __init__(self, raw: RawArticle, book: Book) -> None:
        self._raw = replace(raw, media=())
        self._book = book
        self._bodies: dict[str, BodyReader] = {}

    def passages(self, story: Story) -> list[ArticlePassage]:
        """The passages of one box, [] for one the reader left out."""
        document, xml_id = story.key
        if document not in self._bodies:
            self._bodies[document] = _read(self._book, document, self._raw).body
        body = self._bodies[document]
        box = next((box.number for box in body.boxes if box.xml_id == xml_id), 0)
        return [passage for passage in body.passages if box and passage.box == box]
