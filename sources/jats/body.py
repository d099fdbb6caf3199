"""The running text in document order: sections, boxes, passages, and the figures and tables met on the way.

Read: body, appendices and sections of the back matter, floats-group. Left out: acknowledgements, footnotes,
reference lists, biographies, glossaries, notes (declarations), supplements, sub-articles, responses,
questions of self-tests with their answers. Tables are kept apart from the running text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from schemas.article import ArticleFigure, ArticlePassage, ArticleTable, Box, RawArticle, Section, Xref
from schemas.hashing import sha256_text
from schemas.ids import element_id, figure_id, passage_id
from sources.jats.abstracts import abstracts, is_of_abbreviations
from sources.jats.figures import (
    Kind,
    Media,
    Part,
    Place,
    graphics_in,
    language_pairs,
    read_figure,
)
from sources.jats.flat import Known, front_matter, headings, is_flat, is_of_references
from sources.jats.front import titles
from sources.jats.nodes import Element, language_of, local
from sources.jats.tables import is_table, read_table
from sources.jats.text import DISPLAYED, displayed, flatten, running_text, title_text

_IGNORED = frozenset(
    {
        "title", "subtitle", "label", "caption", "permissions", "object-id", "sec-meta", "kwd-group",
        "alt-text", "ack", "bio", "fn-group", "fn", "glossary", "notes", "ref-list", "ref", "sub-article",
        "response", "supplementary-material", "inline-supplementary-material", "media", "graphic",
        "chem-struct-wrap", "code", "table", "array", "attrib",
        "long-desc", "author-notes", "inline-graphic", "alternatives", "tex-math", "address", "sig-block",
        "table-wrap-foot", "front", "front-stub", "processing-meta", "x",
    }
)  # fmt: skip
_EXERCISES = (
    "question-wrap-group", "question-wrap", "question-preamble", "question", "answer-set", "answer",
    "explanation",
)  # fmt: skip
_NUMBERING = re.compile(r"(?:\d+(?:\.\d+)*[.)]|\d+(?:\.\d+)+|[IVX]{1,5}\.)\s+(?=\S)")
# Old SciELO files carry the whole article as escaped HTML in one paragraph: markup is not running text.
_HTML = re.compile(r"</(?:p|font|div|table|b|i|a)>", re.IGNORECASE)
_CHILD_LABEL = re.compile(r"figure supplement|supplementary? figure|—\s*figure", re.IGNORECASE)
_PULLED = re.compile(r"pull-?\s?quote", re.IGNORECASE)
_STOPS = frozenset(".!?")
_GROUPS = frozenset({"fig-group", "figgrp"})
_HOLDERS = _GROUPS | {"p", "caption", "list", "list-item", "disp-quote"}


class BodyReader:
    """Collects what one article or book chapter holds: create one for each, call :meth:`read` once."""

    def __init__(self, raw: RawArticle, language: str) -> None:
        self.article_id = raw.id
        self.language = language
        self.media = Media(raw.media)
        self.sections: list[Section] = []
        self.boxes: list[Box] = []
        self.passages: list[ArticlePassage] = []
        self.figures: list[ArticleFigure] = []
        self.tables: list[ArticleTable] = []
        self.flags: set[str] = set()
        self._taken: set[str] = set()
        self._open = -1  # the passage that a displayed formula ends
        self._handlers: dict[str, Callable[[Element, Place], None]] = {
            "p": self._paragraph,
            "sec": self._section,
            "app": self._section,
            "list": self._list,
            "list-item": self._list_item,
            "def-list": self._definitions,
            "def-item": self._definition,
            "disp-quote": self._quote,
            "verse-group": self._lines,
            "speech": self._quote,
            "statement": self._blocks,
            "preformat": self._lines,
            "boxed-text": self._box,
            "fig": self._figure,
            "fig-group": self._group,
            "figgrp": self._group,
            "table-wrap": self._table,
            "table-wrap-group": self._tables,
            **dict.fromkeys(DISPLAYED, self._formula),
            **dict.fromkeys(_EXERCISES, self._exercise),
        }

    def read(self, article: Element, *, meta: str = "front/article-meta") -> None:
        """Read abstract figures, body, floats-group and back matter, in that order.

        Args:
            article: the `article`, or another element with these parts (a book's `book-part`).
            meta: path of the element that holds its abstracts.
        """
        for abstract in article.iterfind(f"{meta}/abstract"):
            kind = abstract.get("abstract-type") or ""
            self._figures_only(abstract, Place(part="body", figure_type=kind))
        parts: tuple[tuple[str, Part], ...] = (("body", "body"), ("floats-group", "floats"), ("back", "back"))
        for name, part in parts:
            for element in article.iterchildren(name, "floats-wrap" if name == "floats-group" else name):
                if name == "body" and is_flat(element):
                    self._flat(element, article, meta)
                else:
                    self._blocks(element, Place(part=part))
        self._number_figures()
        self._name_tables()

    def _blocks(self, parent: Element, place: Place) -> None:
        for child in parent:
            self._block(child, place)

    def _flat(self, body: Element, article: Element, meta: str) -> None:
        """A body without sections: of front matter in it the figures stay, bold lines head the rest."""
        place, is_listed = Place(part="body"), False
        repeated = front_matter(body, _known(article, article.find(meta)))
        heads = headings(body, repeated)
        if repeated:
            self.flags.add("front_matter_in_body")
        for block in body:
            if title := heads.get(block):
                is_listed = is_of_references(title)
                number = self._open_section(block, Place(part="body"), "", title)
                place = Place(part="body", section=number)
            elif is_listed or block in repeated:
                self._figures_only(block, place)
            else:
                self._block(block, place)

    def _block(self, element: Element, place: Place) -> None:
        tag = element.tag
        handler = self._handlers.get(tag)
        if handler is not None:
            if tag != "p" and tag not in DISPLAYED:
                self._open = -1
            handler(element, place)
        elif tag not in _IGNORED:
            self._blocks(element, place)

    def _section(self, element: Element, place: Place) -> None:
        number = self._open_section(element, place, element.get("sec-type") or "", element.find("title"))
        self._blocks(element, place._replace(section=number))

    def _open_section(self, element: Element, place: Place, kind: str, title: Element | str | None) -> int:
        number = len(self.sections) + 1
        text = title if isinstance(title, str) else title_text(title)
        if not text and element.tag == "app":
            text = flatten(element.find("label"))
        numbering = _NUMBERING.match(text)
        self.sections.append(
            Section(
                number=number,
                parent=place.section,
                xml_id=element.get("id"),
                type=kind,
                title=text[numbering.end() :] if numbering else text,
                part=place.part,
            )
        )
        return number

    def _box(self, element: Element, place: Place) -> None:
        """A text box is a section of its own, so that its title is kept; its passages are of kind `boxed`."""
        title = element.find("caption/title")
        title = title if title is not None else element.find("title")
        boxed = place._replace(kind="boxed", box=self._open_box(element, title))
        if title is not None:
            boxed = boxed._replace(section=self._open_section(element, place, "boxed-text", title))
        for caption in element.iterchildren("caption"):
            self._blocks(caption, boxed)
        self._blocks(element, boxed)

    def _open_box(self, element: Element, title: Element | None) -> int:
        number = len(self.boxes) + 1
        self.boxes.append(
            Box(
                number=number,
                xml_id=element.get("id"),
                type=element.get("content-type") or "",
                title=title_text(title) or flatten(element.find("label")),
            )
        )
        return number

    def _within(self, place: Place, kind: Kind) -> Place:
        return place if place.kind == "boxed" else place._replace(kind=kind)

    def _list(self, element: Element, place: Place) -> None:
        self._blocks(element, self._within(place, "list"))

    def _list_item(self, element: Element, place: Place) -> None:
        if element.text and element.text.strip():
            self._paragraph(element, place)
        else:
            self._blocks(element, place)

    def _definitions(self, element: Element, place: Place) -> None:
        """A list of abbreviations is no running text: :func:`abbreviations` reads it."""
        if not is_of_abbreviations(element):
            self._list(element, place)

    def _definition(self, element: Element, place: Place) -> None:
        """One definition is one passage: `term: meaning`."""
        term = flatten(element.find("term"))
        for meaning in element.iterchildren("def"):
            for paragraph in meaning.iterchildren("p") if meaning.find("p") is not None else (meaning,):
                self._paragraph(paragraph, place, f"{term}: " if term else "")

    def _quote(self, element: Element, place: Place) -> None:
        """A quotation; one pulled out of the article's own text says again what stands there."""
        if not _PULLED.search(f"{element.get('content-type')} {element.get('specific-use')}"):
            self._blocks(element, self._within(place, "quote"))

    def _lines(self, element: Element, place: Place) -> None:
        """Verse and preformatted text: the whole element is one passage."""
        kind: Kind = "quote" if element.tag == "verse-group" else place.kind
        self._paragraph(element, self._within(place, kind))

    def _paragraph(self, element: Element, place: Place, lead: str = "") -> None:
        flow = running_text(element)
        if flow.has_displayed and _is_displayed(element):
            for child in element:
                self._formula(child, place)
            return
        identifier = place.passage
        text = flow.text
        if "<" in text and _HTML.search(text):
            self.flags.add("html_as_text")
        elif text:
            before = self._open
            self._open = -1
            if before >= 0 and text[0].islower():
                identifier = self._go_on(before, text, flow.xrefs())
            else:
                identifier = self._begin(element, place, lead + text, _moved(flow.xrefs(), len(lead)))
        if flow.floats:
            inside = place._replace(passage=identifier)
            for nested in flow.floats:
                self._block(nested, inside)

    def _begin(self, element: Element, place: Place, text: str, xrefs: tuple[Xref, ...]) -> str:
        """Append a passage and give its id."""
        identifier = passage_id(self.article_id, len(self.passages) + 1)
        self.passages.append(
            ArticlePassage(
                id=identifier,
                section=place.section,
                kind=place.kind,
                text=text,
                text_sha256=sha256_text(text),
                xrefs=xrefs,
                language=language_of(element) or "",
                box=place.box,
            )
        )
        return identifier

    def _go_on(self, at: int, text: str, xrefs: tuple[Xref, ...] = ()) -> str:
        """Lengthen a passage, a space between, and give its id."""
        passage = self.passages[at]
        whole = f"{passage.text} {text}"
        more = _moved(xrefs, len(passage.text) + 1)
        self.passages[at] = replace(
            passage, text=whole, text_sha256=sha256_text(whole), xrefs=passage.xrefs + more
        )
        return passage.id

    def _formula(self, element: Element, place: Place) -> None:
        """A formula between two paragraphs belongs to the sentence before it, which may go on behind it."""
        last = len(self.passages) - 1
        if last < 0 or self.passages[last].section != place.section or self.passages[last].kind != place.kind:
            return
        is_behind = self._open == last or local(_before(element)) == "p"
        if is_behind and self.passages[last].text[-1] not in _STOPS and (line := displayed(element)):
            self._go_on(last, line)
            self._open = last

    def _figure(self, element: Element, place: Place) -> None:
        self._add(element, place, None)

    def _add(self, element: Element, place: Place, parent: str | None) -> ArticleFigure:
        """Append one figure and, as its children, the figures nested in it."""
        number = len(self.figures) + 1
        identifier = figure_id(self.article_id, element.get("id"), number, self._taken)
        self._taken.add(identifier)
        figure = read_figure(
            element,
            figure_id=identifier,
            number=number,
            place=place,
            after=len(self.passages),
            media=self.media,
            language=self.language,
        )
        if parent:
            figure = replace(figure, parent=parent)
        self.figures.append(figure)
        for nested in _nested_figures(element):
            self._add(nested, place, identifier)
        return figure

    def _group(self, element: Element, place: Place) -> None:
        """A main figure and its children, parts with a common caption, or one figure in two languages."""
        members = list(_nested_figures(element))
        if not members:
            if graphics_in(element, self.media) or element.find("caption") is not None:
                self._add(element, place, None)
            return
        label, caption = flatten(element.find("label")), flatten(element.find("caption"))
        inside = place._replace(
            group=element.get("id") or label or None, group_caption=" ".join(filter(None, (label, caption)))
        )
        at = len(self.figures)
        added: list[tuple[ArticleFigure, str | None]] = []
        main: str | None = None
        for member in members:
            is_child = member.get("specific-use") == "child-fig" or (
                main is not None and bool(_CHILD_LABEL.search(flatten(member.find("label"))))
            )
            figure = self._add(member, inside, main if is_child else None)
            main = main if is_child else figure.id
            added.append((figure, language_of(member)))
        own = tuple(graphics_in(element, self.media))
        if own and not self.figures[at].graphics:
            self.figures[at] = replace(self.figures[at], graphics=own)
            added[0] = (self.figures[at], added[0][1])
        if len(self.figures) - at == len(added):
            self.figures[at:] = language_pairs(added, self.language)

    def _tables(self, element: Element, place: Place) -> None:
        for child in element.iterchildren("table-wrap"):
            self._table(child, place)

    def _table(self, element: Element, place: Place) -> None:
        """One table, after the figures in its cells."""
        self._figures_only(element, place)
        if is_table(element):
            before = {"after": len(self.passages), "after_figures": len(self.figures)}
            self.tables.append(read_table(element, number=len(self.tables) + 1, place=place, **before))

    def _exercise(self, element: Element, place: Place) -> None:
        """Questions of a self-test and their answers are no evidence; their figures stay."""
        self.flags.add("exercises_left_out")
        self._figures_only(element, place)

    def _figures_only(self, element: Element, place: Place) -> None:
        """Figures inside an element that holds no running text: a table, an abstract."""
        if next(element.iter("fig", *_GROUPS), None) is None:
            return
        for child in element:
            name = local(child)
            if name == "fig":
                self._add(child, place, None)
            elif name in _GROUPS:
                self._group(child, place)
            elif name not in _IGNORED or name in {"table", "caption"}:
                self._figures_only(child, place)

    def _number_figures(self) -> None:
        """Close the gaps that figures merged by language left in the numbering."""
        for index, figure in enumerate(self.figures):
            if figure.number != index + 1:
                self.figures[index] = replace(figure, number=index + 1)

    def _name_tables(self) -> None:
        """Ids last: no figure's id depends on a table."""
        for index, table in enumerate(self.tables):
            name = element_id(self.article_id, table.xml_id, f"table{table.number}", self._taken)
            self._taken.add(name)
            self.tables[index] = replace(table, id=name)


def _known(article: Element, meta: Element | None) -> Known:
    """What the front matter says in all languages."""
    stubs = [
        meta,
        *(sub.find("front-stub") for sub in article.iterchildren("sub-article")),
    ]
    named = [titles(stub) for stub in stubs]
    return Known(
        titles=[text for title, others in named for text in (title, *(one.text for one in others)) if text],
        abstracts=[one.text for stub in stubs for one in abstracts(stub, "")],
        surnames=[
            flatten(one)
            for one in (meta.iterfind("contrib-group/contrib/name/surname") if meta is not None else ())
        ],
    )


def _is_displayed(paragraph: Element) -> bool:
    """Whether a paragraph holds displayed formulas and nothing else."""
    if not len(paragraph) or paragraph[0].tag not in DISPLAYED:
        return False
    return all(child.tag in DISPLAYED for child in paragraph) and not any(
        text and not text.isspace() for text in (paragraph.text, *(child.tail for child in paragraph))
    )


def _before(element: Element) -> Element:
    """The block before a displayed formula, itself where it is the first."""
    holder = element.getparent()
    block = holder if holder is not None and holder.tag == "p" else element
    previous = block.getprevious()
    return element if previous is None else previous


def _moved(xrefs: tuple[Xref, ...], by: int) -> tuple[Xref, ...]:
    """Cross-references of a text that stands further on in a longer one."""
    if not by:
        return xrefs
    return tuple(replace(xref, start=xref.start + by, end=xref.end + by) for xref in xrefs)


def _nested_figures(element: Element) -> Iterator[Element]:
    """Figures inside a figure or group, also in its paragraphs (where PMC puts eLife's supplements).

    Members of a nested group belong to the outer one.
    """
    if next(element.iterdescendants("fig"), None) is None:
        return
    for child in element:
        if child.tag == "fig":
            yield child
        elif child.tag in _HOLDERS:
            yield from _nested_figures(child)
