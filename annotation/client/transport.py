"""What is asked of the review server through label-studio-sdk: tries, waits, and what an error may say.

The SDK is told to try once (`max_retries=0`): by itself it sends an import again whose reply was lost, which
doubles the tasks. Whether something may be repeated is known here. Its errors hold headers, cookies with
them, so none of their text is passed on.
"""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import requests

from schemas.address import is_here, is_private
from schemas.errors import FetchError, UsageError

if TYPE_CHECKING:
    import httpx
    from label_studio_sdk import LabelStudio

T = TypeVar("T")
_BUSY = frozenset({429, 503})
_BROKEN = frozenset({500, 502, 504})
_DETAIL = 300
_REFUSALS = 3
"""Connections this machine may refuse: a server on it that is down does not come back while one waits."""
_NO_REPLY = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading a reply raises that is not of the form Label Studio's have."""
_NOT_ITS_JSON = "answers with something else than Label Studio's JSON"


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


class Transport:
    """One account's connections to a server."""

    def __init__(self, url: str, api_key: str, allow_plain_http: bool, patience: Patience) -> None:
        check_address(url, allow_plain_http)
        if not api_key.strip():
            raise UsageError("no token for the review server", hint="set LABEL_STUDIO_API_KEY")
        self._url, self._key, self._patience = url, api_key.strip(), patience
        self._is_here = is_here(url)
        self._sent = ""
        try:
            import httpx
            import label_studio_sdk

            from annotation.client.bounded import bound
        except ImportError as error:
            raise UsageError(
                "review needs the package label-studio-sdk",
                hint="install the extra: make setup EXTRAS=review (Python before 3.14)",
            ) from error
        try:
            self._web = httpx.Client(
                timeout=httpx.Timeout(patience.read_timeout, connect=patience.connect_timeout),
                follow_redirects=False,  # a redirect could carry the token to another place
                trust_env=not self._is_here,  # no proxy to this very machine
                verify=_authorities(),
                event_hooks={
                    "request": [self._note],
                    "response": [lambda reply: bound(reply, patience.read_timeout)],
                },
            )
        except (ImportError, ValueError, OSError) as error:
            raise UsageError(
                "a proxy or certificates that the environment names cannot be used",
                hint="look at HTTPS_PROXY, ALL_PROXY and REQUESTS_CA_BUNDLE",
            ) from error
        self._sdk = label_studio_sdk
        self._studio: LabelStudio | None = None

    def close(self) -> None:
        """Close the connections."""
        self._web.close()

    def ask(self, question: Callable[[LabelStudio], T], *, repeat: bool = True) -> T:
        """What a question gives; it makes one request and raises when the reply is not what was asked for.

        Args:
            question: uses the SDK.
            repeat: whether it may be asked again without knowing what came of it. If not, it is sent once
                only, unless the server cannot be reached or says that it did nothing.

        Raises:
            UnconfirmedError: sent once, without a usable reply.
            UsageError: the server refuses the token or the request.
            FetchError: it could not be reached, or kept answering badly.
        """
        import httpx
        from label_studio_sdk.core.api_error import ApiError
        from label_studio_sdk.core.parse_error import ParsingError

        problem = self._problem("was not contacted")
        renewed, refusals = False, 0
        for attempt in range(self._patience.attempts):
            asked, may_be_done = "", False
            try:
                return question(self._signed_in())
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                problem = self._unreachable(error)  # nothing was sent
                refusals += 1
                if self._is_here and refusals == _REFUSALS:
                    break
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                problem, may_be_done = self._unreachable(error), True
            except ApiError as error:
                code = error.status_code or 0
                if code == 401 and self._is_exchanged() and not renewed:
                    self._studio, renewed = None, True
                    continue
                problem = self._judged(code, error.body)
                may_be_done = code not in _BUSY
                asked = (error.headers or {}).get("retry-after", "")
            except (ParsingError, *_NO_REPLY):
                problem, may_be_done = self._problem(_NOT_ITS_JSON), True
            if may_be_done and not repeat:
                raise self._unconfirmed(problem) from None
            if attempt + 1 < self._patience.attempts:
                time.sleep(self._patience.wait(attempt, asked))
        raise problem

    def submit_form(self, page: str, fields: Mapping[str, str]) -> None:
        """Fill in a form of the site, without the token: the SDK speaks with the API alone."""
        if not page.startswith(f"{self._url}/"):
            raise FetchError("the review server invites to another address", file=self._url)
        with requests.Session() as visitor:
            visitor.trust_env = not self._is_here
            timeout = (self._patience.connect_timeout, self._patience.read_timeout)
            try:
                visitor.get(page, timeout=timeout)
                data = {"csrfmiddlewaretoken": visitor.cookies.get("csrftoken", ""), **fields}
                visitor.post(page, data, headers={"Referer": page}, timeout=timeout, allow_redirects=False)
            except requests.RequestException as error:
                raise self._unreachable(error) from None

    def _signed_in(self) -> LabelStudio:
        """The SDK's client; a new one exchanges a personal access token anew."""
        if self._studio is None:
            self._studio = self._sdk.LabelStudio(  # type: ignore[no-untyped-call] # takes what its base does
                base_url=f"{self._url}/",  # without the slash it would look for tokens beside the last part
                api_key=self._key,
                max_retries=0,
                httpx_client=self._web,
            )
        return self._studio

    def _is_exchanged(self) -> bool:
        """Whether what was last sent is not the key itself but what the server gave for it."""
        return self._sent not in ("", self._key)

    def _note(self, request: httpx.Request) -> None:
        self._sent = request.headers.get("Authorization", "").rpartition(" ")[2] or self._sent

    def _judged(self, code: int, body: Any) -> FetchError:
        """What is wrong with an answer and may pass. Refusals are raised."""
        if 200 <= code < 300:
            return self._problem(_NOT_ITS_JSON)
        if code in _BUSY or code in _BROKEN:
            return self._problem(f"answers {code}")
        if code == 401:
            raise UsageError(
                "the review server refuses the token",
                file=self._url,
                hint="set LABEL_STUDIO_API_KEY to a token of Account & Settings; legacy tokens may be "
                "switched off there",
            ) from None
        if code in (301, 302, 303, 307, 308):
            raise UsageError(
                "the review server is at another address: it redirects",
                file=self._url,
                hint="set LABEL_STUDIO_URL to the address the browser is redirected to",
            ) from None
        raise UsageError(f"the review server answers {code}{self._detail(body)}", file=self._url) from None

    def _detail(self, body: Any) -> str:
        """What the server says is wrong: the fields meant for people, cut, without token or cookies."""
        if not isinstance(body, dict):
            return ""
        told = body.get("validation_errors") or body.get("detail") or ""
        text = json.dumps(told, ensure_ascii=False) if not isinstance(told, str) else told
        for secret in (self._key, self._sent):
            text = text.replace(secret, "…") if secret else text
        return f": {text[:_DETAIL]}" if text else ""

    def _problem(self, message: str, first: str = "") -> FetchError:
        hint = f"{first}the same command continues from here"
        return FetchError(f"the review server {message}", file=self._url, hint=hint)

    def _unreachable(self, error: Exception) -> FetchError:
        # Its text may hold the URL's query.
        start = "medqrels review start, or start the server that LABEL_STUDIO_URL names; then "
        return self._problem(f"cannot be reached ({type(error).__name__})", start if self._is_here else "")

    def _unconfirmed(self, problem: FetchError) -> UnconfirmedError:
        return UnconfirmedError(problem.message, file=problem.file, hint=problem.hint)


def _authorities() -> ssl.SSLContext | bool:
    """Whom to trust: those of $REQUESTS_CA_BUNDLE, as the rest of medqrels does; True for the usual ones."""
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    if not bundle:
        return True
    if os.path.isdir(bundle):
        return ssl.create_default_context(capath=bundle)
    return ssl.create_default_context(cafile=bundle)


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
    if not is_private(url) and not allow_plain_http:
        raise UsageError(
            "a token is not sent over plain http to another machine",
            file=f"http://{parts.hostname}",
            hint="use https, or --allow-http on a network you trust",
        )
