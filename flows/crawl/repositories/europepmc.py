"""Europe PMC as a repository: open access articles by a file of PMCIDs or by a query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from flows.crawl.locators import read_ids
from flows.crawl.repositories.base import (
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
from sources import europepmc

IMAGE_SECONDS = 300.0
"""Wait for the next bytes when images are wanted: the server packs them on demand."""


class EuropePmcRequest(CrawlRequest):
    """Fetch open access articles from Europe PMC by PMCID or query."""

    source: ClassVar[SourceName] = "europepmc"

    ids: Annotated[Path | None, SpecKey("europepmc_ids", path="always")] = Field(
        default=None, description="Text file of PMCIDs, one a line, # for comments."
    )
    query: str = Field(default="", description="Search in Europe PMC's own syntax, instead of a file.")
    images: bool = Field(default=False, description="Fetch figures' images too (slow).")
    annotations: bool = Field(default=False, description="Keep its text-mined annotations.")

    def endpoints(self, settings: Settings) -> tuple[str, ...]:
        """The REST service and the annotations."""
        return (settings.europepmc.endpoint, settings.europepmc.annotations_endpoint)

    def preview(self, settings: Settings) -> Sequence[str] | None:
        """PMCIDs of the id file; what a query finds, only Europe PMC can tell."""
        if (self.ids is None) != bool(self.query.strip()):
            raise UsageError(
                "give a file of PMCIDs or a query", hint="medqrels crawl europepmc --ids FILE, or --query '…'"
            )
        return None if self.ids is None else read_ids(self.ids)

    def open(self, opening: Opening) -> Opened:
        """The articles of the id file or of the query."""
        settings, own = opening.settings, opening.settings.europepmc
        context = europepmc.EuropePmcContext(
            client=polite_client(
                settings,
                self.endpoints(settings),
                per_second=own.requests_per_second,
                connections=own.connections,
                read_seconds=IMAGE_SECONDS if self.images else None,
            ),
            store=opening.store,
            profile=self.profile,
            images=self.images,
            annotations=self.annotations,
            endpoint=own.endpoint,
            annotations_endpoint=own.annotations_endpoint,
            max_xml_bytes=max_xml_bytes(settings),
            max_media_bytes=max_media_bytes(settings),
        )
        notes: tuple[str, ...] = ()
        known = self.preview(settings)
        if known is None:
            found = europepmc.search(self.query, context)
            known = found.pmcids
            notes = (f"Europe PMC: {found.hit_count:,} found, {found.without_pmcid:,} of them not in PMC",)
        return Opened(
            locators=known,
            fetch=lambda locator: europepmc.fetch(locator, context),
            connections=own.connections,
            notes=notes,
        )
