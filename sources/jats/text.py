"""Mixed content to plain text with exact offsets.

Inline markup adds and removes no space, block children are separated by one, white space is collapsed while
the offsets are counted: `text[start:end]` is always what the span encloses. Text and tail are read once.
A line break that a file's layout puts between tags, as PMC's does, is no space where print has none.
What is raised stays raised (10⁹/L, χ², e^−kt): flattened it would be another number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import itemgetter

from schemas.article import Emphasis, Xref
from sources.jats.formula import linear
from sources.jats.nodes import MATHML, Element, plain_hyphens, squeeze

_XREF, _EMPHASIS, _BLOCK, _FLOAT, _DROP, _FORMULA, _BREAK, _CHOICE, _RAISED, _DISPLAYED = range(10)
_EMPHASES = {
    "bold": "bold", "b": "bold", "italic": "italic", "i": "italic", "sup": "sup", "sub": "sub",
    "underline": "underline",
}  # fmt: skip
_COMMON = {
    "xref": _XREF,
    "sup": _RAISED,
    "break": _BREAK,
    "hr": _BREAK,
    "inline-formula": _FORMULA,
    "math": _FORMULA,
    f"{MATHML}math": _FORMULA,
    "tex-math": _FORMULA,
    "alternatives": _CHOICE,
    **dict.fromkeys(
        (
            "graphic", "inline-graphic", "media", "object-id", "alt-text", "long-desc", "fn", "rt", "rp",
            "index-term", "element-citation", "nlm-citation", "citation-alternatives", "private-char",
        ),
        _DROP,
    ),
}  # fmt: skip
DISPLAYED = frozenset({"disp-formula", "disp-formula-group"})
"""Formulas on lines of their own, around which a sentence goes on: "is given by x = 2 where"."""
_FLOATS = (
    "fig", "fig-group", "figgrp", "table-wrap", "table-wrap-group", "table-wrap-foot", "table", "boxed-text",
    "disp-formula", "disp-formula-group", "chem-struct-wrap", "chem-struct-wrapper", "supplementary-material",
    "array", "code", "fn-group", "ref-list", "floats-group",
)  # fmt: skip
_TEXT_BLOCKS = (
    "list", "def-list", "disp-quote", "verse-group", "speech", "statement", "preformat", "question-wrap",
    "sec", "p",
)  # fmt: skip
_PARTS_OF_BLOCKS = (
    "list-item",
    "def-item",
    "term",
    "def",
    "title",
    "verse-line",
    "attrib",
    "speaker",
    "subtitle",
)
_PARTS_OF_LICENCES = ("license_ref", "{http://www.niso.org/schemas/ali/1.0/}license_ref", "license-p")
RUNNING = {
    **_COMMON,
    **dict.fromkeys((*_FLOATS, *_TEXT_BLOCKS), _FLOAT),
    **dict.fromkeys(_PARTS_OF_BLOCKS, _BLOCK),
    **dict.fromkeys(DISPLAYED, _DISPLAYED),
}
"""A paragraph: floats, lists and quotations nested in it are set aside; bold and italic are plain text."""
CAPTION = {
    **_COMMON,
    **dict.fromkeys(_FLOATS, _FLOAT),
    **dict.fromkeys((*_TEXT_BLOCKS, *_PARTS_OF_BLOCKS, *_PARTS_OF_LICENCES, "caption"), _BLOCK),
    **dict.fromkeys(_EMPHASES, _EMPHASIS),
    "sup": _RAISED,
    "disp-formula": _FORMULA,
    "label": _DROP,  # the labels of list items; the figure's own label is a field of its own
}
"""A caption or a field: paragraphs and list items are part of the text, inline markup is kept as spans."""
TITLE = {**CAPTION, "xref": _DROP}
"""A title: reference marks in it point to footnotes and are no part of it."""

_PLAIN = frozenset({_BLOCK, _EMPHASIS})
_EXTENT = itemgetter(0, 1)
_SUPERSCRIPTS = str.maketrans("0123456789+-−–=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
_HAS_FORM = re.compile(r"(?=.*[+\-−–n\d])[+\-−–=()n\d]+")
"""What Unicode can raise: a number with its sign, a charge."""
_CITATIONS = re.compile(r"(?P<open>\()?\d+(?:(?:\s?[,;–-]\s?|\s)\d+)+(?(open)\))")
_SET_APART = re.compile(r"\[\d[\d\s,;–-]*\]|\([^()]*[^\W\d_]{3}[^()]*\)")
"""What its brackets set apart, raised or not: numbers of references, a pointer."""
_CITED = re.compile(r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3}|\s\d{1,3})*")
"""Numbers of a reference list."""
_BIBLIOGRAPHIC = frozenset({"bibr", "ref"})
"""What JATS calls a pointer to a reference list, and what some call it."""
_NOTES = frozenset({"fn", "table-fn"})
_BEFORE_CITED = re.compile(
    r"(?:(?:[^\W\d_](?<!\bref)(?<!\brefs)|[)\]’”\"'%⁺⁻])[.,;:]?|\d[.;:])\Z", re.IGNORECASE
)
_CITED_BY_NAME = re.compile(r"\b(?:ref(?:erence)?s?|citations?|n(?:o|umber)s?)\W*\Z", re.IGNORECASE)
"""Words that make the number behind a space a word of the sentence: "see reference 15"."""
_NO_WORD = frozenset("([{/")
_AFTER_CITED = re.compile(r"[⁰¹²³⁴-⁹][,;–-]?\Z")
"""What a raised number of the reference list stands right behind: "household⁴²", "30%.¹"; "food,²,³, ⁴"."""
_IN_BRACKET = re.compile(r"(?<=^\() | (?=\)$)")
_DIGITS = str.maketrans("0123456789()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾")
_FORMULA_IMAGE = "[formula]"
_SIGNS = {"TM": "™", "o": "º"}
_RING, _DEGREES = frozenset("oO0º∘"), re.compile(r"[CF]\b")
"""What is raised for want of a degree sign, and what follows there."""
_DASHES = frozenset("-–−")
_ATTACHED = frozenset({"sub", "sup"})
_CLOSING = re.compile(r"\s*[,;:)\]]|\s*\.(?!\d)")
_CLOSED = frozenset(")]}%’”\"'")
"""What a block may end with, besides letters and digits, that is no stop."""
_OPENING = "([{\"'“‘«/"


class Flow:
    """Text under construction. Feed it elements with :meth:`read`, then take :attr:`text`."""

    __slots__ = (
        "actions",
        "closes",
        "floats",
        "has_displayed",
        "is_raised",
        "is_spaced",
        "length",
        "marks",
        "pieces",
        "references",
    )

    def __init__(self, actions: dict[str, int] = CAPTION, *, closes: bool = False) -> None:
        self.actions = actions
        self.closes = closes
        self.pieces: list[str] = []
        self.length = 0
        self.is_spaced = self.is_raised = self.has_displayed = False
        self.references: list[tuple[int, int, str, str]] = []
        self.marks: list[tuple[int, int, str]] = []
        self.floats: list[Element] = []

    @property
    def text(self) -> str:
        """The text so far, without leading or trailing space."""
        return "".join(self.pieces)

    def add(self, chunk: str) -> None:
        """Append characters, collapsing white space across calls."""
        if not chunk.isascii():
            chunk = plain_hyphens(chunk)
        if chunk.isprintable() and chunk and "  " not in chunk:  # its only white space is single plain spaces
            is_spaced = chunk[-1] == " "
            body = chunk[:-1] if is_spaced else chunk
            if not body:
                self.is_spaced = True
                return
            if body[0] == " ":
                body = body if self.length else body[1:]
            elif self.is_spaced and self.length:
                body = " " + body
        else:
            words = chunk.split()
            if not words:
                self.is_spaced = True
                return
            body = " ".join(words)
            if self.length and (self.is_spaced or chunk[0].isspace()):
                body = " " + body
            is_spaced = chunk[-1].isspace()
        self.pieces.append(body)
        self.length += len(body)
        self.is_spaced = is_spaced

    def read(self, element: Element) -> None:
        """Append the content of an element as a block of its own."""
        self.is_spaced = True
        self._inside(element)
        self.is_spaced = True

    def _inside(self, element: Element) -> None:
        actions, is_raised = self.actions, self.is_raised
        waiting = element.text or ""  # plain inline markup only lengthens it: one `add` for many elements
        if waiting and waiting[0] == "\n":  # the source's line, not the author's space
            waiting = waiting.strip() if is_raised else "" if waiting.isspace() else waiting
        for child in element:
            action = actions.get(child.tag)
            if action is None and not len(child):
                waiting += child.text or ""
            elif action != _DROP:
                if waiting:
                    self.add(waiting)
                    waiting = ""
                self._marked(action, child)
            if tail := child.tail:
                if is_raised and "\n" in tail:
                    tail = tail.strip()
                if tail and (tail[0] != "\n" or not tail.isspace() or not _is_layout(child)):
                    waiting += tail
        if waiting:
            self.add(waiting)

    def _marked(self, action: int | None, child: Element) -> None:
        if action is None:
            self._inside(child)
        elif action <= _EMPHASIS:
            self._span(action, child)
        else:
            self._special(action, child)

    def _special(self, action: int, child: Element) -> None:
        if action == _BLOCK:
            if self.closes:
                self.close(child)
            self.read(child)
        elif action == _FLOAT:
            self.floats.append(child)
            self.is_spaced = True
        elif action == _DISPLAYED:
            self.is_spaced = self.has_displayed = True
            self.add(displayed(child) or (_FORMULA_IMAGE if self.pieces else ""))
            self.is_spaced = True
        elif action == _BREAK:
            self.is_spaced = True
        elif action == _FORMULA:
            self._formula(child)
        elif action == _RAISED:
            self._raised(child)
        elif action == _CHOICE:
            self._choice(child)

    def close(self, following: Element) -> None:
        """A full stop behind a block that has none, where a block begins that reads as a sentence.

        Publishers set the title of a caption on a line of its own: "Flow of the trial" "MRI was read twice."
        """
        last = self.pieces[-1][-1] if self.pieces else ""
        if last.isalnum() or last in _CLOSED:
            first = next((text for text in following.itertext() if text and not text.isspace()), "")
            if first.lstrip()[:1].isupper():
                self.pieces.append(".")
                self.length += 1

    def _formula(self, child: Element) -> None:
        """A formula as a line; one that is an image alone is said to have been there."""
        line, piece = linear(child), len(self.pieces)
        if line is None:
            self._inside(child)
        elif line:
            self.add(line)
        if piece == len(self.pieces) and next(child.iter("inline-graphic", "graphic"), None) is not None:
            self.add(_FORMULA_IMAGE)

    def _raised(self, child: Element) -> None:
        """A superscript, in Unicode where it has the form; an isotope's number (¹⁸F) is written 18F."""
        at, piece, cited = self.length, len(self.pieces), len(self.references)
        spans = cited + len(self.marks)
        before = self.pieces[-1][-1] if self.pieces and not self.is_spaced else " "
        self.is_raised = True
        if len(child):
            self._inside(child)
        elif text := child.text:
            self.add(text.strip() if "\n" in text else text)
        self.is_raised = False
        if piece == len(self.pieces):
            return
        written = "".join(self.pieces[piece:])
        lead = " " if written[0] == " " else ""
        loose = written = written[len(lead) :]
        if written.startswith("("):
            written = _IN_BRACKET.sub("", written)
        is_attached = not lead and (before.isalnum() or before in ")]}'’′%")
        tail = child.tail or ""
        is_note = (
            not is_attached and tail[:1].isalnum() and (written.isalpha() or len(self.references) > cited)
        )
        if _DEGREES.match(tail) and written in _RING:
            raised = "°"
        elif written in _DASHES and before.isdigit() and tail[:1].isdigit():
            raised = written  # of a range
        elif is_attached or not tail[:1].isalnum() or len(self.references) > cited:
            raised = _raised_form(written, before)
        else:
            raised = written
        self.is_spaced |= is_note  # no part of the word it stands before
        start = at + len(lead)
        self.pieces[piece:] = [lead + raised]
        self.length = start + len(raised)
        if len(raised) != len(loose) and len(self.references) + len(self.marks) > spans:
            self._shift(cited, spans - cited, raised.startswith("^") - loose.startswith("( "))
        if self.actions.get("bold") == _EMPHASIS:
            self.marks.append((start, self.length, _EMPHASES[child.tag]))

    def _shift(self, references: int, marks: int, by: int) -> None:
        """Move what lies in a superscript with its text, from these places in the lists on."""
        end = self.length
        self.references[references:] = [
            (min(start + by, end), min(stop + by, end), kind, targets)
            for start, stop, kind, targets in self.references[references:]
        ]
        self.marks[marks:] = [
            (min(start + by, end), min(stop + by, end), kind) for start, stop, kind in self.marks[marks:]
        ]

    def _span(self, action: int, child: Element) -> None:
        kind = child.get("ref-type", "") if action == _XREF else ""
        if kind in _BIBLIOGRAPHIC and self._touches_citation(child):
            self.add(",")
        at, piece, is_spaced = self.length, len(self.pieces), self.is_spaced
        if len(child):
            self._inside(child)
        elif text := child.text:
            self.add(text)
        is_number = kind in _BIBLIOGRAPHIC or (kind in _NOTES and not is_spaced)
        if is_number and 0 < piece < len(self.pieces):
            self._raise_citation(piece, child.tail or "", is_spaced=is_spaced)
        if piece == len(self.pieces):  # an empty reference stands where the next character will be
            start = end = at + 1 if self.is_spaced and at else at
        else:
            start, end = at + self.pieces[piece].startswith(" "), self.length
        if action == _XREF:
            self.references.append((start, end, kind, child.get("rid", "")))
        elif end > start:
            self.marks.append((start, end, _EMPHASES[child.tag]))

    def _touches_citation(self, child: Element) -> bool:
        """Whether the number of a reference stands right behind that of another: it would make a third."""
        _, end, kind, _ = self.references[-1] if self.references else (0, 0, "", "")
        if kind not in _BIBLIOGRAPHIC or end != self.length or self.is_spaced or not self.pieces:
            return False
        return self.pieces[-1][-1] in "0123456789" and squeeze(child.text)[:1].isdigit()

    def _raise_citation(self, piece: int, tail: str, *, is_spaced: bool) -> None:
        """Raise the number of a reference behind a word, where the source leaves it flat.

        Numbers that touch are parted by a space; those in brackets stay.
        """
        if self.pieces[piece - 1][-1] in _NO_WORD or self.is_raised:
            return
        before, written = "".join(self.pieces[max(piece - 2, 0) : piece])[-12:], "".join(self.pieces[piece:])
        if tail[:1].isalnum() or not _CITED.fullmatch(written.lstrip()):
            return
        if tail[:1] in (")", "]") and not before[-1].isalpha():
            return  # of a bracket whose beginning the source has lost
        if not _AFTER_CITED.search(before):
            stands = not _CITED_BY_NAME.search(before) if is_spaced else _BEFORE_CITED.search(before)
            if not stands or ((is_spaced or before[-2:-1].isdigit()) and self._is_in_bracket(piece)):
                return
        space = " " if before[-1].isdigit() and not is_spaced else ""
        self.pieces[piece] = space + self.pieces[piece]
        self.pieces[piece:] = [part.translate(_DIGITS) for part in self.pieces[piece:]]
        self.length += len(space)

    def _is_in_bracket(self, piece: int) -> bool:
        """Whether a bracket that was opened shortly before a piece is still open."""
        near = "".join(self.pieces[max(piece - 20, 0) : piece])
        return near.rfind("(") > near.rfind(")") or near.rfind("[") > near.rfind("]")

    def _choice(self, child: Element) -> None:
        """One of several equivalent forms: a formula, a textual form, else the first that has text."""
        line = linear(child)
        if line is not None:
            self.add(line or " ")
            return
        for form in (*child.iterchildren("textual-form"), *child):
            if form.tag not in self.actions:
                self._inside(form)
                return

    def xrefs(self) -> tuple[Xref, ...]:
        """Cross-references in order of start."""
        if not self.references:
            return ()
        length = self.length  # an empty reference at the end waited for a character that did not come
        return tuple(
            Xref(
                start=start if start < length else length,
                end=end if end < length else length,
                ref_type=kind,
                rids=tuple(targets.split()),
            )
            for start, end, kind, targets in sorted(self.references, key=_EXTENT)
        )

    def emphasis(self) -> tuple[Emphasis, ...]:
        """Inline markup in order of start, outer before inner."""
        marks = sorted(self.marks, key=lambda mark: (mark[0], -mark[1], mark[2]))
        return tuple(Emphasis(start=start, end=end, kind=kind) for start, end, kind in marks)  # type: ignore[arg-type]


