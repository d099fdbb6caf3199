"""Abbreviations a document defines, and where it uses them (Schwartz and Hearst, PSB 2003, pp. 451-462).

"chronic kidney disease (CKD)" and "CKD (chronic kidney disease)" are read by aligning the short form's
letters with the long form's from right to left. To the paper's constraints come refusals for what stands in
brackets in articles without being an abbreviation: figure numbers, Roman numerals, units, values.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from curation.extract.sentences import sentence_spans

_CLOSE = r"[)\]）］]"
_ONE_WORD = r"[^\W_][\w+./&'’‑–-]{0,8}[\w+]"
_TWO_WORDS = r"[A-Z][\w-]{1,6} [A-Z\d]{1,3}(?!\w)"
_SHORT = f"(?:{_TWO_WORDS}|{_ONE_WORD})"
_BRACKETED_SHORT = re.compile(
    rf"[(\[（［]\s{{0,2}}[\"'“‘]?(?P<short>{_SHORT})[\"'”’]?(?=\s{{0,2}}(?:{_CLOSE}|[,;:=(\[（])|\s[\d<>≤≥])"
)
_BRACKETED_LONG = re.compile(rf"[(\[（［](?P<long>[^()\[\]（）［］]{{5,160}}){_CLOSE}")
_SHORT_BEFORE = (
    re.compile(rf"(?<![\w-])(?P<short>{_ONE_WORD})\s?$"),
    re.compile(rf"(?<![\w-])(?P<short>{_TWO_WORDS})\s?$"),
)
_BARRIERS = (*"()[]（）［］;；。•|<>=", ": ")
_FIRST_PART = re.compile(r"[,;:=]")
_WORD = re.compile(r"\S+")
_TOKEN = re.compile(r"[^\W_]+")
_PARTS = re.compile(rf"({_TOKEN.pattern})")
_DECLARED = re.compile(r"\s*(?P<short>[^=]+?)\s*=\s*(?P<long>.+)")
_ROMAN = re.compile(r"(?:I{2,3}|IV|VI{0,3}|IX|XI{0,3}|XI?V|XVI{0,3})[ab]?", re.IGNORECASE)
_LEAD_IN = re.compile(r"(?:i\.e\.,?|or|also called|also known as|the|an?)\s+", re.IGNORECASE)
_WINDOW = 320
"""Characters before a bracket that can hold a long form; bounds the work on hostile text."""


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_NO_SHORT = _words(
    """
    Fig Figs FIG Figure Figures Tab Table Tables Ref Refs Eq Eqs Eqn Box Panel Panels Appendix Suppl
    Supplementary Sect Section Chapter Video Movie File Scheme Plate Note Case Cases Patient Patients
    Group Grade Stage Type
    mL dL cL kDa Da mmHg kPa Pa Hz kHz MHz GHz Gy cGy mSv kV kVp mA mAs IU mEq mOsm kg/m2 kcal kJ mW cmH2O
    As In It He She We No On At An Or If So To By Is Be Am Do Go Me My Up Us The And For Not But All Was Are
    Of See From With This That Et Ed Eds Vol Inc Ltd Co Corp USA UK
    """
)
"""What opens a bracket without being a short form, units, and words mistaken for short forms."""
_NUMBER = re.compile(r"(?<=[^\W\d]{2})[-‑–]\d{1,4}$")
FUNCTION = _words(
    """
    a an the of in on at by to for from with without and or as is are was were be been we our their its this
    these that which who such than but if into using via between among during after before not had has have
    de da do das dos del la el los las le les des du e y et und der die das den dem des von mit em en na no
    um uma
    """
)
"""Words no long form begins with, and no name goes on with behind a short form."""


_LATIN = re.compile(r"in\s(?:vitro|vivo|situ|utero|silico|ovo)\b", re.IGNORECASE)
"""Terms that begin with such a word."""
_DIGRAPH = re.compile(r"[oa]e|[œæ]", re.IGNORECASE)
"""What British spelling begins a word with whose short form has the American letter: oestrogen (ER)."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One short form and what it stands for, with offsets of both in the text that defines it."""

    short_start: int
    short_end: int
    long_start: int
    long_end: int
    short: str
    long: str


