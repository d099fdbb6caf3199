"""What the vocabulary knows of the concepts a case may be diagnosed with: kind, ancestors, how general."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from schemas.vocabulary import ConceptRelation, ConceptType

Kind = Literal["disease", "finding", "other"]

_FINDINGS = frozenset({"T033", "T034", "T046", "T184", "T190"})
"""UMLS types Finding, Laboratory or Test Result, Pathologic Function ('stenosis'), Sign or Symptom,
Anatomical Abnormality: what is seen in many diseases and is seldom the whole diagnosis."""
_SIGN = "T184"
_OF_DISEASES = "MONDO:"
"""A vocabulary of diseases only: what it lists is one, though another source files it under signs."""
_GROUP = "DISO"
FAMILY = r"[a-z]+(?:viridae|virinae|virales|aceae)\b.*\b(?:infection|disease|disorder)s?\b"
"""A name of infections with any member of a family of organisms: "Herpesviridae infection". The endings are
fixed by the codes of nomenclature."""
_KINDS = 8
"""A family with fewer diseases below it is hardly wider than they are."""
GENERAL = 300
"""A concept with more descendants than this is a chapter heading ('lung disorder'), not a diagnosis."""


@dataclass(frozen=True, slots=True, eq=False)
class Concepts:
    """Kinds and hierarchy of the concepts of a vocabulary. Build with :func:`build`."""

    kinds: Mapping[str, Kind]
    parents: Mapping[str, tuple[str, ...]]
    children: Mapping[str, tuple[str, ...]]
    signs: frozenset[str] = frozenset()
    families: frozenset[str] = frozenset()
    _ancestors: dict[str, frozenset[str]] = field(default_factory=dict)
    _below: dict[tuple[str, int], bool] = field(default_factory=dict)
    _count: dict[str, int] = field(default_factory=dict)

    def kind(self, concept: str) -> Kind:
        """disease, finding (sign, symptom, phenotype) or other; what has no type is other."""
        return self.kinds.get(concept, "other")

    def is_sign(self, concept: str) -> bool:
        """Whether a source files a concept under signs and findings, be it a disease in another."""
        return concept in self.signs

    def ancestors(self, concept: str) -> frozenset[str]:
        """All concepts above one, itself left out; loops in the source end the climb."""
        known = self._ancestors.get(concept)
        if known is None:
            known = self._ancestors[concept] = frozenset(_reach(concept, self.parents)[0] - {concept})
        return known

    def descendants(self, concept: str) -> frozenset[str]:
        """All concepts below one, itself left out."""
        return frozenset(_reach(concept, self.children)[0] - {concept})

    def count_below(self, concept: str) -> int:
        """How many concepts lie below one."""
        known = self._count.get(concept)
        if known is None:
            known = self._count[concept] = len(self.descendants(concept))
        return known

    def is_above(self, general: str, specific: str) -> bool:
        """Whether the first is an ancestor of the second."""
        return general in self.ancestors(specific)

    def is_general(self, concept: str) -> bool:
        """Whether a concept says too little to pair two patients by."""
        is_family = concept in self.families and self.has_kinds(concept, _KINDS)
        return is_family or self.has_kinds(concept, GENERAL + 1)

    def has_kinds(self, concept: str, least: int) -> bool:
        """Whether at least so many concepts lie below one."""
        known = self._below.get((concept, least))
        if known is None:
            known = self._below[concept, least] = _reach(concept, self.children, least - 1)[1]
        return known


def _reach(start: str, links: Mapping[str, tuple[str, ...]], limit: int = 0) -> tuple[set[str], bool]:
    """Everything linked to from `start`, and whether that is more than `limit` (0: none), where it ends."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in links.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
        if limit and len(found) > limit:
            return found, True
    return found, False


def build(
    types: Iterable[ConceptType], relations: Iterable[ConceptRelation], families: Iterable[str] = ()
) -> Concepts:
    """Concepts from the types and relations of a vocabulary.

    `families` are concepts named after a family of organisms (FAMILY): as many
    diseases as the family has species.

    A concept that any source types as a disease is one, so that what HPO lists as a phenotype and MONDO as a
    disease counts as a disease; but not what a source types as a sign or symptom ('cough', 'erythema') and
    MONDO does not list.
    `parent` rows are followed, `child` rows the other way round.
    Links to what is neither disease nor finding are left out.
    """
    kinds: dict[str, Kind] = {}
    signs: set[str] = set()
    findings: set[str] = set()
    for row in types:
        if row.group != _GROUP:
            continue
        kind: Kind = "finding" if row.semantic_type in _FINDINGS else "disease"
        findings |= {row.concept} if kind == "finding" else set()
        if row.semantic_type == _SIGN and not row.concept.startswith(_OF_DISEASES):
            signs.add(row.concept)
        if kinds.get(row.concept) != "disease":
            kinds[row.concept] = kind
    kinds.update(dict.fromkeys(signs, "finding"))
    parents: dict[str, set[str]] = {}
    children: dict[str, set[str]] = {}
    for link in relations:
        if link.relation == "parent":
            low, high = link.concept, link.other
        elif link.relation == "child":
            low, high = link.other, link.concept
        else:
            continue
        if low != high and high in kinds:
            parents.setdefault(low, set()).add(high)
            children.setdefault(high, set()).add(low)
    return Concepts(
        kinds,
        {concept: tuple(sorted(found)) for concept, found in parents.items()},
        {concept: tuple(sorted(found)) for concept, found in children.items()},
        frozenset(findings),
        frozenset(families),
    )
