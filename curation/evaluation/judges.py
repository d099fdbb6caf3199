"""Whether systems stand in one order under a judge's labels and under people's: Kendall's rank correlation.

Both label sets hold the same pairs: those drawn to calibrate the judge that it concluded and people graded.
Of each ranking only these documents are looked at (condensed nDCG, Sakai 2007), so an unjudged document
counts for nothing. The correlation is τ-b, which allows for ties (Kendall 1945), over all pairs of systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from curation.evaluation import measures, statistics
from curation.evaluation.collection import Collection
from curation.evaluation.labels import RELEVANT
from curation.evaluation.mining import Finders, finders
from curation.evaluation.ranking import Ranking, Run
from schemas.grades import UNDECIDED
from schemas.judged_tables import CALIBRATION, JUDGEMENTS

LEAST_QUERIES, LEAST_SYSTEMS = 30, 3
"""Fewer queries with a positive under both label sets, or fewer systems, tell nothing of an order."""
PLACES = 9
"""Decimal places of a mean: closer ones are ties."""
Sample = Mapping[tuple[str, str], tuple[int, int]]
"""Pair of query and document -> (what the judge concluded, what people said)."""
Twice = Mapping[str, Mapping[str, tuple[int, int]]]
"""order: in the other order, or seeds: with a seed -> query -> pairs asked twice, and those that changed."""
Means = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OfJudge:
    """What a release says of its judge: what found the pairs, which people graded, which were asked twice."""

    found_by: Finders
    sample: Sample
    twice: Twice = field(default_factory=dict)

    @property
    def is_there(self) -> bool:
        """Whether the release has a judge at all."""
        return bool(self.sample) or any(self.found_by.values())


def of_judge(directory: Path) -> OfJudge:
    """What the files of a release say of its judge."""
    columns = ["query-id", "corpus-id", "judge", "people"]
    rows = [
        row
        for path in CALIBRATION.files(directory, "")
        for row in pq.read_table(path, columns=columns).to_pylist()
    ]
    return OfJudge(finders(directory), sample_of(rows), twice_of(_judgements(directory)))


def _judgements(directory: Path) -> list[dict[str, Any]]:
    """Scores of every judged pair, as far as a release of its format has the columns."""
    rows: list[dict[str, Any]] = []
    for path in JUDGEMENTS.files(directory, ""):
        wanted = ("query-id", "forward", "reversed", "seeded", "reason")
        known = [name for name in wanted if name in pq.read_schema(path).names]
        rows += pq.read_table(path, columns=known).to_pylist()
    return rows


def twice_of(rows: Sequence[Mapping[str, Any]]) -> Twice:
    """Pairs that a judge was asked about twice, by query, from rows of the table `judgements`.

    In the other order a pair has changed if it is `unstable`: its conclusion is another one; with a seed, if
    any score is.
    """
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for row in rows:
        if not (row.get("forward") and row.get("reversed")):
            continue
        changed = {"order": row["reason"] == UNDECIDED[1]}
        if row.get("seeded"):
            changed["seeds"] = row["seeded"] != row["forward"]
        for name, is_other in changed.items():
            of_query = found.setdefault(name, {})
            pairs, other = of_query.get(row["query-id"], (0, 0))
            of_query[row["query-id"]] = (pairs + 1, other + is_other)
    return found


def stability(collection: Collection, twice: Twice) -> dict[str, Any]:
    """How often the judge said something else when it was asked again, over the queries of a split."""
    known = {query.id for query in collection.queries}
    found = {}
    for name, of_query in sorted(twice.items()):
        counted = [counts for query, counts in of_query.items() if query in known]
        pairs, other = (sum(counts[side] for counts in counted) for side in (0, 1))
        found[name] = {
            "pairs": pairs, "changed": other, "share": round(other / pairs, PLACES) if pairs else None
        }  # fmt: skip
    return found


def sample_of(rows: Sequence[Mapping[str, Any]]) -> Sample:
    """Rows of the table `calibration` that both judged."""
    return {
        (row["query-id"], row["corpus-id"]): (row["judge"], row["people"])
        for row in rows
        if row["judge"] is not None and row["people"] is not None
    }


def beside_people(collection: Collection, runs: Mapping[str, Run], sample: Sample) -> dict[str, Any]:
    """Means of each system under both label sets, and how far their orders agree.

    Args:
        collection: the split.
        runs: of the systems that ran, by name.
        sample: pairs that both judged; those of other splits are left out.
    """
    parts = _parts(collection, sample)
    queries = sorted(parts[0].qrels)
    lacking = why_not(len(queries), len(runs))
    about = {
        "measure": measures.CONDENSED,
        "queries": len(queries),
        "pairs": sum(len(parts[0].qrels[query]) for query in queries),
    }
    if lacking:
        return {"status": "not_run", "why_not": lacking, **about}
    values = np.stack([_values(run, part) for run in runs.values() for part in parts], axis=1)
    group = {query.id: query.group for query in collection.queries}
    groups = statistics.codes([group[query] for query in queries])
    means = np.round(values.mean(0), PLACES)
    low, high = _interval(values, groups)
    return {
        "status": "measured",
        "why_not": "",
        **about,
        "systems": {
            name: {"judge": float(means[2 * place]), "people": float(means[2 * place + 1])}
            for place, name in enumerate(runs)
        },
        "tau": tau(means[::2], means[1::2]),
        "low": low,
        "high": high,
    }


def why_not(queries: int, systems: int) -> str:
    """Why the orders of systems cannot be compared, '' when they can."""
    if systems < LEAST_SYSTEMS:
        return f"systems that ran: {systems}; {LEAST_SYSTEMS} are needed"
    if queries < LEAST_QUERIES:
        return f"queries with a positive by the judge and by people: {queries}; {LEAST_QUERIES} are needed"
    return ""


def tau(one: Means, other: Means) -> float | None:
    """Kendall's τ-b of two lists of means in one order of systems; None where one list is all ties."""
    [found] = _taus(np.stack([one, other], axis=1).reshape(1, -1))
    return None if np.isnan(found) else round(float(found), PLACES)


