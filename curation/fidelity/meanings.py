"""Which concepts a rewrite must keep, and which of two ids mean the same by name."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.concepts.english import fold_english
from curation.diagnosis.concepts import Concepts
from curation.fidelity.substitutes import substitutes
from curation.fidelity.words import FUNCTION_WORDS, content_words
from schemas.hashing import normalise_text

_GROUPS = ("CHEM", "DISO")
"""Semantic groups that vignettes are about: disorders with their signs, and substances."""
_OTHER_CONCEPTS = ("BROAD", "NARROW", "RELATED")
"""Term types of names that are no synonyms."""
_COMMON = 0.04
"""Share of all definitions from which a word tells nothing of the one it stands in."""
_PROCEDURES = ("T060", "T061")
"""UMLS types Diagnostic Procedure, and Therapeutic or Preventive Procedure."""


_FIGURE = re.compile(r"\d")


class Meanings(Protocol):
    """What a comparison needs to know of a vocabulary."""

    def tells(self, concept: str) -> bool:
        """Whether a concept says something of a patient; 'history' and 'disease' do not."""

    def any_same(self, concept: str, others: Iterable[str]) -> bool:
        """Whether a concept shares a name with one of others: vocabularies hold some things twice."""

    def follows(self, concept: str, others: Iterable[str]) -> bool:
        """Whether one of others is a kind of a concept, so that who has it has the concept."""

    def wordings(self, concept: str) -> Sequence[frozenset[str]]:
        """Stems of the content words of each English name of a concept, broader and narrower left out."""

    def gloss(self, concept: str) -> frozenset[str]:
        """Stems of the telling words of a concept's names and of its definition."""

    def substitutes(self, stem: str) -> frozenset[str]:
        """Stems of words that stand in the place of one in other names of the same things."""

    def is_short_form(self, concept: str, name: str) -> bool:
        """Whether a name is a short form, which a text writes in capitals: PALE is not what "pale" says."""


@dataclass(frozen=True, slots=True, eq=False)
class VocabularyMeanings:
    """Meanings of a vocabulary in Parquet. Build with :func:`meanings`."""

    groups: frozenset[str]
    procedures: frozenset[str]
    concepts: Concepts
    names: Path
    definitions: Path | None
    common: frozenset[str]
    _known: dict[str, frozenset[str]] = field(default_factory=dict)
    _worded: dict[str, tuple[frozenset[str], ...]] = field(default_factory=dict)
    _glossed: dict[str, frozenset[str]] = field(default_factory=dict)
    _short: dict[str, frozenset[str]] = field(default_factory=dict)

    def tells(self, concept: str) -> bool:
        """See :class:`Meanings`."""
        return concept in self.groups and not self.concepts.is_general(concept)

    def answers(self, concept: str) -> bool:
        """Whether a concept can be what a question asks for: what tells something, and procedures."""
        return self.tells(concept) or concept in self.procedures

    def any_same(self, concept: str, others: Iterable[str]) -> bool:
        """See :class:`Meanings`."""
        listed = sorted(set(others))
        self._read([concept, *listed])
        return any(self._known[concept] & self._known[other] for other in listed)

    def follows(self, concept: str, others: Iterable[str]) -> bool:
        """See :class:`Meanings`."""
        return any(self.concepts.is_above(concept, other) for other in others)

    def wordings(self, concept: str) -> Sequence[frozenset[str]]:
        """See :class:`Meanings`."""
        self._read([concept])
        return self._worded[concept]

    def gloss(self, concept: str) -> frozenset[str]:
        """See :class:`Meanings`."""
        if concept not in self._glossed:
            told = _definitions(self.definitions, [concept]) if self.definitions else ()
            said = {word.stem for text in told for word in content_words(text)} - self.common
            self._glossed[concept] = frozenset(said).union(*self.wordings(concept))
        return self._glossed[concept]

    def substitutes(self, stem: str) -> frozenset[str]:
        """See :class:`Meanings`."""
        return _replaced(self.names, self.groups, self.common).get(stem, frozenset())

    def is_short_form(self, concept: str, name: str) -> bool:
        """See :class:`Meanings`."""
        self._read([concept])
        return name.casefold() in self._short[concept]

    def _read(self, wanted: Iterable[str]) -> None:
        missing = sorted(set(wanted) - self._known.keys())
        if not missing:
            return
        table = pq.read_table(
            self.names,
            columns=["concept", "name", "language", "term_type"],
            filters=pc.field("concept").isin(missing),
        )
        found: dict[str, set[str]] = {concept: set() for concept in missing}
        worded: dict[str, set[frozenset[str]]] = {concept: set() for concept in missing}
        english: dict[str, set[str]] = {concept: set() for concept in missing}
        for row in table.to_pylist():
            found[row["concept"]].add(_folded(row["name"]))
            if row["language"] == "en":
                english[row["concept"]].add(row["name"])
            if row["language"] == "en" and row["term_type"] not in _OTHER_CONCEPTS:
                worded[row["concept"]].add(frozenset(word.stem for word in content_words(row["name"])))
        for concept, stems in worded.items():
            self._worded[concept] = tuple(sorted(stems - {frozenset()}, key=sorted))
        self._short.update({concept: _short_forms(names) for concept, names in english.items()})
        self._known.update({concept: frozenset(names) for concept, names in found.items()})


