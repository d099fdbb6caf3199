"""What a system that mined pairs for a judge scores without the positives that it alone found.

Labels favour whoever found the documents to be judged: a system's own finds are judged, another's are not.
Leaving out what a system contributed alone shows how much of its score rests on that (Zobel 1998).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from curation.evaluation import measures, statistics
from curation.evaluation.collection import Collection
from curation.evaluation.gain import apart_from, cut
from curation.evaluation.labels import RELEVANT
from curation.evaluation.ranking import Run
from schemas.judged_tables import JUDGEMENTS

Finders = Mapping[tuple[str, str], frozenset[str]]
"""Pair of query and document -> systems that found it; `citation` where a source named it."""


@dataclass(frozen=True, slots=True)
class WithoutOwn:
    """A system's nDCG@10 over the queries that keep a positive, with and without its own.

    Attributes:
        measure: what was measured.
        before: mean with its own positives, over the same queries; None without a query.
        mean: without them; the interval is over articles, None below two.
        queries: that keep a positive.
        positives: that are kept.
        left_out: positives that this system, or a part of it, alone found; in neither labels nor ranking.
    """

    measure: str
    before: float | None
    mean: float | None
    low: float | None
    high: float | None
    queries: int
    positives: int
    left_out: int


def finders(directory: Path) -> Finders:
    """What found each mined pair of a release; empty where it does not say so."""
    columns = ["query-id", "corpus-id", "found_by"]
    rows = [
        row
        for path in JUDGEMENTS.files(directory, "")
        for row in pq.read_table(path, columns=columns).to_pylist()
    ]
    return {
        (row["query-id"], row["corpus-id"]): frozenset(name.rsplit(":", 2)[0] for name in row["found_by"])
        for row in rows
    }


def without_own(
    collection: Collection, run: Run, parts: AbstractSet[str], found: Finders
) -> WithoutOwn | None:
    """Measure a run without the positives that its system alone found; None where it did not mine.

    Args:
        collection: the split.
        run: of the system.
        parts: its name and those of the systems it is made of.
        found: what found each pair.
    """
    if not any(parts & names for names in found.values()):
        return None
    own = {
        (query, document)
        for query, grades in collection.qrels.items()
        for document, grade in grades.items()
        if grade >= RELEVANT and (names := found.get((query, document))) and names <= parts
    }
    part, left_out = apart_from(collection, collection.qrels.keys(), own)
    positives = sum(grade >= RELEVANT for grades in part.qrels.values() for grade in grades.values())
    if not part.qrels:
        return WithoutOwn(measures.PRIMARY, None, None, None, None, 0, 0, left_out)
    column = measures.names(10).index(measures.PRIMARY)
    whole = dict(
        zip(measures.measured(collection), measures.evaluate(run, collection, 10)[:, column], strict=True)
    )
    before = sum(float(whole[query]) for query in part.qrels) / len(part.qrels)
    after = measures.evaluate(cut(run, part, own), part, 10)[:, [column]]
    group = {query.id: query.group for query in collection.queries}
    groups = statistics.codes([group[query] for query in measures.measured(part)])
    [mean] = statistics.estimates(after, groups)
    return WithoutOwn(
        measures.PRIMARY, before, mean.mean, mean.low, mean.high, len(part.qrels), positives, left_out
    )
