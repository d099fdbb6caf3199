"""Wikimedia Commons: what it says of image files (licence, artist, address, SHA-1), and their bytes.

Interface: https://www.mediawiki.org/wiki/API:Imageinfo with `maxlag`, `continue` and a contact in the
User-Agent, as https://www.mediawiki.org/wiki/API:Etiquette asks.
"""

from __future__ import annotations

import hashlib
import html
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urlencode

from schemas import licences
from schemas.errors import ChecksumMismatch, FetchError, InputError
from schemas.hashing import foreign_json
from schemas.stages import Reason
from sources.http import PoliteClient
from sources.images import sniff

ENDPOINT: Final = "https://commons.wikimedia.org/w/api.php"
MAX_TITLES: Final = 50
RASTER: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/tiff", "image/webp"})

_MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
_MAX_PAGES: Final = 100
_BACKOFF_CAP_SECONDS: Final = 60.0
_PASSING: Final = re.compile(
    r"maxlag|ratelimited|readonly|internal_api_error.*|timeout|cirrussearch-too-busy-error"
)
_TAG = re.compile(r"<[^<>]*>")
_SHA1 = re.compile(r"[0-9a-f]{40}")
_CODE = re.compile(r"(cc-(?:by(?:-nc)?(?:-sa|-nd)?|zero)|cc0)(?:-(\d\.\d))?(?:-[a-z-]+)?", re.IGNORECASE)
_FIELDS: Final = "LicenseShortName|License|LicenseUrl|Artist|NonFree|UsageTerms"


