"""A loopback file server (as a repository's FTP site over HTTPS) whose manners with Range can be chosen."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from sources.sample.loopback import LoopbackServer, Reply, Request


@dataclass
class FileServer(LoopbackServer):
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

    @property
    def url(self) -> str:
        """Address of the file."""
        return f"{self.root}/pub/book.tar.gz"

    def described(self) -> dict[str, str]:
        """Validators and other headers of the content."""
        digest = hashlib.sha256(self.content).hexdigest()[:16]
        known = {
            "etag": ("ETag", f'"{digest}"'),
            "weak": ("ETag", f'W/"{digest}"'),
            "date": ("Last-Modified", f"Mon, 01 Jan 2024 00:00:{int(digest[0], 16):02d} GMT"),
        }
        return {**dict(known[name] for name in self.validators), **self.headers}

    def answer(self, request: Request) -> Reply:
        """The file, or what stands in its place."""
        if request.method == "POST":
            self.bodies.append(request.body)
        headers = self.described()
        status, body, extra = self._chosen(request, headers)
        self.asked.append((request.headers.get("Range", ""), request.headers.get("If-Range", ""), status))
        cut = self.cut.pop(0) if self.cut else None
        stall = 30.0 if cut is not None and self.stall else 0.0
        return Reply(status, body, {**headers, **extra}, cut=cut, stall=stall, is_chunked=self.is_chunked)

    def _chosen(self, request: Request, headers: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
        given, size = request.headers, len(self.content)
        validators = {headers.get("ETag"), headers.get("Last-Modified")} - {None}
        if self.status:
            return self.status, self.body, {}
        if {given.get("If-None-Match"), given.get("If-Modified-Since")} & validators:
            return 304, b"", {}
        found = re.fullmatch(r"bytes=(\d+)-", given.get("Range", ""))
        held = given.get("If-Range", next(iter(validators), ""))
        if not found or not self.ranges or held not in validators:
            return 200, self.content, {}
        start = int(found[1])
        if start >= size:
            return 416, b"", {"Content-Range": f"bytes */{size}"}
        return 206, self.content[start:], {"Content-Range": f"bytes {start}-{size - 1}/{size}"}
