"""Replies that come to an end: a wait for each byte bounds neither their sum nor their size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import cast

import httpx

MOST_BYTES = 1 << 30
"""More than a listing of tasks with images inside ever has."""
SLOWEST = 8192
"""Bytes per second below which a reply is given up."""


class Bounded(httpx.SyncByteStream):
    """A reply's body, given up when it is too slow or too long.

    Args:
        body: as it comes.
        seconds: allowance beside that for its bytes.
        request: what it replies to.
    """

    def __init__(self, body: httpx.SyncByteStream, seconds: float, request: httpx.Request) -> None:
        self._body, self._seconds, self._request = body, seconds, request

    def __iter__(self) -> Iterator[bytes]:
        """Its parts.

        Raises:
            httpx.ReadTimeout: it is too slow.
            httpx.ReadError: it is too long.
        """
        begun, size = time.monotonic(), 0
        for part in self._body:
            size += len(part)
            if size > MOST_BYTES:
                raise httpx.ReadError("the reply is too long", request=self._request)
            if time.monotonic() > begun + self._seconds + size / SLOWEST:
                raise httpx.ReadTimeout("the reply is too slow", request=self._request)
            yield part

    def close(self) -> None:
        """Close what is beneath."""
        self._body.close()


def bound(response: httpx.Response, seconds: float) -> None:
    """Have a reply's body, not read yet, come to an end."""
    body = cast("httpx.SyncByteStream", response.stream)
    response.stream = Bounded(body, seconds, response.request)
