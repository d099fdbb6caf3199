"""NCBI Bookshelf's open access books (NLM LitArch): one chapter is one article.

A locator is `NBK1/<chapter file>`, of a package (https://ftp.ncbi.nlm.nih.gov/pub/litarch/), or `oai/NBK2`, a
record of the Books OAI-PMH service. A package is fetched and read once, until the file list dates it anew.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from schemas.article import MediaProblem, RawArticle
from schemas.errors import FetchError, InputError, UsageError
from schemas.ids import repository_id
from schemas.stages import Drop, Reason
from sources.drops import UNFETCHED, drop, drop_of
from sources.graphics import scan
from sources.litarch.books import (
    ENDPOINT,
    OAI_ENDPOINT,
    SOURCE,
    Book,
    LitarchContext,
    file_list,
    find_book,
)
from sources.litarch.oai import Record, oai_record, oai_records
from sources.litarch.package import chapters_of

__all__ = [
    "ENDPOINT",
    "OAI_ENDPOINT",
    "SOURCE",
    "Book",
    "LitarchContext",
    "Record",
    "chapters",
    "fetch",
    "file_list",
    "find_book",
    "oai_record",
    "oai_records",
]
_OAI = "oai/"
_log = logging.getLogger("medqrels.sources.litarch")


def chapters(wanted: str, context: LitarchContext) -> list[str]:
    """Locators of a book's chapters, sorted; the package is fetched for it if it is not held.

    Args:
        wanted: accession, name or path in the file list.
        context: client, store and limits.

    Returns:
        One locator per chapter file. The book's own key alone when its package cannot be used: fetching that
        gives the reason.

    Raises:
        UsageError: no such book, or several.
        FetchError: the file list or the package is not delivered.
    """
    book = find_book(wanted, file_list(context))
    try:
        found = _chapters(book, context)
    except InputError as error:
        _log.warning("%s: the package of the book cannot be used: %s", book.key, error.message)
        return [book.key]
    return sorted(f"{book.key}/{name}" for name in found) or [book.key]


def fetch(locator: str, context: LitarchContext) -> RawArticle | Drop:
    """Fetch one chapter: from its book's package, or as a record of the OAI service.

    The result depends only on what the repository holds; a failure that may pass is `fetch_failed`.

    Args:
        locator: as :func:`chapters` gives it, or `oai/NBK2`.
        context: client, store and limits.

    Returns:
        The stored chapter, or the reason why there is none; `Drop.id` is the locator.
    """
    try:
        if locator.startswith(_OAI):
            return _from_oai(locator, context)
        return _from_package(locator, context)
    except UNFETCHED as error:
        return drop_of(locator, error)
    except UsageError as error:  # the book has left the list since it was selected
        return drop(locator, Reason.NOT_FOUND, error.message)


def _chapters(book: Book, context: LitarchContext) -> Mapping[str, RawArticle | str]:
    with context.memory.lock:
        if book.key not in context.memory.chapters:
            context.memory.chapters[book.key] = chapters_of(book, context)
        return context.memory.chapters[book.key]


def _from_package(locator: str, context: LitarchContext) -> RawArticle:
    key, _, name = locator.partition("/")
    book = find_book(key, file_list(context))
    found = _chapters(book, context)
    if not found:
        raise InputError("the package holds no chapter", reason=Reason.NO_BODY.value, record=key)
    chapter = found.get(name)
    if chapter is None:
        what = "the package no longer holds this chapter" if name else "a book is taken chapter by chapter"
        raise InputError(what, reason=Reason.NOT_FOUND.value, record=locator)
    if isinstance(chapter, str):
        raise InputError(chapter, reason=Reason.TOO_LARGE.value, record=locator)
    return chapter


def _from_oai(locator: str, context: LitarchContext) -> RawArticle:
    held = oai_record(locator.removeprefix(_OAI), context)
    data = context.store.read(held)
    if data is None:
        raise FetchError("the stored record changed while it was read", record=locator, file=held.path)
    found = scan(data)
    problems = [
        MediaProblem(name=href, reason="image_missing", detail="the OAI service gives no images")
        for href in sorted(found.hrefs)
    ]
    return RawArticle(
        id=repository_id(SOURCE, held.key.removeprefix("oai:")),
        source="litarch",
        format="bits",
        locator=locator,
        path=held.path,
        sha256=held.sha256,
        media_problems=tuple(problems),
        is_synthetic=found.is_synthetic,
    )
