"""What is made of an HTTP answer: a body in memory or a file on disk, within bounds of size and time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import parse_qsl, urlsplit

import requests
from requests.exceptions import BaseHTTPError  # type: ignore[attr-defined] # of what answers are read through

from schemas.errors import FetchError, InputError
from schemas.stages import Reason
from sources.http.deadline import Deadline
from sources.http.part_file import Download, PartFile

_BLOCK: Final = 64 * 1024
_DRAINED: Final = 256 * 1024
_SHOWN_PARAMETERS: Final = frozenset({"list-type", "prefix", "delimiter", "max-keys"})

T = TypeVar("T")
BODY_ERRORS: Final = (BaseHTTPError, OSError)
"""What reading a body may raise."""
Take = Callable[[requests.Response, str, Deadline], T]
"""Turns an answer (asked of that URL, within that deadline) into what the caller wants."""


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer. Header names are lower case; `status` is 200, or 304 when the ETag still holds."""

    url: str
    status: int
    body: bytes
    headers: Mapping[str, str]


class PassingError(Exception):
    """One attempt failed in a way that may pass; `wait` is what the server asked for, if it did."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.wait = wait


def whole(max_bytes: int) -> Take[Response]:
    """Takes a whole body into memory."""

    def take(answer: requests.Response, url: str, deadline: Deadline) -> Response:
        status = answer.status_code
        if status not in (200, 304):
            raise FetchError(f"HTTP {status}", file=safe_url(url))
        body = b"" if status == 304 else _body(answer, url, max_bytes, deadline)
        return Response(url=url, status=status, body=body, headers=_headers(answer))

    return take


def into(part: PartFile, max_bytes: int, slowest: float) -> Take[Download]:
    """Puts a body into a part, from its start or from where it stopped; hashes are left to `part.finish`.

    Args:
        part: the open part of the file.
        max_bytes: largest file accepted.
        slowest: bytes per second below which a server is given up once its deadline is over.
    """

    def take(answer: requests.Response, url: str, deadline: Deadline) -> Download:
        status, headers = answer.status_code, _headers(answer)
        if status == 304:
            known = 200 if part.is_complete else 304
            return Download(url, part.target, known, part.size, "", "", headers)
        if status == 200:
            part.begin(headers)
        elif status == 416 or (status == 206 and not part.continues(headers)):
            part.discard()
            raise PassingError("the file changed while it was fetched")
        elif status != 206:
            raise FetchError(f"HTTP {status}", file=safe_url(url))
        if part.total is not None and part.total > max_bytes:
            part.discard()
            raise _too_large(url, max_bytes)
        enough = (part.total - part.size) / slowest if part.total is not None else 0.0
        _pour(answer, url, part, max_bytes, deadline.at_least(enough))
        return Download(url, part.target, 200, part.size, "", "", headers)

    return take


def drain(answer: requests.Response, deadline: Deadline) -> None:
    """Read the body of an answer that is not wanted, if it is short: its connection can be used again."""
    left = _DRAINED
    with contextlib.suppress(*BODY_ERRORS):
        while left > 0 and not deadline.is_over() and (piece := answer.raw.read1(_BLOCK)):
            left -= len(piece)


def _pour(answer: requests.Response, url: str, part: PartFile, max_bytes: int, deadline: Deadline) -> None:
    # Not decoded: a tarball labelled `Content-Encoding: gzip` is the file, and ranges count bytes as sent.
    while piece := answer.raw.read1(_BLOCK, decode_content=False):
        if part.size + len(piece) > max_bytes:
            part.discard()
            raise _too_large(url, max_bytes)
        part.append(piece)
        if deadline.is_over():
            raise PassingError(f"still sending at the deadline of {deadline.seconds:g} s")
    if part.total is not None and part.size != part.total:
        raise PassingError(f"truncated: {part.size} of {part.total} bytes")


def _headers(answer: requests.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}


def _body(answer: requests.Response, url: str, max_bytes: int, deadline: Deadline) -> bytes:
    """The whole body, read piece by piece so that size and time are checked as it comes."""
    length = answer.headers.get("content-length", "")
    announced = int(length) if length.isascii() and length.isdigit() and len(length) < 16 else None
    if announced is not None and announced > max_bytes:
        raise _too_large(url, max_bytes)
    pieces: list[bytes] = []
    size = 0
    # read1 returns what has come; read would wait for a full block and let a slow drip run past the deadline.
    while piece := answer.raw.read1(_BLOCK, decode_content=True):
        size += len(piece)
        if size > max_bytes:
            raise _too_large(url, max_bytes)
        if deadline.is_over():
            raise PassingError(f"still sending at the deadline of {deadline.seconds:g} s")
        pieces.append(piece)
    if deadline.is_over():
        raise PassingError(f"still sending at the deadline of {deadline.seconds:g} s")
    if announced is not None and size != announced and not answer.headers.get("content-encoding"):
        raise PassingError(f"truncated: {size} of {announced} bytes")
    return b"".join(pieces)


def _too_large(url: str, max_bytes: int) -> InputError:
    return InputError(
        f"larger than the limit of {max_bytes} bytes", reason=Reason.TOO_LARGE.value, file=safe_url(url)
    )


def safe_url(url: str) -> str:
    """A URL for messages: no user, no password, no values of parameters that could be secrets."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
        query = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return "(unreadable URL)"
    shown = "&".join(f"{name}={value}" if name in _SHOWN_PARAMETERS else f"{name}=…" for name, value in query)
    return f"{parts.scheme}://{host}{port}{parts.path}" + (f"?{shown}" if shown else "")
