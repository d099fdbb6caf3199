"""Parting the case text of one region by patient: numbers, ordinals, ages, relatives, shared passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from curation.cases.headings import Heading, Kind, number_of, numbered
from curation.cases.narrative import Paragraph, is_shared
from curation.cases.patient import ages_in, introduces

_ANOTHER = re.compile(r"^(?:an?|another|one|our|un|una|um|uma|une|ein|eine)\s", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|\d+|dos|tres|dois|três|deux|trois|zwei"
    r"|drei)\s+(?:[\w-]+\s+){0,4}(?:cases|patients|siblings|sisters|brothers|twins|children|members"
    r"|girls|boys|women|men|infants|newborns|casos|pacientes|cas|fälle)\b|\bcase (?:series|reports)\b"
    r"|\bcases\b|\bsiblings\b|\btwins\b|\bfamil(?:y|ies|ial)\b|\bpatients\b",
    re.IGNORECASE,
)
_FAMILY = re.compile(r"\b(?:members|siblings|sisters|brothers|twins|cousins|famil(?:y|ies))\b", re.IGNORECASE)
_KIN = re.compile(
    r"\b(?:cousin|brother|sister|sibling|twin|aunt|uncle|nephew|niece|daughter|son)s?\b", re.IGNORECASE
)
_NAMED = re.compile(
    r"(?P<before>\b\w+\s+)?\b(?:cases?|patients?)\s+(?P<one>\d{1,2}|one|two|three|four|five)(?:\s*(?:,"
    r"|and|&)\s*(?P<two>\d{1,2}|two|three|four|five))?\b",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    r"\((?P<label>(?:case|patient)\s(?:no\.?\s?)?(?P<number>\d{1,2}|[IVX]{1,4}))\)", re.IGNORECASE
)
_IN_ALL = re.compile(
    r"^both (?:were|had|have|developed|evolved|presented|died|recovered|received|underwent|are|showed)\b"
    r"|\bin (?:both|all (?:two|three|four|five)) (?:cases|patients)\b",
    re.IGNORECASE,
)
"""A sentence of all patients alike."""
_TURNED = re.compile(
    r"(?<!than )(?<!unlike )(?<!to )\bthe (?P<number>first|second|third|fourth|fifth) (?:case|patient)\b",
    re.IGNORECASE,
)
_TOPIC = 60
"""Characters at the beginning of a sentence in which it says whom it is about."""
_ANNOUNCED = re.compile(
    r"\b(?P<number>two|three|four|five)\s(?:[\w-]+\s){0,3}(?:cases|patients|women|men|children|girls|boys)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?:(?:the )?case of )?(?:an?|the)\s(?:[\w-]+,?\s){0,3}$", re.IGNORECASE)
_SIBLINGS = re.compile(
    r"\b(?:twins?|siblings|brothers|sisters)\b.{0,60}"
    r"\b(?:were|was|presented|came|attended|visited|had|showed|developed)\b",
    re.IGNORECASE,
)
"""Siblings told of together."""
_ONE_OF_THEM = re.compile(
    r"^(?:[^,;]{1,40}, )?(?:(?:the|our) (?P<which>older|elder|younger|first|second|other)(?:[- ]born)?"
    r" (?:affected )?(?:brother|sister|twin|sibling|boy|girl|child)"
    r"|twin (?P<number>one|two|[AB12]|II?))\b(?!['’]s)",
    re.IGNORECASE,
)
"""One of them, whom a sentence is about."""
_THEM = re.compile(
    r"\b(?:the|both) (?:twins|siblings|brothers|sisters|girls|boys|children|patients)\b", re.IGNORECASE
)
_EARLY = 3
"""Sentences of a story among which siblings are introduced together."""
_JOINED = re.compile(r"[\s,;]*(?:\b(?:and|y|e|et|und)\b)?\s*$", re.IGNORECASE)
_MAX_RELATIVES = 9
_COMPARED = frozenset({"as", "than", "like", "to", "unlike"})


@dataclass(slots=True)
class Piece:
    """A stretch of a paragraph that belongs to a patient."""

    paragraph: Paragraph
    start: int
    end: int

    def sentences(self) -> Iterator[tuple[int, int]]:
        """Its sentences, cut where the piece is."""
        for start, end in self.paragraph.spans():
            if max(start, self.start) < min(end, self.end):
                yield max(start, self.start), min(end, self.end)


@dataclass(slots=True)
class Draft:
    """One patient's text before it is read; number 0 is the only patient of text without numbers."""

    number: int
    label: str
    rule: str
    pieces: list[Piece] = field(default_factory=list)

    def text(self) -> str:
        """All of it, pieces parted by line breaks."""
        return "\n".join(piece.paragraph.text[piece.start : piece.end] for piece in self.pieces)


