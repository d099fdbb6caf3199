"""Finds what names a figure, table or supplement by number: "Figs. 1A–C and 2", "S1 Table", "图3".

One scanner serves passages, captions and figure labels: a label and a pointer to it give the same key.
Nothing is resolved here: see `mentions` for links and `neutralise` for released text.
"""

from __future__ import annotations

import itertools
import re
import sys
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from curation.extract.figure_nouns import CLEAR_VERB, PLURAL_VERB, VERB
from curation.extract.label_words import PLOS, Head, Heads, heads_of
from curation.extract.panel_lists import fill, letters_of, panels_after

Join = Literal["", "list", "range"]
Span = tuple[int, int]
MAX_ITEMS = 100
"""Numbers read of one pointer: of a long row of links, each would read all that follow it."""


class Item(NamedTuple):
    """One number of a pointer with its panels: `3D–H` is number "3", panels D E F G H."""

    start: int
    end: int
    number: str
    panels: tuple[str, ...]
    join: Join


class PointerText(NamedTuple):
    """One pointer as written; `family` is figure, table, scheme, …, supplement."""

    start: int
    end: int
    family: str
    items: tuple[Item, ...]


_PLOS_NUMBER = re.compile(r"(?P<join>[–—-]|\bto\b)?[\s,&]*(?:and|or)?\s*S?(?P<number>\d{1,3})")
_SUPPLEMENT_HINTS = ("upp", "UPP", "nline", "eb", "ppend", "xtended", "dditional")
"""One of these is in everything that `_SUPPLEMENT_BEFORE` matches."""
_SUPPLEMENT_BEFORE = re.compile(
    r"(?:(?<![A-Za-z])(?P<sup>[Ss]upp(?:l|lementary|lementa[lr]|lément(?:aire|air)s?"
    r"|orting)?\.?(?:\s[Ii]nformation)?|SUPPLEMENTARY"
    r"|[Oo]nline(?:\s[Rr]esource)?|[Ww]eb|Appendix|[Aa]ppended)|(?P<ed>[Ee]xtended\s[Dd]ata)"
    r"|(?P<file>(?:[Aa]dditional\s[Ff]ile|[Ss]uppl(?:\.|ementary|emental)?\s(?:[Mm]aterial|[Ff]ile"
    r"|[Dd]ata)|Multimedia Appendix)"
    r"\s\d{1,2}\s?(?:[:,;.(\[]|[–—-])))\s?[-–]?$"
)
_PANELS_BEFORE = re.compile(
    r"(?<![A-Za-z])[Pp]anels?\s(?P<letters>[A-Za-z](?:\s?(?:,|and|&"
    r"|[–—-])\s?[A-Za-z](?![A-Za-zÀ-ɏ]))*),?\s(?:of|in|from)\s(?:the\s)?$"
)


def _words(listed: str) -> list[str]:
    return listed.split()


_SPELLED = {
    word: str(number)
    for number, word in enumerate(_words("one two three four five six seven eight nine ten"), start=1)
}
_AS_WORD = "|".join(_SPELLED)
_NUMERAL, _SPELLED_OUT = re.compile(r"\d|[IVXⅠ-Ⅻ]|\b[A-H]\b"), re.compile(rf"\b(?:{_AS_WORD})\b")


def _number(not_behind: str) -> re.Pattern[str]:
    """A number of a pointer; a letter or a spelled one needs an end or a verb behind it."""
    ends = rf"(?=\s?(?:[).,;:\]]|$)|\s{CLEAR_VERB})"
    return re.compile(
        r"(?:[nN][o.º°]{1,2}\s?)?"
        r"(?:(?P<prefix>EV|[SsAEBCD])[-.]?)?(?P<number>\d{1,3})(?P<sub>\.\d{1,2}(?![\d%]))?"
        rf"(?![\d%]|{not_behind}\d|°|:\d)(?:\s?▸(?:\s(?=[a-z]\b))?)?"
        r"|(?P<roman>[IVX]{1,5}|[Ⅰ-Ⅻ])(?![A-Za-zÀ-ɏ0-9-])"
        rf"|(?P<letter>[A-H]){ends}"
        rf"|(?P<word>{_AS_WORD})(?:{ends}|(?=\s(?:and|&)\s(?:{_AS_WORD})\b))"
    )


