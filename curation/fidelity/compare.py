"""What changed between a text and a rewrite of it, each change with a named reason."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, takewhile
from typing import TypeVar

from curation.extract.sentences import sentence_spans
from curation.fidelity.denials import are_opposite, denials, denied, names_kin, same_denied
from curation.fidelity.meanings import Meanings
from curation.fidelity.quantities import implied, measured, quantities, said_of
from curation.fidelity.sides import Side, said_of_sides, sides
from curation.fidelity.words import Word, also_said, content_words, listed, stem
from schemas.concept import Mention

K = TypeVar("K")
Value = tuple[str, str]
"""A number and its unit."""
_EACH = re.compile(r"\b(?:both|each|either|two|bilateral\w*)\b", re.IGNORECASE)
"""'Both' may count anything; where the other text has one of these, it counts sides there."""
_JOINED = re.compile(r",|/|\b(?:and|or|nor)\b")
_SPECIMENS = frozenset(
    map(stem, ("serum", "plasma", "blood", "urine", "level", "levels", "count", "urinary"))
)
"""Words that say in what something was measured; another text may leave it to the unit."""
_KIN = 4
"""Letters of a stem with which words of one family begin alike."""
_ENDING = 2
"""Letters of an ending by which they may differ where they share more."""


_TURNS = listed(
    """
    a an anti contra counter dis extra grand hyper hypo il im in infra inter intra ir mal meta micro multi non
    over para peri post pre pro pseudo semi step sub super supra trans un under
    """
)
"""Beginnings that make another thing of a word: corticosteroids are steroids, prediabetes is no diabetes."""


class Change(enum.StrEnum):
    """What a rewrite may not change, in the order in which it is told."""

    NUMBER_CHANGED = "number_changed"
    UNIT_CHANGED = "unit_changed"
    SIDE_CHANGED = "side_changed"
    NEGATION_CHANGED = "negation_changed"
    PERSON_CHANGED = "person_changed"
    CONCEPT_LOST = "concept_lost"
    CONCEPT_ADDED = "concept_added"


@dataclass(frozen=True, slots=True)
class Found:
    """One thing a rewrite may not do, and the words it was seen by."""

    reason: enum.StrEnum
    detail: str


def changes(
    source: str, rewrite: str, told: Sequence[Mention], retold: Sequence[Mention], meanings: Meanings
) -> list[Found]:
    """All changes of a rewrite, by reason.

    Args:
        source: an English text.
        rewrite: the same in other words.
        told: concepts named in the source, those inside longer names too.
        retold: the same of the rewrite.
        meanings: of the vocabulary they are of.
    """
    told, retold = _stated(source, told, meanings), _stated(rewrite, retold, meanings)
    return [
        *_numbers(source, rewrite),
        *_sides(source, rewrite),
        *_denials(source, rewrite, told, retold, meanings),
        *_missing(Change.CONCEPT_LOST, (source, told), (rewrite, retold), meanings),
        *_missing(Change.CONCEPT_ADDED, (rewrite, retold), (source, told), meanings),
    ]


def _stated(text: str, mentions: Sequence[Mention], meanings: Meanings) -> list[Mention]:
    """Concepts that a text states: what it asks is not said of anybody, and "pale" is not PALE."""
    asked = [(start, end) for start, end in sentence_spans(text) if text[start:end].endswith("?")]
    return [
        item
        for item in mentions
        if not any(start <= item.start < end for start, end in asked)
        and (item.text[1:].isupper() or not meanings.is_short_form(item.concept, item.name))
    ]


def _numbers(source: str, rewrite: str) -> Iterator[Found]:
    before, after = quantities(source), quantities(rewrite)
    one = {(item.value, item.unit) for item in before}
    other = {(item.value, item.unit) for item in after}
    lost = one - other - implied(rewrite) - _ages(other)
    new = other - one - implied(source) - _ages(one)
    values, others = {value for value, _ in one}, {value for value, _ in other}
    for value, unit in sorted(lost | new):
        is_same_value = value in values and value in others
        where = "lost" if (value, unit) in lost else "new"
        change = Change.UNIT_CHANGED if is_same_value else Change.NUMBER_CHANGED
        yield Found(change, f"{where}: {value} {unit}".rstrip())
    if not lost and not new:
        for pair in _exchanged(said_of(source, before), said_of(rewrite, after)):
            yield Found(Change.NUMBER_CHANGED, "exchanged: " + ", ".join(" ".join(item) for item in pair))


_ALIKE = (frozenset({"", "year", "age"}), frozenset({"", "time"}))
"""Units that a text may leave out: a man of 63, of 63 years, aged 63; fell twice, two falls."""


def _ages(found: Set[Value]) -> set[Value]:
    """The same numbers with units that say the same."""
    return {(value, other) for value, unit in found for alike in _ALIKE if unit in alike for other in alike}


def _exchanged(
    told: Mapping[Value, Set[str]], retold: Mapping[Value, Set[str]]
) -> Iterator[tuple[Value, Value]]:
    """Two that are said of each other's words in the rewrite, more than of their own."""
    for one, other in combinations(sorted(told.keys() & retold.keys()), 2):
        if one[1] != other[1]:  # values in two units cannot be exchanged without becoming other values
            continue
        if _is_exchanged(told, retold, one, other):
            yield one, other


