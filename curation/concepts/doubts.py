"""Spans that have a name's words but not its meaning, told by what stands right beside them.

Half a bracket, an adjective of a place, a measure, a verb. Each looks for its sign in the text first, for
most texts have none; rules of words are of English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from curation.concepts.disambiguate import Reading
from curation.concepts.normalise import ADJECTIVE
from curation.concepts.nouns import is_noun
from curation.concepts.persons import is_person
from curation.concepts.predicates import AFTER_NOUNS

Span = tuple[int, int]
Spans = dict[Span, tuple[tuple[Reading, ...], float]]
_OF_A_PLACE = re.compile(r"[A-Z][a-z]+(?:an|se) ")
_UNLIKE = re.compile(r"\b[Nn]on[ ‐‑–-]|[‐‑–-](like)\b")
_MEASURED = re.compile(r"ed (?=\d|between \d|from \d|over \d|under \d|at least \d)")
_WORD = re.compile(r"[^\W\d_]+\Z")
_NEXT = re.compile(r"[A-Za-z]+")
_PREPOSITIONS = frozenset(
    {"of", "in", "with", "from", "to", "for", "by", "on", "at", "or", "and", "as", "into", "per", "via"}
)
_DETERMINED = re.compile(
    r" (?:an?|the|his|her|its|their|our|this|these|those|no|any|some)(?= )", re.IGNORECASE
)
_OBJECT = re.compile(
    r" (?:an?|the|his|her|its|their|our|this|these|those|no|any|some|both|all|most|many|more|only|about"
    r"|around|approximately|nearly|almost|up to|one|two|three|each|every|\d[\d.,–-]*%?)(?= )",
    re.IGNORECASE,
)


def _words(listed: str) -> frozenset[str]:
    return frozenset(word + ending for word in listed.split() for ending in ("", "s"))


_VERBS = _words(
    """
    affect bear catalyse complement drive face mask mirror drain stem head arm back seal house school shape
    shock target cause age exercise project object clone pilot ally frame load bridge harbor harbour plant
    model wound screen mark rule study test lead force fuel power position label book chart map ground
    stress experience
    """
)
"""Words that are verbs as often as names of things."""
_TOLD_OF_IT = re.compile(
    r"\b(?:it|also|often|(?:main|most|usual|common|typical|primari|frequent|rare|direct|strong|general|normal|sole"
    r"|predominant|large|serious|severe|adverse|negative|positive|profound|significant)ly) \Z"
)
"""What stands before a verb in the third person: "it bears", "mostly affects"."""
_AMID = re.compile(r"(?:[\w,;] |\()\Z")
_SPECIES = re.compile(
    r"[A-Z][a-z]+ (?!(?:calcium|magnesium|sodium|potassium|lithium|serum|medium|spectrum"
    r"|status|virus|versus|plus|thus|focus|nucleus|fetus|uterus|thymus|humerus|thrombus|mellitus|insipidus"
    r"|erythematosus|planus|nodosum|migrans|nigricans|obliterans|acuminata|herpeticum)\b)"
    r"[a-z]{3,}(?:us|um|ae|ii|ensis|ana|ata|ica|ina|oides|ans|aris)\b"
)
"""Genus and species amid a sentence; the second word is none of those that end so elsewhere."""
_PEOPLE = frozenset({"origin", "descent", "ancestry", "ethnicity"})
_LONGEST, _SHORTEST_PARTICIPLE = 40, 3


class Groups(NamedTuple):
    """Numbers of semantic groups in an index.

    Attributes:
        notions: of concepts and documents ("exhibit", "outline"), -1 for none.
        fields: of disciplines ("genetics"), -1 for none.
        kinds: of diseases and parts of the body, which are no genus.
    """

    notions: int
    fields: int
    kinds: frozenset[int]


def groups_of(listed: Sequence[str]) -> Groups:
    """Their numbers, from the groups of an index in order."""
    number = {group: place for place, group in enumerate(listed)}
    kinds = frozenset(number[group] for group in ("DISO", "ANAT") if group in number)
    return Groups(number.get("CONC", -1), number.get("OCCU", -1), kinds)


def drop_doubtful(text: str, spans: Spans, base: int, groups: Groups, *, is_english: bool) -> None:
    """Forget such spans.

    Args:
        text: any text.
        spans: its spans, which count from `base`; changed in place.
        base: where the text begins.
        groups: semantic groups that matter here.
        is_english: whether the text is read as English.
    """
    if "(" in text or "[" in text:
        _close_brackets(text, spans, base)
    if "like" in text or "non" in text or "Non" in text:  # ten times faster than to search
        _drop_unlike(text, spans, base)
    for found in _MEASURED.finditer(text):  # "aged 50" is no old age
        word = _WORD.search(text, max(0, found.start() - _LONGEST), found.start() + 2)
        if word is not None and len(word[0]) > _SHORTEST_PARTICIPLE:
            spans.pop((word.start() + base, word.end() + base), None)
    if _OF_A_PLACE.search(text) is not None:
        _drop_adjectives(text, spans, base)
    if not is_english:
        return
    for start, end in list(_genera(text, spans, base)):  # "Thymus vulgaris" is a plant
        _drop_kinds(spans, (start, end), groups.kinds)
    for start, end in list(_verbs(text, spans, base, groups.notions)):
        del spans[start, end]
    for start, end in list(_of_fields(text, spans, base, groups.fields)):
        _drop_kinds(spans, (start, end), frozenset({groups.fields}))


def _drop_unlike(text: str, spans: Spans, base: int) -> None:
    """Forget what something is only like, or is not: "a measles-like rash", "non-diabetic women"."""
    begins, ends = set[int](), set[int]()
    for found in _UNLIKE.finditer(text):
        if found[1] is None:
            begins.add(found.end() + base)
        else:
            ends.add(found.start() + base)
    like = [start for start, end in spans if end in ends]
    for start, end in list(spans):
        if start in begins or end in ends or (like and _is_inside(start, end, like, ends)):
            del spans[start, end]


def _is_inside(start: int, end: int, likes: list[int], ends: set[int]) -> bool:
    """Whether a span is part of a longer one that something is only like."""
    last = min((one for one in ends if one >= end), default=-1)
    return last >= 0 and any(first <= start and (first, last) for first in likes)


def _close_brackets(text: str, spans: Spans, base: int) -> None:
    """Take the bracket that closes a name into its span ("influenza A (H1N1)"); forget other halves."""
    for start, end in list(spans):
        if not _is_half(text[start - base : end - base]):
            continue
        readings, share = spans.pop((start, end))
        closed = start, end + 1
        own = tuple(one for one in readings if one.name.endswith(text[end - base : end - base + 1]))
        if own and own[0].rule != "order" and not _is_half(text[start - base : end - base + 1]):
            spans[closed] = own, share


def _is_half(words: str) -> bool:
    """Whether a bracket opens in a span, or closes, and its other half does not: "renal disease (ESRD"."""
    return words.count("(") != words.count(")") or words.count("[") != words.count("]")


def _drop_adjectives(text: str, spans: Spans, base: int) -> None:
    """Forget people where a place's adjective is said of a thing: "African countries" are no Africans."""
    for start, end in list(spans):
        last = end - base
        if text[last - 2 : last + 1] not in ("an ", "se ") or not text[start - base].isupper():
            continue
        found = _NEXT.match(text, last + 1)
        following = found[0].lower() if found else ""
        if not following or following in AFTER_NOUNS or following in _PREPOSITIONS or following in _PEOPLE:
            continue
        if is_person(following):
            continue
        readings, share = spans[start, end]
        written = f"{text[start - base : last]}s".casefold()
        left = tuple(one for one in readings if one.name.casefold() != written)
        if not left:
            del spans[start, end]
        elif len(left) < len(readings):
            spans[start, end] = left, share


