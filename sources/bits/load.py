"""Bytes to one chapter of a book: BITS 2.x `book-part-wrapper`, NLM book 2.3 `book-part`, OAI answers.

A wrapper may hold a table of contents, an index or several parts; one with one readable part is a chapter.
"""

from __future__ import annotations

from typing import NamedTuple

from schemas.errors import InputError
from schemas.stages import Reason
from sources.jats.load import Shape, load, reattach
from sources.jats.nodes import Element, all_text, first, local

_ROOTS = ("book-part-wrapper", "book-part")
_WRAPPERS = frozenset({"OAI-PMH", "pmc-articleset"})
_CHAPTERS = ("book-part", "book-app")
_CONTENTS = frozenset({"toc", "index"})
_META = "book-part-meta"


class Chapter(NamedTuple):
    """One chapter: the file's root, its `book-meta` if it has one, and the part to read."""

    root: Element
    book_meta: Element | None
    part: Element

    @property
    def meta(self) -> Element | None:
        """`book-part-meta` of the part."""
        return first(self.part, _META)


def _root(root: Element) -> tuple[Element, bool]:
    name = local(root)
    if name in _ROOTS:
        return root, False
    if name in _WRAPPERS:
        for kind in _ROOTS:
            inside = list(root.iter(f"{{*}}{kind}"))
            if len(inside) == 1:
                return inside[0], True
            if inside:
                raise _refused(f"<{name}> holds {len(inside)} documents, not one")
        if next(root.iter("{*}book"), None) is None:
            raise _refused(f"<{name}> holds no part of a book")
        name = "book"
    if name == "book":
        chapters = sum(1 for _ in root.iter("{*}book-part"))
        raise _refused(f"a whole <book> of {chapters} parts; its chapters are read from files of their own")
    raise _refused(f"the root element is <{name[:60]}>, not <book-part-wrapper> or <book-part>")


def _refused(what: str) -> InputError:
    return InputError(what, reason=Reason.NOT_AN_ARTICLE)


_SHAPE = Shape(_root)


def load_book_part(data: bytes) -> tuple[Element, set[str]]:
    """Read one file into its `book-part-wrapper` or `book-part`, whatever it is of.

    Returns:
        The element and flags, as :func:`sources.jats.load.load` gives them.

    Raises:
        InputError: `too_large`, `xml_hostile`, `xml_invalid` or `not_an_article`.
    """
    root, flags = load(data, _SHAPE)
    if "xml_recovered" in flags:
        if local(root) != "book-part":
            reattach(root, ("book-part",), ("book-part",))
        for part in root.iter("book-part"):
            reattach(part, ("body", "back", "floats-group"), ("book-part",))
    return root, flags


def chapter_of(root: Element) -> Chapter:
    """The chapter in a `book-part-wrapper` or `book-part`.

    Raises:
        InputError: `not_an_article`: a table of contents, an index, nothing or several chapters.
    """
    parts = [root] if local(root) == "book-part" else list(root.iterchildren(*_CHAPTERS))
    if len(parts) != 1:
        held = ", ".join(sorted({local(child)[:40] for child in root}))
        raise _refused(f"it holds {len(parts)} chapters, not one (but {held or 'nothing'})")
    part = parts[0]
    kinds = {root.get("content-type") or "", part.get("book-part-type") or ""}
    # A short report has its whole text in the file of its contents: content-type toc, a section inside.
    is_contents = part.get("book-part-type") in _CONTENTS or not _has_text(part)
    if kinds & _CONTENTS and is_contents:
        raise _refused("a table of contents or an index")
    _normalise(root, part)
    return Chapter(root, first(root, "book-meta"), part)


def _has_text(part: Element) -> bool:
    return any(all_text(paragraph) for body in part.iterchildren("body") for paragraph in body.iter("p"))


def _normalise(root: Element, part: Element) -> None:
    """Bring an appendix's body and the wrapper's floats to where a chapter has them."""
    for body in part.iterchildren("named-book-part-body"):
        body.tag = "body"
    if part is not root:
        for floats in list(root.iterchildren("floats-group")):
            part.append(floats)
