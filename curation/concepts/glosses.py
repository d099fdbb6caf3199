"""Names of concepts in languages that the vocabulary has none in: each word is read as English ones.

Words mean what known translations say (data/glosses.toml), or are cognates of a word that names have; words
that together are those of an English name, in any order, name its concept: "encefalitis límbica" is "limbic
encephalitis". Compositional translation, after Morin and Daille (2009), "Compositionality and lexical
alignment of multi-word terms"; words are aligned by IBM Model 1 (Brown et al. 1993). A German compound is the
fewest known words it can be made of (after Koehn and Knight 2003).
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

import numpy as np

from curation.concepts.cognates import LANGUAGES, cognate, is_adjective, is_cognate, is_telling
from curation.concepts.hashes import Array, form_hash
from curation.concepts.names import BLOOD, CASED, LOOSE, NUMBERED, PARTIAL
from curation.concepts.normalise import fold, language_of
from curation.concepts.scripts import HYPHEN, SPACE, gap_class, split
from curation.concepts.storage import IndexFile, places_of

COGNATES = "cognates"
"""What stands for a language where the form of a cognate is hashed."""
SCORE = 0.75
LONGEST = 5
"""Content words of the longest name read so."""
_MOST_UNLIKELY = 1
_MOST_WAYS = 64
_REMEMBERED = 50_000
_UNSURE, _UNLIKE = "?", "!"
_MARKS = _UNSURE + _UNLIKE
_APOSTROPHES = frozenset("'’")
_LEFT_OUT = np.uint8(CASED | NUMBERED | BLOOD | PARTIAL | LOOSE)
_CONJUNCTIONS = {
    "de": {"und", "oder"}, "es": {"y", "e", "o", "u"}, "fr": {"et", "ou"}, "it": {"e", "ed", "o"},
    "pt": {"e", "ou"},
}  # fmt: skip
_JOINED = re.compile(r"\b(?:and|or)\b|[,/]", re.IGNORECASE)
_Z = re.compile(r"[zZ](?=[eiyäö])")

Span = tuple[int, int]
_Ways = tuple[Array, Array, bool, tuple[str, ...]]
"""Sums of key hashes, how far down the lists of meanings each is, whether the first is sure; the words."""

COMPOUNDING = CAPITALISING = frozenset({"de"})
"""Languages that write compounds as one word, and those that write nouns with a capital."""
_JOINTS = ("", "s", "n", "en", "er", "es", "e")
_SHORTEST_PART, _MOST_PARTS, _LONGEST_COMPOUND = 3, 3, 50


@functools.cache
def _tables() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    text = (resources.files("curation.concepts") / "data" / "glosses.toml").read_text("utf-8")
    return {
        language: {word: tuple(said) for word, *said in map(str.split, lines.strip().splitlines())}
        for language, lines in tomllib.loads(text).items()
    }


def meanings(language: str) -> Mapping[str, tuple[str, ...]]:
    """Folded words of a language and English ones they mean, the likeliest first.

    `?` behind the first: it is unsure; `!`: so is every cognate.
    """
    return _tables().get(language, {})


class Glosses:
    """English names of one index, found in texts of other languages."""

    def __init__(self, index: IndexFile) -> None:
        self._keys, self._flags = index.array("row_key"), index.items("row_flags")
        self._cognates, self._forms = index.array("cognate_key"), index.items("cognate_form")
        self._known: dict[str, dict[str, _Ways | None]] = {language: {} for language in LANGUAGES}
        self._parts: dict[str, bool] = {}

    def rows(self, text: str, language: str) -> Iterator[tuple[Span, Sequence[str], list[tuple[int, int]]]]:
        """Stretches of a text that have the key of English names.

        Args:
            text: any text.
            language: one of :data:`LANGUAGES`.

        Yields:
            Offsets, the words there, those of compounds apart, and of every name its row and how unlikely
            the meanings are that give it, from 0.
        """
        spans, said, keys, ranks = self._windows(text, language)
        if not spans or not len(self._keys):
            return
        wanted = np.concatenate(keys)
        owners = np.repeat(np.arange(len(spans)), [len(some) for some in keys])
        unlikely = np.concatenate(ranks)
        places = places_of(self._keys, wanted)
        hits = (self._keys[np.minimum(places, len(self._keys) - 1)] == wanted).nonzero()[0]
        found: dict[int, list[tuple[int, int]]] = {}
        for owner, place, rank in zip(
            owners[hits].tolist(), places[hits].tolist(), unlikely[hits].tolist(), strict=True
        ):
            key = self._keys[place]
            while place < len(self._keys) and self._keys[place] == key:
                if not self._flags[place] & int(_LEFT_OUT):
                    found.setdefault(owner, []).append((place, rank))
                place += 1
        for owner, rows in found.items():
            yield spans[owner], said[owner], rows

    def _windows(
        self, text: str, language: str
    ) -> tuple[list[Span], list[Sequence[str]], list[Array], list[Array]]:
        """Stretches of words that all mean something, and the keys of what they may mean."""
        parts = split(text)
        words, gaps = parts[1::2], parts[2::2]
        starts = np.cumsum([0, *map(len, parts)])[1::2].tolist()
        small = language_of(language).stop
        spans: list[Span] = []
        said: list[Sequence[str]] = []
        keys: list[Array] = []
        ranks: list[Array] = []
        for first, word in enumerate(words):
            if (ways := self._ways(word, language)) is None or fold(word) in small:
                continue
            if word.isdigit() and gap_class(gaps[first]) != HYPHEN:
                continue  # a count: "4 factores" are no factor IV
            sums, rank, is_sure, parts_said = ways
            count = 1
            at = first
            while True:
                if count > 1 or (is_sure and _stands_alone(words, gaps, at, language)):
                    chosen = slice(None) if count > 1 else rank == 0
                    spans.append((starts[first], starts[at] + len(words[at])))
                    said.append(parts_said)
                    keys.append(sums[chosen])
                    ranks.append(rank[chosen])
                following = _following(words, gaps, at, small)
                if following is None or count == LONGEST:
                    break
                more = self._ways(words[following], language)
                if more is None:
                    break
                sums, rank = _together(sums, rank, more)
                parts_said = (*parts_said, *words[at + 1 : following], *more[3])
                at, count = following, count + 1
        return spans, said, keys, ranks

    def _ways(self, word: str, language: str) -> _Ways | None:
        """What a word may mean; remembered."""
        known = self._known[language]
        if word not in known:
            if len(known) > _REMEMBERED:
                known.clear()
            known[word] = self._ways_of(word, language)
        return known[word]

    def _ways_of(self, word: str, language: str, *, is_part: bool = False) -> _Ways | None:
        english = language_of("en")
        folded = fold(word)
        if folded.isdigit():
            hashes, is_sure = {english.word(folded).key_hash: 0}, False
        else:
            said = meanings(language).get(folded, ())
            forms = _forms(word, language)
            like = [key for form in forms for key in self._like(form)]
            is_said = bool(said) and said[0][-1] not in _MARKS
            is_like = bool(like) and not (said and said[0].endswith(_UNLIKE))
            is_sure = is_said or (is_like and any(map(is_telling, forms)))
            own = [english.word(bare).key_hash for one in said if (bare := one.rstrip(_MARKS))]
            hashes = dict.fromkeys(like, int(is_said or not is_like))
            for rank, key in enumerate(own, int(not is_said and is_like)):
                hashes[key] = min(rank, hashes.get(key, rank))
        hashes.pop(0, None)
        if language in COMPOUNDING and not (is_sure or is_part):
            compound = self._compound(folded, language)
            if compound is not None:
                return compound
        if not hashes:
            return None
        return (
            np.array([*hashes], dtype=np.uint64),
            np.array([*hashes.values()], dtype=np.int64),
            is_sure,
            (word,),
        )

    def _compound(self, folded: str, language: str) -> _Ways | None:
        """What a word of several known ones means: the fewest, the shortest of them as long as possible."""
        if not folded.isalpha() or len(folded) > _LONGEST_COMPOUND:
            return None
        splits = [*self._splits(folded, language, _MOST_PARTS)]
        if not splits:
            return None
        best = min(splits, key=lambda parts: (len(parts), -min(map(len, parts)), parts))
        ways = [ways for part in best if (ways := self._ways_of(part, language, is_part=True))]
        sums, rank, is_sure, said = ways[0]
        for more in ways[1:]:
            sums, rank = _together(sums, rank, more)
            is_sure, said = is_sure and more[2], (*said, *more[3])
        return sums, rank, is_sure, said

    def _splits(self, folded: str, language: str, most: int) -> Iterator[tuple[str, ...]]:
        """Known words that one can be made of, without what joins them: "lungen|embolie"."""
        for first, rest in splits_of(folded):
            if self._is_part(first, language):
                if self._is_part(rest, language):
                    yield first, rest
                if most > 2:
                    for more in self._splits(rest, language, most - 1):
                        yield first, *more

    def _is_part(self, part: str, language: str) -> bool:
        """Whether a word surely means something; remembered."""
        if part not in self._parts:
            if len(self._parts) > _REMEMBERED:
                self._parts.clear()
            ways = self._ways_of(part, language, is_part=True)
            self._parts[part] = ways is not None and ways[2]
        return self._parts[part]

    def _like(self, form: str) -> list[int]:
        """Key hashes of the English words that have the form of a cognate."""
        wanted = form_hash(COGNATES, form)
        place = int(self._cognates.searchsorted(np.uint64(wanted)))
        found: list[int] = []
        while place < len(self._cognates) and int(self._cognates[place]) == wanted:
            found.append(self._forms[place])
            place += 1
        return found


def splits_of(word: str) -> Iterator[tuple[str, str]]:
    """Every two parts of a word, without what may join them."""
    for length in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
        for joint in _JOINTS:
            rest = word[length + len(joint) :]
            if len(rest) >= _SHORTEST_PART and word.startswith(joint, length):
                yield word[:length], rest


def unsaid(words: Sequence[str], name: str, language: str) -> int | None:
    """How many words of an English name none of some words is: each a relative ("renal" for "kidney").

    None where the words do not say the name: one alone that is a relative ("pélvico" is no "pelvis"), or
    several with a conjunction that the name lacks ("ciencias naturales e historia" is no "natural history").
    """
    english = language_of("en")
    said: set[str] = set()
    written: set[str] = set()
    for word in words:
        folded = fold(word)
        means = meanings(language).get(folded, ())
        if len(words) == 1:
            means = tuple(one for one in means[:1] if one[-1] not in _MARKS)
        said.update(english.word(one.rstrip(_MARKS)).inflection for one in means)
        said.add(folded)
        if len(words) > 1 or any(map(is_telling, _forms(word, language))):
            written.update(_written(word, language))
    content = [part for part in split(name)[1::2] if fold(part) not in english.stop]
    count = sum(
        english.word(part).inflection not in said
        and not any(is_cognate(word, part, language) for word in written)
        for part in content
    )
    if len(words) == 1:
        return None if count or len(content) > 1 else 0
    is_joined = not _CONJUNCTIONS[language].isdisjoint(map(fold, words))
    return None if is_joined and _JOINED.search(name) is None else count


def _written(word: str, language: str) -> list[str]:
    """A word as it may be a cognate; German has z for both z and, before some vowels, c."""
    return [word, _Z.sub("c", word)] if language == "de" else [word]


def _forms(word: str, language: str) -> list[str]:
    return [form for form in map(cognate, _written(word, language)) if form]


def _together(sums: Array, rank: Array, more: _Ways) -> tuple[Array, Array]:
    """The likely ones of all sums of two words' meanings."""
    ranks = (rank[:, None] + more[1][None, :]).ravel()
    likely = (ranks <= _MOST_UNLIKELY).nonzero()[0][:_MOST_WAYS]
    return (sums[:, None] + more[0][None, :]).ravel()[likely], ranks[likely]


def _stands_alone(words: Sequence[str], gaps: Sequence[str], at: int, language: str) -> bool:
    """Whether a word is no adjective of the one before, as in "resonancia magnética", and no "orbito-"."""
    word = words[at]
    if language in CAPITALISING:
        return not word[0].islower()
    if word[-1] == "o" and gap_class(gaps[at]) == HYPHEN:
        return False
    is_first = not at or gap_class(gaps[at - 1]) not in (SPACE, HYPHEN)
    return is_first or fold(words[at - 1]) in language_of(language).stop or not is_adjective(word)


def _following(words: Sequence[str], gaps: Sequence[str], at: int, small: frozenset[str]) -> int | None:
    """The next content word of the same phrase, small words between."""
    for place in range(at + 1, len(words)):
        gap = gaps[place - 1]
        if gap_class(gap) not in (SPACE, HYPHEN) and gap not in _APOSTROPHES:
            return None
        if fold(words[place]) not in small:
            return place
    return None
