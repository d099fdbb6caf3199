"""What acquisition must know of an article's XML before it is parsed: figure graphics, DOI, synthetic mark.

One streaming pass without a tree, so that a hostile file costs neither memory nor stack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lxml import etree

_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_FIGURE = frozenset({"fig", "fig-group", "figgrp", "boxed-text"})
_NOT_FIGURE = frozenset(
    {
        "table-wrap",
        "disp-formula",
        "inline-formula",
        "chem-struct",
        "chem-struct-wrap",
        "supplementary-material",
        "inline-supplementary-material",
        "ref",
        "bio",
    }
)
_OTHER_ARTICLE = frozenset({"sub-article", "response"})
_TEXT = frozenset({"article-id", "meta-name", "meta-value"})
_ROOTS = frozenset({"article", "pmc-articleset", "articles", "OAI-PMH"})
_MATTER = frozenset({"article-title", "abstract", "body"})


@dataclass(frozen=True, slots=True)
class ArticleScan:
    """What one pass over the XML found.

    `hrefs`: distinct hrefs of `<graphic>` in figures (also of sub-articles), as written, in document order.
    `doi`: the main article's, as written. `is_synthetic`: custom-meta `synthetic` = `yes`.
    `is_article`: it begins as a JATS article, or a set of them, and a title, abstract or body was met.
    """

    hrefs: tuple[str, ...] = ()
    doi: str | None = None
    is_synthetic: bool = False
    is_article: bool = False


class _Collector:
    """lxml parser target: keeps a stack of (element name, inside a figure) and nothing else."""

    def __init__(self) -> None:
        self.hrefs: dict[str, None] = {}
        self.doi: str | None = None
        self.is_synthetic = False
        self._root = ""
        self._has_matter = False
        self._stack: list[tuple[str, bool]] = []
        self._other = 0
        self._text: list[str] | None = None
        self._is_doi = False
        self._meta_name = ""

    def start(self, tag: Any, attributes: Any) -> None:
        name = tag.rpartition("}")[2]
        in_figure = bool(self._stack) and self._stack[-1][1]
        self._root = self._root or name.rpartition(":")[2]
        if name in _FIGURE:
            in_figure = True
        elif name in _NOT_FIGURE:
            in_figure = False
        elif name == "graphic" and in_figure:
            self.hrefs.setdefault(attributes.get(_XLINK_HREF) or attributes.get("href") or "")
        elif name in _OTHER_ARTICLE:
            self._other += 1
        elif name in _MATTER:
            self._has_matter = True
        elif name in _TEXT and not self._other:
            self._text = []
            parents = [parent for parent, _ in self._stack[-2:]]
            is_doi = attributes.get("pub-id-type") == "doi" and parents == ["front", "article-meta"]
            self._is_doi = name == "article-id" and is_doi
        self._stack.append((name, in_figure))

    def data(self, data: Any) -> None:
        if self._text is not None:
            self._text.append(data)

    def end(self, tag: Any) -> None:
        name = tag.rpartition("}")[2]
        if self._stack:
            self._stack.pop()
        if name in _OTHER_ARTICLE:
            self._other -= 1
        if name in _TEXT and self._text is not None:
            self._finish_text(name, "".join(self._text).strip())
            self._text = None

    def comment(self, text: Any) -> None:
        """Comments are no part of any text."""

    def _finish_text(self, name: str, text: str) -> None:
        if name == "article-id" and self._is_doi and self.doi is None and text:
            self.doi = text
        elif name == "meta-name":
            self._meta_name = text.lower()
        elif name == "meta-value" and self._meta_name == "synthetic":
            self.is_synthetic = self.is_synthetic or text.lower() in ("yes", "true")

    def close(self) -> ArticleScan:
        is_article = self._root in _ROOTS and self._has_matter
        return ArticleScan(tuple(self.hrefs), self.doi, self.is_synthetic, is_article)


def scan(data: bytes) -> ArticleScan:
    """Read figure hrefs, DOI and the synthetic mark of JATS bytes; whatever can be read of damaged ones.

    Never raises on content: what is unreadable is left to the parser, which quarantines it with a reason.
    """
    collector = _Collector()
    # Entities in attribute values are always expanded; libxml2's guard against that is off under huge_tree.
    declares_entities = b"<!ENTITY" in data or b"<!ENTITY" in data.replace(b"\0", b"")
    parser = etree.XMLParser(
        target=collector,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        huge_tree=not declares_entities,
    )
    try:
        parser.feed(data)
        parser.close()
    except (etree.LxmlError, ValueError, AssertionError):
        pass
    return collector.close()
