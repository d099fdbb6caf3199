"""Hashes of the names of target concepts: an auditor can look for a name in a query, nobody can read it here.

Each hash is salted with its concept, so that equal names of two concepts have nothing in common. A name is
hashed in the forms it is commonly written in (curation.concepts.name_forms).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from curation.concepts.name_forms import form_length, name_forms
from curation.published.query import QueryRunner
from schemas.hashing import normalise_text, sha256_text
from schemas.tables import TARGET_NAMES

_CONCEPTS_AT_ONCE = 2_000
_NAMES = """SELECT DISTINCT concept, language, name FROM names WHERE concept IN ({listed})
    ORDER BY concept, language, name"""


def form_hash(concept: str, form: str) -> str:
    """First 16 hex digits of SHA-256 over '<concept> <form>'."""
    return sha256_text(f"{concept} {form}")[:16]


def name_hash(concept: str, name: str) -> str:
    """First 16 hex digits of SHA-256 over '<concept> <normalised name>'."""
    return form_hash(concept, normalise_text(name))


def names_rows(concept: str, names: Iterable[tuple[str, str]]) -> list[dict[str, object]]:
    """Rows of `target_names` for one concept, from (language, name) pairs; sorted, unique."""
    found = {
        (language, form_hash(concept, form)): form_length(form)
        for language, name in names
        for form in name_forms(language, name)
    }
    return [
        {"concept": concept, "language": language, "words": words, "name_hash": digest}
        for (language, digest), words in sorted(found.items())
    ]


def target_names(query: QueryRunner, names: Sequence[Path], targets: Sequence[str]) -> Iterator[pa.Table]:
    """Rows of `target_names` for some concepts, in key order.

    Args:
        query: runs SQL over Parquet.
        names: the vocabulary's table of ConceptName rows.
        targets: concepts, sorted.
    """
    for start in range(0, len(targets), _CONCEPTS_AT_ONCE):
        part = targets[start : start + _CONCEPTS_AT_ONCE]
        listed = ", ".join("'" + concept.replace("'", "''") + "'" for concept in part)
        given: dict[str, list[tuple[str, str]]] = {}
        for batch in query(_NAMES.format(listed=listed), {"names": names}):
            for row in batch.to_pylist():
                given.setdefault(row["concept"], []).append((row["language"], row["name"]))
        rows = [row for concept in sorted(given) for row in names_rows(concept, given[concept])]
        yield pa.Table.from_pylist(rows, schema=TARGET_NAMES.schema)
