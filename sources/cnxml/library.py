"""The modules around one module, and what a link into them means: figure 3.12, table 3.1, a section, a note.

Figures and tables are numbered as OpenStax prints them: chapter.n over the chapter's modules in collection
order, without those of class `unnumbered`, without an id, or in exercises (which print after the chapter).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from schemas.errors import InputError
from sources.cnxml.collection import Collection, root_named
from sources.jats.load import load
from sources.jats.nodes import Element
from sources.jats.text import title_text

MODULE = "module:"
"""Prefix of the parts that hold the modules of the book."""
_DOCUMENT = root_named("document")
_NUMBERED = {"figure": "fig", "table": "table"}
_KINDS = {
    **_NUMBERED,
    "subfigure": "fig",
    "section": "sec",
    "note": "boxed-text",
    "example": "boxed-text",
    "equation": "disp-formula",
}


@dataclass(frozen=True, slots=True)
class Target:
    """What a link points at.

    Attributes:
        document: module it stands in.
        xml_id: its id; of a subfigure, the figure's.
        kind: JATS ref-type: fig, table, sec, boxed-text, disp-formula, other.
        number: as printed, e.g. 3.12; '' when it has none or a module before it is missing.
        title: its title, '' when it has none.
        part: letter of a subfigure, e.g. b.
    """

    document: str
    xml_id: str
    kind: str
    number: str = ""
    title: str = ""
    part: str = ""


def load_module(data: bytes) -> tuple[Element, set[str]]:
    """The `<document>` of a module, plain names throughout, and the flags of loading.

    Raises:
        InputError: `too_large`, `xml_hostile`, `xml_invalid` or `not_an_article`.
    """
    return load(data, _DOCUMENT)


def classes(element: Element) -> frozenset[str]:
    """The words of an element's class attribute."""
    return frozenset((element.get("class") or "").split())


class Library:
    """Modules of a book by id, read when first asked for.

    Args:
        collection: the book.
        modules: bytes of the modules at hand, by module id.
    """

    def __init__(self, collection: Collection, modules: Mapping[str, bytes]) -> None:
        self.collection = collection
        self._bytes = modules
        self._roots: dict[str, Element | None] = {}
        self._targets: dict[tuple[str, ...], dict[tuple[str, str], Target]] = {}

    def root(self, document: str) -> Element | None:
        """The `<document>` of a module, None when it is not at hand or cannot be read. Not to be changed."""
        if document not in self._roots:
            try:
                data = self._bytes.get(document)
                self._roots[document] = load_module(data)[0] if data is not None else None
            except InputError:
                self._roots[document] = None
        return self._roots[document]

    def title(self, document: str) -> str:
        """Title of a module, '' when it is not known."""
        root = self.root(document)
        return title_text(root.find("title")) if root is not None else ""

    def target(self, document: str, xml_id: str) -> Target | None:
        """What stands under an id of a module, None when that is not known."""
        chapter = self.collection.chapter_of(document) or (document,)
        if chapter not in self._targets:
            self._targets[chapter] = self._chapter(chapter)
        return self._targets[chapter].get((document, xml_id))

    def _chapter(self, documents: tuple[str, ...]) -> dict[tuple[str, str], Target]:
        place = self.collection.place(documents[0])
        chapter = place.chapter if place is not None else ""
        counts = dict.fromkeys(_NUMBERED, 0)
        found: dict[tuple[str, str], Target] = {}
        for document in documents:
            root = self.root(document)
            if root is None:
                chapter = ""  # what a missing module held is not known: nothing after it gets a number
                continue
            for target in _targets(root, document, chapter, counts):
                found.setdefault((document, target[0]), target[1])
        return found


def _targets(
    root: Element, document: str, chapter: str, counts: dict[str, int]
) -> Iterator[tuple[str, Target]]:
    """Every id of a module with what it stands for; `counts` goes on from module to module."""
    for element in root.iter("{*}*"):
        tag, xml_id = str(element.tag), element.get("id")
        if not xml_id:
            continue
        number = ""
        if tag in _NUMBERED and _is_numbered(element):
            counts[tag] += 1
            number = f"{chapter}.{counts[tag]}" if chapter else ""
        title = title_text(element.find("title"))
        yield xml_id, Target(document, xml_id, _KINDS.get(tag, "other"), number, title)
        if tag == "figure":
            for place, part in enumerate(element.iterchildren("subfigure")):
                if part.get("id"):
                    letter = subfigure_letter(place)
                    yield part.get("id") or "", Target(document, xml_id, "fig", number, title, letter)


def subfigure_letter(place: int) -> str:
    """Letter printed before a subfigure, '' beyond z."""
    return chr(ord("a") + place) if place < 26 else ""


def _is_numbered(element: Element) -> bool:
    return "unnumbered" not in classes(element) and next(element.iterancestors("exercise"), None) is None
