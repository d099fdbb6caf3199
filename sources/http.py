"""A polite HTTP client: pooled, rate-limited per host, patient with busy servers, and safe against bad ones.

Every bound is a setting; a server can delay a download, but it cannot hang it, flood it or lead it elsewhere.
"""

from __future__ import annotations

import email.utils
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Final
from urllib.parse import parse_qsl, urljoin, urlsplit

import requests
import urllib3

from schemas.errors import FetchError, InputError, UsageError
from schemas.stages import Reason
from sources.deadline import Deadline, DeadlineAdapter

_BLOCK: Final = 64 * 1024
_ABSENT: Final = frozenset({403, 404, 410})
_RETRIED: Final = frozenset({408, 429, 500, 502, 503, 504})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SHOWN_PARAMETERS: Final = frozenset({"list-type", "prefix", "delimiter", "max-keys"})
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Bounds of a :class:`PoliteClient`. Times are seconds.

    Attributes:
        allowed_hosts: host names (or `host:port`) that may be asked; no other is, not even by redirect.
        contact: mail address put into the User-Agent, so that a server's operator can write to someone.
        version: version of medqrels for the User-Agent.
        requests_per_second: sustained rate per host.
        burst: requests that may go out at once after a pause.
        connections: size of the connection pool per host.
        connect_seconds: limit for the connection to stand.
        read_seconds: limit for any single wait for bytes.
        deadline_seconds: limit for one whole attempt, headers and body.
        max_attempts: how often one URL is asked before giving up.
        backoff_seconds: first pause after a failure; doubles each time, with jitter.
        backoff_cap_seconds: longest such pause.
        retry_after_cap_seconds: longest pause a server may demand.
        max_redirects: redirects followed for one URL.
    """

    allowed_hosts: tuple[str, ...]
    contact: str
    version: str = "0"
    requests_per_second: float = 50.0
    burst: int = 50
    connections: int = 16
    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    deadline_seconds: float = 180.0
    max_attempts: int = 5
    backoff_seconds: float = 0.5
    backoff_cap_seconds: float = 30.0
    retry_after_cap_seconds: float = 120.0
    max_redirects: int = 3


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer. Header names are lower case; `status` is 200, or 304 when the ETag still holds."""

    url: str
    status: int
    body: bytes
    headers: Mapping[str, str]


