"""The PMC Cloud Service as a repository: articles by a file of PMCIDs."""

from __future__ import annotations

from pathlib import Path

from flows.locators import read_ids
from flows.repositories.base import CrawlRequest, Opened, Opening, limits, polite_client
from flows.settings import Settings
from sources import pmc


def endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    """The bucket."""
    return (settings.pmc.endpoint,)


def preview(request: CrawlRequest, settings: Settings) -> list[str]:
    """PMCIDs of the id file."""
    return read_ids(Path(request.target))


def open_source(request: CrawlRequest, opening: Opening) -> Opened:
    """The articles of the id file."""
    settings = opening.settings
    context = pmc.PmcContext(
        client=polite_client(
            settings,
            [settings.pmc.endpoint],
            per_second=settings.pmc.requests_per_second,
            connections=settings.pmc.connections,
        ),
        store=opening.store,
        profile=request.profile,
        endpoint=settings.pmc.endpoint,
        **limits(settings),
    )
    return Opened(
        locators=read_ids(Path(request.target)),
        fetch=lambda locator: pmc.fetch(locator, context),
        connections=settings.pmc.connections,
    )
