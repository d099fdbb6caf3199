"""Whether words of a text are a given name, by which rule, and how sure that is.

The index finds names with the same content words; here order, small words, punctuation and capitals are
looked at. Scores rank readings of one span: own words over inflected over reordered over misspelt.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

from curation.concepts.names import (
    AS_NOUN,
    CASED,
    LOOSE,
    NUMBERED,
    PARAPHRASED,
    PARTIAL,
    PREFERRED,
    VARIANT,
)
from curation.concepts.normalise import ADJECTIVE, Language, Word, language_of
from curation.concepts.scripts import COMMAS, is_katakana, is_unspaced, split
from schemas.concept import MatchRule

EXACT, FORM, NOUN, NEAR, TYPO, OTHER_WORDS = 1.0, 0.95, 0.92, 0.84, 0.78, 0.72
_STRANGE = 0.03
"""Taken off for every further word that is not the name's own."""
REORDERED, OF = 0.06, 0.02
"""Taken off for another word order; less where an "of" explains it."""
_ACRONYM = 0.12
"""Taken off an acronym for every letter it is shorter than four."""
_SYNONYM, _VARIANT, _PARTIAL, _LOOSE = 0.01, 0.05, 0.12, 0.08

_CHANGES = frozenset({"increas", "decreas"})
"""Keys of qualities that things may have or come to have."""
_CELL = "cell"
_ILLNESS = frozenset({"disease", "disorder"})
_SIGNS = frozenset({"manifestation", "sign", "symptom", "finding", "feature"})
"""Words that share a key with those and say what is seen of an illness; a "problem" may be the illness."""
_OF = frozenset({"of", "in", "involving", "affecting"})
_NONE: frozenset[str] = frozenset()


class Words(NamedTuple):
    """A stretch of text, or a name, seen as words."""

    words: tuple[str, ...]
    forms: tuple[str, ...]
    nouns: tuple[str, ...]
    inflections: tuple[str, ...]
    commas: tuple[int, ...]
    small: frozenset[str] | set[str]
    has_slash: bool
    has_brackets: bool
    has_of: bool
    is_joined: bool
    head: str


@functools.lru_cache(maxsize=8_000)
def words_of(text: str, code: str) -> Words:
    """Words, key forms, inflected forms of content words; commas by the content words before them."""
    language = language_of(code)
    parts = split(text)
    words = language.words(parts[1::2])
    counted = [word for word in words if word.key]
    small = {word.folded for word in words if not word.key} if len(counted) < len(words) else _NONE
    return Words(
        tuple([word.folded for word in words]),
        tuple([word.key for word in counted]),
        tuple([word.noun for word in counted]),
        tuple([word.inflection for word in counted]),
        _commas(parts, [word.key for word in words]) if "," in text or "、" in text or "，" in text else (),
        small - language.light if small else _NONE,
        "/" in text and "/" in map(str.strip, parts[2:-1:2]),
        "(" in text or "[" in text or ")" in text,
        not _OF.isdisjoint(small),
        len(words) > 1 and text.isalnum(),
        _head(words, parts[::2]),
    )


def _head(words: Sequence[Word], gaps: Sequence[str]) -> str:
    """Key form of the noun a phrase is about: the last one, or the one before "of" or a comma."""
    head = ""
    for place, word in enumerate(words):
        if head and (word.folded in _OF or gaps[place].strip() in COMMAS):
            return head
        head = word.key or head
    return head


def _commas(parts: list[str], keyed: list[str]) -> tuple[int, ...]:
    return tuple(
        sum(map(bool, keyed[: gap + 1])) for gap, mark in enumerate(parts[2:-1:2]) if mark.strip() in COMMAS
    )


