"""A folder of JATS files with their images beside them: deliveries of publishers, preprints, own collections.

XML and named images are copied to raw/folder/<hash>/, where the hash covers exactly these bytes: two articles
never overwrite each other, and an edited file becomes a new copy.
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from schemas.article import MediaProblem, RawArticle, RawMedia
from schemas.errors import InputError, UsageError
from schemas.hashing import canonical_json, sha256_bytes, sha256_text
from schemas.ids import folder_article_id, normalise_doi
from schemas.stages import Drop, Reason
from sources.graphics import scan
from sources.images import describe, resolve_href, sniff
from sources.store import RawStore, is_safe_name

SOURCE = "folder"
XML_SUFFIXES = frozenset({".xml", ".nxml"})
_ODD_BYTE = re.compile(rb"\\x([89a-f][0-9a-f])")
_log = logging.getLogger("medqrels.sources.folder")


@dataclass(frozen=True, slots=True)
class FolderContext:
    """What a fetch works with.

    Attributes:
        root: the folder; nothing outside it is read, not even through a symbolic link.
        store: raw/ and its ledger.
        max_xml_bytes: larger XML files are dropped as `too_large`.
        max_media_bytes: larger images are noted as `image_too_large`.
        others: locators fetched that hold no JATS article, which `extract` will leave out; filled by fetches.
    """

    root: Path
    store: RawStore
    max_xml_bytes: int = 64 * 1024 * 1024
    max_media_bytes: int = 64 * 1024 * 1024
    others: list[str] = field(default_factory=list)


def discover(path: Path) -> list[str]:
    r"""XML files at any depth, as sorted POSIX paths inside the folder; hidden ones are passed over.

    Bytes of a name that are no UTF-8 are written as \xe9; :func:`path_of` finds such a file again.

    A link to a file is listed (fetching it says if it is refused); linked folders are logged and not entered.

    Raises:
        UsageError: not a folder.
    """
    if not path.is_dir():
        raise UsageError("not a folder", file=str(path), hint="medqrels crawl folder PATH")
    found: list[str] = []
    for folder, children, files in os.walk(path, followlinks=False):
        for child in list(children):
            if child.startswith("."):
                children.remove(child)
            elif os.path.islink(os.path.join(folder, child)):
                _log.warning("a linked folder is not entered: %s", child)
        for name in files:
            if not name.startswith(".") and os.path.splitext(name)[1].lower() in XML_SUFFIXES:
                found.append(as_text(Path(folder, name).relative_to(path).as_posix()))
    return sorted(found)


def as_text(name: str) -> str:
    r"""A file's name as it stands in records: bytes that are no UTF-8 as \xe9."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def path_of(locator: str, root: Path) -> Path:
    """The file that a locator means, there or not: as it is written, else with its odd bytes as they were."""
    plain = root / locator
    if os.path.lexists(plain):
        return plain
    return root / os.fsdecode(_ODD_BYTE.sub(lambda found: bytes([int(found[1], 16)]), os.fsencode(locator)))


def fetch(locator: str, context: FolderContext) -> RawArticle | Drop:
    """Copy one article and the images its figures name into raw/.

    Two files of one DOI get the same id: the caller keeps the one with the smaller locator and drops the
    other as `duplicate_article`.

    Args:
        locator: as :func:`discover` gives it.
        context: folder, store and limits.

    Returns:
        The stored article, or the reason why there is none; `Drop.id` is the locator.
    """
    try:
        source = _inside(locator, context.root)
        data = _bytes(source, context.max_xml_bytes)
    except InputError as error:
        reason = Reason(error.reason or Reason.NOT_FOUND)
        return Drop(unit="article", id=locator, article_id=locator, reason=reason, detail=error.message)
    return _store(locator, source, data, context)


def _inside(locator: str, root: Path) -> Path:
    """The real file a locator means.

    Raises:
        InputError: it is missing, no plain file, or lies outside the folder.
    """
    try:
        real, base = path_of(locator, root).resolve(strict=True), root.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise _missing("no such file") from None
    if not real.is_relative_to(base):
        raise _missing("a link or path out of the folder is refused")
    if not real.is_file():
        raise _missing("not a plain file")
    return real


def _missing(what: str) -> InputError:
    return InputError(what, reason=Reason.NOT_FOUND.value)