@functools.lru_cache(maxsize=2)
def meanings(
    names: Path, types: Path, concepts: Concepts, definitions: Path | None = None
) -> VocabularyMeanings:
    """Meanings of a vocabulary; the last two are kept.

    Args:
        names: Parquet of its ConceptName rows.
        types: Parquet of its ConceptType rows.
        concepts: its hierarchy.
        definitions: Parquet of its ConceptDefinition rows; without it concepts have their names alone.
    """
    told, done = (
        frozenset(pq.read_table(types, columns=["concept"], filters=chosen)["concept"].to_pylist())
        for chosen in (
            pc.field("group").isin(list(_GROUPS)),
            pc.field("semantic_type").isin(list(_PROCEDURES)),
        )
    )
    common = _common(definitions) if definitions else frozenset()
    return VocabularyMeanings(told, done, concepts, names, definitions, common)


@functools.lru_cache(maxsize=2)
def _replaced(names: Path, concepts: frozenset[str], common: frozenset[str]) -> Mapping[str, frozenset[str]]:
    """Words that stand for each other in names of some concepts; read when first asked for, in seconds."""
    return substitutes(_names(names, concepts), common)


def _names(path: Path, concepts: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """(concept, stems of a name) of English names without figures, of some concepts."""
    table = pq.read_table(
        path, columns=["concept", "name", "term_type"], filters=pc.field("language") == "en"
    )
    for concept, name, kind in zip(*(column.to_pylist() for column in table.columns), strict=True):
        if concept in concepts and kind not in _OTHER_CONCEPTS and not _FIGURE.search(name):
            yield concept, frozenset(word.stem for word in content_words(name))


def _common(path: Path) -> frozenset[str]:
    """Stems that stand in so many definitions that they tell nothing of the one they are in."""
    counts: Counter[str] = Counter()
    texts = _definitions(path)
    for text in texts:
        counts.update({word.stem for word in content_words(text)})
    return frozenset(stem for stem, count in counts.items() if count > _COMMON * len(texts))


def _definitions(path: Path, concepts: Sequence[str] = ()) -> list[str]:
    """English definitions, of some concepts or of all."""
    chosen = pc.field("language") == "en"
    if concepts:
        chosen &= pc.field("concept").isin(list(concepts))
    found: list[str] = pq.read_table(path, columns=["text"], filters=chosen)["text"].to_pylist()
    return found


def _short_forms(names: Iterable[str]) -> frozenset[str]:
    """Names of one word, folded, that are the initials of a longer one or are written in capitals alone."""
    listed = list(names)
    words = [re.findall(r"[^\W\d_]+", name.casefold()) for name in listed]
    initials = {
        "".join(word[0] for word in of_name if word not in left_out)
        for of_name in words
        if len(of_name) > 1
        for left_out in ((), FUNCTION_WORDS)
    }
    single = [name for name in listed if name.isalpha() and len(name) > 1]
    otherwise = {name.casefold() for name in single if not name.isupper()}
    return frozenset(
        name.casefold()
        for name in single
        if name.casefold() in initials or (name.isupper() and name.casefold() not in otherwise)
    )


def _folded(name: str) -> str:
    return " ".join(sorted(map(fold_english, normalise_text(name).split())))
