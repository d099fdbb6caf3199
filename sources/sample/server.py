"""A loopback server that speaks the protocol of the PMC bucket (S3 REST, read-only), for demo and tests.

Protocol: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html and …/API_GetObject.html
"""

from __future__ import annotations

import base64
import binascii
import collections
import contextlib
import email.utils
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from sources.sample.objects import BucketContents, BucketObject, page
from sources.store import md5_hex

BUCKET = "pmc-oa-opendata"
_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_RANGE = re.compile(r"^bytes=(\d*)-(\d*)$")
_HTML = b"<!DOCTYPE html><html><body>Please try again later.</body></html>"
_TYPES = {"xml": "application/xml", "json": "application/json", "jpg": "image/jpeg", "png": "image/png"}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong with one request.

    `status` answers with that code (503 as S3's SlowDown) and `retry_after`, `reset` cuts the connection at
    once, `truncate` after half the body, `wrong_bytes` flips bytes, `html` sends an error page as 200, `drip`
    sends the body one byte each `seconds`, `drip_headers` the headers, `redirect` points to `location`,
    `multipart` gives an ETag that is no MD5.
    """

    kind: Literal[
        "status", "reset", "truncate", "wrong_bytes", "html", "drip", "drip_headers", "redirect", "multipart"
    ]
    status: int = 503
    retry_after: str = ""
    location: str = ""
    seconds: float = 0.05


Faults = Callable[[str, str, int], Fault | None]
"""(method, key, n-th such request, from 1) -> what goes wrong. The key of a listing is `?` and its prefix."""


@dataclass(frozen=True, slots=True)
class Served:
    """One request that was answered (or broken off by a fault, with status 0)."""

    method: str
    key: str
    status: int


class BucketServer:
    """Context manager: serves folders in the bucket's layout on a free port of 127.0.0.1.

    Args:
        roots: folders holding `PMC1.1/…` and `metadata/…`.
        synthetic_images: draw placeholder images for graphics of real articles that have no file.
        faults: what goes wrong, for tests.
        allow_list: False answers listings and missing keys with 403 AccessDenied, as S3 without List right.
        latency_seconds: wait before every answer, as a distant server's round trip.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        synthetic_images: bool = False,
        faults: Faults | None = None,
        allow_list: bool = True,
        latency_seconds: float = 0.0,
    ) -> None:
        self.contents = BucketContents(roots, synthetic_images=synthetic_images, bucket=BUCKET)
        self.allow_list = allow_list
        self.latency_seconds = latency_seconds
        self.served: list[Served] = []
        self._faults = faults
        self._counts: collections.Counter[tuple[str, str]] = collections.Counter()
        self._lock = threading.Lock()
        self._http: ThreadingHTTPServer | None = None

    @property
    def endpoint(self) -> str:
        """Base URL, path-style, ending in `/`: what goes where the real bucket's address goes."""
        if self._http is None:
            raise RuntimeError("the server runs only inside `with`")
        return f"http://127.0.0.1:{self._http.server_address[1]}/{BUCKET}/"

    def __enter__(self) -> BucketServer:
        handler = type("Handler", (_Handler,), {"bucket": self})
        self._http = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

    def fault(self, method: str, key: str) -> Fault | None:
        """The fault for this request, counting it."""
        with self._lock:
            self._counts[method, key] += 1
            count = self._counts[method, key]
        return self._faults(method, key, count) if self._faults is not None else None

    def note(self, method: str, key: str, status: int) -> None:
        """Remember a request."""
        with self._lock:
            self.served.append(Served(method, key, status))

    def bodies(self) -> collections.Counter[str]:
        """How often each object's bytes were sent in full."""
        with self._lock:
            return collections.Counter(
                item.key for item in self.served if item.method == "GET" and item.status == 200
            )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    bucket: BucketServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 64 * 1024
    timeout = 60

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what was served is in `BucketServer.served`."""

    def _answer(self) -> None:
        time.sleep(self.bucket.latency_seconds)
        parts = urlsplit(self.path)
        base, path = f"/{BUCKET}", unquote(parts.path)
        if path not in (base, f"{base}/") and not path.startswith(f"{base}/"):
            self._error(404, "NoSuchBucket", "The specified bucket does not exist", path)
            return
        key = path[len(base) + 1 :]
        query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        name = key or f"?{query.get('prefix', '')}"
        fault = self.bucket.fault(self.command, name)
        if fault is not None and self._breaks(fault, name):
            return
        if key:
            self._object(key, fault)
        elif not self.bucket.allow_list:
            self._error(403, "AccessDenied", "Access Denied", "")
        elif query.get("list-type") == "2":
            self._list(query, name)
        else:
            self._error(501, "NotImplemented", "Only ListObjectsV2 and GetObject are served", "")

    def _breaks(self, fault: Fault, name: str) -> bool:
        """Act out a fault that needs no object; whether the request is thereby done."""
        if fault.kind == "reset":
            self.bucket.note(self.command, name, 0)
            self._reset()
        elif fault.kind == "status":
            extra = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            code = "SlowDown" if fault.status == 503 else "InternalError"
            self._error(fault.status, code, "Please reduce your request rate.", name, extra)
        elif fault.kind == "html":
            self._send(200, _HTML, {"Content-Type": "text/html"}, name)
        elif fault.kind == "redirect":
            self._send(307, b"", {"Location": fault.location}, name)
        elif fault.kind == "drip_headers":
            self.bucket.note(self.command, name, 0)
            self._drip(b"HTTP/1.1 200 OK\r\n" + b"X-Pad: 0\r\n" * 10_000, fault.seconds)
        else:
            return False
        return True

    def _reset(self) -> None:
        """Close so that the peer sees a reset, not an orderly end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.close()

    def _drip(self, data: bytes, seconds: float) -> None:
        self.close_connection = True
        for position in range(len(data)):
            self.wfile.write(data[position : position + 1])
            self.wfile.flush()
            time.sleep(seconds)

    def _object(self, key: str, fault: Fault | None) -> None:
        found = self.bucket.contents.find(key)
        if found is None:
            if self.bucket.allow_list:
                self._error(404, "NoSuchKey", "The specified key does not exist.", key)
            else:
                self._error(403, "AccessDenied", "Access Denied", key)
            return
        body = found.read()
        headers = _object_headers(found, body)
        if self.headers.get("If-None-Match") == headers["ETag"]:
            self._send(304, b"", headers, key)
            return
        if fault is not None:
            if fault.kind == "multipart":
                headers["ETag"] = f'"{md5_hex(body)}-2"'
            elif fault.kind == "wrong_bytes":
                body = bytes(byte ^ 0x55 for byte in body[:64]) + body[64:]
        held = self.headers.get("If-Range")
        wanted = self.headers.get("Range") if held in (None, headers["ETag"]) else None
        status, piece, extra = _ranged(body, wanted)
        if fault is not None and fault.kind in ("truncate", "drip"):
            self._partly(status, piece, {**headers, **extra}, key, fault)
            return
        self._send(status, piece, {**headers, **extra}, key)

    def _partly(self, status: int, body: bytes, headers: dict[str, str], key: str, fault: Fault) -> None:
        """Announce the whole body, then send half of it or send it very slowly."""
        self.bucket.note(self.command, key, 0)
        self.close_connection = True
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if fault.kind == "truncate":
            self.wfile.write(body[: len(body) // 2])
        else:
            self._drip(body, fault.seconds)

    def _list(self, query: dict[str, str], name: str) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        asked = query.get("max-keys", "1000")
        try:
            limit = min(1000, int(asked)) if asked.isdigit() else -1
            token = query.get("continuation-token", "")
            after = base64.b64decode(token, validate=True).decode() if token else query.get("start-after", "")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            limit, after = -1, ""
        if limit < 0:
            self._error(400, "InvalidArgument", "Argument max-keys or token is not valid", name)
            return
        keys = self.bucket.contents.keys(prefix, folders_only=delimiter == "/" and "/" not in prefix)
        contents, prefixes, last = page(keys, prefix, delimiter, after, limit)
        following = base64.b64encode(last.encode()).decode() if last is not None else None
        objects = [found for key in contents if (found := self.bucket.contents.find(key)) is not None]
        body = _listing(query, limit, objects, prefixes, following)
        self._send(200, body, {"Content-Type": "application/xml"}, name)

    def _error(
        self, status: int, code: str, message: str, key: str, headers: dict[str, str] | None = None
    ) -> None:
        text = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message>'
            f"<Key>{escape(quote(key, safe='/?'))}</Key><RequestId>LOOPBACK</RequestId></Error>"
        )
        self._send(status, text.encode(), {"Content-Type": "application/xml", **(headers or {})}, key)

    def _send(self, status: int, body: bytes, headers: dict[str, str], key: str) -> None:
        self.bucket.note(self.command, key, status)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET" and status != 304:
            self.wfile.write(body)
        self.wfile.flush()

    def version_string(self) -> str:
        """What S3 says of itself."""
        return "AmazonS3"


def _object_headers(found: BucketObject, body: bytes) -> dict[str, str]:
    headers = {
        "ETag": f'"{md5_hex(body)}"',
        "Last-Modified": email.utils.formatdate(found.modified, usegmt=True),
        "Accept-Ranges": "bytes",
        "Content-Type": _TYPES.get(found.key.rpartition(".")[2].lower(), "binary/octet-stream"),
    }
    if found.is_synthetic:
        headers["x-amz-meta-synthetic"] = "true"
    return headers


def _ranged(body: bytes, header: str | None) -> tuple[int, bytes, dict[str, str]]:
    """Status, bytes and headers for a Range header of one range; other forms are ignored, as HTTP allows."""
    found = _RANGE.match(header.strip()) if header else None
    if not found or found.groups() == ("", ""):
        return 200, body, {}
    first, last = found.groups()
    start = int(first) if first else max(0, len(body) - int(last))
    end = min(int(last), len(body) - 1) if first and last else len(body) - 1
    if start >= len(body) or start > end:
        return 416, b"", {"Content-Range": f"bytes */{len(body)}"}
    return 206, body[start : end + 1], {"Content-Range": f"bytes {start}-{end}/{len(body)}"}


def _listing(
    query: dict[str, str],
    limit: int,
    objects: Sequence[BucketObject],
    prefixes: Sequence[str],
    following: str | None,
) -> bytes:
    """The XML of a ListObjectsV2 answer."""
    encodes = query.get("encoding-type") == "url"

    def shown(text: str) -> str:
        return quote(text, safe="/") if encodes else escape(text)

    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    token = query.get("continuation-token")
    parts = [
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="{_NAMESPACE}">',
        f"<Name>{BUCKET}</Name><Prefix>{shown(prefix)}</Prefix>",
        f"<KeyCount>{len(objects) + len(prefixes)}</KeyCount><MaxKeys>{limit}</MaxKeys>",
        f"<Delimiter>{shown(delimiter)}</Delimiter>" if delimiter else "",
        "<EncodingType>url</EncodingType>" if encodes else "",
        f"<ContinuationToken>{escape(token)}</ContinuationToken>" if token else "",
        f"<NextContinuationToken>{following}</NextContinuationToken>" if following else "",
        f"<IsTruncated>{str(following is not None).lower()}</IsTruncated>",
    ]
    for found in objects:
        body = found.read()
        modified = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(found.modified))
        parts.append(
            f"<Contents><Key>{shown(found.key)}</Key><LastModified>{modified}</LastModified>"
            f"<ETag>&quot;{md5_hex(body)}&quot;</ETag><Size>{len(body)}</Size>"
            "<StorageClass>STANDARD</StorageClass></Contents>"
        )
    parts += [f"<CommonPrefixes><Prefix>{shown(item)}</Prefix></CommonPrefixes>" for item in prefixes]
    return "".join([*parts, "</ListBucketResult>"]).encode("utf-8")
