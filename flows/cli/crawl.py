"""`medqrels crawl SOURCE`: one function per repository; they only turn options into a request."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from flows.cli.common import DEFAULT, OK, Common, DryRun, emit, with_progress

if TYPE_CHECKING:  # they load pyarrow, which `medqrels --help` does not need
    from schemas.article import SourceName
    from schemas.licences import Profile

crawl_app = App(name="crawl", help="Fetch articles into the workspace.", help_format="plaintext")

Licences = Annotated[Literal["open", "noncommercial"], Parameter(help="Licences to accept.")]


@crawl_app.command(name="pmc")
def crawl_pmc(
    *,
    ids: Annotated[Path | None, Parameter(help="Text file of PMCIDs, one a line, # for comments.")] = None,
    query: Annotated[str, Parameter(help="Search of PMC, in its own syntax, instead of a file.")] = "",
    since: Annotated[str, Parameter(help="First PMC release date of the query, 2024-01-31.")] = "",
    until: Annotated[str, Parameter(help="Last PMC release date of the query.")] = "",
    limit: Annotated[int | None, Parameter(help="Most articles of the query: those released first.")] = None,
    refresh: Annotated[bool, Parameter(negative="", help="Ask the query anew, not its record.")] = False,
    sync: Annotated[
        bool, Parameter(negative="", help="Crawl again what the inventory shows changed.")
    ] = False,
    poll: Annotated[
        bool, Parameter(negative="", help="As --sync, asking the bucket for every article.")
    ] = False,
    profile: Licences = "open",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Fetch articles from the PMC Cloud Service by PMCID or query, or bring those fetched up to date."""
    options: dict[str, object] = {
        "query": query,
        "since": since,
        "until": until,
        "limit": limit,
        "refresh": refresh,
        "sync": sync,
        "poll": poll,
    }
    return _crawl("pmc", str(ids) if ids else "", profile, options, dry_run, common)


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


@crawl_app.command(name="europepmc")
def crawl_europepmc(
    *,
    ids: Annotated[Path | None, Parameter(help="Text file of PMCIDs, one a line, # for comments.")] = None,
    query: Annotated[str, Parameter(help="Search in Europe PMC's own syntax, instead of a file.")] = "",
    images: Annotated[bool, Parameter(negative="", help="Fetch figures' images too (slow).")] = False,
    annotations: Annotated[bool, Parameter(negative="", help="Keep its text-mined annotations.")] = False,
    profile: Licences = "open",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Fetch open access articles from Europe PMC by PMCID or query."""
    options = {"query": query, "images": images, "annotations": annotations}
    return _crawl("europepmc", str(ids) if ids else "", profile, options, dry_run, common)


@crawl_app.command(name="medline")
def crawl_medline(
    *,
    ids: Annotated[Path | None, Parameter(help="Text file of PMIDs, one a line, # for comments.")] = None,
    files: Annotated[
        str, Parameter(help="PubMed files: a folder or file, or baseline or updatefiles of NLM's server.")
    ] = "",
    languages: Annotated[str, Parameter(help="Of the files: languages to keep, en,fr.")] = "",
    types: Annotated[str, Parameter(help="Of the files: publication types to keep, Case Reports,….")] = "",
    abstracts: Annotated[
        bool, Parameter(negative="", help="Of the files: only records with an abstract.")
    ] = False,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Fetch PubMed records: abstracts, MeSH, titles and abstracts in other languages; never released."""
    options = {"files": files, "languages": languages, "types": types, "abstracts": abstracts}
    return _crawl("medline", str(ids) if ids else "", "open", options, dry_run, common)


@crawl_app.command(name="litarch")
def crawl_litarch(
    book: Annotated[str, Parameter(help="Accession (NBK547852) or name (livertox) of the book.")],
    /,
    *,
    profile: Licences = "open",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Fetch the chapters of one open access book of NCBI Bookshelf."""
    return _crawl("litarch", book, profile, {}, dry_run, common)


@crawl_app.command(name="openstax")
def crawl_openstax(
    repository: Annotated[str, Parameter(help="Folder of a checkout, or OWNER/REPOSITORY on GitHub.")],
    /,
    *,
    ref: Annotated[str, Parameter(help="Commit, tag or branch; a full commit is reproducible.")] = "HEAD",
    profile: Licences = "open",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Take the modules of OpenStax books (CNXML)."""
    return _crawl("openstax", repository, profile, {"ref": ref}, dry_run, common)


@crawl_app.command(name="wikimedia")
def crawl_wikimedia(
    dump: Annotated[str, Parameter(help="Dump file, folder of them, or WIKI/YYYYMMDD (enwiki/20261101).")],
    /,
    *,
    titles: Annotated[Path | None, Parameter(help="Text file of page titles, one a line.")] = None,
    templates: Annotated[str, Parameter(help="Pages that use one of these templates: Infobox drug,….")] = "",
    categories: Annotated[str, Parameter(help="Pages in one of these categories: Skin conditions,….")] = "",
    text_only: Annotated[bool, Parameter(negative="", help="Leave images out; asks no server.")] = False,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Take medical pages of a Wikipedia dump, with images from Commons; by default, pages on diseases."""
    options = {
        "titles": titles,
        "templates": templates,
        "categories": categories,
        "text_only": text_only,
    }
    return _crawl("wikimedia", dump, "open", options, dry_run, common)


@crawl_app.command(name="questions")
def crawl_questions(
    path: Annotated[Path, Parameter(help="File of questions, its sidecar, or a folder of them.")],
    /,
    *,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Take question collections (JSON Lines or JSON with a sidecar, docs/questions.md)."""
    return _crawl("questions", str(path), "open", {}, dry_run, common)


def _crawl(
    source: SourceName,
    target: str,
    profile: Profile,
    options: Mapping[str, object],
    dry_run: bool,
    common: Common,
) -> int:
    from flows.crawl.repositories import CrawlRequest, check_request
    from flows.engine.settings import load_settings

    given = {name: str(value) for name, value in options.items() if value not in (None, "", False)}
    request = CrawlRequest(source, target, profile, given)
    if dry_run:
        from flows.inspect.preview import preview_crawl

        result = preview_crawl(request, common.root)
        if result is None:
            emit(common, result, f"would ask {source} what there is, record it, and fetch it")
        else:
            known = f"{result['known']} are selected already"
            emit(common, result, f"would fetch {result['new']} new articles; {known}")
        return OK
    check_request(request, load_settings(workspace=common.root))
    from flows.crawl.flow import crawl

    emit(common, with_progress(common, lambda: crawl(source, target, common.root, profile, given)), "")
    return OK
