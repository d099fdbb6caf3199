"""PubMed as a repository: abstracts by a file of PMIDs, or out of baseline and update files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from flows.crawl.locators import read_lines
from flows.crawl.repositories.base import (
    CrawlRequest,
    Opened,
    Opening,
    SpecKey,
    as_folder,
    polite_client,
    stored_state,
)
from flows.crawl.repositories.eutils import eutils_context
from flows.engine.settings import Settings
from schemas.article import SourceName
from schemas.errors import InputError, UsageError
from sources import medline
from sources.medline import Criteria, MedlineContext

_FOLDERS: Mapping[str, Literal["baseline", "updatefiles"]] = {
    "baseline": "baseline",
    "updatefiles": "updatefiles",
}
FILES_PER_SECOND = 2.0


class MedlineRequest(CrawlRequest):
    """Fetch PubMed records: abstracts, MeSH, titles and abstracts in other languages; never released."""

    source: ClassVar[SourceName] = "medline"
    offers_profile: ClassVar[bool] = False

    ids: Annotated[Path | None, SpecKey("medline_ids", path="always")] = Field(
        default=None, description="Text file of PMIDs, one a line, # for comments."
    )
    files: str = Field(
        default="",
        description="PubMed files: a folder or file, or baseline or updatefiles of NLM's server.",
    )
    languages: str = Field(default="", description="Of the files: languages to keep, en,fr.")
    types: str = Field(default="", description="Of the files: publication types to keep, Case Reports,….")
    abstracts: bool = Field(default=False, description="Of the files: only records with an abstract.")

    def endpoints(self, settings: Settings) -> tuple[str, ...]:
        """E-utilities for a file of PMIDs, NLM's file server for its folders, nothing for local files."""
        if not self.files:
            return (settings.eutils.endpoint,)
        return (settings.medline.endpoint,) if self.files in _FOLDERS else ()

    def preview(self, settings: Settings) -> Sequence[str] | None:
        """PMIDs of the id file; what files hold is known when they are read."""
        if not self.files and self.ids is None:
            raise UsageError(
                "nothing to crawl",
                hint="medqrels crawl medline --ids FILE, or --files FOLDER|baseline|updatefiles",
            )
        if self.files and self.files not in _FOLDERS:
            _local_files(self.files)
        pmids = read_pmids(self.ids) if self.ids else None
        return None if self.files else pmids

    def open(self, opening: Opening) -> Opened:
        """The records of the id file, or those of the files that are wanted."""
        settings = opening.settings
        pmids = read_pmids(self.ids) if self.ids else None
        state = stored_state(opening.store, medline.SOURCE, "record/{}")
        if not self.files:
            context = MedlineContext(store=opening.store, eutils=eutils_context(settings))
            drops = medline.prefetch(pmids or [], context)
            ready = dataclasses.replace(context, drops=drops)
            return Opened(pmids or [], fetch=lambda pmid: medline.fetch(pmid, ready), fingerprint=state)
        asked = self.endpoints(settings)
        client = polite_client(settings, asked, per_second=FILES_PER_SECOND) if asked else None
        context = MedlineContext(store=opening.store, client=client, endpoint=settings.medline.endpoint)
        chosen = medline.load_files(self._files(context), self._criteria(pmids), context)
        ready = dataclasses.replace(context, drops=chosen.drops)
        return Opened(
            locators=[*chosen.pmids, *chosen.drops],
            fetch=lambda key: chosen.drops.get(key) or medline.fetch(key, ready),
            fingerprint=state,
        )

    def _criteria(self, pmids: Sequence[str] | None) -> Criteria:
        return Criteria(
            pmids=frozenset(pmids) if pmids is not None else None,
            has_abstract=self.abstracts,
            languages=frozenset(filter(None, self.languages.split(","))),
            publication_types=frozenset(filter(None, self.types.split(","))),
        )

    def _files(self, context: MedlineContext) -> list[Path]:
        folder = _FOLDERS.get(self.files)
        if folder is None:
            return _local_files(self.files)
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
    """PMIDs of a text file, in numerical order.

    Raises:
        UsageError: as :func:`flows.crawl.locators.read_lines`.
    """
    return sorted(set(read_lines(path, _pmid, "PMID", "PMID")), key=int)


def _pmid(text: str) -> str:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**10):
        raise InputError(f"not a PMID: {text[:80]!r}")
    return str(int(text))
