"""One package of LitArch: read once from end to end, its chapters and the images they name put under raw/.

An index beside them, written last, tells what each chapter is; with it the package is never read again.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from schemas.article import BookPlace, MediaProblem, RawArticle, RawMedia, RawPart
from schemas.errors import FetchError, InputError
from schemas.hashing import canonical_json, sha256_bytes, sha256_text
from schemas.ids import repository_id
from schemas.record import from_dict, to_dict
from schemas.stages import Reason
from sources import bits
from sources.archives import Member, read_members
from sources.bits.front import accession, names_of
from sources.bits.load import chapter_of, load_book_part
from sources.graphics import ArticleScan, scan
from sources.images import EXTENSIONS, base_name, describe, resolve_href, sniff
from sources.jats.nodes import Element
from sources.litarch.books import SOURCE, Book, LitarchContext
from sources.store import is_safe_name

INDEX_VERSION = 1
"""Raised when the rows of an index change: packages are then read anew, not fetched anew."""
_XML_SUFFIXES = (".nxml", ".xml")
_IMAGE_SUFFIXES = tuple(f".{name}" for name in EXTENSIONS)
_CONTENTS = "toc"
_POINTERS = ("document-id", "rid", "object-id", "id", "href", "{http://www.w3.org/1999/xlink}href")


@dataclass(slots=True)
class _File:
    """One chapter file while the package is read."""

    name: str
    path: str
    sha256: str
    scan: ArticleScan
    names: tuple[str, ...] = ()
    accession: str | None = None
    too_large: str = ""
    media: list[RawMedia] = field(default_factory=list)
    problems: dict[str, MediaProblem] = field(default_factory=dict)


@dataclass(slots=True)
class _Reading:
    """What has been read of a package so far."""

    chapters: dict[str, _File] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    contents: RawPart | None = None
    order: dict[str, int] = field(default_factory=dict)


def chapters_of(book: Book, context: LitarchContext) -> dict[str, RawArticle | str]:
    """Chapters of a book by name; a string says why one is too large to be read.

    Raises:
        InputError: the package cannot be used (`not_found`, `too_large`, `archive_invalid`,
            `archive_hostile`).
        FetchError: it is not delivered.
    """
    caps = f"{context.max_xml_bytes},{context.max_media_bytes}"
    key = f"{book.path}@{book.updated}#index{INDEX_VERSION},{caps}"
    held = context.store.held(SOURCE, key)
    stored = context.store.read(held) if held is not None else None
    found = _rows(stored) if stored is not None else {}
    if stored is None or not _stand(found, context):
        _fetch_package(book, context)
        stored = canonical_json(_unpack(book, context)).encode()
        context.store.put(SOURCE, key, f"{book.folder}/index.json", stored)
        found = _rows(stored)
    return found


def _rows(stored: bytes) -> dict[str, RawArticle | str]:
    return {
        name: row if isinstance(row, str) else from_dict(RawArticle, row)
        for name, row in json.loads(stored).items()
    }


def _stand(found: Mapping[str, RawArticle | str], context: LitarchContext) -> bool:
    """Whether every file an index names is still there."""
    articles = [row for row in found.values() if isinstance(row, RawArticle)]
    paths = {row.path for row in articles}
    paths |= {medium.path for row in articles for medium in row.media}
    paths |= {part.path for row in articles for part in row.parts}
    return all((context.store.root / path).is_file() for path in paths)


def _package(book: Book) -> str:
    return f"{book.folder}/package{'.tar.gz' if book.path.lower().endswith('gz') else '.tar'}"


def _fetch_package(book: Book, context: LitarchContext) -> None:
    """Have the package under raw/; the date of the list is part of its key, so a changed one is fetched."""
    key = f"{book.path}@{book.updated}"
    if context.store.held(SOURCE, key) is not None:
        return
    url = context.endpoint.rstrip("/") + "/" + book.path
    try:
        held = context.store.fetch_file(
            context.client, url, SOURCE, key, _package(book), max_bytes=context.max_archive_bytes
        )
    except FetchError as error:
        context.store.ledger.failed(SOURCE, key, error.message)
        raise
    if held is None:
        what = "the file list names a package that is not there"
        raise InputError(what, reason=Reason.NOT_FOUND.value, record=book.accession, file=book.path)
    head = context.store.head(held)
    if head.lstrip().startswith(b"<"):  # an error page sent as the file: ask again the next time
        (context.store.root / held.path).unlink()
        raise FetchError(f"not a package: {describe(head)}", record=book.accession, file=book.path)


def _unpack(book: Book, context: LitarchContext) -> dict[str, Any]:
    reading = _Reading()
    for member in _members(book, context, reading):
        _take_xml(member, book, context, reading)
    _take_images(book, context, reading)
    ordered = sorted(reading.chapters.values(), key=lambda file: _rank(file, reading))
    rows: dict[str, Any] = {}
    for position, file in enumerate(ordered, start=1):
        article = _article(file, position, book, reading)
        rows[file.name] = file.too_large or to_dict(article)
    return rows


def _members(book: Book, context: LitarchContext, reading: _Reading) -> Iterator[Member]:
    """XML files of the package; names of its images are noted on the way."""

    def wanted(name: str) -> bool:
        lowered = name.lower()
        if lowered.endswith(_IMAGE_SUFFIXES):
            base = PurePosixPath(name).name
            known = reading.images.get(base)
            reading.images[base] = name if known is None else min(known, name)
        return lowered.endswith(_XML_SUFFIXES) and not PurePosixPath(name).name.startswith(".")

    archive = context.store.root / _package(book)
    return read_members(archive, kind="tar", limits=context.limits, wanted=wanted)


def _take_xml(member: Member, book: Book, context: LitarchContext, reading: _Reading) -> None:
    inside = PurePosixPath(member.name)
    parts = inside.with_suffix("").parts
    name = "/".join(parts[1:] if len(parts) > 1 else parts)
    stem = inside.stem if is_safe_name(inside.stem) and "/" not in name else sha256_text(name)[:16]
    if name in reading.chapters:
        stem = name = sha256_text(member.name)[:16]
    if len(member.data) > context.max_xml_bytes:
        limit = f"larger than the limit of {context.max_xml_bytes} bytes"
        reading.chapters[name] = _File(name, "", "", ArticleScan(), too_large=limit)
        return
    path = f"{book.folder}/chapters/{stem}.nxml"
    digest = _keep(path, member.data, context)
    file = _File(name, path, digest, scan(member.data))
    is_chapter = _describe(file, member.data, book)
    if name.casefold() == _CONTENTS:
        reading.contents = RawPart(name=bits.CONTENTS, path=path, sha256=digest)
        reading.order = _order(member.data)
        if not is_chapter:
            return
    reading.chapters[name] = file


def _describe(file: _File, data: bytes, book: Book) -> bool:
    """Note what the chapter calls itself; whether it can be read as one (if not, the reader says why)."""
    try:
        root, _ = load_book_part(data)
        chapter = chapter_of(root)
    except InputError:
        return False
    file.names = names_of(chapter)
    own = accession(chapter)
    file.accession = own if own != book.accession else None
    return True


def _order(data: bytes) -> dict[str, int]:
    """Where the table of contents first points to each name."""
    try:
        root, _ = load_book_part(data)
    except InputError:
        return {}
    found: dict[str, int] = {}
    for name in _pointers(root):
        found.setdefault(name.casefold(), len(found))
    return found


def _pointers(root: Element) -> Iterator[str]:
    for element in root.iter():
        for attribute in _POINTERS:
            value = (element.get(attribute) or "").strip().strip("/")
            if value:
                yield value.removeprefix("toc_").rpartition("/")[2]


def _rank(file: _File, reading: _Reading) -> tuple[int, str]:
    names = [*file.names, file.name, *([file.accession] if file.accession else [])]
    places = [reading.order[name.casefold()] for name in names if name.casefold() in reading.order]
    if file.name.casefold() == _CONTENTS:
        return -1, file.name
    return min(places, default=len(reading.order)), file.name


def _keep(path: str, data: bytes, context: LitarchContext) -> str:
    """Store bytes once; returns their SHA-256."""
    digest = sha256_bytes(data)
    held = context.store.held(SOURCE, path)
    if held is None or held.sha256 != digest:
        context.store.put(SOURCE, path, path, data)
    return digest


def _take_images(book: Book, context: LitarchContext, reading: _Reading) -> None:
    """Read the package once more for the images that chapters name; most packages hold many others."""
    users: dict[str, dict[str, _File]] = {}
    near = _by_beginning(reading.images)
    for file in reading.chapters.values():
        for href in file.scan.hrefs:
            name = resolve_href(href, near.get(_beginning(base_name(href)), ()))
            if name is None:
                file.problems[href] = _problem(href, "image_missing", "no image of that name in the package")
            else:
                users.setdefault(name, {})[file.name] = file
    if not users:
        return
    wanted = {reading.images[name]: name for name in users}
    archive = context.store.root / _package(book)
    for member in read_members(archive, kind="tar", limits=context.limits, wanted=wanted.__contains__):
        name = wanted[member.name]
        found = _image(name, member.data, book, context)
        for file in users[name].values():
            if isinstance(found, MediaProblem):
                file.problems[name] = found
            else:
                file.media.append(found)


def _beginning(name: str) -> str:
    return name.casefold().partition(".")[0]


def _by_beginning(names: dict[str, str]) -> dict[str, list[str]]:
    """Image names by what stands before their first dot: an href can mean none of another beginning."""
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(_beginning(name), []).append(name)
    return found


def _image(name: str, data: bytes, book: Book, context: LitarchContext) -> RawMedia | MediaProblem:
    if len(data) > context.max_media_bytes:
        limit = f"larger than the limit of {context.max_media_bytes} bytes"
        return _problem(name, "image_too_large", limit)
    kind = sniff(data)
    if kind is None:
        return _problem(name, "image_corrupt", describe(data))
    safe = name if is_safe_name(name) else f"{sha256_text(name)[:16]}.{kind}"
    path = f"{book.folder}/images/{safe}"
    digest = _keep(path, data, context)
    return RawMedia(name=name, path=path, sha256=digest, size_bytes=len(data), format=kind)


def _problem(name: str, reason: str, detail: str) -> MediaProblem:
    return MediaProblem(name=name, reason=reason, detail=detail)


def _article(file: _File, position: int, book: Book, reading: _Reading) -> RawArticle:
    own = (file.accession,) if file.accession else (book.key, file.name)
    is_synthetic = file.scan.is_synthetic
    media = sorted(file.media, key=lambda medium: medium.name)
    return RawArticle(
        id=repository_id(SOURCE, *own),
        source="litarch",
        format="bits",
        locator=f"{book.key}/{file.name}",
        path=file.path,
        sha256=file.sha256,
        media=tuple(dataclasses.replace(medium, is_synthetic=is_synthetic) for medium in media),
        media_problems=tuple(sorted(file.problems.values(), key=lambda found: (found.name, found.reason))),
        parts=(reading.contents,) if reading.contents else (),
        book=BookPlace(book_id=book.name, title=book.title, position=position, revision=book.updated),
        is_synthetic=is_synthetic,
    )
