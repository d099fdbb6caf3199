"""The label words that can start a pointer: "Fig", "Table", "Supplementary Data", "рис", "S1 Fig".

Most paragraphs hold none: they are looked for first, by substring, in all paragraphs of an article at once.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

_FIGURE = r"[Ff][Ii][Gg](?:URES?|uren|ures?|uras?|uur|S|s|g)?\.?"
_FIGURE_ELSEWHERE = (
    r"[Aa]bb(?:ildung(?:en)?)?\.?|ABB(?:ILDUNG)?\.?"
    r"|[Rr]y(?:c(?:in[aęiy])?|s(?:un(?:k(?:u|i|ach|iem)|e?k))?)\.?"
)
_FIGURE_OTHER_SCRIPTS = r"[Рр]ис(?:ун(?:ок|ке|ка|ки|ках|ков|кам|ком))?\.?|[图圖図]|그림"
_TABLE = r"[Tt](?:ABLES?|abl(?:eaux?|es?|as?)|abel(?:as?|len?|l[ae]|[aiąęe])|ab(?=\.|s\.)s?)\.?"
_TABLE_ELSEWHERE = r"[Cc]uadros?|Quadros?|[Rr]ecuadros?|[Rr]iquadr[oi]"
_TABLE_OTHER_SCRIPTS = r"[Тт]абл(?:иц[аеуы]|ицах)?\.?|表"
_SUPPLEMENT_KIND = (
    r"(?:[Mm]aterials?|[Dd]ata(?:set)?s?|[Ff]iles?|[Tt]exts?|[Nn]otes?"
    r"|[Ii]nformation|[Mm]ethods?|[Dd]igital [Cc]ontents?)"
)
_SUPPLEMENT_WORD = rf"uppl(?:\.|ement(?:ary|al)?)?(?: [Oo]nline)? {_SUPPLEMENT_KIND}"
# Every branch starts with one plain letter: that is what lets the search skip ahead.
_SUPPLEMENT = (
    r"Additional [Ff]iles?|additional [Ff]iles?|Multimedia Appendi(?:x|ces)|Appendi(?:x|ces?|ci)"
    r"|APPENDI(?:X|CES)"
    rf"|S{_SUPPLEMENT_WORD}|s{_SUPPLEMENT_WORD}|Supplements?|supplements?|[Ff]igure [Ss]upplements?"
    r"|[Mm]at[ée]ri[ae]l [Ss]upp?l[ée]ment\w+|Ap[éê]ndices?"
    r"|Supporting [Ii]nformation(?! S\d{1,3} [A-Z])|supporting information(?! S\d{1,3} [A-Z])"
    r"|Source [Dd]ata|source [Dd]ata"
    r"|Dataset|Data Sheets?|Data(?: [Ff]iles?)?(?= S\d)|Online Resources?|Anhang"
    r"|Anexos?|anexos?|Annexes?|annexes?|[Aa]nnex(?!\s\w+,?\s(?:of|to)\s(?:the\s)?[A-Z(])|Allegat[oi]"
)
_NUMBERED_S = ("Text", "File", "Method", "Note", "Protocol", "Audio", "Checklist", "Code", "Software")
"""Supplements when an S and a number stand behind."""


class Head(NamedTuple):
    """A kind of label word: one of `needles` is in every text that `pattern` may be looked for in."""

    family: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]


Heads = tuple[Head, ...]
_HEADS: Heads = tuple(
    Head(family, needles, re.compile(pattern))
    for family, needles, pattern in (
        ("figure", ("Fig", "fig", "FIG"), _FIGURE),
        (
            "figure",
            ("Abb", "abb.", "abbil", "ABB", "Ryc", "ryc.", "rycin", "Rys", "rys.", "rysun"),
            _FIGURE_ELSEWHERE,
        ),
        ("table", ("Tab", "TAB", " tab", "(tab"), _TABLE),
        ("table", ("uadro",), _TABLE_ELSEWHERE),
        ("scheme", ("Schem", "Schém", "Esquem"), r"Schem(?:es?|a)|Schémas?|Esquemas?"),
        ("chart", ("Chart",), r"Charts?"),
        ("graph", ("Graph", "Gráfic"), r"Graphs?|Gráfic[oa]s?|Graphiques?"),
        ("plate", ("Plate",), r"Plates?"),
        (
            "image",
            ("Image", "Imágen", "Picture", "Bild", "Illustration", "Diagram", "Exhibit"),
            r"Images?|Image[nm]s?|Imágenes|Pictures?|Bild(?:er)?|Illustrations?|Diagrams?|Exhibits?",
        ),
        ("photo", ("Photo", "Foto"), r"Photos?|Fotos?|Photographs?"),
        (
            "video",
            ("Video", "video", "Movie", "movie", "éo", "ídeo"),
            r"[VvMm](?:ideos?|ovies?|idéos?|ídeos?)",
        ),
        (
            "box",
            ("Box", "ncadr", "Kasten"),
            r"Box(?:es)?|[Ee]ncadrés?|Kasten",
        ),
        ("map", ("Map",), r"Mapa?s?(?=\s)"),
        (
            "supplement",
            (
                "dditional f",
                "dditional F",
                "Append",
                "append",
                "APPENDI",
                "uppl",
                "upporting ",
                "ource d",
                "ource D",
                "Data",
                "Online R",
                "Anhang",
                "nexo",
                "nnex",
                "Allegat",
                "Apéndice",
                "Apêndice",
                "uplement",
            ),
            _SUPPLEMENT,
        ),
        (
            "supplement",
            tuple(f"{word}{plural} S" for word in _NUMBERED_S for plural in ("", "s")),
            rf"(?:{'|'.join(_NUMBERED_S)})s?(?= S\d)",
        ),
    )
)
_HEADS_OTHER_SCRIPTS: Heads = (
    Head("figure", ("рис", "Рис", "图", "圖", "図", "그림"), re.compile(_FIGURE_OTHER_SCRIPTS)),
    Head("table", ("абл", "表"), re.compile(_TABLE_OTHER_SCRIPTS)),
)
_PLOS = re.compile(
    r"(?P<first>S\d{1,3})(?P<more>(?:(?:,\s?|\s?[–—-]\s?|,?\s(?:and|or|to)\s|\s?&\s?)S?\d{1,3})*)\s"
    r"(?P<word>Figs?|Figures?|Tables?|Files?|Texts?|Videos?|Movies?|Datasets?|Data|Appendix|Appendices"
    r"|Protocols?"
    r"|Notes?|Checklist|Box|Raw [Ii]mages?)\b"
)
PLOS = Head("", tuple(f"S{digit}" for digit in range(10)), _PLOS)
_ALL_HEADS: Heads = (*_HEADS, *_HEADS_OTHER_SCRIPTS, PLOS)
_NEEDLES = tuple((needle, place) for place, head in enumerate(_ALL_HEADS) for needle in head.needles)
# Capitals and other scripts are rare in running text, so one pass of a regular expression finds them all
# faster than a substring search each; for lower case it is the other way round.
_LOWER = tuple(
    (needle, place) for needle, place in _NEEDLES if needle.isascii() and needle.lstrip(" (")[0].islower()
)
_RARE = {needle: place for needle, place in _NEEDLES if (needle, place) not in _LOWER}
_STEMS = tuple(
    (stem, tuple((needle, needle.index(stem), place) for needle, place in _LOWER if stem in needle))
    for stem in (
        *("fig", "abb", "ryc", "rys", "tab", "uadro"),
        *(
            "video",
            "movie",
            "dditional ",
            "append",
            "uppl",
            "ource ",
            "nexo",
            "nnex",
            "ncadr",
            "uplement",
        ),
    )
)
"""What to search for, and what may stand there: needle, offset of the stem in it, place of its head."""


def _any_of(needles: Sequence[str]) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern for any of several needles, and the needle that each of its groups stands for.

    One branch per first character, the only one consumed: needles may overlap ("TABB").
    """
    ordered = tuple(sorted(needles))
    branches = (
        f"{first}(?:{'|'.join(f'(?=({needle[1:]}))' for needle in group)})"
        for first, group in itertools.groupby(ordered, key=itemgetter(0))
    )
    return re.compile("|".join(branches)), ordered


