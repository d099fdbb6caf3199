"""Sections, passages and figures of a page: running text kept, templates, references and tables left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from mwparserfromhell.nodes import Argument, ExternalLink, Heading, HTMLEntity, Tag, Template, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from schemas.article import ArticlePassage, Section
from schemas.hashing import sha256_text
from schemas.ids import passage_id
from sources.wiki.images import WikiImage, gallery_images, infobox_image, linked_image, split_prefix
from sources.wiki.names import (
    CATEGORY_PREFIXES,
    CONVERTERS,
    FILE_PREFIXES,
    NOT_PROSE,
    TEXT_TEMPLATES,
    normal_title,
)

_ITEM: Final = "\x01"
_LEFT_OUT: Final = frozenset(
    [
        "ref",
        "references",
        "table",
        "timeline",
        "score",
        "syntaxhighlight",
        "source",
        "imagemap",
        "templatestyles",
        "graph",
        "mapframe",
        "maplink",
        "hr",
        "style",
        "script",
        "includeonly",
        "indicator",
        "section",
        "hiero",
    ]
)
_FORMULA: Final = frozenset({"math", "chem", "ce"})
_BREAK: Final = frozenset({"br", "wbr", "p", "div", "blockquote", "center", "poem", "ul", "ol", "dl"})
_PARTING = re.compile(r"\n[^\S\n]*\n|\n?(?=\x01)")
_TABLE = re.compile(r"(?:\A|\n)[ :\x01]*\{\|.*?(?:\n[ ]*\|\}|\Z)", re.DOTALL)
_QUOTES = re.compile("''")
_EMPTY_BRACKETS = re.compile(r"\((?:[\s,;:/]|\u00a0)*\)|\[\s*\]")
_LOOSE = re.compile(r"(?<=\w) +(?=[,.)](?:\s|$))")
_LANGUAGE_LINK = re.compile(r"[a-z]{2,3}(?:-[a-z-]{2,12})?|simple")
_LETTER = re.compile(r"\w")


@dataclass(slots=True)
class PlacedImage:
    """An image, the section it stands in (number, 0 before the first) and how many passages stand before."""

    image: WikiImage
    caption: str
    section: int
    after: int


@dataclass(slots=True)
class BodyReader:
    """Reads one page from its nodes.

    Attributes:
        article_id: id of the page, for passage ids.
        file_prefixes: the wiki's own names of the file namespace, lower case.
        category_prefixes: the same of the category namespace.
    """

    article_id: str
    file_prefixes: Collection[str] = FILE_PREFIXES
    category_prefixes: Collection[str] = CATEGORY_PREFIXES
    sections: list[Section] = field(default_factory=list)
    passages: list[ArticlePassage] = field(default_factory=list)
    images: list[PlacedImage] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    _levels: list[tuple[int, int]] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _is_prose: bool = True
    _has_infobox: bool = False

    def read(self, code: Wikicode) -> None:
        """Read the whole page."""
        self._nodes(code.nodes)
        self._flush()

    def _nodes(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            if isinstance(node, Text):
                self._text.append(str(node))
            elif isinstance(node, Heading):
                self._open_section(node)
            elif isinstance(node, Wikilink):
                self._link(node)
            elif isinstance(node, ExternalLink):
                self._nodes(node.title.nodes if node.title is not None else [])
            elif isinstance(node, Template):
                self._template(node)
            elif isinstance(node, Tag):
                self._tag(node)
            elif isinstance(node, HTMLEntity):
                self._text.append(_character(node))
            elif isinstance(node, Argument) and node.default is not None:
                self._nodes(node.default.nodes)

    def _link(self, link: Wikilink) -> None:
        title = str(link.title).strip()
        prefix, rest = split_prefix(title.removeprefix(":"))
        if not title.startswith(":"):
            if prefix in self.file_prefixes or prefix in FILE_PREFIXES:
                image = linked_image(link, self.file_prefixes)
                if image is None:
                    self.flags.add("inline_image_left_out")
                else:
                    self._place(image)
                return
            if prefix in self.category_prefixes or prefix in CATEGORY_PREFIXES:
                self.categories.append(normal_title(rest))
                return
            if _LANGUAGE_LINK.fullmatch(prefix) and link.text is None:
                return
        if link.text is not None and str(link.text).strip():
            self._nodes(link.text.nodes)
        else:
            self._text.append(title.removeprefix(":").replace("_", " "))

    def _template(self, template: Template) -> None:
        name = " ".join(str(template.name).replace("_", " ").split()).casefold()
        if name in CONVERTERS:
            for place in ("1", "2"):
                if template.has(place):
                    self._nodes([*template.get(place).value.nodes, Text(" ")])
            self._text.append("" if not self._text else self._text.pop().rstrip(" "))
        elif name in TEXT_TEMPLATES:
            place = str(TEXT_TEMPLATES[name])
            if template.has(place):
                self._nodes(template.get(place).value.nodes)
        elif not self._has_infobox and not self.sections:
            image = infobox_image(template, self.file_prefixes)
            if image is not None:
                self._has_infobox = True
                self._place(image)

    def _tag(self, tag: Tag) -> None:
        name = str(tag.tag).strip().casefold()
        if name in ("li", "dd", "dt") and tag.wiki_markup:
            self._text.append(_ITEM)
        elif name == "gallery":
            for image in gallery_images(tag, self.file_prefixes):
                self._place(image)
        elif name in _FORMULA:
            self.flags.add("formula_left_out")
        elif name == "table":
            self.flags.add("table_left_out")
        elif name not in _LEFT_OUT:
            edge = "\n\n" if name in _BREAK - {"br", "wbr"} else " " if name == "br" else ""
            self._text.append(_ITEM if name == "li" else edge)
            self._nodes(tag.contents.nodes if tag.contents is not None else [])
            self._text.append(edge)

    def _place(self, image: WikiImage) -> None:
        after = len(self.passages)
        self.images.append(PlacedImage(image, self._inline(image.caption), self._section(), after))

    def _section(self) -> int:
        return self.sections[-1].number if self.sections else 0

    def _inline(self, code: Wikicode) -> str:
        """The text of a caption or a title; images inside it are left out."""
        inner = BodyReader(self.article_id, self.file_prefixes, self.category_prefixes, _has_infobox=True)
        inner._nodes(code.nodes)
        return plain("".join(inner._text).replace(_ITEM, " "))

    def _open_section(self, heading: Heading) -> None:
        self._flush()
        title = self._inline(heading.title)
        while self._levels and self._levels[-1][0] >= heading.level:
            self._levels.pop()
        parent = self._levels[-1][1] if self._levels else 0
        number = len(self.sections) + 1
        above_is_back = bool(parent) and self.sections[parent - 1].part == "back"
        self._is_prose = title.casefold() not in NOT_PROSE and not above_is_back
        part: Any = "body" if self._is_prose else "back"
        self.sections.append(Section(number=number, parent=parent, title=title, part=part))
        self._levels.append((heading.level, number))

    def _flush(self) -> None:
        """Passages of the text since the last heading."""
        whole = _TABLE.sub("\n", "".join(self._text))  # tables whose attributes the parser cannot read
        self._text.clear()
        if not self._is_prose:
            return
        for part in _PARTING.split(whole):
            if part.startswith(_ITEM):  # an item ends with its line
                item, _, rest = part.partition("\n")
                self._passage(item, "list")
                self._passage(rest, "paragraph")
            else:
                self._passage(part, "paragraph")

    def _passage(self, markup: str, kind: Literal["list", "paragraph"]) -> None:
        text = plain(markup.replace(_ITEM, ""))
        if _LETTER.search(text):
            self.passages.append(
                ArticlePassage(
                    id=passage_id(self.article_id, len(self.passages) + 1),
                    section=self._section(),
                    kind=kind,
                    text=text,
                    text_sha256=sha256_text(text),
                )
            )


def plain(text: str) -> str:
    """Spaces collapsed; what left-out templates, references and unpaired quotes leave behind removed."""
    bare = _QUOTES.sub("", " ".join(text.split()))
    return " ".join(_LOOSE.sub("", _EMPTY_BRACKETS.sub("", bare)).split())


def _character(entity: HTMLEntity) -> str:
    try:
        found = str(entity.normalize())
    except (ValueError, OverflowError):
        return ""
    code = ord(found[:1] or " ")
    is_text = len(found) == 1 and (code >= 32 or found in "\t\n") and not 0xD800 <= code <= 0xDFFF
    return found if is_text and not 0x7F <= code <= 0x9F else " "
