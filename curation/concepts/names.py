"""What a vocabulary name is looked up by: its keys, and whether it may be matched at all.

A key is the sum of the hashes of a name's content words, so word order does not matter to a lookup; whether
order was kept is asked afterwards. A name may have further keys (hyphenated words joined, 'NOS' left out).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from curation.concepts.abbreviations import definitions
from curation.concepts.english import participle_root
from curation.concepts.hashes import COMMA_AFTER, sequence_hash
from curation.concepts.laboratory import ways_of_value
from curation.concepts.normalise import GREEK_LETTERS, Language, Word
from curation.concepts.paraphrases import ways as paraphrased
from curation.concepts.scripts import COMMA, HYPHEN, gap_class, is_unspaced, split

LONGEST = 16
LONGEST_UNSPACED = 32
"""Content words (characters of unspaced scripts) of the longest name that is indexed."""
PREFERRED, CASED, VARIANT, PARTIAL, LOOSE, COMMAS, BLOOD, NUMBERED = 1, 2, 4, 8, 16, 32, 64, 128
"""Flags of an index row: a label; matched in its own capitals only; reached by another key than its own; by
one that leaves a word out; a synonym said to be broader, narrower or related; a name with commas; one
reached by a key that leaves out that a value is one of blood; matched in its own number only."""
PARAPHRASED = VARIANT | PARTIAL
"""Reached by a key in which other words stand for some of the name's."""
AS_NOUN = CASED | NUMBERED
"""An everyday word that is a disorder's label ("burn"): matched in any case, where the text has a noun."""
LOOSE_TYPES = frozenset({"BROAD", "NARROW", "RELATED"})
PERMUTED = "PM"
"""Term type of a name that is another of its concept with its words in another order."""
_SHORTEST_NOUN = 3
_TAG = re.compile(
    r"\s*(?:,?\s+NOS|\s\((?:disorder|finding|diagnosis|procedure|situation|morphologic abnormality|"
    r"body structure|substance|product|organism|event|observable entity|qualifier value|disease|"
    r"physical finding|symptom)\))$"
)
_VAGUE = frozenset({"specific", "nonspecific", "unspecified", "localized", "localised", "other"})
"""First words that a mention leaves out: "localized skin lesion" is written "skin lesion"."""
_PRONOUNS = frozenset({"his", "her", "its", "their"})
_MASK = (1 << 64) - 1


class Key(NamedTuple):
    """One way a name is looked up: the hashes of its content words."""

    hashes: tuple[int, ...]
    flags: int

    @property
    def value(self) -> int:
        """Equal for the same words in any order."""
        return sum(self.hashes) & _MASK


class Analysis(NamedTuple):
    """A name that can be matched.

    Attributes:
        flags: CASED, COMMAS and NUMBERED, or 0.
        keys: every way it is looked up, its own first.
        words: its words.
        word_order, form_order: ordered hashes of its folded words, and of its content words' inflections.
    """

    flags: int
    keys: list[Key]
    words: list[Word]
    word_order: int
    form_order: int


def analyse(name: str, language: Language, *, is_disorder: bool = False) -> Analysis | None:
    """How a name is looked up; None when it says too little to be matched, or is too long.

    Args:
        name: as the vocabulary writes it.
        language: its language.
        is_disorder: whether it is the label of a disorder, which may be an everyday word.
    """
    name = _spelled_out(name)
    parts = split(name)
    written = parts[1::2]
    flags = _gate(name, written, language)
    if flags is None and is_disorder and len(written) == 1 and len(name) > _SHORTEST_NOUN:
        word = language.word(written[0]).folded
        flags = AS_NOUN if word not in language.stop and _is_everyday(word, language) else None
    if flags is None:
        return None
    words = language.words(written)
    if len(words) > 1 and _hangs_on_small_words(written, words, language):
        return None
    gaps = list(map(gap_class, parts[2:-1:2]))
    keys = list(_keys(name, written, words, gaps, language))
    if not keys:
        return None
    flags |= COMMAS if COMMA in gaps else 0
    return Analysis(flags, keys, words, *_orders(words, gaps))


def _spelled_out(name: str) -> str:
    """A name without the short form that it declares: texts write "… (AML)" too, which defines one there."""
    if not name.endswith(")"):
        return name
    for found in definitions(name):
        first, last = sorted(((found.short_start, found.short_end), (found.long_start, found.long_end)))
        if first[0] == 0 and last[1] == len(name) - 1:
            return found.long
    return name


def _orders(words: Sequence[Word], gaps: Sequence[int]) -> tuple[int, int]:
    if COMMA not in gaps:
        return (
            sequence_hash([word.spelling_hash for word in words]),
            sequence_hash([word.inflection_hash for word in words if word.key]),
        )
    spelled: list[int] = []
    forms: list[int] = []
    pending = False
    for place, word in enumerate(words):
        if place and gaps[place - 1] == COMMA:
            spelled[-1] += COMMA_AFTER
            pending = True
        spelled.append(word.spelling_hash)
        if word.key:
            if pending and forms:
                forms[-1] += COMMA_AFTER
            forms.append(word.inflection_hash)
            pending = False
    return sequence_hash(spelled), sequence_hash(forms)


