"""A polite HTTP client: pooled, rate-limited per host, patient with busy servers, and safe against bad ones.

Every bound is a setting; a server can delay a download, but it cannot hang it, flood it or lead it elsewhere.
"""

from __future__ import annotations

import contextlib
import email.utils
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urljoin, urlsplit

import requests
from requests.utils import get_environ_proxies

from schemas.address import LOOPBACK, is_private
from schemas.errors import ChecksumMismatch, FetchError, UsageError
from sources.http.answers import BODY_ERRORS, PassingError, Take, drain, into, whole
from sources.http.answers import Response as Response
from sources.http.answers import safe_url as safe_url
from sources.http.deadline import Deadline, DeadlineAdapter
from sources.http.part_file import Download, PartFile
from sources.http.rate_limit import RateLimit

_ABSENT: Final = frozenset({403, 404, 410})
_RETRIED: Final = frozenset({408, 429, 500, 502, 503, 504})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CHECKSUM_ATTEMPTS: Final = 3

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Bounds of a :class:`PoliteClient`. Times are seconds.

    Attributes:
        allowed_hosts: host names (or `host:port`) that may be asked; no other is, not even by redirect.
        contact: mail address put into the User-Agent, so that a server's operator can write to someone.
        version: version of medqrels for the User-Agent.
        requests_per_second: sustained rate per host.
        burst: requests that may go out at once after a pause.
        rates: hosts (as in `allowed_hosts`) with a rate of their own; their requests are spaced evenly, since
            a host that states a limit counts every second.
        connections: size of the connection pool per host.
        connect_seconds: limit for the connection to stand.
        read_seconds: limit for any single wait for bytes.
        deadline_seconds: limit for one whole attempt, headers and body.
        slowest_bytes_per_second: files on their way to disk may take longer, down to this speed.
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
    rates: Mapping[str, float] = field(default_factory=dict)
    connections: int = 32
    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    deadline_seconds: float = 180.0
    slowest_bytes_per_second: float = 64 * 1024
    max_attempts: int = 5
    backoff_seconds: float = 0.5
    backoff_cap_seconds: float = 30.0
    retry_after_cap_seconds: float = 120.0
    max_redirects: int = 3


@dataclass(frozen=True, slots=True)
class _Redirect:
    location: str


