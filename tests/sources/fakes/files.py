"""A loopback file server (as a repository's FTP site over HTTPS) whose manners with Range can be chosen."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class FileServer:
    """Serves `content` under any path; attributes may change between requests.

    Attributes:
        content: the file.
        validators: which of `etag`, `weak`, `date` are sent.
        ranges: answer Range with 206; False ignores it.
        cut: bytes of the body sent before the connection ends; a list is used up request by request.
        stall: the connection then stays open, silent, instead of ending.
        headers: more headers.
        status: answered instead of the file, with `body`.
        is_chunked: no Content-Length.
        asked: Range and If-Range of each request, and the status it got.
    """

    content: bytes
    validators: tuple[str, ...] = ("etag",)
    ranges: bool = True
    cut: list[int | None] = field(default_factory=list)
    stall: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 0
    body: bytes = b""
    is_chunked: bool = False
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def __enter__(self) -> FileServer:
        handler = type("Handler", (_Handler,), {"site": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        """Address of the file."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/pub/book.tar.gz"

    def described(self) -> dict[str, str]:
        """Validators and other headers of the content."""
        digest = hashlib.sha256(self.content).hexdigest()[:16]
        known = {
            "etag": ("ETag", f'"{digest}"'),
            "weak": ("ETag", f'W/"{digest}"'),
            "date": ("Last-Modified", f"Mon, 01 Jan 2024 00:00:{int(digest[0], 16):02d} GMT"),
        }
        return {**dict(known[name] for name in self.validators), **self.headers}


class _Handler(BaseHTTPRequestHandler):
    site: FileServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        self.site.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        site, headers = self.site, self.site.described()
        status, body, extra = self._chosen(headers)
        held = self.headers.get("If-Range", "")
        site.asked.append((self.headers.get("Range", ""), held, status))
        cut = site.cut.pop(0) if site.cut else None
        self.send_response(status)
        for name, value in {**headers, **extra}.items():
            self.send_header(name, value)
        if site.is_chunked:
            self.send_header("Transfer-Encoding", "chunked")
            body = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
        elif status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status == 304:
            return
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True
            if site.stall:
                self.wfile.flush()
                time.sleep(30)

    def _chosen(self, headers: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
        site, size = self.site, len(self.site.content)
        validators = {headers.get("ETag"), headers.get("Last-Modified")} - {None}
        if site.status:
            return site.status, site.body, {}
        if {self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since")} & validators:
            return 304, b"", {}
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if (
            not found
            or not site.ranges
            or self.headers.get("If-Range", next(iter(validators), "")) not in validators
        ):
            return 200, site.content, {}
        start = int(found[1])
        if start >= size:
            return 416, b"", {"Content-Range": f"bytes */{size}"}
        return 206, site.content[start:], {"Content-Range": f"bytes {start}-{size - 1}/{size}"}
