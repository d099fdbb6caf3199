"""Which name of a concept is asked by, in each language: one, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.tasks.crosslingual_qa.templates import Templates
from schemas.record import from_table
from schemas.vocabulary import ConceptName

CANDIDATE = "CAND"
_NEVER = frozenset({"AB", "PM", "BROAD", "NARROW", "RELATED"})
"""Term types that do not name the concept itself, or not in words: short forms, permuted headings, scopes."""
_LABELS = frozenset({"PT", "MH", "PN", "PF"})
_SOURCES = ("MONDO", "HPO", "DOID", "MESH")
"""Sources whose labels read as words in running text, best first; MeSH inverts some ('Seizures, Febrile')."""
_TIERS = ("open", "terms", "restricted")


def read_names(path: Path, concept: str) -> dict[str, list[ConceptName]]:
    """Names of one concept by language, those it can be asked by, best first.

    Args:
        path: Parquet of ConceptName rows, sorted by concept.
        concept: CURIE.
    """
    table = pq.read_table(path, filters=pc.field("concept") == concept)
    found: dict[str, list[ConceptName]] = {}
    for name in sorted(from_table(ConceptName, table), key=_rank):
        if name.term_type not in _NEVER and not name.is_suppressed:
            found.setdefault(name.language.lower().partition("-")[0], []).append(name)
    return found


def _rank(name: ConceptName) -> tuple[object, ...]:
    """What may be published first, confirmed ones first, labels first; ties by source and spelling."""
    root = name.source.partition("_")[0]
    source = _SOURCES.index(root) if root in _SOURCES else len(_SOURCES)
    return (
        _TIERS.index(name.tier) == 2,
        name.term_type == CANDIDATE,
        not name.is_preferred,
        name.term_type not in _LABELS,
        source,
        name.source,
        name.name,
    )


def in_script(names: Iterable[ConceptName], known: Templates) -> list[ConceptName]:
    """Those in the script of the language, in order."""
    return [name for name in names if known.fits(name.name)]


def chosen(names: Mapping[str, list[ConceptName]], known: Templates) -> ConceptName | None:
    """The name a concept is asked by in a language, None where it has none."""
    fitting = in_script(names.get(known.language, ()), known)
    return fitting[0] if fitting else None