class _PassingError(Exception):
    """One attempt failed in a way that may pass; `wait` is what the server asked for, if it did."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.wait = wait


class RateLimit:
    """Token bucket of one host, shared by threads; `hold` pauses all of them when the host is busy."""

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self._rate = rate
        self._burst = float(max(1, burst))
        self._clock = clock
        self._sleep = sleep
        self._tokens = self._burst
        self._last = clock()
        self._not_before = self._last
        self._lock = threading.Lock()

    def take(self) -> None:
        """Wait until one more request may go out."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self._burst, self._tokens + max(0.0, now - self._last) * self._rate) - 1.0
            self._last = now
            wait = max(-self._tokens / self._rate, self._not_before - now)
        if wait > 0:
            self._sleep(wait)

    def hold(self, seconds: float) -> None:
        """Let no request go out for that long."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)


class PoliteClient:
    """GET over HTTP(S) with bounds. Thread-safe; close it, or use it as a context manager.

    Args:
        settings: the bounds.
        rng: source of jitter.
        sleep: how to wait.
        clock: monotonic seconds, for rates and deadlines.
        wall_clock: seconds since the epoch, for Retry-After dates.
    """

    def __init__(
        self,
        settings: ClientSettings,
        *,
        rng: random.Random | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        if "@" not in settings.contact:
            raise UsageError("crawling needs a contact mail address", hint="set MEDQRELS_CONTACT")
        self.settings = settings
        self._rng = rng if rng is not None else random.Random()
        self._sleep, self._clock, self._wall_clock = sleep, clock, wall_clock
        self._limits: dict[str, RateLimit] = {}
        self._lock = threading.Lock()
        self._session = _session(settings)

    def __enter__(self) -> PoliteClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def get(self, url: str, *, max_bytes: int, etag: str | None = None) -> Response | None:
        """Fetch one URL.

        Args:
            url: absolute http(s) URL of an allowed host.
            max_bytes: largest body accepted, in bytes.
            etag: value of an earlier ETag header; when it still holds the answer is status 304 without body.

        Returns:
            The answer, or None when the server says there is no such thing (403, 404, 410).

        Raises:
            FetchError: refused, redirected elsewhere, or still failing after all attempts.
            InputError: the body is larger than `max_bytes` (reason `too_large`).
        """
        what = ""
        for attempt in range(self.settings.max_attempts):
            try:
                return self._follow(url, max_bytes, etag)
            except _PassingError as failure:
                what = failure.what
                if attempt + 1 < self.settings.max_attempts:
                    self._pause(url, attempt, failure.wait)
        raise FetchError(
            f"no good answer after {self.settings.max_attempts} attempts: {what}",
            file=safe_url(url),
            hint="run the same command again later: what is already fetched is kept",
        )

    def _pause(self, url: str, attempt: int, wait: float | None) -> None:
        settings = self.settings
        if wait is not None:
            self._limit(url).hold(min(wait, settings.retry_after_cap_seconds))
            return
        # The exponent is bounded so that a large max_attempts cannot overflow.
        full = min(settings.backoff_cap_seconds, settings.backoff_seconds * 2.0 ** min(attempt, 30))
        self._sleep(full * (0.5 + self._rng.random() / 2))

    def _limit(self, url: str) -> RateLimit:
        host = urlsplit(url).netloc
        with self._lock:
            if host not in self._limits:
                rate, burst = self.settings.requests_per_second, self.settings.burst
                self._limits[host] = RateLimit(rate, burst, self._clock, self._sleep)
            return self._limits[host]

    def _follow(self, url: str, max_bytes: int, etag: str | None) -> Response | None:
        current = url
        for _ in range(self.settings.max_redirects + 1):
            self._check_allowed(current, url)
            self._limit(current).take()
            answer = self._attempt(current, max_bytes, etag)
            if not isinstance(answer, str):
                return answer
            current = urljoin(current, answer)
        raise FetchError(f"more than {self.settings.max_redirects} redirects", file=safe_url(url))

    def _check_allowed(self, url: str, origin: str) -> None:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise FetchError("not a URL", file=safe_url(url)) from None
        allowed = host in self.settings.allowed_hosts or f"{host}:{port}" in self.settings.allowed_hosts
        if parts.scheme not in ("http", "https") or parts.username or parts.password or not allowed:
            raise FetchError(
                f"refused to ask {host or 'no host'!r}: not an allowed host",
                file=safe_url(origin),
                hint="the hosts a crawl may ask are the endpoints in the settings",
            )
        if parts.scheme == "http" and urlsplit(origin).scheme == "https":
            raise FetchError("refused a redirect from https to http", file=safe_url(origin))

    def _attempt(self, url: str, max_bytes: int, etag: str | None) -> Response | str | None:
        """One request: the answer, None when absent, or the target of a redirect."""
        settings = self.settings
        deadline = Deadline(settings.deadline_seconds, self._clock)
        headers = {"If-None-Match": etag} if etag else {}
        # '' switches off a proxy of the environment, which could not reach this machine's own loopback.
        proxies = {"http": "", "https": ""} if urlsplit(url).hostname in _LOOPBACK else None
        timeout = (settings.connect_seconds, settings.read_seconds)
        try:
            with (
                deadline,
                self._session.get(
                    url, headers=headers, timeout=timeout, stream=True, allow_redirects=False, proxies=proxies
                ) as answer,
            ):
                return self._read(answer, url, max_bytes, deadline)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            # The text of these errors holds URLs and addresses; the kind says enough.
            late = f" (deadline of {settings.deadline_seconds:g} s)" if deadline.is_over() else ""
            raise _PassingError(f"{type(error).__name__}{late}") from None

    def _read(
        self, answer: requests.Response, url: str, max_bytes: int, deadline: Deadline
    ) -> Response | str | None:
        status = answer.status_code
        if status in _ABSENT:
            return None
        if status in _REDIRECTS and answer.headers.get("location"):
            return str(answer.headers["location"])
        if status in _RETRIED:
            raise _PassingError(f"HTTP {status}", self._retry_after(answer.headers.get("retry-after")))
        if status not in (200, 304):
            raise FetchError(f"HTTP {status}", file=safe_url(url))
        body = b"" if status == 304 else _body(answer, url, max_bytes, deadline)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Response(url=url, status=status, body=body, headers=headers)

    def _retry_after(self, value: str | None) -> float | None:
        """Seconds a Retry-After header asks for: a number or an HTTP date (RFC 9110, 10.2.3)."""
        text = (value or "").strip()
        if text.isascii() and text.isdigit():
            return float(text[:9])
        try:
            return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - self._wall_clock())
        except (ValueError, TypeError, OverflowError):
            return None


def _session(settings: ClientSettings) -> requests.Session:
    session = requests.Session()
    session.headers["User-Agent"] = f"medqrels/{settings.version} (mailto:{settings.contact})"
    session.headers["Accept-Encoding"] = "identity"
    session.headers["Accept"] = "*/*"
    session.auth = _no_credentials  # otherwise requests would read a .netrc
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    for scheme in ("http://", "https://"):
        session.mount(
            scheme,
            DeadlineAdapter(
                pool_connections=8, pool_maxsize=settings.connections, max_retries=0, pool_block=False
            ),
        )
    return session


def _no_credentials(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


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
            raise _PassingError(f"still sending at the deadline of {deadline.seconds:g} s")
        pieces.append(piece)
    if deadline.is_over():
        raise _PassingError(f"still sending at the deadline of {deadline.seconds:g} s")
    if announced is not None and size != announced and not answer.headers.get("content-encoding"):
        raise _PassingError(f"truncated: {size} of {announced} bytes")
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
