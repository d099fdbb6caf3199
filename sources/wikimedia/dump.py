"""Pages out of a Wikimedia dump (`enwiki-20261101-pages-articles-multistream.xml.bz2`), as a stream.

Schema: https://www.mediawiki.org/xml/export-0.11.xsd . Each page is cut out byte for byte before it is
parsed, so a damaged page costs itself alone, and pages that are not wanted are hardly looked at.
"""

from __future__ import annotations

import bz2
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from lxml import etree

from schemas.errors import InputError
from schemas.stages import Reason
from sources.wiki.names import normal_title

MIB: Final = 1024 * 1024
FILE_NAME = re.compile(
    r"[a-z][a-z0-9_]{1,40}wiki-\d{8}-pages-articles(?:-multistream)?\d*\.xml(?:-p\d+p\d+)?\.bz2"
)

TEMPLATES: Final[Mapping[str, tuple[str, ...]]] = {
    "de": ("Infobox ICD",),
    "en": (
        "Infobox disease",
        "Infobox medical condition",
        "Infobox medical condition (new)",
        "Infobox symptom",
    ),
    "es": ("Ficha de enfermedad",),
    "fr": ("Infobox Maladie",),
    "ja": ("Infobox disease", "Infobox medical condition"),
    "pt": ("Info/Patologia",),
    "zh": ("Infobox disease", "Infobox medical condition"),
}
"""Templates that tell a page on a disease, where nothing else is asked for."""

_BLOCK: Final = MIB
_OPEN: Final = b"<page>"
_CLOSE: Final = b"</page>"
_END: Final = b"</mediawiki>"
_BZIP2: Final = b"BZh"
_RATIO_FROM: Final = 256 * MIB
_MAX_RATIO: Final = 200
_TEMPLATE = re.compile(r"\{\{\s*([^|{}<>\[\]#]{1,200})")
_XMLNS = re.compile(rb"\sxmlns=\"[^\"]*\"")


@dataclass(frozen=True, slots=True)
class DumpLimits:
    """Caps in bytes: one page's XML, and what a whole file unpacks to (English Wikipedia: about 100 GiB)."""

    page_bytes: int = 16 * MIB
    file_bytes: int = 1024 * 1024 * MIB


@dataclass(frozen=True, slots=True)
class Criteria:
    """Which pages to take: those that meet any. Without any, the templates of `TEMPLATES` for the language.

    Attributes:
        titles: page titles.
        templates: names of templates a page uses.
        categories: names of categories a page's own text puts it in (without the namespace).
    """

    titles: frozenset[str] = frozenset()
    templates: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Site:
    """What the head of a dump says of the wiki; names of namespaces in lower case."""

    wiki: str
    language: str
    name: str
    base: str
    file_names: tuple[str, ...] = ()
    category_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the main namespace that is no redirect."""

    site: Site = field(repr=False)
    id: int
    revision: int
    title: str
    timestamp: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Bytes where a page should be: what is wrong, and the page's number in the file."""

    number: int
    detail: str


class Selector:
    """Decides by title and wikitext whether a page is wanted.

    Args:
        criteria: what to take.
        site: the wiki, for its language and its name of the category namespace.
    """

    def __init__(self, criteria: Criteria, site: Site) -> None:
        templates = criteria.templates
        if not (criteria.titles or templates or criteria.categories):
            templates = frozenset(TEMPLATES.get(site.language, ()))
        self._titles = {normal_title(title) for title in criteria.titles}
        self._templates = {normal_title(name) for name in templates}
        self._categories = {normal_title(name) for name in criteria.categories}
        names = "|".join(re.escape(name) for name in sorted({"category", *site.category_names}))
        self._category = re.compile(rf"\[\[\s*(?:{names})\s*:\s*([^\[\]|{{}}]{{1,300}})", re.IGNORECASE)

    @property
    def is_empty(self) -> bool:
        """Whether no page can be wanted."""
        return not (self._titles or self._templates or self._categories)

    def wants(self, page: Page) -> bool:
        """Whether a page meets any of the criteria."""
        return (
            page.title in self._titles
            or (bool(self._templates) and self._meets(_TEMPLATE, page.text, self._templates))
            or (bool(self._categories) and self._meets(self._category, page.text, self._categories))
        )

    @staticmethod
    def _meets(pattern: re.Pattern[str], text: str, names: set[str]) -> bool:
        return any(normal_title(found.group(1)) in names for found in pattern.finditer(text))


def read_dump(path: Path, limits: DumpLimits | None = None) -> Iterator[Page | Unreadable]:
    """Pages of the main namespace that are no redirects, in the order of the file, and damaged ones.

    Args:
        path: a `.xml.bz2` of one or many streams, or plain XML.
        limits: caps.

    Raises:
        InputError: `archive_invalid` (cut or damaged), `archive_hostile` (unpacks beyond all measure),
            `xml_hostile` (entities declared), `not_an_article` (no dump of a wiki), `not_found`.
    """
    limits = limits or DumpLimits()
    site: Site | None = None
    number = 0
    for piece in _pieces(path, limits):
        if site is None:
            site = _site(piece)
            continue
        number += 1
        if len(piece) > limits.page_bytes:
            yield Unreadable(number, f"longer than {limits.page_bytes} bytes")
        elif not (piece.startswith(_OPEN) and piece.endswith(_CLOSE)):
            yield Unreadable(number, "a page without its beginning or end")
        elif b"<ns>0</ns>" in piece and b"<redirect " not in piece:
            try:
                yield _page(piece, site)
            except InputError as error:
                yield Unreadable(number, error.message)


