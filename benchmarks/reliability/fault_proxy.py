"""A proxy on loopback before any HTTP server: requests go on as they came, but those that a fault befalls."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from sources.sample.loopback import NO_ANSWER, LoopbackServer, Reply, Request
from tests.forwarding import passed_on

_HTML = b"<!DOCTYPE html><html><body>Please try again later.</body></html>"
RETRY_AFTER = 7


@dataclass(frozen=True)
class Kind:
    """What goes wrong.

    `status` refuses, with `headers`; `reset` ends the connection before the request has an effect, `lost`
    after it; `drip` sends the answer a byte at a time, `cut` half of it, `short` half of it as if that were
    all, `long` announces more than comes, `flipped` changes bytes of it, `html` is a page with status 200,
    `circle` and `away` redirect to the same address and to another server.
    """

    name: str
    status: int = 0
    waits: bool = False
    """Whether it says how long to wait."""


KINDS = (
    Kind("503", 503),
    Kind("503 Retry-After", 503, waits=True),
    Kind("429", 429),
    Kind("429 Retry-After", 429, waits=True),
    Kind("500", 500),
    Kind("reset"),
    Kind("lost"),
    Kind("drip"),
    Kind("cut"),
    Kind("short"),
    Kind("long"),
    Kind("flipped"),
    Kind("html"),
    Kind("circle"),
    Kind("away"),
)
UNSEEN = frozenset({"short", "flipped"})
"""Kinds that leave an answer whole to whoever is not told a length or a checksum of it beforehand."""


class FaultProxy(LoopbackServer):
    """Context manager: the proxy.

    Args:
        behind: address of the server.
    """

    def __init__(self, behind: str) -> None:
        self.behind = behind
        self._lock = threading.Lock()
        self.calm()

    def calm(self) -> None:
        """Nothing goes wrong; requests are counted anew."""
        self.storm(None, 0, 0)

    def storm(self, kind: Kind | None, first: int, count: int) -> None:
        """Have a fault befall so many requests from the `first`-th from now, which is 1."""
        self.kind, self._first, self._after = kind, first, first + count
        self.asked = self.struck = 0

    def answer(self, request: Request) -> Reply:
        """Pass one request on, or not."""
        with self._lock:
            self.asked += 1
            kind = self.kind if self._first <= self.asked < self._after else None
            self.struck += kind is not None
        if kind is None:
            return self._passed_on(request)
        if kind.status:
            return Reply(kind.status, b"", {"Retry-After": str(RETRY_AFTER)} if kind.waits else {})
        match kind.name:
            case "reset":
                return Reply(NO_ANSWER, is_reset=True)
            case "html":
                return Reply(200, _HTML, {"Content-Type": "text/html"})
            case "circle":
                return Reply(307, b"", {"Location": request.target})
            case "away":
                return Reply(307, b"", {"Location": "http://192.0.2.1/elsewhere"})
        reply = self._passed_on(request)
        return _spoilt(kind.name, reply)

    def _passed_on(self, request: Request) -> Reply:
        reply = passed_on(request, self.behind)
        if reply.body[:1] not in (b"{", b"["):
            return reply
        there, here = (urlsplit(one).netloc.encode() for one in (self.behind, self.root))
        return replace(reply, body=reply.body.replace(there, here))  # links of an API lead through here, too


def _spoilt(name: str, reply: Reply) -> Reply:
    body, half = reply.body, len(reply.body) // 2
    match name:
        case "lost":
            return Reply(NO_ANSWER, is_reset=True)
        case "drip":
            return Reply(reply.status, body or b"x" * 100, reply.headers, drip=0.5)
        case "cut":
            return Reply(reply.status, body, reply.headers, cut=half)
        case "short":
            return Reply(reply.status, body[:half], reply.headers)
        case "long":
            headers = {**reply.headers, "Content-Length": str(len(body) + 10)}
            return Reply(reply.status, body, headers, cut=len(body))
    return Reply(
        reply.status, body[:half] + bytes(byte ^ 0x01 for byte in body[half : half + 8]) + body[half + 8 :],
        reply.headers,
    )  # fmt: skip