def part(
    chosen: Sequence[Paragraph],
    heads: Callable[[int, int], Iterator[Heading]],
    rule: str,
    title: str,
    abstract: str,
) -> list[Draft]:
    """One draft per patient of a region's paragraphs, in reading order.

    Args:
        chosen: the paragraphs of the region.
        heads: headings of the sections entered between two section numbers (`heads(number, before)`).
        rule: how the region was found; patients with a number or a heading of their own have their own rule.
        title: title of the article, where a family or several patients are announced.
        abstract: its abstracts, likewise.
    """
    is_several = _SEVERAL.search(f"{title} {abstract}") is not None
    if is_several and (siblings := _siblings(chosen, rule)):
        return siblings
    only = Draft(0, "", rule)
    drafts: dict[int, Draft] = {}
    current = only
    loose: list[Paragraph] = []
    before = 0
    introduced = _introduced(chosen) if is_several else []
    for paragraph in chosen:
        head = _head(paragraph, heads(paragraph.section, before), drafts, introduced)
        before = paragraph.section
        if head is not None:
            current = _begin(head, drafts, only)
        elif drafts:
            loose.append(paragraph)
            if is_shared(paragraph.text):
                _add_to_all(paragraph, drafts)
                continue
        for told, start, end in _pieces(paragraph, current, drafts, only):
            current = told[-1]
            for draft in told:
                draft.pieces.append(Piece(paragraph, start, end))
    if not drafts:
        return (_announced(only) or _relatives(only, title)) if only.pieces else []
    for paragraph in loose:
        _add_named(paragraph, drafts)
    return _in_order(drafts)


def _in_order(drafts: Mapping[int, Draft]) -> list[Draft]:
    """Drafts with any text, by number, each in reading order."""
    found = [drafts[number] for number in sorted(drafts) if drafts[number].pieces]
    for draft in found:
        draft.pieces.sort(key=lambda piece: (piece.paragraph.order, piece.start))
    return found


def _begin(head: tuple[int, str, str], drafts: dict[int, Draft], only: Draft) -> Draft:
    """The draft a head switches to. Text before a "Case 2" that no "Case 1" begins is the first patient's."""
    number, label, how = head
    if number == 2 and not drafts and only.pieces:
        drafts[1] = Draft(1, "", only.rule, only.pieces)
    return drafts.setdefault(number, Draft(number, label, how))


def _head(
    paragraph: Paragraph, entered: Iterator[Heading], drafts: Mapping[int, Draft], introduced: Sequence[str]
) -> tuple[int, str, str] | None:
    """Number, label and rule of the patient that a paragraph begins with, if it begins one."""
    for heading in entered:
        if heading.kind is Kind.PATIENT:
            return heading.number, heading.label, "heading"
    spans = paragraph.spans()
    found = numbered(paragraph.text) or (_bracketed(paragraph.text[: spans[0][1]]) if spans else None)
    if found is not None and _follows(found[0], drafts):
        return found[0], found[1], _rule_of(found[1])
    if paragraph.id in introduced:
        return introduced.index(paragraph.id) + 1, "", "body"
    return None


def _rule_of(label: str) -> str:
    return "numbered" if number_of(label.split()[-1]) else "ordinal"


def _follows(number: int, drafts: Mapping[int, Draft]) -> bool:
    """Whether a number is a patient begun before or the next one; a first 2 follows unnumbered text."""
    return number in drafts or number == len(drafts) + 1 or (number == 2 and not drafts)


