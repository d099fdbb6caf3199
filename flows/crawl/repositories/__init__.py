"""Repositories a crawl can take articles from, by name; each is wired in a module of its own.

Modules are imported when asked for: a crawl of a folder loads no HTTP client.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import cast

from flows.crawl.repositories.base import CrawlRequest, Opened, Opening, Wiring
from flows.engine.settings import Settings, require_contact
from schemas.article import SourceName

__all__ = ["CrawlRequest", "Opened", "Opening", "check_request", "open_repository", "preview_request"]


def _wiring(source: SourceName) -> Wiring:
    return cast(Wiring, importlib.import_module(f"flows.crawl.repositories.{source}"))


def preview_request(request: CrawlRequest, settings: Settings) -> Sequence[str] | None:
    """The locators a request means, None when only the repository can tell; nothing is asked or written.

    Raises:
        UsageError: files that cannot be read, options that contradict each other.
    """
    return _wiring(request.source).preview(request, settings)


def check_request(request: CrawlRequest, settings: Settings) -> None:
    """Find what is wrong with a request before a flow is started for it.

    Raises:
        UsageError: as `preview_request`, or no contact address for a real server.
    """
    require_contact(settings, _wiring(request.source).endpoints(request, settings))
    preview_request(request, settings)


def open_repository(request: CrawlRequest, opening: Opening) -> Opened:
    """Make a repository ready to fetch from; this may ask it what there is.

    Raises:
        MedqrelsError: as `check_request`, or the repository cannot be asked.
    """
    return _wiring(request.source).open_source(request, opening)
