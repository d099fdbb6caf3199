"""Wikipedia's medical pages: wikitext from a dump, images and their licences from Wikimedia Commons.

The dump is read once; only pages that are wanted are written, each as its own file with what the dump says
of it. What Commons said of a page's images is stored beside it and asked again only for a new revision.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from schemas.article import MediaProblem, RawArticle, RawMedia, RawPart
from schemas.errors import FetchError, InputError, UsageError
from schemas.hashing import canonical_json, foreign_json, sha256_bytes
from schemas.ids import repository_id
from schemas.stages import Drop, Reason
from sources import wiki
from sources.drops import UNFETCHED, drop, drop_of
from sources.http import PoliteClient
from sources.images import describe, sniff
from sources.ledger import Held
from sources.store import RawStore, as_md5
from sources.wiki.names import normal_title
from sources.wikimedia.commons import CommonsContext, ImageFacts, ask, fetch_image
from sources.wikimedia.dump import FILE_NAME, Criteria, DumpLimits, Page, Selector, Unreadable, read_dump

__all__ = [
    "Criteria", "Selected", "WikimediaContext", "fetch", "fetch_dump", "list_dumps", "load_dumps",
    "read_titles",
]  # fmt: skip

SOURCE: Final = "wikimedia"
DUMPS_ENDPOINT: Final = "https://dumps.wikimedia.org/"

_KEY = re.compile(r"[a-z][a-z0-9_]{1,60}/[1-9]\d{0,11}")
_SUM = re.compile(r"^([0-9a-f]{32})\s+(\S+)$", re.MULTILINE)
_MAX_SUMS_BYTES: Final = 1024 * 1024
_log = logging.getLogger("medqrels.sources.wikimedia")


@dataclass(frozen=True, slots=True)
class WikimediaContext:
    """What a fetch works with.

    Attributes:
        store: raw/ and its ledger.
        commons: where to ask for images; None to take text only.
        client: the HTTP client for dumps; None to use local files only.
        drops: pages known not to be had, and why, as `load_dumps` returns them.
        endpoint: base URL of the dumps.
        max_dump_bytes: larger dump files are refused (the largest single file has about 25 GB).
        limits: caps on what a dump unpacks to, and on one page.
    """

    store: RawStore
    commons: CommonsContext | None = None
    client: PoliteClient | None = None
    drops: Mapping[str, Drop] = field(default_factory=dict)
    endpoint: str = DUMPS_ENDPOINT
    max_dump_bytes: int = 64 * 1024**3
    limits: DumpLimits = field(default_factory=DumpLimits)


@dataclass(frozen=True, slots=True)
class Selected:
    """What dumps gave: locators of stored pages (`enwiki/123`), sorted; drops by title, page or file."""

    locators: tuple[str, ...]
    drops: Mapping[str, Drop]


def read_titles(path: Path) -> frozenset[str]:
    """Page titles of a file, one a line; lines that begin with `#` are comments.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("the list of titles cannot be read", file=str(path)) from error
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


# ---- dumps


def list_dumps(name: str, date: str, context: WikimediaContext) -> dict[str, str]:
    """Files with the pages of one wiki, and their MD5: the single file, or its parts where there is none.

    Args:
        name: the wiki, e.g. `enwiki`.
        date: day of the dump, YYYYMMDD.
        context: client and endpoint.

    Raises:
        FetchError: the server does not answer or lists no such file.
        UsageError: no HTTP client in the context.
    """
    url = f"{_folder(name, date, context)}/{name}-{date}-md5sums.txt"
    answer = _client(context).get(url, max_bytes=_MAX_SUMS_BYTES)
    text = answer.body.decode("utf-8", "replace") if answer is not None else ""
    sums = {file: md5 for md5, file in _SUM.findall(text) if FILE_NAME.fullmatch(file)}
    plain = f"{name}-{date}-pages-articles.xml.bz2"
    for single in (plain, plain.replace("articles", "articles-multistream")):
        if single in sums:
            return {single: sums[single]}
    parts = {file: md5 for file, md5 in sorted(sums.items()) if "multistream" not in file} or sums
    if not parts:
        raise FetchError("no files with pages in the list of checksums", file=url)
    return parts


