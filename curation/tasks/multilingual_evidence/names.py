"""Names of concepts for whoever translates a question, and those that would give its answer away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.tasks.multilingual_evidence.records import GivenName
from curation.tasks.multilingual_evidence.settings import SOURCE_LANGUAGE
from curation.tasks.shared.support.corpus import primary
from schemas.record import from_table
from schemas.vocabulary import UNCONFIRMED, ConceptName

_NO_NAMES = frozenset({"AB", "PM", "BROAD", "NARROW", "RELATED", UNCONFIRMED})
"""Term types that do not name the concept itself, not in words, or that no one has confirmed."""
Names = Mapping[str, Mapping[str, Sequence[ConceptName]]]
"""Concept -> language -> its names, best first."""


def names_of(path: Path, concepts: Iterable[str]) -> Names:
    """Names of some concepts that may be passed on, by language, the preferred ones first.

    Args:
        path: Parquet of ConceptName rows.
        concepts: CURIEs.
    """
    wanted = sorted(set(concepts))
    found: dict[str, dict[str, list[ConceptName]]] = {}
    if not wanted:
        return found
    table = pq.read_table(path, filters=pc.field("concept").isin(wanted))
    usable = [
        name
        for name in from_table(ConceptName, table)
        if name.tier != "restricted" and name.term_type not in _NO_NAMES and not name.is_suppressed
    ]
    for name in sorted(usable, key=lambda name: (not name.is_preferred, name.source, name.name)):
        found.setdefault(name.concept, {}).setdefault(primary(name.language), []).append(name)
    return found


def given(names: Names, concepts: Iterable[str], language: str) -> tuple[GivenName, ...]:
    """The best name in a language of each concept that has one, beside its English name."""
    rows = []
    for concept in sorted(set(concepts)):
        own = names.get(concept, {})
        if own.get(language) and own.get(SOURCE_LANGUAGE):
            best = own[language][0]
            rows.append(
                GivenName(
                    concept=concept,
                    english=own[SOURCE_LANGUAGE][0].name,
                    name=best.name,
                    source=best.source,
                    tier=best.tier,
                )
            )
    return tuple(rows)


def all_of(names: Names, concepts: Iterable[str], language: str) -> set[str]:
    """Every name of some concepts in English and one other language."""
    return {
        name.name
        for concept in concepts
        for code in (SOURCE_LANGUAGE, language)
        for name in names.get(concept, {}).get(code, ())
    }