class PoliteClient:
    """HTTP(S) with bounds. Thread-safe; close it, or use it as a context manager.

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
        self._proxies: dict[str, dict[str, str]] = {}
        self._lock = threading.Lock()
        self._headers = {
            "User-Agent": f"medqrels/{settings.version} (mailto:{settings.contact})",
            "Accept-Encoding": "identity",
            "Accept": "*/*",
        }
        # No session: one keeps cookies, looks for credentials, and reads bodies of redirects to look ahead.
        self._adapter = DeadlineAdapter(pool_connections=8, pool_maxsize=settings.connections)
        self._certificates = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True

    def __enter__(self) -> PoliteClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._adapter.close()

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
        headers = {"If-None-Match": etag} if etag else {}
        return self._patiently(url, lambda: self._follow(url, whole(max_bytes), headers))

    def post_form(self, url: str, fields: Mapping[str, str], *, max_bytes: int) -> Response | None:
        """Send form fields, for queries too long for a URL; repeated after a failure, as a GET is.

        Args:
            url: absolute http(s) URL of an allowed host; a redirect is refused.
            fields: the form; they never show in messages.
            max_bytes: largest body accepted, in bytes.

        Returns, Raises: as :meth:`get`.
        """
        return self._patiently(url, lambda: self._follow(url, whole(max_bytes), {}, form=fields))

    def get_to_file(
        self, url: str, path: Path, *, max_bytes: int, md5: str | None = None, etag: str | None = None
    ) -> Download | None:
        """Fetch one large file to disk in constant memory; go on where a cut or a crash ended it.

        One caller per `path` at a time.

        The bytes so far stand beside `path` as `.NAME.part`; a later call for the same URL asks for the rest
        if the server still has the same file (Range and If-Range by strong ETag or date), else for all of it.
        Attempts that bring at least 1 MiB more than ever before do not count against `max_attempts`.

        Args:
            url: absolute http(s) URL of an allowed host.
            path: where the file goes, under its name only when whole; its folder is made.
            max_bytes: largest file accepted, in bytes.
            md5: hex MD5 it must have.
            etag: value of an earlier ETag header; when it still holds nothing is written and `status` is 304.

        Returns:
            Path, size, SHA-256 and MD5 of the bytes as sent, headers (lower case); None when the server says
            there is no such thing (403, 404, 410).

        Raises:
            ChecksumMismatch: whole, but three times not of that MD5.
            FetchError: refused, redirected elsewhere, or still failing after all attempts.
            InputError: larger than `max_bytes` (reason `too_large`).
            WorkspaceError: the disk cannot be written.
        """
        with PartFile(path, url) as part:
            take = into(part, max_bytes, self.settings.slowest_bytes_per_second)

            def once() -> Download | None:
                found = self._follow(url, take, part.request_headers(etag))
                if found is not None and found.status == 304 and etag is None:
                    raise PassingError("HTTP 304, unasked")
                return _checked(part, found, md5)

            return self._patiently(url, once, part.has_grown)

    def _patiently(self, url: str, once: Callable[[], T], has_grown: Callable[[], bool] = lambda: False) -> T:
        failures = 0
        while True:
            try:
                return once()
            except PassingError as failure:
                failures = 1 if has_grown() else failures + 1
                if failures >= self.settings.max_attempts:
                    raise FetchError(
                        f"no good answer after {failures} attempts: {failure.what}",
                        file=safe_url(url),
                        hint="run the same command again later: what is already fetched is kept",
                    ) from None
                self._pause(url, failures - 1, failure.wait)

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
                settings = self.settings
                own = settings.rates.get(host) or settings.rates.get(urlsplit(url).hostname or "")
                rate, burst = (own, 1) if own else (settings.requests_per_second, settings.burst)
                self._limits[host] = RateLimit(rate, burst, self._clock, self._sleep)
            return self._limits[host]

    def _follow(
        self, url: str, take: Take[T], headers: Mapping[str, str], form: Mapping[str, str] | None = None
    ) -> T | None:
        current = url
        for _ in range(self.settings.max_redirects + 1):
            self._check_allowed(current, url)
            self._limit(current).take()
            answer = self._attempt(current, take, headers, form)
            if not isinstance(answer, _Redirect):
                return answer
            if form is not None:
                raise FetchError("refused to follow the redirect of a form", file=safe_url(url))
            current = urljoin(current, answer.location)
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
        if not is_private(url):
            raise FetchError(
                "refused to ask another machine over plain http",
                file=safe_url(origin),
                hint="name the endpoint with https://",
            )

    def _attempt(
        self, url: str, take: Take[T], headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> T | _Redirect | None:
        """One request: what `take` makes of the answer, None when absent, or where it redirects to."""
        settings = self.settings
        deadline = Deadline(settings.deadline_seconds, self._clock)
        try:
            with deadline, contextlib.closing(self._send(url, headers, form)) as answer:
                return self._read(answer, url, take, deadline)
        except BODY_ERRORS as error:  # those of requests are of OSError
            # The text of these errors holds URLs and addresses; the kind says enough.
            late = f" (deadline of {settings.deadline_seconds:g} s)" if deadline.is_over() else ""
            raise PassingError(f"{type(error).__name__}{late}") from None

    def _send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> requests.Response:
        """The answer's head; closing it gives an unread connection up."""
        settings = self.settings
        method = "GET" if form is None else "POST"
        request = requests.Request(method, url, headers={**self._headers, **headers}, data=form).prepare()
        return self._adapter.send(
            request,
            stream=True,
            timeout=(settings.connect_seconds, settings.read_seconds),
            verify=self._certificates,
            proxies=self._proxies_of(url),
        )

    def _proxies_of(self, url: str) -> dict[str, str]:
        """The proxies that the environment names for a host when it is first asked."""
        parts = urlsplit(url)
        with self._lock:
            site = f"{parts.scheme}://{parts.netloc}"
            if site not in self._proxies:
                # A proxy could not reach this machine's own loopback.
                self._proxies[site] = {} if parts.hostname in LOOPBACK else get_environ_proxies(url)
            return self._proxies[site]

    def _read(
        self, answer: requests.Response, url: str, take: Take[T], deadline: Deadline
    ) -> T | _Redirect | None:
        status = answer.status_code
        if status not in (200, 206):
            drain(answer, deadline)
        if status in _ABSENT:
            return None
        if status in _REDIRECTS and answer.headers.get("location"):
            return _Redirect(str(answer.headers["location"]))
        if status in _RETRIED:
            raise PassingError(f"HTTP {status}", self._retry_after(answer.headers.get("retry-after")))
        return take(answer, url, deadline)

    def _retry_after(self, value: str | None) -> float | None:
        """Seconds a Retry-After header asks for: a number or an HTTP date (RFC 9110, 10.2.3)."""
        text = (value or "").strip()
        if text.isascii() and text.isdigit():
            return float(text[:9])
        try:
            return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - self._wall_clock())
        except (ValueError, TypeError, OverflowError):
            return None


def _checked(part: PartFile, found: Download | None, md5: str | None) -> Download | None:
    """Gives a whole part its name if it has the MD5 it must have."""
    if found is None:
        part.discard()
        return None
    if found.status == 304:
        return found
    if md5 is None or part.md5 == md5.lower():
        return part.finish(found.headers)
    part.reject()
    if part.rejections == _CHECKSUM_ATTEMPTS:
        raise ChecksumMismatch("the bytes differ from the announced MD5", file=safe_url(found.url))
    raise PassingError("the bytes differ from the announced MD5")