def displayed(element: Element) -> str:
    """A formula on a line of its own as one line, without its number; '' when it is an image alone.

    Args:
        element: `disp-formula` or `disp-formula-group`.
    """
    if element.tag == "disp-formula-group":
        return "; ".join(filter(None, map(displayed, element.iterchildren("disp-formula"))))
    line = linear(element)
    if line is None:  # what is part text, part image, is not told by the text
        line = flatten(element) if next(element.iter("graphic", "inline-graphic"), None) is None else ""
    return line


def _is_layout(child: Element) -> bool:
    """Whether the line break behind an inline element is the file's layout: none was there in print.

    So it is at the end of what holds it, before what is attached (x<sub>2</sub>) and before closing
    punctuation. Between two other elements it may stand for a space.
    """
    following = child.getnext()
    if following is None:  # a word right behind what holds it would run on
        holder = child.getparent()
        return holder is None or not (holder.tail or "")[:1].isalnum()
    if following.tag in _ATTACHED:
        return True
    text = next((str(text) for text in following.itertext() if text and not text.isspace()), "")
    if _is_raised_link(following):  # as an attached one, but numbers of two references stay apart
        return not (text.strip()[:1].isdigit() and "".join(map(str, child.itertext())).strip()[-1:].isdigit())
    return _CLOSING.match(text) is not None


