"""How the Hub's endpoints are told apart, and the forms its answers have."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sources.sample.loopback import Reply, Request


class Refusal(Exception):  # noqa: N818 - it is an answer
    """An error as the Hub answers it."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


def query_of(request: Request) -> dict[str, list[str]]:
    """Fields of the query."""
    return parse_qs(urlsplit(request.target).query)


def as_json(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    """An answer in JSON."""
    return Reply(status, json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})})


def as_bytes(request: Request, content: bytes, headers: dict[str, str]) -> Reply:
    """A file, or the part of it that was asked for."""
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range", ""))
    headers = {"Content-Type": "application/octet-stream", **headers}
    if asked is None:
        return Reply(200, content, headers)
    first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
    if first > last:
        return Reply(416, b"", headers)
    held = {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
    return Reply(206, content[first : last + 1], headers | held)


_ID = r"(?P<id>[^/]+/[^/]+)"
_API = rf"/api/datasets/{_ID}"
_REV = r"(?P<rev>[^/]+)"
_SLUG = r"/api/collections/(?P<slug>[^/]+/[^/]+)"
ROUTES = (
    ("GET", "/api/whoami-v2", "whoami"),
    ("POST", "/api/repos/create", "create"),
    ("POST", "/api/validate-yaml", "validate-yaml"),
    ("GET", "/api/collections", "collection-list"),
    ("POST", "/api/collections", "collection-create"),
    ("POST", f"{_SLUG}/items", "collection-item"),
    ("DELETE", f"{_SLUG}/items/(?P<item>[^/]+)", "collection-item-delete"),
    ("GET", _SLUG, "collection"),
    ("PUT", f"{_API}/settings", "settings"),
    ("GET", f"{_API}/refs", "refs"),
    ("GET", f"{_API}/commits/{_REV}", "commits"),
    ("GET", f"{_API}/tree/{_REV}(?:/(?P<folder>.+))?", "tree"),
    ("POST", f"{_API}/paths-info/{_REV}", "paths-info"),
    ("POST", f"{_API}/preupload/{_REV}", "preupload"),
    ("POST", f"{_API}/commit/{_REV}", "commit"),
    ("POST", f"{_API}/tag/{_REV}", "tag"),
    ("DELETE", f"{_API}/tag/{_REV}", "tag-delete"),
    ("POST", f"{_API}/super-squash/{_REV}", "squash"),
    ("GET", f"{_API}/lfs-files", "lfs-files"),
    ("POST", f"{_API}/lfs-files/batch", "lfs-delete"),
    ("GET", f"{_API}/xet-(?P<kind>read|write)-token/{_REV}", "xet-token"),
    ("GET", f"{_API}/revision/{_REV}", "info"),
    ("GET", _API, "info"),
    ("POST", rf"/datasets/{_ID}\.git/info/lfs/objects/batch", "lfs-batch"),
    ("PUT", r"/lfs/(?P<id>[^/]+)/(?P<sha256>[0-9a-f]{64})", "lfs-put"),
    ("POST", f"/lfs-verify/{_ID}", "lfs-verify"),
    ("GET|HEAD", f"/datasets/{_ID}/resolve/{_REV}/(?P<file>.+)", "resolve"),
    ("GET|HEAD", r"/cdn/(?P<id>[^/]+)/(?P<sha256>[0-9a-f]{64})/(?P<size>\d+)", "cdn"),
)
"""(methods, path, name of the endpoint), the first that fits counts."""