def judge(
    found: str,
    name: str,
    flags: int,
    code: str,
    *,
    is_misspelt: bool = False,
    is_said: bool = False,
    goes_on: bool = False,
) -> tuple[MatchRule, float] | None:
    """How a stretch of text names a concept, or None if it does not.

    Args:
        found: the words of the text.
        name: the vocabulary's name.
        flags: of its index row.
        code: language.
        is_misspelt: whether one word was guessed.
        goes_on: whether the phrase goes on after it: "inflammatory bowel [disease]".
        is_said: whether it is an adjective said of a person: "hypotonic" names "hypotonia".
    """
    if flags & AS_NOUN == AS_NOUN:
        return ("exact", EXACT - penalty_of(flags)) if found.casefold() == name.casefold() else None
    if flags & CASED:
        bare = _bare(name)
        short = _ACRONYM * max(0, 4 - len(bare))
        return ("exact", EXACT - penalty_of(flags) - short) if _bare(found) == bare else None
    if found.casefold() == name.casefold():
        return "exact", EXACT - penalty_of(flags)
    text, known = words_of(found, code), words_of(name, code)
    if not _fits(text, known):
        return None
    penalty = penalty_of(flags)
    if is_misspelt:
        if _corrected(text.forms, known.forms) != known.forms or len(known.commas) > len(text.commas):
            return None  # a "wound swab" is no "wound, stab"
        if ADJECTIVE.search(text.words[-1]) and not ADJECTIVE.search(known.words[-1]):
            return None  # "thrombogenic" is no "thrombopenia"
        others = len(_beyond(text.inflections, known.inflections))
        return "typo", TYPO - penalty - _STRANGE * max(others - 1, 0)
    if text.words == known.words and len(text.commas) <= len(known.commas):
        return "exact", EXACT - penalty
    if _is_sign_of(text, known):
        return None
    if flags & NUMBERED:
        return None
    if not _is_finished(text, known, code) and not (is_said and text.nouns == known.nouns):
        return None
    if goes_on and (text.head != known.head or is_paraphrased(flags)):
        return None  # "a high-fat [diet]"
    return _other_form(text, known, flags, code)


def penalty_of(flags: int) -> float:
    """What an index row's flags take off its score."""
    reached = 0.0
    if not is_paraphrased(flags):  # what that takes off is in its score
        reached = _VARIANT if flags & VARIANT else _PARTIAL if flags & PARTIAL else 0.0
    return (0.0 if flags & PREFERRED else _SYNONYM) + reached + (_LOOSE if flags & LOOSE else 0.0)


def is_paraphrased(flags: int) -> bool:
    """Whether a row is reached by other words than its name's."""
    return flags & PARAPHRASED == PARAPHRASED


def _other_form(text: Words, known: Words, flags: int, code: str) -> tuple[MatchRule, float] | None:
    penalty = penalty_of(flags)
    is_inverted = len(text.commas) > len(known.commas)
    if not is_inverted and _are_its_cells(text, known, code):
        return None
    if text.forms == known.forms:
        if is_inverted or (code == "en" and (_turns_at_of(text, known) or "by" in known.small - text.small)):
            return None
        return "form", _likeness(text, known) - penalty
    if sorted(text.forms) != sorted(known.forms):
        # Reached by another key of the name: joined words, or a word that may be left out.
        may = flags & (VARIANT | PARTIAL) and not is_inverted
        if flags & PARTIAL and ADJECTIVE.search(text.words[-1]):
            return None  # "abnormal mitochondrial" goes on
        if is_paraphrased(flags):
            return ("paraphrase", OTHER_WORDS - penalty) if may and _share_thing(text, known) else None
        return ("form", (NEAR if flags & PARTIAL else FORM) - penalty) if may else None
    if not _may_reorder(text, known, text.forms) or _is_cut(text, known):
        return None
    if known.is_joined:
        return None  # "1% of all" is no "All1"
    if not _share_head(text, known, code) and not (
        sorted(text.inflections) == sorted(known.inflections) and _may_turn(text, known)
    ):
        return None
    cost = OF if text.has_of != known.has_of and not is_inverted else REORDERED
    return "order", _likeness(text, known) - cost - penalty


def _share_thing(text: Words, known: Words) -> bool:
    """Whether a phrase in other words is of what the name is: "liver cancer cells" are no carcinoma."""
    if known.head in text.forms:
        return text.head == known.head
    return text.head not in known.forms


def _are_its_cells(text: Words, known: Words, code: str) -> bool:
    """Whether the text speaks of cells and the name of what they make up: "lymphoma B cells"."""
    if text.head != _CELL or known.head == _CELL or sorted(text.forms) != sorted(known.forms):
        return False
    language = language_of(code)
    return not any(
        language.is_quality(noun)
        for noun, key in zip(known.nouns, known.forms, strict=True)
        if key == known.head
    )


def _is_sign_of(text: Words, known: Words) -> bool:
    """Whether the text speaks of signs and the name of an illness: "symptoms of anxiety" are no disorder."""
    return not _ILLNESS.isdisjoint(known.inflections) and any(
        form in _SIGNS for form in text.inflections if form not in known.inflections
    )


def _turns_at_of(text: Words, known: Words) -> bool:
    """Whether an "of" makes another thing of words in their order: "blood of cancer" is no blood cancer.

    "Delay in diagnosis" still is "delayed diagnosis": there the first word of the name is an adjective.
    """
    return (
        text.has_of
        and not known.has_of
        and not known.small
        and text.head != known.head
        and text.inflections[0] == known.inflections[0]
        and ADJECTIVE.search(known.words[0]) is None
    )


