"""One concept for what several vocabularies call the same: cross-references decide, with care; then labels.

A merge never joins two ids of one vocabulary: such cross-references are refused and reported. What is stated
surest is taken first, so that the outcome depends on the vocabularies only, not on the order they came in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Status = Literal["merged", "kept", "refused"]
PRECEDENCE = ("UMLS", "MONDO", "HP", "DOID", "MESH", "ICD10")
"""Whose id a merged concept has: the first of these that is in it, then by alphabet."""
TRUST = ("UMLS", "MONDO", "HPO", "DOID", "MESH")
"""Whose cross-references are taken first."""
HUBS = ("UMLS", "MESH")
"""Vocabularies whose ids join the concepts that refer to them even when they are not themselves loaded."""
LABELLED = ("MONDO", "HP", "DOID", "MESH")
"""Vocabularies whose disorders become one when their labels are the same and nothing stated joins them.

HPO refers to no MONDO id and few MeSH ones: 'Histoplasmosis' would be a finding in one and a disease in the
other, and which of them a text names could not be told. UMLS and ICD say themselves what is the same.
"""
EXACT: Mapping[str, frozenset[str] | None] = {"UMLS": None, "MONDO": frozenset({"MONDO", "DOID", "UMLS"})}
"""Sources whose cross-references merge without a common name, and between which prefixes (None: any).

Others are often not meant exactly: an ICD code is broader than the diseases that refer to it, HPO refers from
a finding to the disease that shows it, Mondo and DOID to a MeSH heading above ('Brain Neoplasms').
"""


@dataclass(frozen=True, slots=True)
class CrossReference:
    """One stated cross-reference that could merge.

    Args:
        concept: id in the vocabulary that states it.
        other: id it states.
        source: abbreviation of that vocabulary.
        target: `other`, or the live id that stands for it (a retired id's replacement).
        is_live: whether a vocabulary that is loaded has the target.
        agrees: whether both ends (at a target that is not live: two that refer to it) have a name in common,
            case and punctuation apart.
        is_unique: whether the concept has this target only, and this concept only has it, among all that the
            source states between the two vocabularies.
    """

    concept: str
    other: str
    source: str
    target: str
    is_live: bool
    agrees: bool
    is_unique: bool


@dataclass(frozen=True, slots=True)
class Merge:
    """What came of a merge.

    Args:
        canonical: the merged concept's id of every id that is now another concept's.
        status: what became of each cross-reference, by (concept, other, source).
    """

    canonical: Mapping[str, str]
    status: Mapping[tuple[str, str, str], Status]


def _prefix(concept: str) -> str:
    return concept.partition(":")[0]


def _rank(values: Sequence[str], item: str) -> tuple[int, str]:
    return (values.index(item) if item in values else len(values), item)


def _preference(concept: str) -> tuple[tuple[int, str], str]:
    return _rank(PRECEDENCE, _prefix(concept)), concept


def _certainty(item: CrossReference) -> int | None:
    """0 surest; None when it does not merge by itself."""
    if item.agrees:
        return 0 if item.is_unique else 2
    if not item.is_unique or not item.is_live or item.source not in EXACT:
        return None
    between = EXACT[item.source]
    return 1 if between is None or {_prefix(item.concept), _prefix(item.other)} <= between else None


class _Groups:
    """Union-find in which no group may hold two ids of one vocabulary."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._ids: dict[str, dict[str, str]] = {}

    def root(self, concept: str) -> str:
        path = []
        while (above := self._parent.setdefault(concept, concept)) != concept:
            path.append(concept)
            concept = above
        for item in path:
            self._parent[item] = concept
        return concept

    def ids(self, concept: str) -> dict[str, str]:
        """The group's id in each vocabulary."""
        root = self.root(concept)
        return self._ids.setdefault(root, {_prefix(root): root})

    def join(self, one: str, two: str) -> bool:
        first, second = self.root(one), self.root(two)
        if first == second:
            return True
        left, right = self.ids(first), self.ids(second)
        if left.keys() & right.keys():
            return False
        keep, gone = min(first, second), max(first, second)
        self._parent[gone] = keep
        self._ids[keep] = left | right
        del self._ids[gone]
        return True

    def groups(self) -> list[dict[str, str]]:
        return [ids for _, ids in sorted(self._ids.items()) if len(ids) > 1]


def merge(
    references: Iterable[CrossReference],
    live: frozenset[str] | set[str],
    namesakes: Iterable[tuple[str, str]] = (),
) -> Merge:
    """Join concepts by their cross-references, then by their labels.

    Order: one to one with names that agree; one to one of a source that means them exactly; several to one
    with names that agree. Within each, by the trust in the vocabulary that states it, then by id. Last come
    concepts that nothing but their label joins.

    Args:
        references: cross-references between ids of different vocabularies, in any order.
        live: ids that a loaded vocabulary has, of those that occur in `references` or `namesakes`.
        namesakes: pairs of ids of different vocabularies that have the same label, in any order.
    """
    listed = list(references)
    groups = _Groups()
    for item in sorted(
        (item for item in listed if _certainty(item) is not None),
        key=lambda item: (_certainty(item), _rank(TRUST, item.source), item.concept, item.target, item.other),
    ):
        groups.join(item.concept, item.target)
    ordered = [sorted(pair, key=_preference) for pair in namesakes]
    for one, two in sorted(ordered, key=lambda pair: [_preference(item) for item in pair]):
        groups.join(one, two)
    canonical: dict[str, str] = {}
    for ids in groups.groups():
        present = sorted(set(ids.values()) & live, key=_preference)
        for concept in ids.values():
            if present and concept != present[0]:
                canonical[concept] = present[0]
    return Merge(canonical, {_key(item): _status(item, groups) for item in listed})


def _key(item: CrossReference) -> tuple[str, str, str]:
    return (item.concept, item.other, item.source)


def _status(item: CrossReference, groups: _Groups) -> Status:
    if groups.root(item.concept) == groups.root(item.target):
        return "merged"
    clash = groups.ids(item.concept).keys() & groups.ids(item.target).keys()
    return "refused" if clash or not item.is_unique else "kept"
