"""Panels of a multi-panel figure, read from its caption: "(A) CT. (B, C) MRI", "A, axial", "Left: …".

A style counts only if its letters start at A and follow each other: "(A)" in a chemical name is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from curation.extract.panel_lists import letters_of
from schemas.article import Emphasis
from schemas.extracted import Panel
from schemas.ids import panel_id

_LIST = r"[{c}](?:\s?(?:,|;|&|/|and|to|[–—‐‑−-])\s?(?:and\s)?[{c}](?![A-Za-z]))*"
_UPPER = _LIST.format(c="A-Z")
_LOWER = _LIST.format(c="a-z")
_PANELS = r"(?:[Pp]anels?\s)?"


class _Style(NamedTuple):
    """One way to mark panels: the marker at the start of a caption (None if it needs no start), and anywhere.

    Two patterns, as a search for a fixed first character is several times faster than "start or lead".
    All of `needs` are in a caption whose markers begin with A.
    """

    needs: tuple[str, ...]
    first: re.Pattern[str] | None
    later: re.Pattern[str]


def _after(lead: str, marker: str, *needs: str) -> _Style:
    return _Style(needs, re.compile(marker), re.compile(f"{lead}{marker}"))


def _bracketed(letters: str, *needs: str) -> _Style:
    return _Style(needs, None, re.compile(rf"\({_PANELS}(?P<letters>{letters})(?:\)|[,:;]\s)"))


_STYLES: tuple[_Style, ...] = (
    _bracketed(_UPPER, "(", "A"),
    _bracketed(_LOWER, "(", "a"),
    _after(r"\s", rf"(?P<letters>{_UPPER})\)\s?", ")", "A"),
    _after(r"\s", rf"(?P<letters>{_LOWER})\)\s?", ")", "a"),
    _after(r"[.;:]\s", rf"{_PANELS}(?P<letters>{_UPPER})\s?[,:]\s", "A"),
    _after(r"[.;:]\s", rf"{_PANELS}(?P<letters>{_UPPER})\.\s", "A"),
    _after(r"[.;:]\s", rf"{_PANELS}(?P<letters>{_LOWER})\s?[,:.]\s", "a"),
    _after(r"[.;:,]\s", rf"[Pp]anels?\s(?P<letters>{_UPPER})\b", "anel", "A"),
)
_POSITION = re.compile(
    r"(?:^|[.;]\s|\()(?P<word>(?:(?:upper|lower|top|bottom)[\s-])?(?:left|right|middle|cent(?:er|re))"
    r"|upper|lower|top|bottom)"
    r"(?:\s(?:panels?|images?|row|column|side))?\s?(?=[:,)])",
    re.IGNORECASE,
)
_LEAD = re.compile(r"[.;:,]?\s")
_END = re.compile(r"[.;]\s|$")


class _Marker(NamedTuple):
    start: int
    end: int
    letters: tuple[str, ...]


def find_panels(figure_id: str, caption: str, emphasis: Sequence[Emphasis] = ()) -> tuple[Panel, ...]:
    """The panels a caption names, each with the span of its sub-caption; () for a single-panel figure.

    Args:
        figure_id: id of the figure.
        caption: the caption.
        emphasis: its inline markup, for bold panel letters without brackets.

    Returns:
        Panels in order of the letters. Panels named together ("(A–C)") share one span.
    """
    best: list[_Marker] = []
    for candidates in _candidates(caption, emphasis):
        chosen = _sequence(candidates)
        if sum(len(marker.letters) for marker in chosen) > sum(len(marker.letters) for marker in best):
            best = chosen
    if sum(len(marker.letters) for marker in best) < 2:
        best = _positions(caption)
    spans = _spans(caption, best)
    return tuple(
        Panel(id=panel_id(figure_id, letter.replace(" ", "-")), letter=letter, start=start, end=end)
        for marker, (start, end) in zip(best, spans, strict=True)
        for letter in marker.letters
    )


def _candidates(caption: str, emphasis: Sequence[Emphasis]) -> Iterable[list[_Marker]]:
    """Possible markers of each style, the most explicit style first."""
    for style in _STYLES:
        if not all(map(caption.__contains__, style.needs)):
            continue
        first = style.first.match(caption) if style.first else None
        later = style.later.finditer(caption, first.end() if first else 0)
        yield [
            _Marker(found.start() + _lead(found.group()), found.end(), letters_of(found.group("letters")))
            for found in (first, *later)
            if found
        ]
    bold = [part for part in emphasis if part.kind == "bold"]
    yield [
        _Marker(part.start, part.end, letters)
        for part in bold
        if (letters := letters_of(caption[part.start : part.end].rstrip(".,: ")))
    ]


def _lead(matched: str) -> int:
    """Length of the end of the sentence before, which a style had to look at."""
    found = _LEAD.match(matched)
    return found.end() if found else 0


def _sequence(candidates: Iterable[_Marker]) -> list[_Marker]:
    """The markers that continue A, B, C, … without a gap; repeated and wild ones are left out."""
    chosen: list[_Marker] = []
    expected = ord("A")
    for marker in candidates:
        codes = [ord(letter) for letter in marker.letters]
        if codes and codes == list(range(expected, expected + len(codes))):
            chosen.append(marker)
            expected += len(codes)
    return chosen


def _positions(caption: str) -> list[_Marker]:
    """Panels named by place (Left, Upper right); at least two different ones."""
    markers: dict[str, _Marker] = {}
    for found in _POSITION.finditer(caption):
        word = re.sub(r"[\s-]+", " ", found.group("word").lower()).replace("centre", "center")
        markers.setdefault(word, _Marker(found.start() + _lead(found.group()), found.end(), (word,)))
    return list(markers.values()) if len(markers) > 1 else []


def _spans(caption: str, markers: Sequence[_Marker]) -> list[tuple[int, int]]:
    """Sub-caption of each marker: the text after it, or before it when markers close their phrases."""
    if not markers:
        return []
    if _is_suffixed(caption, markers):
        starts = [_sentence_start(caption, markers[0].start), *(marker.end for marker in markers[:-1])]
        ends = [marker.end for marker in markers]
    else:
        starts = [marker.start for marker in markers]
        ends = [*(marker.start for marker in markers[1:]), len(caption)]
    return [_trimmed(caption, start, end) for start, end in zip(starts, ends, strict=True)]


def _is_suffixed(caption: str, markers: Sequence[_Marker]) -> bool:
    """Whether markers follow what they name: in "CT (A) and MRI (B)." no word is after the last."""
    before = caption[_sentence_start(caption, markers[0].start) : markers[0].start]
    after = caption[markers[-1].end :]
    return bool(re.search(r"\w", before)) and re.match(r"\W*$|\s*[.;](?:\s|$)", after) is not None


def _sentence_start(caption: str, position: int) -> int:
    ends = [found.end() for found in _END.finditer(caption, 0, position) if found.group()]
    return ends[-1] if ends else 0


def _trimmed(caption: str, start: int, end: int) -> tuple[int, int]:
    while start < end and caption[start] in " ,;.\u00a0":
        start += 1
    while end > start and caption[end - 1].isspace():
        end -= 1
    return start, end
