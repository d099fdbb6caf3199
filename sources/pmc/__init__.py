"""PMC Cloud Service (bucket pmc-oa-opendata): one article by PMCID, with the figures its XML names.

Interface: https://pmc.ncbi.nlm.nih.gov/tools/pmcaws/ . What is fetched is stored under raw/pmc/PMC123.1/
and never fetched again while its MD5 holds; only listing and metadata are asked anew.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from urllib.parse import quote

from schemas import licences
from schemas.article import MediaProblem, RawArticle, RawMedia
from schemas.errors import ChecksumMismatch, FetchError, InputError
from schemas.ids import normalise_pmcid, pmc_article_id
from schemas.stages import Drop, Reason
from sources.drops import UNFETCHED, drop_of
from sources.graphics import scan
from sources.http import PoliteClient
from sources.images import describe, resolve_href, sniff
from sources.ledger import Held
from sources.pmc.metadata import PmcMetadata, StoredObject, parse_listing, parse_metadata
from sources.store import RawStore, as_md5, md5_hex

SOURCE = "pmc"
ENDPOINT = "https://pmc-oa-opendata.s3.amazonaws.com/"
SYNTHETIC_HEADER = "x-amz-meta-synthetic"

_MAX_PAGES = 100
_MAX_LISTING_BYTES = 8 * 1024 * 1024
_MAX_METADATA_BYTES = 8 * 1024 * 1024
_CHECKSUM_ATTEMPTS = 3
DIFFERS = "the bytes differ from the announced MD5"
"""Ends the detail of an image that may come whole another time."""
_log = logging.getLogger("medqrels.sources.pmc")


@dataclass(frozen=True, slots=True)
class PmcContext:
    """What a fetch works with.

    Attributes:
        client: the HTTP client; its allowed hosts must hold the endpoint's.
        store: raw/ and its ledger.
        profile: licence profile; articles whose metadata states another licence are not fetched.
        endpoint: base URL of the bucket.
        max_xml_bytes: larger XML files are dropped as `too_large`.
        max_media_bytes: larger media files are noted as `image_too_large`.
    """

    client: PoliteClient
    store: RawStore
    profile: licences.Profile = "open"
    endpoint: str = ENDPOINT
    max_xml_bytes: int = 64 * 1024 * 1024
    max_media_bytes: int = 64 * 1024 * 1024


def fetch(pmcid: str, context: PmcContext) -> RawArticle | Drop:
    """Fetch the eligible version of one article: metadata, XML and the images its figures name.

    The version is the latest that is no author manuscript; when it is not eligible the article is dropped,
    never replaced by an older version. The result depends only on what the bucket holds: a failure that may
    pass drops the whole article as `fetch_failed` (what was stored is reused the next time), it never leaves
    an image out.

    Args:
        pmcid: `PMC123` or `123`.
        context: client, store and limits.

    Returns:
        The stored article, or the reason why there is none; `Drop.id` is the PMCID.
    """
    try:
        pmcid = normalise_pmcid(pmcid)
        metadata = _eligible_version(pmcid, context)
        return _fetch_files(metadata, context)
    except UNFETCHED as error:
        return drop_of(pmcid.strip()[:80], error)


def _refused(metadata: PmcMetadata, reason: Reason, detail: str) -> InputError:
    where = f"{metadata.pmcid}.{metadata.version}"
    return InputError(f"{where}: {detail}", reason=reason.value, record=metadata.pmcid)


def versions(pmcid: str, context: PmcContext) -> list[int]:
    """Version numbers of an article in the bucket, newest first; [] when the bucket does not have it.

    Raises:
        FetchError: the bucket does not answer, not with a listing, or the listing does not end.
    """
    # The dot matters: without it PMC113703601 would match PMC11370360.
    base = f"{_url('', context)}?list-type=2&prefix={pmcid}.&delimiter=/"
    found: set[int] = set()
    token: str | None = None
    seen: set[str] = set()
    for _ in range(_MAX_PAGES):
        url = base if token is None else f"{base}&continuation-token={quote(token, safe='')}"
        page = _listing_page(url, pmcid, context)
        if page is None:
            return sorted(found, reverse=True)
        numbers, token = page
        found.update(numbers)
        if token is None:
            return sorted(found, reverse=True)
        if token in seen:
            break
        seen.add(token)
    raise FetchError("the bucket's listing does not end", record=pmcid)


def _listing_page(url: str, pmcid: str, context: PmcContext) -> tuple[list[int], str | None] | None:
    """One page of a listing; an error page sent as 200 passes, as it does for objects, and is asked again."""
    for attempt in range(_CHECKSUM_ATTEMPTS):
        answer = context.client.get(url, max_bytes=_MAX_LISTING_BYTES)
        if answer is None:
            return None
        try:
            return parse_listing(answer.body, pmcid)
        except FetchError:
            if attempt + 1 == _CHECKSUM_ATTEMPTS:
                raise
    return None


def _eligible_version(pmcid: str, context: PmcContext) -> PmcMetadata:
    numbers = versions(pmcid, context)
    if not numbers:
        raise InputError("not in the bucket", reason=Reason.NOT_FOUND.value, record=pmcid)
    for number in numbers:
        metadata = _metadata(pmcid, number, context)
        if metadata.is_retracted or not metadata.is_manuscript:
            _check_eligible(metadata, context.profile)
            return metadata
    detail = f"only author manuscripts: version {', '.join(map(str, numbers))}"
    raise InputError(detail, reason=Reason.MANUSCRIPT_ONLY.value, record=pmcid)


def _check_eligible(metadata: PmcMetadata, profile: licences.Profile) -> None:
    """The gates, in order. No stated licence passes: the XML may state one, and the parser reads it there."""
    if not metadata.is_open_access:
        raise _refused(metadata, Reason.NOT_OPEN_ACCESS, "not in the open access subset")
    if metadata.is_retracted:
        raise _refused(metadata, Reason.RETRACTED, "retracted")
    if metadata.is_historical_ocr:
        raise _refused(metadata, Reason.HISTORICAL_OCR, "text from optical character recognition")
    spdx = licences.from_code(metadata.license_code)
    if spdx is None:
        _log.info("%s.%d: the metadata states no licence", metadata.pmcid, metadata.version)
    elif spdx == licences.UNKNOWN:
        raise _refused(metadata, Reason.LICENCE_UNKNOWN, f"licence code {metadata.license_code!r}")
    elif not licences.is_allowed(spdx, profile):
        detail = f"{metadata.license_code} is not in profile {profile}"
        raise _refused(metadata, Reason.LICENCE_NOT_ALLOWED, detail)


def _metadata(pmcid: str, version: int, context: PmcContext) -> PmcMetadata:
    folder = f"{pmcid}.{version}"
    for key in (f"metadata/{folder}.json", f"{folder}/{folder}.json"):
        data = _revalidated(key, f"{SOURCE}/{folder}/{folder}.json", context)
        if data is not None:
            return parse_metadata(data, pmcid, version)
    raise InputError(
        f"{folder}: the bucket lists the version but has no metadata for it",
        reason=Reason.METADATA_INVALID.value,
        record=pmcid,
    )


def _revalidated(key: str, path: str, context: PmcContext) -> bytes | None:
    """An object that may change under its name: asked for each time, sent only if its ETag changed."""
    held = context.store.held(SOURCE, key)
    stored = context.store.read(held) if held is not None else None
    etag = held.etag if held is not None and stored is not None else None
    for _ in range(_CHECKSUM_ATTEMPTS):
        answer = context.client.get(_url(key, context), max_bytes=_MAX_METADATA_BYTES, etag=etag)
        if answer is None:
            return None
        if answer.status == 304 and stored is not None:
            return stored
        announced = as_md5(answer.headers.get("etag"))
        # Without an MD5 an error page would pass for the article's metadata and condemn the article.
        is_whole = announced == md5_hex(answer.body) if announced else answer.body.lstrip().startswith(b"{")
        if is_whole:
            context.store.put(SOURCE, key, path, answer.body, etag=answer.headers.get("etag"))
            return answer.body
    raise ChecksumMismatch("the metadata differs from its ETag or is no JSON", file=key)


def _url(key: str, context: PmcContext) -> str:
    return context.endpoint.rstrip("/") + "/" + quote(key, safe="/")


def _fetch_files(metadata: PmcMetadata, context: PmcContext) -> RawArticle:
    held = _object(metadata.xml, metadata, context, context.max_xml_bytes)
    if held is None:
        raise _refused(metadata, Reason.NOT_FOUND, "the bucket has no XML for this version")
    data = context.store.read(held)
    if data is None:
        raise FetchError("the stored XML changed while it was read", record=metadata.pmcid, file=held.path)
    found = scan(data)
    media, problems = _media(found.hrefs, metadata, context)
    return RawArticle(
        id=pmc_article_id(metadata.pmcid, metadata.version),
        source="pmc",
        locator=metadata.pmcid,
        version=metadata.version,
        path=held.path,
        sha256=held.sha256,
        license_code=metadata.license_code,
        pmid=metadata.pmid,
        doi=metadata.doi,
        media=tuple(media[name] for name in sorted(media)),
        media_problems=tuple(sorted(problems, key=lambda problem: (problem.name, problem.reason))),
        is_synthetic=found.is_synthetic or _is_synthetic(held),
    )


def _is_synthetic(held: Held) -> bool:
    return held.headers.get(SYNTHETIC_HEADER, "").strip().lower() == "true"


def _media(
    hrefs: tuple[str, ...], metadata: PmcMetadata, context: PmcContext
) -> tuple[dict[str, RawMedia], list[MediaProblem]]:
    """Fetch what the hrefs name; note what they name in vain and what nothing names."""
    listed = {stored.name: stored for stored in metadata.media}
    names = sorted(listed)
    problems = [_problem(url, "media_unnamed", "unusable address") for url in metadata.bad_media]
    named: set[str] = set()
    for href in hrefs:
        name = resolve_href(href, names)
        if name is None:
            problems.append(_problem(href, "image_missing", "no media file of that name"))
        else:
            named.add(name)
    media: dict[str, RawMedia] = {}
    for name in names:
        if name not in named:
            problems.append(_problem(name, "media_unnamed", "no figure names it"))
            continue
        result = _medium(listed[name], metadata, context)
        if isinstance(result, MediaProblem):
            problems.append(result)
        else:
            media[name] = result
    return media, problems


def _problem(name: str, reason: str, detail: str) -> MediaProblem:
    return MediaProblem(name=name, reason=reason, detail=detail)


def _medium(stored: StoredObject, metadata: PmcMetadata, context: PmcContext) -> RawMedia | MediaProblem:
    try:
        held = _object(stored, metadata, context, context.max_media_bytes)
    except InputError as error:
        return _problem(stored.name, "image_too_large", error.message)
    except ChecksumMismatch as error:
        return _problem(stored.name, "image_corrupt", error.message)
    if held is None:
        return _problem(stored.name, "image_missing", "listed, but the bucket does not have it")
    head = context.store.head(held)
    kind = sniff(head)
    if kind is None:
        return _problem(stored.name, "image_corrupt", describe(head))
    return RawMedia(
        name=stored.name,
        path=held.path,
        sha256=held.sha256,
        size_bytes=held.size_bytes,
        format=kind,
        is_synthetic=_is_synthetic(held),
    )


def _object(stored: StoredObject, metadata: PmcMetadata, context: PmcContext, max_bytes: int) -> Held | None:
    """One immutable object, from raw/ when it is there with the announced MD5; None when the bucket lacks it.

    Raises:
        ChecksumMismatch: its bytes repeatedly differ from the announced MD5.
        FetchError: the bucket does not deliver it.
        InputError: larger than `max_bytes`.
    """
    held = context.store.held(SOURCE, stored.key, md5=stored.md5)
    if held is not None and stored.md5 is not None:
        return held
    path = f"{SOURCE}/{metadata.pmcid}.{metadata.version}/{stored.name}"
    try:
        return _download(stored, path, held, context, max_bytes)
    except FetchError as error:
        context.store.ledger.failed(SOURCE, stored.key, error.message)
        raise


def _download(
    stored: StoredObject, path: str, held: Held | None, context: PmcContext, max_bytes: int
) -> Held | None:
    url = _url(stored.key, context)
    for _ in range(_CHECKSUM_ATTEMPTS):
        answer = context.client.get(url, max_bytes=max_bytes, etag=held.etag if held else None)
        if answer is None:
            return None
        if answer.status == 304 and held is not None:
            return held
        etag = answer.headers.get("etag")
        expected = stored.md5 or as_md5(etag)
        if expected is None:
            _log.info("%s: stored unverified, its ETag is no MD5", stored.key)
        if expected is None or md5_hex(answer.body) == expected:
            kept = {SYNTHETIC_HEADER: answer.headers.get(SYNTHETIC_HEADER, "")}
            headers = {name: value for name, value in kept.items() if value}
            return context.store.put(SOURCE, stored.key, path, answer.body, etag=etag, headers=headers)
    raise ChecksumMismatch(f"{stored.name}: {DIFFERS}", file=stored.key)
