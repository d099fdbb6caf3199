"""Words of texts and what the index knows of them, remembered between texts.

Each word of a language gets a slot number; arrays by slot hold what lookups need: a text becomes arrays.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from curation.concepts.normalise import Language, Word
from curation.concepts.storage import IndexFile, places_of
from curation.concepts.typos import Typos, is_checked, is_name, rest_of, stands_alone

UNKNOWN = 0
"""Slot of words no name has."""
CONTENT, LIGHT, ARTICLE, HEAVY, CONJUNCTION = range(5)
"""Kinds of words: one that counts; a small one that may stand anywhere, as an article may; a small one that
the name must have, as a conjunction must."""
_PLURAL = re.compile(r"[^siu]s$")
_DERIVED = re.compile(
    r"(?:at(?:es?|ed|ing)|ings?|ed|[eo]rs?|it(?:y|ies)|ous|ics?|al|ly|ists?|ions?|ive|able|ment)\Z"
)
_OTHER_ENDINGS = ("e", "ion", "ation", "y")
_SHORTEST_STEM = 4
_PARTITIVES = ("of", "in", "Of", "In", "OF", "IN")
_CONJUNCTIONS = frozenset({"and", "or"})
_ARRAYS = (
    "tokens", "longest", "kinds", "guesses", "doubtful", "ambiguous", "partitive", "spellings", "inflections",
)  # fmt: skip
_REMEMBERED = 100_000
_MOST_READINGS = 3
_CAPITALS = 8
"""Letters of the shortest word in capitals that may be misspelt; shorter ones are acronyms."""

Array = npt.NDArray[Any]


class Lexicon:
    """Slots of one language's words.

    Attributes:
        tokens: token hash by slot.
        longest: content words of the longest name with that token; 0 where no name has it.
        kinds: CONTENT, LIGHT or HEAVY.
        guesses: 1 where the slot is a guess at a misspelt word.
        spellings, inflections: hashes of the folded and of the inflected form; of the word guessed at.
        doubtful: whether that guess needs other words of the name beside it.
        ambiguous: whether the slot has further guesses, which are in `others`.
        partitive: whether it is an English word that parts a whole from what is said to be of it.
    """

    def __init__(self, index: IndexFile, typos: Typos, language: Language) -> None:
        self.language = language
        self._typos = typos
        self._tokens, self._longest = index.array("token_hash"), index.array("token_longest")
        self._token, self._length = index.items("token_hash"), index.items("token_longest")
        self._forget()

    def _forget(self) -> None:
        self.slots: dict[str, int] = {}
        self.joined: dict[str, int] = {}
        self.others: dict[int, list[int]] = {}
        self._count = 1
        self.tokens: Array = np.zeros(2048, dtype=np.uint64)
        self.longest: Array = np.zeros(2048, dtype=np.uint8)
        self.kinds: Array = np.zeros(2048, dtype=np.uint8)
        self.guesses: Array = np.zeros(2048, dtype=np.uint8)
        self.doubtful: Array = np.zeros(2048, dtype=np.bool_)
        self.ambiguous: Array = np.zeros(2048, dtype=np.bool_)
        self.partitive: Array = np.zeros(2048, dtype=np.bool_)
        self.spellings: Array = np.zeros(2048, dtype=np.uint64)
        self.inflections: Array = np.zeros(2048, dtype=np.uint64)

    def make_room(self) -> None:
        """Between texts: forget everything when too much is remembered."""
        if self._count + len(self.slots) + len(self.joined) > _REMEMBERED:
            self._forget()

    def read(self, words: Sequence[str], different: set[str]) -> list[int]:
        """Slots of a text's words, given with the set of them."""
        if new := different.difference(self.slots):
            self._learn(new)
        return list(map(self.slots.__getitem__, words))

    def ends_phrase(self, written: str) -> bool:
        """Whether a word is a small one that joins nothing: "in", not "and"."""
        word = self.language.word(written)
        return not word.key and word.folded not in _CONJUNCTIONS

    def join(self, written: str) -> int:
        """Slot of words written with hyphens, read as one word; never guessed."""
        return self._certain(written, self.language.word(written))

    def numeral(self, letter: str) -> int:
        """Slot of a Roman letter read as a number."""
        return self._certain(f"number {letter}", self.language.numeral(self.language.word(letter)))

    def _certain(self, written: str, word: Word) -> int:
        slot = self.joined.get(written)
        if slot is None:
            longest = self._longest_with(word.key_hash) if word.key else 0
            slot = self._new(word, word.key_hash, longest) if longest else UNKNOWN
            self.joined[written] = slot
        return slot

    def _learn(self, new: Iterable[str]) -> None:
        read = [(written, self.language.word(written)) for written in sorted(new)]
        known = self._longest_of([word.key_hash for _, word in read])
        strange: list[tuple[str, Word]] = []
        for (written, word), longest in zip(read, known, strict=True):
            slot = UNKNOWN
            if not word.key:
                slot = self._new(word, 0, 0)
                self.kinds[slot] = self._kind(word.folded)
                self.partitive[slot] = written in _PARTITIVES and self.language.code == "en"
            elif longest:
                slot = self._new(word, word.key_hash, longest)
            elif self._may_be_misspelt(written, word):
                strange.append((written, word))
            self.slots[written] = slot
        self._guess(strange)

    def _kind(self, small: str) -> int:
        if small in self.language.articles:
            return ARTICLE
        if small in self.language.light:
            return LIGHT
        return CONJUNCTION if small in _CONJUNCTIONS else HEAVY

    def _may_be_misspelt(self, written: str, word: Word) -> bool:
        if not is_checked(word.folded) or self.language.is_common(word):
            return False
        return len(written) >= _CAPITALS or not written.isupper()

    def _guess(self, strange: list[tuple[str, Word]]) -> None:
        """Take unknown words for the vocabulary's words one letter away; a plural also without its s."""
        code = self.language.code
        guesses = dict(
            zip(strange, self._typos.candidates([word.folded for _, word in strange], code), strict=True)
        )
        plurals = [
            item
            for item in strange
            if not guesses[item] and _PLURAL.search(item[1].folded) and is_checked(item[1].folded[:-1])
        ]
        singular = self._typos.candidates([word.folded[:-1] for _, word in plurals], code)
        guesses.update(zip(plurals, singular, strict=True))
        for (written, word), words in guesses.items():
            slots: list[int] = []
            if words and code == "en" and (self._is_derived(word.folded) or self._is_compound(word.folded)):
                continue
            words = [(spelling, token) for spelling, token in words if not is_name(written, spelling)]
            for spelling, token in words[:_MOST_READINGS]:
                if longest := self._longest_with(token):
                    slots.append(self._new(self.language.word(spelling), token, longest))
                    self.guesses[slots[-1]] = 1
                    self.doubtful[slots[-1]] = not stands_alone(word.folded, spelling)
            if slots:
                self.slots[written] = slots[0]
            if len(slots) > 1:
                self.others[slots[0]] = slots[1:]
                self.ambiguous[slots[0]] = True

    def _is_derived(self, folded: str) -> bool:
        """Whether an unknown word is another form of one that is known: "integrate" is of "integration".

        Such a word is rightly spelt; that it is like another is chance ("integrase").
        """
        ending = _DERIVED.search(folded)
        if ending is None or ending.start() < _SHORTEST_STEM:
            return False
        stem = folded[: ending.start()]
        made = {stem, *(stem + other for other in _OTHER_ENDINGS)} - {folded}
        if stem[-1] == stem[-2]:
            made.add(stem[:-1])
        words = list(map(self.language.word, made))
        if any(word.folded in self.language.common for word in words):
            return True
        return any(self._longest_with(word.key_hash) for word in words)

    def _is_compound(self, folded: str) -> bool:
        """Whether an unknown word is made of a known one: "macronutrient" is no "micronutrient"."""
        rest = rest_of(folded)
        if not rest:
            return False
        word = self.language.word(rest)
        return self.language.is_common(word) or self._longest_with(word.key_hash) > 0

    def _longest_with(self, token: int) -> int:
        """The length of a token's longest name, 0 for none; for a few tokens faster than arrays are."""
        place = bisect_left(self._token, token)
        return self._length[place] if place < len(self._token) and self._token[place] == token else 0

    def _longest_of(self, tokens: list[int]) -> list[int]:
        """The same for many."""
        if not len(self._tokens) or not tokens:
            return [0] * len(tokens)
        wanted = np.array(tokens, dtype=np.uint64)
        places = places_of(self._tokens, wanted)
        np.minimum(places, len(self._tokens) - 1, out=places)
        longest: list[int] = (self._longest[places] * (self._tokens[places] == wanted)).tolist()
        return longest

    def _new(self, word: Word, token: int, longest: int) -> int:
        slot = self._count
        self._count += 1
        if slot == len(self.tokens):
            for name in _ARRAYS:
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
        self.tokens[slot] = token
        self.longest[slot] = longest
        self.spellings[slot] = word.spelling_hash
        self.inflections[slot] = word.inflection_hash
        return slot