def _is_exchanged(told: Mapping[K, Set[str]], retold: Mapping[K, Set[str]], one: K, other: K) -> bool:
    """Whether the words said of two in one text are said of the other of the two in the other text."""
    own = len(told[one] & retold[one]) + len(told[other] & retold[other])
    return len(told[one] & retold[other]) + len(told[other] & retold[one]) > own


def _sides(source: str, rewrite: str) -> Iterator[Found]:
    one, other = sides(source), sides(rewrite)
    named, renamed = _resolved(one[""]), _resolved(other[""])
    are_both = not (one[""] and other[""]) and one[""] | other[""] == {"both"}
    is_said = are_both and all(_EACH.search(text) for text in (source, rewrite))
    if named != renamed and not is_said:
        words = [" ".join(sorted(item)) or "none" for item in (one[""], other[""])]
        yield Found(Change.SIDE_CHANGED, f"{words[0]}: now {words[1]}")
        return
    for word in sorted((one.keys() & other.keys()) - {""}):
        if not one[word] & other[word] and "both" not in one[word] | other[word]:
            yield Found(Change.SIDE_CHANGED, f"{word}: {_listed(one[word])}, now {_listed(other[word])}")
            return
    told, retold = said_of_sides(source), said_of_sides(rewrite)
    if {"left", "right"} <= told.keys() & retold.keys() and _is_exchanged(told, retold, "left", "right"):
        yield Found(Change.SIDE_CHANGED, "left and right exchanged")


def _resolved(found: Set[Side]) -> frozenset[str]:
    """Sides named, both of them where both are meant together."""
    return frozenset({"left", "right"} if "both" in found else found)


def _listed(found: Set[Side]) -> str:
    return " ".join(sorted(found))


def _denials(
    source: str, rewrite: str, told: Sequence[Mention], retold: Sequence[Mention], meanings: Meanings
) -> Iterator[Found]:
    """Concepts and, outside the names of these, words that one text denies and the other affirms."""
    pairs = list(_pairs(_longest(told), _longest(retold), meanings))
    for one, other in pairs:
        words = ", ".join(sorted({item.text for item in (*one, *other)}))
        if are_opposite(set(denied(source, _spans(one))), set(denied(rewrite, _spans(other)))):
            yield Found(Change.NEGATION_CHANGED, words)
        if _are_of_others(source, one, rewrite, other):
            yield Found(Change.PERSON_CHANGED, words)
    before = denials(source, [span for one, _ in pairs for span in _spans(one)])
    after = denials(rewrite, [span for _, other in pairs for span in _spans(other)])
    for word in sorted(before.keys() & after.keys()):
        texts = (source, rewrite) if True in before[word] else (rewrite, source)
        if are_opposite(before[word], after[word]) and same_denied(*texts, word):
            yield Found(Change.NEGATION_CHANGED, word)


def _are_of_others(source: str, one: Sequence[Mention], rewrite: str, other: Sequence[Mention]) -> bool:
    """Whether one text says of the patient alone what the other says of kin alone."""
    if {item.is_family for item in one} & {item.is_family for item in other}:
        return False
    text, plain = (source, one) if other[0].is_family else (rewrite, other)
    return not any(names_kin(text, item.start) for item in plain)


def _spans(mentions: Sequence[Mention]) -> list[tuple[int, int]]:
    return [(item.start, item.end) for item in mentions]


def _pairs(
    told: Sequence[Mention], retold: Sequence[Mention], meanings: Meanings
) -> Iterator[tuple[list[Mention], list[Mention]]]:
    """Mentions of each concept of one text, and of the same in the other, by id or by name."""
    for concept in sorted({item.concept for item in told if meanings.tells(item.concept)}):
        other = [item for item in retold if item.concept == concept]
        other = other or [item for item in retold if meanings.any_same(concept, [item.concept])]
        if other:
            yield [item for item in told if item.concept == concept], other


