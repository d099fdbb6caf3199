"""A CNXML module as the JATS elements that mean the same, so that one reader serves both.

Left out: exercises and check-your-understanding notes (questions are no evidence; their figures stay),
lines that only lead to another box, and what the reader of JATS leaves out too (tables, displayed formulas).
"""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from sources.cnxml.library import Library, Target, classes, subfigure_letter
from sources.cnxml.stories import is_navigation
from sources.cnxml.words import label_word
from sources.jats.nodes import Element, all_text, squeeze

_HREF = "{http://www.w3.org/1999/xlink}href"
_CASE = "{http://katalysteducation.org/cmlnle/1.0}case"
_QUIZ = frozenset({"check-your-understanding"})
_EFFECTS = {"bold": "bold", "italics": "italic", "italic": "italic", "underline": "underline"}
_USES = {"pdf": "print", "overview": "thumbnail"}
_PLAIN = {
    "footnote": "fn", "newline": "break", "glossary": "sec", "definition": "def-item", "meaning": "def",
    "preformat": "preformat", "exercise": "table-wrap", "table": "table-wrap",
}  # fmt: skip
_BLOCKS = frozenset(
    {
        "p", "list", "fig", "boxed-text", "table-wrap", "disp-quote", "disp-formula", "sec", "title", "label",
        "preformat", "def-item", "media", "list-item", "caption", "statement", "proof", "problem", "rule",
        "solution", "commentary",
    }
)  # fmt: skip


class Translator:
    """Turns one freshly loaded module into an `article` element, in place.

    Args:
        document: id of the module.
        library: the modules around it.
        language: BCP-47 of the module.
        article_id: article id of a module of the same book.

    Attributes:
        flags: what was left out or could not be resolved.
        exercises, quizzes: exercises and check-your-understanding notes, left out, in document order.
    """

    def __init__(
        self, document: str, library: Library, language: str, article_id: Callable[[str], str]
    ) -> None:
        self.document = document
        self.library = library
        self.language = language
        self.article_id = article_id
        self.flags: set[str] = set()
        self.exercises: list[Element] = []
        self.quizzes: list[Element] = []
        self._handlers: dict[str, Callable[[Element], None]] = {
            "para": self._para,
            "section": self._section,
            "emphasis": self._emphasis,
            "list": self._list,
            "item": self._item,
            "note": self._note,
            "example": self._example,
            "quote": self._quote,
            "figure": self._figure,
            "media": self._media,
            "equation": self._equation,
            "link": self._link,
            "code": self._code,
            "space": self._space,
            "glossary": self._glossary,
            "term": self._term,
        }

    def article(self, root: Element) -> Element:
        """The module's `<document>` as an `<article>` with `body` and, for a glossary, `back`."""
        article = etree.Element("article")
        for name, part in (("content", "body"), ("glossary", "back")):
            holder = root.find(name)
            if holder is None:
                continue
            elements = list(holder.iter("{*}*"))
            self.exercises += [element for element in elements if element.tag == "exercise"]
            self.quizzes += [element for element in elements if _is_quiz(element)]
            for element in reversed(elements):  # children before their parents
                self._translate(element)
            if part == "body":
                holder.tag = part
                article.append(holder)
            else:
                etree.SubElement(article, part).append(holder)
        if self.exercises or self.quizzes:
            self.flags.add("exercises_left_out")
        return article

    def _translate(self, element: Element) -> None:
        tag = str(element.tag)
        handler = self._handlers.get(tag)
        if handler is not None:
            handler(element)
        elif tag in _PLAIN:
            element.tag = _PLAIN[tag]

    def _para(self, element: Element) -> None:
        if is_navigation(element):
            self.flags.add("navigation_left_out")
            _remove(element)
        else:
            element.tag = "p"

    def _section(self, element: Element) -> None:
        element.tag = "sec"
        element.set("sec-type", element.get("class") or "")

    def _glossary(self, element: Element) -> None:
        element.tag = "sec"
        element.set("sec-type", "glossary")

    def _term(self, element: Element) -> None:
        """A term in running text is inline; the one a definition is of keeps its name."""
        parent = element.getparent()
        if parent is None or parent.tag != "definition":
            element.tag = "named-content"

    def _emphasis(self, element: Element) -> None:
        element.tag = _EFFECTS.get(element.get("effect") or "bold", "styled-content")

    def _list(self, element: Element) -> None:
        if element.get("display") == "inline":
            element.tag = "named-content"
            for item in element.iterchildren("list-item"):
                item.tag = "named-content"
            return
        element.tag = "list"
        for title in element.iterchildren("title"):
            title.tag = "p"

    def _item(self, element: Element) -> None:
        parent = element.getparent()
        if parent is None or parent.get("display") != "inline":
            _wrap_inline(element)
        element.tag = "list-item"

    def _note(self, element: Element) -> None:
        if _is_quiz(element):
            element.tag = "table-wrap"
            return
        _wrap_inline(element)
        element.tag = "boxed-text"
        element.set("content-type", " ".join((element.get("class") or element.get("type") or "note").split()))

    def _example(self, element: Element) -> None:
        _wrap_inline(element)
        element.tag = "boxed-text"
        element.set("content-type", " ".join(["example", *(element.get("class") or "").split()]))

    def _quote(self, element: Element) -> None:
        if element.get("display") == "inline":
            element.tag = "named-content"
        else:
            _wrap_inline(element)
            element.tag = "disp-quote"

    def _equation(self, element: Element) -> None:
        """A formula inside a paragraph is part of its sentence; one of its own is left out as in JATS."""
        parent = element.getparent()
        in_text = parent is not None and parent.tag in {"para", "p", "item", "meaning"}
        element.tag = "inline-formula" if in_text else "disp-formula"

    def _code(self, element: Element) -> None:
        element.tag = "preformat" if element.get("display") == "block" else "monospace"

    def _space(self, element: Element) -> None:
        element.tag = "named-content"
        element.text = " "

    def _media(self, element: Element) -> None:
        """An image that stands between paragraphs without a figure around it is a figure without caption."""
        parent = element.getparent()
        if parent is not None and parent.tag in {"content", "section", "note", "example", "problem", "item"}:
            graphics = _graphics(element)
            if graphics:
                _refill(element, graphics)
                element.tag = "fig"

    def _figure(self, element: Element) -> None:
        number = self._number(element)
        parts: list[Element] = []
        if number:
            label = etree.Element("label")
            written = squeeze(all_text(found)) if (found := element.find("label")) is not None else ""
            label.text = f"{written or label_word('fig', self.language)} {number}"
            parts.append(label)
        captions = [found for name in ("title", "caption") for found in element.iterchildren(name)]
        for place, part in enumerate(element.iterchildren("subfigure")):
            letter = subfigure_letter(place)
            captions.extend(
                _lead(caption, f"({letter}) " if letter else "") for caption in part.iterchildren("caption")
            )
        for caption in captions:
            caption.tag, caption.tail = "caption", None
            parts.append(caption)
        parts.extend(_graphics(element))
        element.set("fig-type", element.get("class") or "")
        _refill(element, parts)
        element.tag = "fig"

    def _number(self, element: Element) -> str:
        xml_id = element.get("id")
        target = self.library.target(self.document, xml_id) if xml_id else None
        return target.number if target is not None else ""

    def _link(self, element: Element) -> None:
        document, xml_id = element.get("document") or self.document, element.get("target-id") or ""
        is_bare = not all_text(element)
        if not xml_id and not element.get("document"):
            element.tag = "ext-link"
            return
        target = self.library.target(document, xml_id) if xml_id else None
        if is_bare:
            element.text = self._visible(document, xml_id, target, element.get(_CASE) or "")
        kind = target.kind if target else "other" if xml_id else "book-part"
        place = f"{self.article_id(document)}#" if document != self.document else ""
        element.tag = "xref"
        element.set("ref-type", kind)
        element.set("rid", place + (target.xml_id if target else "".join(xml_id.split())))

    def _visible(self, document: str, xml_id: str, target: Target | None, case: str) -> str:
        """What an empty link shows: "Figure 3.12", else the title of what it leads to."""
        if target is not None and target.kind in {"fig", "table", "disp-formula"}:
            if not target.number:
                self.flags.add("number_unknown")
            part = f"({target.part})" if target.part else ""
            return f"{label_word(target.kind, self.language, case)} {target.number}{part}".strip()
        title = target.title if target is not None else ""
        if not title and not xml_id:
            title = self.library.title(document)
        if not title:
            self.flags.add("link_unresolved")
        return title or (label_word("fig", self.language, case) if xml_id else "")