def _error(reason: Reason, what: str, path: Path) -> InputError:
    return InputError(f"{path.name}: {what}", reason=reason.value, file=path.name)


def _pieces(path: Path, limits: DumpLimits) -> Iterator[bytes]:
    """The head of the file, then each page; a page over the limit comes longer than the limit."""
    buffer, is_head = bytearray(), True
    for block in _blocks(path, limits):
        buffer += block
        if is_head:
            at = buffer.find(_OPEN)
            if at < 0 and len(buffer) > limits.page_bytes:
                raise _error(Reason.NOT_AN_ARTICLE, "no page in the beginning of the file", path)
            if at < 0:
                continue
            yield bytes(buffer[:at])
            del buffer[:at]
            is_head = False
        done = 0
        while (at := buffer.find(_CLOSE, done)) >= 0:
            yield from _cut(bytes(buffer[done : at + len(_CLOSE)]))
            done = at + len(_CLOSE)
        del buffer[:done]
        if len(buffer) > 2 * limits.page_bytes + _BLOCK:  # keep that it is too long, and the end of a mark
            del buffer[limits.page_bytes + 1 : -len(_CLOSE)]
    if is_head:
        raise _error(Reason.NOT_AN_ARTICLE, "no dump of a wiki", path)
    rest = bytes(buffer).strip()
    if not rest.endswith(_END):
        raise _error(Reason.ARCHIVE_INVALID, "the file is cut", path)
    if rest != _END:
        yield from _cut(rest.removesuffix(_END))


def _cut(data: bytes) -> list[bytes]:
    """Pages up to a closing tag: more than one where a closing tag was lost."""
    starts = [found.start() for found in re.finditer(re.escape(_OPEN), data)] or [0]
    ends = [*starts[1:], len(data)]
    return [data[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _blocks(path: Path, limits: DumpLimits) -> Iterator[bytes]:
    """Unpacked bytes, bounded; damage is told as such."""
    unpacked = 0
    try:
        with path.open("rb") as packed:
            head = packed.read(len(_BZIP2))
            packed.seek(0)
            stream: IO[bytes] | bz2.BZ2File = bz2.BZ2File(packed) if head == _BZIP2 else packed
            while block := stream.read(_BLOCK):
                unpacked += len(block)
                ratio = unpacked / max(1, packed.tell())
                if unpacked > limits.file_bytes or (unpacked > _RATIO_FROM and ratio > _MAX_RATIO):
                    raise _error(Reason.ARCHIVE_HOSTILE, "unpacks to more than a dump can hold", path)
                yield block
    except FileNotFoundError:
        raise _error(Reason.NOT_FOUND, "no such file", path) from None
    except (OSError, EOFError, ValueError) as error:
        raise _error(Reason.ARCHIVE_INVALID, f"cannot be unpacked: {error}", path) from None


def _parsed(data: bytes) -> Any:
    """The root of a small XML document without namespaces.

    Raises:
        InputError: not well-formed, or it declares entities.
    """
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise InputError("it declares entities", reason=Reason.XML_HOSTILE.value)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return etree.fromstring(_XMLNS.sub(b"", data, count=1), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise InputError(f"not XML: {str(error)[:120]}", reason=Reason.XML_INVALID.value) from None


def _site(head: bytes) -> Site:
    try:
        root = _parsed(head.rstrip() + b"</mediawiki>")
    except InputError as error:
        if error.reason == Reason.XML_HOSTILE.value:
            raise
        raise InputError("no dump of a wiki", reason=Reason.NOT_AN_ARTICLE.value) from None
    wiki = (root.findtext("siteinfo/dbname") or "").strip()
    if root.tag != "mediawiki" or not re.fullmatch(r"[a-z][a-z0-9_]{1,60}", wiki):
        raise InputError("the dump does not name its wiki", reason=Reason.NOT_AN_ARTICLE.value)

    def names(key: str) -> tuple[str, ...]:
        found = root.findall(f"siteinfo/namespaces/namespace[@key='{key}']")
        return tuple(sorted({(each.text or "").strip().casefold() for each in found} - {""}))

    language = root.get("{http://www.w3.org/XML/1998/namespace}lang") or wiki.removesuffix("wiki")
    return Site(
        wiki=wiki,
        language=language.strip(),
        name=(root.findtext("siteinfo/sitename") or "").strip(),
        base=(root.findtext("siteinfo/base") or "").strip(),
        file_names=names("6"),
        category_names=names("14"),
    )


def _page(data: bytes, site: Site) -> Page:
    root = _parsed(data)
    page_id, revision = root.findtext("id") or "", root.findtext("revision/id") or ""
    title = normal_title(root.findtext("title") or "")
    model = root.findtext("revision/model") or "wikitext"
    if not (re.fullmatch(r"[1-9]\d{0,11}", page_id) and re.fullmatch(r"[1-9]\d{0,14}", revision) and title):
        raise InputError("a page without id, revision or title", reason=Reason.RECORD_INVALID.value)
    if model != "wikitext":
        raise InputError(f"its content is {model[:40]!r}, not wikitext", reason=Reason.RECORD_INVALID.value)
    return Page(
        site=site,
        id=int(page_id),
        revision=int(revision),
        title=title,
        timestamp=(root.findtext("revision/timestamp") or "").strip(),
        text=root.findtext("revision/text") or "",
    )
