"""The PMC Cloud Service as a repository: articles by a file of PMCIDs, by a query, or selected before."""

from __future__ import annotations

from pathlib import Path

from flows.crawl.locators import read_ids
from flows.crawl.pmc_selection import PmcQuery, select_query, selected_pmcids
from flows.crawl.pmc_sync import repoll, shard_token, sync, withdrawing
from flows.crawl.repositories.base import (
    CrawlRequest,
    Opened,
    Opening,
    max_media_bytes,
    max_xml_bytes,
    polite_client,
)
from flows.crawl.repositories.eutils import eutils_context
from flows.engine.settings import Settings
from schemas.errors import UsageError
from sources import pmc

_OF_QUERIES = ("since", "until", "limit", "refresh")


def endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    """The bucket; for a query E-utilities too."""
    return (settings.pmc.endpoint, *((settings.eutils.endpoint,) if request.option("query") else ()))


def preview(request: CrawlRequest, settings: Settings) -> list[str] | None:
    """PMCIDs of the id file; what a query or a sync finds, only PMC can tell."""
    query = _query(request)
    if query is not None:
        query.check()
    if request.target:
        return read_ids(Path(request.target))
    return None


def open_source(request: CrawlRequest, opening: Opening) -> Opened:
    """The articles of the id file, of the query, or all that were selected before (a sync)."""
    settings, workspace = opening.settings, opening.workspace
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
        max_xml_bytes=max_xml_bytes(settings),
        max_media_bytes=max_media_bytes(settings),
    )
    query = _query(request)
    notes: list[str] = []
    if query is not None:
        # A sync asks the query anew: an article licensed or loaded late has an old release date.
        is_anew = bool(request.option("refresh") or request.option("sync") or request.option("poll"))
        asked = select_query(workspace, query, eutils_context(settings), refresh=is_anew)
        locators = list(asked.pmcids)
        notes += [f"PMC on the query: {warning}" for warning in asked.warnings]
    else:
        locators = read_ids(Path(request.target)) if request.target else selected_pmcids(workspace)
    if request.option("sync"):
        notes.append(sync(workspace, context).line())
    elif request.option("poll"):
        notes.append(repoll(workspace, context, settings.pmc.connections).line())
    return Opened(
        locators=locators,
        fetch=withdrawing(lambda locator: pmc.fetch(locator, context), workspace),
        connections=settings.pmc.connections,
        fingerprint=lambda selection: shard_token(workspace, selection),
        notes=tuple(notes),
    )


def _query(request: CrawlRequest) -> PmcQuery | None:
    """The query of a request, None when it has none.

    Raises:
        UsageError: options that contradict each other.
    """
    query, follows = request.option("query"), request.option("sync") or request.option("poll")
    if query and request.target:
        raise UsageError("give a file of PMCIDs or a query, not both")
    if not query and not request.target and not follows:
        raise UsageError("nothing to crawl", hint="medqrels crawl pmc --ids FILE, --query '…' or --sync")
    if request.option("sync") and request.option("poll"):
        raise UsageError("--sync reads the inventory, --poll asks the bucket: choose one")
    stray = [name for name in _OF_QUERIES if request.option(name) and not query]
    if stray:
        raise UsageError(f"--{stray[0]} belongs to --query")
    if not query:
        return None
    limit = request.option("limit")
    return PmcQuery(
        query,
        since=request.option("since") or None,
        until=request.option("until") or None,
        limit=int(limit) if limit else None,
        profile=request.profile,
    )