def _is_quiz(element: Element) -> bool:
    return element.tag == "note" and bool(classes(element) & _QUIZ)


def _graphics(element: Element) -> list[Element]:
    """One `graphic` per image; of the forms of one medium, those for print or overview are marked so."""
    found: list[Element] = []
    for image in element.iter("image"):
        graphic = etree.Element("graphic")
        graphic.set(_HREF, image.get("src") or "")
        use = _USES.get(image.get("for") or "")
        if use:
            graphic.set("specific-use", use)
        media = next(image.iterancestors("media"), None)
        alt = (media.get("alt") if media is not None else None) or ""
        if alt.strip():
            etree.SubElement(graphic, "alt-text").text = alt
        found.append(graphic)
    return found


def _lead(element: Element, text: str) -> Element:
    element.text = text + (element.text or "").lstrip()
    return element


def _refill(element: Element, children: list[Element]) -> None:
    """Exchange the children of an element; its own tail stays."""
    for child in list(element):
        element.remove(child)
    element.text = None
    element.extend(children)


def _remove(element: Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _wrap_inline(element: Element) -> None:
    """Text and inline markup that stand beside or without paragraphs become paragraphs."""
    content: list[Element] = []
    run: Element | None = None
    if (element.text or "").strip():
        run = etree.Element("p")
        run.text = element.text
        content.append(run)
    element.text = None
    for child in list(element):
        tail, child.tail = child.tail, None
        if child.tag in _BLOCKS:
            content.append(child)
            run = None
        else:
            if run is None:
                run = etree.Element("p")
                content.append(run)
            child.tail, tail = tail, None
            run.append(child)
        if tail and tail.strip():
            run = etree.Element("p")
            run.text = tail
            content.append(run)
    for child in content:
        element.append(child)
