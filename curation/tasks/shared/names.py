"""Names of concepts in several languages: which may stand for a concept, in which order, in which script."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from schemas.vocabulary import UNCONFIRMED, ConceptName

NEVER = frozenset({"AB", "PM", "BROAD", "NARROW", "RELATED"})
"""Term types that do not name the concept itself, or not in words: short forms, permuted headings, scopes."""
LABELS = frozenset({"PT", "MH", "PN", "PF"})
SOURCES = ("MONDO", "HPO", "DOID", "MESH")
"""Sources whose labels read as words in running text, best first; MeSH inverts some ('Seizures, Febrile')."""
RESTRICTED = "restricted"


class Script(NamedTuple):
    """What the names of a language are written in, as expressions that Python and DuckDB read alike."""

    own: str
    never: str

    def fits(self, name: str) -> bool:
        """Whether a name is in the script of the language."""
        return bool(re.search(self.own, name)) and not re.search(self.never, name)

    def sql(self, column: str) -> str:
        """The same of a column, as a SQL condition."""
        return f"(regexp_matches({column}, '{self.own}') AND NOT regexp_matches({column}, '{self.never}'))"


@functools.cache
def scripts() -> Mapping[str, Script]:
    """Language -> its script, by language."""
    read = tomllib.loads(Path(__file__).with_name("scripts.toml").read_text("utf-8"))
    return {language: Script(row["own"], row["never"]) for language, row in sorted(read.items())}


_SERIAL, _TYPE = r"\s[0-9]+[A-Z]?$", r"\stype [0-9]+[A-Z]?$"
"""A series of subtypes by number, which another source's label leaves out: "interstitial lung disease 2"."""


def is_serial(name: str) -> bool:
    """Whether a name ends with the number of a series, as OMIM's do; "type 2" is how people speak."""
    return bool(re.search(_SERIAL, name)) and not re.search(_TYPE, name)


def rank(name: ConceptName) -> tuple[object, ...]:
    """What may be published first, then confirmed, labels, without a number; ties by source and spelling."""
    root = name.source.partition("_")[0]
    return (
        name.tier == RESTRICTED,
        name.term_type == UNCONFIRMED,
        not name.is_preferred,
        name.term_type not in LABELS,
        is_serial(name.name),
        SOURCES.index(root) if root in SOURCES else len(SOURCES),
        name.source,
        name.name,
    )


def _listed(values: Iterable[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


IS_NAME_SQL = f"(term_type NOT IN ({_listed(sorted(NEVER))}) AND NOT is_suppressed)"
RANK_SQL = f"""tier = '{RESTRICTED}', term_type = '{UNCONFIRMED}', NOT is_preferred,
    term_type NOT IN ({_listed(sorted(LABELS))}),
    (regexp_matches(name, '{_SERIAL}') AND NOT regexp_matches(name, '{_TYPE}')),
    coalesce(list_position([{_listed(SOURCES)}], split_part(source, '_', 1)), {len(SOURCES) + 1}),
    source, name"""
"""`rank` as an ORDER BY of ConceptName rows."""
