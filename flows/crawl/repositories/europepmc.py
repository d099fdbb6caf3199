"""Europe PMC as a repository: open access articles by a file of PMCIDs or by a query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flows.crawl.locators import read_ids
from flows.crawl.repositories.base import (
    CrawlRequest,
    Opened,
    Opening,
    max_media_bytes,
    max_xml_bytes,
    polite_client,
)
from flows.engine.settings import Settings
from schemas.errors import UsageError
from sources import europepmc

IMAGE_SECONDS = 300.0
"""Wait for the next bytes when images are wanted: the server packs them on demand."""


def endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    """The REST service and the annotations."""
    return (settings.europepmc.endpoint, settings.europepmc.annotations_endpoint)


def preview(request: CrawlRequest, settings: Settings) -> Sequence[str] | None:
    """PMCIDs of the id file; what a query finds, only Europe PMC can tell."""
    query = request.option("query").strip()
    if bool(query) == bool(request.target):
        raise UsageError(
            "give a file of PMCIDs or a query", hint="medqrels crawl europepmc --ids FILE, or --query '…'"
        )
    return None if query else read_ids(Path(request.target))


def open_source(request: CrawlRequest, opening: Opening) -> Opened:
    """The articles of the id file or of the query."""
    settings, own = opening.settings, opening.settings.europepmc
    images = bool(request.option("images"))
    context = europepmc.EuropePmcContext(
        client=polite_client(
            settings,
            endpoints(request, settings),
            per_second=own.requests_per_second,
            connections=own.connections,
            read_seconds=IMAGE_SECONDS if images else None,
        ),
        store=opening.store,
        profile=request.profile,
        images=images,
        annotations=bool(request.option("annotations")),
        endpoint=own.endpoint,
        annotations_endpoint=own.annotations_endpoint,
        max_xml_bytes=max_xml_bytes(settings),
        max_media_bytes=max_media_bytes(settings),
    )
    notes: tuple[str, ...] = ()
    known = preview(request, settings)
    if known is None:
        found = europepmc.search(request.option("query"), context)
        known = found.pmcids
        notes = (f"Europe PMC: {found.hit_count:,} found, {found.without_pmcid:,} of them not in PMC",)
    return Opened(
        locators=known,
        fetch=lambda locator: europepmc.fetch(locator, context),
        connections=own.connections,
        notes=notes,
    )
