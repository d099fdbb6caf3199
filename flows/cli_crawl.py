"""`medqrels crawl SOURCE`: one function per repository; they only turn options into a request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from flows.cli_common import DEFAULT, OK, Common, DryRun, emit, with_progress
from schemas.article import SourceName
from schemas.licences import Profile

crawl_app = App(name="crawl", help="Fetch articles into the workspace.", help_format="plaintext")

Licences = Annotated[Literal["open", "noncommercial"], Parameter(help="Licences to accept.")]


@crawl_app.command(name="pmc")
def crawl_pmc(
    *,
    ids: Annotated[Path, Parameter(help="Text file of PMCIDs, one a line, # for comments.")],
    profile: Licences = "open",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Fetch articles from the PMC Cloud Service by PMCID."""
    return _crawl("pmc", str(ids), profile, {}, dry_run, common)


@crawl_app.command(name="folder")
def crawl_folder(
    path: Annotated[Path, Parameter(help="Folder of JATS files with their images beside them.")],
    /,
    *,
    profile: Licences = "open",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Take articles from a folder of JATS files."""
    return _crawl("folder", str(path), profile, {}, dry_run, common)


def _crawl(
    source: SourceName,
    target: str,
    profile: Profile,
    options: dict[str, str | int | None],
    dry_run: bool,
    common: Common,
) -> int:
    from flows.repositories import CrawlRequest, check_request
    from flows.settings import load_settings

    given = {name: str(value) for name, value in options.items() if value not in (None, "", False)}
    request = CrawlRequest(source, target, profile, given)
    if dry_run:
        from flows.preview import preview_crawl

        result = preview_crawl(request, common.root)
        if result is None:
            emit(common, result, f"would ask {source} what there is, record it, and fetch it")
        else:
            known = f"{result['known']} are selected already"
            emit(common, result, f"would fetch {result['new']} new articles; {known}")
        return OK
    check_request(request, load_settings(workspace=common.root))
    from flows.crawl import crawl

    emit(common, with_progress(common, lambda: crawl(source, target, common.root, profile, given)), "")
    return OK
