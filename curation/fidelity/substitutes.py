"""Words that may stand for each other in names: what a vocabulary's own synonyms show.

Two names of one concept that differ in one word show that the two words mean the same there ("renal stone",
"kidney stone"; Hole and Srinivasan 2000, https://pubmed.ncbi.nlm.nih.gov/11079905/). Pairs that do so in
several concepts, and in a fair share of those that have either word, are taken to do so anywhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from itertools import combinations
from typing import Final

LEAST_CONCEPTS: Final = 3
"""Concepts that have to show a pair; one may be a mistake, two of a kind of one another."""
LEAST_SHARE: Final = 0.05
"""Of the concepts whose names have the rarer of the two words."""
_LONGEST: Final = 6
"""Words of a name; longer ones are descriptions."""
Names = Iterable[tuple[str, Set[str]]]
"""(concept, stems of one of its names), those of one concept in any order."""


def substitutes(names: Names, common: Set[str] = frozenset()) -> Mapping[str, frozenset[str]]:
    """Stem -> stems that may stand in its place.

    Args:
        names: of a vocabulary.
        common: stems that tell nothing: they stand for none.
    """
    bags: dict[str, set[frozenset[str]]] = defaultdict(set)
    for concept, stems in names:
        if 2 <= len(stems) <= _LONGEST:
            bags[concept].add(frozenset(stems))
    shown, known = Counter[tuple[str, str]](), Counter[str]()
    for of_concept in bags.values():
        known.update(frozenset[str]().union(*of_concept))
        shown.update(_pairs(of_concept))
    found: dict[str, set[str]] = defaultdict(set)
    for (one, other), count in shown.items():
        is_shown = count >= LEAST_CONCEPTS and count >= LEAST_SHARE * min(known[one], known[other])
        if is_shown and not {one, other} & common:
            found[one].add(other)
            found[other].add(one)
    return {stem: frozenset(others) for stem, others in found.items()}


def _pairs(names: Iterable[frozenset[str]]) -> set[tuple[str, str]]:
    """Pairs of words in which two names of a concept differ, and in nothing else."""
    slots: dict[frozenset[str], set[str]] = defaultdict(set)
    for name in names:
        for word in name:
            slots[name - {word}].add(word)
    return {pair for words in slots.values() for pair in combinations(sorted(words), 2)}
