"""Which name of a concept is asked by, in each language: one, and where it comes from."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.tasks.crosslingual_qa.templates import Templates, languages
from curation.tasks.shared.names import NEVER, rank
from schemas.record import from_table
from schemas.vocabulary import UNCONFIRMED, ConceptName

ENGLISH = "en"


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
            found.setdefault(_spoken(name), []).append(name)
    return found


def _spoken(name: ConceptName) -> str:
    return name.language.lower().partition("-")[0]


@functools.lru_cache(maxsize=1)
def shared_names(path: Path) -> Mapping[tuple[str, str], frozenset[str]]:
    """Language and name, without case -> the concepts it is a name of, where there are several.

    Args:
        path: Parquet of ConceptName rows; the last vocabulary is kept.
    """
    table = pq.read_table(path, columns=["concept", "name", "language", "term_type", "is_suppressed"])
    unfit = pc.is_in(table["term_type"], value_set=pa.array(sorted({*NEVER, UNCONFIRMED})))
    table = table.filter(pc.invert(pc.or_(unfit, table["is_suppressed"])))
    spoken = pc.list_element(pc.split_pattern(pc.utf8_lower(table["language"]), "-"), 0)
    told = pa.table({"language": spoken, "name": pc.utf8_lower(table["name"]), "concept": table["concept"]})
    told = told.filter(pc.is_in(told["language"], value_set=pa.array(languages())))
    found = told.group_by(["language", "name"]).aggregate([("concept", "distinct")])
    found = found.filter(pc.greater(pc.list_value_length(found["concept_distinct"]), 1))
    return {(row["language"], row["name"]): frozenset(row["concept_distinct"]) for row in found.to_pylist()}


def without_shared(
    names: Mapping[str, list[ConceptName]],
    shared: Mapping[tuple[str, str], Collection[str]],
    is_below: Callable[[str], bool],
) -> dict[str, list[ConceptName]]:
    """The names that tell a concept from all others, by language.

    A label in another language renders the English one of its source, so it is as clear as that one is. A
    narrower concept may have the name, too: what is about it is no answer to what is asked of this one.

    Args:
        names: of the concept, by language.
        shared: see `shared_names`.
        is_below: whether another concept is a narrower one.
    """

    def is_shared(name: ConceptName) -> bool:
        others = shared.get((_spoken(name), name.name.lower()), ())
        return any(other != name.concept and not is_below(other) for other in others)

    unclear: dict[str, bool] = defaultdict(bool)
    for name in names.get(ENGLISH, ()):
        unclear[name.code] |= name.is_preferred and is_shared(name)
    return {
        language: [
            name
            for name in found
            if not is_shared(name) and not (language != ENGLISH and name.is_preferred and unclear[name.code])
        ]
        for language, found in names.items()
    }


def in_script(names: Iterable[ConceptName], known: Templates) -> list[ConceptName]:
    """Those in the script of the language, in order."""
    return [name for name in names if known.fits(name.name)]


def chosen(names: Mapping[str, list[ConceptName]], known: Templates) -> ConceptName | None:
    """The name a concept is asked by in a language, None where it has none."""
    fitting = in_script(names.get(known.language, ()), known)
    return fitting[0] if fitting else None