_Entry = tuple[int, int, Definition]
"""A definition behind the place of its text in the document and that of its short form in the text."""


def definitions(text: str) -> list[Definition]:
    """Short forms a text defines, "long (SHORT)" and "SHORT (long)", in the order of their short forms.

    Args:
        text: one passage or caption; time is linear in its length whatever it holds.
    """
    spans: list[tuple[int, int]] | None = None
    found: dict[int, Definition] = {}
    for match in _BRACKETED_SHORT.finditer(text):
        if not _is_short(match["short"]):
            continue
        spans = sentence_spans(text) if spans is None else spans
        floor = spans[bisect_right(spans, (match.start(), len(text))) - 1][0]
        if (definition := _long_before(text, match, floor)) is not None:
            found[definition.short_start] = definition
    for match in _BRACKETED_LONG.finditer(text):
        for form in _SHORT_BEFORE:
            before = form.search(text, max(0, match.start() - 16), match.start())
            if before is not None and _is_short(before["short"]):
                definition = _long_inside(text, before, match)
                if definition is not None:
                    found.setdefault(definition.short_start, definition)
    return [found[start] for start in sorted(found)]


def _is_short(short: str) -> bool:
    """Whether a string has the form of an abbreviation: 2 to 10 characters, a capital, no number or unit."""
    if short in _NO_SHORT or short.split()[0] in _NO_SHORT or not 2 <= len(short) <= 10:
        return False
    capitals = sum(character.isupper() for character in short)
    letters = sum(character.isalpha() for character in short)
    is_word = short[1:].isalpha() and short[1:].islower() and len(short) > 3
    return capitals > 0 and letters > 1 and not is_word


def _long_before(text: str, match: re.Match[str], floor: int) -> Definition | None:
    """The definition whose long form ends at a bracket, searched no further back than `floor`."""
    short, end = match["short"], _without_space(text, match.start())
    start = max(floor, end - _WINDOW)
    if end - start < 3 or text[end - 1] in _BARRIERS:
        return None
    start = max(start, *(text.rfind(barrier, start, end) + 1 for barrier in _BARRIERS))
    words = list(_WORD.finditer(text, start, end))[-_word_limit(short) :]
    if not words:
        return None
    best: tuple[float, int] | None = None
    for form in _forms(short):
        at = _align(form, text, words[0].start(), end)
        if at is not None:
            at = _by_initials(form, text, words[0].start(), at, end)
            score = _believe(form, text[at:end])
            if score and (best is None or score > best[0]):
                best = (score, at)
    if best is None:
        return None
    return Definition(*match.span("short"), best[1], end, short, text[best[1] : end])


def _by_initials(short: str, text: str, floor: int, found: int, end: int) -> int:
    """A start from which every letter is an initial, or `found`: "maintenance medium (MM)", not "medium"."""
    letters = [_fold(character) for character in short if character.isalnum()]
    words = list(_TOKEN.finditer(text, floor, end))
    for chosen in (words, [word for word in words if word.group() not in FUNCTION]):
        last = chosen[-len(letters) :]
        if [_fold(word.group()[0]) for word in last] == letters:
            start = last[0].start()
            if last[0].group() not in FUNCTION or _LATIN.match(text, start):
                return min(found, start)
    return found


def _long_inside(text: str, before: re.Match[str], match: re.Match[str]) -> Definition | None:
    """The definition whose long form fills a bracket, up to its first comma or semicolon."""
    short, (start, end) = before["short"], match.span("long")
    if (lead := _LEAD_IN.match(text, start, end)) is not None:
        start = lead.end()
    if (cut := _FIRST_PART.search(text, start, end)) is not None:
        end = cut.start()
    end = max(start, _without_space(text, end))
    inner = text[start:end]
    if not 1 <= len(inner.split()) <= _word_limit(short) or len(inner) <= len(short) + 2:
        return None
    for form in _forms(short):
        if _align(form, text, start, end) == start and _believe(form, inner):
            return Definition(*before.span("short"), start, end, short, inner)
    return None


