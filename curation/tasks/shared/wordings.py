"""How a diagnosis can be read off a text: its names and near relatives', their adjectives, its eponyms.

A name is looked for as the audit looks for it (curation.concepts.name_forms). Beyond that: whatever this
article itself calls the diagnosis or a near relative, short forms included; words that hardly any other
disease is named with, one-word names and the noun of two-word ones (brain oedema), with the adjectives made
of them (sarcoid, diabetic, fistulous); all words of a name in one sentence (a mass in the mediastinum); and
persons that a name honours (Crohn).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.concepts.english import fold_english
from curation.concepts.name_forms import Reading, as_bytes, form_length, located, name_forms
from curation.concepts.normalise import language_of
from curation.diagnosis.concepts import Concepts
from curation.tasks.shared.tellers import GROWTH, germs, grown, is_growth, places, renamed, stained
from schemas.hashing import normalise_text

How = Literal["name", "near_name", "mention", "short_form", "word", "words", "eponym"]
"""name: of the diagnosis; near_name: of a concept near above or below it; mention: so grounding read it;
short_form: an abbreviation of it; word: a word of a name, or its adjective; words: all of a name's, apart;
eponym: whom a name honours."""
_RARE = 2
"""Diseases beside the diagnosis and its relatives that a telling word may be in the name of."""
_LITTLE = (
    "abnormality acquired acute anemia anomaly associated ataxia bleeding cancer cell chronic condition"
    " congenital cough count defect deficiency diarrhea disease disorder dyspnea failure familial fatigue"
    " fever finding headache hypertension idiopathic induced infection jaundice left lesion loss malignant"
    " multiple nausea neoplasm other pain palsy paralysis primary rash related right secondary seizure"
    " severe shock syndrome"
    " system tumor type unspecified vomiting weakness with"
)
_SAY_LITTLE = frozenset(map(fold_english, _LITTLE.split(" ")))
"""Words of names that are said of many diseases."""
_SURE_ACRONYM = 3
_PREFIX, _LONG = 6, 8
"""Words of so many letters are of one family when they begin alike: mediastinal, mediastinum."""
_LEAST_LETTERS = 4
_CAPITALS = re.compile(r"(?<![^\W_])[A-Z][A-Z0-9]*[A-Z][A-Z0-9]*(?![^\W_])")
_NOUN_FIRST = frozenset({"es", "fr", "it", "pt"})
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NOUN_ENDINGS = (
    ("itis", "it"),
    ("emia", "em"),
    ("oma", "om"),
    ("iasis", ""),
    ("asis", ""),
    ("osis", ""),
    ("esis", ""),
    ("ies", "i"),
    ("psia", "p"),
    ("ism", ""),
    ("sy", ""),
    ("ia", ""),
    ("is", ""),
    ("us", ""),
    ("es", ""),
    ("y", ""),
    ("a", ""),
)
"""Ending of a noun that names a disease -> what of it stays in its adjectives."""
_ADJECTIVES = (
    "ic ical al ar ous oid oidal otic etic itic iatic atic eptic atous tic ial ious ular"
    " y id ian us ia is a es"
)
_ADJECTIVE_ENDINGS = frozenset(_ADJECTIVES.split(" "))
_SHORTEST_STEM = 4
_SHORTEST_BARE = 6
"""Letters of a stem that is a word for the disease by itself: sarcoid."""


class Hit(NamedTuple):
    """Words that give the diagnosis away, with their offsets in the text that was read."""

    start: int
    end: int
    how: How


class Name(NamedTuple):
    """One name of the vocabulary."""

    concept: str
    language: str
    text: str
    source: str = ""


def near(concept: str, concepts: Concepts, max_family: int) -> frozenset[str]:
    """Concepts that, named, tell the diagnosis or nearly: itself, all below it, what lies near above it.

    Args:
        concept: the diagnosis.
        concepts: the vocabulary.
        max_family: a concept above it with more below itself is too wide to tell, unless it is its parent
            and no chapter heading.
    """
    above = {
        other
        for other in concepts.ancestors(concept)
        if not concepts.has_kinds(other, max_family + 1)
        or (other in concepts.parents.get(concept, ()) and not concepts.is_general(other))
    }
    return frozenset({concept, *concepts.descendants(concept), *above})


def read_names(path: Path, wanted: Collection[str]) -> list[Name]:
    """Names of some concepts, in the vocabulary's order.

    Args:
        path: Parquet of ConceptName rows, sorted by concept.
        wanted: concepts.
    """
    columns = ["concept", "language", "name", "source"]
    table = pq.read_table(path, columns=columns, filters=pc.field("concept").isin(sorted(wanted)))
    return [Name(*(row[column] for column in columns)) for row in table.to_pylist()]


@functools.lru_cache(maxsize=2)
def word_counts(path: Path, concepts: Concepts) -> Mapping[str, int]:
    """How many diseases and findings have a name with a word in it, of English names; two are kept."""
    counts: dict[str, int] = {}
    last: dict[str, str] = {}
    for batch in pq.ParquetFile(path).iter_batches(columns=["concept", "language", "name"]):
        for row in batch.to_pylist():
            concept = row["concept"]
            if concepts.kind(concept) == "other" or not row["language"].startswith("en"):
                continue
            for word in (*_words(row["name"]), *_CAPITALS.findall(row["name"])):
                if last.get(word) != concept:
                    last[word] = concept
                    counts[word] = counts.get(word, 0) + 1
    return counts


def _words(text: str) -> Iterator[str]:
    """Folded words that are long enough to tell something."""
    for match in _WORD.finditer(text):
        if len(word := _folded(match)) >= _LEAST_LETTERS:
            yield word


@dataclass(frozen=True, slots=True)
class Wordings:
    """What gives one diagnosis away. Build with :meth:`of`."""

    target: Mapping[int, frozenset[bytes]]
    """Words of a form -> forms of its names; as in name_forms."""
    others: Mapping[int, frozenset[bytes]]
    """The same of its near relatives, and of what the article calls any of them."""
    short: frozenset[str]
    stems: Mapping[str, str]
    """Stem -> the folded word it is of."""
    apart: tuple[tuple[str, ...], ...]
    """Words of each name of several that say something."""
    eponyms: re.Pattern[str] | None

    @classmethod
    def of(
        cls,
        concept: str,
        names: Sequence[Name],
        called: Collection[str],
        short: Collection[str],
        counts: Mapping[str, int],
        above: Collection[str] = (),
    ) -> Wordings:
        """What gives a diagnosis away.

        Args:
            concept: the diagnosis.
            names: of it and its near relatives.
            called: what the article calls them.
            short: short forms that the article explains as one of them.
            counts: see :func:`word_counts`.
            above: those of its near relatives that lie above it: they say which germ it is due to.
        """
        own = [name for name in names if name.concept == concept]
        english = [name.text for name in own if name.language.startswith("en")]
        wider = [name.text for name in names if name.concept in above and name.language.startswith("en")]
        genera = list(germs([*english, *wider]))
        nouns = set(_nouns(english))
        if nouns:  # what tells in English tells in every language
            nouns |= set(_first_nouns(own))
        told = {*_telling(concept, names, counts), *nouns, *genera}
        told |= {growth for word in told if (growth := grown(word))}
        apart = {words for text in english if len(words := _saying(text)) > 1}
        apart |= {words for text in english if (words := places(text, _names_place(text)))}
        return cls(
            target=_forms((name.language, name.text) for name in own),
            others=_forms(
                [
                    *((name.language, name.text) for name in names if name.concept != concept),
                    *(("", text) for text in called),
                    *(("en", text) for name in english for text in renamed(name)),
                ]
            ),
            short=frozenset({*short, *_acronyms(concept, names, counts), *stained(genera)}),
            stems=dict(sorted((stem, word) for word in told for stem in _stems(word))),
            apart=tuple(sorted(apart)),
            eponyms=_eponyms(own),
        )

    def find(self, text: str) -> Hit | None:
        """The first words of a text that give the diagnosis away, or None."""
        hits = [*self._named(text, self.target, "name"), *self._named(text, self.others, "near_name")]
        for form in self.short:
            match = re.search(rf"(?<![^\W_]){re.escape(form)}s?(?![^\W_])", text)
            if match:
                hits.append(Hit(*match.span(), "short_form"))
        if self.eponyms and (match := self.eponyms.search(text)):
            hits.append(Hit(*match.span(), "eponym"))
        hits += self._words(text)
        hits += self._apart(text)
        return min(hits, key=lambda hit: (hit.start, -hit.end, hit.how), default=None)

    def _named(self, text: str, forms: Mapping[int, frozenset[bytes]], how: How) -> Iterator[Hit]:
        reading = Reading.of(text)
        found = [run for words, known in forms.items() for run in sorted(reading.runs(words) & known)]
        places = [located(text, run.decode("utf-8", "surrogatepass")) for run in found]
        known_places = [
            Hit(start, end, how) for start, end in places if start is not None and end is not None
        ]
        yield from known_places or [Hit(0, len(text), how) for _ in found[:1]]

    def _words(self, text: str) -> Iterator[Hit]:
        for match in _WORD.finditer(text):
            word = _folded(match)
            for length in range(_SHORTEST_STEM, len(word) + 1):
                told = self.stems.get(word[:length])
                if told is not None and (word == told or _is_adjective(word, length)):
                    yield Hit(*match.span(), "word")
                    break

    def _apart(self, text: str) -> Iterator[Hit]:
        """All words of a name, in any order."""
        if not self.apart:
            return
        places = [(match.start(), match.end(), _folded(match)) for match in _WORD.finditer(text)]
        for words in self.apart:
            found = [next((place for place in places if _are_kin(word, place[2])), None) for word in words]
            held = [place for place in found if place is not None]
            if len(held) == len(words):
                yield Hit(min(place[0] for place in held), max(place[1] for place in held), "words")


def _folded(match: re.Match[str]) -> str:
    return _folded_word(match.group())


@functools.lru_cache(maxsize=1 << 16)
def _folded_word(word: str) -> str:
    """Names of a vocabulary are a million words, of which few are different."""
    return fold_english(normalise_text(word.removesuffix("'s").removesuffix("’s")))


def _are_kin(word: str, other: str) -> bool:
    """Whether two folded words are one, or long ones of one family, or the other is for any growth."""
    if word == GROWTH:
        return is_growth(other)
    return word == other or (min(len(word), len(other)) >= _LONG and word[:_PREFIX] == other[:_PREFIX])


def _saying(name: str) -> tuple[str, ...]:
    """Words of a name that say which disease it is."""
    return tuple(dict.fromkeys(word for word in _words(name) if word not in _SAY_LITTLE))


def _names_place(name: str) -> tuple[str, ...]:
    """Words of a name with those for a growth, without others that say little."""
    return tuple(dict.fromkeys(word for word in _words(name) if word not in _SAY_LITTLE or is_growth(word)))


def _nouns(names: Iterable[str]) -> Iterator[str]:
    """The noun of most names of two words: with it said, the other is told by the findings."""
    counts: dict[str, int] = {}
    for name in names:
        before, _, after = name.partition(", ")
        words = f"{after} {before}".split()
        if len(words) == 2 and (noun := next(_words(words[1]), "")):
            counts[noun] = counts.get(noun, 0) + 1
    for noun, count in sorted(counts.items()):
        if 2 * count >= sum(counts.values()) and noun not in _SAY_LITTLE:
            yield noun


def _first_nouns(names: Iterable[Name]) -> Iterator[str]:
    """The same of languages in which the noun stands first: linfoma folicular."""
    for language in sorted(_NOUN_FIRST):
        firsts = [" ".join(name.text.split()[::-1]) for name in names if name.language.startswith(language)]
        yield from _nouns(firsts)


def _acronyms(concept: str, names: Iterable[Name], counts: Mapping[str, int]) -> Iterator[str]:
    """Words in capitals that mostly this diagnosis and its relatives are named with: CMV."""
    held: dict[str, set[str]] = {}
    for name in names:
        for word in _CAPITALS.findall(name.text):
            held.setdefault(word, set()).add(name.concept)
    for word, of in sorted(held.items()):
        is_sure = concept in of or len(word) >= _SURE_ACRONYM  # CN may be a nerve
        if is_sure and _is_telling(counts.get(word, 0), len(of)):
            yield word


def _is_telling(concepts: int, near: int) -> bool:
    """Whether hardly another disease has a word in its name, or fewer than the relatives have."""
    return concepts - near <= max(_RARE, near)


def _is_adjective(word: str, stem: int) -> bool:
    """Whether a word is its first so many letters and an ending that makes adjectives."""
    return word[stem:] in _ADJECTIVE_ENDINGS or (stem == len(word) >= _SHORTEST_BARE)


def _forms(names: Iterable[tuple[str, str]]) -> dict[int, frozenset[bytes]]:
    found: dict[int, set[bytes]] = {}
    for language, name in names:
        for form in name_forms(language, name):
            found.setdefault(form_length(form), set()).add(as_bytes(form))
    return {words: frozenset(forms) for words, forms in sorted(found.items())}


def _telling(concept: str, names: Sequence[Name], counts: Mapping[str, int]) -> Iterator[str]:
    """Words that tell the diagnosis alone: its one-word names, and words of hardly another disease."""
    held: dict[str, set[str]] = {}
    for name in names:
        if not name.language.startswith("en"):
            continue
        words = list(_words(name.text))
        for word in words:
            held.setdefault(word, set()).add(name.concept)
        if len(words) == 1 and len(name.text.split()) == 1 and name.concept == concept:
            yield words[0]
    english = language_of("en")
    for word, of in held.items():
        is_plain = word in _SAY_LITTLE or english.is_common(english.word(word))
        if concept in of and not is_plain and _is_telling(counts.get(word, 0), len(of)):
            yield word


def _stems(word: str) -> Iterator[str]:
    """The word itself, and what its adjectives begin with."""
    yield word
    for ending, stays in _NOUN_ENDINGS:
        if word.endswith(ending):
            stem = word.removesuffix(ending) + stays
            if len(stem) >= _SHORTEST_STEM:
                yield stem
            return


def _eponyms(names: Sequence[Name]) -> re.Pattern[str] | None:
    """Words that the names always write with a capital though not all words beside them are.

    A first word counts in a source that does not begin all its names with a capital, or in a possessive.
    """
    small = {name.source for name in names if name.text[:1].islower()}
    honoured: set[str] = set()
    common: set[str] = set()
    for name in names:
        matches = list(_WORD.finditer(name.text))
        words = [match.group().removesuffix("'s").removesuffix("’s") for match in matches]
        common.update(word for word in words if word.islower())
        if any(word.islower() and len(word) > 3 for word in words):
            honoured.update(
                word
                for match, word in zip(matches, words, strict=True)
                if word[:1].isupper()
                and word[1:].islower()
                and (match.start() or name.source in small or word != match.group())
            )
    found = sorted(word for word in honoured if len(word) >= _LEAST_LETTERS and word.lower() not in common)
    if not found:
        return None
    listed = "|".join(map(re.escape, found))
    lower = "|".join(re.escape(word.lower()) for word in found)
    return re.compile(rf"(?<![^\W_])(?:(?:{listed})(?:['’]?s|ian|oid)?|(?:{lower})(?:ian|oid))(?![^\W_])")
