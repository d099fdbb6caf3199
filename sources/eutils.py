"""NCBI E-utilities: one ESearch of PMC, checked, at NCBI's rate.

Errors arrive inside HTTP 200, so each answer is checked. Requests are POST forms: queries may be long, and no
URL holds the API key. Interface: https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from schemas.errors import FetchError, UsageError
from schemas.hashing import foreign_json
from sources.http import ClientSettings, PoliteClient

ENDPOINT = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
TOOL = "medqrels"
CEILING = 9_999
"""Most ids ESearch gives of one search: a retstart above 9998 is an error."""

# Just under the documented 3 and 10 requests per second, which NCBI counts by its own clock.
RATE, RATE_WITH_KEY = 2.8, 9.5

_MAX_BODY_BYTES = 4 * 1024 * 1024
_BACKOFF_CAP_SECONDS = 30.0
_log = logging.getLogger("medqrels.sources.eutils")


@dataclass(frozen=True, slots=True)
class EutilsContext:
    """What a search works with.

    Attributes:
        client: the HTTP client; build it from :func:`client_settings`, which keeps NCBI's rate.
        email: contact address; NCBI asks for it in every request.
        api_key: raises the limit from 3 to 10 requests per second; never shown.
        tool: name of the software, in every request.
        endpoint: base URL.
        attempts: how often one question is asked when the answer is an error or unusable.
        ceiling: most ids of one search.
        pause: how to wait between attempts, in seconds.
    """

    client: PoliteClient
    email: str
    api_key: str | None = field(default=None, repr=False)
    tool: str = TOOL
    endpoint: str = ENDPOINT
    attempts: int = 4
    ceiling: int = CEILING
    pause: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Answer:
    """One checked ESearch answer: how many match, the ids sent, and where the whole set is kept."""

    count: int
    ids: tuple[int, ...]
    translation: str
    web_env: str
    query_key: str
    not_found: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Unusable(Exception):  # noqa: N818 - it is no failure of ours, and never leaves this package
    """An answer that is an error, or no answer at all; asking again may help."""


def client_settings(
    email: str, version: str, *, endpoint: str = ENDPOINT, has_key: bool = False, **bounds: Any
) -> ClientSettings:
    """Settings of a client that keeps NCBI's rate: one request at a time, 3 per second, 10 with a key.

    Args:
        email: contact address.
        version: version of medqrels.
        endpoint: base URL; its host is the only one that may be asked.
        has_key: whether requests carry an API key.
        bounds: further fields of :class:`sources.http.ClientSettings`; they may also lower the rate.
    """
    fields: dict[str, Any] = {
        "allowed_hosts": (urlsplit(endpoint).netloc,),
        "contact": email,
        "version": version,
        "requests_per_second": RATE_WITH_KEY if has_key else RATE,
        "burst": 1,
        "connections": 1,
        "backoff_seconds": 1.0,
    }
    return ClientSettings(**{**fields, **bounds})


def esearch(
    term: str,
    context: EutilsContext,
    *,
    retmax: int,
    retstart: int = 0,
    web_env: str = "",
    attempts: int | None = None,
) -> Answer:
    """Ask ESearch in db=pmc, keeping the result on NCBI's history server.

    Args:
        term: the query in Entrez syntax; `#1` is set 1 of `web_env`.
        context: client, identity and patience.
        retmax: most ids wanted.
        retstart: ids to skip.
        web_env: history to search in, '' for a new one.
        attempts: patience, when it differs from the context's.

    Raises:
        UsageError: no contact address.
        FetchError: no usable answer after all attempts.
        Unusable: the same, when `attempts` is given.
    """
    fields = _form(term, context, retmax, retstart, web_env)
    what = ""
    total = context.attempts if attempts is None else attempts
    for attempt in range(total):
        try:
            return _answer(_post(fields, context))
        except Unusable as problem:
            what = str(problem)
            _log.info("E-utilities: %s", hide_key(what, context))
        if attempt + 1 < total:
            context.pause(min(_BACKOFF_CAP_SECONDS, 2.0**attempt))
    if attempts is not None:
        raise Unusable(what)
    raise FetchError(
        f"E-utilities gave no usable answer after {total} attempts: {hide_key(what, context)}",
        file=_url(context),
        hint="run the same command again later",
    )


def hide_key(text: str, context: EutilsContext) -> str:
    """The text without the API key: a server may echo what it was sent."""
    return text.replace(context.api_key, "…") if context.api_key else text


def _url(context: EutilsContext) -> str:
    return f"{context.endpoint.rstrip('/')}/esearch.fcgi"


def _form(term: str, context: EutilsContext, retmax: int, retstart: int, web_env: str) -> dict[str, str]:
    if "@" not in context.email or not context.tool:
        raise UsageError(
            "NCBI asks for a contact address and a tool name in every request",
            hint="set MEDQRELS_CONTACT=you@example.org",
        )
    fields = {
        "db": "pmc",
        "term": term,
        "retmode": "json",
        "retstart": str(retstart),
        "retmax": str(retmax),
        "usehistory": "y",
        "tool": context.tool,
        "email": context.email,
    }
    optional = {"WebEnv": web_env, "api_key": context.api_key or ""}
    return {**fields, **{name: value for name, value in optional.items() if value}}


def _post(fields: Mapping[str, str], context: EutilsContext) -> bytes:
    url = _url(context)
    try:
        response = context.client.post_form(url, fields, max_bytes=_MAX_BODY_BYTES)
    except FetchError as error:
        if error.message == "HTTP 400" and context.api_key:
            raise FetchError(
                "E-utilities refuses the request (HTTP 400)", file=error.file, hint="check the NCBI API key"
            ) from None
        raise
    if response is None:
        raise FetchError("no E-utilities at this address", file=url)
    return response.body


def _answer(body: bytes) -> Answer:
    """Check and read one answer.

    Raises:
        Unusable: an error, an HTML page, cut JSON, or fields of another type.
    """
    try:
        row = foreign_json(body)
    except (ValueError, RecursionError):
        raise Unusable("not JSON") from None
    result = row.get("esearchresult") if isinstance(row, dict) else None
    if not isinstance(result, dict):
        error = row.get("error") if isinstance(row, dict) else None
        raise Unusable(_line(error) if error else "no search result in the answer")
    if result.get("ERROR"):
        raise Unusable(_line(result["ERROR"]))
    try:
        count, ids = int(result["count"]), tuple(_id(item) for item in result["idlist"])
    except (KeyError, ValueError, TypeError):
        raise Unusable("count or idlist is missing or not numeric") from None
    errors, notes = _mapping(result.get("errorlist")), _mapping(result.get("warninglist"))
    return Answer(
        count=count,
        ids=ids,
        translation=_line(result.get("querytranslation") or "", 10_000),
        web_env=str(result.get("webenv") or ""),
        query_key=str(result.get("querykey") or ""),
        not_found=(*_lines(errors.get("phrasesnotfound")), *_lines(errors.get("fieldsnotfound"))),
        warnings=(
            *(f"phrase ignored: {item}" for item in _lines(notes.get("phrasesignored"))),
            *(f"quoted phrase not found: {item}" for item in _lines(notes.get("quotedphrasesnotfound"))),
        ),
    )


def _id(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError("not an id")
    number = int(value)
    if number <= 0:
        raise ValueError("not an id")
    return number


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _lines(value: Any) -> tuple[str, ...]:
    return tuple(_line(item) for item in value) if isinstance(value, list) else ()


def _line(value: Any, length: int = 300) -> str:
    return " ".join(str(value).split())[:length]
