"""What results.json and derived.json must say, from labels, run files and release.json; and what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.audit.rule import Context
from curation.audit.rules.runs_reading import Floats, Split
from curation.evaluation.collection import FACETS
from curation.published.manifest import ReleaseManifest

TOLERANCE = 1e-6
MISSING = object()
_UNMEASURED = ("overall", "facets", "macro")
_STATUS = """
    SELECT "query-id" AS q, CASE WHEN count(DISTINCT label_status) = 1 THEN min(label_status) ELSE 'mixed' END
        AS said FROM qrels WHERE score > 0 GROUP BY ALL"""
Json = Mapping[str, Any]
Facets = Mapping[str, NDArray[np.object_]]
Difference = tuple[str, Any, Any, str]
"""Where, what is stated, what is expected, and what is wrong ('' when nothing is)."""


class Whole(dict[str, Any]):
    """What is expected of an object that holds nothing else."""


class Text:
    """Any text that is not empty is expected."""

    def __str__(self) -> str:
        return "a text"


def differences(stated: Any, expected: Any, place: str) -> Iterator[Difference]:
    """Compare what is stated with what is expected, value by value; decimals to TOLERANCE."""
    if isinstance(expected, dict) and isinstance(stated, dict):
        if isinstance(expected, Whole):
            for name in sorted(set(stated) - set(expected)):
                yield f"{place}/{name}", stated[name], MISSING, "something is stated that cannot be"
        for name in expected:  # overall first, parts later: only the first findings are shown
            yield from differences(stated.get(name, MISSING), expected[name], f"{place}/{name}")
    elif _is_equal(stated, expected):
        yield place, stated, expected, ""
    elif expected is not MISSING or stated is not MISSING:
        yield place, stated, expected, "what is stated is not what the release's files give"


def _is_equal(stated: Any, expected: Any) -> bool:
    if isinstance(expected, Text):
        return isinstance(stated, str) and bool(stated.strip())
    if isinstance(expected, float):
        is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
        return is_number and abs(stated - expected) <= TOLERANCE
    return type(stated) is type(expected) and bool(stated == expected)


def of_split(
    manifest: ReleaseManifest,
    data: Split,
    facets: Facets,
    values: Mapping[str, Floats],
    named: Mapping[str, Json],
    measures: Sequence[str],
) -> dict[str, Any]:
    """What must be said of one split, systems and comparisons by name.

    Args:
        manifest: release.json.
        data: the split.
        facets: (measured queries,) values by facet.
        values: (measured queries, measures) of each system whose run was read.
        named: systems as stated; what they say is only used for whether they ran.
        measures: names of the columns.
    """
    measured = int(np.count_nonzero(data.relevant))
    ran = [name for name, item in named.items() if item.get("status") == "measured"]
    comparisons = _comparisons({name: values[name] for name in ran if name in values}, measures)
    return {
        "subset": "",
        "corpus": len(data.corpus),
        "queries": len(data.queries),
        "queries_measured": measured,
        "queries_without_positive": len(data.queries) - measured,
        "pairs_left_out": len(data.left_out),
        "measures": list(measures),
        "release": _release(manifest),
        "facets": Whole({name: Whole(_counted(column)) for name, column in facets.items()}),
        "systems": {
            name: {
                "shaped_the_benchmark": name in manifest.shaped_by,
                **(_ran(values.get(name), measures, facets) if name in ran else _NOT_RUN),
            }
            for name in named
        },
        "comparisons": Whole(comparisons) if set(ran) <= set(values) else comparisons,
    }


def _release(manifest: ReleaseManifest) -> dict[str, Any]:
    """What is said of the release."""
    fields = ("dataset", "version", "task", "task_title", "label")
    return {
        **{name: getattr(manifest, name) for name in fields},
        "grades": Whole(manifest.grades),
        "not_publishable_because": list(manifest.not_publishable_because),
        "shaped_by": list(manifest.shaped_by),
    }


_NOT_RUN = {
    "status": "not_run",
    "why_not": Text(),
    "run_file": "",
    "run_sha256": "",
    **dict.fromkeys(_UNMEASURED, MISSING),
}


def _ran(values: Floats | None, measures: Sequence[str], facets: Facets) -> dict[str, Any]:
    """What is said of a system that ran: nothing can be expected of one whose run was not read."""
    if values is None:
        return {}
    parts = {
        facet: {value: _means(values[column == value], measures) for value in _counted(column)}
        for facet, column in facets.items()
    }
    return {
        "why_not": "",
        "overall": Whole(_means(values, measures)),
        "facets": Whole({facet: Whole(found) for facet, found in parts.items()}),
        "macro": Whole({facet: Whole(_macro(found, measures)) for facet, found in parts.items() if found}),
    }


def _means(values: Floats, measures: Sequence[str]) -> dict[str, Any]:
    """Mean of each measure over the queries where it is defined."""
    found = {}
    for name, column in zip(measures, values.T, strict=True):
        known = column[~np.isnan(column)]
        found[name] = {"mean": float(known.mean()) if len(known) else None, "queries": len(known)}
    return found


def _macro(parts: Mapping[str, Json], measures: Sequence[str]) -> dict[str, Any]:
    """Unweighted mean over the decided values of a facet, and the gap between the best and the worst."""
    made = {}
    for name in measures:
        means = [item[name]["mean"] for value, item in parts.items() if value]
        known = [mean for mean in means if mean is not None]
        made[name] = {
            "mean": sum(known) / len(known) if known else None,
            "gap": max(known) - min(known) if known else None,
            "values": len(known),
        }
    return made


def _comparisons(values: Mapping[str, Floats], measures: Sequence[str]) -> dict[str, Any]:
    """Differences of every two systems on the queries where both are defined."""
    found = {}
    for a, b in combinations(values, 2):
        for name, column in zip(measures, (values[a] - values[b]).T, strict=True):
            known = column[~np.isnan(column)]
            if len(column):
                mean = float(known.sum() / max(1, len(known)))
                found[f"{a} {b} {name}"] = {"difference": mean, "queries": len(known)}
    return found


def by_pair(listed: Any) -> Any:
    """Stated comparisons by the names of systems and measure; as they are where they are none."""
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        return listed
    return {f"{item.get('a')} {item.get('b')} {item.get('measure')}": item for item in listed}


def of_derived(
    manifest: ReleaseManifest, results: Json, systems: Callable[[Any], Mapping[str, Json]]
) -> Json:
    """What derived.json must say of the pools: shaped by the systems that ran, as release.json says."""
    if not manifest.shaped_by:
        return {"pools": None}
    found = {
        name
        for split in results.values()
        for name, item in systems(split).items()
        if item.get("status") == "measured"
    }
    return {"pools": {"shaped_by": list(manifest.shaped_by), "systems": sorted(found)}}


def facets_of(context: Context, data: Split, files: Sequence[Path]) -> dict[str, NDArray[np.object_]]:
    """(measured queries,) values of each facet, '' where undecided; `label_status` is that of positives."""
    measured = np.flatnonzero(data.relevant)
    held = _columns(context, files)
    listed = [name for name in FACETS if name in held]
    made: dict[str, NDArray[np.object_]] = {}
    for name in listed:
        text = f"SELECT coalesce(\"{name}\", '') AS v FROM queries ORDER BY id"
        column = [
            value for batch in context.query(text, {"queries": files}) for value in batch[0].to_pylist()
        ]
        made[name] = np.array(column, dtype=object)[measured]
    text = f"SELECT s.said FROM queries LEFT JOIN ({_STATUS}) s ON s.q = id ORDER BY id"
    said = _first(context, text, {"queries": files, "qrels": context.views["qrels"]})
    made["label_status"] = said[measured]
    return made


def _first(context: Context, text: str, views: Mapping[str, Sequence[Path]]) -> NDArray[np.object_]:
    """The first column of a result."""
    values = [value for batch in context.query(text, views) for value in batch.column(0).to_pylist()]
    return np.array(values, dtype=object)


def _columns(context: Context, files: Sequence[Path]) -> set[str]:
    text = "SELECT column_name AS name FROM (DESCRIBE SELECT * FROM queries)"
    return {row["name"] for batch in context.query(text, {"queries": files}) for row in batch.to_pylist()}


def _counted(column: NDArray[np.object_]) -> dict[str, int]:
    found, counts = np.unique(column.astype(str), return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