@dataclass(frozen=True, slots=True)
class CommonsContext:
    """What questions to Commons work with.

    Attributes:
        client: the HTTP client; its allowed hosts must hold the API's and those of its files
            (upload.wikimedia.org).
        endpoint: address of the API.
        width: pixels; files that are no raster images, or too large, come as rendered at this width.
        maxlag: seconds of replication lag above which the servers may send the request away.
        max_media_bytes: larger files are not fetched.
        attempts: how often a question is asked while the servers are busy.
        pause: how to wait, in seconds.
    """

    client: PoliteClient
    endpoint: str = ENDPOINT
    width: int = 1280
    maxlag: int = 5
    max_media_bytes: int = 20 * 1024 * 1024
    attempts: int = 6
    pause: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What Commons says of one file. `problem` is a reason code when its image cannot be used, '' otherwise.

    `address` is where its bytes are; `sha1` is '' for bytes the servers render (SVG, very large files).
    """

    problem: str = ""
    detail: str = ""
    spdx: str = ""
    short_name: str = ""
    licence_url: str = ""
    artist: str = ""
    page: str = ""
    mime: str = ""
    address: str = ""
    sha1: str = ""
    original_sha1: str = ""

    def described(self) -> dict[str, str]:
        """As a JSON object for the reader, without what is empty."""
        return {key: value for key, value in asdict(self).items() if value}


def ask(names: Iterable[str], context: CommonsContext) -> dict[str, ImageFacts]:
    """What Commons says of files, 50 a request.

    Args:
        names: file names without prefix, as `sources.wiki.images.file_name` writes them.
        context: client and limits.

    Raises:
        FetchError: no usable answer after all attempts; nothing is said of a file that was not asked.
    """
    wanted = sorted(set(names))
    found: dict[str, ImageFacts] = {}
    for start in range(0, len(wanted), MAX_TITLES):
        found |= _batch(wanted[start : start + MAX_TITLES], context)
    return found


def _batch(names: Sequence[str], context: CommonsContext) -> dict[str, ImageFacts]:
    fields = {
        "action": "query", "format": "json", "formatversion": "2", "prop": "imageinfo", "redirects": "1",
        "iiprop": "url|extmetadata|sha1|mime|size", "iiextmetadatafilter": _FIELDS,
        "iiextmetadatalanguage": "en", "iiurlwidth": str(context.width), "maxlag": str(context.maxlag),
        "titles": "|".join(f"File:{name}" for name in names),
    }  # fmt: skip
    renamed: dict[str, str] = {}
    pages: dict[str, Mapping[str, Any]] = {}
    more: dict[str, str] = {}
    for _ in range(_MAX_PAGES):
        answer = _asked({**fields, **more}, context)
        query = _mapping(answer.get("query"))
        for change in [*_mappings(query.get("normalized")), *_mappings(query.get("redirects"))]:
            renamed[str(change.get("from"))] = str(change.get("to"))
        for page in _mappings(query.get("pages")):
            title = str(page.get("title"))
            pages[title] = {**pages.get(title, {}), **page}
        more = {str(key): str(value) for key, value in _mapping(answer.get("continue")).items()}
        if not more:
            return {name: _facts(_found(f"File:{name}", renamed, pages), context) for name in names}
    raise FetchError("the answers of Commons do not end", file=context.endpoint)


def _found(title: str, renamed: Mapping[str, str], pages: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(5):
        if title in pages:
            return _mapping(pages[title])
        title = renamed.get(title, title)
    return {}


def _asked(fields: Mapping[str, str], context: CommonsContext) -> dict[str, Any]:
    """One answer; errors inside HTTP 200 that pass are waited for.

    Raises:
        FetchError: no usable answer after all attempts.
    """
    problem = ""
    for attempt in range(context.attempts):
        answer = context.client.get(f"{context.endpoint}?{urlencode(fields)}", max_bytes=_MAX_ANSWER_BYTES)
        if answer is None:
            raise FetchError("no API at this address", file=context.endpoint)
        try:
            value = foreign_json(answer.body)
        except (ValueError, RecursionError):
            value, problem = None, "no JSON"
        error = _mapping(_mapping(value).get("error"))
        if isinstance(value, dict) and not error and ("query" in value or "batchcomplete" in value):
            return value
        if error:
            problem = str(error.get("code"))[:80]
            if not _PASSING.fullmatch(problem):
                break
        if attempt + 1 < context.attempts:
            stated = answer.headers.get("retry-after", "")
            seconds = float(stated) if stated.isascii() and stated.isdigit() else 2.0**attempt
            context.pause(min(_BACKOFF_CAP_SECONDS, seconds))
    raise FetchError(
        f"Commons gave no usable answer: {problem or 'an empty one'}",
        file=context.endpoint,
        hint="run the same command again later: what is already fetched is kept",
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _facts(page: Mapping[str, Any], context: CommonsContext) -> ImageFacts:
    versions = _mappings(page.get("imageinfo"))
    if not versions:
        return ImageFacts(
            problem=Reason.IMAGE_MISSING.value, detail="not on Commons: local, non-free or deleted"
        )
    info, said = versions[0], _mapping(versions[0].get("extmetadata"))
    values = {key: _plain(_mapping(said.get(key)).get("value")) for key in _FIELDS.split("|")}
    spdx = stated_licence(values)
    mime, sha1 = str(info.get("mime") or ""), str(info.get("sha1") or "").lower()
    size = info.get("size")
    is_original = mime in RASTER and isinstance(size, int) and size <= context.max_media_bytes
    address = str(info.get("url" if is_original else "thumburl") or "")
    problem, detail = "", ""
    if not licences.terms(spdx).redistribute:
        is_unknown = spdx == licences.UNKNOWN
        problem = (Reason.LICENCE_UNKNOWN if is_unknown else Reason.LICENCE_NOT_ALLOWED).value
        detail = values["LicenseShortName"] or "no licence stated"
    elif not address or (is_original and not _SHA1.fullmatch(sha1)):
        problem, detail = Reason.IMAGE_MISSING.value, "no address or SHA-1 stated"
    return ImageFacts(
        problem=problem,
        detail=detail,
        spdx=spdx,
        short_name=values["LicenseShortName"],
        licence_url=values["LicenseUrl"],
        artist=values["Artist"],
        page=str(info.get("descriptionurl") or ""),
        mime=mime,
        address="" if problem else address,
        sha1=sha1 if is_original and not problem else "",
        original_sha1=sha1,
    )


def _plain(value: Any) -> str:
    """A value of extmetadata, which may be HTML, as text."""
    text = str(value) if isinstance(value, str | int | bool) else ""
    return " ".join(html.unescape(_TAG.sub("", text)).split())[:300]


def stated_licence(values: Mapping[str, str]) -> str:
    """SPDX id of what extmetadata states: address, then code, then name; non-free files allow nothing."""
    if values.get("NonFree", "").casefold() in ("true", "1", "yes"):
        return licences.RESTRICTED
    told = licences.from_url(values.get("LicenseUrl", ""))
    code = _CODE.fullmatch(values.get("License", "").strip())
    if told is None and code:
        family = code.group(1).lower().removeprefix("cc-")
        told = licences.spdx("cc0" if family in ("zero", "cc0") else family, code.group(2))
    if told is None and re.fullmatch(
        r"pd(?:[-_ ].*)?|public domain", values.get("License", ""), re.IGNORECASE
    ):
        told = licences.PUBLIC_DOMAIN
    return told or licences.from_text(values.get("LicenseShortName", "")) or licences.UNKNOWN


def fetch_image(facts: ImageFacts, context: CommonsContext) -> bytes:
    """The bytes of a file, as uploaded and of its SHA-1, or as rendered.

    Raises:
        ChecksumMismatch: three times other bytes than announced.
        FetchError: not delivered.
        InputError: `image_too_large`, `image_missing`, or `image_corrupt` (rendered bytes that are no image).
    """
    for _ in range(3):
        try:
            answer = context.client.get(facts.address, max_bytes=context.max_media_bytes)
        except InputError as error:
            raise InputError(error.message, reason=Reason.IMAGE_TOO_LARGE.value) from None
        if answer is None:
            raise InputError("the server does not have it", reason=Reason.IMAGE_MISSING.value)
        digest = hashlib.sha1(answer.body, usedforsecurity=False).hexdigest()
        if facts.sha1 and digest == facts.sha1:
            return answer.body
        if not facts.sha1 and sniff(answer.body) is not None:
            return answer.body
    if facts.sha1:
        raise ChecksumMismatch("three times other bytes than Commons announces", file=facts.address)
    raise InputError("rendered to something that is no image", reason=Reason.IMAGE_CORRUPT.value)
