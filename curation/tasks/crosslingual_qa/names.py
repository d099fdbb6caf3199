"""Which name of a concept is asked by, in each language: one, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.tasks.crosslingual_qa.templates import Templates
from curation.tasks.shared.names import NEVER, rank
from schemas.record import from_table
from schemas.vocabulary import ConceptName


def read_names(path: Path, concept: str) -> dict[str, list[ConceptName]]:
    """Names of one concept by language, those it can be asked by, best first.

    Args:
        path: Parquet of ConceptName rows, sorted by concept.
        concept: CURIE.
    """
    table = pq.read_table(path, filters=pc.field("concept") == concept)
    found: dict[str, list[ConceptName]] = {}
    for name in sorted(from_table(ConceptName, table), key=rank):
        if name.term_type not in NEVER and not name.is_suppressed:
            found.setdefault(name.language.lower().partition("-")[0], []).append(name)
    return found


def in_script(names: Iterable[ConceptName], known: Templates) -> list[ConceptName]:
    """Those in the script of the language, in order."""
    return [name for name in names if known.fits(name.name)]


def chosen(names: Mapping[str, list[ConceptName]], known: Templates) -> ConceptName | None:
    """The name a concept is asked by in a language, None where it has none."""
    fitting = in_script(names.get(known.language, ()), known)
    return fitting[0] if fitting else None
