"""OpenStax as a repository: the books of a checkout on disk, or of a GitHub repository at one commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flows.crawl.repositories.base import (
    MIB,
    CrawlRequest,
    Opened,
    Opening,
    as_folder,
    max_media_bytes,
    max_xml_bytes,
    polite_client,
)
from flows.engine.settings import Settings
from schemas.errors import UsageError
from schemas.hashing import canonical_json, sha256_file, sha256_text
from sources import openstax
from sources.openstax.checkout import Checkout, GitHubContext, is_repository, open_folder, open_repository

REQUESTS_PER_SECOND = 1.0
"""GitHub allows 60 API requests an hour without a token; a crawl needs one, and one tarball."""


def endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    """GitHub's API and tarballs; nothing for a checkout on disk."""
    if as_folder(request.target).is_dir():
        return ()
    return (settings.openstax.api_endpoint, settings.openstax.code_endpoint)


def preview(request: CrawlRequest, settings: Settings) -> Sequence[str] | None:
    """Modules of a checkout; of a repository only GitHub can tell."""
    if as_folder(request.target).is_dir():
        return _locators(open_folder(as_folder(request.target)))
    if not is_repository(request.target):
        raise UsageError(
            "neither a folder nor a repository",
            file=request.target,
            hint="medqrels crawl openstax openstax/osbooks-microbiology, or the path of a checkout",
        )
    return None


def open_source(request: CrawlRequest, opening: Opening) -> Opened:
    """Every module that the collections name."""
    settings = opening.settings
    folder = as_folder(request.target)
    if folder.is_dir():
        checkout, root = open_folder(folder), str(folder)
    else:
        checkout, root = _repository(request, opening), request.target
    context = openstax.OpenStaxContext(
        checkout=checkout,
        store=opening.store,
        max_xml_bytes=max_xml_bytes(settings),
        max_media_bytes=max_media_bytes(settings),
    )
    locators = _locators(checkout)
    unread = _unread(checkout)
    openstax.stock_media(locators, context)
    media = "" if checkout.is_archive else _media_fingerprint(folder)
    return Opened(
        locators=locators,
        fetch=lambda locator: openstax.fetch(locator, context),
        root=root,
        fingerprint=lambda selection: f"{checkout.key}/{media}",
        notes=(f"left out, as they cannot be read: {unread}",) if unread else (),
    )


def _repository(request: CrawlRequest, opening: Opening) -> Checkout:
    settings = opening.settings
    context = GitHubContext(
        client=polite_client(settings, endpoints(request, settings), per_second=REQUESTS_PER_SECOND),
        store=opening.store,
        api=settings.openstax.api_endpoint,
        code=settings.openstax.code_endpoint,
        max_archive_bytes=settings.openstax.max_archive_mib * MIB,
    )
    return open_repository(request.target, request.option("ref") or "HEAD", context)


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