def fetch_dump(file: str, context: WikimediaContext) -> Path:
    """One dump file, by its MD5: from raw/ if it stands there, else fetched, resumed after a cut.

    Raises:
        ChecksumMismatch: three times other bytes than announced.
        FetchError: not delivered.
        InputError: no dump of pages, or larger than `context.max_dump_bytes`.
    """
    if not FILE_NAME.fullmatch(file):
        raise InputError(f"not a dump of pages: {file[:80]!r}", reason=Reason.NOT_FOUND.value)
    name, date = file.split("-")[:2]
    md5 = as_md5(list_dumps(name, date, context).get(file))
    url, key = f"{_folder(name, date, context)}/{file}", f"dump/{file}"
    if md5 is None:
        raise FetchError("the server states no MD5 for the file", file=url, hint="run the same command later")
    held = context.store.held(SOURCE, key, md5=md5) or context.store.fetch_file(
        _client(context),
        url,
        SOURCE,
        key,
        f"{SOURCE}/dumps/{file}",
        max_bytes=context.max_dump_bytes,
        md5=md5,
    )
    if held is None:
        raise FetchError("listed, but the server does not have the file", file=url)
    return context.store.root / held.path


def _folder(name: str, date: str, context: WikimediaContext) -> str:
    return f"{context.endpoint.rstrip('/')}/{name}/{date}"


def _client(context: WikimediaContext) -> PoliteClient:
    if context.client is None:
        raise UsageError("no HTTP client for dumps", hint="give a dump file that is on this machine")
    return context.client


def load_dumps(paths: Sequence[Path], criteria: Criteria, context: WikimediaContext) -> Selected:
    """Store the pages that are wanted; of a page in several dumps the latest revision.

    A file that is damaged is a drop of unit `file`; pages of it that were whole stay selected. A damaged page
    is a drop under `<file>@<number>`; a title that is in none of the files is a drop under that title.

    Args:
        paths: dump files in any order.
        criteria: which pages to take.
        context: store and limits.
    """
    revisions: dict[str, int] = {}
    drops: dict[str, Drop] = {}
    titles: set[str] = set()
    for path in sorted(paths, key=lambda each: (each.name, str(each))):
        try:
            _load(path, criteria, context, revisions, drops, titles)
        except InputError as error:
            reason = Reason(error.reason or Reason.RECORD_INVALID)
            drops[path.name] = drop(path.name, reason, error.message, unit="file")
    for title in sorted(criteria.titles):
        if normal_title(title) not in titles:
            drops[title] = drop(title, Reason.NOT_FOUND, "no page of that title in the dumps, or a redirect")
    return Selected(tuple(sorted(revisions, key=_order)), dict(sorted(drops.items())))


def _order(locator: str) -> tuple[str, int]:
    name, _, number = locator.partition("/")
    return name, int(number)


def _load(
    path: Path,
    criteria: Criteria,
    context: WikimediaContext,
    revisions: dict[str, int],
    drops: dict[str, Drop],
    titles: set[str],
) -> None:
    selector: Selector | None = None
    for item in read_dump(path, context.limits):
        if isinstance(item, Unreadable):
            place = f"{path.name}@{item.number}"
            drops[place] = drop(place, Reason.RECORD_INVALID, item.detail)
            continue
        if selector is None:
            selector = Selector(criteria, item.site)
            if selector.is_empty:
                what = (
                    f"no templates are known for language {item.site.language!r}; give titles or categories"
                )
                raise InputError(what, reason=Reason.NOT_MEDICAL.value)
        locator = f"{item.site.wiki}/{item.id}"
        if selector.wants(item) and item.revision >= revisions.get(locator, 0):
            revisions[locator] = item.revision
            titles.add(item.title)
            _keep(item, locator, context)


def _keep(page: Page, locator: str, context: WikimediaContext) -> None:
    facts = {
        "title": page.title,
        "page": page.id,
        "revision": page.revision,
        "timestamp": page.timestamp,
        "wiki": page.site.wiki,
        "language": page.site.language,
        "site": page.site.name,
        "base": page.site.base,
        "file_names": list(page.site.file_names),
        "category_names": list(page.site.category_names),
    }
    headers = {"revision": str(page.revision)}
    text = page.text.encode("utf-8", "replace")
    # The description first: a page whose text stands always has its description.
    _put(f"page/{locator}", f"{_place(locator)}/page.json", canonical_json(facts).encode(), context, headers)
    _put(f"text/{locator}", f"{_place(locator)}/text.wiki", text, context, headers)


def _place(locator: str) -> str:
    name, _, number = locator.partition("/")
    return f"{SOURCE}/{name}/{number[-3:].zfill(3)}/{number}"


def _put(key: str, path: str, data: bytes, context: WikimediaContext, headers: Mapping[str, str]) -> Held:
    held = context.store.held(SOURCE, key)
    if held is not None and held.sha256 == sha256_bytes(data) and held.headers == headers:
        return held
    return context.store.put(SOURCE, key, path, data, headers=headers)


