"""Which PMC articles a query selects, written down before anything is fetched.

The same command finds the record and asks nothing; `refresh` asks anew. Records lie beside the crawl shards'
own, named by what was asked, so two queries never share one.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from flows.crawl.selection import STAGE, selections
from flows.engine.workspace import Workspace, write_atomic
from schemas.errors import UsageError, WorkspaceError
from schemas.hashing import canonical_json, sha256_text
from schemas.licences import Profile
from sources.eutils import EutilsContext
from sources.pmc.search import Slice, full_term, period, search_pmc

QUERIES = "queries"


@dataclass(frozen=True, slots=True)
class PmcQuery:
    """What was asked: query, release dates (ISO, inclusive, None for open), most articles, licences."""

    query: str
    since: str | None = None
    until: str | None = None
    limit: int | None = None
    profile: Profile = "open"

    @property
    def name(self) -> str:
        """Name of its record: equal questions have equal names."""
        return f"pmc-{sha256_text(canonical_json(asdict(self.normalised())))[:12]}"

    def check(self) -> None:
        """Find what is wrong with a question before anybody is asked.

        Raises:
            UsageError: empty or unbalanced query, invalid dates or limit.
        """
        full_term(self.query, self.profile)
        period(self.since, self.until)
        if self.limit is not None and self.limit < 1:
            raise UsageError("a limit is at least 1")

    def normalised(self) -> PmcQuery:
        """The same question with single spaces."""
        return replace(self, query=" ".join(self.query.split()))


@dataclass(frozen=True, slots=True)
class RecordedQuery:
    """A recorded selection; the fields after `asked` are those of :class:`sources.pmc.search.SearchResult`.

    `pmcids` are in the order of their numbers. A record says nothing of when it was asked: the same answers
    give the same bytes.
    """

    name: str
    asked: PmcQuery
    term: str
    query_translation: str
    count: int
    undated: int
    pmcids: tuple[str, ...]
    slices: tuple[Slice, ...]
    warnings: tuple[str, ...]


def select_query(
    workspace: Workspace, asked: PmcQuery, context: EutilsContext, *, refresh: bool = False
) -> RecordedQuery:
    """The articles of a query: as recorded, or asked and recorded now.

    Args:
        workspace: where the record is kept.
        asked: the question.
        context: how to reach E-utilities; not used when the record stands.
        refresh: ask anew and replace the record. Articles it found before stay selected in the workspace.

    Raises:
        UsageError: as :func:`sources.pmc.search.search_pmc`, or nothing matches (and nothing is recorded).
        FetchError: E-utilities does not answer.
        WorkspaceError: the record is damaged.
    """
    found = None if refresh else recorded(workspace, asked)
    if found is not None:
        return found
    result = search_pmc(
        asked.query,
        context,
        since=asked.since,
        until=asked.until,
        limit=asked.limit,
        profile=asked.profile,
    )
    if not result.pmcids:
        raise UsageError(
            "no article matches the query",
            record=result.term,
            hint="widen the query or its dates; only open access articles of the profile's licences count",
        )
    made = RecordedQuery(
        asked.name,
        asked.normalised(),
        result.term,
        result.query_translation,
        result.count,
        result.undated,
        result.pmcids,
        result.slices,
        result.warnings,
    )
    body = json.dumps({"pmc_query": asdict(made)}, indent=1, sort_keys=True, ensure_ascii=False)
    write_atomic(_path(workspace, made.name), f"{body}\n".encode("utf-8", "surrogateescape"))
    return made


def recorded(workspace: Workspace, asked: PmcQuery) -> RecordedQuery | None:
    """The record of a question, None when it was never answered.

    Raises:
        WorkspaceError: the record is damaged.
    """
    path = _path(workspace, asked.name)
    return _read(path) if path.is_file() else None


def selected_pmcids(workspace: Workspace) -> list[str]:
    """Every PMCID selected in the workspace, sorted: what a sync without ids or query goes over.

    Raises:
        UsageError: none is.
    """
    found = sorted(
        {locator for item in selections(workspace) if item.source == "pmc" for locator in item.locators}
    )
    if not found:
        raise UsageError(
            "no PMC article has been selected in this workspace yet",
            file=str(workspace.root),
            hint="medqrels crawl pmc --ids FILE, or --query '…'",
        )
    return found


def _path(workspace: Workspace, name: str) -> Path:
    return workspace.stage(STAGE) / QUERIES / f"{name}.json"


def _read(path: Path) -> RecordedQuery:
    try:
        fields = json.loads(path.read_text("utf-8", "surrogateescape"))["pmc_query"]
        found = RecordedQuery(
            **{
                **fields,
                "asked": PmcQuery(**fields["asked"]),
                "pmcids": tuple(fields["pmcids"]),
                "slices": tuple(Slice(**item) for item in fields["slices"]),
                "warnings": tuple(fields["warnings"]),
            }
        )
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError(
            "a recorded query is damaged", file=str(path), hint="crawl again with --refresh"
        ) from error
    if path.stem != found.name or found.name != found.asked.name:
        raise WorkspaceError(
            "a recorded query does not match its file name", file=str(path), hint="crawl with --refresh"
        )
    return found
