"""A spec's [sources] table as crawl requests; paths in it are relative to the spec file."""

from __future__ import annotations

from pathlib import Path

from flows.crawl.repositories import CrawlRequest
from schemas.errors import UsageError
from schemas.spec import DatasetSpec


def requests_of(spec: DatasetSpec, path: Path) -> list[CrawlRequest]:
    """One request per key and entry of [sources], in the order of the keys.

    Args:
        spec: the dataset.
        path: its spec.toml.

    Raises:
        UsageError: the spec names no source.
    """
    wanted = spec.sources
    base = path.parent
    profile = spec.licence_profile
    found: list[CrawlRequest] = []
    if wanted.pmc_ids:
        found.append(CrawlRequest("pmc", str(base / wanted.pmc_ids), profile))
    if wanted.pmc_query:
        options = {"query": wanted.pmc_query, "since": wanted.pmc_since, "until": wanted.pmc_until}
        limit = {"limit": str(wanted.pmc_limit)} if wanted.pmc_limit else {}
        given = {name: value for name, value in options.items() if value} | limit
        found.append(CrawlRequest("pmc", "", profile, given))
    found += [CrawlRequest("folder", str(base / name), profile) for name in wanted.folders]
    if wanted.europepmc_ids:
        found.append(CrawlRequest("europepmc", str(base / wanted.europepmc_ids), profile))
    found += [CrawlRequest("litarch", name, profile) for name in wanted.litarch]
    found += [CrawlRequest("openstax", _place(name, base), profile) for name in wanted.openstax]
    if wanted.medline_ids:
        found.append(CrawlRequest("medline", str(base / wanted.medline_ids), profile))
    found += [CrawlRequest("wikimedia", _place(name, base), profile) for name in wanted.wikimedia]
    found += [CrawlRequest("questions", str(base / name), profile) for name in wanted.questions]
    if not found:
        raise UsageError(
            "the spec names no source", file=str(path), hint="set pmc_ids or folders under [sources]"
        )
    return found


def _place(name: str, base: Path) -> str:
    """A path beside the spec when there is one of that name, else the name or address itself."""
    beside = base / name
    return str(beside) if beside.exists() else name
