"""Defects that the rules on diagnostics must find, and the diagnostics of the invented release."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.rule import Canary, Rows
from curation.audit.rules.planting import GONE, table_file

_TABLE = "diagnostics"


def invented_row(query: str) -> dict[str, Any]:
    """Diagnostics of a query with one positive of grade 2 among three candidates."""
    return {
        "query-id": query,
        "text_only": 1.0,
        "image_only": 0.63093,
        "text_and_image": 1.0,
        "shuffled_image": 0.63093,
        "caption_for_image": None,
        "needs": "text",
        "bm25_solvable": True,
        "candidates": 3,
        "chance": 0.71031,
        "chance_first": 0.333333,
        "shortcuts": [],
        "shortcut_scores": [{"shortcut": "length/longest", "ndcg": 0.5}],
    }


def _changed(at: int, **values: Any) -> Callable[[Rows, Rows], Sequence[str] | None]:
    """Some cells of one row set; the rule must name its query."""

    def plant(rows: Rows, second: Rows) -> Sequence[str] | None:
        if not rows[_TABLE]:
            return None
        row = rows[_TABLE][min(at, len(rows[_TABLE]) - 1)]
        row.update(values)
        return [str(row["query-id"])]

    return plant


def _lost(rows: Rows, second: Rows) -> Sequence[str] | None:
    return [str(rows[_TABLE].pop()["query-id"])] if rows[_TABLE] else None


def _twice(rows: Rows, second: Rows) -> Sequence[str] | None:
    if not rows[_TABLE]:
        return None
    rows[_TABLE].append(dict(rows[_TABLE][0]))
    return [str(rows[_TABLE][0]["query-id"])]


def _other_run(directory: Path) -> Sequence[str] | None:
    """A BM25 run that finds one unlabelled document for a query that is said to be solved."""
    path = table_file(directory, _TABLE)
    if path is None or not pq.read_metadata(path).num_rows:
        return None
    table = pq.read_table(path)
    place = table.column_names.index("bm25_solvable")
    solved = pa.array([True, *table.column(place).to_pylist()[1:]], pa.bool_())
    pq.write_table(table.set_column(place, table.schema.field(place), solved), path)
    query = table.column("query-id")[0].as_py()
    run = directory / "runs" / path.name.split("-")[0] / "bm25.trec.gz"
    run.parent.mkdir(parents=True, exist_ok=True)
    run.write_bytes(gzip.compress(f"{query} Q0 canary:unjudged 1 9.5 bm25\n".encode(), mtime=0))
    return [query]


_MEASURED = {"text_only": 0.2, "image_only": 0.2, "text_and_image": 0.9}
FIT = (
    Canary("diagnostics of a query that is not published", _changed(0, **{"query-id": GONE})),
    Canary("a query without diagnostics", _lost),
    Canary("a query with two rows", _twice),
    Canary("an nDCG above 1", _changed(1, text_only=1.5)),
    Canary(
        "a shortcut's nDCG below 0",
        _changed(0, shortcut_scores=[{"shortcut": "length/longest", "ndcg": -0.1}]),
    ),
    Canary(
        "an unknown shortcut",
        _changed(2, candidates=3, shortcut_scores=[{"shortcut": "canary", "ndcg": 0.5}]),
    ),
    Canary("a shortcut first that was not measured", _changed(3, shortcuts=["canary"])),
    Canary(
        "a shortcut without chance",
        _changed(
            4,
            chance=None,
            chance_first=None,
            shortcuts=[],
            shortcut_scores=[{"shortcut": "length/longest", "ndcg": 0.5}],
        ),
    ),
)
NEEDS = (
    Canary("a query that needs both said to need text", _changed(0, needs="text", **_MEASURED)),
    Canary(
        "a need where an image was not tried", _changed(1, needs="text", image_only=None, text_and_image=None)
    ),
    Canary("both without one of the two", _changed(2, needs="", image_only=None, text_and_image=0.5)),
    Canary(
        "another image without the image itself",
        _changed(3, needs="", text_and_image=None, shuffled_image=0.5),
    ),
)
VALUES = (
    Canary("chance put too high", _changed(0, candidates=50, chance=0.99, chance_first=0.02)),
    Canary("a first place by chance put too high", _changed(1, candidates=50, chance_first=0.9, chance=0.1)),
    Canary("a query solved that the run does not solve", files=_other_run),
)
