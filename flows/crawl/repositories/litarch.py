"""NCBI Bookshelf (LitArch) as a repository: chapters of one book."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from flows.crawl.repositories.base import (
    MIB,
    CrawlRequest,
    Opened,
    Opening,
    SpecKey,
    max_media_bytes,
    max_xml_bytes,
    polite_client,
)
from flows.engine.settings import Settings
from schemas.article import SourceName
from schemas.errors import UsageError
from sources import litarch


class LitarchRequest(CrawlRequest):
    """Fetch the chapters of one open access book of NCBI Bookshelf."""

    source: ClassVar[SourceName] = "litarch"

    book: Annotated[str, SpecKey("litarch", many=True)] = Field(
        description="Accession (NBK547852) or name (livertox) of the book."
    )

    def endpoints(self, settings: Settings) -> tuple[str, ...]:
        """The package tree and the OAI service."""
        return (settings.litarch.endpoint, settings.litarch.oai_endpoint)

    def preview(self, settings: Settings) -> None:
        """Only the book's package tells its chapters."""
        if not self.book.strip():
            raise UsageError("crawl litarch needs a book", hint="medqrels crawl litarch NBK547852")

    def open(self, opening: Opening) -> Opened:
        """Every chapter of the book; its package is downloaded once and read from disk."""
        settings = opening.settings
        context = litarch.LitarchContext(
            client=polite_client(
                settings, self.endpoints(settings), per_second=settings.litarch.requests_per_second
            ),
            store=opening.store,
            endpoint=settings.litarch.endpoint,
            oai_endpoint=settings.litarch.oai_endpoint,
            max_archive_bytes=settings.litarch.max_archive_mib * MIB,
            max_xml_bytes=max_xml_bytes(settings),
            max_media_bytes=max_media_bytes(settings),
        )
        return Opened(
            locators=litarch.chapters(self.book, context),
            fetch=lambda locator: litarch.fetch(locator, context),
        )
