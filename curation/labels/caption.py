"""A caption taken apart: asides are left out; of every clause the phrase that names what is shown is told.

Captions begin with a noun phrase: "Axial CT of the chest", "Flow chart of the trial". It says what one sees;
what follows it by a preposition or a verb says of what. Lists of short forms, footnotes and credits say
neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from curation.extract.sentences import sentence_spans
from curation.labels.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence of a caption, or what stands behind a panel letter.

    Attributes:
        text: as written.
        head: offset at which its first noun phrase ends; 0 when it begins with none.
        is_panel: it stands behind a panel letter.
        is_statistical: it tells of a test, a mean or a number of subjects.
    """

    text: str
    head: int
    is_panel: bool
    is_statistical: bool

    def names(self, start: int) -> bool:
        """Whether words at this offset name what is shown: in its head phrase, or as in `this micrograph`."""
        return start < self.head or _POINTED.search(self.text, 0, start) is not None

    def is_headed(self, end: int) -> bool:
        """Whether a word that ends here heads the first phrase: its last word, or the one before `and …`."""
        rest = self.text[end : self.head].strip()
        is_last = not rest or rest.startswith("(") or _COORDINATED.fullmatch(rest) is not None
        return self.head > 0 and is_last


_WORD = re.compile(r"[^\W_]+(?:[-‐'’][^\W_]+)*")
_COORDINATED = re.compile(r"(?:,|and|or|&)\s(?:[\w-]+\s)?[\w-]+")
_POINTED = re.compile(r"\b(?:[Tt]his|[Tt]hese)\s(?:[\w-]+\s)?$")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENDS = _words(
    """
    of in on at for from with without by after before during between among through to into onto under over
    across along according as at above below within throughout against about around near following using
    via per than upon until while when where which that who whose because if versus vs
    is are was were be been has have had can could may might will would should does did
    show shows showed shown showing demonstrate demonstrates demonstrated demonstrating demonstrate reveal
    reveals revealed revealing depict depicts depicted depicting illustrate illustrates illustrating
    indicate indicates indicating represent represents representing display displays displayed displaying
    describe describes describing summarize summarizes summarizing present presents presenting
    highlight highlights highlighting confirm confirms confirmed confirming suggest suggests suggesting
    compare compares comparing identify identifies identifying include includes including contain contains
    containing obtained performed taken acquired used made based stained treated measured assessed compared
    linking linked relating related associated grouped stratified overlaid reported expressed receiving
    undergoing leading involving depending
    de del da do das dos des du en em por para con com sem nach bei von mit im der
    """
)
"""Prepositions, conjunctions and verbs of captions: with one of them the first noun phrase is over."""
_LIGHT = _words(
    """
    view views image images picture pictures finding findings aspect aspects appearance example examples
    series set part section sections examination evaluation case pair panel panels figure detail details
    reconstruction reconstructions
    """
)
"""Nouns that say little alone: `views of magnetic resonance images` show those."""
_LEADING = _words("a an the this these our its his her two three four one both representative typical and")
_TELLING = re.compile(r"[^\W\d_]{2}")
_OPENING = re.compile(r"[\s\W]*(?:[A-Za-z](?:\s?[-–,&]\s?[A-Za-z])*[).]\s)?")
_BREAK = re.compile(r"[;:]|(?<=\w{3})[.](?=\s|$)")
_FOOTNOTE = re.compile(
    r"[*†‡§¶∗#•]"
    r"|(?:notes?|footnotes?|legends?|abbreviations?|sources?|credits?|fuente|fonte|nota|source data)\b\s?[:.]"
    r"|(?:data|values|results|columns|error bars)\s(?:are|were)\s"
    r"(?:expressed|presented|shown|reported|given)\b",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    r"\((?:credits?|source|adapted|modified|reproduced|reprinted|retrieved|taken) "
    r"[^()]*(?:\([^()]*\)[^()]*)*\)",
    re.IGNORECASE,
)
_INLINE_NOTE = re.compile(r"\s(?:[*†‡§∗]\s?(?=\w)|(?:Abbreviations?|Notes?|Footnotes?|Sources?)\s?:)")
_SHORT = re.compile(
    r"(?P<short>[A-Za-z0-9α-ωΑ-Ω/+-]*[A-Z][A-Za-z0-9α-ω/+-]*)\s?"
    r"(?P<sign>[,:=–]|indicates?|denotes?|means|stands for|is|are)?\s(?P<long>[A-Za-z][^,;:=.]*)"
)
_BRACKETED = re.compile(r"\(([A-Z][A-Za-z]?[A-Z][A-Za-z]{0,4})\)")
_STATISTICS = re.compile(
    r"\b[pP] ?[<=>≤] ?0?[.,]\d|\b[nN] ?= ?\d|±|\b(?:S\.?E\.?M|S\.?D|CI|IQR)\b|standard (?:error|deviation)"
)


