"""Requests to the review server: tries, waits, tokens, and what an error may say."""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests

from schemas.errors import FetchError, UsageError

T = TypeVar("T")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_ACCESS_SECONDS = 240.0
"""An access token lives 300 s; it is renewed before."""
_BUSY = frozenset({429, 503})
_BROKEN = frozenset({500, 502, 504})
_DETAIL = 300


class UnconfirmedError(FetchError):
    """Something was sent once and no usable reply came: whether it was done has to be looked up."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Tries per request and waits between them, in seconds."""

    attempts: int = 8
    first_wait: float = 0.5
    longest_wait: float = 30.0
    connect_timeout: float = 10.0
    read_timeout: float = 300.0

    def wait(self, attempt: int, asked: str = "") -> float:
        """Seconds before the next try; `asked` is the server's Retry-After in seconds."""
        own = self.first_wait * 2**attempt
        return min(self.longest_wait, float(asked) if asked.isdigit() else own)


class _Token(requests.auth.AuthBase):
    """The Authorization header; being an `auth`, it also keeps requests from reading ~/.netrc."""

    def __init__(self) -> None:
        self.header = ""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self.header:
            request.headers["Authorization"] = self.header
        return request


class Transport:
    """One connection pool with one token."""

    def __init__(self, url: str, api_key: str, allow_plain_http: bool, patience: Patience) -> None:
        check_address(url, allow_plain_http)
        if not api_key.strip():
            raise UsageError("no token for the review server", hint="set LABEL_STUDIO_API_KEY")
        self._url, self._key, self._patience = url, api_key.strip(), patience
        self._session = requests.Session()
        self._session.trust_env = urlsplit(url).hostname not in LOOPBACK  # no proxy to this very machine
        self._session.auth = self._token = _Token()
        self._is_refresh = _token_type(self._key) == "refresh"
        self._renewed = 0.0
        if not self._is_refresh:
            kind = "Bearer" if _token_type(self._key) == "access" else "Token"
            self._token.header = f"{kind} {self._key}"

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def get(self, path: str, read: Callable[[Any], T], params: Mapping[str, Any] | None = None) -> T:
        """GET; `read` takes the JSON body and raises when it is not what was asked for.

        Raises:
            UsageError: the server refuses the token or the request.
            FetchError: it could not be reached, or kept answering badly.
        """
        return self._call("GET", path, read, params=params, repeat=True)

    def send(self, method: str, path: str, body: Any, read: Callable[[Any], T], *, repeat: bool = False) -> T:
        """Send JSON. Without `repeat` it is sent once only, unless the server says that it did nothing.

        Raises:
            UnconfirmedError: sent once, without a usable reply.
            UsageError: the server refuses the token or the request.
            FetchError: it could not be reached, or kept answering badly.
        """
        return self._call(method, path, read, body=body, repeat=repeat)

    def header(self, path: str, name: str) -> str:
        """One header of the answer to a GET."""
        said: list[str] = []
        self._call("GET", path, lambda body: None, repeat=True, note=lambda h: said.append(h.get(name, "")))
        return said[-1]

    def submit_form(self, page: str, fields: Mapping[str, str]) -> None:
        """Fill in a form of the site, without the token."""
        if not page.startswith(f"{self._url}/"):
            raise FetchError("the review server invites to another address", file=self._url)
        with requests.Session() as visitor:
            visitor.trust_env = self._session.trust_env
            timeout = (self._patience.connect_timeout, self._patience.read_timeout)
            try:
                visitor.get(page, timeout=timeout)
                data = {"csrfmiddlewaretoken": visitor.cookies.get("csrftoken", ""), **fields}
                visitor.post(page, data, headers={"Referer": page}, timeout=timeout, allow_redirects=False)
            except requests.RequestException as error:
                raise self._unreachable(error) from None

    def _call(
        self,
        method: str,
        path: str,
        read: Callable[[Any], T],
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        repeat: bool,
        note: Callable[[Mapping[str, str]], None] | None = None,
    ) -> T:
        problem: FetchError = FetchError("the review server was not contacted", file=self._url)
        renewed = False
        for attempt in range(self._patience.attempts):
            asked = ""
            try:
                answer = self._once(method, path, params, body)
            except requests.ConnectTimeout as error:
                problem = self._unreachable(error)  # nothing was sent
            except requests.RequestException as error:
                problem = self._unreachable(error)
                if not repeat:
                    raise self._unconfirmed(problem) from None
            else:
                if answer.status_code == 401 and self._is_refresh and not renewed:
                    self._renewed, renewed = 0.0, True
                    continue
                done, value, problem = self._judge(answer, read)
                if done:
                    if note is not None:
                        note(answer.headers)
                    return value  # type: ignore[return-value]
                if not repeat and answer.status_code not in _BUSY:
                    raise self._unconfirmed(problem)
                asked = answer.headers.get("Retry-After", "")
            if attempt + 1 < self._patience.attempts:
                time.sleep(self._patience.wait(attempt, asked))
        raise problem

    def _once(self, method: str, path: str, params: Mapping[str, Any] | None, body: Any) -> requests.Response:
        is_old = time.monotonic() - self._renewed > _ACCESS_SECONDS
        if self._is_refresh and (is_old or not self._token.header):
            self._renew()
        return self._raw(method, path, params, body)

    def _raw(self, method: str, path: str, params: Mapping[str, Any] | None, body: Any) -> requests.Response:
        encoded = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        return self._session.request(
            method,
            self._url + path,
            params=params,
            data=encoded,
            headers={"Accept": "application/json", "Content-Type": "application/json"},
            timeout=(self._patience.connect_timeout, self._patience.read_timeout),
            allow_redirects=False,  # a redirect could carry the token to another place
        )

    def _renew(self) -> None:
        """Exchange a personal access token for an access token."""
        self._token.header = ""
        answer = self._raw("POST", "/api/token/refresh/", None, {"refresh": self._key})
        done, access, problem = self._judge(answer, lambda body: str(body["access"]))
        if not done:
            raise requests.ConnectionError(problem.message)
        self._token.header = f"Bearer {access}"
        self._renewed = time.monotonic()

    def _judge(
        self, answer: requests.Response, read: Callable[[Any], T]
    ) -> tuple[bool, T | None, FetchError]:
        """(whether it is a good answer, its value, what is wrong and may pass). Refusals are raised."""
        code = answer.status_code
        if 200 <= code < 300:
            try:
                value = read(answer.json() if answer.content else None)
            except (ValueError, KeyError, TypeError, IndexError, AttributeError):
                return False, None, self._problem("answers with something else than Label Studio's JSON")
            return True, value, self._problem("")
        if code in _BUSY or code in _BROKEN:
            return False, None, self._problem(f"answers {code}")
        if code == 401:
            raise UsageError(
                "the review server refuses the token",
                file=self._url,
                hint="set LABEL_STUDIO_API_KEY to a token of Account & Settings; legacy tokens may be "
                "switched off there",
            )
        if code in (301, 302, 303, 307, 308):
            raise UsageError(
                "the review server is at another address: it redirects",
                file=self._url,
                hint="set LABEL_STUDIO_URL to the address the browser is redirected to",
            )
        raise UsageError(f"the review server answers {code}{self._detail(answer)}", file=self._url)

    def _detail(self, answer: requests.Response) -> str:
        """What the server says is wrong: the fields meant for people, cut, without token or cookies."""
        try:
            body = answer.json()
        except ValueError:
            return ""
        if not isinstance(body, dict):
            return ""
        told = body.get("validation_errors") or body.get("detail") or ""
        text = json.dumps(told, ensure_ascii=False) if not isinstance(told, str) else told
        for secret in (self._key, self._token.header.rpartition(" ")[2]):
            text = text.replace(secret, "…") if secret else text
        return f": {text[:_DETAIL]}" if text else ""

    def _problem(self, message: str) -> FetchError:
        return FetchError(
            f"the review server {message}", file=self._url, hint="the same command continues from here"
        )

    def _unreachable(self, error: requests.RequestException) -> FetchError:
        return self._problem(
            f"cannot be reached ({type(error).__name__})"
        )  # its text may hold the URL's query

    def _unconfirmed(self, problem: FetchError) -> UnconfirmedError:
        return UnconfirmedError(problem.message, file=problem.file, hint=problem.hint)


def check_address(url: str, allow_plain_http: bool) -> None:
    """Refuse an address that is none, holds a password, or would carry a token in the clear.

    Raises:
        UsageError: see above.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("LABEL_STUDIO_URL is not an http(s) address", hint="e.g. https://label.example.org")
    if parts.username or parts.password or parts.query:
        raise UsageError(
            "LABEL_STUDIO_URL holds more than an address", hint="put the token into LABEL_STUDIO_API_KEY"
        )
    if parts.scheme == "http" and parts.hostname not in LOOPBACK and not allow_plain_http:
        raise UsageError(
            "a token is not sent over plain http to another machine",
            file=f"http://{parts.hostname}",
            hint="use https, or --allow-http on a network you trust",
        )


def _token_type(key: str) -> str:
    """`token_type` of a JSON web token; '' for a legacy token."""
    parts = key.split(".")
    if len(parts) != 3:
        return ""
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return str(claims.get("token_type", "refresh"))
    except (ValueError, binascii.Error, AttributeError):
        return ""
