"""Writes the diagnostics table of one split, and reads what is told beside it (systems, reasons)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.derived.diagnostics.conditions import CONDITIONS, PLACES, Values, needs
from curation.derived.diagnostics.scores import ShortcutValues
from curation.derived.diagnostics.shortcuts import SHORTCUTS
from curation.evaluation.collection import Collection
from curation.published.writer import write_table
from schemas.tables import DIAGNOSTICS

NOTES = "runs/diagnostics.json"
"""Beside the run files: which systems gave the conditions, and why something was not run."""
_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """What was found of the measured queries, in their order.

    `conditions` has every name of CONDITIONS; NaN is not run. `solvable` is None when BM25 was not run.
    """

    queries: tuple[str, ...]
    conditions: Mapping[str, Values]
    solvable: NDArray[np.bool_] | None
    candidates: NDArray[np.int64]
    shortcuts: ShortcutValues


def write_diagnostics(collection: Collection, found: Diagnosed, directory: Path) -> int:
    """Write one row per query of the split, nulls where it has no relevant document; returns the rows."""
    return write_table(DIAGNOSTICS, _chunks(collection, found), directory, split=collection.split)


def _chunks(collection: Collection, found: Diagnosed) -> Iterator[pa.Table]:
    rounded = {name: np.round(found.conditions[name], PLACES) for name in CONDITIONS}
    needed = needs(rounded["text_only"], rounded["image_only"], rounded["text_and_image"])
    places = {query: place for place, query in enumerate(found.queries)}
    for start in range(0, len(collection.queries), _ROWS):
        held = [
            _row(query.id, places.get(query.id), found, rounded, needed)
            for query in collection.queries[start : start + _ROWS]
        ]
        yield pa.Table.from_pylist(held, schema=DIAGNOSTICS.schema)


def _row(
    query: str, place: int | None, found: Diagnosed, rounded: Mapping[str, Values], needed: list[str]
) -> dict[str, Any]:
    if place is None:
        blank: dict[str, Any] = dict.fromkeys((*CONDITIONS, "bm25_solvable", "chance", "chance_first"))
        return {
            "query-id": query,
            "needs": "",
            "candidates": 0,
            "shortcuts": [],
            "shortcut_scores": [],
            **blank,
        }
    tried = found.shortcuts
    scores = [
        {"shortcut": name, "ndcg": _number(tried.values[name][place])}
        for name in SHORTCUTS
        if name in tried.values and not np.isnan(tried.values[name][place])
    ]
    return {
        "query-id": query,
        **{name: _number(rounded[name][place]) for name in CONDITIONS},
        "needs": needed[place],
        "bm25_solvable": None if found.solvable is None else bool(found.solvable[place]),
        "candidates": int(found.candidates[place]),
        "chance": _number(tried.chance[place]),
        "chance_first": _number(tried.chance_first[place]),
        "shortcuts": [name for name in SHORTCUTS if name in tried.first and tried.first[name][place]],
        "shortcut_scores": scores,
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), PLACES)


def write_notes(directory: Path, split: str, notes: Mapping[str, Any]) -> None:
    """Add what is told of one split."""
    path = directory / NOTES
    path.parent.mkdir(parents=True, exist_ok=True)
    held = {**read_notes(directory), split: notes}
    text = json.dumps(held, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def read_notes(directory: Path) -> dict[str, Any]:
    """What is told of each split, nothing when no diagnostics were made."""
    path = directory / NOTES
    held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return held