def _parts(collection: Collection, sample: Sample) -> tuple[Collection, Collection]:
    """The collection under the judge's labels and under people's, queries with a positive in both."""
    found: tuple[dict[str, dict[str, int]], ...] = ({}, {})
    known = {query.id for query in collection.queries}
    documents = set(collection.corpus_ids)
    for (query, document), grades in sorted(sample.items()):
        if query in known and document in documents:
            for labels, grade in zip(found, grades, strict=True):
                labels.setdefault(query, {})[document] = grade
    kept = [query for query in found[0] if all(max(labels[query].values()) >= RELEVANT for labels in found)]
    one, other = (replace(collection, qrels={query: labels[query] for query in kept}) for labels in found)
    return one, other


def _values(run: Run, part: Collection) -> Means:
    """(queries,) nDCG@10 of the judged documents of each ranking."""
    places = {name: place for place, name in enumerate(part.corpus_ids)}
    cut = {}
    for query, grades in part.qrels.items():
        ranking = run.get(query)
        if ranking is not None:
            kept = np.isin(ranking.documents, [places[name] for name in grades])
            cut[query] = Ranking(ranking.documents[kept], ranking.scores[kept])
    column = measures.names(10).index(measures.PRIMARY)
    return measures.evaluate(cut, part, 10)[:, column]


def _interval(values: Means, groups: statistics.Codes) -> tuple[float | None, float | None]:
    """95 % percentile bootstrap over articles, None below two articles."""
    if len(set(groups.tolist())) < 2:
        return None, None
    drawn = _taus(np.round(statistics.resampled(values, groups), PLACES))
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return None, None
    low, high = np.percentile(drawn, [2.5, 97.5])
    return round(float(low), PLACES), round(float(high), PLACES)


def _taus(means: Means) -> Means:
    """(rows,) τ-b of each row of means, judge and people in turn for each system; NaN where all are ties."""
    signs = [
        [np.sign(means[:, 2 * a + side] - means[:, 2 * b + side]) for side in (0, 1)]
        for a, b in combinations(range(means.shape[1] // 2), 2)
    ]
    agree = sum(one * other for one, other in signs)
    untied = [sum(np.abs(pair[side]) for pair in signs) for side in (0, 1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Means = agree / np.sqrt(untied[0] * untied[1])
    return found