def _is_third_person(text: str, start: int, end: int) -> bool:
    """Whether what may be a verb stands behind an adverb ("mostly affects"), or is one before any noun."""
    if text[end - 1] != "s":
        return False
    if _TOLD_OF_IT.search(text, max(start - 30, 0), start):
        return True
    following = _NEXT.match(text, end + 1) if text.startswith("affects ", start) else None
    return following is not None and following[0] not in AFTER_NOUNS and following[0] not in _PREPOSITIONS


def _genera(text: str, spans: Spans, base: int) -> Iterator[Span]:
    """Spans of a genus, before its species."""
    for start, end in spans:
        if (
            text[start - base].isupper()
            and (found := _SPECIES.match(text, start - base)) is not None
            and text.find(" ", start - base) == end - base
            and _AMID.search(text, max(found.start() - 2, 0), found.start())
        ):
            yield start, end


def _of_fields(text: str, spans: Spans, base: int, fields: int) -> Iterator[Span]:
    """Adjectives that say of what field something is, and name none: "genetic" causes are no genetics."""
    for (start, end), (readings, _) in spans.items():
        if any(one.group == fields for one in readings):
            word = text[start - base : end - base]
            if word.islower() and word.isalpha() and ADJECTIVE.search(word):
                yield start, end


def _drop_kinds(spans: Spans, span: Span, kinds: frozenset[int]) -> None:
    """Forget readings of some semantic groups: diseases and organs that a genus is called like ("Thymus")."""
    readings, share = spans.get(span, ((), 0.0))
    left = tuple(one for one in readings if one.group not in kinds)
    if len(left) < len(readings):
        del spans[span]
        if left:
            spans[span] = left, share


def _verbs(text: str, spans: Spans, base: int, notions: int) -> Iterator[Span]:
    """Words for ideas, or verbs, that a noun phrase follows: "exhibits a", "outlines the", "affects 5"."""
    for (start, end), (readings, _) in spans.items():
        first, last = start - base, end - base
        may_be = text[first:last] in _VERBS
        if (may_be and _is_third_person(text, first, last)) or (
            (may_be or readings[0].group == notions)
            and (_OBJECT if may_be else _DETERMINED).match(text, last)
            and " " not in text[first:last]
            and text[last - 1].islower()
            and not is_noun(text, first, last)
        ):
            yield start, end
