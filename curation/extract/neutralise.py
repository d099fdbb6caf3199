"""Takes figure numbers and identifiers of articles out of released text, by changes that can be undone.

"(Fig. 2A)" goes with the space before it; "Fig. 2A shows" becomes "The figure shows"; "DOI: 10.1000/5" at the
end of a caption goes, "registered as NCT01234567" becomes "registered as [registry number]". What a number
would give away about the pair of query and document is gone, the sentence stays readable.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import partial

from curation.extract.brackets import POSITION, bracket_edits, removed_bracket
from curation.extract.figure_nouns import CJK, CLEAR_VERB, PLURAL_VERB, VERB, kind_of, phrase
from curation.extract.identifiers import identifiers_in
from curation.extract.pointers import is_plural, pointers_in
from schemas.benchmark import Transform

Span = tuple[int, int]
Edit = tuple[int, int, str]

RULE = "figure_pointer"
IDENTIFIER_RULE = "identifier"

_GROUP = re.compile(r"\s*(?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\]|\{[^{}]*\}|（[^（）]*）)")
_JOIN = re.compile(r"\s*(?:,|;|&|–|-|,?\s?\b(?:and|or|to|und|et|y|e|и)\b|、|和|及|与|と)\s*")
_MARK = re.compile(r"\s*[,;]\s*")
_GOES_ON = re.compile(r"\s(?!(?:and|or|to|et|y|e|und|respectively)\b)[^\W\d_A-Z]")
"""After a comma and a pointer: that pointer begins a clause, "Unlike Fig. 1, Fig. 2 shows"."""
_TO = re.compile(r"\bto\b|[–-]")
_FROM = re.compile(r"\bfrom\s$", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|\n\s*|[.!?](?:\d{1,3}|[⁰¹²³⁴-⁹,–⁻]+)?\s+)[\"“(\[]?$")
_SHORT_FORM = re.compile(
    r"\b(?:cf|vgl|s|e\.g|i\.e|al|vs|refs?|resp|bzw|ca|approx|z\.\s?B|p\.\s?ej|etc|ver|см|zob|por)\.,?\s$",
    re.IGNORECASE,
)
_ADDRESS_BEFORE = re.compile(r"/[^\s/]*$")
"""No word runs on from an address: "https://doi.org/10.1000/xFig. 2"."""
_LEAD = re.compile(
    r"(?<![A-Za-z-])(?!(?:on-?line|web|digital),)"
    r"(?:on-?line|web|supp(?:l|lement(?:ary|al|ar)?|orting)?\.?|extended|additional|digital|appendix|annex|electronic"
    r"|source(?=\sdata\s)"
    r"|ESM|(?-i:SI))(?: \d{1,2}[,:;]?|,)?[\s-]"
    r"(?:(?:on-?line|supp(?:l|lement(?:ary|al|ar)?)?\.?|digital|data|content|materials?|information|files?|appendix"
    r"|resources?)(?: \d{1,2}[,:;]?|,)?\s)*$",
    re.IGNORECASE,
)
_PANEL = r"\((?:[a-hA-H]|[ivx]{1,4})\)"
_AND = r"\s?(?:,|and|&|[–—-]|to|,\s?and)\s?"
_CONTENT = r"(?:Tables?|Figures?|Videos?|Movies?|Texts?|Appendix|Documents?|Files?|Audio|Checklist|Methods?)"
_CONTENT_BEFORE = re.compile(rf"\b{_CONTENT},\s$")
_DIGITAL_CONTENT = re.compile(r"Supplement(?:al|ary) Digital Content", re.IGNORECASE)
"""Some publishers name what a supplement is beside it: "see Table, Supplemental Digital Content 1"."""
_TAIL = re.compile(
    rf"(?:\s?{_PANEL}(?:{_AND}{_PANEL})+|(?:{_AND}{_PANEL})+|\s?{_PANEL}(?=\s*(?:[,.;)]|$)))"
    rf"|,?\s[B-H](?:{_AND}[A-H])*(?=,?\s{VERB})"
    rf"|\s(?:[A-H](?:{_AND}[A-H])*|{POSITION})(?=\s{CLEAR_VERB})"
    r"|,?\s(?:(?:in|of)\s(?:the\s)?)?(?:(?:online|electronic)\s)?(?:E?SI(?:\sAppendix)?|ESM)\b(?![\s-]?\d)"
    r"|(?:,|\s(?:in|of))\s(?:the\s)?(?:(?:online|electronic|web)[\s-])?(?:[Ss]upplement(?:ary\s(?:[Mm]aterials?"
    r"|[Aa]ppendix|[Ii]nformation))?|[Ss]upporting\s[Ii]nformation|[Aa]ppendix)\b(?![\s-]?(?:\d|[A-Z]\b|pp?\b))"
    rf"|(?:,\s{_CONTENT})?,\s(?:available\s(?:online\s)?(?:at|from)\s)?https?://links\.\S*[^\s.,;:)\]]"
)
"""What belongs to a pointer after it: further panels, the supplement it is found in, where that is."""
_ARROW_BEFORE = re.compile(r"[\u2190-\u21ff\u25a0-\u25ff\u27a0-\u27bf]\s?$")
"""Printed before a link by some publishers: "in ►Table 1"."""
_LABEL_AT_START = re.compile(
    rf"\s*(?:[:.|–—-]+\s+(?!(?:and|or|und|et|y|e|и|&)\s)(?=\S)"
    rf"|\s(?=(?:[A-Z]{{3,}}|CT|US)\s|[A-ZÀ-ÖØ-ÞА-Я][^\W\d_]+(?:[ ,:]|\.\s)(?!{VERB}|and\b)))"
)
_LABEL_BEFORE = re.compile(r"(?:^|\n\s*|[.!?,:;]\s+)$")
_LABEL_AFTER = re.compile(r"\s?[:|]\s+(?=\S)")
_ALONE_AFTER = re.compile(r"\s?\.(?=\s+(?:[^\Wa-z\d_]|[(\[])|$)")
_SEE_BEFORE = re.compile(r"\b(?:please\s)?(?:see|refer\sto)(?:\salso)?\s$", re.IGNORECASE)
_COMMA_BEFORE = re.compile(r"(?P<mark>[,:;])(?P<refs>[⁰¹²³⁴-⁹⁻,–]*)\s$")
_CLAUSE_ENDS = re.compile(
    r"(?P<comma>,(?=\s(?!(?:and|but|or|which|who|where|while|whereas|with|y|e|et|und|mas|pero)\b)))|\s?(?:[.,;)\]]|$)"
)
_PLACE_BEFORE = re.compile(r"\b(?:appendix|annex|supplement\w*|file|material) [A-Z]?\d{0,2}$", re.IGNORECASE)
"""What a pointer behind a comma is part of: "in Appendix 1, Table A1"."""
_SEE = r"(?:also\s)?see\s(?:also\s)?|cf\.\s"
_DASH_BEFORE, _DASH_AFTER = re.compile(rf"\s([–—-])\s({_SEE})?$"), re.compile(r"\s([–—-])(?=\s)")
_CLOSE_DASH_BEFORE, _CLOSE_DASH_AFTER = re.compile(rf"—(?:{_SEE})$"), re.compile(r"—(?=\w)")
"""Dashes without spaces also join words: they set an aside apart where it says "see"."""
_SEEN_BEFORE = 40
_STOPS = re.compile(r"\s?(?:\.(?!\w)|$)")
_PLURAL_FOLLOWS = re.compile(rf",?\s{PLURAL_VERB}")
_SINGULAR_FOLLOWS = re.compile(rf",?\s(?!{PLURAL_VERB}){CLEAR_VERB}")
_CHAPTER = re.compile(r"[^\d]*\d{1,2}-\d{1,2}[A-Za-z]?")
_IN_BEFORE = re.compile(r"\b(?:in|of|from|for|to)\s(?:the\s)?$", re.IGNORECASE)
_VERB_FOLLOWS, _PANELS = re.compile(rf"\s{VERB}"), re.compile(r",\s[Pp]anels?\s[^.;]*$")
"""They are the subject: "In Figure 2, panels A and B show"."""
_COMMA_AND_VERB = re.compile(rf",(?=\s{VERB})")
_RESPECTIVELY = re.compile(rf",?\srespectively\b(?:,(?=\s{VERB}))?")
"""What tells members of a list apart, of which one noun is left."""


def neutralise(text: str, pointers: Iterable[Span], language: str) -> tuple[str, tuple[Transform, ...]]:
    """Released text and the changes that lead to it.

    Args:
        text: source text.
        pointers: spans naming figures, tables or supplements, in order, not overlapping. Identifiers are
            found here.
        language: BCP-47 of the text; "und" is read as English, of others the writer's own words stay.

    Returns:
        The released text; transforms with offsets in it, in order. `restore` undoes them.
    """
    given = [span for span in pointers if span[1] > span[0]]
    spans: list[Span] = []
    for place, span in enumerate(given):
        ceiling = given[place + 1][0] if place + 1 < len(given) else len(text)
        spans.append(_whole(text, span, spans[-1][1] if spans else 0, ceiling))
    edits = _pointer_edits(text, spans, language) if spans else []
    named = _identifier_edits(text, edits)
    if not edits and not named:
        return text, ()
    ruled = [(*edit, RULE) for edit in edits] + [(*edit, IDENTIFIER_RULE) for edit in named]
    return _apply(text, sorted(ruled))


def _whole(text: str, span: Span, floor: int, ceiling: int) -> Span:
    """The pointer with what else names the place: "Online Supplementary" before it, ", SI" after it."""
    start, end = span
    if not _ADDRESS_BEFORE.search(text, max(floor, start - 60), start):
        while start > floor and text[start - 1].isalpha() and text[start].isascii() and text[start].isalpha():
            start -= 1  # a link that begins inside a word
    lead = _LEAD.search(text, max(floor, start - 80), start)
    tail = _TAIL.match(text, end, ceiling)
    start, end = lead.start() if lead else start, tail.end() if tail else end
    if arrow := _ARROW_BEFORE.search(text, floor, start):
        start = arrow.start()
    if _DIGITAL_CONTENT.match(text, start) and (kind := _CONTENT_BEFORE.search(text, floor, start)):
        start = kind.start()
    is_open = text.count("(", start, end) > text.count(")", start, end)
    return (start, end + 1 if is_open and text.startswith(")", end) else end)


def _pointer_edits(text: str, spans: Sequence[Span], language: str) -> list[Edit]:
    """What becomes of pointers."""
    edits: list[Edit] = []
    if (label := _LABEL_AT_START.match(text, spans[0][1])) and not text[: spans[0][0]].strip():
        edits.append((0, label.end(), ""))
        spans = spans[1:]
    edits, inside = _all_bracket_edits(text, spans, language, edits)
    begins = [start for start, _, _ in edits]
    free: list[Edit] = []
    for run in _runs(text, [span for span in spans if span not in inside]):
        before = edits[at - 1 : at] if (at := bisect_left(begins, run[0][0])) else []
        floor = max((stop for _, stop, _ in (*before, *free[-1:])), default=0)
        kept = free[-1][1] if free and free[-1][2] else -1
        free.append(_free_edit(text, run, language, floor, kept))
    return edits + free


def _all_bracket_edits(
    text: str, spans: Sequence[Span], language: str, first: Iterable[Edit]
) -> tuple[list[Edit], set[Span]]:
    """Edits of all brackets after those given, in order, and the pointers in brackets."""
    edits, held = list(first), set[Span]()
    noun = partial(_noun_phrase, text, language)
    before, position = "", edits[-1][1] if edits else 0
    starts = [start for start, _ in spans]
    for group in _GROUP.finditer(text):
        there = spans[bisect_left(starts, group.start()) : bisect_left(starts, group.end())]
        inside = [span for span in there if span[1] <= group.end()]
        if not inside:
            continue
        held.update(inside)
        start = max(group.start(), position)
        before = (before + text[position:start])[-_SEEN_BEFORE:]
        made = sorted(bracket_edits(text, (start, group.end()), inside, noun, language, before))
        position = start
        for begin, stop, replacement in made:
            before += text[position:begin] + replacement
            position = max(stop, position)
        edits += made
    return edits, held


def _free_edit(text: str, run: Sequence[Span], language: str, floor: int, kept: int) -> Edit:
    """A pointer in running text: nothing for a label or behind a comma, else a noun in its place.

    Args:
        text: the text.
        run: neighbouring pointers.
        language: of the text.
        floor: where the edit before it ends.
        kept: where the noun for the pointer before it ends: behind a comma there, this one is of its list.
    """
    start, end = run[0][0], run[-1][1]
    before = text[max(0, start - 30) : start]
    panels = _PANELS.search(text, start, end)
    if panels and _IN_BEFORE.search(before) and _VERB_FOLLOWS.match(text, end):
        end = panels.start()
        run = [*run[:-1], (run[-1][0], end)]
    if (label := _LABEL_AFTER.match(text, end)) and _LABEL_BEFORE.search(before):
        return (start, label.end(), "")
    if label := _ALONE_AFTER.match(text, end):
        see = _SEE_BEFORE.search(before)
        lead = before[: see.start()] if see else before
        begin = start - len(before) + len(lead)
        if begin >= floor and _is_sentence_start(lead):
            if lead.endswith(" ") and begin > max(floor, 1):
                return (begin - 1, label.end(), "")
            return (begin, label.end() + (text[label.end() : label.end() + 1] == " "), "")
    aside = _COMMA_BEFORE.search(text, max(0, start - 9), start)
    is_part = aside is not None and _PLACE_BEFORE.search(text, max(0, aside.start() - 20), aside.start())
    if aside and aside.start() >= max(floor, 1) and (aside.start() != kept or is_part):
        ends = (_CLAUSE_ENDS if aside["mark"] == "," else _STOPS).match(text, end)
        if ends:
            is_comma = bool(ends.re.groups and ends["comma"])
            stop = ends.end() if is_comma else end
            return (aside.start(), stop, aside["refs"])
    opened, closed = _DASH_BEFORE.search(text, max(floor, start - 12), start), _DASH_AFTER.match(text, end)
    if opened and closed and opened[1] == closed[1]:
        return (opened.start(), closed.end(), "")
    close = _CLOSE_DASH_BEFORE.search(text, max(floor, start - 12), start)
    if close and (closes := _CLOSE_DASH_AFTER.match(text, end)):
        return (close.start(), closes.end(), " ")
    if opened and not opened[2] and _STOPS.match(text, end):
        return (opened.start(), end, "")
    if aside and aside.start() == kept and len(run) > 1:  # "Table 2, Fig. 3 and Fig. 4"
        return (aside.start(), end, text[run[-2][1] : run[-1][0]] + _noun_phrase(text, language, run, start))
    if (told := _RESPECTIVELY.match(text, end)) and _is_list(text, start, end):
        return (start, told.end(), _noun_phrase(text, language, run, start))
    if "," in text[start:end] and _is_sentence_start(before) and (comma := _COMMA_AND_VERB.match(text, end)):
        return (start, comma.end(), _noun_phrase(text, language, run, start))
    return (start, end, _noun_phrase(text, language, run, start))


def _is_sentence_start(before: str) -> bool:
    return bool(_SENTENCE_START.search(before)) and not _SHORT_FORM.search(before)


_NAMED = {"doi": "[DOI]", "pubmed": "[PubMed ID]", "registered": "[registry number]"}
_LABEL = (
    r"(?:[\s,;:.&–—-]|\b(?:and|or|see|also|at|in|on|the|of|is|was|with|under|DOI|doi|PMID|PMCID|PROSPERO|EudraCT"
    r"|[Cc]linical[Tt]rials(?:\.gov)?|clinical|trials?|registry|registration|registered|register|registro"
    r"|identifiers?|ID|id|numbers?|no|nr|n[º°]|URL|url|https?://|www|available|accessed|from|online|número|code)\b)*"
)
_LABELLED = re.compile(_LABEL)
_OWN_LINE = re.compile(rf"(?:^|(?<=[.!?])(?<!www\.)(?<!\b[Nn][or]\.)(?<!\bn\.)|(?<=\n))[^\S\n]*{_LABEL}$")
_HEADING = re.compile(
    r"(?:^|\n)[^\n]{0,80}(?:regist|inscri|identif|number|n[úu]m[eé]r|nummer|trials?\b|ensa[iy]o|essai|protocol|\bdoi\b"
    r"|prospero|регистр|номер|登録|登记|注册|番号)[^\n]{0,40}(?<![\s.!?。])\s*\n$",
    re.IGNORECASE,
)
"""A line of its own that names what stands below it: it would be left with nothing to name."""
_NAMED_BEFORE = re.compile(r"\b(?:identifiers?|numbers?|IDs?|n[oºr]\.?|under|as|número|code)$", re.IGNORECASE)
"""Before a bracket that must not go: "[ClinicalTrials.gov], identifier [NCT01234567]"."""
_BLANK = re.compile(r"\s*")
_LINE_ENDS = re.compile(r"\s*\.?(?=\s*(?:\n|$)|\s+[A-Z(])")


def _identifier_edits(text: str, pointer_edits: Sequence[Edit]) -> list[Edit]:
    """What becomes of identifiers: one that stands alone goes with its bracket or line."""
    free = text
    for start, end, _ in pointer_edits:  # no address runs on into a pointer
        free = f"{free[:start]}{' ' * (end - start)}{free[end:]}"
    found = list(identifiers_in(free))
    if not found:
        return []
    edits: list[Edit] = []
    pointed = {start for start, _, _ in pointer_edits}
    groups = [group.span() for group in _GROUP.finditer(text)]
    for start, end, kind in found:
        if edits and start < edits[-1][1]:
            continue
        group = next((group for group in groups if group[0] <= start and end <= group[1]), None)
        is_named = _NAMED_BEFORE.search(text, max(0, start - 30), group[0] if group else start) is not None
        if group is not None and not is_named and _holds_only(text, group, found):
            edits.append(removed_bracket(text, group, text[: group[0]]))
            continue
        begins = edits[-1][1] if edits else 0
        before = _OWN_LINE.search(text, begins, start) if group is None else None
        after = _LINE_ENDS.match(text, end)
        if before is not None and _HEADING.search(text, max(0, start - 200), before.start()):
            before = None
        if before is not None and after is not None:
            is_first = not text[: before.start()].strip() or text[before.start() - 1] == "\n"
            follows = (
                _BLANK.match(text, after.end())
                if is_first and text[after.end() : after.end() + 1] != "\n"
                else None
            )
            edits.append((before.start(), follows.end() if follows else after.end(), ""))
        else:
            is_glued = text[end : end + 1].isalpha() and end not in pointed
            edits.append((start, end, "" if is_glued else _name(text, start, end, kind)))
    return edits


def _name(text: str, start: int, end: int, kind: str) -> str:
    """What stands for an identifier within a sentence; brackets of the text serve as its own."""
    is_bracketed = text[start - 1 : start] == "[" and text[end : end + 1] == "]"
    name = _NAMED[kind][1:-1] if is_bracketed else _NAMED[kind]
    return f" {name}" if text[start - 1 : start].isalpha() else name


def _holds_only(text: str, group: Span, found: Iterable[tuple[int, int, str]]) -> bool:
    """Whether a bracket holds nothing but identifiers and their labels."""
    rest, position = "", group[0] + len(text[slice(*group)]) - len(text[slice(*group)].lstrip()) + 1
    for start, end, _ in found:
        if group[0] <= start and end <= group[1]:
            rest += text[position:start] + " "
            position = end
    return _LABELLED.fullmatch(rest + text[position : group[1] - 1]) is not None


def neutralise_caption(text: str, language: str) -> tuple[str, tuple[Transform, ...]]:
    """The same for a text whose pointers are not known yet, e.g. "see Fig. 3" in a caption."""
    return neutralise(text, [(found.start, found.end) for found in pointers_in(text)], language)


def restore(text: str, transforms: Sequence[Transform]) -> str:
    """The source text of a released text: all transforms undone, last first."""
    for change in reversed(transforms):
        text = text[: change.start] + change.original + text[change.end :]
    return text


def _runs(text: str, spans: Sequence[Span]) -> list[list[Span]]:
    """Neighbouring pointers of one kind joined by nothing but "and" or a comma."""
    runs: list[list[Span]] = []
    for span in spans:
        if runs and _JOIN.fullmatch(text, runs[-1][-1][1], span[0]):
            last = runs[-1][-1]
            is_range = _FROM.search(text, max(0, last[0] - 6), last[0]) and _TO.search(text, last[1], span[0])
            is_clause = _MARK.fullmatch(text, last[1], span[0]) and _GOES_ON.match(text, span[1])
            if not is_range and not is_clause and kind_of(text[slice(*last)]) == kind_of(text[slice(*span)]):
                runs[-1].append(span)
                continue
        runs.append([span])
    return runs


def _is_list(text: str, start: int, end: int) -> bool:
    """Whether pointers name more than one place or panel: for these one noun stands."""
    items = [item for one in pointers_in(text[start:end]) for item in one.items]
    return len(items) > 1 or any(len(item.panels) > 1 for item in items)


def _noun_phrase(text: str, language: str, run: Sequence[Span], at: int) -> str:
    start, end = run[0][0], run[-1][1]
    before = text[max(0, at - 40) : at]
    pointer = text[start : run[0][1]]
    starts = _is_sentence_start(before)
    numbers = pointers_in(text[start:end])
    many = len(run) > 1 or is_plural(pointer) or sum(len(one.items) for one in numbers) > 1
    many = many or (starts and _PLURAL_FOLLOWS.match(text, end) is not None)
    if len(run) == 1 and not is_plural(pointer):
        many = many and not _names_one(text, start, end)
    noun = phrase(pointer, language, before, many=many)
    if language.lower()[:2] in CJK:
        return noun
    if starts:
        noun = noun[0].upper() + noun[1:]
    return f"{' ' * before[-1:].isalnum()}{noun}{' ' * text[end : end + 1].isalnum()}"


def _names_one(text: str, start: int, end: int) -> bool:
    """Whether "Table 1-2" may be the second table of a chapter: no verb behind it asks for a plural."""
    is_chapter = _CHAPTER.fullmatch(text, start, end) is not None and not _PLURAL_FOLLOWS.match(text, end)
    return is_chapter or _SINGULAR_FOLLOWS.match(text, end) is not None


def _apply(text: str, edits: Sequence[tuple[int, int, str, str]]) -> tuple[str, tuple[Transform, ...]]:
    released: list[str] = []
    transforms: list[Transform] = []
    position = length = 0
    for start, end, replacement, rule in edits:
        start = max(start, position)  # two neighbours may both have taken the space between them
        if start >= end or replacement == text[start:end]:
            continue
        kept = text[position:start]
        released += [kept, replacement]
        at = length + len(kept)
        length = at + len(replacement)
        transforms.append(Transform(start=at, end=length, original=text[start:end], rule=rule))
        position = end
    released.append(text[position:])
    return "".join(released), tuple(transforms)