def _is_cut(text: Words, known: Words) -> bool:
    """Whether the phrase goes on behind an "of": "a change in social [life]" is no "social change"."""
    goes_on = ADJECTIVE.search(text.words[-1]) and not ADJECTIVE.search(known.words[-1])
    return bool(goes_on and text.has_of and not text.commas)


def _may_turn(text: Words, known: Words) -> bool:
    """Whether the head may stand elsewhere: before an "of" or a comma, or what is said of it behind it.

    "Fingers tapered" are "tapered fingers", "light blue" is no "blue light".
    """
    return (
        text.has_of != known.has_of
        or bool(text.commas) != bool(known.commas)
        or any(ADJECTIVE.search(words.words[-1]) for words in (text, known))
    )


def _share_head(text: Words, known: Words, code: str) -> bool:
    """Whether both speak of one thing, or of a finding on one: "renal pelvis" is no "pelvic kidney"."""
    language = language_of(code)
    if text.head == known.head or any(
        language.is_finding(noun)
        for noun, key in zip(known.nouns, known.forms, strict=True)
        if key in (text.head, known.head)
    ):
        return True
    qualities, others = zip(*(_parted(words, language) for words in (text, known)), strict=True)
    if not (qualities[0] and qualities[1]):
        return False
    # "Reduction of the X level" is "decreased X level", but a "low dose" is no "dose reduction".
    is_same = qualities[0] == qualities[1] and others[0] == others[1]
    return is_same or _is_of_quality(text, language) or _is_of_quality(known, language)


def _is_of_quality(words: Words, language: Language) -> bool:
    """Whether a phrase begins with a quality's noun: "reduction of the level"."""
    return words.has_of and words.head == words.forms[0] and language.is_quality(words.nouns[0])


def _parted(words: Words, language: Language) -> tuple[list[str], list[str]]:
    """Words that are qualities ("abnormal", "abnormality"), and the other nouns, sorted.

    Qualities by their key, those that may be changes ("low", "reduction") by how they begin.
    """
    qualities, others = [], []
    for noun, key in zip(words.nouns, words.forms, strict=True):
        if language.is_quality(noun):
            qualities.append(noun[:4] if key in _CHANGES else key)
        else:
            others.append(noun)
    return sorted(qualities), sorted(others)


def _likeness(text: Words, known: Words) -> float:
    """How near the words are, order apart."""
    if sorted(text.inflections) == sorted(known.inflections):
        return FORM
    return NOUN if sorted(text.nouns) == sorted(known.nouns) else NEAR


def _is_finished(text: Words, known: Words, code: str) -> bool:
    """Whether a mention ends with a word that can end one: an adjective there belongs to what follows.

    A name of one word is met by inflections of that word only, and by other nouns for it.
    """
    if not text.inflections or text.inflections[-1] == known.inflections[-1]:
        return True
    if len(text.forms) == 1 and len(known.forms) == 1 and text.nouns != known.nouns:
        return False
    return not language_of(code).is_adjective(text.inflections[-1])


def _bare(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


def _corrected(forms: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """The forms with the one that is not the name's replaced by the one that is missing."""
    strange, missing = _beyond(forms, known), _beyond(known, forms)
    if len(missing) != 1 or len(strange) != 1:
        return forms
    place = forms.index(strange[0])
    return (*forms[:place], missing[0], *forms[place + 1 :])


def _beyond(some: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    """What of some words the others do not have, each as often."""
    left = list(others)
    beyond = []
    for word in some:
        if word in left:
            left.remove(word)
        else:
            beyond.append(word)
    return beyond


def _fits(text: Words, known: Words) -> bool:
    """Small words, slashes and brackets that join or part things must be the name's own."""
    if text.small - known.small:
        return False
    return not ((text.has_slash and not known.has_slash) or (text.has_brackets and not known.has_brackets))


def _may_reorder(text: Words, known: Words, forms: tuple[str, ...]) -> bool:
    """Whether another word order still is the name: an inversion at a comma, or whole words without one."""
    if any(map(is_unspaced, forms)) or known.small & {"to", "from"}:
        return False
    if len(text.commas) > len(known.commas):
        return any(forms[comma:] + forms[:comma] == known.forms for comma in text.commas)
    return all(len(form) > 2 or form.isdigit() for form in forms)


def cuts_katakana(text: str, start: int, end: int) -> bool:
    """Whether a short katakana word would be cut out of a longer one."""
    before = start > 0 and is_katakana(text[start]) and is_katakana(text[start - 1])
    after = end < len(text) and is_katakana(text[end - 1]) and is_katakana(text[end])
    return before or after
