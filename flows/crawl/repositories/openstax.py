"""OpenStax as a repository: the books of a checkout on disk, or of a GitHub repository at one commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from flows.crawl.repositories.base import (
    MIB,
    CrawlRequest,
    Opened,
    Opening,
    SpecKey,
    as_folder,
    max_media_bytes,
    max_xml_bytes,
    polite_client,
)
from flows.engine.settings import Settings
from schemas.article import SourceName
from schemas.errors import UsageError
from schemas.hashing import canonical_json, sha256_file, sha256_text
from sources import openstax
from sources.openstax.checkout import Checkout, GitHubContext, is_repository, open_folder, open_repository

REQUESTS_PER_SECOND = 1.0
"""GitHub allows 60 API requests an hour without a token; a crawl needs one, and one tarball."""


class OpenStaxRequest(CrawlRequest):
    """Take the modules of OpenStax books (CNXML)."""

    source: ClassVar[SourceName] = "openstax"

    repository: Annotated[str, SpecKey("openstax", many=True, path="where there is one")] = Field(
        description="Folder of a checkout, or OWNER/REPOSITORY on GitHub."
    )
    ref: str = Field(default="HEAD", description="Commit, tag or branch; a full commit is reproducible.")

    @property
    def folder(self) -> Path | None:
        """The checkout, None for a repository on GitHub."""
        place = as_folder(self.repository)
        return place if place.is_dir() else None

    @property
    def root(self) -> str:
        """The checkout, or the repository's name."""
        return str(self.folder or self.repository)

    def endpoints(self, settings: Settings) -> tuple[str, ...]:
        """GitHub's API and tarballs; nothing for a checkout on disk."""
        return () if self.folder else (settings.openstax.api_endpoint, settings.openstax.code_endpoint)

    def preview(self, settings: Settings) -> Sequence[str] | None:
        """Modules of a checkout; of a repository only GitHub can tell."""
        if self.folder:
            return _locators(open_folder(self.folder))
        if not is_repository(self.repository):
            raise UsageError(
                "neither a folder nor a repository",
                file=self.repository,
                hint="medqrels crawl openstax openstax/osbooks-microbiology, or the path of a checkout",
            )
        return None

    def open(self, opening: Opening) -> Opened:
        """Every module that the collections name."""
        settings, folder = opening.settings, self.folder
        checkout = open_folder(folder) if folder else self._fetched(opening)
        context = openstax.OpenStaxContext(
            checkout=checkout,
            store=opening.store,
            max_xml_bytes=max_xml_bytes(settings),
            max_media_bytes=max_media_bytes(settings),
        )
        locators = _locators(checkout)
        unread = _unread(checkout)
        openstax.stock_media(locators, context)
        media = _media_fingerprint(folder) if folder else ""
        return Opened(
            locators=locators,
            fetch=lambda locator: openstax.fetch(locator, context),
            root=self.root,
            fingerprint=lambda selection: f"{checkout.key}/{media}",
            notes=(f"left out, as they cannot be read: {unread}",) if unread else (),
        )

    def _fetched(self, opening: Opening) -> Checkout:
        settings = opening.settings
        context = GitHubContext(
            client=polite_client(settings, self.endpoints(settings), per_second=REQUESTS_PER_SECOND),
            store=opening.store,
            api=settings.openstax.api_endpoint,
            code=settings.openstax.code_endpoint,
            max_archive_bytes=settings.openstax.max_archive_mib * MIB,
        )
        return open_repository(self.repository, self.ref or "HEAD", context)


def _unread(checkout: Checkout) -> str:
    return "; ".join(f"{path}: {detail}" for path, _, detail in checkout.unreadable)


def _media_fingerprint(folder: Path) -> str:
    """Hash over a checkout's images: the texts have theirs in the checkout's key, a tarball's are fixed."""
    files = sorted(path for path in (folder / "media").rglob("*") if path.is_file())
    return sha256_text(canonical_json([[str(path.relative_to(folder)), sha256_file(path)] for path in files]))


def _locators(checkout: Checkout) -> list[str]:
    """Modules of every book.

    Raises:
        UsageError: no collection could be read.
    """
    found = openstax.locators(checkout)
    if not found:
        unread = _unread(checkout)
        raise UsageError(
            f"no book in this repository{': ' + unread if unread else ''}",
            file=str(checkout.origin),
            hint="an OpenStax repository holds META-INF/books.xml, collections/ and modules/",
        )
    return found
