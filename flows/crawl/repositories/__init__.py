"""Repositories a crawl can take articles from, each in a module of its own: to add one, add its line here.

Modules are imported when asked for: a crawl of a folder loads no HTTP client.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from flows.crawl.repositories.base import CrawlRequest

_HERE = "flows.crawl.repositories"
REPOSITORIES: dict[str, str] = {
    "pmc": f"{_HERE}.pmc:PmcRequest",
    "folder": f"{_HERE}.folder:FolderRequest",
    "europepmc": f"{_HERE}.europepmc:EuropePmcRequest",
    "medline": f"{_HERE}.medline:MedlineRequest",
    "litarch": f"{_HERE}.litarch:LitarchRequest",
    "openstax": f"{_HERE}.openstax:OpenStaxRequest",
    "wikimedia": f"{_HERE}.wikimedia:WikimediaRequest",
    "questions": f"{_HERE}.questions:QuestionsRequest",
}
"""The request of each repository, in the order in which a run crawls them."""


def request_type(source: str) -> type[CrawlRequest]:
    """The request of a repository."""
    module, _, name = REPOSITORIES[source].partition(":")
    return cast("type[CrawlRequest]", getattr(importlib.import_module(module), name))
