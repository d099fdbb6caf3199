"""Takes figure numbers and identifiers of articles out of released text, by changes that can be undone.

"(Fig. 2A)" goes with the space before it; "Fig. 2A shows" becomes "The figure shows"; "DOI: 10.1000/5" at the
end of a caption goes, "registered as NCT01234567" becomes "registered as [registry number]". What a number
would give away about the pair of query and document is gone, the sentence stays readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from curation.extract.identifiers import identifiers_in
from curation.extract.pointers import is_plural, pointers_in
from schemas.benchmark import Transform

Span = tuple[int, int]
Edit = tuple[int, int, str]

RULE = "figure_pointer"
IDENTIFIER_RULE = "identifier"

_NOUNS: dict[str, dict[str, tuple[str, str, str, str]]] = {
    "en": {
        "figure": ("the", "figure", "the", "figures"),
        "table": ("the", "table", "the", "tables"),
        "supplement": ("the", "supplement", "the", "supplements"),
        "video": ("the", "video", "the", "videos"),
        "box": ("the", "box", "the", "boxes"),
    },
    "es": {
        "figure": ("la", "figura", "las", "figuras"),
        "table": ("la", "tabla", "las", "tablas"),
        "supplement": ("el", "suplemento", "los", "suplementos"),
        "video": ("el", "vídeo", "los", "vídeos"),
        "box": ("el", "recuadro", "los", "recuadros"),
    },
    "pt": {
        "figure": ("a", "figura", "as", "figuras"),
        "table": ("a", "tabela", "as", "tabelas"),
        "supplement": ("o", "suplemento", "os", "suplementos"),
        "video": ("o", "vídeo", "os", "vídeos"),
        "box": ("o", "quadro", "os", "quadros"),
    },
    "fr": {
        "figure": ("la", "figure", "les", "figures"),
        "table": ("le", "tableau", "les", "tableaux"),
        "supplement": ("le", "supplément", "les", "suppléments"),
        "video": ("la", "vidéo", "les", "vidéos"),
        "box": ("un", "encadré", "les", "encadrés"),
    },
    "de": {
        "figure": ("die", "Abbildung", "die", "Abbildungen"),
        "table": ("die", "Tabelle", "die", "Tabellen"),
        "supplement": ("der", "Anhang", "die", "Anhänge"),
        "video": ("das", "Video", "die", "Videos"),
        "box": ("der", "Kasten", "die", "Kästen"),
    },
    "it": {
        "figure": ("la", "figura", "le", "figure"),
        "table": ("la", "tabella", "le", "tabelle"),
        "supplement": ("il", "supplemento", "i", "supplementi"),
        "video": ("il", "video", "i", "video"),
        "box": ("il", "riquadro", "i", "riquadri"),
    },
    "ru": {
        "figure": ("", "рисунок", "", "рисунки"),
        "table": ("", "таблица", "", "таблицы"),
        "supplement": ("", "приложение", "", "приложения"),
        "video": ("", "видео", "", "видео"),
        "box": ("", "врезка", "", "врезки"),
    },
    "zh": {
        "figure": ("", "图", "", "图"),
        "table": ("", "表", "", "表"),
        "supplement": ("", "附录", "", "附录"),
        "video": ("", "视频", "", "视频"),
        "box": ("", "文本框", "", "文本框"),
    },
    "ja": {
        "figure": ("", "図", "", "図"),
        "table": ("", "表", "", "表"),
        "supplement": ("", "付録", "", "付録"),
        "video": ("", "動画", "", "動画"),
        "box": ("", "囲み", "", "囲み"),
    },
}
_DETERMINER = re.compile(
    r"\b(?:the|this|these|both|our|their|its|his|her|whose|sa|leur|leurs|sus?|suas?|seus?|ihrer?|above|following|same|corresponding|respective|supplement(?:ary|al)|la"
    r"|las|el|los|le|les|esta|estas"
    r"|na|nas|da|das|à|às|pela|pelas|no|nos|do|dos|ao|cette|ces|au|aux|du|des|der|die|den|dem|diese[rn]?"
    r"|il|nella|nelle|della|delle|alla)\s$",
    re.IGNORECASE,
)
_TABLE = re.compile(r"tab|cuadro|quadro|табл|表", re.IGNORECASE)
_FIGURE = re.compile(
    r"fig|abb|рис|图|圖|図|그림|ry[cs]|panel|schem|esquem|chart|graph|gráf|plate|imag|imág|photo|foto|map",
    re.I,
)
_VIDEO = re.compile(r"v[ií]d[eé]o|movie|film|视频|動画|видео", re.I)
_BOX = re.compile(r"\bbox|recuadro|encadré|kasten|riquadro", re.I)
_GROUP = re.compile(r"\s*(?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\]|（[^（）]*）)")
_INNER_GROUP = re.compile(r"\s*\([^()]*\)")
_FILLER = re.compile(
    r"(?:[\s,;:&./–—‐-]|\b(?:and|or|see|also|e\.?g|i\.?e|cf|as|shown|in|illustrated|panels?|left|right"
    r"|upper|lower|top|bottom|middle"
    r"|white|black|red|blue|green|yellow|arrows?|arrowheads?|asterisks?|row|column|inset|online"
    r"|respectively|et|y|e|und|ver|vide|véase"
    r"|siehe|vgl|voir|data not shown|the|of|to|for details|from|supplementary materials?|[Ss]upplement|и"
    r"|см)\b|[见见參参如照])*",
    re.IGNORECASE,
)
_JOIN = re.compile(r"\s*(?:,|;|&|–|-|,?\s?\b(?:and|or|to|und|et|y|e|и)\b|、|和|及|与|と)\s*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|[.!?]\d{1,3}\s+)[\"“(\[]?$")
_CJK = frozenset({"zh", "ja"})
_LEAD = re.compile(
    r"(?<![A-Za-z-])(?:on-?line|web|supp(?:l|lement(?:ary|al|ar)?|orting)?\.?|extended|additional|digital|appendix)"
    r"(?: \d{1,2})?[,:;]?\s(?:(?:on-?line|supp(?:l|lement(?:ary|al|ar)?)?\.?|digital|data|content|materials?"
    r"|information|files?|appendix|resources?)(?: \d{1,2})?[,:;]?\s)*$",
    re.IGNORECASE,
)
_LABEL_AT_START = re.compile(r"\s*(?:[:.|–—-]+\s+(?=\S)|\s(?=[A-Z][a-z]+ (?!shows?\b)))")
_COMMA_BEFORE = re.compile(r",\s$")
_CLAUSE_ENDS = re.compile(
    r"(?P<comma>,(?=\s(?!(?:and|but|or|which|who|where|while|whereas|with|y|e|et|und|mas|pero)\b)))|\s?(?:[.,;)\]]|$)"
)
_NEEDS_NOUN = re.compile(
    r"\b(?:in|by|from|see|on|at|of|to|than|per|and|or|the|em|na|nas|no|en|dans|siehe|la|el|der|die)\s*$", re.I
)
"""A sentence that breaks off here needs what stands in the bracket: "as shown in (Fig. 2)"."""


def neutralise(text: str, pointers: Iterable[Span], language: str) -> tuple[str, tuple[Transform, ...]]:
    """Released text and the changes that lead to it.

    Args:
        text: source text.
        pointers: spans naming figures, tables or supplements, in order, not overlapping. Identifiers are
            found here.
        language: BCP-47 of the text; anything not in the table of nouns is treated as English.

    Returns:
        The released text; transforms with offsets in it, in order. `restore` undoes them.
    """
    spans: list[Span] = []
    for start, end in pointers:
        if end > start:
            spans.append(_with_lead(text, (start, end), spans[-1][1] if spans else 0))
    edits = _pointer_edits(text, spans, language) if spans else []
    named = _identifier_edits(text, edits)
    if not edits and not named:
        return text, ()
    ruled = [(*edit, RULE) for edit in edits] + [(*edit, IDENTIFIER_RULE) for edit in named]
    return _apply(text, sorted(ruled))


def _with_lead(text: str, span: Span, floor: int) -> Span:
    """The pointer with what else names the place before it: "Online Supplementary", "Appendix 1,"."""
    found = _LEAD.search(text, max(floor, span[0] - 80), span[0])
    return (found.start(), span[1]) if found else span


def _pointer_edits(text: str, spans: Sequence[Span], language: str) -> list[Edit]:
    """What becomes of pointers."""
    edits: list[Edit] = []
    if (label := _LABEL_AT_START.match(text, spans[0][1])) and not text[: spans[0][0]].strip():
        edits.append((0, label.end(), ""))
        spans = spans[1:]
    free = list(spans)
    for group in _GROUP.finditer(text):
        inside = [span for span in spans if group.start() <= span[0] and span[1] <= group.end()]
        if inside:
            edits += _group_edits(text, (group.start(), group.end()), inside, language)
            free = [span for span in free if span not in inside]
    for run in _runs(text, free):
        edits.append(_free_edit(text, run, language))
    return edits


def _free_edit(text: str, run: Sequence[Span], language: str) -> Edit:
    """A pointer in running text: a noun in its place, nothing where it only stood behind a comma."""
    start, end = run[0][0], run[-1][1]
    aside = _COMMA_BEFORE.search(text, max(0, start - 4), start)
    if aside and aside.start() and (ends := _CLAUSE_ENDS.match(text, end)):
        return (aside.start(), ends.end("comma") if ends.group("comma") else end, "")
    return (start, end, _noun_phrase(text, run, language))


_NAMED = {"doi": "[DOI]", "pubmed": "[PubMed ID]", "registered": "[registry number]"}
_LABEL = (
    r"(?:[\s,;:.&–—-]|\b(?:and|or|see|also|at|in|on|the|of|is|was|with|under|DOI|doi|PMID|PMCID|PROSPERO|EudraCT"
    r"|[Cc]linical[Tt]rials(?:\.gov)?|clinical|trials?|registry|registration|registered|register|registro"
    r"|identifiers?|ID|id|numbers?|no|nr|n[º°]|URL|url|https?://|www|available|accessed|from|online|número|code)\b)*"
)
_LABELLED = re.compile(_LABEL)
_OWN_LINE = re.compile(rf"(?:^|(?<=[.!?])|(?<=\n))[^\S\n]*{_LABEL}$")
_BLANK = re.compile(r"\s*")
_LINE_ENDS = re.compile(r"\s*\.?(?=\s*(?:\n|$)|\s+[A-Z(])")


def _identifier_edits(text: str, pointer_edits: Iterable[Edit]) -> list[Edit]:
    """What becomes of identifiers: one that stands alone goes with its bracket or line."""
    free = text
    for start, end, _ in pointer_edits:  # no address runs on into a pointer
        free = f"{free[:start]}{' ' * (end - start)}{free[end:]}"
    found = list(identifiers_in(free))
    if not found:
        return []
    edits: list[Edit] = []
    groups = [group.span() for group in _GROUP.finditer(text)]
    for start, end, kind in found:
        if edits and start < edits[-1][1]:
            continue
        group = next((group for group in groups if group[0] <= start and end <= group[1]), None)
        if group is not None and _holds_only(text, group, found):
            edits.append(_removed_group(text, group))
            continue
        begins = edits[-1][1] if edits else 0
        before = _OWN_LINE.search(text, begins, start) if group is None else None
        after = _LINE_ENDS.match(text, end)
        if before is not None and after is not None:
            follows = _BLANK.match(text, after.end()) if not text[: before.start()].strip() else None
            edits.append((before.start(), follows.end() if follows else after.end(), ""))
        else:
            edits.append((start, end, _NAMED[kind]))
    return edits


def _holds_only(text: str, group: Span, found: Iterable[tuple[int, int, str]]) -> bool:
    """Whether a bracket holds nothing but identifiers and their labels."""
    rest, position = "", group[0] + len(text[slice(*group)]) - len(text[slice(*group)].lstrip()) + 1
    for start, end, _ in found:
        if group[0] <= start and end <= group[1]:
            rest += text[position:start] + " "
            position = end
    return _LABELLED.fullmatch(rest + text[position : group[1] - 1]) is not None


def _removed_group(text: str, group: Span) -> Edit:
    opening = group[0] + len(text[slice(*group)]) - len(text[slice(*group)].lstrip())
    return _whole_group(text, group[0], opening, group[1])


def neutralise_caption(text: str, language: str) -> tuple[str, tuple[Transform, ...]]:
    """The same for a text whose pointers are not known yet, e.g. "see Fig. 3" in a caption."""
    return neutralise(text, [(found.start, found.end) for found in pointers_in(text)], language)


def restore(text: str, transforms: Sequence[Transform]) -> str:
    """The source text of a released text: all transforms undone, last first."""
    for change in reversed(transforms):
        text = text[: change.start] + change.original + text[change.end :]
    return text


def _group_edits(text: str, group: Span, inside: Sequence[Span], language: str) -> list[Edit]:
    """Remove a bracket that holds nothing but pointers; else only the pointers, with one separator each."""
    start, end = group
    opening = start + len(text[start:end]) - len(text[start:end].lstrip())
    rest, position = "", opening + 1
    for span in inside:
        rest += text[position : span[0]]
        position = span[1]
    rest += text[position : end - 1]
    if _FILLER.fullmatch(rest) and _NEEDS_NOUN.search(text, max(0, start - 12), start):
        return [(opening, end, _noun_phrase(text, list(inside), language))]
    if _FILLER.fullmatch(rest):
        return [_whole_group(text, start, opening, end)]
    edits: list[Edit] = []
    free = list(inside)
    for inner in _INNER_GROUP.finditer(text, opening + 1, end - 1):
        nested = [span for span in inside if inner.start() <= span[0] and span[1] <= inner.end()]
        if nested:
            edits += _group_edits(text, inner.span(), nested, language)
            free = [span for span in free if span not in nested]
    return edits + [_inner_edit(text, run, opening, end, language) for run in _runs(text, free)]


def _whole_group(text: str, start: int, opening: int, end: int) -> Edit:
    """The bracket with the space before it; at the start of a text with the space after it."""
    if start == opening and text[:start].strip() == "":
        trail = re.compile(r"\s*").match(text, end)
        return (opening, trail.end() if trail else end, "")
    joins_words = text[end : end + 1].isalnum() and start > 0 and not text[start - 1].isspace()
    return (start, end, " " if joins_words and opening > start else "")


def _inner_edit(text: str, run: Sequence[Span], opening: int, end: int, language: str) -> Edit:
    start, stop = run[0][0], run[-1][1]
    lead = re.compile(r"[\s(\[（]*(?:(?:see|see also|cf\.|e\.g\.,?|ver|vide)\s)?$").search(
        text, opening, start
    )
    after = re.compile(r"\s*[,;:]\s*").match(text, stop, end)
    if lead and lead.start() == opening and after:
        return (opening + 1, after.end(), "")
    before = re.compile(r"\s*[,;]\s*(?:(?:see|see also|and|cf\.)\s)?$").search(text, opening, start)
    if before and re.compile(r"\s*[)\]）,;]").match(text, stop):
        return (before.start(), stop, "")
    return (start, stop, _noun_phrase(text, run, language))


def _runs(text: str, spans: Sequence[Span]) -> list[list[Span]]:
    """Neighbouring pointers of one kind joined by nothing but "and" or a comma."""
    runs: list[list[Span]] = []
    for span in spans:
        if runs and _JOIN.fullmatch(text, runs[-1][-1][1], span[0]):
            last = runs[-1][-1]
            if _kind(text[last[0] : last[1]]) == _kind(text[span[0] : span[1]]):
                runs[-1].append(span)
                continue
        runs.append([span])
    return runs


def _kind(pointer: str) -> str:
    if re.match(
        r"[Aa]dditional|[Mm]ultimedia|[Ss]upp\w*\.?\s(?:[Mm]aterial|[Dd]ata|[Ff]ile|[Tt]ext|[Nn]ote|[Ii]nfo)",
        pointer,
    ):
        return "supplement"
    if _VIDEO.search(pointer):
        return "video"
    if _FIGURE.search(pointer):
        return "figure"
    if _BOX.search(pointer):
        return "box"
    if _TABLE.search(pointer):
        return "table"
    return "supplement" if re.search(r"[a-z]{4}", pointer) else "figure"


def _noun_phrase(text: str, run: Sequence[Span], language: str) -> str:
    start, end = run[0][0], run[-1][1]
    pointer = text[start : run[0][1]]
    code = language.lower()[:2]
    nouns = _NOUNS.get(code, _NOUNS["en"])[_kind(pointer)]
    numbers = pointers_in(text[start:end])
    many = len(run) > 1 or is_plural(pointer) or sum(len(one.items) for one in numbers) > 1
    article, noun = nouns[2:] if many else nouns[:2]
    before = text[max(0, start - 20) : start]
    is_determined = _DETERMINER.search(before) or (code == "pt" and re.search(r"\b[AaOo]s?\s$", before))
    phrase = noun if not article or is_determined else f"{article} {noun}"
    if code not in _CJK and _SENTENCE_START.search(before if start > 20 else text[:start]):
        phrase = phrase[0].upper() + phrase[1:]
    spaced = code not in _CJK
    lead = " " if spaced and start and text[start - 1].isalnum() else ""
    trail = " " if spaced and text[end : end + 1].isalnum() else ""
    return lead + phrase + trail


def _apply(text: str, edits: Sequence[tuple[int, int, str, str]]) -> tuple[str, tuple[Transform, ...]]:
    released: list[str] = []
    transforms: list[Transform] = []
    position = length = 0
    for start, end, replacement, rule in edits:
        kept = text[position:start]
        released += [kept, replacement]
        at = length + len(kept)
        length = at + len(replacement)
        transforms.append(Transform(start=at, end=length, original=text[start:end], rule=rule))
        position = end
    released.append(text[position:])
    return "".join(released), tuple(transforms)
