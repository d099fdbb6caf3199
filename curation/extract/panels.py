"""Panels of a multi-panel figure, read from its caption: "(A) CT. (B, C) MRI", "A, axial", "Left: …".

A style counts only if its letters start at A and leave none out: "(A)" in a chemical name is none.
Which words belong to a letter, curation.extract.subcaptions says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from curation.extract.panel_lists import fill, letters_of
from curation.extract.subcaptions import Marker, spans_of
from schemas.article import Emphasis
from schemas.extracted import Panel
from schemas.ids import panel_id

_LIST = r"[{c}](?:\s?(?:,|;|&|/|and|to|[–—‐‑−-])\s?(?:and\s)?[{c}](?![A-Za-z]))*"
_UPPER = _LIST.format(c="A-Z")
_LOWER = _LIST.format(c="a-z")
_PANELS = r"(?:[Pp](?:anel|art)s?\s)?"


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
    """In brackets, one of which an author may have forgotten."""
    forgotten = rf"(?<=\s){letters}\)"
    return _Style(
        needs,
        None,
        re.compile(rf"\(\s?{_PANELS}(?P<letters>{letters})(?:\s?\)|[,:;]\s)|{forgotten}"),
    )


_STYLES: tuple[_Style, ...] = (
    _bracketed(_UPPER, "(", "A"),
    _bracketed(_LOWER, "(", "a"),
    _Style(
        ("(", "A"), None, re.compile(rf"\(\s?\d{{1,2}}(?P<letters>{_UPPER})\s?\)")
    ),  # with its figure's number
    _after(r"\s", rf"(?P<letters>{_UPPER})\)\s?", ")", "A"),
    _after(r"\s", rf"(?P<letters>{_LOWER})\)\s?", ")", "a"),
    _after(r"(?:[.;:]\s|\s(?=A\s?[,:]\s[A-Z]))", rf"{_PANELS}(?P<letters>{_UPPER})\s?[,:]\s", "A"),
    _after(r"[.;:]\s", rf"{_PANELS}(?P<letters>{_UPPER})\.\s", "A"),
    _after(r"[.;:]\s", rf"{_PANELS}(?P<letters>{_LOWER})(?:\s?[,:.]|\s[–—-])\s", "a"),
    _after(r"[.;:,]\s", rf"(?:[Pp]anels?|[Pp]arts?)\s\(?(?P<letters>{_UPPER})\b\)?", "A"),
)
_FIRST = {
    "A": re.compile(r"(?<![A-Za-z])A(?![A-Za-z])"),
    "a": re.compile(r"(?<![A-Za-z])a(?:[^A-Za-z\s]|\s(?:[^A-Za-z\d(]|and\b|to\b))"),
}
"""The letter of the first panel as a marker has it: most captions have none."""
_POSITION = re.compile(
    r"(?:^|[.;]\s|\()(?P<word>(?:(?:upper|lower|top|bottom)[\s-])?(?:left|right|middle|cent(?:er|re))"
    r"|upper|lower|top|bottom)"
    r"(?:\s(?:panels?|images?|row|column|side))?\s?(?=[:,)])",
    re.IGNORECASE,
)
_LEAD = re.compile(r"[.;:,]?\s")
_WORD_BEFORE = re.compile(r"[Pp](?:anel|art)s?\s?$|\(\s?$")
_JOINED = re.compile(r"\)?(?P<dash>\s?[–—‐‑−-]\s?|\sto\s)\(?|\)?\s?(?:,|&|and|,\sand)?\s?\(?")


def words_of(caption: str, panels: Sequence[Panel], panel: Panel) -> tuple[str, str]:
    """What a caption says of all its panels, '' when it begins with one, and of this panel."""
    return caption[: min(one.start for one in panels)].rstrip(), caption[panel.start : panel.end]


def find_panels(figure_id: str, caption: str, emphasis: Sequence[Emphasis] = ()) -> tuple[Panel, ...]:
    """The panels a caption names, each with the span of its sub-caption; () for a single-panel figure.

    Args:
        figure_id: id of the figure.
        caption: the caption.
        emphasis: its inline markup, for bold panel letters without brackets.

    Returns:
        Panels in order of the letters. Panels named together ("(A–C)") share one span.
    """
    best = _best(caption, emphasis)
    if sum(len(marker.letters) for marker in best) < 2:
        best = _positions(caption)
        found = zip(best, spans_of(caption, best), strict=True)
        named = [(letter, span) for marker, span in found for letter in marker.letters]
    else:
        found = zip(best, spans_of(caption, best), strict=True)
        named = sorted((letter, span) for marker, span in found for letter in marker.letters)
    return tuple(
        Panel(id=panel_id(figure_id, letter.replace(" ", "-")), letter=letter, start=start, end=end)
        for letter, (start, end) in named
    )


def _best(caption: str, emphasis: Sequence[Emphasis]) -> list[Marker]:
    """The markers that name most panels; those of an outer list before those of lists inside its items."""
    chosen = [_sequence(candidates) for candidates in _candidates(caption, emphasis)]
    chosen = [markers for markers in chosen if sum(len(marker.letters) for marker in markers) > 1]
    if not chosen:
        return []
    best = max(chosen, key=lambda markers: sum(len(marker.letters) for marker in markers))
    outer = [
        markers
        for markers in chosen
        if markers[0].start < best[0].start and (not markers[0].start or markers[-1].start > best[0].start)
    ]
    return min(outer, key=lambda markers: markers[0].start) if outer else best


def _candidates(caption: str, emphasis: Sequence[Emphasis]) -> Iterable[list[Marker]]:
    """Possible markers of each style, the most explicit style first."""
    begins = {letter for letter, first in _FIRST.items() if first.search(caption)}
    for style in _STYLES:
        if style.needs[-1] not in begins or not all(map(caption.__contains__, style.needs)):
            continue
        first = style.first.match(caption) if style.first else None
        later = style.later.finditer(caption, first.end() if first else 0)
        found = [_marker(caption, match) for match in (first, *later) if match]
        yield _joined(caption, [marker for marker in found if marker is not None])
    bold = [part for part in emphasis if part.kind == "bold"]
    yield [
        _with_brackets(caption, Marker(part.start, part.end, letters))
        for part in bold
        if (letters := letters_of(caption[part.start : part.end].rstrip(".,: ")))
    ]


def _with_brackets(caption: str, marker: Marker) -> Marker:
    """A bold letter with the brackets around it."""
    is_opened = caption[: marker.start].endswith("(") and caption[marker.end : marker.end + 1] == ")"
    return Marker(marker.start - is_opened, marker.end + is_opened, marker.letters)


def _marker(caption: str, found: re.Match[str]) -> Marker | None:
    """A marker, without the end of the sentence before it, up to its closing bracket."""
    lead = _LEAD.match(found.group())
    start, end = found.start() + (lead.end() if lead else 0), found.end()
    letters = letters_of(found.group("letters") or found.group().rstrip(") "))
    is_opened = "(" in caption[start:end]
    if not is_opened and ")" in caption[start:end] and _is_inside_brackets(caption, start):
        return None
    if is_opened and ")" not in caption[start:end]:
        end = _closing(caption, end)
    while (before := _WORD_BEFORE.search(caption, max(start - 8, 0), start)) is not None:
        start = before.start()
    return Marker(start, end, letters)


def _is_inside_brackets(caption: str, position: int) -> bool:
    return caption.count("(", 0, position) > caption.count(")", 0, position)


def _closing(caption: str, position: int) -> int:
    """After the bracket that closes an opened one; `position` when none does before the next opens."""
    end = caption.find(")", position)
    return position if end < 0 or "(" in caption[position:end] else end + 1


def _joined(caption: str, markers: Sequence[Marker]) -> list[Marker]:
    """Neighbours with nothing between but "and" or a dash as one: "(a) and (b)", "(g)–(i)"."""
    joined: list[Marker] = []
    for marker in markers:
        last = joined[-1] if joined else None
        link = _JOINED.fullmatch(caption, last.end, marker.start) if last else None
        if last is None or link is None or max(last.letters, default="") >= min(marker.letters, default=""):
            joined.append(marker)
            continue
        letters = fill(last.letters, marker.letters) if link.group("dash") else marker.letters
        is_double = caption.startswith("((", last.start) and caption.startswith(")", marker.end)
        joined[-1] = Marker(last.start, marker.end + is_double, tuple(sorted({*last.letters, *letters})))
    return joined


def _sequence(candidates: Sequence[Marker]) -> list[Marker]:
    """The markers that continue A, B, C, … without a gap; repeated and wild ones are left out.

    A list of letters may come before its turn, "(a, c) … (b, d)", if in the end none is missing.
    """
    strict = _in_turn(candidates, is_strict=True)
    free = _in_turn(candidates, is_strict=False)
    letters = {letter for marker in free for letter in marker.letters}
    is_whole = letters == {chr(ord("A") + at) for at in range(len(letters))}
    return free if is_whole and len(letters) > sum(len(marker.letters) for marker in strict) else strict


def _in_turn(candidates: Iterable[Marker], *, is_strict: bool) -> list[Marker]:
    chosen: list[Marker] = []
    seen: set[str] = set()
    following = "A"
    for marker in candidates:
        while following in seen:
            following = chr(ord(following) + 1)
        is_turn = list(marker.letters) == [chr(ord(following) + at) for at in range(len(marker.letters))]
        is_list = not is_strict and len(marker.letters) > 1 and not seen & set(marker.letters)
        if marker.letters and (is_turn or is_list):
            chosen.append(marker)
            seen.update(marker.letters)
    return chosen


def _positions(caption: str) -> list[Marker]:
    """Panels named by place (Left, Upper right); at least two different ones."""
    markers: dict[str, Marker] = {}
    for found in _POSITION.finditer(caption):
        word = re.sub(r"[\s-]+", " ", found.group("word").lower()).replace("centre", "center")
        lead = _LEAD.match(found.group())
        start = found.start() + (lead.end() if lead else 0)
        is_closed = caption.startswith("(", start) and caption.startswith(")", found.end())
        markers.setdefault(word, Marker(start, found.end() + is_closed, (word,)))
    return list(markers.values()) if len(markers) > 1 else []