_RARE_NEEDLE, _RARE_GROUPS = _any_of(tuple(_RARE))


def heads_of(text: str) -> Heads:
    """The label words that one short text can hold."""
    return tuple(head for head in _ALL_HEADS if any(map(text.__contains__, head.needles)))


def heads_in(texts: Sequence[str]) -> list[Heads]:
    """The label words each text of one article can hold, to be handed to `pointers_in`.

    Most paragraphs hold none: all are searched as one text, which is several times faster.
    """
    joined = "\n".join(texts)  # no needle holds a line break
    starts = list(itertools.accumulate((len(text) + 1 for text in texts), initial=0))
    found: dict[int, set[int]] = {}
    for hit in _RARE_NEEDLE.finditer(joined):
        place = _RARE[_RARE_GROUPS[(hit.lastindex or 0) - 1]]
        found.setdefault(bisect_right(starts, hit.start()) - 1, set()).add(place)
    for stem, needles in _STEMS:
        at = joined.find(stem)
        while at >= 0:
            for needle, shift, place in needles:
                if joined.startswith(needle, at - shift):
                    number = bisect_right(starts, at) - 1
                    found.setdefault(number, set()).add(place)
                    at = starts[number + 1] - 1  # the rest of this text tells nothing new
                    break
            at = joined.find(stem, at + 1)
    none: Heads = ()
    return [
        tuple(_ALL_HEADS[place] for place in sorted(found[number])) if number in found else none
        for number in range(len(texts))
    ]
