"""OpenStax books: a checkout folder, or a repository of GitHub as the tarball of one commit.

A locator is `<book slug>/<module id>`. What a module needs beside its own text (collection, LICENSE, README,
the modules of its chapter and of the chapters these link to) is stored once and named in its parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from schemas.article import BookPlace, MediaProblem, RawArticle, RawMedia, RawPart
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from schemas.ids import repository_id
from schemas.stages import Drop, Reason
from sources.cnxml import COLLECTION
from sources.cnxml.collection import Collection, ModulePlace
from sources.cnxml.library import MODULE, load_module
from sources.cnxml.rights import LICENCE_PART, README_PART
from sources.images import base_name, describe, sniff
from sources.jats.nodes import Element
from sources.ledger import Held
from sources.openstax.checkout import Book, Checkout, module_path
from sources.store import RawStore, is_safe_name

SOURCE = "openstax"
_LINKED = re.compile(rb"""\bdocument\s*=\s*["']([A-Za-z0-9][A-Za-z0-9_.-]{0,63})["']""")


@dataclass(frozen=True, slots=True)
class OpenStaxContext:
    """What a fetch works with.

    Attributes:
        checkout: the repository at one revision.
        store: raw/ and its ledger.
        max_xml_bytes: larger modules are dropped as `too_large`.
        max_media_bytes: larger images are noted as `image_too_large`.
    """

    checkout: Checkout
    store: RawStore
    max_xml_bytes: int = 64 * 1024 * 1024
    max_media_bytes: int = 64 * 1024 * 1024
    _parts: dict[tuple[str, str], RawPart] = field(default_factory=dict, init=False, repr=False)


def locators(checkout: Checkout) -> list[str]:
    """Every module that a collection of the repository names, in the order of the books."""
    return [f"{slug}/{place.document}" for slug, book in checkout.books.items() for place in _places(book)]


def _places(book: Book) -> Iterable[ModulePlace]:
    return book.collection.modules


def fetch(locator: str, context: OpenStaxContext) -> RawArticle | Drop:
    """Copy one module, its images and the parts it needs into raw/.

    Images of a tarball are best stored by :func:`stock_media` for all modules before: else each costs a
    pass over the tarball.

    Args:
        locator: as :func:`locators` gives it.
        context: repository, store and limits.

    Returns:
        The stored module, or the reason why there is none; `Drop.id` is the locator.
    """
    try:
        slug, _, document = locator.partition("/")
        book = context.checkout.books.get(slug)
        place = book.collection.place(document) if book is not None else None
        if book is None or place is None:
            raise InputError("no collection names this module", reason=Reason.NOT_FOUND.value)
        data = context.checkout.texts.get(module_path(document))
        if data is None:
            detail = "the collection names the module, but the repository does not have it"
            raise InputError(detail, reason=Reason.NOT_FOUND.value)
        if len(data) > context.max_xml_bytes:
            detail = f"larger than the limit of {context.max_xml_bytes} bytes"
            raise InputError(detail, reason=Reason.TOO_LARGE.value)
        stock_media([locator], context)
        return _store(locator, book, place, data, context)
    except InputError as error:
        reason = Reason(error.reason or Reason.NOT_FOUND)
        return Drop(unit="article", id=locator, article_id=locator, reason=reason, detail=error.message)


def _store(locator: str, book: Book, place: ModulePlace, data: bytes, context: OpenStaxContext) -> RawArticle:
    module = _part(book, f"{MODULE}{place.document}", data, context)
    media, problems = _media(book, place.document, data, context)
    collection = book.collection
    return RawArticle(
        id=repository_id(SOURCE, book.slug, place.document),
        source="openstax",
        format="cnxml",
        locator=locator,
        path=module.path,
        sha256=module.sha256,
        license_code=collection.licence_url or collection.licence_text or None,
        media=tuple(media[name] for name in sorted(media)),
        media_problems=tuple(sorted(problems, key=lambda problem: (problem.name, problem.reason))),
        parts=_parts(book, place.document, context),
        book=BookPlace(
            book_id=book.slug,
            title=collection.title,
            chapter=place.chapter,
            chapter_title=place.chapter_title,
            position=place.position,
            revision=context.checkout.revision,
        ),
    )


def _parts(book: Book, document: str, context: OpenStaxContext) -> tuple[RawPart, ...]:
    """The other files a module's reader needs, stored, sorted by name."""
    texts = context.checkout.texts
    files = {
        COLLECTION: texts[book.path],
        LICENCE_PART: context.checkout.licence,
        README_PART: context.checkout.readme,
        **{
            f"{MODULE}{other}": texts.get(module_path(other))
            for other in _needed(book.collection, document, texts.get)
            if other != document
        },
    }
    return tuple(_part(book, name, data, context) for name, data in sorted(files.items()) if data is not None)


def _needed(collection: Collection, document: str, text: Callable[[str], bytes | None]) -> list[str]:
    """Modules of the chapter, and of every chapter that one of these links to: they number the links."""
    chapter = collection.chapter_of(document)
    linked = {
        found.decode("ascii")
        for other in chapter
        for found in _LINKED.findall(text(module_path(other)) or b"")
    }
    return sorted({*chapter, *(near for other in linked for near in collection.chapter_of(other))})


def _part(book: Book, name: str, data: bytes, context: OpenStaxContext) -> RawPart:
    """One file of a book, stored once however many modules need it."""
    known = context._parts.get((book.slug, name))
    if known is None:
        path = f"{_folder(book, context)}/{name.replace(':', '/')}{'' if name in _BARE else '.xml'}"
        held = _keep(path, path, data, context)
        known = context._parts[book.slug, name] = RawPart(name=name, path=held.path, sha256=held.sha256)
    return known


_BARE = frozenset({LICENCE_PART, README_PART})


def _folder(book: Book, context: OpenStaxContext) -> str:
    return f"{SOURCE}/{book.slug}/{context.checkout.key}"


def _keep(key: str, path: str, data: bytes, context: OpenStaxContext) -> Held:
    """Store bytes once: what stands there with this hash stays."""
    held = context.store.held(SOURCE, key)
    if held is not None and held.sha256 == sha256_bytes(data):
        return held
    return context.store.put(SOURCE, key, path, data)


# ---- images


def image_paths(document: str, data: bytes) -> list[str]:
    """Paths in the repository of the images a module names, in order; [] for a module that cannot be read."""
    try:
        root, _ = load_module(data)
    except InputError:
        return []
    return list(dict.fromkeys(filter(None, (_path_of(image, document) for image in root.iter("image")))))


def _path_of(image: Element, document: str) -> str:
    """`../../media/x.jpg` seen from the module's folder; '' for addresses and paths out of the repository."""
    href = (image.get("src") or "").strip().replace("\\", "/")
    if not href or ":" in href.partition("/")[0] or href.startswith("/"):
        return ""
    parts = list(PurePosixPath(module_path(document)).parent.parts)
    for part in PurePosixPath(href).parts:
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            return ""
    return "/".join(parts)


def stock_media(wanted: Iterable[str], context: OpenStaxContext) -> None:
    """Store the images that modules of a tarball name, in one pass over it; a folder needs no such pass.

    Args:
        wanted: locators that are going to be fetched.
        context: repository, store and limits.

    Raises:
        InputError: the tarball is damaged or hostile.
    """
    checkout = context.checkout
    if not checkout.is_archive:
        return
    missing: dict[str, set[str]] = {}
    for locator in wanted:
        slug, _, document = locator.partition("/")
        data = checkout.texts.get(module_path(document))
        for path in image_paths(document, data) if data is not None and slug in checkout.books else ():
            if path in checkout.names and context.store.held(SOURCE, _media_key(slug, path, context)) is None:
                missing.setdefault(path, set()).add(slug)
    if missing:
        for path, data in checkout.members(frozenset(missing)):
            for slug in sorted(missing[path]):
                _keep_media(checkout.books[slug], path, data, context)


def _media_key(slug: str, path: str, context: OpenStaxContext) -> str:
    return f"{slug}/{context.checkout.revision}/{path}"


def _keep_media(book: Book, path: str, data: bytes, context: OpenStaxContext) -> Held:
    """The path holds the content's hash, so that an image edited in a folder becomes a new copy."""
    name = PurePosixPath(path).name
    place = f"{_folder(book, context)}/media/{sha256_bytes(data)[:12]}/{name}"
    return _keep(_media_key(book.slug, path, context), place, data, context)


def _media(
    book: Book, document: str, data: bytes, context: OpenStaxContext
) -> tuple[dict[str, RawMedia], list[MediaProblem]]:
    media: dict[str, RawMedia] = {}
    problems: list[MediaProblem] = []
    for path in image_paths(document, data):
        result = _medium(book, path, context)
        if isinstance(result, MediaProblem):
            problems.append(result)
        elif media.setdefault(result.name, result) != result:
            problems.append(_problem(result.name, "image_missing", "another image has the same file name"))
    return media, problems


def _medium(book: Book, path: str, context: OpenStaxContext) -> RawMedia | MediaProblem:
    name = base_name(path)
    if not is_safe_name(name):
        return _problem(name, "image_missing", "unusable file name")
    try:
        held = _media_file(book, path, context)
    except InputError as error:
        too_large = error.reason == Reason.TOO_LARGE.value
        return _problem(name, "image_too_large" if too_large else "image_missing", error.message)
    if held is None:
        return _problem(name, "image_missing", "the repository does not have it")
    if held.size_bytes > context.max_media_bytes:
        return _problem(name, "image_too_large", f"larger than the limit of {context.max_media_bytes} bytes")
    head = context.store.head(held)
    kind = sniff(head)
    if kind is None:
        return _problem(name, "image_corrupt", describe(head))
    return RawMedia(name=name, path=held.path, sha256=held.sha256, size_bytes=held.size_bytes, format=kind)


def _media_file(book: Book, path: str, context: OpenStaxContext) -> Held | None:
    """A stored image: of a tarball what was stocked, of a folder the file as it is now."""
    if context.checkout.is_archive:
        return context.store.held(SOURCE, _media_key(book.slug, path, context))
    data = context.checkout.read(path, context.max_media_bytes)
    return None if data is None else _keep_media(book, path, data, context)


def _problem(name: str, reason: str, detail: str) -> MediaProblem:
    return MediaProblem(name=name, reason=reason, detail=detail)


def drops(checkout: Checkout) -> Iterator[Drop]:
    """Books of the repository that cannot be read at all: their modules are not known."""
    for path, reason, detail in checkout.unreadable:
        yield Drop(unit="article", id=path, article_id=path, reason=reason, detail=detail)
