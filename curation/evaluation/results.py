"""Results of several systems on one collection: numbers overall and by facet, comparisons, per-query rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.evaluation import fairness, judges, measures, mining, statistics
from curation.evaluation.collection import Collection
from curation.evaluation.ranking import EMPTY, Run

FORMAT_VERSION = 3
FACET_NDCG = "facet_ndcg"
"""Key of what is said of questions on facets of named concepts (curation.evaluation.facets)."""
_TOOLS = ("bm25s", "ir-measures", "pytrec-eval-terrier", "numpy", "PyStemmer")


@dataclass(frozen=True, slots=True)
class Measured:
    """One system with its run, None when it could not run (`why_not`).

    `config` is all that shapes its ranking; `shaped` marks a system that shaped the benchmark's queries or
    pools; `notes` tell what a reader must know (repairs, weak baseline); `run_file` and its hash.

    Of a system that uses what a language model said, `models` name the model, its prompt and the prompt's
    hash; `circular` are models behind the labels that are of its family; `gain` is what it gains over the
    same system without the model (:mod:`curation.evaluation.gain`), with what makes that doubtful.

    `parts` are its own name and those of the systems it is made of, by which it may have mined pairs.

    `cut` are documents that it does not read to the end; None where that is not known, or it reads no texts.
    """

    name: str
    kind: str
    run: Run | None
    config: Mapping[str, Any] = field(default_factory=dict)
    shaped: bool = False
    why_not: str = ""
    notes: tuple[str, ...] = ()
    run_file: str = ""
    run_sha256: str = ""
    models: tuple[Mapping[str, Any], ...] = ()
    circular: tuple[Mapping[str, Any], ...] = ()
    gain: Mapping[str, Any] | None = None
    parts: frozenset[str] = frozenset()
    cut: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """`summary` is the content of results.json; `per_query` has one row per system and measured query."""

    summary: dict[str, Any]
    per_query: pa.Table


def summarise(
    collection: Collection, systems: Sequence[Measured], k: int, judge: judges.OfJudge | None = None
) -> Results:
    """Measure every system that ran, overall and by facet, and compare them in pairs.

    Args:
        collection: the split.
        systems: those that ran and those that could not.
        k: depth of the rankings.
        judge: what is known of the judge behind the labels; None: what the collection's files say.
    """
    names = measures.names(k, knows_zeros=measures.knows_zeros(collection))
    queries = {query.id: query for query in collection.queries}
    measured = [queries[query] for query in measures.measured(collection)]
    groups = statistics.codes([query.group for query in measured])
    values = {
        system.name: measures.evaluate(system.run, collection, k)
        for system in systems
        if system.run is not None
    }
    labels = {
        facet: np.array([query.facets.get(facet, "") for query in measured], dtype=object)
        for facet in collection.facets
    }
    families, languages = [query.family for query in measured], [query.language for query in measured]
    judge = judges.of_judge(collection.directory) if judge is None else judge
    shares = {name: fairness.gaps(found, names, families, languages) for name, found in values.items()}
    summary = {
        **_about(collection, k),
        "queries_measured": len(measured),
        "measures": list(names),
        "facets": {facet: _count(column) for facet, column in labels.items()},
        "statistics": {
            "interval": "95 % percentile bootstrap over articles",
            "resamples": statistics.RESAMPLES,
            "test": "paired randomisation over articles, two-sided, Holm over pairs of systems",
            "permutations": statistics.PERMUTATIONS,
            "seed": statistics.SEED,
            "articles": len(set(groups.tolist())),
        },
        "systems": [
            {
                **_system(system, values.get(system.name), names, groups, labels),
                **_fair(shares, system.name),
                **_mined(system, collection, judge.found_by),
            }
            for system in systems
        ],
        "comparisons": [
            _clean(dataclasses.asdict(item))
            for item in statistics.compare(list(values.items()), names, groups)
        ],
    }
    if judge.is_there:
        runs = {system.name: system.run for system in systems if system.run is not None}
        summary["judge_and_people"] = judges.beside_people(collection, runs, judge.sample)
    if judge.twice:
        summary["judge_stability"] = judges.stability(collection, judge.twice)
    return Results(summary, _rows(collection, systems, values, names, measured))


def _about(collection: Collection, k: int) -> dict[str, Any]:
    """What was evaluated on, and with which tools."""
    head = collection.head
    return {
        "format": FORMAT_VERSION,
        "release": {
            "dataset": head.dataset,
            "version": head.version,
            "task": head.task,
            "task_title": head.task_title,
            "release_hash": head.release_hash,
            "label": head.label,
            "not_publishable_because": list(head.not_publishable_because),
            "shaped_by": list(head.shaped_by),
            "grades": dict(head.grades),
        },
        "split": collection.split,
        "subset": collection.variant,
        "k": k,
        "corpus": len(collection.corpus_ids),
        "queries": len(collection.queries),
        "queries_without_positive": collection.unlabelled,
        "pairs_left_out": sum(len(found) for found in collection.left_out.values()),
        **_of_sets(collection),
        "tools": {name: version(name) for name in _TOOLS},
    }


def _of_sets(collection: Collection) -> dict[str, Any]:
    """How many queries are ranked among a set of their own, and how often a guess is right there."""
    if not collection.sets:
        return {}
    chance = np.mean([1 / len(inside) for _, inside in sorted(collection.sets.items())])
    return {"sets": {"queries": len(collection.sets), "chance": round(float(chance), 6)}}


def _system(
    system: Measured,
    values: statistics.Values | None,
    names: Sequence[str],
    groups: statistics.Codes,
    labels: Mapping[str, NDArray[np.object_]],
) -> dict[str, Any]:
    about: dict[str, Any] = {
        "name": system.name,
        "kind": system.kind,
        "status": "not_run" if values is None else "measured",
        "why_not": system.why_not,
        "shaped_the_benchmark": system.shaped,
        "config": dict(system.config),
        "notes": list(system.notes),
        "run_file": system.run_file,
        "run_sha256": system.run_sha256,
    }
    if system.models:
        about["models"] = [dict(item) for item in system.models]
        about["circular"] = [dict(item) for item in system.circular]
        about["gain"] = None if system.gain is None else _clean(dict(system.gain))
    if values is None:
        return about
    facets = {facet: _facet(values, names, groups, column) for facet, column in labels.items()}
    about["overall"] = _estimates(values, names, groups)
    about["facets"] = facets
    about["macro"] = {facet: _macro(found, names) for facet, found in facets.items() if found}
    return about


def _fair(shares: Mapping[str, Mapping[str, Any]], system: str) -> dict[str, Any]:
    """The fairness gap of a system on the parallel core, nothing where there is none."""
    return {"fairness": shares[system]} if shares.get(system) else {}


def _mined(system: Measured, collection: Collection, found_by: mining.Finders) -> dict[str, Any]:
    """What a system that mined scores without its own positives, nothing of another."""
    if system.run is None or not found_by:
        return {}
    found = mining.without_own(collection, system.run, system.parts | {system.name}, found_by)
    return {} if found is None else {"without_own_positives": _clean(dataclasses.asdict(found))}


def _facet(
    values: statistics.Values, names: Sequence[str], groups: statistics.Codes, column: NDArray[np.object_]
) -> dict[str, Any]:
    """Estimates for each value of a facet; '' (undecided) is shown, too."""
    found = {}
    for value in sorted(set(column.tolist())):
        chosen = column == value
        found[value] = _estimates(values[chosen], names, groups[chosen])
    return found


def _estimates(values: statistics.Values, names: Sequence[str], groups: statistics.Codes) -> dict[str, Any]:
    made = statistics.estimates(values, groups)
    return {name: _clean(dataclasses.asdict(item)) for name, item in zip(names, made, strict=True)}


def _macro(found: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Unweighted mean over the decided values of a facet, and the gap between best and worst of them."""
    made = {}
    for name in names:
        means = [
            item[name]["mean"] for value, item in found.items() if value and item[name]["mean"] is not None
        ]
        made[name] = {
            "mean": sum(means) / len(means) if means else None,
            "gap": max(means) - min(means) if means else None,
            "values": len(means),
        }
    return made


