"""Europe PMC: one open-access article by PMCID, with its images and text-mined annotations if wanted.

Stored under raw/europepmc/PMC123/ and not fetched again until the service says that it received a new text.
The annotations are an independent reading of the same text: an oracle for grounding, never an input of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from schemas import licences
from schemas.article import MediaProblem, RawArticle, RawMedia, RawPart
from schemas.errors import FetchError, InputError
from schemas.hashing import canonical_json, sha256_bytes
from schemas.ids import normalise_pmcid, repository_id
from schemas.stages import Drop, Reason
from sources.archives import Member, read_members
from sources.drops import UNFETCHED, drop_of
from sources.europepmc.annotations import stored_annotations
from sources.europepmc.api import (
    SOURCE,
    EuropePmcContext,
    Metadata,
    SearchResult,
    Unusable,
    metadata,
    patiently,
    search,
)
from sources.graphics import scan
from sources.http import safe_url
from sources.images import describe, resolve_href, sniff
from sources.ledger import Held
from sources.store import is_safe_name

__all__ = ["SOURCE", "EuropePmcContext", "SearchResult", "fetch", "search"]

_ARCHIVE_ATTEMPTS = 2


def fetch(pmcid: str, context: EuropePmcContext) -> RawArticle | Drop:
    """Fetch one article: metadata, XML and, if wanted, images and annotations.

    A failure that may pass drops the whole article as `fetch_failed` (what was stored is reused the next
    time), it never leaves an image out.

    Args:
        pmcid: `PMC123` or `123`.
        context: client, store and limits.

    Returns:
        The stored article, or the reason why there is none; `Drop.id` is the PMCID.
    """
    try:
        pmcid = normalise_pmcid(pmcid)
        found = metadata(pmcid, context)
        if found is None:
            raise _refused(pmcid, Reason.NOT_FOUND, "not in Europe PMC")
        _check_eligible(found, context.profile)
        return _fetch_files(found, context)
    except UNFETCHED as error:
        return drop_of(pmcid.strip()[:80], error)


def _refused(pmcid: str, reason: Reason, detail: str) -> InputError:
    return InputError(f"{pmcid}: {detail}", reason=reason.value, record=pmcid)


def _check_eligible(found: Metadata, profile: licences.Profile) -> None:
    """The gates of the PMC crawl, in the same order; no stated licence passes, the XML may state one."""
    if not found.is_open_access or not found.has_full_text:
        raise _refused(found.pmcid, Reason.NOT_OPEN_ACCESS, "no open access full text in Europe PMC")
    if found.is_retracted:
        raise _refused(found.pmcid, Reason.RETRACTED, "retracted")
    if found.is_manuscript:
        raise _refused(found.pmcid, Reason.MANUSCRIPT_ONLY, "an author manuscript")
    spdx = licences.from_code(found.license_code)
    if spdx == licences.UNKNOWN:
        raise _refused(found.pmcid, Reason.LICENCE_UNKNOWN, f"licence {found.license_code!r}")
    if spdx is not None and not licences.is_allowed(spdx, profile):
        detail = f"{found.license_code} is not in profile {profile}"
        raise _refused(found.pmcid, Reason.LICENCE_NOT_ALLOWED, detail)


def _fetch_files(found: Metadata, context: EuropePmcContext) -> RawArticle:
    pmcid = found.pmcid
    held = _xml(found, context)
    data = context.store.read(held)
    if data is None:
        raise FetchError("the stored XML changed while it was read", record=pmcid, file=held.path)
    read = scan(data)
    media: list[RawMedia] = []
    problems: list[MediaProblem] = []
    if context.images and read.hrefs:
        media, problems = _images(read.hrefs, found, context)
    parts = [_metadata_part(found, context)]
    if context.annotations:
        stored = stored_annotations([pmcid], context)[pmcid]
        parts.append(RawPart(name="annotations", path=stored.path, sha256=stored.sha256))
    return RawArticle(
        id=repository_id(SOURCE, pmcid),
        source="europepmc",
        format="jats",
        locator=pmcid,
        path=held.path,
        sha256=held.sha256,
        license_code=found.license_code,
        pmid=found.pmid,
        doi=found.doi,
        media=tuple(sorted(media, key=lambda medium: medium.name)),
        media_problems=tuple(sorted(problems, key=lambda problem: (problem.name, problem.reason))),
        parts=tuple(sorted(parts, key=lambda part: part.name)),
        is_synthetic=read.is_synthetic,
    )


def _metadata_part(found: Metadata, context: EuropePmcContext) -> RawPart:
    held = _keep(f"{found.pmcid}/metadata", f"{found.pmcid}/metadata.json", _json(found), context)
    return RawPart(name="metadata", path=held.path, sha256=held.sha256)


def _json(found: Metadata) -> bytes:
    return canonical_json(found.record).encode("utf-8", "replace")


def _keep(key: str, path: str, data: bytes, context: EuropePmcContext) -> Held:
    """Store bytes unless these very bytes stand there already."""
    held = context.store.held(SOURCE, key)
    if held is not None and held.sha256 == sha256_bytes(data):
        return held
    return context.store.put(SOURCE, key, f"{SOURCE}/{path}", data)


def _url(found: Metadata, what: str, context: EuropePmcContext) -> str:
    return f"{context.endpoint.rstrip('/')}/{found.pmcid}/{what}"


def _xml(found: Metadata, context: EuropePmcContext) -> Held:
    """The full text, from raw/ if it is that of this revision.

    Raises:
        FetchError: the service does not deliver it, although its metadata says that it has it.
        InputError: `too_large`.
    """
    key = f"{found.pmcid}/fullTextXML@{found.revision}"
    held = context.store.held(SOURCE, key)
    if held is not None and context.store.read(held) is not None:
        return held
    url = _url(found, "fullTextXML", context)

    def ask() -> bytes:
        answer = context.client.get(url, max_bytes=context.max_xml_bytes)
        if answer is None:
            raise Unusable("the metadata says open access, the full text is 404")
        start, end = answer.body[:1000].lstrip().lower(), answer.body[-200:].rstrip()
        if not start.startswith((b"<", b"\xef\xbb\xbf<")) or b"<html" in start or not end.endswith(b">"):
            raise Unusable(f"{describe(answer.body)} instead of an article")
        return answer.body

    try:
        data = patiently(context, safe_url(url), ask)
    except FetchError as error:
        context.store.ledger.failed(SOURCE, key, error.message)
        raise
    return context.store.put(SOURCE, key, f"{SOURCE}/{found.pmcid}/{found.pmcid}.xml", data)


def _images(
    hrefs: tuple[str, ...], found: Metadata, context: EuropePmcContext
) -> tuple[list[RawMedia], list[MediaProblem]]:
    """The images that figures name, out of the article's ZIP; what they name in vain."""
    try:
        members = _named_members(hrefs, found, context)
    except InputError as error:
        too_large = error.reason == Reason.TOO_LARGE.value
        reason = "image_too_large" if too_large else "image_missing"
        detail = f"the article's files: {error.reason}"
        return [], [MediaProblem(name=href, reason=reason, detail=detail) for href in hrefs]
    names = {member.name for member in members}
    problems = [
        MediaProblem(name=href, reason="image_missing", detail="no file of that name in the ZIP")
        for href in hrefs
        if resolve_href(href, sorted(names)) is None
    ]
    media: list[RawMedia] = []
    for member in members:
        if len(member.data) > context.max_media_bytes:
            detail = f"larger than the limit of {context.max_media_bytes} bytes"
            problems.append(MediaProblem(name=member.name, reason="image_too_large", detail=detail))
            continue
        kind = sniff(member.data)
        if kind is None:
            detail = describe(member.data)
            problems.append(MediaProblem(name=member.name, reason="image_corrupt", detail=detail))
            continue
        path = f"{found.pmcid}/images/{member.name}"
        held = _keep(path, path, member.data, context)
        media.append(
            RawMedia(
                name=member.name, path=held.path, sha256=held.sha256, size_bytes=held.size_bytes, format=kind
            )
        )
    return media, problems


