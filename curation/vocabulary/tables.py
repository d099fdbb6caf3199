"""The tables every vocabulary is kept in, and how rows that say the same become one.

A reader yields records of these types in any order, repeats included; what is stored has each key once,
sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schemas.record import arrow_schema
from schemas.stages import Drop, Sql
from schemas.vocabulary import (
    ConceptDefinition,
    ConceptMapping,
    ConceptName,
    ConceptRelation,
    ConceptType,
    RetiredConcept,
    VocabularySource,
)

Row = (
    ConceptName
    | ConceptType
    | ConceptRelation
    | ConceptDefinition
    | ConceptMapping
    | RetiredConcept
    | VocabularySource
    | Drop
)
Rows = Iterator[Row]
"""What a reader yields; a Drop is a line or term that could not be read."""


@dataclass(frozen=True, slots=True)
class VocabularyTable:
    """One table: its unique key, and what of the other columns is kept of rows with the same key."""

    name: str
    row: type
    key: tuple[str, ...]
    rest: tuple[tuple[str, str], ...] = ()

    def unique(self, view: str) -> Sql:
        """The rows of `view`, each key once."""
        rest = {name: f"{text} AS {name}" for name, text in self.rest}
        columns = [rest.get(field.name, f'"{field.name}"') for field in arrow_schema(self.row)]
        key = ", ".join(f'"{name}"' for name in self.key)
        return Sql(f'SELECT {", ".join(columns)} FROM "{view}" GROUP BY {key}', self.row, self.key)


STRICTEST_TIER = (
    "CASE max(CASE tier WHEN 'restricted' THEN 2 WHEN 'terms' THEN 1 ELSE 0 END) "
    "WHEN 2 THEN 'restricted' WHEN 1 THEN 'terms' ELSE 'open' END"
)
"""The same string under two licences: the stricter one counts."""
_STATUS = (
    "CASE WHEN bool_or(status = 'merged') THEN 'merged' WHEN bool_or(status = 'stated') THEN 'stated' "
    "WHEN bool_or(status = 'refused') THEN 'refused' ELSE 'kept' END"
)

TABLES = {
    table.name: table
    for table in (
        VocabularyTable(
            "names",
            ConceptName,
            ("concept", "language", "source", "name", "term_type", "code"),
            (
                ("restriction", "max(restriction)"),
                ("tier", STRICTEST_TIER),
                ("is_preferred", "bool_or(is_preferred)"),
                ("is_suppressed", "bool_and(is_suppressed)"),
                ("atom", "coalesce(min(nullif(atom, '')), '')"),
            ),
        ),
        VocabularyTable(
            "types",
            ConceptType,
            ("concept", "semantic_type"),
            (("group", 'min("group")'), ("rule", "min(rule)")),
        ),
        VocabularyTable("relations", ConceptRelation, ("concept", "relation", "other", "source")),
        VocabularyTable(
            "definitions",
            ConceptDefinition,
            ("concept", "language", "source", "text"),
            (("tier", STRICTEST_TIER),),
        ),
        VocabularyTable("mappings", ConceptMapping, ("concept", "other", "source"), (("status", _STATUS),)),
        VocabularyTable(
            "retired", RetiredConcept, ("concept", "source"), (("replacement", "max(replacement)"),)
        ),
        VocabularyTable(
            "sources",
            VocabularySource,
            ("source", "release", "sha256"),
            tuple((name, f"min({name})") for name in ("title", "licence", "tier", "url", "citation")),
        ),
        VocabularyTable(
            "drops",
            Drop,
            ("unit", "id", "article_id", "reason"),
            (("detail", "min(detail)"),),
        ),
    )
}
"""By name; `drops` holds what could not be read."""
