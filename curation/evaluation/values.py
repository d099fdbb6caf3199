"""The mean over specialties and body systems beside the mean over queries, where each has enough of them.

The plain mean (micro) is that of whatever the literature has most of; the mean of the means of values (macro)
counts every specialty alike, as M3Retrieve's headline does. Both are over the same queries: those of values
with at least `MINIMUM`.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from curation.evaluation.collection import Collection
from curation.evaluation.variants import MINIMUM, VALUED, queries_by_value


def by_value(collection: Collection, per_query: pa.Table, measures: Sequence[str]) -> dict[str, Any]:
    """What results.json says of values with enough queries.

    Args:
        collection: what was evaluated on.
        per_query: one row per system and measured query, of `curation.evaluation.results`.
        measures: names of its columns to average.

    Returns:
        `minimum`; `facets`: by facet `values` and `below` (value -> queries), `undecided`, and by system and
        measure `micro` and `macro`, None with fewer than two values.
    """
    rows = per_query.select(["system", "query-id", *measures]).to_pylist() if len(per_query) else []
    told = {}
    for facet in VALUED:
        found = queries_by_value(collection.directory, facet, collection.split)
        values = {query: value for value, queries in found.items() for query in queries}
        kept = {query: value for query, value in values.items() if query in collection.qrels}
        if any(kept.values()):
            told[facet] = _of_facet(kept, rows, measures)
    return {"minimum": MINIMUM, "facets": told}


def _of_facet(
    values: Mapping[str, str], rows: Sequence[Mapping[str, Any]], measures: Sequence[str]
) -> dict[str, Any]:
    counts = collections.Counter(values.values())
    undecided = counts.pop("", 0)
    enough = {value: count for value, count in sorted(counts.items()) if count >= MINIMUM}
    systems: dict[str, dict[str, dict[str, list[float]]]] = {}
    for row in rows:
        value = values.get(row["query-id"], "")
        if value in enough:
            held = systems.setdefault(row["system"], {})
            for measure in measures:
                if row[measure] is not None and not np.isnan(row[measure]):
                    held.setdefault(measure, {}).setdefault(value, []).append(row[measure])
    return {
        "values": enough,
        "below": {value: count for value, count in sorted(counts.items()) if count < MINIMUM},
        "undecided": undecided,
        "systems": {
            name: {measure: _means(found) for measure, found in held.items()}
            for name, held in systems.items()
            if len(enough) > 1
        },
    }


def _means(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    every = [value for _, values in sorted(found.items()) for value in values]
    means = [float(np.mean(values)) for _, values in sorted(found.items())]
    return {"micro": round(float(np.mean(every)), 9), "macro": round(float(np.mean(means)), 9)}