def _is_raised_link(element: Element) -> bool:
    """Whether a link holds nothing before a superscript."""
    return (
        element.tag == "xref" and len(element) > 0 and element[0].tag == "sup" and not squeeze(element.text)
    )


def _raised_form(text: str, before: str) -> str:
    """A superscript as characters; `before` is the one it stands after.

    Letters after digits (1st, 99m) or at the start of a word, and signs (*, ®) are written flat as people do;
    the letter of a footnote behind a word is not, of which it would make another.
    """
    if text in _SIGNS:
        return _SIGNS[text]
    if _HAS_FORM.fullmatch(text):
        return text.translate(_SUPERSCRIPTS)
    if _CITATIONS.fullmatch(text) or _CITED.fullmatch(text.strip(",; ")):  # ",23,": of a longer list
        return text.translate(_DIGITS)
    if _SET_APART.fullmatch(text):
        return text
    is_flat = text.isalpha() and (before.isdigit() or before.isspace() or before in _OPENING)
    return text if is_flat or not any(map(str.isalnum, text)) else f"^{text}"


def flatten(element: Element | None) -> str:
    """Plain text of a title, label or other field, '' when the element is missing."""
    if element is None:
        return ""
    if len(element) == 0:
        return squeeze(element.text)
    if len(element) == 1 and (plain := _plain(element)) is not None:
        return plain
    flow = Flow()
    flow.read(element)
    return flow.text


def _plain(element: Element) -> str | None:
    """Text of an element whose one child holds it all, a paragraph or emphasis, as in cells of tables."""
    (child,) = element
    if len(child) or not isinstance(child.tag, str) or CAPTION.get(child.tag) not in _PLAIN:
        return None
    if (element.text and not element.text.isspace()) or (child.tail and not child.tail.isspace()):
        return None
    return squeeze(child.text)


def title_text(element: Element | None) -> str:
    """Plain text of a title without the reference marks in it."""
    if element is None:
        return ""
    if len(element) == 0:
        return squeeze(element.text)
    flow = Flow(TITLE)
    flow.read(element)
    return flow.text


def running_text(element: Element) -> Flow:
    """One paragraph of running text; what was nested in it waits in `floats`."""
    flow = Flow(RUNNING)
    flow.read(element)
    return flow


def caption_text(parts: Iterable[Element]) -> Flow:
    """The parts of a caption in order, a space between, a full stop where one ends and another begins."""
    flow = Flow(CAPTION, closes=True)
    for part in parts:
        flow.close(part)
        flow.read(part)
    return flow
