"""Europe PMC's REST service, asked for JSON: searches and the metadata of one article.

Errors come inside HTTP 200, results may be missing and a 404 may be gone a second later, so every answer is
checked and asked for again. Interface: https://europepmc.org/RestfulWebService
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from schemas import licences
from schemas.errors import FetchError, InputError, UsageError
from schemas.hashing import foreign_json
from schemas.ids import normalise_doi, normalise_pmcid
from sources.archives import ArchiveLimits
from sources.http import PoliteClient
from sources.store import RawStore

SOURCE = "europepmc"
ENDPOINT = "https://www.ebi.ac.uk/europepmc/webservices/rest/"
ANNOTATIONS_ENDPOINT = "https://www.ebi.ac.uk/europepmc/annotations_api/"
RATE = 5.0
"""Requests per second; no limit is published, and this has been borne."""

_MAX_PAGE = 1000
_MAX_URL = 1800
_MAX_BODY_BYTES = 32 * 1024 * 1024
_BACKOFF_CAP_SECONDS = 30.0
_MIB = 1024 * 1024
_log = logging.getLogger("medqrels.sources.europepmc")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EuropePmcContext:
    """What a search or a fetch works with.

    Attributes:
        client: the HTTP client; its allowed hosts must hold the endpoints'. Build it with at most
            :data:`RATE` requests per second, and with minutes of `read_seconds` when images are wanted: the
            server packs them on demand.
        store: raw/ and its ledger.
        profile: licence profile; articles whose metadata states another licence are not fetched.
        images: fetch the images that figures name (one ZIP per article, slow).
        annotations: fetch the text-mined annotations too.
        endpoint: base URL of the service.
        annotations_endpoint: base URL of the annotations service.
        page_size: records per page of a search, at most 1000.
        max_hits: larger searches are refused.
        attempts: how often one question is asked when the answer is an error, holds no result or is a 404.
        pause: how to wait between attempts, in seconds.
        max_xml_bytes: larger XML files are dropped as `too_large`.
        max_media_bytes: larger images are noted as `image_too_large`.
        max_archive_bytes: larger ZIP files are not fetched; every image is then noted as `image_too_large`.
        limits: caps on what a ZIP unpacks to.
    """

    client: PoliteClient
    store: RawStore
    profile: licences.Profile = "open"
    images: bool = False
    annotations: bool = False
    endpoint: str = ENDPOINT
    annotations_endpoint: str = ANNOTATIONS_ENDPOINT
    page_size: int = _MAX_PAGE
    max_hits: int = 100_000
    attempts: int = 4
    pause: Callable[[float], None] = time.sleep
    max_xml_bytes: int = 64 * _MIB
    max_media_bytes: int = 64 * _MIB
    max_archive_bytes: int = 1024 * _MIB
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: PMCIDs in numerical order, the number of hits, and how many have no PMCID."""

    pmcids: tuple[str, ...]
    hit_count: int
    without_pmcid: int


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the gates and the crawl need of one article's core record.

    `revision` changes when the full text or the record was received anew; `record` is the whole record.
    """

    pmcid: str
    is_open_access: bool
    has_full_text: bool
    is_retracted: bool
    is_manuscript: bool
    license_code: str | None
    pmid: str | None
    doi: str | None
    revision: str
    record: Mapping[str, Any]


class Unusable(Exception):  # noqa: N818 - it is no failure of ours, and never leaves this package
    """An answer that is an error, holds no result or is missing; asking again may help."""


def patiently(context: EuropePmcContext, what: str, ask: Callable[[], T]) -> T:
    """Ask until the answer is usable.

    Raises:
        FetchError: it is not after all attempts.
    """
    problem = ""
    for attempt in range(context.attempts):
        try:
            return ask()
        except Unusable as error:
            problem = str(error)
            _log.info("%s: %s", what, problem)
        if attempt + 1 < context.attempts:
            context.pause(min(_BACKOFF_CAP_SECONDS, 2.0**attempt))
    raise FetchError(
        f"Europe PMC gave no usable answer after {context.attempts} attempts: {problem}",
        file=what,
        hint="run the same command again later: what is already fetched is kept",
    )


def search(query: str, context: EuropePmcContext) -> SearchResult:
    """Find articles.

    Args:
        query: in Europe PMC's syntax, e.g. `PUB_TYPE:"case-report" AND OPEN_ACCESS:y AND LANG:fre`.
        context: client and limits.

    Returns:
        Every hit, so that the result does not depend on the server's order.

    Raises:
        FetchError: no usable answer, or the pages end before all hits have come.
        UsageError: the query is empty or finds more than `context.max_hits`.
    """
    if not query.strip():
        raise UsageError("an empty query", hint="medqrels crawl europepmc --query 'PUB_TYPE:\"case-report\"'")
    seen: dict[tuple[str, str], str] = {}
    cursor, hits = "*", 0
    while True:
        page = ask_page(query, cursor, context, result_type="lite", page_size=context.page_size)
        hits = int(page["hitCount"])
        if hits > context.max_hits:
            hint = "narrow the query, e.g. by FIRST_PDATE:[2024-01-01 TO 2024-12-31]"
            raise UsageError(f"{hits} hits, more than the limit of {context.max_hits}", hint=hint)
        for row in rows_of(page):
            seen[str(row.get("source")), str(row.get("id"))] = str(row.get("pmcid") or "")
        following = page.get("nextCursorMark")
        if not isinstance(following, str) or not following or following == cursor:
            break
        cursor = following
    if len(seen) < hits:
        raise FetchError(f"the search ended after {len(seen)} of {hits} hits", hint="run it again later")
    found = {pmcid for text in seen.values() if (pmcid := _pmcid(text))}
    without = sum(1 for text in seen.values() if not _pmcid(text))
    return SearchResult(tuple(sorted(found, key=lambda pmcid: int(pmcid[3:]))), hits, without)


def metadata(pmcid: str, context: EuropePmcContext) -> Metadata | None:
    """The core record of one article, None when Europe PMC does not have it.

    Raises:
        FetchError: no usable answer.
    """
    page = ask_page(f"PMCID:{pmcid}", "*", context, result_type="core", page_size=25)
    rows = [row for row in rows_of(page) if _pmcid(str(row.get("pmcid") or "")) == pmcid]
    if not rows:
        return None
    # One PMCID may have a record of PubMed and one of Europe PMC's own; PubMed's says more.
    rows.sort(key=lambda row: (str(row.get("source")) != "MED", str(row.get("source")), str(row.get("id"))))
    row = rows[0]
    types = [types_of(other) for other in rows]
    return Metadata(
        pmcid=pmcid,
        is_open_access=_yes(row, "isOpenAccess"),
        has_full_text=_yes(row, "inEPMC") or _yes(row, "inPMC"),
        is_retracted=any("retracted publication" in kinds for kinds in types),
        is_manuscript=any(_yes(row, name) for name in ("authMan", "epmcAuthMan", "nihAuthMan")),
        license_code=_text(row.get("license")),
        pmid=_text(row.get("pmid")),
        doi=normalise_doi(_text(row.get("doi")) or ""),
        revision="|".join(_text(row.get(name)) or "" for name in ("fullTextReceivedDate", "dateOfRevision")),
        record=row,
    )


def ask_page(
    query: str, cursor: str, context: EuropePmcContext, *, result_type: str, page_size: int
) -> dict[str, Any]:
    """One page of a search.

    Raises:
        FetchError: no usable answer.
    """
    fields = {
        "query": query,
        "format": "json",
        "resultType": result_type,
        "pageSize": str(max(1, min(page_size, _MAX_PAGE))),
        "cursorMark": cursor,
    }
    base = context.endpoint.rstrip("/")
    url = f"{base}/search?{urlencode(fields, quote_via=quote)}"

    def ask() -> dict[str, Any]:
        if len(url) <= _MAX_URL:
            answer = context.client.get(url, max_bytes=_MAX_BODY_BYTES)
        else:
            answer = context.client.post_form(f"{base}/searchPOST", fields, max_bytes=_MAX_BODY_BYTES)
        return _checked(answer.body if answer is not None else None)

    return patiently(context, f"{base}/search", ask)


def read_json(body: bytes | None) -> Any:
    """JSON of an answer.

    Raises:
        Unusable: a 404, or no JSON.
    """
    if body is None:
        raise Unusable("HTTP 404")
    try:
        return foreign_json(body)
    except (ValueError, RecursionError):
        raise Unusable("not JSON") from None


def _checked(body: bytes | None) -> dict[str, Any]:
    """A page of search results.

    Raises:
        Unusable: an error, no result (`{"version": …}` alone), or fields of another type.
    """
    page = read_json(body)
    if not isinstance(page, dict):
        raise Unusable("not a JSON object")
    if "errCode" in page or "errMsg" in page:
        said = " ".join(str(page.get("errMsg") or "").split())[:200]
        raise Unusable(f"error {str(page.get('errCode'))[:20]} {said}".rstrip())
    count = page.get("hitCount")
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise Unusable("no hitCount in the answer")
    if count and not isinstance(page.get("resultList"), dict):
        raise Unusable("hits without a resultList")
    return page


def rows_of(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Records of a page."""
    listed = page.get("resultList")
    rows = listed.get("result") if isinstance(listed, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def types_of(row: Mapping[str, Any]) -> set[str]:
    """Publication types of a record, in lower case."""
    listed = row.get("pubTypeList")
    types = listed.get("pubType") if isinstance(listed, dict) else None
    return {str(item).strip().lower() for item in (types if isinstance(types, list) else [types])}


def _yes(row: Mapping[str, Any], name: str) -> bool:
    return str(row.get(name) or "").strip().upper() in ("Y", "YES", "TRUE")


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _pmcid(text: str) -> str | None:
    try:
        return normalise_pmcid(text) if text else None
    except InputError:
        return None
