"""What a repository's wiring gives a crawl: locators to select, a fetch function, how hard to press."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from flows.crawl.selection import Selection
from flows.engine.settings import LOOPBACK, HttpSettings, Settings, require_contact
from flows.engine.workspace import Workspace
from schemas.article import RawArticle, SourceName
from schemas.hashing import canonical_json, sha256_text
from schemas.licences import Profile
from schemas.stages import Drop
from sources.http import ClientSettings, PoliteClient
from sources.store import RawStore

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CrawlRequest:
    """What one crawl asks of one repository.

    Attributes:
        source: the repository.
        target: what to take: a file of ids, a folder, a book, an address; its meaning is the repository's.
        profile: licences to accept.
        options: further options by name, e.g. query, since, limit; '' and absent are the same.
    """

    source: SourceName
    target: str = ""
    profile: Profile = "open"
    options: Mapping[str, str] = field(default_factory=dict)

    def option(self, name: str) -> str:
        """An option, '' when it was not given."""
        return self.options.get(name, "")


@dataclass(frozen=True, slots=True)
class Opening:
    """What wiring works with."""

    settings: Settings
    workspace: Workspace
    store: RawStore


@dataclass(frozen=True, slots=True)
class Opened:
    """A repository ready to fetch from.

    Attributes:
        locators: what to select.
        fetch: fetches one locator.
        root: the folder or address the locators belong to, '' for a repository with one address.
        connections: locators fetched at the same time.
        fingerprint: hash over a selection's sources where they can change without a trace, else ''.
        notes: what the user should be told of the selection, a line each.
    """

    locators: Sequence[str]
    fetch: Callable[[str], RawArticle | Drop]
    root: str = ""
    connections: int = 1
    fingerprint: Callable[[Selection], str] = lambda selection: ""
    notes: tuple[str, ...] = ()


class Wiring(Protocol):
    """A module under flows/repositories."""

    def endpoints(self, request: CrawlRequest, settings: Settings) -> Sequence[str]:
        """Addresses the crawl will ask, () when it stays on this machine's disk."""

    def preview(self, request: CrawlRequest, settings: Settings) -> Sequence[str] | None:
        """See `flows.crawl.repositories.preview_request`."""

    def open_source(self, request: CrawlRequest, opening: Opening) -> Opened:
        """See `flows.crawl.repositories.open_repository`."""


def polite_client(
    settings: Settings,
    endpoints: Sequence[str],
    *,
    per_second: float,
    connections: int = 1,
    read_seconds: float | None = None,
) -> PoliteClient:
    """A client that may ask the hosts of these endpoints and no other.

    Raises:
        UsageError: no contact address, and an endpoint is not on this machine.
    """
    require_contact(settings, endpoints)
    http: HttpSettings = settings.http
    is_local = all(urlsplit(endpoint).hostname in LOOPBACK for endpoint in endpoints)
    return PoliteClient(
        ClientSettings(
            allowed_hosts=tuple(dict.fromkeys(urlsplit(endpoint).netloc for endpoint in endpoints)),
            contact=settings.contact or ("demo@localhost" if is_local else ""),
            version=importlib.metadata.version("medqrels"),
            requests_per_second=per_second,
            burst=1 if per_second <= 10 else 50,
            connections=connections,
            read_seconds=max(read_seconds or 0.0, http.timeout_seconds),
            deadline_seconds=http.deadline_seconds,
            max_attempts=http.attempts,
        )
    )


def stored_state(store: RawStore, source: str, key: str) -> Callable[[Selection], str]:
    """A fingerprint over what raw/ holds of a selection, for repositories that are read before the crawl.

    Args:
        store: raw/ and its ledger.
        source: the repository.
        key: ledger key of a locator, with `{}` for the locator.
    """

    def state(selection: Selection) -> str:
        held = (store.ledger.find(source, key.format(locator)) for locator in selection.locators)
        return sha256_text(canonical_json([each.sha256 if each else "" for each in held]))

    return state


def max_xml_bytes(settings: Settings) -> int:
    """Largest XML accepted."""
    return settings.http.max_xml_mib * MIB


def max_media_bytes(settings: Settings) -> int:
    """Largest media file accepted."""
    return settings.http.max_media_mib * MIB


def as_folder(target: str) -> Path:
    """A target as an absolute folder or file path."""
    return Path(target).expanduser().resolve()
