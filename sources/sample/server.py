"""A loopback server that speaks the protocol of the PMC bucket (S3 REST, read-only), for demo and tests.

Protocol: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html and …/API_GetObject.html
"""

from __future__ import annotations

import base64
import binascii
import collections
import email.utils
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote
from xml.sax.saxutils import escape

from sources.sample.loopback import NO_ANSWER, LoopbackServer, Reply, Request
from sources.sample.objects import BucketContents, BucketObject, page
from sources.store import md5_hex

BUCKET = "pmc-oa-opendata"
_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_RANGE = re.compile(r"^bytes=(\d*)-(\d*)$")
HTML = b"<!DOCTYPE html><html><body>Please try again later.</body></html>"
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


class BucketServer(LoopbackServer):
    """Context manager: serves folders in the bucket's layout on a free port of 127.0.0.1.

    Args:
        roots: folders holding `PMC1.1/…` and `metadata/…`.
        synthetic_images: draw placeholder images for graphics of real articles that have no file.
        faults: what goes wrong, for tests.
        allow_list: False answers listings and missing keys with 403 AccessDenied, as S3 without List right.
        latency_seconds: wait before every answer, as a distant server's round trip.
    """

    name = "AmazonS3"

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

    @property
    def endpoint(self) -> str:
        """Base URL, path-style, ending in `/`: what goes where the real bucket's address goes."""
        return f"{self.root}/{BUCKET}/"

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

    def answer(self, request: Request) -> Reply:
        """The reply to one request."""
        time.sleep(self.latency_seconds)
        base, path = f"/{BUCKET}", request.path
        if path not in (base, f"{base}/") and not path.startswith(f"{base}/"):
            return self._noted(
                request, path, _error(404, "NoSuchBucket", "The specified bucket does not exist", path)
            )
        key = path[len(base) + 1 :]
        name = key or f"?{request.fields.get('prefix', '')}"
        fault = self.fault(request.method, name)
        reply = _broken(fault, name) if fault is not None else None
        if reply is None and key:
            reply = self._object(request, key, fault)
        elif reply is None:
            reply = self._listed(request.fields, name)
        return self._noted(request, name, reply)

    def _noted(self, request: Request, key: str, reply: Reply) -> Reply:
        is_whole = reply.cut is None and not reply.drip
        self.note(request.method, key, reply.status if is_whole else NO_ANSWER)
        return reply

    def _object(self, request: Request, key: str, fault: Fault | None) -> Reply:
        found = self.contents.find(key)
        if found is None:
            if self.allow_list:
                return _error(404, "NoSuchKey", "The specified key does not exist.", key)
            return _error(403, "AccessDenied", "Access Denied", key)
        body = found.read()
        headers = _object_headers(found, body)
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return Reply(304, headers=headers)
        if fault is not None and fault.kind == "multipart":
            headers["ETag"] = f'"{md5_hex(body)}-2"'
        elif fault is not None and fault.kind == "wrong_bytes":
            body = bytes(byte ^ 0x55 for byte in body[:64]) + body[64:]
        held = request.headers.get("If-Range")
        wanted = request.headers.get("Range") if held in (None, headers["ETag"]) else None
        status, piece, extra = _ranged(body, wanted)
        return Reply(
            status,
            piece,
            {**headers, **extra},
            cut=len(piece) // 2 if fault is not None and fault.kind == "truncate" else None,
            drip=fault.seconds if fault is not None and fault.kind == "drip" else 0.0,
        )

    def _listed(self, query: dict[str, str], name: str) -> Reply:
        if not self.allow_list:
            return _error(403, "AccessDenied", "Access Denied", "")
        if query.get("list-type") != "2":
            return _error(501, "NotImplemented", "Only ListObjectsV2 and GetObject are served", "")
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        asked = query.get("max-keys", "1000")
        try:
            limit = min(1000, int(asked)) if asked.isdigit() else -1
            token = query.get("continuation-token", "")
            after = base64.b64decode(token, validate=True).decode() if token else query.get("start-after", "")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            limit, after = -1, ""
        if limit < 0:
            return _error(400, "InvalidArgument", "Argument max-keys or token is not valid", name)
        keys = self.contents.keys(prefix, folders_only=delimiter == "/" and "/" not in prefix)
        contents, prefixes, last = page(keys, prefix, delimiter, after, limit)
        following = base64.b64encode(last.encode()).decode() if last is not None else None
        objects = [found for key in contents if (found := self.contents.find(key)) is not None]
        body = _listing(query, limit, objects, prefixes, following)
        return Reply(200, body, {"Content-Type": "application/xml"})


def _broken(fault: Fault, name: str) -> Reply | None:
    """The reply of a fault that needs no object."""
    if fault.kind == "reset":
        return Reply(NO_ANSWER, is_reset=True)
    if fault.kind == "status":
        extra = {"Retry-After": fault.retry_after} if fault.retry_after else {}
        code = "SlowDown" if fault.status == 503 else "InternalError"
        return _error(fault.status, code, "Please reduce your request rate.", name, extra)
    if fault.kind == "html":
        return Reply(200, HTML, {"Content-Type": "text/html"})
    if fault.kind == "redirect":
        return Reply(307, b"", {"Location": fault.location})
    if fault.kind == "drip_headers":
        return Reply(200, drip=fault.seconds, drips_headers=True)
    return None


def _error(status: int, code: str, message: str, key: str, headers: dict[str, str] | None = None) -> Reply:
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message>'
        f"<Key>{escape(quote(key, safe='/?'))}</Key><RequestId>LOOPBACK</RequestId></Error>"
    )
    return Reply(status, text.encode(), {"Content-Type": "application/xml", **(headers or {})})


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
