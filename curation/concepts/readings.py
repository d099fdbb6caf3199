"""Other ways to read words of a text, as short sequences beside it.

"low-set" as "lowset"; "branchial and renal anomalies" as "branchial anomalies"; "absent left kidney" as
"absent kidney"; further guesses at a misspelt word. Every word keeps its place, so spans re-extract.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, count, takewhile
from typing import Any

import numpy.typing as npt

from curation.concepts.lexicon import ARTICLE, CONJUNCTION, CONTENT, LIGHT, UNKNOWN
from curation.concepts.names import may_join
from curation.concepts.normalise import ADJECTIVE
from curation.concepts.predicates import COPULAS, Placed, Predicates
from curation.concepts.scripts import COMMA, HARD, HYPHEN, SLASH, SOFT, SPACE

Array = npt.NDArray[Any]
Item = tuple[int, int, int]
"""Slot of a content word, place of the word, place of its last part (they differ for joined words)."""

_AROUND = 5
"""Content words taken along on each side of a joined or guessed word."""
_INSERTED = 4
_OF = frozenset({"of", "in"})
_PASSED = frozenset(
    {"often", "sometimes", "always", "most", "also", "form", "forms", "type", "types", "variant", "variants"}
    | {"arising", "originating", "located", "occurring", "localized", "localised"}
)
"""Words between a noun and its "of" or "in" that say nothing of what is found; adverbs in -ly are too."""
_ILLNESSES = frozenset({"disease", "diseases", "disorder", "disorders"})
_OVER = frozenset({"under", "over", "during", "after", "before", "within", "without"})
"""What ends a list: "intervention and hypertension [under study]"."""
_PARTING = (COMMA, SLASH, SOFT)
_LEFT, _SKIPPED, _RIGHT, _ELEMENTS = 3, 2, 3, 5


class Readings(Placed):
    """Other readings of one batch of words."""

    def all(self, slots: Array, kinds: Array, gaps: Array) -> Iterator[list[Item]]:
        """Every other reading; slots, kinds and gaps as arrays tell where to look."""
        yield from self._joined((gaps == HYPHEN).nonzero()[0].tolist())
        for place in self._lexicon.ambiguous[slots].nonzero()[0].tolist():
            for guess in self._lexicon.others[self._slots[place]]:
                yield self._around(place, place, guess)
        if self._lexicon.language.code == "en":
            for place in (kinds == CONJUNCTION).nonzero()[0].tolist():
                if 0 < place < len(self._words) - 1:
                    yield from self._elided_at(place)
            yield from self._listed(slots, kinds, gaps)
            free = self._lexicon.language.free
            watched = free | _OF | COPULAS
            places = list(compress(count(), map(watched.__contains__, self._words)))
            yield from self._unmodified([place for place in places if self._words[place] in free - _OF])
            yield from self._parted([place for place in places if self._words[place] in _OF])
            stated = Predicates(self._words, self._slots, self._kinds, self._gaps, self._lexicon)
            for place in places:
                if self._words[place] in COPULAS:
                    yield from map(self._own, stated.at(place))

    def _own(self, places: Sequence[int]) -> list[Item]:
        return [(self._slots[place], place, place) for place in places]

    def _joined(self, places: Sequence[int]) -> Iterator[list[Item]]:
        last = -1
        for place in places:
            if place < last:
                continue
            last = place
            while (
                last < len(self._gaps)
                and self._gaps[last] == HYPHEN
                and may_join(self._words[last], self._words[last + 1])
            ):
                last += 1
            if last > place:
                slot = self._lexicon.join("".join(self._words[place : last + 1]))
                if slot != UNKNOWN:
                    yield self._around(place, last, slot)

    def _around(self, first: int, last: int, slot: int) -> list[Item]:
        """A reading of some words, with content words around it."""
        before = self._run(first - 1, -1, _AROUND, ()) if first and self._gaps[first - 1] < SOFT else []
        after = (
            self._run(last + 1, 1, _AROUND, ()) if last < len(self._gaps) and self._gaps[last] < SOFT else []
        )
        return [*self._own(before[::-1]), (slot, first, last), *self._own(after)]

    def _elided_at(self, place: int) -> Iterator[list[Item]]:
        """Readings of "A and B C" as "A C", and of "A B and C" as "A C"; "A, B and C D" as "A D"."""
        if HARD in (self._gaps[place], self._gaps[place - 1]):
            return
        after = self._after_preposition(place)
        if self._kinds[after] == ARTICLE:
            return
        tail = self._run(after, 1, _SKIPPED + _RIGHT, _PARTING)
        tail = list(takewhile(lambda one: self._words[one] not in _OVER, tail))
        elements = list(self._elements(place)) if tail else []
        if elements:
            if after == place + 1:
                yield from self._shared_head(elements, tail)
            yield from self._shared_start(place, after, elements[0])

    def _after_preposition(self, place: int) -> int:
        """Where the second part begins: after "of the" or "the" if such words begin the first part too."""
        after = place + 1
        while after < len(self._words) - 1 and self._kinds[after] in (LIGHT, ARTICLE):
            after += 1
        if after == place + 1:
            return after
        first = place
        while first > 0 and self._kinds[first - 1] == CONTENT and self._gaps[first - 1] == SPACE:
            first -= 1
        before = self._words[max(first - (after - place - 1), 0) : first]
        return after if before == self._words[place + 1 : after] else place + 1

    def _shared_head(self, elements: list[list[int]], tail: list[int]) -> Iterator[list[Item]]:
        for skipped in range(1, min(_SKIPPED, len(tail) - 1) + 1):
            head = tail[skipped : skipped + _RIGHT]
            if head[0] - tail[0] != skipped:
                return  # a small word between: "lung and risk of fibrosis"
            is_illness = skipped > 1 and self._words[head[0]] in _ILLNESSES
            for element in elements:
                if not self._is_like(self._words[element[-1]], self._words[tail[skipped - 1]]):
                    break  # what stands before belongs to another noun
                if is_illness and not ADJECTIVE.search(self._words[element[-1]]):
                    continue  # "tuberculosis and connective tissue [disease]"
                if self._slots[element[-1]] and self._slots[head[0]]:
                    yield self._own([*element[-_LEFT:], *head])

    @staticmethod
    def _is_like(modifier: str, skipped: str) -> bool:
        """Whether two words may both modify one noun.

        A plural does not ("renal cysts and hepatic fibrosis"), nor a noun where the other is an adjective
        ("growth and hypertensive disorders").
        """
        if modifier.endswith("s") and not modifier.endswith(("ss", "us", "is")):
            return False
        return bool(ADJECTIVE.search(modifier)) or not ADJECTIVE.search(skipped)

    def _shared_start(self, place: int, after: int, first: list[int]) -> Iterator[list[Item]]:
        tail = self._beside(after, 1, _RIGHT + 1)
        if len(tail) > 1 and self._is_quality(tail[0]):
            return  # "severe pain and short stature": each has its own
        if 0 < len(tail) <= _RIGHT and self._gaps[place - 1] not in _PARTING and not self._is_cut(tail[-1]):
            for skipped in range(1, min(_SKIPPED, len(first) - 1) + 1):
                start, end = first[-skipped - 1], first[-skipped]
                if first[-1] - end != skipped - 1 or not self._is_light(start + 1, end):
                    return
                if after > place + 1 and end == start + 1:
                    continue  # "the spinal cord and the lipoma"
                if (
                    self._slots[start]
                    and self._slots[tail[0]]
                    and self._slots[first[-1]] != self._slots[tail[-1]]
                ):
                    yield self._own([*first[-skipped - _LEFT : -skipped], *tail])

    def _listed(self, slots: Array, kinds: Array, gaps: Array) -> Iterator[list[Item]]:
        """Readings of "A, B C" as "A C", where both A and B are adjectives."""
        content = kinds == CONTENT
        known = (slots > 0) & content
        joined = (gaps[:-2] == COMMA) & (gaps[1:-1] == SPACE) & known[:-2] & content[1:-1] & known[2:]
        for place in joined.nonzero()[0].tolist():
            words = self._words[place], self._words[place + 1]
            if self._is_like(*words) and self._is_quality(place) and self._is_quality(place + 1):
                tail = self._beside(place + 2, 1, _RIGHT)
                if tail:
                    yield self._own([*self._beside(place, -1, _LEFT)[::-1], *tail])

    def _is_quality(self, place: int) -> bool:
        language = self._lexicon.language
        word = language.word(self._words[place])
        return (
            language.is_quality(word.noun)
            or language.is_adjective(word.inflection)
            or ADJECTIVE.search(word.inflection) is not None
        )

    def _unmodified(self, places: Sequence[int]) -> Iterator[list[Item]]:
        """Readings of "A left B" and "A of the left B" without the modifier, which does not say what A is."""
        free, words = self._lexicon.language.free, self._words
        last = -1
        for place in places:
            if place <= last:
                continue
            last, before = place, place - 1
            while last + 1 < len(words) and words[last + 1] in free and self._gaps[last] in (SPACE, COMMA):
                last += 1
            while before > 0 and self._kinds[before] in (LIGHT, ARTICLE) and self._gaps[before] == SPACE:
                before -= 1
            if before < 0 or last + 1 >= len(words) or self._gaps[last] != SPACE:
                continue
            if self._gaps[before] == SPACE and self._slots[before] and self._slots[last + 1]:
                head, tail = self._beside(before, -1, _LEFT), self._beside(last + 1, 1, _RIGHT)
                if head and tail and not self._is_cut(tail[-1]):
                    yield self._own([*head[::-1], *tail])

    def _parted(self, places: Sequence[int]) -> Iterator[list[Item]]:
        """Readings of "A, mostly benign, of the B", "A mainly of the B", "A form of B" as "A of the B"."""
        for place in places:
            before = self._before_inserted(place)
            after = place + 1
            while after < len(self._words) and self._kinds[after] in (LIGHT, ARTICLE):
                after += 1
            if before < 0:
                continue
            head, tail = self._beside(before, -1, _LEFT), self._beside(after, 1, _RIGHT)
            if head and tail and not any(gap >= SLASH for gap in self._gaps[before:after]):
                yield self._own([*head[::-1], *tail])

    def _before_inserted(self, place: int) -> int:
        """The word that an "of" belongs to where others stand between; -1 where none do, or too many."""
        is_set_off = place > 1 and self._gaps[place - 1] == COMMA
        for before in range(place - 2, max(place - 2 - _INSERTED, -1), -1):
            gap = self._gaps[before]
            if gap == COMMA and (is_set_off or all(map(_is_passed, self._words[before + 1 : place]))):
                return before
            if gap == SPACE and not is_set_off and not _is_passed(self._words[before + 1]):
                return -1
            if gap not in (SPACE, COMMA, HYPHEN):
                return -1
            if gap == SPACE and not is_set_off and not _is_passed(self._words[before]):
                return before
        return -1

    def _beside(self, place: int, step: int, most: int) -> list[int]:
        """Places of known content words that follow each other, from one on."""
        run: list[int] = []
        while 0 <= place < len(self._words) and len(run) < most:
            if self._kinds[place] != CONTENT or not self._slots[place]:
                break
            run.append(place)
            gap = place if step > 0 else place - 1
            if gap < 0 or gap >= len(self._gaps) or self._gaps[gap] not in (SPACE, HYPHEN):
                break
            place += step
        return run

    def _is_cut(self, place: int) -> bool:
        """Whether the noun phrase goes on after a word: with one that no name has, or with "of"."""
        after = place + 1
        if after >= len(self._words) or self._gaps[place] not in (SPACE, HYPHEN):
            return False
        if self._kinds[after] == CONTENT:
            return not self._slots[after] and not self._is_everyday(after)
        return self._words[after] == "of"

    def _is_light(self, first: int, last: int) -> bool:
        """Whether all words from one place up to another are light ones: "of the"."""
        return all(self._kinds[place] in (LIGHT, ARTICLE) for place in range(first, last))

    def _elements(self, conjunction: int) -> Iterator[list[int]]:
        """Members of the list that a conjunction ends, from right to left."""
        place = conjunction - 1
        for _ in range(_ELEMENTS):
            element = self._run(place, -1, _LEFT + _SKIPPED, _PARTING)
            if not element:
                return
            yield element[::-1]
            place = element[-1] - 1
            if place < 0 or self._gaps[place] not in (COMMA, SLASH):
                return

    def _is_everyday(self, place: int) -> bool:
        """Whether a word belongs to the sentence rather than to a list of findings: "no", "patient"."""
        language = self._lexicon.language
        return language.is_common(language.word(self._words[place]))

    def _run(self, place: int, step: int, most: int, stops: tuple[int, ...]) -> list[int]:
        """Places of content words from one on, up to a stop or conjunction; known ones if nothing stops."""
        run: list[int] = []
        while 0 <= place < len(self._words) and len(run) < most:
            if stops and self._kinds[place] == CONJUNCTION:
                break
            if self._kinds[place] == CONTENT:
                if self._slots[place] == UNKNOWN and (not stops or self._is_everyday(place)):
                    break
                run.append(place)
            gap = place if step > 0 else place - 1
            if (
                gap < 0
                or gap >= len(self._gaps)
                or self._gaps[gap] in (stops or (SOFT,))
                or self._gaps[gap] == HARD
            ):
                break
            place += step
        return run


def _is_passed(word: str) -> bool:
    return word.endswith("ly") or word in _PASSED
