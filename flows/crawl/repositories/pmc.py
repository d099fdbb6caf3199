"""The PMC Cloud Service as a repository: articles by a file of PMCIDs, by a query, or selected before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from flows.crawl.locators import read_ids
from flows.crawl.pmc_selection import PmcQuery, select_query, selected_pmcids
from flows.crawl.repositories.base import (
    Changes,
    CrawlRequest,
    Opened,
    Opening,
    SpecKey,
    max_media_bytes,
    max_xml_bytes,
    polite_client,
)
from flows.crawl.repositories.eutils import eutils_context
from flows.engine.settings import Settings
from schemas.article import SourceName
from schemas.errors import UsageError
from sources import pmc

_DAY = r"^\d{4}-\d{2}-\d{2}$"
_OF_QUERIES = ("since", "until", "limit", "refresh")


class PmcRequest(CrawlRequest):
    """Fetch articles from the PMC Cloud Service by PMCID or query, or bring those fetched up to date."""

    source: ClassVar[SourceName] = "pmc"

    ids: Annotated[Path | None, SpecKey("pmc_ids", path="always")] = Field(
        default=None, description="Text file of PMCIDs, one a line, # for comments."
    )
    query: Annotated[str, SpecKey("pmc_query")] = Field(
        default="", description="Search of PMC, in its own syntax, instead of a file."
    )
    since: Annotated[str, SpecKey("pmc_since", along="query")] = Field(
        default="", pattern=_DAY, description="First PMC release date of the query, 2024-01-31."
    )
    until: Annotated[str, SpecKey("pmc_until", along="query")] = Field(
        default="", pattern=_DAY, description="Last PMC release date of the query."
    )
    limit: Annotated[int | None, SpecKey("pmc_limit", along="query")] = Field(
        default=None, ge=1, description="Most articles of the query: those released first."
    )
    refresh: bool = Field(default=False, description="Ask the query anew, not its record.")
    sync: bool = Field(
        default=False, description="Crawl again what the inventory shows changed; without one, as --poll."
    )
    poll: bool = Field(default=False, description="As --sync, asking the bucket for every article.")
    as_of: str = Field(
        default="",
        pattern=rf"^$|{_DAY}",
        description="Day the crawl stands for: later articles of the query and inventories do not count.",
    )

    def brought_up_to_date(self, changes: Changes, as_of: str) -> PmcRequest:
        """The same articles, those that changed since asked for again, as things stood on a day."""
        return self.model_copy(
            update={"sync": changes == "inventory", "poll": changes == "poll", "as_of": as_of}
        )

    def endpoints(self, settings: Settings) -> tuple[str, ...]:
        """The bucket; for a query E-utilities too."""
        return (settings.pmc.endpoint, *((settings.eutils.endpoint,) if self.query else ()))

    def preview(self, settings: Settings) -> list[str] | None:
        """PMCIDs of the id file; what a query or a sync finds, only PMC can tell."""
        query = self._query()
        if query is not None:
            query.check()
        return read_ids(self.ids) if self.ids else None

    def open(self, opening: Opening) -> Opened:
        """The articles of the id file, of the query, or all that were selected before (a sync)."""
        from flows.crawl.pmc_sync import (
            shard_token,
            withdrawing,
        )  # they load DuckDB, which --help does not need

        settings, workspace = opening.settings, opening.workspace
        context = pmc.PmcContext(
            client=polite_client(
                settings,
                [settings.pmc.endpoint],
                per_second=settings.pmc.requests_per_second,
                connections=settings.pmc.connections,
            ),
            store=opening.store,
            profile=self.profile,
            endpoint=settings.pmc.endpoint,
            max_xml_bytes=max_xml_bytes(settings),
            max_media_bytes=max_media_bytes(settings),
        )
        locators, notes = self._chosen(opening)
        return Opened(
            locators=locators,
            fetch=withdrawing(lambda locator: pmc.fetch(locator, context), workspace),
            connections=settings.pmc.connections,
            fingerprint=lambda selection: shard_token(workspace, selection),
            notes=(*notes, *self._brought_up_to_date(opening, context)),
        )

    def _chosen(self, opening: Opening) -> tuple[list[str], list[str]]:
        """What to crawl, and what is to be told of the choice."""
        query = self._query()
        if query is None:
            return read_ids(self.ids) if self.ids else selected_pmcids(opening.workspace), []
        # A sync asks the query anew: an article licensed or loaded late has an old release date.
        is_anew = self.refresh or self.sync or self.poll
        eutils = eutils_context(opening.settings)
        asked = select_query(opening.workspace, query, eutils, refresh=is_anew)
        return list(asked.pmcids), [f"PMC on the query: {warning}" for warning in asked.warnings]

    def _brought_up_to_date(self, opening: Opening, context: pmc.PmcContext) -> list[str]:
        from flows.crawl.pmc_sync import NoInventory, repoll, sync

        if not (self.sync or self.poll):
            return []
        told = []
        if self.sync:
            try:
                return [sync(opening.workspace, context, until=self.as_of).line()]
            except NoInventory as error:
                told = [f"{error.message}: every article is asked for"]
        return [*told, repoll(opening.workspace, context, opening.settings.pmc.connections).line()]

    def _query(self) -> PmcQuery | None:
        """The query of a request, None when it has none.

        Raises:
            UsageError: options that contradict each other.
        """
        if self.query and self.ids:
            raise UsageError("give a file of PMCIDs or a query, not both")
        if not (self.query or self.ids or self.sync or self.poll):
            raise UsageError("nothing to crawl", hint="medqrels crawl pmc --ids FILE, --query '…' or --sync")
        if self.sync and self.poll:
            raise UsageError("--sync reads the inventory, --poll asks the bucket: choose one")
        stray = [name for name in _OF_QUERIES if getattr(self, name) and not self.query]
        if stray:
            raise UsageError(f"--{stray[0]} belongs to --query")
        if not self.query:
            return None
        since, until = self.since or None, min(filter(None, (self.until, self.as_of)), default=None)
        return PmcQuery(self.query, since=since, until=until, limit=self.limit, profile=self.profile)