def _keys(
    name: str, written: Sequence[str], words: Sequence[Word], gaps: Sequence[int], language: Language
) -> Iterator[Key]:
    own = [word for word in words if word.key]
    ways = [(own, 0)]
    if HYPHEN in gaps:
        joined = language.words(_joined(written, gaps))
        ways.append(([word for word in joined if word.key], VARIANT))
    tag = _TAG.search(name) if name[-1] in ")S" else None
    if tag is not None:
        bare = language.words(split(name[: tag.start()])[1::2])
        ways.append(([word for word in bare if word.key], VARIANT))
    if language.code == "en" and len(own) > 2 and {"abnormal", "morphology"} <= {word.key for word in own}:
        ways.append(([word for word in own if word.key != "morphology"], PARTIAL))
    if language.code == "en" and len(own) > 2 and own[0].folded in _VAGUE:
        ways.append((own[1:], PARTIAL))
    if language.code == "en":
        ways += [(way, VARIANT if is_placed else PARTIAL | BLOOD) for way, is_placed in ways_of_value(own)]
        ways += [(way, PARAPHRASED) for way in paraphrased(own)]
    seen: set[tuple[int, ...]] = set()
    for way, flags in ways:
        hashes = tuple([word.key_hash for word in way])
        if (
            0 < len(way) <= _longest(way)
            and hashes not in seen
            and any(not word.key.isdigit() for word in way)
        ):
            seen.add(hashes)
            yield Key(hashes, flags)


def _joined(written: Sequence[str], gaps: Sequence[int]) -> list[str]:
    """Words with those that hyphens hold together made one ('low-set': 'lowset')."""
    words = [written[0]]
    for place, gap in enumerate(gaps):
        if gap == HYPHEN and may_join(written[place], written[place + 1]):
            words[-1] += written[place + 1]
        else:
            words.append(written[place + 1])
    return words


def may_join(first: str, second: str) -> bool:
    """Whether two hyphenated words can be one word: letters, not single ones."""
    return (
        first.isalpha() and second.isalpha() and len(first) > 1 and len(second) > 1 and not is_unspaced(first)
    )


def _longest(words: Sequence[Word]) -> int:
    """How many content words a name like this may have."""
    if len(words) <= LONGEST:
        return LONGEST
    return LONGEST_UNSPACED if any(is_unspaced(word.folded) for word in words) else LONGEST


def _gate(name: str, words: Sequence[str], language: Language) -> int | None:
    """Flags that limit how a name is matched; None when it is not matched at all.

    Names of one or two letters, everyday words and Greek letters say too little, unless capitals set them
    apart: the χ of a test names nothing.
    """
    if not words or len(words) > 4:
        return 0 if words else None
    if not name.isascii() and any(map(is_unspaced, words)):
        return 0 if len(words) > 1 else None
    letters = sum([len(word) for word in words if word.isalpha()])
    if letters == 0:
        return None
    plain = "".join(words)
    if len(words) <= 2 and " " not in name.strip() and is_acronym(plain):
        return CASED if len(plain) > 1 else None
    if letters < 3:
        return None
    if len(words) == 1:
        word = language.word(words[0])
        if word.folded in language.stop or word.folded in GREEK_LETTERS:
            return None
        if _is_everyday(word.folded, language):
            return None
        # "Falls" are accidents, but what "will" do is not in "Wills".
        return NUMBERED if _is_everyday(word.inflection, language) else 0
    return 0


def _hangs_on_small_words(written: Sequence[str], words: Sequence[Word], language: Language) -> bool:
    """Whether a name is one content word, or letters and numbers, and small ones that mean something.

    "On edge" is no "edge"; a name has no pronouns, and capitals inside it are not for nothing: "His bundle",
    "SD/THE".
    """
    counted = [word.key for word in words if word.key]
    if len(counted) > 1 and any(len(key) > 1 and not key.isdigit() for key in counted):
        return False
    return any(
        word.folded not in language.light
        or word.folded in _PRONOUNS
        or (written[place].isupper() and len(word.folded) > 1)
        for place, word in enumerate(words)
        if not word.key
    )


def is_acronym(word: str) -> bool:
    """Up to four letters with capitals beyond the first, or six with others between: 'ALL', 'NF2', 'HbA1c'.

    Longer words in capitals are mostly names of a vocabulary that has no small letters: 'ASTHMA'.
    """
    return len(word) <= (4 if word.isupper() else 6) and any(letter.isupper() for letter in word[1:])


def _is_everyday(form: str, language: Language) -> bool:
    return not {form, participle_root(form)}.isdisjoint(language.common)