def _missing(
    change: Change,
    told: tuple[str, Sequence[Mention]],
    retold: tuple[str, Sequence[Mention]],
    meanings: Meanings,
) -> Iterator[Found]:
    """Concepts of one text that the other neither names nor has the words of: names may be read otherwise.

    The words of any of a concept's names do when they stand in one sentence; one text may deny them then.
    """
    text, (other, others) = told[0], retold
    known = {item.concept for item in others}
    stated = {item.concept for item in others if not item.is_negated}
    stems = {word.stem for word in _all_words(other)}
    missing = {
        item.concept: item
        for item in _longest(told[1])
        if item.concept not in known
        and item.rule != "typo"  # a guess, which the other text may not invite
        and meanings.tells(item.concept)
        and not _JOINED.search(item.text)  # "flank and neck pain" for pain of the flank: a guess
        and not _has_words(item.text, stems)
    }
    for concept, item in sorted(missing.items()):
        if meanings.any_same(concept, known) or (not item.is_negated and meanings.follows(concept, stated)):
            continue
        if _is_abbreviated(item.text, other) or _is_defined(item, others, told[1], meanings):
            continue
        places = _in_other_words(other, meanings.wordings(concept), meanings)
        if not places:
            if not _is_reworded(text, other, meanings.gloss(concept)):
                yield Found(change, f"{item.text} ({concept})")
        elif are_opposite(set(denied(text, [(item.start, item.end)])), set(denied(other, places))):
            yield Found(Change.NEGATION_CHANGED, item.text)


def _is_abbreviated(name: str, other: str) -> bool:
    """Whether a text has the initials of a name, in capitals, or its part with figures: CK, C3."""
    words = re.findall(r"[^\W_]+", name)
    short = [word for word in words if not word.isalpha() and not word.isdigit()]
    if len(words) > 1 and all(word.isalpha() for word in words):
        short.append("".join(word[0] for word in words).upper())
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", other) for word in short)


def _is_defined(item: Mention, others: Sequence[Mention], own: Sequence[Mention], meanings: Meanings) -> bool:
    """Whether a concept that the other text alone names is defined by all words of this name.

    Palpitations are "a sensation that the heart is pounding or racing": who has them has a racing heart.
    """
    words = {word.stem for word in content_words(item.text)}
    if len(words) < 2:
        return False
    fresh = {one.concept for one in others if one.is_negated == item.is_negated} - {
        one.concept for one in own
    }
    return any(_has_words(item.text, meanings.gloss(concept)) for concept in sorted(fresh))


def _all_words(text: str) -> list[Word]:
    return [*content_words(text), *(word for word, _ in also_said(text)), *measured(text)]


def _in_other_words(text: str, wordings: Iterable[Set[str]], meanings: Meanings) -> list[tuple[int, int]]:
    """Where a sentence has all words of one of some names, or others that stand for them in names.

    The shortest stretch is not sought.
    """
    words = _all_words(text)
    for start, end in sentence_spans(text):
        inside = [word for word in words if start <= word.start < end]
        for wording in wordings:
            wanted = wording - _SPECIMENS
            places = {
                stem: [
                    (word.start, word.end)
                    for word in inside
                    if any(_are_kin(one, word.stem) for one in (stem, *meanings.substitutes(stem)))
                ]
                for stem in wanted
            }
            if places and all(places.values()):
                return sorted({place for found in places.values() for place in found})
    return []


_CLAUSE = re.compile(r"[^;:,.?!]+")


def _is_reworded(text: str, other: str, gloss: Set[str]) -> bool:
    """Whether a clause of the other text has words that this one lacks, and words of a concept's definition.

    "Burning when she urinates" says dysuria, "painful or difficult urination"; words of the definition alone
    may be there for something else that both texts say.
    """
    stems = {word.stem for word in (*content_words(text), *(word for word, _ in also_said(text)))}
    for first, last in sentence_spans(other):
        if other[first:last].endswith("?"):
            continue
        for clause in _CLAUSE.finditer(other, first, last):
            words = {word.stem for word in content_words(clause.group())}
            fresh = {word for word in words if not any(_are_kin(word, one) for one in stems)}
            if fresh and any(_are_kin(word, one) for word in words for one in gloss):
                return True
    return False


def _longest(mentions: Sequence[Mention]) -> list[Mention]:
    """Names that stand inside no longer one."""
    spans = {(item.start, item.end) for item in mentions}
    return [
        item
        for item in mentions
        if not any(
            start <= item.start and item.end <= end and (start, end) != (item.start, item.end)
            for start, end in spans
        )
    ]


def _has_words(name: str, stems: Set[str]) -> bool:
    words = {word.stem for word in content_words(name)} - _SPECIMENS
    return bool(words) and all(
        word in stems or any(_are_kin(word, other) for other in stems) for word in words
    )


def _are_kin(one: str, other: str) -> bool:
    """Whether two stems are one, one begins or ends the other (injuri, radioiodin), or endings differ."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) >= _KIN and long.startswith(short):
        return True
    if len(short) > _KIN and long.endswith(short) and long.removesuffix(short) not in _TURNS:
        return True
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(short, long, strict=False)))
    return shared > _KIN and len(long) - shared <= _ENDING