def _introduced(chosen: Sequence[Paragraph]) -> list[str]:
    """Ids of the paragraphs that each introduce another patient by age, when there are several."""
    found = []
    for paragraph in chosen:
        spans = paragraph.spans()
        first = paragraph.text[spans[0][0] : spans[0][1]] if spans else ""
        if _ANOTHER.match(first) and introduces(first):
            found.append(paragraph.id)
    return found if len(found) > 1 else []


def _pieces(
    paragraph: Paragraph, current: Draft, drafts: dict[int, Draft], only: Draft
) -> Iterator[tuple[Sequence[Draft], int, int]]:
    """A paragraph parted where a sentence inside it begins another patient, or goes back to one or to all."""
    start = begun = 0
    told: Sequence[Draft] = (current,)
    is_parted = _names_several(paragraph)
    for sentence_start, sentence_end in paragraph.spans():
        sentence = paragraph.text[sentence_start:sentence_end]
        found = numbered(sentence[:80]) or _bracketed(sentence) if sentence_start else None
        if found and not _is_begun(found[0], paragraph.text[:sentence_start], current, drafts, only):
            current = _begin((found[0], found[1], _rule_of(found[1])), drafts, only)
            now: Sequence[Draft] = (current,)
            begun += 1
        else:
            now = _gone_back_to(sentence, drafts) if begun or is_parted else ()
        if now and list(now) != list(told):
            if start < sentence_start:
                yield told, start, sentence_start
            start, told = sentence_start, now
    yield told, start, len(paragraph.text)


def _is_begun(number: int, before: str, current: Draft, drafts: Mapping[int, Draft], only: Draft) -> bool:
    """Whether a number inside a paragraph, with some text `before` it there, begins no other patient."""
    if number == current.number or number in drafts or not _follows(number, drafts):
        return True
    # "The first patient …" of a text that has begun with the patient already
    return number == 1 and current is only and bool(current.pieces or introduces(before))


def _gone_back_to(sentence: str, drafts: Mapping[int, Draft]) -> Sequence[Draft]:
    """The patients begun before that a sentence turns to: all, or those it names at its beginning."""
    if is_shared(sentence) or _IN_ALL.search(sentence):
        return [drafts[number] for number in sorted(drafts)]
    return [drafts[number] for number in sorted(topics(sentence)) if number in drafts]


def topics(sentence: str) -> set[int]:
    """Numbers of the patients a sentence is about, by what it begins with."""
    numbers = set(_named(sentence[:_TOPIC]))
    if found := _TURNED.search(sentence[:_TOPIC]):
        numbers.add(number_of(found["number"]))
    return numbers


def _names_several(paragraph: Paragraph) -> bool:
    """Whether sentences of a paragraph turn to one patient each, and not all to the same."""
    text = paragraph.text
    turned = [topics(text[start:end]) for start, end in paragraph.spans()]
    return len({min(numbers) for numbers in turned if len(numbers) == 1}) > 1


def _bracketed(sentence: str) -> tuple[int, str, int] | None:
    """Number, label and end of a number in brackets behind a person: "A 40-year-old man (case 1)"."""
    found = _IN_BRACKETS.search(sentence)
    if found is None or introduces(sentence[: found.end()], may_be_kin=True) is None:
        return None
    return number_of(found["number"]), found["label"], found.end()


def _siblings(chosen: Sequence[Paragraph], rule: str) -> list[Draft]:
    """Two siblings who are told of together first, and then each by a name: the older brother, the younger.

    What stands before either is named is of both.
    """
    sentences = [(paragraph, *span) for paragraph in chosen for span in paragraph.spans()]
    texts = [paragraph.text[start:end] for paragraph, start, end in sentences]
    named = [found and _which(found) for found in map(_ONE_OF_THEM.match, texts)]
    known = list(dict.fromkeys(name for name in named if name))
    if len(known) != 2 or not any(map(_SIBLINGS.search, texts[:_EARLY])):
        return []
    drafts = [Draft(number, "", rule) for number in (1, 2)]
    told = drafts
    for (paragraph, start, end), text, name in zip(sentences, texts, named, strict=True):
        if name:
            told = [drafts[known.index(name)]]
        elif is_shared(text) or _IN_ALL.search(text) or _THEM.search(text):
            told = drafts
        for draft in told:
            last = draft.pieces[-1] if draft.pieces else None
            if last and last.paragraph is paragraph and not paragraph.text[last.end : start].strip():
                last.end = end
            else:
                draft.pieces.append(Piece(paragraph, start, end))
    return drafts


