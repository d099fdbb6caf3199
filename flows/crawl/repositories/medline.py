"""PubMed as a repository: abstracts by a file of PMIDs, or out of baseline and update files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from flows.crawl.repositories.base import (
    CrawlRequest,
    Opened,
    Opening,
    as_folder,
    polite_client,
    stored_state,
)
from flows.crawl.repositories.eutils import eutils_context
from flows.engine.settings import Settings
from schemas.errors import UsageError
from sources import medline
from sources.medline import Criteria, MedlineContext

_FOLDERS: Mapping[str, Literal["baseline", "updatefiles"]] = {
    "baseline": "baseline",
    "updatefiles": "updatefiles",
}
FILES_PER_SECOND = 2.0


def endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    """E-utilities for a file of PMIDs, NLM's file server for its folders, nothing for local files."""
    files = request.option("files")
    if not files:
        return (settings.eutils.endpoint,)
    return (settings.medline.endpoint,) if files in _FOLDERS else ()


def preview(request: CrawlRequest, settings: Settings) -> Sequence[str] | None:
    """PMIDs of the id file; what files hold is known when they are read."""
    if request.option("files"):
        if request.option("files") not in _FOLDERS:
            _local_files(request.option("files"))
        if request.target:
            read_pmids(Path(request.target))
        return None
    if not request.target:
        raise UsageError(
            "nothing to crawl",
            hint="medqrels crawl medline --ids FILE, or --files FOLDER|baseline|updatefiles",
        )
    return read_pmids(Path(request.target))


def open_source(request: CrawlRequest, opening: Opening) -> Opened:
    """The records of the id file, or those of the files that are wanted."""
    settings = opening.settings
    pmids = read_pmids(Path(request.target)) if request.target else None
    state = stored_state(opening.store, medline.SOURCE, "record/{}")
    if not request.option("files"):
        context = MedlineContext(store=opening.store, eutils=eutils_context(settings))
        drops = medline.prefetch(pmids or [], context)
        ready = dataclasses.replace(context, drops=drops)
        return Opened(pmids or [], fetch=lambda pmid: medline.fetch(pmid, ready), fingerprint=state)
    context = _of_files(request, opening)
    criteria = Criteria(
        pmids=frozenset(pmids) if pmids is not None else None,
        has_abstract=bool(request.option("abstracts")),
        languages=frozenset(filter(None, request.option("languages").split(","))),
        publication_types=frozenset(filter(None, request.option("types").split(","))),
    )
    chosen = medline.load_files(_files(request, context), criteria, context)
    ready = dataclasses.replace(context, drops=chosen.drops)
    return Opened(
        locators=[*chosen.pmids, *chosen.drops],
        fetch=lambda key: chosen.drops.get(key) or medline.fetch(key, ready),
        fingerprint=state,
    )


def _of_files(request: CrawlRequest, opening: Opening) -> MedlineContext:
    asked = endpoints(request, opening.settings)
    client = polite_client(opening.settings, asked, per_second=FILES_PER_SECOND) if asked else None
    return MedlineContext(store=opening.store, client=client, endpoint=opening.settings.medline.endpoint)


def _files(request: CrawlRequest, context: MedlineContext) -> list[Path]:
    folder = _FOLDERS.get(request.option("files"))
    if folder is None:
        return _local_files(request.option("files"))
    return [medline.fetch_file(name, folder, context) for name in medline.list_files(folder, context)]


def _local_files(target: str) -> list[Path]:
    """Files of a folder, or the one file.

    Raises:
        UsageError: there is none.
    """
    path = as_folder(target)
    found = sorted(path.glob("*.xml.gz")) + sorted(path.glob("*.xml")) if path.is_dir() else [path]
    if not found or not found[0].is_file():
        raise UsageError("no PubMed file there", file=str(path), hint="files end in .xml.gz or .xml")
    return found


def read_pmids(path: Path) -> list[str]:
    """PMIDs of a text file: one a line, `#` starts a comment; in numerical order.

    Raises:
        UsageError: the file cannot be read, is empty, or a line is no PMID.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the id file cannot be read: {error}", file=str(path)) from error
    found = set()
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text and not (text.isascii() and text.isdigit() and 0 < int(text) < 10**10):
            raise UsageError(f"line {number}: not a PMID: {text[:80]!r}", file=str(path))
        if text:
            found.add(str(int(text)))
    if not found:
        raise UsageError("the id file names no record", file=str(path), hint="write one PMID a line")
    return sorted(found, key=int)