def _without_space(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _word_limit(short: str) -> int:
    """Words a long form may have: min(|A| + 5, 2 |A|), the paper's bound."""
    size = sum(character.isalnum() for character in short)
    return min(size + 5, size * 2)


def _forms(short: str) -> list[str]:
    """A short form as written, the singular of a plural ("CTs"), and without its number ("COVID-19")."""
    return list(dict.fromkeys((short, _singular(short), _NUMBER.sub("", short))))


def _singular(short: str) -> str:
    return short[:-1] if len(short) > 2 and short[-1] == "s" and short[-2].isupper() else short


def _fold(character: str) -> str:
    """A letter without case and accent, Greek ones as the Latin letter their names begin with."""
    if character.isascii():
        return character.lower()
    plain = unicodedata.normalize("NFD", character)[0].lower()
    return _GREEK.get(plain, plain)


_GREEK = {"α": "a", "β": "b", "γ": "g", "δ": "d", "ε": "e", "κ": "k", "λ": "l", "μ": "m", "σ": "s", "ω": "o"}


def _align(short: str, text: str, floor: int, end: int) -> int | None:
    """Start of the shortest long form in text[floor:end] that holds the letters of `short` in order.

    The first letter begins a word, and not a function word; the long form begins with the (hyphenated) word.
    """
    at = end
    letters = [_fold(character) for character in short if character.isalnum()]
    for letter in reversed(letters[1:]):
        at -= 1
        while at >= floor and _fold(text[at]) != letter:
            at -= 1
        if at < floor:
            return None
    for start in range(at - 1, floor - 1, -1):
        if start > floor and text[start - 1].isalnum():
            continue
        if _fold(text[start]) != letters[0] and not (letters[0] == "e" and _DIGRAPH.match(text, start)):
            continue
        while start > floor and not text[start - 1].isspace() and text[start - 1] not in "/,":
            start -= 1
        word = _TOKEN.match(text, start, end)
        if word is not None and (word.group() not in FUNCTION or _LATIN.match(text, start)):
            return start
    return None


def _believe(short: str, long: str) -> float:
    """How far the words of an aligned long form explain the letters, 0 to 1; 0 for what is no definition.

    Refused are the short form again, values, clauses, and alignments that leave most words or letters over.
    """
    words = _TOKEN.findall(long)
    if len(long) <= len(short) or _singular(short) in words or short in words or _CLAUSE.search(long):
        return 0.0
    if long.startswith(short) or long.count(",") > 2 or (_ROMAN.fullmatch(short) and len(words) > 1):
        return 0.0
    letters = [_fold(character) for character in short if character.isalpha()]
    initials = [_fold(word[0]) for word in words if word not in FUNCTION and not word.isdigit()]
    hits = _common(letters, initials)
    skipped = len(initials) - hits
    if skipped > max(1, len(letters) - 1) or (skipped and hits * 2 < len(letters) - (skipped == 1)):
        return 0.0
    return hits / len(letters)


_CLAUSE = re.compile(
    r"\d\.\d|\b(?:was|were|is|are|has|have|had|did|does|than|that|which|who|we|they|it|et al)\b"
)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence; both are at most a few letters."""
    row = [0] * (len(right) + 1)
    for letter in left:
        diagonal = 0
        for column, other in enumerate(right, 1):
            longest = diagonal + 1 if letter == other else max(row[column], row[column - 1])
            diagonal, row[column] = row[column], longest
    return row[-1]


def declared(listed: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Short and long form of each abbreviation that an article lists ('SHORT = long form')."""
    for line in listed:
        if (found := _DECLARED.fullmatch(line)) is not None:
            yield found["short"], found["long"]


class DocumentAbbreviations:
    """The short forms of one document: definitions of all its texts in order, and their uses."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Read a document.

        Args:
            texts: its texts in reading order; `uses` takes positions in this order.
        """
        self._known: dict[str, list[_Entry]] = {}
        self._by_word: dict[str, list[str]] | None = None
        self._size = 0
        for text in texts:
            self.add(text)

    def add(self, text: str) -> Sequence[Definition]:
        """Read the next text of the document; what it defines."""
        found = definitions(text)
        for definition in found:
            key = _singular(definition.short)
            self._by_word = None
            self._known.setdefault(key, []).append((self._size, definition.short_start, definition))
        self._size += 1
        return found

    def uses(self, text: str, position: int | None = None) -> list[tuple[int, int, Definition]]:
        """Stand-alone short forms in a text, the defining ones too, each with the definition it takes.

        A short form defined more than once takes the nearest definition before it, and the first one after
        it when none precedes (a caption read before the section that defines it).

        Args:
            text: a text of the document.
            position: its place among the document's texts; None for a text not among them, which comes last.

        Returns:
            (start, end, definition) in order, never overlapping; a plural "s" is inside the span. The
            definition's offsets hold in the text that defines it.
        """
        if position is None:
            own = definitions(text)
            if own:
                known = {short: list(entries) for short, entries in self._known.items()}
                for item in own:
                    known.setdefault(_singular(item.short), []).append((self._size, item.short_start, item))
                return _uses(text, self._size, known, _by_first_word(known))
            position = self._size
        if not self._known:
            return []
        if self._by_word is None:
            self._by_word = _by_first_word(self._known)
        return _uses(text, position, self._known, self._by_word)


def _by_first_word(known: Iterable[str]) -> dict[str, list[str]]:
    """Short forms by the words that they may begin with in a text, plural ones too, the longest first."""
    by_word: dict[str, list[str]] = {}
    for short in sorted(known, key=len, reverse=True):
        by_word.setdefault(_first_word(short), []).append(short)
    for word, shorts in list(by_word.items()):
        if _singular(f"{word}s") == word:
            by_word.setdefault(f"{word}s", shorts)
    return by_word


def _uses(
    text: str, place: int, known: Mapping[str, list[_Entry]], by_word: Mapping[str, list[str]]
) -> list[tuple[int, int, Definition]]:
    parts = _PARTS.split(text)
    words = parts[1::2]
    if by_word.keys().isdisjoint(words):
        return []
    found: list[tuple[int, int, Definition]] = []
    done = 0
    for word, start in zip(words, islice(accumulate(map(len, parts)), 0, None, 2), strict=False):
        shorts = by_word.get(word)
        if shorts is None or start < done:
            continue
        for short in shorts:
            end = _end_of_use(text, start, short)
            if end:
                found.append((start, end, _nearest(known[short], place, start)))
                done = end
                break
    return found


def _first_word(short: str) -> str:
    match = _TOKEN.match(short)
    return match.group() if match else short


def _end_of_use(text: str, start: int, short: str) -> int:
    """End of a stand-alone use of a short form that begins at `start`; 0 if it is part of something else."""
    if not text.startswith(short, start) or _JOINED_BEFORE.search(text, max(0, start - 5), start):
        return 0
    end = start + len(short)
    if text.startswith("s", end):
        end += 1
    return 0 if _JOINED_AFTER.match(text, end) else end


_JOINED_BEFORE = re.compile(r"(?:[\w@/\\.]|non[-‑–])$", re.IGNORECASE)
_JOINED_AFTER = re.compile(r"\w|[-‑–]?\d|[@\\]|\.\w|/\w")
"""What makes a string part of a longer name: "IL" in "IL-6", "CD" in "CD4", "TB" in "non-TB"."""


def _nearest(entries: list[_Entry], place: int, start: int) -> Definition:
    before = bisect_right(entries, (place, start), key=lambda entry: entry[:2])
    return entries[max(before - 1, 0)][2]
