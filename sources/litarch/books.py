"""What NLM LitArch holds: its file list (file_list.csv), and the context every request to it works with.

The folders of packages are hashes that change, so a book is always looked up by its accession or name.
"""

from __future__ import annotations

import csv
import html
import io
import logging
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.errors import FetchError, UsageError
from schemas.hashing import sha256_text
from sources.archives import ArchiveLimits
from sources.http import PoliteClient
from sources.store import RawStore, is_safe_name

SOURCE = "litarch"
ENDPOINT = "https://ftp.ncbi.nlm.nih.gov/pub/litarch/"
OAI_ENDPOINT = "https://api.ncbi.nlm.nih.gov/lit/oai/books/"

_LIST = "file_list.csv"
_MAX_LIST_BYTES = 64 * 1024 * 1024
_ACCESSION = re.compile(r"^NBK\d{1,9}$")
_PACKAGE = re.compile(r"^(?P<name>.+?)_NBK\d{1,9}\.tar(?:\.gz)?$", re.IGNORECASE)
_COLUMNS = {
    "file": "path",
    "title": "title",
    "publisher": "publisher",
    "publication year": "year",
    "accession id": "accession",
    "last updated": "updated",
}
_log = logging.getLogger("medqrels.sources.litarch")


@dataclass(slots=True)
class Memory:
    """What one crawl has looked up: the file list, and the chapters of each book."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    oai: threading.Lock = field(default_factory=threading.Lock)
    books: list[Book] | None = None
    chapters: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LitarchContext:
    """What a fetch works with; one for a whole crawl, so that the file list is asked for once.

    Attributes:
        client: the HTTP client; its allowed hosts must hold both endpoints' hosts.
        store: raw/ and its ledger.
        endpoint: base URL of the packages.
        oai_endpoint: URL of the Books OAI-PMH service, asked one request at a time.
        max_archive_bytes: larger packages are dropped as `too_large`.
        max_xml_bytes: larger chapters are dropped as `too_large`.
        max_media_bytes: larger images are noted as `image_too_large`.
        limits: caps on what a package unpacks to.
        memory: filled by the crawl itself.
    """

    client: PoliteClient
    store: RawStore
    endpoint: str = ENDPOINT
    oai_endpoint: str = OAI_ENDPOINT
    max_archive_bytes: int = 4 * 1024 * 1024 * 1024
    max_xml_bytes: int = 64 * 1024 * 1024
    max_media_bytes: int = 64 * 1024 * 1024
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)
    memory: Memory = field(default_factory=Memory, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Book:
    """One row of the file list.

    Attributes:
        path: where the package lies below the endpoint, e.g. `ca/84/gene_NBK1116.tar.gz`.
        name: name of the book in Bookshelf, e.g. `gene`.
        title, publisher, year: as listed, entities resolved.
        accession: `NBK…`.
        updated: `YYYY-MM-DD HH:MM:SS` as listed.
        key: what locators call it: the accession, with a mark where several packages share it.
    """

    path: str
    name: str
    title: str
    publisher: str
    year: str
    accession: str
    updated: str
    key: str

    @property
    def folder(self) -> str:
        """Folder under raw/ of this package as last updated; no two packages share one."""
        stamp = re.sub(r"\D", "", self.updated) or "undated"
        return f"{SOURCE}/{self.accession}/{stamp}-{sha256_text(self.path)[:8]}"


def file_list(context: LitarchContext) -> list[Book]:
    """Every usable row of the file list, sorted by key; asked for once per context, sent only if changed.

    Raises:
        FetchError: the list is not delivered, or what is delivered is none.
    """
    with context.memory.lock:
        if context.memory.books is None:
            context.memory.books = parse_list(_list_bytes(context))
        return context.memory.books


def _list_bytes(context: LitarchContext) -> bytes:
    held = context.store.held(SOURCE, _LIST)
    stored = context.store.read(held) if held is not None else None
    etag = held.etag if held is not None and stored is not None else None
    url = context.endpoint.rstrip("/") + "/" + _LIST
    answer = context.client.get(url, max_bytes=_MAX_LIST_BYTES, etag=etag)
    if answer is None:
        raise FetchError("there is no file list", file=url, hint="check the litarch endpoint in the settings")
    if answer.status == 304 and stored is not None:
        return stored
    parse_list(answer.body)  # an error page must not replace the list
    context.store.put(SOURCE, _LIST, f"{SOURCE}/{_LIST}", answer.body, etag=answer.headers.get("etag"))
    return answer.body


def parse_list(data: bytes) -> list[Book]:
    """Rows of a file list; rows whose path or accession cannot be used are logged and left out.

    Args:
        data: the CSV in Windows-1252, its texts with HTML entities.

    Raises:
        FetchError: not a file list.
    """
    rows = csv.reader(io.StringIO(data.decode("cp1252", "replace"), newline=""))
    try:
        header = [cell.strip().lower() for cell in next(rows, [])]
        columns = {
            field: at
            for at, cell in enumerate(header)
            for name, field in _COLUMNS.items()
            if cell == name or cell.startswith(f"{name} (")
        }
        if not {"path", "accession", "updated"} <= columns.keys():
            raise FetchError("what came is not a file list of LitArch", file=_LIST)
        found = [
            {field: row[at].strip() if at < len(row) else "" for field, at in columns.items()} for row in rows
        ]
    except csv.Error as error:
        raise FetchError(f"the file list cannot be read: {error}", file=_LIST) from None
    return _books([row for row in found if any(row.values())])


def _books(rows: Sequence[dict[str, str]]) -> list[Book]:
    usable = {row["path"]: row for row in rows if _is_usable(row)}
    if len(usable) < len(rows):
        _log.warning("%d rows of the file list cannot be used", len(rows) - len(usable))
    shared: dict[str, int] = {}
    for row in usable.values():
        shared[row["accession"]] = shared.get(row["accession"], 0) + 1
    books = []
    for path, row in usable.items():
        accession = row["accession"]
        found = _PACKAGE.match(path.rpartition("/")[2])
        mark = f"~{sha256_text(path)[:8]}" if shared[accession] > 1 else ""
        books.append(
            Book(
                path=path,
                name=found.group("name") if found else accession,
                title=" ".join(html.unescape(row.get("title", "")).split()),
                publisher=" ".join(html.unescape(row.get("publisher", "")).split()),
                year=row.get("year", ""),
                accession=accession,
                updated=row["updated"],
                key=accession + mark,
            )
        )
    return sorted(books, key=lambda book: book.key)


def _is_usable(row: dict[str, str]) -> bool:
    parts = row["path"].split("/")
    is_package = row["path"].lower().endswith((".tar.gz", ".tar"))
    return is_package and all(map(is_safe_name, parts)) and bool(_ACCESSION.match(row["accession"]))


def find_book(wanted: str, books: Sequence[Book]) -> Book:
    """The book of an accession, a key, a path of the list or a name.

    Where packages share an accession or a name, the one updated last is taken.

    Raises:
        UsageError: no such book, or different books of that name.
    """
    text = wanted.strip()
    found = [book for book in books if text in (book.key, book.path)]
    found = found or [book for book in books if book.accession == text.upper()]
    found = found or [book for book in books if book.name.casefold() == text.casefold()]
    if not found:
        raise UsageError(
            f"no book {text[:80]!r} in the open access part of Bookshelf",
            hint="name it by its accession (NBK547852) or its name in Bookshelf (livertox)",
        )
    accessions = sorted({book.accession for book in found})
    if len(accessions) > 1:
        raise UsageError(
            f"several books are called {text[:80]!r}", hint=f"name one of {', '.join(accessions)}"
        )
    return max(found, key=lambda book: (book.updated, book.path))
