"""Passing a request on to the server behind a proxy, as it came: signatures, escapes and all."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

from sources.sample.loopback import NO_ANSWER, Reply, Request

_OF_THE_HOP = frozenset({"connection", "transfer-encoding", "content-length", "server", "date"})
_PATIENCE_SECONDS = 60


def passed_on(request: Request, behind: str) -> Reply:
    """What the server behind replies; no answer when it cannot be reached or breaks off.

    Args:
        request: as it came.
        behind: address of the server; of a path only the host counts.
    """
    link = http.client.HTTPConnection(urlsplit(behind).netloc, timeout=_PATIENCE_SECONDS)
    try:
        link.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
        for name, value in request.headers.items():
            if name.lower() not in ("connection", "expect"):
                link.putheader(name, value)
        link.endheaders(request.body)
        told = link.getresponse()
        headers = {name: value for name, value in told.getheaders() if name.lower() not in _OF_THE_HOP}
        if request.method == "HEAD":
            headers["Content-Length"] = told.getheader("Content-Length") or "0"
        return Reply(told.status, told.read(), headers)
    except (OSError, http.client.HTTPException):
        return Reply(NO_ANSWER)
    finally:
        link.close()
