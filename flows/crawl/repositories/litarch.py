"""NCBI Bookshelf (LitArch) as a repository: chapters of one book."""

from __future__ import annotations

from collections.abc import Sequence

from flows.crawl.repositories.base import (
    MIB,
    CrawlRequest,
    Opened,
    Opening,
    max_media_bytes,
    max_xml_bytes,
    polite_client,
)
from flows.engine.settings import Settings
from schemas.errors import UsageError
from sources import litarch


def endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    """The package tree and the OAI service."""
    return (settings.litarch.endpoint, settings.litarch.oai_endpoint)


def preview(request: CrawlRequest, settings: Settings) -> Sequence[str] | None:
    """Only the book's package tells its chapters."""
    if not request.target.strip():
        raise UsageError("crawl litarch needs a book", hint="medqrels crawl litarch NBK547852")
    return None


def open_source(request: CrawlRequest, opening: Opening) -> Opened:
    """Every chapter of the book; its package is downloaded once and read from disk."""
    settings = opening.settings
    context = litarch.LitarchContext(
        client=polite_client(
            settings, endpoints(request, settings), per_second=settings.litarch.requests_per_second
        ),
        store=opening.store,
        endpoint=settings.litarch.endpoint,
        oai_endpoint=settings.litarch.oai_endpoint,
        max_archive_bytes=settings.litarch.max_archive_mib * MIB,
        max_xml_bytes=max_xml_bytes(settings),
        max_media_bytes=max_media_bytes(settings),
    )
    return Opened(
        locators=litarch.chapters(request.target, context),
        fetch=lambda locator: litarch.fetch(locator, context),
    )