def _count(column: NDArray[np.object_]) -> dict[str, int]:
    values, counts = np.unique(column.astype(str), return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _clean(found: dict[str, Any]) -> dict[str, Any]:
    """Numbers to nine places (the last bits differ between machines); NaN becomes null."""
    return {
        name: (None if math.isnan(value) else round(value, 9)) if isinstance(value, float) else value
        for name, value in found.items()
    }


def _rows(
    collection: Collection,
    systems: Sequence[Measured],
    values: Mapping[str, statistics.Values],
    names: Sequence[str],
    measured: Sequence[Any],
) -> pa.Table:
    parts = []
    for system in systems:
        if system.run is None:
            continue
        columns: dict[str, Any] = {
            "system": pa.array([system.name] * len(measured), pa.string()),
            "shaped_the_benchmark": pa.array([system.shaped] * len(measured), pa.bool_()),
            "query-id": pa.array([query.id for query in measured], pa.string()),
            "group": pa.array([query.group for query in measured], pa.string()),
            "retrieved": pa.array([len(system.run.get(query.id, EMPTY)) for query in measured], pa.int64()),
        }
        for place, name in enumerate(names):
            column = values[system.name][:, place]
            columns[name] = pa.array(column, pa.float64(), mask=np.isnan(column))
        for facet in collection.facets:
            columns[facet] = pa.array([query.facets.get(facet, "") for query in measured], pa.string())
        parts.append(pa.table(columns))
    return pa.concat_tables(parts) if parts else pa.table({"system": pa.array([], pa.string())})
