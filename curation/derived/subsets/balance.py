"""Balanced subsets: equally many queries per specialty or region, or with and without an image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.derived.subsets.draw import lot, stratified
from curation.evaluation.collection import Collection, EvaluationQuery
from curation.evaluation.variants import SPLIT
from curation.published.writer import write_table
from schemas.published import Published
from schemas.tables import ORIGIN_CORPUS, ORIGIN_QUERIES, SUBSETS

MINIMUM = 10
"""A value with fewer measured queries (documents, where these are balanced) takes no part."""
WITH, WITHOUT = "image", "text"
"""Values of subset `modality`: with an image, and of text alone."""
MODALITY, FACETS = "modality", ("specialty", "region")
_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class SubsetSummary:
    """One subset; `why_not` says why it is empty, and then it is not in the table.

    `of` is what is balanced, query or document; `each` is how many every one of `values` has. `below` are
    values with too few, with their number. `documents` is None when the corpus stays whole.
    """

    name: str
    of: str
    why_not: str = ""
    values: tuple[str, ...] = ()
    each: int = 0
    queries: int = 0
    documents: int | None = None
    below: Mapping[str, int] = field(default_factory=dict)
    minimum: int = MINIMUM


@dataclass(frozen=True, slots=True)
class _Made:
    summary: SubsetSummary
    queries: Sequence[str] = ()
    documents: Sequence[str] = ()


def make_subsets(collection: Collection, balance: Sequence[str], out: Path) -> tuple[SubsetSummary, ...]:
    """Write the subsets table into a task directory; no file when every subset is empty.

    Args:
        collection: split test of the whole release, opened on `out`.
        balance: names of the subsets wanted: modality, specialty, region.
        out: the task directory.

    Raises:
        ValueError: the collection is not the whole of split test, or a name is unknown.
    """
    if collection.split != SPLIT or collection.variant or collection.cut:
        raise ValueError("subsets are made of the whole of split test")
    made = []
    for name in sorted(set(balance)):
        if name != MODALITY and name not in FACETS:
            raise ValueError(f"unknown subset {name!r}")
        made.append(_by_image(collection) if name == MODALITY else _by_facet(collection, name))
    if any(item.queries for item in made):
        write_table(SUBSETS, _rows(made), out)
    return tuple(item.summary for item in made)


def _measured(collection: Collection) -> list[EvaluationQuery]:
    return [query for query in collection.queries if query.id in collection.qrels]


def _by_facet(collection: Collection, name: str) -> _Made:
    """Equally many queries for every decided value of a facet."""
    groups: dict[str, list[EvaluationQuery]] = {}
    for query in _measured(collection):
        if value := query.facets.get(name, ""):
            groups.setdefault(value, []).append(query)
    return _balanced(name, groups)


def _balanced(name: str, groups: Mapping[str, Sequence[EvaluationQuery]]) -> _Made:
    """As many queries of each group as the smallest that takes part has."""
    below = {value: len(group) for value, group in sorted(groups.items()) if len(group) < MINIMUM}
    values = tuple(sorted(set(groups) - set(below)))
    if len(values) < 2:
        why_not = f"{len(values)} of {len(groups)} values have {MINIMUM} measured queries or more"
        return _Made(SubsetSummary(name, "query", why_not, below=below))
    each = min(len(groups[value]) for value in values)
    taken: Counter[str] = Counter()
    drawn = [query.id for value in values for query in stratified(groups[value], each, (), taken)]
    return _Made(SubsetSummary(name, "query", "", values, each, len(drawn), None, below), sorted(drawn))


def _by_image(collection: Collection) -> _Made:
    """Equally many queries with and without an image; documents where the queries are of one kind."""
    measured = _measured(collection)
    pictured = _pictured(ORIGIN_QUERIES, collection.directory)
    groups = {
        value: found
        for value, found in (
            (WITH, [query for query in measured if query.id in pictured]),
            (WITHOUT, [query for query in measured if query.id not in pictured]),
        )
        if found
    }
    if len(groups) > 1:
        return _balanced(MODALITY, groups)
    pictured = _pictured(ORIGIN_CORPUS, collection.directory)
    count = sum(name in pictured for name in collection.corpus_ids)
    if count in (0, len(collection.corpus_ids)):
        said = (
            "no measured query" if not groups else f"every measured query is of kind {next(iter(groups))!r}"
        )
        kind = WITH if count else WITHOUT
        return _Made(SubsetSummary(MODALITY, "query", f"{said}, every document of kind {kind!r}"))
    return _documents(collection, measured, pictured)


def _documents(
    collection: Collection, measured: Sequence[EvaluationQuery], pictured: frozenset[str]
) -> _Made:
    """All documents of the rarer kind, equally many of the other, and the queries that lose no judged one.

    Judged documents of the other kind are taken query by query, in the order of their lots, then any.
    """
    fewer, more = sorted(_sides(collection, pictured), key=len)
    plenty, kept = frozenset(more), set[str]()
    queries = []
    for query in sorted(measured, key=lambda item: (lot(item.id), item.id)):
        wanted = plenty.intersection(collection.qrels[query.id]) - kept
        if len(kept) + len(wanted) <= len(fewer):
            kept |= wanted
            queries.append(query.id)
    if len(fewer) < MINIMUM or len(queries) < MINIMUM:
        why_not = (
            f"{len(fewer)} documents of the rarer kind leave {len(queries)} measured queries; "
            f"{MINIMUM} of each are needed"
        )
        return _Made(SubsetSummary(MODALITY, "document", why_not))
    rest = sorted(plenty - kept, key=lambda name: (lot(name), name))[: len(fewer) - len(kept)]
    documents = sorted([*fewer, *kept, *rest])
    summary = SubsetSummary(
        MODALITY, "document", "", (WITH, WITHOUT), len(fewer), len(queries), len(documents)
    )
    return _Made(summary, sorted(queries), documents)


def _sides(collection: Collection, pictured: frozenset[str]) -> tuple[list[str], list[str]]:
    """Ids of the documents with and without an image."""
    with_image = [name for name in collection.corpus_ids if name in pictured]
    return with_image, [name for name in collection.corpus_ids if name not in pictured]


def _pictured(table: Published, directory: Path) -> frozenset[str]:
    """Ids of the rows that have an image, by their provenance."""
    found: set[str] = set()
    for path in table.files(directory):
        if "image_sha256" in pq.read_schema(path).names:
            rows = pq.read_table(path, columns=["id", "image_sha256"])
            found.update(rows.filter(pc.is_valid(rows.column("image_sha256"))).column("id").to_pylist())
    return frozenset(found)


def _rows(made: Sequence[_Made]) -> Iterator[pa.Table]:
    """Rows in key order: subset, kind, id."""
    for item in made:
        for kind, ids in (("document", item.documents), ("query", item.queries)):
            for start in range(0, len(ids), _ROWS):
                part = ids[start : start + _ROWS]
                columns = {"subset": [item.summary.name] * len(part), "kind": [kind] * len(part), "id": part}
                yield pa.table(columns, schema=SUBSETS.schema)
