"""What the PMC bucket holds of one article right now, asked as cheaply as it allows."""

from __future__ import annotations

from urllib.parse import quote

from sources.pmc import SOURCE, PmcContext, versions
from sources.pmc.inventory import ObjectVersion
from sources.pmc.metadata import PmcMetadata, parse_metadata
from sources.store import md5_hex

_MAX_METADATA_BYTES = 8 * 1024 * 1024


def metadata_keys(pmcid: str, version: int) -> tuple[str, str]:
    """Keys of an article version's metadata: the flat mirror and the copy beside the article."""
    folder = f"{pmcid}.{version}"
    return f"metadata/{folder}.json", f"{folder}/{folder}.json"


def poll(pmcid: str, context: PmcContext) -> tuple[ObjectVersion, ...]:
    """The article's versions; metadata are asked with the ETag of the last fetch, so most answers are 304.

    Versions never fetched are not asked: one that is newer is a change by itself (its ETag is left ''), an
    older one decided nothing.

    Returns:
        Versions by number, () when the bucket does not have the article.

    Raises:
        FetchError: the bucket does not answer.
    """
    numbers = versions(pmcid, context)
    found = []
    for number in numbers:
        etag = _etag(pmcid, number, context)
        if etag is not None or number == numbers[0]:
            found.append(ObjectVersion(number, etag or ""))
    return tuple(sorted(found, key=lambda one: one.number))


def _etag(pmcid: str, number: int, context: PmcContext) -> str | None:
    for key in metadata_keys(pmcid, number):
        held = context.store.ledger.find(SOURCE, key)
        if held is None:
            continue
        answer = context.client.get(_url(key, context), max_bytes=_MAX_METADATA_BYTES, etag=held.etag)
        if answer is None:
            return ""
        if answer.status == 304:
            return (held.etag or held.md5).strip('"')
        return (answer.headers.get("etag") or md5_hex(answer.body)).strip('"')
    return None


def metadata_now(pmcid: str, context: PmcContext) -> PmcMetadata | None:
    """The newest version's metadata as the bucket holds them; None when it has none. Nothing is stored.

    Raises:
        FetchError: the bucket does not answer.
        InputError: the metadata cannot be used.
    """
    for number in versions(pmcid, context)[:1]:
        for key in metadata_keys(pmcid, number):
            answer = context.client.get(_url(key, context), max_bytes=_MAX_METADATA_BYTES)
            if answer is not None:
                return parse_metadata(answer.body, pmcid, number)
    return None


def is_absent(pmcid: str, version: int, context: PmcContext) -> bool:
    """Whether the bucket lists no version of an article, and answers 404 for its metadata and its XML.

    Raises:
        FetchError: the bucket does not answer, which says nothing of the article.
    """
    if versions(pmcid, context):
        return False
    folder = f"{pmcid}.{version}"
    keys = (*metadata_keys(pmcid, version), f"{folder}/{folder}.xml")
    return all(context.client.get(_url(key, context), max_bytes=_MAX_METADATA_BYTES) is None for key in keys)


def _url(key: str, context: PmcContext) -> str:
    return f"{context.endpoint.rstrip('/')}/{quote(key, safe='/')}"
