"""What of a release is evaluated: the whole, its nano variant, names in a language, or a subset.

A subset is a balanced one that the release lists, or the queries of one value (`specialty=cardiology`).
"""

from __future__ import annotations

import collections
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.errors import ReleaseError, UsageError
from schemas.name_tables import NAMED_QUERIES, NAMED_TABLES
from schemas.published import Published, languages_of
from schemas.tables import CORPUS, EXCLUDED, NANO, QRELS, QUERIES, SUBSETS

NANO_NAME = "nano"
"""Name of the nano variant where a subset is asked for; no balanced subset has it."""
SPLIT = "test"
"""Variants and subsets are of this split."""


VALUED = ("specialty", "body_system")
"""Columns of queries whose values are subsets where they have enough queries."""
MINIMUM = 50


@dataclass(frozen=True, slots=True)
class Tables:
    """The four tables a collection is read from."""

    corpus: Published
    queries: Published
    qrels: Published
    excluded: Published


WHOLE = Tables(CORPUS, QUERIES, QRELS, EXCLUDED)
SMALL = Tables(*NANO)
_NONE = replace(EXCLUDED, folder="names/excluded")
"""Nothing is excluded within a set, and nothing else is ranked: no release has this folder."""


def named_languages(directory: Path) -> list[str]:
    """Languages other than its own that a task directory has names for documents in, sorted."""
    return languages_of(NAMED_QUERIES.files(directory, SPLIT))


def tables_of(directory: Path, variant: str) -> Tables:
    """The tables of a variant; those of the whole for a balanced subset, which is cut from it."""
    if variant == NANO_NAME:
        return SMALL
    if variant not in named_languages(directory):
        return WHOLE
    corpus, queries, qrels = (replace(table, language=variant) for table in NAMED_TABLES)
    return Tables(corpus, queries, qrels, _NONE)


@dataclass(frozen=True, slots=True)
class Subset:
    """Ids of one subset; `documents` is None when it has the whole corpus."""

    queries: frozenset[str]
    documents: frozenset[str] | None


def check_variant(directory: Path, split: str, variant: str) -> None:
    """The release has this variant of this split; '' is the whole and always there.

    Raises:
        UsageError: it does not; names those it has.
    """
    if not variant:
        return
    if split != SPLIT:
        raise UsageError(
            f"subsets are of split {SPLIT!r}, not of {split!r}", hint="leave out --split or --subset"
        )
    known = variants(directory)
    if variant not in known:
        listed = ", ".join(known) or "none"
        raise UsageError(
            f"this release has no subset {variant!r}; it has: {listed}",
            file=str(directory),
            hint="see the card, README.md, for its subsets",
        )


def variants(directory: Path) -> list[str]:
    """Names of the variants a task directory has, `nano` first, then languages."""
    small = [NANO_NAME] if all(table.files(directory) for table in NANO) else []
    found: set[str] = set()
    for path in SUBSETS.files(directory):
        found.update(pc.unique(pq.read_table(path, columns=["subset"]).column("subset")).to_pylist())
    listed = [*small, *named_languages(directory), *sorted(found - {NANO_NAME})]
    return listed + [f"{one.facet}={one.value}" for one in value_configs(directory)]


@dataclass(frozen=True, slots=True)
class ValueConfig:
    """A config of the card that loads the queries of one value, by a filter of the files of all.

    Attributes:
        facet, value: column of `queries`, and what stands in it.
        splits: those with such queries that have a positive.
    """

    facet: str
    value: str
    splits: tuple[str, ...]

    @property
    def name(self) -> str:
        """As `load_dataset` knows it: `specialty-cardiology-queries`."""
        return f"{self.facet}-{self.value}-{QUERIES.name}"

    @property
    def filter(self) -> tuple[str, str, str]:
        """As PyArrow and the Parquet loader of `datasets` take it."""
        return self.facet, "==", self.value


def value_configs(directory: Path) -> list[ValueConfig]:
    """One for each value that enough measured queries of split test have, by facet and value."""
    splits = sorted(
        {path.name.partition("-")[0] for path in QUERIES.files(directory)} | {SPLIT}, reverse=True
    )
    found = []
    for facet in VALUED:
        held = {split: queries_by_value(directory, facet, split) for split in splits}
        found += [
            ValueConfig(facet, value, tuple(split for split in splits if value in held[split]))
            for value, queries in sorted(held[SPLIT].items())
            if value and len(queries) >= MINIMUM
        ]
    return found


def queries_by_value(directory: Path, facet: str, split: str = SPLIT) -> dict[str, list[str]]:
    """Value of a facet -> the queries with a positive that have it, '' for undecided ones.

    Args:
        directory: a task directory.
        facet: a column of its queries; a release without it has no values.
        split: of the queries.
    """
    answered: set[str] = set()
    for path in QRELS.files(directory, split):
        rows = pq.read_table(path, columns=["query-id"], filters=[("score", ">", 0)])
        answered.update(rows.column("query-id").to_pylist())
    found: dict[str, list[str]] = collections.defaultdict(list)
    for path in QUERIES.files(directory, split):
        if facet in pq.read_schema(path).names:
            table = pq.read_table(path, columns=["id", facet])
            for name, value in zip(table["id"].to_pylist(), table[facet].to_pylist(), strict=True):
                if name in answered:
                    found[value or ""].append(name)
    return {value: sorted(set(names)) for value, names in found.items()}


def read_subset(directory: Path, name: str) -> Subset:
    """The ids of one subset.

    Raises:
        ReleaseError: a row of it is neither of a query nor of a document.
    """
    facet, _, value = name.partition("=")
    if facet in VALUED and value:
        return Subset(frozenset(queries_by_value(directory, facet).get(value, ())), None)
    ids: dict[str, set[str]] = {"query": set(), "document": set()}
    for path in SUBSETS.files(directory):
        table = pq.read_table(path, columns=["subset", "kind", "id"], filters=[("subset", "=", name)])
        for kind, found in zip(table.column("kind").to_pylist(), table.column("id").to_pylist(), strict=True):
            if kind not in ids:
                raise ReleaseError(
                    f"a row of subset {name!r} is of kind {kind!r}", record=found, file=str(path)
                )
            ids[kind].add(found)
    return Subset(frozenset(ids["query"]), frozenset(ids["document"]) if ids["document"] else None)
