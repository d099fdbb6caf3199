"""What becomes of a bracket that holds pointers: it goes with them, or keeps what else it tells.

"(Fig. 2A, arrows)" goes whole; "(P = 0.02; Fig. 2, dashed line)" keeps its first part; "(TRT203 in Table 2)"
keeps a noun. Parts are told apart by semicolons and commas: what follows a pointer up to the semicolon
describes the figure, unless it holds figures of its own or a citation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from curation.extract.figure_nouns import needs_noun

Span = tuple[int, int]
Edit = tuple[int, int, str]
Noun = Callable[[Sequence[Span], int], str]

_POINTER, _NESTED = "\0", "\1"
_INNER = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SEGMENT = re.compile(r"[^;；]+")
_PART = re.compile(r"[^,，、]+")
_COLON_AFTER = re.compile(rf"(?<={_POINTER})(\s?)[:：]")
POSITION = r"left|right|upper|lower|top|bottom|middle|cent(?:er|re)"
_VISUAL = (
    rf"panels?|{POSITION}|white|black|red|blue|green|yellow|orange|purple"
    r"|gr[ae]y|dashed|dotted|solid|arrows?|arrowheads?|asterisks?|stars?|boxe?s?|circles?|lines?|curves?|bars?|rows?"
    r"|columns?|insets?|axis|symbols?|flechas?|flèches?|setas?|frecc[ei]a?|Pfeile?"
)
_FILLER = re.compile(
    rf"(?:[\s,;:&./–—‐†‡-]|\b(?:{_VISUAL}|and|or|see|also|e\.?g|i\.?e|cf|as|shown|in|illustrated|depicted|both"
    r"|online|available|view|videos?|only|respectively|et|y|e|und|ver|vide|véase|siehe|vgl|s|voir|vedi"
    r"|data not shown|the|of|to|for|with|from|between|about|compared?|refer|insert|here|further|more|example"
    r"|details?|supplement(?:(?:ary|al) (?:materials?|information|data|files?|videos?|movies?|figures?"
    r"|tables?|text|methods?|appendix))?|E?SI|appendix"
    r"|pp? ?\d+(?:[–-]\d+)?|и|см)\b|[见見参參如照])*",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s()\[\]]*[^\s()\[\].,;:]")
_PLACE = re.compile(rf"{_FILLER.pattern}|{_ADDRESS.pattern}", re.IGNORECASE)
"""What a bracket within one may hold and tell nothing by itself: "online", an address."""
_OWN_PLACE = re.compile(
    r"\b(?:parts?|panels?|rows?|columns?|lanes?|areas?|segments?|sections?|footnotes?|notes?|lines?|box|steps?|stages?"
    r"|labels?|sites?|pages?|pp?\.?|items?|models?|slides?|frames?|numbers?|nos?\.?|entr(?:y|ies)|sheets?"
    r"|Zeilen?|Spalten?|filas?|columnas?|linhas?|colunas?|lignes?|colonnes?|righ[ae]|colonn[ae])\s?[\da-f]+"
    r"(?:\s?(?:,|and|&|[–-])\s?\d+)*\b",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(rf"\b(?:{_VISUAL})\b|{_OWN_PLACE.pattern}", re.IGNORECASE)
_TELLS = re.compile(rf"[\d=<>±≤≥≈%\[⁰¹²³⁴-⁹{_NESTED}]|\b(?:et al|unless|except|without|not|than)\b")
"""Statistics, citations, what limits the sentence."""
_LIMITS = re.compile(rf"[=<>±≤≥≈%\[{_NESTED}]|\b(?:et al|unless|except|without|not|than)\b")
"""The same without numbers, where a part says "see": they count rows or patients there."""
_STATES = re.compile(r"\b(?:found|seen|once|twice|\w+ed)\b")
_RELATIVE = re.compile(r"\s*(?:which|who|where|as|that|que|qui|che|où|wobei|welche)\b", re.IGNORECASE)
_REFERS = re.compile(r"\s*(?:see|cf\.?|compare|refer to|ver|véase|voir|siehe|vgl\.|vedi)\s", re.IGNORECASE)
"""So begins a part that tells nothing but where to look."""
_SEE_ALSO = re.compile(r"\s*(?:see|cf\.?|ver|véase|voir|siehe|vgl\.|vedi)\s[^\d=<>%\[]*", re.IGNORECASE)
_LEADS = re.compile(rf"{_FILLER.pattern}(?:\b[A-H](?:\s?(?:[–-]|and)\s?[A-H])?\b)?\s*", re.IGNORECASE)
"""What goes with the pointer behind it: "see", "arrows", "panels A-C"."""
_MARKS = re.compile(r"\s*(?:[^\W\d]+\s)?(?:arrow(?:head)?|asterisk|star|circle)s?\s*")
_FOR, _SEE = re.compile(r"\s*for\s[^\d=<>%\[]*$", re.IGNORECASE), re.compile(r"\s*(?:see|cf\.?)\s")
"""Marks in an image, and what a pointer is given for: "double arrow, Fig. 2", "for images, see Fig. 5"."""
_OF_A_PANEL = re.compile(r"\s*\(?[A-Ha-h](?:\)|\s?[,:=])\s")
"""What goes on telling panels: "(Fig. 3: A, axial; B, coronal)"."""
_STAIN = re.compile(r"\bH\s?(?:and|&)\s?E\b")
"""Haematoxylin and eosin, no panels."""
_LETTER = re.compile(r"\b[A-Za-z]\b")
_DASH_BEFORE = re.compile(rf"(?<=[A-Z]{{2}})(\s?)[–—-](?=\s?{_POINTER})")
"""Between a short form and its figure, "(APD-Fig. 1A)": the short form stays."""
_AVAILABLE = re.compile(
    r"\s*(?:(?:also|both|all|freely)\s)?(?:(?:is|are)\s)?(?:(?:available|accessible|found|published|provided)"
    r"(?:\sonline|\sfree(?:ly)?)?\s(?:at|in|from|on|via|as|through|with)|disponib(?:le|les|ile|ili)\s(?:en|sur|dans|su)"
    r"|dispon[íi]ve(?:l|is)\s(?:em|no|na)|(?:online\s)?(?:verfügbar|abrufbar)\s(?:unter|auf))\b",
    re.IGNORECASE,
)
"""Where what the pointer names is to be had."""
_AND_WITHOUT = re.compile(r"\s(?:and|or)\s(?:\w+\s)?without\b")
"""The noun comes later: "one with (Fig. 3A) and one without neuropathy"."""
_WORD = re.compile(r"\w[\w’'-]*")
_STOP = re.compile(r"\s*[.,;:](?!\w)")
_SPACE_AND_MARK = re.compile(r"\s+(?=[.,)\]](?!\w))")
_MAX_AROUND = 3
"""Words that may go with a pointer: "white arrow in Fig. 3"."""
_MAX_DESCRIPTION = 2
"""Words that may go behind one when they name nothing to be seen."""


class _Part(NamedTuple):
    start: int
    end: int
    is_kept: bool
    takes_noun: bool


def bracket_edits(
    text: str, group: Span, inside: Sequence[Span], noun: Noun, language: str, before: str
) -> list[Edit]:
    """Edits for one bracket.

    Args:
        text: the text.
        group: the bracket with the space before it.
        inside: the pointers in it.
        noun: gives the noun phrase for neighbouring pointers, from them and where it is to stand.
        language: of the text.
        before: the released text up to the bracket.
    """
    opening = group[0] + len(text[slice(*group)]) - len(text[slice(*group)].lstrip())
    first, last = opening + 1, group[1] - 1
    edits: list[Edit] = []
    free = list(inside)
    mask = list(text[first:last])
    nested: list[Span] = []
    for inner in _INNER.finditer(text, first, last):
        if any(
            start < inner.end() and inner.start() < end and not _within((start, end), inner.span())
            for start, end in inside
        ):
            continue
        nested.append(inner.span())
        shown = " " if _PLACE.fullmatch(inner.group()[1:-1]) else _NESTED
        mask[inner.start() - first : inner.end() - first] = shown * (inner.end() - inner.start())
        held = [span for span in inside if _within(span, inner.span())]
        if held:
            begins = inner.start() - (text[inner.start() - 1] == " ")
            made = bracket_edits(text, (begins, inner.end()), held, noun, language, text[:begins])
            if _is_all(text, inner.span(), (first, last)) and [edit[2] for edit in made] == [""]:
                return [removed_bracket(text, group, before)]  # a bracket in a bracket: "[(Fig. 1)]"
            edits += made
            free = [span for span in free if span not in held]
    for start, end in free:
        mask[start - first : end - first] = _POINTER * (end - start)
    for address in _ADDRESS.finditer(text, first, last) if free else ():
        mask[address.start() - first : address.end() - first] = " " * len(address.group())
    parts = (
        list(_parts(_DASH_BEFORE.sub(r"\1,", _COLON_AFTER.sub(r"\1,", "".join(mask))), first))
        if free
        else [_Part(first, last, True, False)]
    )
    if not any(part.is_kept for part in parts):
        is_asked = needs_noun(text[max(0, group[0] - 12) : group[0]], language)
        if is_asked and not _AND_WITHOUT.match(text, group[1]):
            return [(opening, group[1], noun(free, opening))]
        return [removed_bracket(text, group, before)]
    for part in parts:
        if part.takes_noun:
            edits += [(run[0][0], run[-1][1], noun(run, run[0][0])) for run in _runs(text, free, part)]
    return edits + list(_cuts(text, parts, first, last))


def removed_bracket(text: str, group: Span, before: str) -> Edit:
    """A whole bracket, with what would be left over around it: its space, a second stop, a comma before one.

    Args:
        text: the text.
        group: the bracket with the space before it.
        before: the released text up to it.
    """
    start, end = group
    opening = start + len(text[start:end]) - len(text[start:end].lstrip())
    if not before.strip() or before.endswith("\n"):
        return (opening, _after(r"(?:\s*[.,;:](?!\w))?\s*", text, end), "")
    if before.endswith(("(", "[")):
        return (start, _after(r"\s*[,;:]?\s*", text, end), "")
    if before.endswith((".", "!", "?")) and (stop := _STOP.match(text, end)):
        return (start, stop.end(), "")
    if space := _SPACE_AND_MARK.match(text, end):
        end = space.end()
    follows = text[end : end + 1]
    if before.endswith((",", ";", ":")) and follows in {",", ";"} and follows:
        return (start, end + 1, "")
    if before.endswith((",", ";", ":")) and text[start - 1] == before[-1] and follows in {".", ")", "]"}:
        return (start - 1, end, "")
    is_glued = follows.isalnum() or follows == "("
    if is_glued and ord(follows) < 0x2E00 and ord(before[-1]) < 0x2E00 and not before[-1].isspace():
        return (start, end, " ")
    return (start, end, "")


def _is_all(text: str, inner: Span, whole: Span) -> bool:
    """Whether nothing but space stands around a stretch within another."""
    return not f"{text[whole[0] : inner[0]]}{text[inner[1] : whole[1]]}".strip()


def _after(pattern: str, text: str, at: int) -> int:
    found = re.compile(pattern).match(text, at)
    return found.end() if found else at


def _within(span: Span, other: Span) -> bool:
    return other[0] <= span[0] and span[1] <= other[1]


def _runs(text: str, spans: Sequence[Span], part: _Part) -> Iterator[list[Span]]:
    """Pointers of one part, those joined by nothing but "and" together."""
    run: list[Span] = []
    for span in spans:
        if not _within(span, (part.start, part.end)):
            continue
        if run and not re.fullmatch(r"\s*(?:and|&|or|und|et|y|e|to|[–-])\s*", text[run[-1][1] : span[0]]):
            yield run
            run = []
        run.append(span)
    if run:
        yield run


def _parts(mask: str, first: int) -> Iterator[_Part]:
    """Parts of a bracket, of which pointers are masked, and what becomes of each."""
    has_dropped = False
    for segment in _SEGMENT.finditer(mask):
        if _POINTER not in segment.group():
            is_panel = _OF_A_PANEL.match(segment.group()) and not _tells(segment.group())
            is_kept = not (has_dropped and (is_panel or _FILLER.fullmatch(segment.group())))
            yield _Part(first + segment.start(), first + segment.end(), is_kept, False)
            continue
        for part in _segment_parts(mask, segment.span()):
            has_dropped = has_dropped or not part.is_kept
            yield _Part(first + part.start, first + part.end, part.is_kept, part.takes_noun)


def _segment_parts(mask: str, segment: Span) -> list[_Part]:
    """Parts of one segment that holds a pointer, as offsets in the mask."""
    spans = [found.span() for found in _PART.finditer(mask, *segment)]
    head = next(at for at, span in enumerate(spans) if _POINTER in mask[slice(*span)])
    later = " ".join(mask[slice(*span)] for span in spans[head + 1 :]).replace(_POINTER, "")
    refers = _REFERS.match(mask, spans[head][0]) is not None
    refers = refers and not any(_RELATIVE.match(mask, start) for start, _ in spans[head + 1 :])
    tells = _tells(later) or _STATES.search(later) is not None
    if refers:
        tells = _LIMITS.search(later) is not None
    parts: list[_Part] = []
    for at, (start, end) in enumerate(spans):
        piece = mask[start:end]
        rest = piece.replace(_POINTER, "")
        is_filler = _FILLER.fullmatch(rest) is not None
        if _POINTER in piece:
            around = len([word for word in _WORD.findall(rest) if not _FILLER.fullmatch(word)])
            goes = is_filler or (around <= _MAX_AROUND and not _tells(rest))
            follows = mask[spans[at + 1][0] : segment[1]] if at + 1 < len(spans) else ""
            goes = goes and not _RELATIVE.match(follows.replace(_POINTER, ""))
            parts.append(_Part(start, end, not goes, not goes))
        elif at < head:
            is_next = all(_LEADS.fullmatch(mask[slice(*span)]) for span in spans[at:head])
            is_asked = _FOR.match(piece) and _SEE.match(mask, spans[head][0])
            is_next = is_next or bool(is_asked or _MARKS.fullmatch(piece))
            parts.append(_Part(start, end, not is_next, False))
        else:
            is_short = not tells and (refers or len(_WORD.findall(rest)) <= _MAX_DESCRIPTION)
            is_aside = is_filler or is_short or _describes(rest) or _AVAILABLE.match(piece) is not None
            goes = is_aside and not parts[-1].is_kept
            parts.append(_Part(start, end, not goes, False))
    if parts[head].is_kept:  # and what leads to it: "see, e.g., the figure of Smith et al."
        parts[:head] = [part._replace(is_kept=True) for part in parts[:head]]
    return parts


def _tells(rest: str) -> bool:
    return _TELLS.search(_OWN_PLACE.sub("", rest)) is not None


def _describes(rest: str) -> bool:
    """Whether a part speaks of what is to be seen, and of nothing else that counts."""
    if _SEE_ALSO.fullmatch(rest) or (not _STAIN.search(rest) and _FILLER.fullmatch(_LETTER.sub("", rest))):
        return True
    return _DESCRIBES.search(rest) is not None and not re.search(
        r"[\d=<>±%\[]|et al", _OWN_PLACE.sub("", rest)
    )


def _cuts(text: str, parts: Sequence[_Part], first: int, last: int) -> Iterator[Edit]:
    """Takes out the parts that go, each with one separator."""
    at = 0
    while at < len(parts):
        if parts[at].is_kept:
            at += 1
            continue
        begin = at
        while at < len(parts) and not parts[at].is_kept:
            at += 1
        if begin == 0:
            start, end = first, parts[at].start
            end += len(text[end : parts[at].end]) - len(text[end : parts[at].end].lstrip())
        else:
            before = text[parts[begin - 1].start : parts[begin - 1].end]
            start = parts[begin - 1].end - (len(before) - len(before.rstrip()))
            end = last if at == len(parts) else parts[at - 1].end
        yield (start, end, "")
