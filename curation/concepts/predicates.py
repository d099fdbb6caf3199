"""Findings stated by a verb: "the nails were dystrophic" read as "dystrophic nails". English only.

The noun is the head of the subject: "the corners of the mouth were downturned" are "downturned corners", or
"downturned corners of the mouth", no "downturned mouth". What is denied ("were not dystrophic") is read too:
words around the quality say whether it is so (:func:`stated_from`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from curation.concepts.lexicon import ARTICLE, CONJUNCTION, CONTENT, Lexicon
from curation.concepts.normalise import ADJECTIVE
from curation.concepts.scripts import COMMA, HYPHEN, SPACE

COPULAS = frozenset(
    {"is", "are", "was", "were", "be", "been", "being", "became", "become", "becomes", "becoming"}
    | {"appear", "appears", "appeared", "remain", "remains", "remained", "seem", "seems", "seemed", "looked"}
)
_AUXILIARIES = frozenset(
    {"has", "have", "had", "may", "might", "can", "could", "will", "would", "to"}
    | {"found", "noted", "felt", "judged", "considered", "thought"}
)
_DENIALS = frozenset({"not", "never"})
_GROUP = COPULAS | _AUXILIARIES | _DENIALS
_PASSED = _GROUP | frozenset(
    {"very", "also", "both", "all", "each", "more", "most", "much", "quite", "rather", "somewhat", "often"}
    | {"still", "then", "now", "too", "even", "only"}
)
AFTER_NOUNS = COPULAS | frozenset(
    {"has", "have", "had", "may", "might", "can", "could", "will", "would", "did", "does", "do"}
    | {"that", "which", "who", "when", "while", "where", "whereas", "but", "than", "because", "since"}
    | {"although", "though", "if", "not", "during", "after", "before", "without", "despite", "among"}
    | {"between", "throughout", "until", "within", "under", "over", "only", "alone", "too", "also"}
    | {"even", "they", "he", "she", "we", "suggested", "suggesting", "suggests", "persisted"}
    | {"compared", "consistent", "relative", "respectively"}
)
"""Words that follow a noun phrase, or a quality that a verb states, and are not of it."""
_STATED = re.compile(
    rf"\b(?:{'|'.join(sorted(COPULAS))})(?:[ ](?:{'|'.join(sorted(_PASSED))}|\w+ly))*[ ](?=\w)", re.IGNORECASE
)
_DENIED = re.compile(
    rf"\b(?:{'|'.join(sorted(COPULAS | _AUXILIARIES))})(?: \w+ly)? "
    r"(?:not(?! (?:only|just|merely|simply|always|all|necessarily|infrequent|uncommon|rare))|never)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_JOINT = re.compile(r" (?:and|or|but) |, ")
_OF, _WHICH = frozenset({"of", "in"}), frozenset({"that", "which"})
_PREPOSITIONS = _OF | frozenset(
    {"with", "without", "from", "to", "for", "by", "on", "at", "after", "before", "during", "between", "into"}
    | {"near", "behind", "around", "beside", "above", "below", "over", "under", "along", "through", "within"}
    | {"except", "against", "about", "beyond", "across", "supplying", "overlying", "surrounding", "than"}
)
PARTS = frozenset(
    {
        "head",
        "neck",
        "limb",
        "arm",
        "hand",
        "mouth",
        "foot",
        "leg",
        "tongue",
        "lip",
        "shoulder",
        "body",
        "face",
    }
    | {"back", "heel", "knee", "eye", "ear", "nose", "root", "tail", "trunk", "waist", "crown", "chest"}
)
"""Parts of the body whose names are those of parts of other things too: "the neck of the aneurysm"."""
_NO_NOUNS = _PREPOSITIONS | AFTER_NOUNS
_SINGULAR = frozenset({"is", "was", "becomes", "appears", "remains", "seems", "has"})
_NOUNS, _QUALITIES, _ELEMENTS = 4, 3, 3
_REACH = 8
"""Words looked at in one direction: a text of verbs alone takes no longer than another."""


class Placed:
    """One batch of words, each known by its place.

    Args:
        words: the words.
        slots: their slots.
        kinds: their kinds.
        gaps: class of the gap after each word but the last.
        lexicon: of their language.
    """

    def __init__(
        self,
        words: Sequence[str],
        slots: Sequence[int],
        kinds: Sequence[int],
        gaps: Sequence[int],
        lexicon: Lexicon,
    ) -> None:
        self._words, self._slots, self._kinds, self._gaps = words, slots, kinds, gaps
        self._lexicon = lexicon


class Predicates(Placed):
    """Readings of what a batch of words states."""

    def at(self, copula: int) -> Iterator[list[int]]:
        """Places of the words of each reading of a verb: what the noun is part of, the noun, the quality."""
        if 0 < copula < len(self._gaps):
            nouns, wholes = self._subject(copula)
            if nouns:
                subjects = [[*wholes, *noun] for noun in (nouns, *self._listed(nouns[0], copula))]
                for qualities in self._predicates(copula):
                    for place in ([], *self._places_behind(qualities[-1])):
                        for subject in subjects:
                            yield [*place, *subject, *qualities]

    def _places_behind(self, last: int) -> Iterator[list[int]]:
        """Where it is so, if that comes next: "lactate was raised in the [cerebrospinal fluid]"."""
        place = last + 1
        if self._follows(place, SPACE) and self._words[place] in _OF:
            place += 1
            if place < len(self._words) and self._kinds[place] == ARTICLE:
                place += 1
            run: list[int] = []
            while self._follows(place, SPACE, HYPHEN) and self._is_known(place) and len(run) < _NOUNS:
                run.append(place)
                place += 1
            if run:
                yield run

    def _subject(self, copula: int) -> tuple[list[int], list[int]]:
        """The noun before the verb, and the one that it is part of, if any."""
        place, least = copula - 1, max(copula - _REACH, 0)
        while place > least and self._words[place] in _GROUP and self._gaps[place] == SPACE:
            place -= 1
        if place and self._words[place] in _WHICH:  # a gap is hard before "that" as before an article
            place -= 1
        elif self._gaps[place] != SPACE:
            return [], []
        nouns = self._run(place)
        if not nouns:
            return [], []
        if self._is_left_out(nouns[0]):
            return [], []
        before = self._before(nouns[0])
        if before < 0:
            return nouns, []
        if self._words[before] not in _OF or not before or self._gaps[before - 1] != SPACE:
            return [], []
        parts = self._run(before - 1)
        if not parts or self._before(parts[0]) >= 0:
            return [], []
        return parts, nouns

    def _is_left_out(self, place: int) -> bool:
        """Whether a noun is said not to be meant: "the spleen but not the liver was"."""
        place -= 1
        while place > 0 and self._kinds[place] == ARTICLE:
            place -= 1
        return place >= 0 and self._words[place] in _DENIALS and self._words[place - 1] != "or"

    def _listed(self, last: int, copula: int) -> Iterator[list[int]]:
        """The nouns of a list that ends with the one at a place: "[copper] and [iron] were low".

        Only before a plural verb, so that "pubic and axillary hair was" lists no hair.
        """
        place = last - 1
        if self._words[copula] in _SINGULAR or place < 1 or self._kinds[place] != CONJUNCTION:
            return
        for _ in range(_ELEMENTS):
            place -= 1
            if place < 0 or self._gaps[place] not in (SPACE, COMMA):
                return
            nouns = self._run(place)
            if not nouns or ADJECTIVE.search(self._words[place]):
                return
            yield nouns
            place = nouns[0]
            if not place or self._gaps[place - 1] != COMMA:
                return

    def _run(self, place: int) -> list[int]:
        """Known content words up to a place, in order."""
        run: list[int] = []
        while place >= 0 and self._is_noun(place) and len(run) < _NOUNS:
            run.append(place)
            if not place or self._gaps[place - 1] not in (SPACE, HYPHEN):
                break
            place -= 1
        return run[::-1]

    def _is_noun(self, place: int) -> bool:
        return self._is_known(place) and self._words[place] not in _NO_NOUNS

    def _is_known(self, place: int) -> bool:
        return self._kinds[place] == CONTENT and self._slots[place] > 0

    def _before(self, place: int) -> int:
        """Place of the preposition that a noun phrase hangs on; -1 for none."""
        least = max(place - _REACH, 0)
        place -= 1
        while place >= least:
            if self._gaps[place] not in (SPACE, HYPHEN) and self._kinds[place + 1] != ARTICLE:
                return -1
            if self._words[place].lower() in _PREPOSITIONS:
                return place
            if self._kinds[place] == CONJUNCTION or self._gaps[place] not in (SPACE, HYPHEN):
                return -1
            place -= 1
        return -1

    def _predicates(self, copula: int) -> Iterator[list[int]]:
        """Each of the qualities that are listed behind the verb; an adverb before one may belong to it."""
        place = copula + 1
        for number in range(_ELEMENTS):
            while place <= copula + _REACH and self._follows(place, SPACE) and self._is_passed(place):
                place += 1
            run = self._qualities(place, is_first=not number)
            if not run:
                return
            if all(self._slots[one] for one in run):
                yield run
                if self._slots[place - 1] and _is_adverb(self._words[place - 1]):
                    yield [place - 1, *run]
            is_denied = not _DENIALS.isdisjoint(self._words[copula : run[0]])
            place = run[-1] + 1
            if is_denied and self._follows(place, COMMA):
                return  # a denial of a list is not told from one of its first
            if self._follows(place, SPACE, COMMA) and self._kinds[place] == CONJUNCTION:
                place += 1
            elif not self._follows(place, COMMA):
                return

    def _is_passed(self, place: int) -> bool:
        return self._words[place] in _PASSED or _is_adverb(self._words[place])

    def _follows(self, place: int, *gaps: int) -> bool:
        """Whether there is a word at a place, after one of these gaps."""
        return place < len(self._words) and self._gaps[place - 1] in gaps

    def _qualities(self, place: int, *, is_first: bool) -> list[int]:
        """Content words from a place on that are all of their phrase."""
        run: list[int] = []
        while (
            place < len(self._words)
            and self._kinds[place] == CONTENT
            and not _is_adverb(self._words[place])
            and not (run and self._words[place] in AFTER_NOUNS)
            and len(run) < _QUALITIES
        ):
            run.append(place)
            place += 1
            if not self._follows(place, SPACE, HYPHEN):
                return run
        if place >= len(self._words) or self._kinds[place] != CONTENT or _is_adverb(self._words[place]):
            return run
        if self._words[place] in AFTER_NOUNS:
            return run
        language = self._lexicon.language
        return run if is_first and language.is_common(language.word(self._words[place])) else []


def verb_of(places: Sequence[int], words: Sequence[str]) -> int:
    """Which of some places in order is the first behind a verb that stands between them; 0 for none."""
    for at in range(1, len(places)):
        if not COPULAS.isdisjoint(words[places[at - 1] + 1 : places[at]]):
            return at
    return 0


def stated_from(text: str, start: int, end: int) -> int:
    """Where the quality that is stated begins in what lies between two offsets; the first of them if none is.

    >>> text = "The spleen was not palpable"
    >>> text[stated_from(text, 4, len(text)) :]
    'palpable'
    """
    words = text[start:end]
    if " " not in words or (words.isascii() and COPULAS.isdisjoint(_WORD.findall(words.lower()))):
        return start
    return max((found.end() for found in _STATED.finditer(text, start, end)), default=start)


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether the last statement between two offsets says that something is not so.

    >>> text = "spleen was not found to be enlarged"
    >>> is_denied(text, 0, len(text))
    True
    """
    words = text[start:end].lower()
    if "not" not in words and "never" not in words:
        return False
    last = max((found.end() for found in _JOINT.finditer(text, start, end)), default=start)
    return _DENIED.search(text, last, end) is not None


def _is_adverb(word: str) -> bool:
    return word.endswith("ly")


def is_listed(place: int, words: Sequence[str]) -> bool:
    """Whether a quality is not the first behind its verb: it stands for the whole finding."""
    while words[place - 1] in _PASSED or _is_adverb(words[place - 1]):
        place -= 1
        if words[place] in COPULAS:
            return False
    return True
