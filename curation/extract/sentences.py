"""Sentence spans of scientific text, aware of its abbreviations, initials, decimals and citation numbers.

Rule-based and deterministic. Offsets are kept: every span is a slice of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right

Span = tuple[int, int]

_CANDIDATE = re.compile(
    # The first character stands alone so that the search skips to it; the branches look back at it.
    r"[.!?…。！？](?:(?<=[.!?…])[.!?…]*[\"'”’»)\]]*"
    # numbers of references, flat, raised or in brackets: "seen.16 The", "seen.¹⁶⁻¹⁸ The", "seen.[16,17] The"
    r"(?:(?<![\d.]\.)\d{1,3}(?:\s?[,–-]\s?\d{1,3})*|[⁽⁾⁻⁰¹²³⁴-⁹]+(?:[\s,–-]{1,3}[⁽⁾⁻⁰¹²³⁴-⁹]+)*"
    r"|\[\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\]|\(\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\))?"
    r"(?P<gap>\s+)(?=[\"'“‘«(\[¿¡]*[\w¿¡])"
    r"|(?<=[。！？])[。！？]*[”’」』）]*(?=\S))"
)


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_NEVER = _words(
    """
    fig figs abb tab tabl table eq eqs eqn ref refs no nos vol pp pg p ch sec sect suppl supp dr prof mr
    mrs ms st vs cf ca approx resp sp spp ssp subsp var cv gen nov e.g i.e viz incl excl dept univ num núm
    nº art inc ltd corp bzw z.b d.h vgl ggf u.a s.o sog p.ej v.g ex рис табл см т.е т.к г др стр им sra
    sr drs min max avg temp ed eds trans rev
    """
)
"""Abbreviations after which a sentence practically never ends."""
_SOMETIMES = _words(
    """
    al etc jr mg ml kg cm mm i.v p.o s.c i.m b.i.d t.i.d u.s u.k e.u ph.d m.d a.m p.m h hr hrs wk mo yr
    co
    """
)
"""Abbreviations that may also end a sentence: they do when a typical first word follows."""
_UNITS = _words("mg ml kg cm mm min h hr hrs wk mo yr a.m p.m")
"""Units and hours: behind a number or a stroke ("56 mL/min") the stop ends the sentence too."""
_STARTERS = _words(
    """
    the in this these those we it however a an he she they his her our their although after before on at
    for as to when there further furthermore moreover therefore thus finally since while during one all
    no patients both il la le les el los las o os as em en der die das ein eine nach bei im um uma un
    une
    """
)
_WORD_BEFORE = re.compile(r"[^(\[“\"'/]+$")
_FIRST_WORD = re.compile(r"\W*(\w+)")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_¹²³⁰⁴-⁹₀-₉]")
_MEASURED = re.compile(r"(?:\d\s?|/)[a-zA-Z.]+$")
_PER = re.compile(r"[^\W\d_]/[A-Z]$")
"""A capital behind a stroke is a unit, and no initial: "0.05 g/L.", "55 U/L."."""
_LETTERED = re.compile(
    r"(?:^|\s)(?!(?:and|the|with|from|for|that|his|her|our|thank|por|par|von|van|los|las|den|der|des)\s)"
    r"[^\W\d_A-Z]{3,}[\s-][A-Z]$"
)
"""A capital that tells kinds of a thing apart, and is no initial: "group A.", "hepatitis B.", "factor V."."""
_NO_NAME = re.compile(r"[^\W\d_][a-z]+(?:-[a-z]+)*(?:\s(?!et\s|and\s)[a-z]|(?<=ly),\s[a-z])")
"""What goes on as a sentence does, not as a surname does: "Homozygosity rates", "Interestingly, most"."""
_ENUMERATION = re.compile(r"(?:^|[.!?:;]\s|\()\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})$")


def sentence_spans(text: str) -> list[Span]:
    """Spans of the sentences of one paragraph, without the spaces between them.

    Returns:
        (start, end) pairs in order; together they cover all text but white space. What has no letter is no
        sentence but belongs to the one before: numbers of references, a year.
    """
    spans: list[Span] = []
    start = len(text) - len(text.lstrip())
    for found in _CANDIDATE.finditer(text):
        if _is_boundary(text, found):
            _add(spans, start, found.end() - len(found.group("gap") or ""), text)
            start = found.end()
    _add(spans, start, len(text.rstrip()), text)
    return spans


def _add(spans: list[Span], start: int, end: int, text: str) -> None:
    if end <= start:
        return
    if spans and not _LETTER.search(text, start, end):
        start = spans.pop()[0]
    spans.append((start, end))


def sentence_at(spans: list[Span], position: int) -> Span:
    """The sentence that holds `position`; the nearest one before it in the space between two."""
    index = bisect_right(spans, (position, len(spans) and spans[-1][1])) - 1
    return spans[max(index, 0)]


def _is_boundary(text: str, found: re.Match[str]) -> bool:
    if found.group("gap") is None:
        return True
    if text[found.end()].islower():  # by far the most frequent "no"
        return False
    following = _FIRST_WORD.match(text, found.end())
    if following is None or (word := following.group(1))[0].islower():
        return False
    if text[found.start()] != "." or text[found.start() + 1] == ".":
        return True
    before = _word_before(text, found.start())
    if not before or before[-1] in ")]" or _is_acronym(before, word):
        return True
    if word[0].isdigit() and len(before) == 1 and before.islower():  # "R v. 4.1"
        return False
    token = before.lower().rstrip(".")
    near = text[max(0, found.start() - 20) : found.start()]
    if token in _UNITS and word[0].isupper() and _MEASURED.search(near):
        return True
    if before == "no" and len(word) > 1 and word.lower() in _STARTERS:  # an answer, no number
        return True
    if token in _NEVER or _is_numbering(text, found.start(), near):
        return False
    is_initial = len(before) == 1 and before.isupper()
    if is_initial and (
        _PER.search(near) or (_LETTERED.search(near) and _NO_NAME.match(text, following.start(1)))
    ):
        return True
    if token in _SOMETIMES or is_initial or ("." in token and not _DIGIT.search(token)):
        return word.lower() in _STARTERS
    return True


def _is_acronym(before: str, word: str) -> bool:
    """Whether an acronym ends a sentence that looks like an abbreviation: "options in MM. Despite"."""
    return len(before) > 1 and before.isalpha() and before.isupper() and word[1:].islower()


def _is_numbering(text: str, end: int, near: str) -> bool:
    """Whether what ends at `end` numbers what follows ("2. The next"); the number of a "Fig. 2" does not."""
    number = _ENUMERATION.search(near)
    if number is None or not number.group().startswith("."):
        return number is not None
    return _word_before(text, end - len(number.group())).lower() not in _NEVER


def _word_before(text: str, end: int) -> str:
    """The word, at most 30 characters of it, that ends at `end`; '' after a space or an opening bracket."""
    window = text[max(0, end - 30) : end]
    if not window or window[-1].isspace():
        return ""
    found = _WORD_BEFORE.search(window.rsplit(None, 1)[-1])
    return found.group() if found else ""