_NUMBER, _LISTED = _number("[.,]"), _number(r"\.")
"""A number by itself, which no decimal comma follows, and one behind a plural: "Figs. 2,3"."""
_CHILD = re.compile(
    r"(?:\s?[—–-]\s?|\s(?=[Ss]ource\s))(?P<kind>[Ff]igure [Ss]upplements?|[Ss]ource (?:[Dd]ata|[Cc]ode)"
    r"|[Vv]ideo|(?:figure|table)(?=\s\d))\s?(?P<number>\d{1,2})"
)
_SEPARATOR = re.compile(
    r"\s?(?:(?P<range>[–—‐‑−~～-]|\b(?:to|through|bis|a|à)(?=\s))|(?P<comma>[,;、,]\s?(?:and\b|&|or\b|und\b"
    r"|et\b|y\b)?)"
    r"|(?P<and>\b(?:and|or|und|et|y|e|и|as well as)\b|&|和|及|与|と|/))\s?"
)
_LETTER = re.compile(r"[A-Za-z](?![A-Za-zÀ-ɏ0-9])")
_AFTER_LETTER = re.compile(r"\s*(?:[),;.:–-]|(?:and|respectively)\b|&|$)")
_LIST_FOLLOW = re.compile(r"\s*(?:[)\],;.:\]–—-]|(?:and|or|to|y|e|et|und|oder|respectively)\b|&|$)")
_ELSEWHERE = re.compile(r"\s(?:of|in|from)\s(?:[Rr]efs?\b|[Rr]eference|\[|[A-Z]\w+ (?:et al|and [A-Z]|&))")
"""Whose figure it is: what stands before is its number, and no count of something."""
_PLURAL_ELSEWHERE = re.compile(
    r"\b(?:(?:[Ff]igure|[Tt]abelle)\s\d{1,2}[A-Za-z]?\se|(?:Abb|Tab)\.\s\d{1,2}(?:[a-z][a-z,–-]*)?\s(?:und|u\.)|(?:[Рр]ис|[Тт]абл)\.\s\d{1,2}[а-яa-z]?\sи)\s$"
)
"""Italian plurals, German and Russian short forms, which have one form for both, before "and"."""
_SUPPLEMENTARY_BEHIND = re.compile(r"[Ss]upp?l[ée]ment\w+\s(?=S?\d)")
"""Romance languages put it behind the label word: "Tabela Suplementar 2", "Figure supplémentaire S1"."""
_LETTERS = frozenset("ABCDEFGH")
"""Numbers of appendices and what is in them: "Appendix B", "Table A"; boxes so named are parts of genes."""
_NO_BOX = re.compile(r"(?:\bP\.?\s?O\.?\s|-|\bGroup\s)$", re.IGNORECASE)
"""Before a postal box or the name of a gene: "P.O. Box 3", "High Mobility Group Box 1", "SRY-Box 2"."""
_VERB_FOLLOWS = re.compile(rf",?\s{VERB}")
_PLURAL_FOLLOWS = re.compile(rf"\s{PLURAL_VERB}")
_WORD = re.compile(r"[^\d(]*")
_PLURALS = (
    *("figs", "figures", "figuras", "abbildungen", "figuren", "figg", "рисунках", "рисунки"),
    *("schemes", "tables", "tablas", "tabelas", "tabellen", "files", "tableaux", "tabelle", "cuadros"),
    *("quadros", "gráficos", "videos", "vídeos", "vidéos", "boxes", "charts", "graphs", "images"),
    *("resources", "appendices", "annexes", "supplements", "sheets"),
)


def is_plural(pointer: str) -> bool:
    """Whether a pointer's label word is a plural: Figs, Figures, Abbildungen."""
    word = _WORD.match(pointer)
    return word is not None and word.group().strip().lower().removesuffix(".").endswith(_PLURALS)


