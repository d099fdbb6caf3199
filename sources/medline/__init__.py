"""MEDLINE/PubMed: abstracts and MeSH by PMID, from E-utilities or from the baseline and update files.

A file of 30,000 records is kept once as it came; only records that are asked for are written beside it, one
small XML file each under raw/medline/records/, which is what a RawArticle points to.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from schemas.article import RawArticle
from schemas.errors import FetchError, InputError, UsageError
from schemas.hashing import sha256_bytes
from schemas.ids import repository_id
from schemas.stages import Drop, Reason
from sources.drops import drop
from sources.eutils import EutilsContext, hide_key
from sources.http import PoliteClient
from sources.ledger import Held
from sources.medline_xml.files import (
    FILE_NAME,
    MIB,
    Criteria,
    Deletion,
    FileLimits,
    Record,
    Unreadable,
    read_file,
    read_records,
)
from sources.store import RawStore, as_md5

__all__ = [
    "Criteria", "MedlineContext", "Selected", "fetch", "fetch_file", "list_files", "load_files", "prefetch",
]  # fmt: skip

SOURCE = "medline"
FILES_ENDPOINT = "https://ftp.ncbi.nlm.nih.gov/pubmed/"
MAX_IDS = 200
"""PMIDs per EFetch request."""

_MAX_LISTING_BYTES: Final = 8 * MIB
_MAX_ANSWER_BYTES: Final = 128 * MIB
_BACKOFF_CAP_SECONDS: Final = 30.0
_PMID = re.compile(r"[1-9]\d{0,9}", re.ASCII)
_WHOLE = re.compile(rb"(?:</Pubmed(?:Book)?ArticleSet>|<PubmedArticleSet\s*/>)\s*$")
_MD5 = re.compile(r"\b([0-9a-fA-F]{32})\b")
_log = logging.getLogger("medqrels.sources.medline")


@dataclass(frozen=True, slots=True)
class MedlineContext:
    """What a fetch works with.

    Attributes:
        store: raw/ and its ledger.
        eutils: E-utilities for records that no file holds; None to use files only.
        client: the HTTP client for files; None to use local files only.
        drops: PMIDs known not to be had, and why, as `prefetch` and `load_files` return them.
        endpoint: base URL of the folders baseline/ and updatefiles/.
        max_file_bytes: larger files are refused (real ones stay below 100 MB packed).
        limits: caps on what a file unpacks to, and on one record.
    """

    store: RawStore
    eutils: EutilsContext | None = None
    client: PoliteClient | None = None
    drops: Mapping[str, Drop] = field(default_factory=dict)
    endpoint: str = FILES_ENDPOINT
    max_file_bytes: int = 1024 * MIB
    limits: FileLimits = field(default_factory=FileLimits)


@dataclass(frozen=True, slots=True)
class Selected:
    """What files gave: PMIDs stored, in numerical order; drops by PMID, file name or place in a file."""

    pmids: tuple[str, ...]
    drops: Mapping[str, Drop]


def fetch(pmid: str, context: MedlineContext) -> RawArticle | Drop:
    """One record: from raw/ if it is there, else by E-utilities.

    Args:
        pmid: PubMed id.
        context: store and services; `prefetch` or `load_files` first, or every record costs a request.

    Returns:
        The stored record, or the reason why there is none; `Drop.id` is the PMID.
    """
    pmid = pmid.strip()
    if not _PMID.fullmatch(pmid):
        return drop(pmid[:80], Reason.NOT_FOUND, "not a PMID")
    if pmid in context.drops:
        return context.drops[pmid]
    held = _held(pmid, context)
    if held is None:
        if context.eutils is None:
            return drop(pmid, Reason.NOT_FOUND, "not among the stored records")
        drops = prefetch([pmid], context)
        if pmid in drops:
            return drops[pmid]
        held = _held(pmid, context)
    if held is None:
        return drop(pmid, Reason.FETCH_FAILED, "the stored record changed while it was read")
    return RawArticle(
        id=repository_id(SOURCE, pmid),
        source="medline",
        format="medline",
        locator=pmid,
        version=int(held.headers.get("version", "1")),
        path=held.path,
        sha256=held.sha256,
        pmid=pmid,
    )


def _key(pmid: str) -> str:
    return f"record/{pmid}"


def _held(pmid: str, context: MedlineContext) -> Held | None:
    return context.store.held(SOURCE, _key(pmid))


def _keep(record: Record, context: MedlineContext) -> None:
    held = _held(record.pmid, context)
    if held is not None and held.sha256 == sha256_bytes(record.data):
        return
    folder = record.pmid[-3:].zfill(3)  # at most a thousand folders
    path = f"{SOURCE}/records/{folder}/{record.pmid}.xml"
    headers = {"version": str(record.version)}
    context.store.put(SOURCE, _key(record.pmid), path, record.data, headers=headers)


# ---- E-utilities


def prefetch(pmids: Collection[str], context: MedlineContext, *, refresh: bool = False) -> dict[str, Drop]:
    """Store the records of some PMIDs, 200 a request.

    Args:
        pmids: PubMed ids; those whose record is held are not asked for.
        context: store and E-utilities.
        refresh: ask for all, because records change (MeSH is added, articles are retracted).

    Returns:
        Why there is no record, by PMID; everything else is stored.

    Raises:
        UsageError: no E-utilities in the context.
    """
    if context.eutils is None:
        raise UsageError(
            "records are fetched by E-utilities only", hint="set MEDQRELS_CONTACT=you@example.org"
        )
    good = sorted({pmid for pmid in pmids if _PMID.fullmatch(pmid)}, key=int)
    wanted = [pmid for pmid in good if refresh or _held(pmid, context) is None]
    drops = {pmid: drop(pmid[:80], Reason.NOT_FOUND, "not a PMID") for pmid in set(pmids) - set(good)}
    for start in range(0, len(wanted), MAX_IDS):
        batch = wanted[start : start + MAX_IDS]
        try:
            found = _efetch(batch, context, context.eutils)
        except (FetchError, InputError) as error:
            reason = Reason.TOO_LARGE if isinstance(error, InputError) else Reason.FETCH_FAILED
            _log.warning("%d records not fetched: %s", len(batch), error.message)
            drops |= {pmid: drop(pmid, reason, error.message) for pmid in batch}
            continue
        for pmid in batch:
            if pmid in found:
                _keep(found[pmid], context)
            else:
                drops[pmid] = drop(pmid, Reason.NOT_FOUND, "PubMed has no such record")
    return dict(sorted(drops.items()))


def _efetch(pmids: Sequence[str], context: MedlineContext, eutils: EutilsContext) -> dict[str, Record]:
    """Records by PMID; ids that PubMed does not know are left out.

    Raises:
        FetchError: no usable answer after all attempts.
    """
    url = f"{eutils.endpoint.rstrip('/')}/efetch.fcgi"
    fields = {
        "db": "pubmed",
        "retmode": "xml",
        "id": ",".join(pmids),
        "tool": eutils.tool,
        "email": eutils.email,
    }
    fields |= {"api_key": eutils.api_key} if eutils.api_key else {}
    problem = ""
    for attempt in range(eutils.attempts):
        answer = eutils.client.post_form(url, fields, max_bytes=_MAX_ANSWER_BYTES)
        if answer is None:
            raise FetchError("no E-utilities at this address", file=url)
        try:
            return _records(answer.body, pmids, context)
        except InputError as error:
            problem = error.message
        if attempt + 1 < eutils.attempts:
            eutils.pause(min(_BACKOFF_CAP_SECONDS, 2.0**attempt))
    raise FetchError(
        f"EFetch gave no usable answer after {eutils.attempts} attempts: {hide_key(problem, eutils)}",
        file=url,
        hint="run the same command again later: what is already fetched is kept",
    )


def _records(body: bytes, pmids: Sequence[str], context: MedlineContext) -> dict[str, Record]:
    """Records of one answer.

    Raises:
        InputError: an error, a page, a cut or mixed-up answer.
    """
    if not _WHOLE.search(body[-100:]):
        error = re.search(rb"<ERROR>(.{0,200}?)</ERROR>|\"error\"\s*:\s*\"([^\"]{0,200})", body, re.DOTALL)
        said = (
            next(filter(None, error.groups()), b"").decode("utf-8", "replace")
            if error
            else "no set of records"
        )
        if "empty" in said.lower() or "cannot get document summary" in said.lower():
            return {}  # how EFetch says that it knows none of the ids
        raise InputError(said)
    if b"<PMID" not in body:
        return {}
    found: dict[str, Record] = {}
    for item in read_records(io.BytesIO(body), "efetch.fcgi", context.limits):
        if isinstance(item, Unreadable):
            raise InputError(item.detail)
        if isinstance(item, Record):
            if item.pmid not in pmids:
                raise InputError(f"record {item.pmid} was not asked for")
            if item.pmid not in found or item.version >= found[item.pmid].version:
                found[item.pmid] = item
    return found


# ---- baseline and update files


def list_files(folder: Literal["baseline", "updatefiles"], context: MedlineContext) -> tuple[str, ...]:
    """Names of the files a folder of NLM's server lists, in the order in which they apply.

    Raises:
        FetchError: the server does not answer, or not with a listing.
        UsageError: no HTTP client in the context.
    """
    answer = _client(context).get(_url(folder, "", context), max_bytes=_MAX_LISTING_BYTES)
    text = answer.body.decode("utf-8", "replace") if answer is not None else ""
    names = set(re.findall(rf"href=\"({FILE_NAME.pattern})\"", text))
    if not names:
        raise FetchError("no PubMed files in the listing", file=_url(folder, "", context))
    return tuple(sorted(names))


def fetch_file(name: str, folder: Literal["baseline", "updatefiles"], context: MedlineContext) -> Path:
    """One file, by its MD5: from raw/ if it stands there, else fetched, resumed after a cut.

    Returns:
        Where it stands.

    Raises:
        ChecksumMismatch: three times other bytes than announced.
        FetchError: not delivered.
        InputError: no file of PubMed, or larger than `context.max_file_bytes`.
    """
    if not FILE_NAME.fullmatch(name):
        raise InputError(f"not a PubMed file: {name[:80]!r}", reason=Reason.NOT_FOUND.value)
    url, client = _url(folder, name, context), _client(context)
    answer = client.get(f"{url}.md5", max_bytes=4096)
    stated = _MD5.search(answer.body.decode("ascii", "replace")) if answer is not None else None
    md5 = as_md5(stated.group(1)) if stated else None
    if md5 is None:
        raise FetchError("the server states no MD5 for the file", file=url, hint="run the same command later")
    key = f"{folder}/{name}"
    held = context.store.held(SOURCE, key, md5=md5) or context.store.fetch_file(
        client, url, SOURCE, key, f"{SOURCE}/{folder}/{name}", max_bytes=context.max_file_bytes, md5=md5
    )
    if held is None:
        raise FetchError("listed, but the server does not have the file", file=url)
    return context.store.root / held.path


def _client(context: MedlineContext) -> PoliteClient:
    if context.client is None:
        raise UsageError("no HTTP client for PubMed's files", hint="give a folder of pubmed*.xml.gz files")
    return context.client


def _url(folder: str, name: str, context: MedlineContext) -> str:
    return f"{context.endpoint.rstrip('/')}/{folder}/{name}"


class _Catalogue:
    """The last state of the records that are wanted, as file after file is read."""

    def __init__(self, criteria: Criteria) -> None:
        self.criteria = criteria
        self.wanted: set[str] = set()
        self.drops: dict[str, Drop] = {}
        self.last: dict[str, tuple[int, int, int]] = {}  # version, file, position in it

    def read(self, path: Path, number: int, limits: FileLimits) -> None:
        """Read one file; it counts whole or not at all, for damaged gzip may have damaged any record."""
        seen: list[tuple[int, Record | Deletion | Unreadable, bool]] = []
        known = self.last.keys() | self.drops.keys()
        try:
            for position, item in enumerate(read_file(path, limits)):
                if isinstance(item, Record):
                    is_kept = self.criteria.keeps(item)
                    if is_kept or item.version > 1 or item.pmid in known:  # millions of others are not noted
                        known.add(item.pmid)
                        seen.append((position, replace(item, data=b""), is_kept))
                else:
                    seen.append((position, item, False))
        except InputError as error:
            reason = Reason(error.reason or Reason.RECORD_INVALID)
            self.drops[path.name] = drop(path.name, reason, error.message, unit="file")
            return
        for position, item, is_kept in seen:
            if isinstance(item, Record):
                self._record(item, is_kept, number, position)
            elif isinstance(item, Deletion):
                self._delete(item.pmid, path.name)
            else:
                place = f"{path.name}@{item.offset}"
                self.drops[place] = drop(place, Reason.RECORD_INVALID, item.detail)

    def _record(self, record: Record, is_kept: bool, number: int, position: int) -> None:
        if record.version < self.last.get(record.pmid, (0, 0, 0))[0]:
            return
        self.last[record.pmid] = (record.version, number, position)
        self.drops.pop(record.pmid, None)
        if is_kept:
            self.wanted.add(record.pmid)
        else:
            self.wanted.discard(record.pmid)

    def _delete(self, pmid: str, file: str) -> None:
        self.last.pop(pmid, None)
        if pmid in self.wanted or pmid in (self.criteria.pmids or ()):
            self.drops[pmid] = drop(pmid, Reason.WITHDRAWN, f"deleted by {file}")
        self.wanted.discard(pmid)


def load_files(paths: Sequence[Path], criteria: Criteria, context: MedlineContext) -> Selected:
    """Store the records that are wanted, in their last state: a later file supersedes or deletes.

    Each file is read twice, so that only final records are written. A file that is damaged is a drop of unit
    `file` and counts for nothing.

    Args:
        paths: files in any order; they apply in the order of their names, as NLM numbers them.
        criteria: which records to keep, judged by their last state.
        context: store and limits.
    """
    ordered = sorted(paths, key=lambda path: (path.name, str(path)))
    catalogue = _Catalogue(criteria)
    for number, path in enumerate(ordered):
        catalogue.read(path, number, context.limits)
    wanted, drops = catalogue.wanted, catalogue.drops
    places = {catalogue.last[pmid][1:] for pmid in wanted}
    for number in sorted({number for number, _ in places}):
        for position, item in enumerate(read_file(ordered[number], context.limits)):
            if isinstance(item, Record) and (number, position) in places:
                _keep(item, context)
    for pmid in sorted((criteria.pmids or frozenset()) - wanted - drops.keys()):
        drops[pmid] = drop(pmid, Reason.NOT_FOUND, "in none of the files, or not of the kind asked for")
    return Selected(tuple(sorted(wanted, key=int)), dict(sorted(drops.items())))
