"""An OpenStax collection: the book's title, licence and authors, and its modules by chapter, in order.

CNXML modules hold no numbers of their own: chapters and figures are numbered by their place in here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from schemas.errors import InputError
from schemas.stages import Reason
from sources.jats.load import Shape, load
from sources.jats.nodes import Element, all_text, child_text, normalise_language

_MODULE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_AUTHORS = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class ModulePlace:
    """Where one module stands in its book.

    Attributes:
        document: module id, e.g. m58782.
        position: 1-based position in the book.
        chapter: number of its chapter, '' for front matter and appendices.
        chapter_title: title of that chapter, else of the part it stands in.
    """

    document: str
    position: int
    chapter: str = ""
    chapter_title: str = ""


@dataclass(frozen=True, slots=True)
class Collection:
    """One book.

    Attributes:
        title, language (BCP-47), authors: as the collection states them.
        licence_url, licence_text: the licence it states, '' where it states none.
        modules: in reading order, each once.
        slug: key of the book in its repository, '' where the collection does not state it.
    """

    title: str
    language: str
    authors: tuple[str, ...]
    licence_url: str
    licence_text: str
    modules: tuple[ModulePlace, ...]
    slug: str = ""

    def place(self, document: str) -> ModulePlace | None:
        """Where a module stands, None when the book does not have it."""
        return next((module for module in self.modules if module.document == document), None)

    def chapter_of(self, document: str) -> tuple[str, ...]:
        """The modules of a module's chapter in order; of one outside all chapters, itself."""
        place = self.place(document)
        if place is None:
            return ()
        if not place.chapter:
            return (document,)
        return tuple(module.document for module in self.modules if module.chapter == place.chapter)


def root_named(name: str) -> Shape:
    """The shape of a file whose root element has one name."""

    def find(root: Element) -> tuple[Element, bool]:
        found = str(root.tag).rpartition("}")[2].rpartition(":")[2]
        if found != name:
            raise InputError(
                f"the root element is <{found[:60]}>, not <{name}>", reason=Reason.NOT_AN_ARTICLE.value
            )
        return root, False

    return Shape(find)


def read_collection(data: bytes) -> Collection:
    """Read `collections/<slug>.collection.xml`, with or without prefixes.

    Raises:
        InputError: `too_large`, `xml_hostile`, `xml_invalid` or `not_an_article`.
    """
    root, _ = load(data, root_named("collection"))
    metadata = root.find("metadata")
    licence = metadata.find("license") if metadata is not None else None
    stated = child_text(metadata, "language") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    return Collection(
        title=child_text(metadata, "title"),
        language=normalise_language(stated),
        authors=tuple(name for name in _AUTHORS.split((root.get("authors") or "").strip()) if name),
        licence_url=(licence.get("url") or "").strip() if licence is not None else "",
        licence_text=all_text(licence) if licence is not None else "",
        modules=_modules(root.find("content")),
        slug=child_text(metadata, "slug"),
    )


def _modules(content: Element | None) -> tuple[ModulePlace, ...]:
    """Modules in reading order. A subcollection without others inside is a chapter, one with is a part."""
    found: dict[str, ModulePlace] = {}
    chapters = 0

    def walk(parent: Element, chapter: str, title: str) -> None:
        nonlocal chapters
        for child in parent:
            if child.tag == "module":
                document = (child.get("document") or "").strip()
                if _MODULE_ID.fullmatch(document) and document not in found:
                    found[document] = ModulePlace(document, len(found) + 1, chapter, title)
            elif child.tag == "subcollection":
                inside = child.find("content")
                inside = child if inside is None else inside
                number = ""
                if inside.find("subcollection") is None:
                    chapters += 1
                    number = str(chapters)
                walk(inside, number, child_text(child, "title"))

    if content is not None:
        walk(content, "", "")
    return tuple(found.values())