def _named_members(hrefs: tuple[str, ...], found: Metadata, context: EuropePmcContext) -> list[Member]:
    """Members that hrefs name, by base name; `[]` when the service has no files of the article.

    A ZIP that is damaged is fetched once more: the service states no checksum, so it may be the transfer.

    Raises:
        FetchError: the ZIP is not delivered.
        InputError: `too_large`, `archive_invalid` or `archive_hostile`.
    """
    key = f"{found.pmcid}/supplementaryFiles@{found.revision}"
    for attempt in range(_ARCHIVE_ATTEMPTS):
        held = context.store.held(SOURCE, key) if attempt == 0 else None
        held = held or _archive(key, found, context)
        if held is None:
            return []
        try:
            return list(_members(hrefs, held, context))
        except InputError as error:
            if error.reason != Reason.ARCHIVE_INVALID.value or attempt + 1 == _ARCHIVE_ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def _archive(key: str, found: Metadata, context: EuropePmcContext) -> Held | None:
    url = _url(found, "supplementaryFiles?includeInlineImage=true", context)
    path = f"{SOURCE}/{found.pmcid}/supplementaryFiles.zip"
    for attempt in range(context.attempts):
        with _noting_failure(key, context):
            held = context.store.fetch_file(
                context.client, url, SOURCE, key, path, max_bytes=context.max_archive_bytes
            )
            if held is not None and not _is_zip(held, context):
                held = None
                if attempt + 1 == context.attempts:
                    raise FetchError("what came is not a ZIP", file=url, hint="run the same command later")
        if held is not None:
            return held
        if attempt + 1 < context.attempts:  # as elsewhere in this service, a 404 may be gone a second later
            context.pause(2.0**attempt)
    return None


def _is_zip(held: Held, context: EuropePmcContext) -> bool:
    """Whether what was fetched begins as a ZIP does; a page of a server in trouble is forgotten."""
    with (context.store.root / held.path).open("rb") as handle:
        if handle.read(2) == b"PK":
            return True
    context.store.ledger.forget(SOURCE, held.path)
    return False


@contextlib.contextmanager
def _noting_failure(key: str, context: EuropePmcContext) -> Iterator[None]:
    try:
        yield
    except FetchError as error:
        context.store.ledger.failed(SOURCE, key, error.message)
        raise


def _members(hrefs: tuple[str, ...], held: Held, context: EuropePmcContext) -> Iterator[Member]:
    """Two passes: the names of all members first, then the bytes of those that are named."""
    path = context.store.root / held.path
    members: list[str] = []

    def note(name: str) -> bool:
        members.append(name)
        return False

    for _ in read_members(path, kind="zip", limits=context.limits, wanted=note):
        pass
    files: dict[str, str] = {}
    for inside in sorted(members):
        name = PurePosixPath(inside).name
        if is_safe_name(name):
            files.setdefault(name, inside)
    resolved = (resolve_href(href, sorted(files)) for href in hrefs)
    wanted = {files[name]: name for name in resolved if name is not None}
    for member in read_members(path, kind="zip", limits=context.limits, wanted=wanted.__contains__):
        yield Member(wanted[member.name], member.data)