def pointers_in(
    text: str, *, links: Sequence[Span] = (), letters: Collection[str] = (), heads: Heads | None = None
) -> list[PointerText]:
    """All pointers of a text, in order, not overlapping.

    Args:
        text: any running text, caption or label.
        links: spans of figure cross-references, which make a doubtful continuation ("Fig. 1, 2") certain.
        letters: panel letters the article's figures have, which make "Fig. 2 (a)" a panel.
        heads: what `label_words.heads_in` says of this text, if known.
    """
    if not _NUMERAL.search(text) and not _SPELLED_OUT.search(text):
        return []
    found: list[PointerText] = []
    for head in heads_of(text) if heads is None else heads:
        found += _plos(text) if head is PLOS else _family(text, head, links, letters)
    found.sort(key=lambda pointer: (pointer.start, -pointer.end))
    kept: list[PointerText] = []
    for pointer in found:
        if not kept or pointer.start >= kept[-1].end:
            kept.append(pointer)
        elif pointer.end > kept[-1].end:  # "Table S3, S1 Fig": what is left of the second
            kept += itertools.islice(_plos(text, kept[-1].end, pointer.end), 1)
    return kept


def items_at(
    text: str,
    position: int,
    *,
    plural: bool = True,
    links: Sequence[Span] = (),
    letters: Collection[str] = (),
) -> tuple[Item, ...]:
    """The numbers and panels that start at `position` ("1A–C, 2 and 3"); empty if there is no number."""
    items: list[Item] = []
    join: Join = ""
    number = _LISTED if plural else _NUMBER
    while len(items) < MAX_ITEMS and (found := number.match(text, position)) is not None:
        if items and found.group("prefix") and PLOS.pattern.match(text, position):
            break
        if items and not _continues(text, found, plural or len(items) > 1, join, links):
            break
        item = _item(text, found, join, links, letters)
        if join == "range" and item.number == items[-1].number:
            item = item._replace(panels=fill(items[-1].panels, item.panels))
        items.append(item)
        separator = _SEPARATOR.match(text, item.end)
        if separator is None:
            break
        join = "range" if separator.group("range") else "list"
        position = separator.end()
    return tuple(items)


def _family(text: str, kind: Head, links: Sequence[Span], letters: Collection[str]) -> Iterator[PointerText]:
    family, position = kind.family, 0
    while (head := kind.pattern.search(text, position)) is not None:
        position = head.end()
        if _is_inside_word(text, head.start()):
            continue
        first = position + (1 if text[position : position + 1] in {" ", "\u00a0", "\u2009", "\u202f"} else 0)
        if text.startswith(("# ", "#"), first):
            first += 1
        if supplementary := _SUPPLEMENTARY_BEHIND.match(text, first):
            first = supplementary.end()
        items = items_at(text, first, plural=is_plural(head.group()), links=links, letters=letters)
        if not items:
            continue
        start = head.start()
        if items[0].number in _LETTERS and (family == "box" or not head.group()[:1].isupper()):
            continue
        if family == "box" and _NO_BOX.search(text, max(0, start - 7), start):
            continue
        if family in {"figure", "table", "video", "supplement"}:
            start, items = _supplementary(text, start, items)
        start, items = _with_panels_before(text, start, items)
        position = items[-1].end
        yield PointerText(start, position, family, items)


def _is_inside_word(text: str, start: int) -> bool:
    """Whether a Latin or Cyrillic label word is the end of another word; "eFigure" is not."""
    if start == 0 or not text[start - 1].isalpha() or ord(text[start]) > 0x2E00:
        return False
    is_e = text[start - 1] == "e" and (start == 1 or not text[start - 2].isalnum())
    return not is_e and ord(text[start - 1]) < 0x2E00


def _supplementary(text: str, start: int, items: tuple[Item, ...]) -> tuple[int, tuple[Item, ...]]:
    """Take "Supplementary" or "Additional file 2:" before a label word into the pointer and its keys."""
    if text[max(0, start - 1) : start] == "e":
        return start - 1, _prefixed(items, "E")
    window = text[max(0, start - 60) : start]
    if not any(map(window.__contains__, _SUPPLEMENT_HINTS)):
        return start, items
    before = _SUPPLEMENT_BEFORE.search(text, max(0, start - 60), start)
    if before is None or _is_subject(text, text[start - 2], items):
        return start, items
    mark = "ED" if before.group("ed") else "F" if before.group("file") else "S"
    return before.start(), _prefixed(items, mark)


