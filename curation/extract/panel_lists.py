"""Reads the panel letters after a figure number: "2A", "2A–C", "2a, b and d", "2 (A and C)", "2, panel A".

The same words of a text can be a panel or prose ("Fig. 2, a patient"), so every step is guarded.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence

Span = tuple[int, int]

_DASH = "–—‐‑−-"
_ATTACHED = re.compile(
    r"(?P<letters>[A-Z]{1,5}|[a-h]{1,4}|[a-z])(?P<sub>[ivx]{1,4}|[1-9]|['′])?(?![A-Za-zÀ-ɏ0-9])"
)
_SPACED = re.compile(
    r"(?:\s|\s?[:,]\s?)(?:(?P<word>[Pp]anels?"
    r"|[Pp]arts?)\s)?(?P<letters>[A-Za-z])(?:[1-9](?=[),;]))?(?![A-Za-zÀ-ɏ0-9'’])"
)
_DASHED = re.compile(rf"[{_DASH}](?P<letters>[A-Ha-h])(?![A-Za-zÀ-ɏ0-9{_DASH}])")
_GROUPED = re.compile(
    rf"\s?[(\[]\s?(?:[Pp]anels?\s)?(?P<letters>[A-Za-z](?:\s?(?:,|;|&|/|[{_DASH}]|and|et|und|to|y|e)\s?(?:and\s)?[A-Za-z](?![A-Za-zÀ-ɏ]))*)\s?[)\]]"
)
_CLOSED = re.compile(
    rf"\s*(?:[),;.:\]]|[{_DASH}]\s?[A-Za-z](?![A-Za-zÀ-ɏ])|(?:and|&|et|und|y|e|to|through)\s[A-Za-z](?![A-Za-zÀ-ɏ])|$)"
)
_MORE = re.compile(
    rf"(?:(?P<range>\s?[{_DASH}]\s?|\s(?:to|through)\s)|\s?[,/、]\s?(?:(?:and|&)\s)?|\s(?:and|&|et|und|y|e|и|or)\s|&)"
    rf"(?:[Pp]anels?\s)?(?P<letter>[A-Za-z])(?P<sub>[ivx]{{1,4}}|[1-9])?(?![A-Za-zÀ-ɏ0-9'’]|[{_DASH}][A-Za-z]{{2}}|\s?[=<>])"
)
_ONLY_LETTERS = re.compile(
    r"\W*(?:[Pp]anels?\s)?([A-Za-z](?:\s?(?:,|;|&|/|[–—‐‑−-]|and|to)\s?(?:and\s)?[A-Za-z](?![A-Za-zÀ-ɏ]))*)\W*"
)
_TOKEN = re.compile(rf"[A-Za-z]+|[{_DASH}]")
_STAIN = re.compile(r"[\s,:;(]+H\s?(?:and|&)\s?E\b")
"""Haematoxylin and eosin: panels would stand in their order."""
_MAX_GAP = 8
"""Letters further apart than this are not one list of panels ("Fig. 1A, P < 0.05")."""


def panels_after(
    text: str, position: int, *, links: Sequence[Span], letters: Collection[str]
) -> tuple[tuple[str, ...], int]:
    """Panel letters (upper case, sorted) that start at `position`, and the offset after them.

    Args:
        text: the text.
        position: offset after the figure's number.
        links: spans of figure cross-references; a letter inside one is a panel.
        letters: panel letters known from the captions; they make a single "(a)" a panel.
    """
    if _STAIN.match(text, position):
        return (), position
    grouped = _GROUPED.match(text, position)
    if grouped and _is_group(grouped, letters):
        return _spread(grouped.group("letters")), grouped.end()
    found = _attached(text, position) or _spaced(text, position, links)
    if found is None:
        return (), position
    first, end = found
    return _continued(text, first, end)


def letters_of(text: str) -> tuple[str, ...]:
    """Panel letters of a text that is only letters and separators ("A", "(B–D)", "a and c"); else ()."""
    if len(text) == 1:  # by far the most frequent
        return (text.upper(),) if text.isascii() and text.isalpha() else ()
    found = _ONLY_LETTERS.fullmatch(text)
    return _spread(found.group(1)) if found else ()


def fill(first: tuple[str, ...], last: tuple[str, ...]) -> tuple[str, ...]:
    """Panels from the last of `first` to the first of `last`: "4(a)–4(d)"."""
    if not first or not last:
        return last
    return tuple(sorted({*last, *_between(first[-1], last[0])}))


def _is_group(found: re.Match[str], letters: Collection[str]) -> bool:
    inner = found.group("letters")
    if len(inner) > 1:
        return True
    return not found.group().startswith((" ", "\u00a0")) or inner.upper() in letters


def _spread(inner: str) -> tuple[str, ...]:
    """Letters of "A–C, E" with ranges filled."""
    found: set[str] = set()
    previous, is_range = "", False
    for token in _TOKEN.findall(inner):
        if token in _DASH or token == "to":
            is_range = True
        elif len(token) == 1:
            letter = token.upper()
            found |= _between(previous, letter) if is_range and previous else {letter}
            previous, is_range = letter, False
    return tuple(sorted(found))


def _between(first: str, last: str) -> set[str]:
    if not 0 < ord(last) - ord(first) <= 25:
        return {first, last}
    return {chr(code) for code in range(ord(first), ord(last) + 1)}


def _attached(text: str, position: int) -> tuple[str, int] | None:
    found = _ATTACHED.match(text, position)
    if found is None:
        return None
    run = found.group("letters")
    if any(a >= b for a, b in itertools.pairwise(run)):
        return None
    return run, found.end()


def _spaced(text: str, position: int, links: Sequence[Span]) -> tuple[str, int] | None:
    dashed = _DASHED.match(text, position)
    if dashed:
        return dashed.group("letters"), dashed.end()
    found = _SPACED.match(text, position)
    if found is None:
        return None
    at = found.start("letters")
    is_sure = bool(found.group("word")) or any(start <= at < end for start, end in links)
    if not is_sure and not _CLOSED.match(text, found.end()):
        return None
    if not is_sure and found.group("letters").islower() and text[found.end() : found.end() + 1] in {".", ":"}:
        return None
    return found.group("letters"), found.end()


def _continued(text: str, first: str, end: int) -> tuple[tuple[str, ...], int]:
    """Follow ", B", " and C", "–D" as long as the letters rise and keep their case."""
    found = {letter.upper() for letter in first}
    previous = first[-1]
    while (more := _MORE.match(text, end)) is not None:
        letter = more.group("letter")
        is_range = more.group("range") is not None
        limit = 25 if is_range else _MAX_GAP
        if letter.isupper() != previous.isupper() or not 0 < ord(letter) - ord(previous) <= limit:
            break
        found |= _between(previous.upper(), letter.upper()) if is_range else {letter.upper()}
        previous, end = letter, more.end()
    return tuple(sorted(found)), end
