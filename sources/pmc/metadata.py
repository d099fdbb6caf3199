"""The metadata JSON of one PMC article version, checked by type, and the bucket's listings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lxml import etree

from schemas.errors import FetchError, InputError
from schemas.hashing import foreign_json
from schemas.stages import Reason
from sources.store import as_md5, is_safe_name

_PREFIX = re.compile(r"^PMC(\d+)\.(\d{1,6})/$")
_S3_URL = re.compile(r"^s3://[^/]+/(?P<key>[^?]+?)(?:\?md5=(?P<md5>[^?&]*))?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object the metadata lists. `md5` is None when none, or none usable, is stated."""

    key: str
    name: str
    md5: str | None


@dataclass(frozen=True, slots=True)
class PmcMetadata:
    """What the gates and the crawl need of the metadata JSON."""

    pmcid: str
    version: int
    is_open_access: bool
    is_retracted: bool
    is_historical_ocr: bool
    is_manuscript: bool
    license_code: str | None
    pmid: str | None
    doi: str | None
    xml: StoredObject
    media: tuple[StoredObject, ...]
    bad_media: tuple[str, ...]


def parse_metadata(data: bytes, pmcid: str, version: int) -> PmcMetadata:
    """Read and check one metadata JSON.

    Booleans may be written "yes"/"no"; keys that say nothing about eligibility may be missing. A missing or
    odd eligibility flag is an error: what is not stated is not assumed.

    Raises:
        InputError: with reason `metadata_invalid`.
    """
    try:
        row = foreign_json(data)
    except (ValueError, RecursionError):
        raise _invalid("not JSON", pmcid, version) from None
    if not isinstance(row, dict):
        raise _invalid("not a JSON object", pmcid, version)
    if row.get("pmcid") != pmcid or row.get("version") != version or isinstance(row.get("version"), bool):
        raise _invalid("it describes another article or version", pmcid, version)
    folder = f"{pmcid}.{version}"
    media, bad_media = _media(row.get("media_urls"), folder)
    stated = _stored_object(row.get("xml_url"), folder)
    return PmcMetadata(
        pmcid=pmcid,
        version=version,
        is_open_access=_flag(row, "is_pmc_openaccess", folder),
        is_retracted=_flag(row, "is_retracted", folder),
        is_historical_ocr=_flag(row, "is_historical_ocr", folder),
        is_manuscript=_flag(row, "is_manuscript", folder),
        license_code=_text(row.get("license_code")),
        pmid=_pmid(row.get("pmid")),
        doi=_text(row.get("doi")),
        xml=stated or StoredObject(f"{folder}/{folder}.xml", f"{folder}.xml", None),
        media=media,
        bad_media=bad_media,
    )


def _invalid(what: str, pmcid: str, version: int | str) -> InputError:
    return InputError(
        f"the metadata cannot be used: {what}",
        reason=Reason.METADATA_INVALID.value,
        record=pmcid,
        file=f"metadata/{pmcid}.{version}.json",
    )


def _flag(row: Mapping[str, Any], name: str, folder: str) -> bool:
    value = row.get(name)
    if isinstance(value, str):
        value = {"yes": True, "true": True, "no": False, "false": False}.get(value.strip().lower())
    if not isinstance(value, bool):
        raise _invalid(f"{name} is {json.dumps(row.get(name))[:40]}", *folder.split("."))
    return value


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _pmid(value: Any) -> str | None:
    if isinstance(value, bool):
        return None
    text = str(value).strip() if isinstance(value, (int, str)) else ""
    return text if text.isascii() and text.isdigit() else None


def _stored_object(value: Any, folder: str) -> StoredObject | None:
    """The object of an `s3://bucket/folder/name?md5=…` address, None unless it lies right inside `folder`."""
    found = _S3_URL.match(value) if isinstance(value, str) else None
    if not found:
        return None
    head, _, name = found.group("key").partition("/")
    if head != folder or not is_safe_name(name):
        return None
    return StoredObject(found.group("key"), name, as_md5(found.group("md5")))


def _media(value: Any, folder: str) -> tuple[tuple[StoredObject, ...], tuple[str, ...]]:
    """Usable media by name (the first of equal names), and the addresses that are not usable."""
    good: dict[str, StoredObject] = {}
    bad: list[str] = []
    for item in value if isinstance(value, list) else []:
        stored = _stored_object(item, folder)
        if stored is None:
            bad.append(str(item).partition("?")[0][:200])
        else:
            good.setdefault(stored.name, stored)
    return tuple(good[name] for name in sorted(good)), tuple(sorted(set(bad)))


def parse_listing(data: bytes, pmcid: str) -> tuple[list[int], str | None]:
    """Versions on one page of a ListObjectsV2 answer, and the token of the next page if there is one.

    Raises:
        FetchError: not a listing, which says something of the server and nothing of the article.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(data, parser)
    except (etree.LxmlError, ValueError):
        raise FetchError("the bucket's listing is not XML", record=pmcid) from None
    if etree.QName(root).localname != "ListBucketResult":
        raise FetchError("the bucket's answer is not a listing", record=pmcid)
    versions = []
    for prefix in root.iterfind("{*}CommonPrefixes/{*}Prefix"):
        found = _PREFIX.match(prefix.text or "")
        if found and f"PMC{found.group(1)}" == pmcid:
            versions.append(int(found.group(2)))
    is_truncated = (root.findtext("{*}IsTruncated") or "").strip().lower() == "true"
    token = root.findtext("{*}NextContinuationToken")
    return versions, token if is_truncated and token else None