def _is_subject(text: str, mark: str, items: tuple[Item, ...]) -> bool:
    """Whether a pointer behind "Additional file 3." or a comma is a subject and no part of that file."""
    is_own = items[0].number[:1].isdigit()
    is_verb = _VERB_FOLLOWS.match(text, items[-1].end) is not None
    return (is_own or is_verb) if mark == "." else (is_own and is_verb and mark in ",;")


def _with_panels_before(text: str, start: int, items: tuple[Item, ...]) -> tuple[int, tuple[Item, ...]]:
    """Take "panel A of" before a label word into the pointer."""
    before = None
    if text.find("anel", max(0, start - 40), start) >= 0:
        before = _PANELS_BEFORE.search(text, max(0, start - 40), start)
    if before is None:
        return start, items
    first = items[0]
    panels = tuple(sorted({*first.panels, *letters_of(before.group("letters"))}))
    return before.start(), (Item(first.start, first.end, first.number, panels, first.join), *items[1:])


def _prefixed(items: tuple[Item, ...], mark: str) -> tuple[Item, ...]:
    return tuple(
        item
        if item.number.startswith(mark)
        else Item(item.start, item.end, mark + item.number, item.panels, item.join)
        for item in items
    )


def _item(
    text: str, found: re.Match[str], join: Join, links: Sequence[Span], letters: Collection[str]
) -> Item:
    number = (
        (found.group("prefix") or "").upper() + (found.group("number") or "") + (found.group("sub") or "")
    )
    if found.group("letter"):
        number = found.group("letter")
    elif found.group("roman"):
        number = unicodedata.normalize("NFKC", found.group("roman"))
    elif found.group("word"):
        number = _SPELLED[found.group("word")]
    end = found.end()
    child = _CHILD.match(text, end)
    if child is not None:
        kind = child.group("kind").lower()
        mark = "fs" if kind.startswith("figure s") else "sd" if kind.startswith("s") else kind[0]
        number += f"-{mark}{child.group('number')}"
        end = child.end()
    panels, end = panels_after(text, end, links=links, letters=letters)
    return Item(found.start(), end, number, panels, join)


def _continues(text: str, found: re.Match[str], plural: bool, join: Join, links: Sequence[Span]) -> bool:
    """Whether a further number belongs to the pointer rather than to the sentence ("Fig. 1, 2 patients")."""
    if any(start <= found.start() < end for start, end in links):
        return True
    if found.group("prefix") or found.group("roman") or found.group("word"):
        return True
    attached = _LETTER.match(text, found.end())
    if attached and (plural or _AFTER_LETTER.match(text, attached.end())):
        return True
    if join == "list" and _ELSEWHERE.match(text, found.end()):
        return True
    if _PLURAL_FOLLOWS.match(text, found.end()):
        return True
    if _PLURAL_ELSEWHERE.search(text, max(0, found.start() - 20), found.start()):
        return True
    if text[found.end() : found.end() + 1].isalpha():
        return False
    if join == "range":
        return True
    if not plural:
        return bool(_LIST_FOLLOW.match(text, found.end()))
    is_list = text[found.start() - 2 : found.start()].rstrip().endswith((",", ";", "、"))
    return not is_list or bool(_LIST_FOLLOW.match(text, found.end()))


def _plos(text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[PointerText]:
    """`S1 Fig`, `S1–S3 Tables`: the number stands before the label word."""
    for found in PLOS.pattern.finditer(text, start, end):
        if found.start() and text[found.start() - 1].isalnum():
            continue
        word = found.group("word").lower()
        family = "figure" if word.startswith("fig") else "table" if word.startswith("table") else "supplement"
        items = [Item(found.start(), found.end(), found.group("first"), (), "")]
        for more in _PLOS_NUMBER.finditer(found.group("more")):
            join: Join = "range" if more.group("join") else "list"
            items.append(Item(found.start(), found.end(), f"S{more.group('number')}", (), join))
        yield PointerText(found.start(), found.end(), family, tuple(items))
