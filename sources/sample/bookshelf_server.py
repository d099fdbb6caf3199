"""A loopback server with the two interfaces of NLM LitArch, for demo and tests.

/pub/litarch/: the file list and the packages, with Range and ETag. /lit/oai/books/: OAI-PMH 2.0
(https://www.openarchives.org/OAI/openarchivesprotocol.html), ListIdentifiers and GetRecord.
"""

from __future__ import annotations

import collections
import contextlib
import re
import socket
import struct
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, quoteattr

from sources.sample.bookshelf import OaiRecord, Package, file_list_csv, sample_packages, sample_records
from sources.sample.server import Fault, Faults, Served
from sources.store import md5_hex

FILES = "/pub/litarch/"
OAI = "/lit/oai/books/"
_IDENTIFIER = "oai:books.ncbi.nlm.nih.gov:"
_PREFIXES = ("nbk_ftext", "nbk_meta")
_HTML = b"<!DOCTYPE html><html><body>Please try again later.</body></html>"
_DECLARATIONS = re.compile(rb"<\?xml[^>]*\?>|<!DOCTYPE[^>]*>")


class BookshelfServer:
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
        self._http: ThreadingHTTPServer | None = None

    @property
    def _base(self) -> str:
        if self._http is None:
            raise RuntimeError("the server runs only inside `with`")
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def endpoint(self) -> str:
        """Base URL of the packages: what goes where the address of LitArch goes."""
        return self._base + FILES

    @property
    def oai_endpoint(self) -> str:
        """URL of the OAI service."""
        return self._base + OAI

    def __enter__(self) -> BookshelfServer:
        handler = type("Handler", (_Handler,), {"site": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

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


class _Handler(BaseHTTPRequestHandler):
    site: BookshelfServer
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what was served is in `BookshelfServer.served`."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        if path.startswith(FILES):
            self._file(path.removeprefix(FILES))
        elif path == OAI:
            with self.site.oai_request():
                key = f"oai:{query.get('verb', '')}"
                fault = self.site.fault(key)
                body = b"" if fault is not None else oai_answer(self.site, query)
                self._send(key, body, {"Content-Type": "text/xml"}, fault)
        else:
            self._plain(404, b"", {}, path)

    def _file(self, key: str) -> None:
        body = self.site.file(key)
        if body is None:
            self._plain(404, b"no such file", {}, key)
            return
        headers = {"ETag": f'"{md5_hex(body)[:16]}"', "Accept-Ranges": "bytes"}
        if self.headers.get("If-None-Match") == headers["ETag"]:
            self._plain(304, b"", headers, key)
            return
        self._send(key, body, headers, self.site.fault(key))

    def _send(self, key: str, body: bytes, headers: dict[str, str], fault: Fault | None) -> None:
        status, total = 200, len(body)
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        is_same = self.headers.get("If-Range") in (None, headers.get("ETag"))
        if wanted and is_same and int(wanted.group(1)) < total:
            status, body = 206, body[int(wanted.group(1)) :]
            headers = {**headers, "Content-Range": f"bytes {wanted.group(1)}-{total - 1}/{total}"}
        if fault is None:
            self._plain(status, body, headers, key)
        elif fault.kind == "status":
            extra = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            self._plain(fault.status, b"busy", extra, key)
        elif fault.kind == "html":
            self._plain(200, _HTML, {"Content-Type": "text/html"}, key)
        elif fault.kind == "reset":
            self._reset(key)
        else:
            self._half(status, body, headers, key)

    def _half(self, status: int, body: bytes, headers: dict[str, str], key: str) -> None:
        """Announce the whole body and send half of it."""
        self.site.note(key, 0)
        self.close_connection = True
        self._head(status, headers, len(body))
        self.wfile.write(body[: len(body) // 2])

    def _reset(self, key: str) -> None:
        self.site.note(key, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.close()

    def _plain(self, status: int, body: bytes, headers: dict[str, str], key: str) -> None:
        self.site.note(key, status)
        self._head(status, headers, len(body))
        self.wfile.write(body)

    def _head(self, status: int, headers: dict[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()


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