def _bytes(path: Path, limit: int) -> bytes:
    """A file's bytes.

    Raises:
        InputError: larger than `limit`, or not readable.
    """
    try:
        with path.open("rb") as handle:
            data = handle.read(limit + 1)
    except OSError as error:
        raise _missing(f"cannot be read: {error.strerror}") from None
    if len(data) > limit:
        raise InputError(f"larger than the limit of {limit} bytes", reason=Reason.TOO_LARGE.value)
    return data


def _store(locator: str, source: Path, data: bytes, context: FolderContext) -> RawArticle:
    found = scan(data)
    if not found.is_article:
        context.others.append(locator)
    images, problems = _images(found.hrefs, locator, context)
    sha256 = sha256_bytes(data)
    content = [sha256, *([name, sha256_bytes(image)] for name, image in sorted(images.items()))]
    folder = f"{SOURCE}/{sha256_text(canonical_json(content))[:12]}"
    # The XML gets a fixed name, so that the copy depends on content alone and never meets an image's name.
    path = f"{folder}/article.xml"
    _keep(path, data, context)
    media = []
    for name, image in sorted(images.items()):
        stored = f"{folder}/images/{name}"
        _keep(stored, image, context)
        media.append(
            RawMedia(
                name=name,
                path=stored,
                sha256=sha256_bytes(image),
                size_bytes=len(image),
                format=sniff(image) or "",
                is_synthetic=found.is_synthetic,
            )
        )
    return RawArticle(
        id=folder_article_id(found.doi, sha256),
        source="folder",
        locator=locator,
        path=path,
        sha256=sha256,
        doi=normalise_doi(found.doi) if found.doi else None,
        media=tuple(media),
        media_problems=tuple(sorted(problems, key=lambda problem: (problem.name, problem.reason))),
        is_synthetic=found.is_synthetic,
    )


def _keep(path: str, data: bytes, context: FolderContext) -> None:
    """Store bytes once: the path is made of their hash, so what stands there with the right size stays."""
    held = context.store.held(SOURCE, path)
    if held is None or held.sha256 != sha256_bytes(data):
        context.store.put(SOURCE, path, path, data)


def _images(
    hrefs: tuple[str, ...], locator: str, context: FolderContext
) -> tuple[dict[str, bytes], list[MediaProblem]]:
    """Bytes of the images that hrefs name, by file name, and what was named in vain."""
    beside = path_of(locator, context.root).parent
    images: dict[str, bytes] = {}
    taken: dict[str, Path] = {}
    problems: dict[str, MediaProblem] = {}
    for href in hrefs:
        file = _find(href, beside)
        if file is None:
            problems[href] = _problem(href, "image_missing", "no file of that name beside the XML")
            continue
        if taken.setdefault(file.name, file) != file:
            problems[href] = _problem(href, "image_missing", "another image has the same file name")
        if href in problems or file.name in images:
            continue
        try:
            data = _bytes(_inside(str(file.relative_to(context.root)), context.root), context.max_media_bytes)
        except InputError as error:
            too_large = error.reason == Reason.TOO_LARGE.value
            reason = "image_too_large" if too_large else "image_missing"
            problems[href] = _problem(file.name, reason, error.message)
            continue
        if sniff(data) is None:
            problems[href] = _problem(file.name, "image_corrupt", describe(data))
        else:
            images[file.name] = data
    return images, list(problems.values())


def _problem(name: str, reason: str, detail: str) -> MediaProblem:
    return MediaProblem(name=name, reason=reason, detail=detail)


def _find(href: str, beside: Path) -> Path | None:
    """The file an href means: in the sub-folder a relative href states, else beside the XML."""
    parts = PurePosixPath(href.strip().replace("\\", "/")).parts[:-1]
    folders = [beside]
    if parts and ":" not in parts[0] and not any(part in ("/", "..") for part in parts):
        folders.insert(0, beside.joinpath(*parts))
    for folder in folders:
        name = resolve_href(href, _names(folder))
        if name is not None:
            return folder / name
    return None


def _names(folder: Path) -> list[str]:
    """Names of what may be an image in a folder; XML files are never candidates."""
    try:
        entries = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError:
        return []
    return [
        name
        for name in entries
        if is_safe_name(name) and os.path.splitext(name)[1].lower() not in XML_SUFFIXES
    ]
