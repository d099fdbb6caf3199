"""A loopback server with the two interfaces of NLM LitArch, for demo and tests.

/pub/litarch/: the file list and the packages, with Range and ETag. /lit/oai/books/: OAI-PMH 2.0
(https://www.openarchives.org/OAI/openarchivesprotocol.html), ListIdentifiers and GetRecord.
"""

from __future__ import annotations

import collections
import contextlib
import re
import threading
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from sources.sample.bookshelf import OaiRecord, Package, file_list_csv, sample_packages, sample_records
from sources.sample.loopback import NO_ANSWER, LoopbackServer, Reply, Request
from sources.sample.server import HTML, Fault, Faults, Served
from sources.store import md5_hex

FILES = "/pub/litarch/"
OAI = "/lit/oai/books/"
_IDENTIFIER = "oai:books.ncbi.nlm.nih.gov:"
_PREFIXES = ("nbk_ftext", "nbk_meta")
_DECLARATIONS = re.compile(rb"<\?xml[^>]*\?>|<!DOCTYPE[^>]*>")


class BookshelfServer(LoopbackServer):
    """Context manager: serves packages and OAI records on a free port of 127.0.0.1.

    Args:
        packages: what the file list holds, by default the sample book.
        records: what the OAI service holds.
        faults: what goes wrong, for tests; keys are `file_list.csv`, package paths and `oai:<verb>`.
        page_size: identifiers per page of an OAI list.
    """

    def __init__(
        self,
        packages: Sequence[Package] | None = None,
        records: Sequence[OaiRecord] | None = None,
        *,
        faults: Faults | None = None,
        page_size: int = 50,
    ) -> None:
        self.packages = list(sample_packages() if packages is None else packages)
        self.records = list(sample_records() if records is None else records)
        self.page_size = page_size
        self.served: list[Served] = []
        self.most_oai_at_once = 0
        self._oai_now = 0
        self._faults = faults
        self._counts: collections.Counter[str] = collections.Counter()
        self._lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        """Base URL of the packages: what goes where the address of LitArch goes."""
        return self.root + FILES

    @property
    def oai_endpoint(self) -> str:
        """URL of the OAI service."""
        return self.root + OAI

    def file(self, key: str) -> bytes | None:
        """Bytes of the file list or of a package."""
        if key == "file_list.csv":
            return file_list_csv(self.packages)
        return next((package.archive for package in self.packages if package.path == key), None)

    def fault(self, key: str) -> Fault | None:
        """The fault for this request, counting it."""
        with self._lock:
            self._counts[key] += 1
            count = self._counts[key]
        return self._faults("GET", key, count) if self._faults is not None else None

    def note(self, key: str, status: int) -> None:
        """Remember a request; status 0 is one broken off."""
        with self._lock:
            self.served.append(Served("GET", key, status))

    def bodies(self) -> collections.Counter[str]:
        """How often each thing was sent, wholly or in part."""
        with self._lock:
            return collections.Counter(item.key for item in self.served if item.status in (200, 206))

    @contextlib.contextmanager
    def oai_request(self) -> Any:
        """Count OAI requests that are answered at the same time: the real service forbids that."""
        with self._lock:
            self._oai_now += 1
            self.most_oai_at_once = max(self.most_oai_at_once, self._oai_now)
        try:
            yield
        finally:
            with self._lock:
                self._oai_now -= 1

    def answer(self, request: Request) -> Reply:
        """The reply to one request."""
        path = request.path
        if path.startswith(FILES):
            return self._package(request, path.removeprefix(FILES))
        if path != OAI:
            return self._noted(path, Reply(404))
        with self.oai_request():
            key = f"oai:{request.fields.get('verb', '')}"
            fault = self.fault(key)
            body = b"" if fault is not None else oai_answer(self, request.fields)
            return self._sent(request, key, body, {"Content-Type": "text/xml"}, fault)

    def _package(self, request: Request, key: str) -> Reply:
        body = self.file(key)
        if body is None:
            return self._noted(key, Reply(404, b"no such file"))
        headers = {"ETag": f'"{md5_hex(body)[:16]}"', "Accept-Ranges": "bytes"}
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return self._noted(key, Reply(304, headers=headers))
        return self._sent(request, key, body, headers, self.fault(key))

    def _sent(
        self, request: Request, key: str, body: bytes, headers: dict[str, str], fault: Fault | None
    ) -> Reply:
        status, total = 200, len(body)
        wanted = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range") or "")
        is_same = request.headers.get("If-Range") in (None, headers.get("ETag"))
        if wanted and is_same and int(wanted.group(1)) < total:
            status, body = 206, body[int(wanted.group(1)) :]
            headers = {**headers, "Content-Range": f"bytes {wanted.group(1)}-{total - 1}/{total}"}
        if fault is None:
            return self._noted(key, Reply(status, body, headers))
        if fault.kind == "status":
            extra = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            return self._noted(key, Reply(fault.status, b"busy", extra))
        if fault.kind == "html":
            return self._noted(key, Reply(200, HTML, {"Content-Type": "text/html"}))
        if fault.kind == "reset":
            return self._noted(key, Reply(NO_ANSWER, is_reset=True))
        self.note(key, NO_ANSWER)
        return Reply(status, body, headers, cut=len(body) // 2)

    def _noted(self, key: str, reply: Reply) -> Reply:
        self.note(key, reply.status)
        return reply


def oai_answer(site: BookshelfServer, query: dict[str, str]) -> bytes:
    """The answer to one OAI request; its errors come with HTTP 200."""
    verb = query.get("verb")
    if verb == "GetRecord":
        return _get_record(site, query)
    if verb == "ListIdentifiers":
        return _list_identifiers(site, query)
    return _envelope(_error("badVerb"))


def _envelope(content: bytes) -> bytes:
    head = b'<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
    return head + b"<responseDate>2025-03-12T00:00:00Z</responseDate>" + content + b"</OAI-PMH>"


def _error(code: str) -> bytes:
    return f"<error code={quoteattr(code)}/>".encode()


def _header(record: OaiRecord) -> bytes:
    status = ' status="deleted"' if record.is_deleted else ""
    sets = "".join(f"<setSpec>{escape(name)}</setSpec>" for name in record.sets)
    identifier = _IDENTIFIER + record.accession.removeprefix("NBK")
    return (
        f"<header{status}><identifier>{identifier}</identifier><datestamp>{record.datestamp}</datestamp>"
        f"{sets}</header>"
    ).encode()


def _get_record(site: BookshelfServer, query: dict[str, str]) -> bytes:
    number = query.get("identifier", "").removeprefix(_IDENTIFIER)
    record = next((item for item in site.records if item.accession == f"NBK{number}"), None)
    if record is None:
        return _envelope(_error("idDoesNotExist"))
    if not record.is_open or query.get("metadataPrefix") not in _PREFIXES:
        return _envelope(_error("cannotDisseminateFormat"))
    document = _DECLARATIONS.sub(b"", record.document)
    inside = b"<record>" + _header(record) + b"<metadata>" + document + b"</metadata></record>"
    return _envelope(b"<GetRecord>" + inside + b"</GetRecord>")


def _list_identifiers(site: BookshelfServer, query: dict[str, str]) -> bytes:
    if "resumptionToken" in query:
        fields = query["resumptionToken"].split("|")
        if len(fields) != 3 or not fields[2].isdigit():
            return _envelope(_error("badResumptionToken"))
        name, since, start = fields[0], fields[1], int(fields[2])
    else:
        name, since, start = query.get("set", ""), query.get("from", ""), 0
    found = [item for item in site.records if name in ("", *item.sets) and item.datestamp >= since]
    if not found:
        return _envelope(_error("noRecordsMatch"))
    page = found[start : start + site.page_size]
    following = start + site.page_size
    token = f"{name}|{since}|{following}" if following < len(found) else ""
    listed = b"".join(map(_header, page)) + f"<resumptionToken>{escape(token)}</resumptionToken>".encode()
    return _envelope(b"<ListIdentifiers>" + listed + b"</ListIdentifiers>")