# ---- pages


def fetch(locator: str, context: WikimediaContext) -> RawArticle | Drop:
    """One page of those stored, with its images.

    A failure that may pass drops the whole page as `fetch_failed`, it never leaves an image out.

    Args:
        locator: `<wiki>/<page id>`, as `load_dumps` gives it.
        context: store and services.

    Returns:
        The stored page, or the reason why there is none; `Drop.id` is the locator.
    """
    if locator in context.drops:
        return context.drops[locator]
    if not _KEY.fullmatch(locator):
        return drop(locator[:80], Reason.NOT_FOUND, "not a page: <wiki>/<page id>")
    try:
        return _fetched(locator, context)
    except UNFETCHED as error:
        return drop_of(locator, error)


def _fetched(locator: str, context: WikimediaContext) -> RawArticle:
    text, page = (_stored(f"{kind}/{locator}", context) for kind in ("text", "page"))
    parts = [_part(wiki.PAGE, page[0])]
    media: list[RawMedia] = []
    problems: list[MediaProblem] = []
    facts = foreign_json(page[1])
    if context.commons is not None:
        names = wiki.image_names(text[1], facts)
        images, held = _images(locator, facts["revision"], names, context, context.commons)
        for name, each in sorted(images.items()):
            _add(name, each, media, problems, context, context.commons)
        parts.insert(0, _part(wiki.IMAGES, held))
    return RawArticle(
        id=repository_id(SOURCE, *locator.split("/")),
        source="wikimedia",
        format="wiki",
        locator=locator,
        version=facts["revision"],
        path=text[0].path,
        sha256=text[0].sha256,
        license_code=wiki.LICENCE,
        media=tuple(media),
        media_problems=tuple(problems),
        parts=tuple(parts),
    )


def _part(name: str, held: Held) -> RawPart:
    return RawPart(name=name, path=held.path, sha256=held.sha256)


def _stored(key: str, context: WikimediaContext) -> tuple[Held, bytes]:
    held = context.store.held(SOURCE, key)
    data = context.store.read(held) if held is not None else None
    if held is None or data is None:
        raise InputError("not among the stored pages", reason=Reason.NOT_FOUND.value)
    return held, data


def _images(
    locator: str, revision: int, names: Sequence[str], context: WikimediaContext, commons: CommonsContext
) -> tuple[dict[str, ImageFacts], Held]:
    """What Commons says of a page's images, asked once a revision."""
    key, headers = f"images/{locator}", {"revision": str(revision)}
    held = context.store.held(SOURCE, key)
    data = context.store.read(held) if held is not None and held.headers == headers else None
    if held is not None and data is not None:
        known: dict[str, dict[str, Any]] = json.loads(data)
        if sorted(known) == list(names):
            return {name: ImageFacts(**each) for name, each in known.items()}, held
    found = ask(names, commons)
    body = canonical_json({name: each.described() for name, each in found.items()}).encode()
    return found, _put(key, f"{_place(locator)}/images.json", body, context, headers)


def _add(
    name: str,
    facts: ImageFacts,
    media: list[RawMedia],
    problems: list[MediaProblem],
    context: WikimediaContext,
    commons: CommonsContext,
) -> None:
    """Store one image, or note why it cannot be had."""
    try:
        if facts.problem:
            raise InputError(facts.detail, reason=facts.problem)
        held, head = _image(name, facts, context, commons)
        kind = sniff(head)
        if kind is None:
            raise InputError(describe(head), reason="image_corrupt")
    except InputError as error:
        problems.append(MediaProblem(name=name, reason=error.reason, detail=error.message[:300]))
        return
    media.append(
        RawMedia(name=name, path=held.path, sha256=held.sha256, size_bytes=held.size_bytes, format=kind)
    )


def _image(
    name: str, facts: ImageFacts, context: WikimediaContext, commons: CommonsContext
) -> tuple[Held, bytes]:
    """One image from raw/ or Commons; files are kept by SHA-1, so that pages share them."""
    stem = facts.sha1 or f"{facts.original_sha1}-{commons.width}px"
    if not re.fullmatch(r"[0-9a-f]{40}(?:-\d+px)?", stem):
        raise InputError("no SHA-1 stated", reason="image_missing")
    key = f"file/{stem}"
    held = context.store.held(SOURCE, key)
    if held is None:
        data = fetch_image(facts, commons)
        held = context.store.put(SOURCE, key, f"{SOURCE}/files/{stem[:2]}/{stem}", data)
        _log.debug("%s: %d bytes", name, len(data))
    return held, context.store.head(held)
