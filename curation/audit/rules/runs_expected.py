"""What results.json and derived.json must say, from labels, run files and release.json; and what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.audit.rule import Context
from curation.audit.rules.runs_reading import Part
from curation.audit.rules.runs_tally import Floats, Split
from curation.evaluation.collection import FACETS
from curation.published.manifest import ReleaseManifest

TOLERANCE = 1e-6
MISSING = object()
COUNTS, RELEASE, FACET_COUNTS = "counts of a split", "what is said of the release", "queries by facet"
SHAPED, NOT_RUN = "marks of systems that shaped the benchmark", "what is said of a system that did not run"
MEANS, FACET_MEANS, MACRO = "means of a system", "means by facet", "means of the means by facet"
COMPARISONS, MINED = "differences between systems", "scores without a system's own positives"
PEOPLE = "systems under labels of judge and people"
TWICE = "a judge asked twice"
"""Parts of results.json that are compared."""
_UNMEASURED = ("overall", "facets", "macro")
POSITIVES = """
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
                yield f"{place}/{name}", stated[name], MISSING, "an impossible value is stated"
        for name in expected:  # overall first, parts later: only the first findings are shown
            yield from differences(stated.get(name, MISSING), expected[name], f"{place}/{name}")
    elif _is_equal(stated, expected):
        yield place, stated, expected, ""
    elif expected is not MISSING or stated is not MISSING:
        yield place, stated, expected, "the stated value differs from what the release's files give"


def _is_equal(stated: Any, expected: Any) -> bool:
    if isinstance(expected, Text):
        return isinstance(stated, str) and bool(stated.strip())
    if isinstance(expected, float):
        is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
        return is_number and abs(stated - expected) <= TOLERANCE
    return type(stated) is type(expected) and bool(stated == expected)


def of_split(
    split: str,
    manifest: ReleaseManifest,
    data: Split,
    facets: Facets,
    values: Mapping[str, Floats],
    named: Mapping[str, Json],
    measures: Sequence[str],
) -> dict[str, Any]:
    """What must be said of one split by part, systems and comparisons by name.

    Args:
        split: its name.
        manifest: release.json.
        data: the split.
        facets: (measured queries,) values by facet.
        values: (measured queries, measures) of each system whose run was read.
        named: systems as stated; what they say is only used for whether they ran.
        measures: names of the columns.
    """
    measured = int(np.count_nonzero(data.relevant))
    sizes = data.set_sizes
    ran = [name for name, item in named.items() if item.get("status") == "measured"]
    comparisons = _comparisons({name: values[name] for name in ran if name in values}, measures)
    systems: dict[str, dict[str, Any]] = {
        SHAPED: {name: {"shaped_the_benchmark": name in manifest.shaped_by} for name in named},
        NOT_RUN: {name: _NOT_RUN for name in named if name not in ran},
        **_ran({name: values[name] for name in ran if name in values}, measures, facets),
    }
    return {
        COUNTS: {
            "split": split,
            "subset": "",
            "corpus": len(data.corpus),
            "queries": len(data.queries),
            "queries_measured": measured,
            "queries_without_positive": len(data.queries) - measured,
            "pairs_left_out": data.count_left_out,
            **({"sets": {"queries": len(sizes), "chance": float(np.mean(1 / sizes))}} if len(sizes) else {}),
            "measures": list(measures),
        },
        RELEASE: {"release": _release(manifest)},
        FACET_COUNTS: {"facets": Whole({name: Whole(_counted(column)) for name, column in facets.items()})},
        **{part: {"systems": found} for part, found in systems.items()},
        COMPARISONS: {"comparisons": Whole(comparisons) if set(ran) <= set(values) else comparisons},
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


def _ran(
    values: Mapping[str, Floats], measures: Sequence[str], facets: Facets
) -> dict[str, dict[str, dict[str, Any]]]:
    """What is said of the systems that ran and whose run was read."""
    found: dict[str, dict[str, dict[str, Any]]] = {MEANS: {}, FACET_MEANS: {}, MACRO: {}}
    for name, of in values.items():
        parts = {
            facet: {value: _means(of[column == value], measures) for value in _counted(column)}
            for facet, column in facets.items()
        }
        macro = {facet: Whole(_macro(made, measures)) for facet, made in parts.items() if made}
        found[MEANS][name] = {"why_not": "", "overall": Whole(_means(of, measures))}
        found[FACET_MEANS][name] = {"facets": Whole({facet: Whole(made) for facet, made in parts.items()})}
        found[MACRO][name] = {"macro": Whole(macro)}
    return found


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


def facets_of(context: Context, data: Split, part: Part) -> dict[str, NDArray[np.object_]]:
    """(measured queries,) values of each facet, '' where undecided; `label_status` is that of positives."""
    names = ("id", *FACETS)
    text = f"""SELECT f.*, s.said AS label_status FROM (SELECT 1)
        LEFT JOIN (SELECT COLUMNS(lambda name: name IN {names}) FROM {{source}}) f ON true
        LEFT JOIN ({POSITIVES}) s ON s.q = f.id ORDER BY f.id"""  # one row at least, for its columns
    table = pa.Table.from_batches(part.batches(context, text))
    measured = np.flatnonzero(data.relevant)
    return {
        name: np.array([value or "" for value in table.column(name).to_pylist()], dtype=object)[measured]
        for name in (*FACETS, "label_status")
        if name in table.column_names
    }


def _counted(column: NDArray[np.object_]) -> dict[str, int]:
    found, counts = np.unique(column.astype(str), return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