def _which(found: re.Match[str]) -> str:
    """How one of two siblings is called."""
    name = (found["which"] or found["number"]).lower()
    return "elder" if name == "older" else name


def _announced(only: Draft) -> list[Draft]:
    """The patients of a text that tells of as many in the sentence that announces them: its parts, one each.

    What follows is theirs by name alone: nothing else says whose it is.
    """
    for piece in only.pieces[:1]:
        text = piece.paragraph.text
        for start, end in list(piece.sentences())[:2]:
            said = _ANNOUNCED.search(text[start:end])
            ages = ages_in(text[start:end])
            if said is None or len(ages) != number_of(said["number"]) or ages[0].start < said.end():
                continue
            cuts = [
                start + (_ARTICLE.search(text[start : start + age.start]) or said).start() for age in ages
            ]
            cuts[0] = start
            stops = [*(len(_JOINED.sub("", text[:cut])) for cut in cuts[1:]), end]
            found = [
                Draft(number, "", only.rule, [Piece(piece.paragraph, cut, stop)])
                for number, (cut, stop) in enumerate(zip(cuts, stops, strict=True), start=1)
            ]
            drafts = {draft.number: draft for draft in found}
            for later in only.pieces:
                for told, first, last in _turned(later, drafts, end if later is piece else 0):
                    for draft in told:
                        draft.pieces.append(Piece(later.paragraph, first, last))
            return found
    return []


def _turned(
    piece: Piece, drafts: Mapping[int, Draft], after: int
) -> Iterator[tuple[Sequence[Draft], int, int]]:
    """Sentences of a text behind an offset, each with the patients it or one before it turned to."""
    told: Sequence[Draft] = ()
    for start, end in piece.sentences():
        if start >= after:
            told = _gone_back_to(piece.paragraph.text[start:end], drafts) or told
            yield told, start, end


def _add_to_all(paragraph: Paragraph, drafts: Mapping[int, Draft]) -> None:
    for draft in drafts.values():
        draft.pieces.append(Piece(paragraph, 0, len(paragraph.text)))


def _add_named(paragraph: Paragraph, drafts: Mapping[int, Draft]) -> None:
    """Give sentences that name patients by number, or all of them, to those patients as well.

    Only in paragraphs that do not begin a patient themselves; "as in case 1" compares and does not tell.
    """
    for start, end in paragraph.spans():
        sentence = paragraph.text[start:end]
        numbers = set(drafts) if is_shared(sentence) else set(_named(sentence))
        for number in sorted(numbers & drafts.keys()):
            pieces = drafts[number].pieces
            if not any(
                item.paragraph is paragraph and item.start < end and start < item.end for item in pieces
            ):
                pieces.append(Piece(paragraph, start, end))


def _named(sentence: str) -> Iterator[int]:
    for found in _NAMED.finditer(sentence):
        if (found["before"] or "").strip().lower() in _COMPARED:
            continue
        for group in ("one", "two"):
            if found[group]:
                yield number_of(found[group])


def _relatives(only: Draft, title: str) -> list[Draft]:
    """The patient and, in reports of families, the relatives whose ages a sentence of the case states."""
    found = [only]
    if not _FAMILY.search(title):
        return found
    only.number = 1
    for piece in list(only.pieces):
        for start, end in piece.sentences():
            text = piece.paragraph.text
            ages = [
                age
                for age in ages_in(text[start:end])
                if _KIN.search(text[max(start, start + age.start - 80) : start + age.end + 40])
            ]
            for at, age in enumerate(ages[:_MAX_RELATIVES]):
                begin = start + age.start if at or len(ages) > 1 else start
                stop = start + ages[at + 1].start if at + 1 < len(ages) else end
                found.append(Draft(len(found) + 1, "", only.rule, [Piece(piece.paragraph, begin, stop)]))
    if len(found) > 1:
        drafts = {draft.number: draft for draft in found}
        for paragraph in dict.fromkeys(piece.paragraph for piece in only.pieces):
            _add_named(paragraph, drafts)
    else:
        only.number = 0
    return found