def clauses(caption: str, starts: Iterable[int] = ()) -> list[Clause]:
    """The clauses of a caption, without lists of short forms, footnotes and credits.

    Args:
        caption: without the figure's label.
        starts: offsets of its panels' sub-captions.
    """
    text = _CREDIT.sub(lambda found: " " * len(found.group()), caption)
    panels = sorted({start for start in starts if 0 < start < len(text)} | ({0} & set(starts)))
    made = []
    for start, end, is_panel in _pieces(text, panels):
        piece = _without_note(text[start:end])
        if _TELLING.search(piece) and not _is_beside(piece):
            made.append(Clause(piece, _head(piece), is_panel, _STATISTICS.search(piece) is not None))
    return made


def _pieces(text: str, panels: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
    """Sentences, cut where a panel begins."""
    for start, end in sentence_spans(text):
        cuts = [start, *(cut for cut in panels if start < cut < end), end]
        for one, other in pairwise(cuts):
            yield one, other, any(one - 8 <= panel <= one + 8 for panel in panels)


def _without_note(piece: str) -> str:
    """A sentence up to a footnote sign that begins a new remark."""
    found = _INLINE_NOTE.search(piece)
    return piece[: found.start()] if found else piece


def short_forms(caption: str) -> dict[str, str]:
    """What short forms of a caption stand for where it says so: `mitochondrial reducing activity (MRA)`."""
    found: dict[str, str] = {}
    for item in (*re.split(r"[;.]\s", caption), *re.split(r"[,;.]\s", caption)):
        told = _SHORT.match(item)
        if told and _is_short_form(item):
            found.setdefault(told.group("short"), told.group("long"))
    for bracket in _BRACKETED.finditer(caption):
        letters = [letter for letter in bracket.group(1).casefold() if letter.isalpha()]
        words = _WORD.findall(caption[max(0, bracket.start() - 120) : bracket.start()])[-len(letters) - 2 :]
        for at in range(len(words) - 1, -1, -1):
            long = " ".join(words[at:])
            rest = iter(long.casefold())
            if words[at][0].casefold() == letters[0] and all(letter in rest for letter in letters):
                found.setdefault(bracket.group(1), long)
                break
    return found


def meant_otherwise(caption: str, taxonomy: Taxonomy) -> frozenset[str]:
    """Short forms of a caption that look like a label's and, as it says, stand for something else."""

    def groups(text: str) -> set[str]:
        entries = (entry for hit in taxonomy.words.find(text) for entry in hit.entries)
        return {taxonomy.labels[entry.label].parent or entry.label for entry in entries}

    told = short_forms(caption).items()
    return frozenset(short for short, long in told if (own := groups(short)) and not own & groups(long))


def _is_beside(piece: str) -> bool:
    """Whether a sentence speaks beside the figure: a footnote, or a list of short forms."""
    text = piece.lstrip(" ([")
    if _FOOTNOTE.match(text) or _is_short_form(text):
        return True
    first = _SHORT.match(text)
    is_like = first is not None and first.group("long")[0].casefold() == first.group("short")[0].casefold()
    return is_like and any(_is_short_form(item) for item in re.split(r"[,;]\s", text)[1:])


def _is_short_form(text: str) -> bool:
    """Whether a text begins with a short form and what it stands for: `CT, computed tomography`."""
    found = _SHORT.match(text)
    if not found:
        return False
    if sum(item.isupper() or item.isdigit() for item in found.group("short")) < 2:
        return False
    letters = [item for item in found.group("short").casefold() if item.isalnum()]
    if len(letters) > 2 and found.group("short")[-1] == "s":
        letters.pop()
    words = [word.casefold() for word in _WORD.findall(found.group("long").replace("-", " "))][:10]
    if len(letters) < 2 or not words or words[0][0] != letters[0]:
        return False
    if not found.group("sign") and len(words) > 1:
        initials = iter([word[0] for word in words[: len(letters) + 1]])
        return sum(letter in initials for letter in letters[:2]) == 2
    rest = iter("".join(words))
    return all(letter in rest for letter in letters)


def _head(text: str) -> int:
    """Where the first noun phrase of a clause ends; 0 when it begins with none."""
    begin = _OPENING.match(text)
    at = begin.end() if begin else 0
    stop = found.start() if (found := _BREAK.search(text, at)) else len(text)
    end, count, last, is_light = 0, 0, "", False
    depth = 0
    for word in _WORD.finditer(text, at, stop):
        between = text[end : word.start()] if end else ""
        depth += between.count("(") - between.count(")")
        if depth > 0:
            end = word.end()
            continue
        folded = word.group().casefold()
        if folded in _LEADING and not count:
            continue
        if folded in _ENDS:
            if is_light or last not in _LIGHT or folded not in {"of", "from", "by", "de", "do", "da"}:
                break
            is_light = True
            continue
        if "," in between and count > 1 and folded not in {"and", "or"}:
            break
        end, last = word.end(), folded
        count += 1
    return end
