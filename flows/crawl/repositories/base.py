"""What a crawl asks of a repository, and gets: locators to select, a fetch function, how hard to press."""

from __future__ import annotations

import importlib.metadata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flows.crawl.selection import Selection
from flows.engine.settings import HttpSettings, Settings, require_contact
from flows.engine.workspace import Workspace
from schemas.address import is_here
from schemas.article import RawArticle, SourceName
from schemas.errors import UsageError
from schemas.hashing import canonical_json, sha256_text
from schemas.invalid import said_of
from schemas.licences import Profile
from schemas.stages import Drop
from sources.http import ClientSettings, PoliteClient
from sources.store import RawStore

MIB = 1024 * 1024
Changes = Literal["inventory", "poll", "none"]
"""How a crawl learns which of its articles changed: from a list, by asking for each, not."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a repository is opened with."""

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
        found: what the user should be told of what was fetched just now, a line each.
    """

    locators: Sequence[str]
    fetch: Callable[[str], RawArticle | Drop]
    root: str = ""
    connections: int = 1
    fingerprint: Callable[[Selection], str] = lambda selection: ""
    notes: tuple[str, ...] = ()
    found: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True, slots=True)
class SpecKey:
    """How a field of a request is written in a spec.

    Attributes:
        name: key of the table [sources].
        many: a list, of which each entry is a request of its own.
        along: the field whose request it belongs to; '' for one that makes a request.
        path: whether it is a path relative to the spec: always, or where something has that name.
    """

    name: str
    many: bool = False
    along: str = ""
    path: Literal["no", "always", "where there is one"] = "no"


class CrawlRequest(BaseModel, ABC):
    """What one crawl asks of one repository.

    A subclass is a repository: the command `medqrels crawl SOURCE` (the first paragraph of its docstring, its
    fields; those without a default are arguments), its keys in a spec (fields marked with a SpecKey), and how
    it is asked. It is named in `flows.crawl.repositories`, and in `schemas.article.SourceName`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: ClassVar[SourceName]
    offers_profile: ClassVar[bool] = True
    """Whether the command has --profile: not where licences are decided by what is asked."""

    profile: Profile = Field(default="open", description="Licences to accept.")

    @classmethod
    def made(cls, given: Mapping[str, Any], named: Mapping[str, str], file: str = "") -> Self:
        """A request of some values.

        Args:
            given: values by field.
            named: what the user calls each field.
            file: where the user wrote them, if in one.

        Raises:
            UsageError: a value is not what the field takes.
        """
        try:
            return cls(**given)
        except ValidationError as error:
            where, what = said_of(error, cls)
            field = where[0] if where else ""
            raise UsageError(
                f"{named.get(field, field)}: {what}", file=file, hint="docs/sources.md"
            ) from error

    def brought_up_to_date(self, changes: Changes, as_of: str) -> Self:
        """The request that a scheduled crawl makes in this one's place; itself where only new articles count.

        Args:
            changes: how to learn which articles changed.
            as_of: the day it stands for (ISO), '' for now.
        """
        return self

    @property
    def root(self) -> str:
        """The folder or address that the locators belong to, '' for a repository with one address."""
        return ""

    def endpoints(self, settings: Settings) -> tuple[str, ...]:
        """Addresses the crawl will ask, () when it stays on this machine's disk."""
        return ()

    @abstractmethod
    def preview(self, settings: Settings) -> Sequence[str] | None:
        """The locators meant, None when only the repository can tell; nothing is asked or written.

        Raises:
            UsageError: files that cannot be read, options that contradict each other.
        """

    @abstractmethod
    def open(self, opening: Opening) -> Opened:
        """Make the repository ready to fetch from; this may ask it what there is.

        Raises:
            MedqrelsError: as `check`, or the repository cannot be asked.
        """

    def check(self, settings: Settings) -> None:
        """Find what is wrong with a request before a flow is started for it.

        Raises:
            UsageError: as `preview`, or no contact address for a real server.
        """
        require_contact(settings, self.endpoints(settings))
        self.preview(settings)


def spec_keys(request: type[CrawlRequest]) -> dict[str, SpecKey]:
    """The fields of a request that a spec may give."""
    return {
        name: key
        for name, field in request.model_fields.items()
        for key in field.metadata
        if isinstance(key, SpecKey)
    }


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
    is_local = all(map(is_here, endpoints))
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


def as_folder(target: str | Path) -> Path:
    """A target as an absolute folder or file path."""
    return Path(target).expanduser().resolve()
