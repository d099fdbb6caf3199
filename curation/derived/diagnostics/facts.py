"""What a card says of necessity and shortcuts, from the published files alone: means, shares, intervals."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from curation.derived.diagnostics.conditions import CONDITIONS, NEEDS
from curation.derived.diagnostics.shortcuts import SHORTCUTS
from curation.derived.diagnostics.table import read_notes
from curation.evaluation import statistics
from curation.evaluation.collection import FACETS
from curation.published.query import QueryRunner, columns_of, fetch
from schemas.tables import DIAGNOSTICS, ORIGIN_QUERIES, QUERIES

_DIFFERENCES = (
    ("text_and_image", "text_only"),
    ("text_and_image", "image_only"),
    ("text_and_image", "shuffled_image"),
)
_ROWS = """SELECT d.*, o.split, o.article_id, {facets} FROM diagnostics d
    JOIN provenance_queries o ON o.id = d."query-id" JOIN queries q ON q.id = d."query-id"
    ORDER BY d."query-id" """

_KINDS = ("first", "chance_first", "ndcg", "chance", "gain")

Row = Mapping[str, Any]


def facts(directory: Path, query: QueryRunner) -> dict[str, Any]:
    """Split -> numbers of its diagnostics; empty when the release has none.

    Each estimate is `{mean, low, high, queries, groups}`: a 95 % percentile bootstrap over articles, null
    below two articles. `conditions` (nDCG@10), `differences` (`text_and_image - shuffled_image` …, paired),
    `needs` (shares of the queries where it is known) and `shortcuts` hold what was run; `bm25_solvable` is
    null when it was not. A shortcut has `first` (share of queries with a positive surely first), `ndcg`, the
    same by chance (`chance_first`, `chance`) and `gain` (ndcg - chance). `facets` has needs and bm25_solvable
    by value, `notes` systems and reasons.

    Args:
        directory: a task folder.
        query: runs SQL over Parquet.
    """
    views = {
        table.name: files
        for table in (DIAGNOSTICS, ORIGIN_QUERIES, QUERIES)
        if (files := table.files(directory))
    }
    if DIAGNOSTICS.name not in views:
        return {}
    there = columns_of(query, views, QUERIES.name)
    columns = {name: f"q.{name}" for name in FACETS if name in there}
    text = _ROWS.format(facets=", ".join(columns.values()) or "''")
    found: dict[str, list[Row]] = {}
    for row in fetch(query, text, views):
        found.setdefault(row["split"], []).append(row)
    notes = read_notes(directory)
    return {
        split: {**_numbers(rows, list(columns)), "notes": notes.get(split, {})}
        for split, rows in sorted(found.items(), reverse=True)
    }


def _numbers(rows: Sequence[Row], facets: Sequence[str]) -> dict[str, Any]:
    """Numbers of one split; all means are drawn together, so that they can be compared."""
    columns = _columns(rows)
    groups = statistics.codes([row["article_id"] for row in rows])
    table = np.array(list(columns.values()), np.float64).T.reshape(len(rows), len(columns))
    estimates = zip(columns, statistics.estimates(table, groups), strict=True)
    made = {name: _clean(estimate) for name, estimate in estimates if estimate.queries}
    return {
        "queries": len(rows),
        "conditions": {name: made[name] for name in CONDITIONS if name in made},
        "differences": {f"{a} - {b}": made[f"{a} - {b}"] for a, b in _DIFFERENCES if f"{a} - {b}" in made},
        "needs": {name: made[f"needs {name}"] for name in NEEDS if f"needs {name}" in made},
        "bm25_solvable": made.get("bm25_solvable"),
        "shortcuts": {
            name: {kind: made[f"{name} {kind}"] for kind in _KINDS}
            for name in SHORTCUTS
            if f"{name} ndcg" in made
        },
        "facets": {facet: _by_value(rows, facet) for facet in facets},
    }


def _columns(rows: Sequence[Row]) -> dict[str, list[float]]:
    """Name -> one number per query, NaN where unknown."""
    columns: dict[str, list[float]] = {name: [_float(row[name]) for row in rows] for name in CONDITIONS}
    for a, b in _DIFFERENCES:
        columns[f"{a} - {b}"] = [one - other for one, other in zip(columns[a], columns[b], strict=True)]
    for name in NEEDS:
        columns[f"needs {name}"] = [float(row["needs"] == name) if row["needs"] else math.nan for row in rows]
    columns["bm25_solvable"] = [_float(row["bm25_solvable"]) for row in rows]
    scores = [{item["shortcut"]: item["ndcg"] for item in row["shortcut_scores"]} for row in rows]
    for name in SHORTCUTS:
        ran = [name in held for held in scores]
        kinds: dict[str, list[float]] = {
            "first": [float(name in row["shortcuts"]) for row in rows],
            "chance_first": [_float(row["chance_first"]) for row in rows],
            "ndcg": [held.get(name, math.nan) for held in scores],
            "chance": [_float(row["chance"]) for row in rows],
        }
        kinds["gain"] = [one - other for one, other in zip(kinds["ndcg"], kinds["chance"], strict=True)]
        for kind, values in kinds.items():
            columns[f"{name} {kind}"] = [
                v if is_run else math.nan for v, is_run in zip(values, ran, strict=True)
            ]
    return columns


def _by_value(rows: Sequence[Row], facet: str) -> dict[str, Any]:
    """Counts of needs and the share that BM25 solves, for each value of a facet."""
    found: dict[str, Any] = {}
    for value in sorted({row[facet] or "" for row in rows}):
        mine = [row for row in rows if (row[facet] or "") == value]
        solved = [row["bm25_solvable"] for row in mine if row["bm25_solvable"] is not None]
        found[value] = {
            "queries": len(mine),
            "needs": {name: sum(row["needs"] == name for row in mine) for name in NEEDS},
            "bm25_solvable": round(sum(solved) / len(solved), 9) if solved else None,
        }
    return found


def _float(value: float | bool | None) -> float:
    return math.nan if value is None else float(value)


def _clean(estimate: statistics.Estimate) -> dict[str, Any]:
    """Nine places: the last bits differ between machines."""
    return {
        name: round(value, 9) if isinstance(value, float) else value
        for name, value in dataclasses.asdict(estimate).items()
    }
