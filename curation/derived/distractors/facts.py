"""Numbers on distractors and on what the corpus is made of, from the published files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curation.derived.distractors.bands import BANDS, COUNTED
from curation.published.query import QueryRunner, columns_of, fetch, fetch_one
from schemas.tables import CORPUS, DISTRACTORS, ORIGIN_CORPUS

_MOST = 15
"""Values of a facet that are named; the others are summed up."""
_FACETS = ("specialty", "domain", "body_system", "genre")
"""By which documents are counted; a release made before there was one of them lacks it."""
_VALUES = """
    SELECT coalesce("{facet}", '') AS value, count(*) AS documents FROM provenance_corpus
    GROUP BY 1 ORDER BY 2 DESC, 1"""
_WHOLE = """
    SELECT count(*) AS pairs, count(DISTINCT "query-id") AS queries, coalesce(max(rank), 0) AS most
    FROM distractors"""
_MATCHED = """
    SELECT array_to_string(matched, ', ') AS matched, count(*) AS pairs,
           count(DISTINCT "query-id") AS queries
    FROM distractors GROUP BY 1 ORDER BY 2 DESC, 1"""


def facts(directory: Path, query: QueryRunner) -> dict[str, Any]:
    """What a card says of the corpus and its distractors.

    Keys: `composition`: facet -> rows (value, documents), the 15 most frequent of each and
    then one with value None for all others, length bands from short to long; `distractors`: pairs, queries,
    most per query and `matched` (rows matched, pairs, queries), None where there are none.
    """
    views = {table.name: table.files(directory) for table in (CORPUS, ORIGIN_CORPUS, DISTRACTORS)}
    bands = fetch(query, COUNTED, {"corpus": views["corpus"]})
    origins = {"provenance_corpus": views["provenance_corpus"]}
    there = columns_of(query, origins, "provenance_corpus")
    facets = [name for name in _FACETS if name in there]
    found: dict[str, Any] = {
        "composition": {
            "length band": sorted(bands, key=lambda row: BANDS.index(row["value"])),
            **{
                name.replace("_", " "): _shortened(fetch(query, _VALUES.format(facet=name), origins))
                for name in facets
            },
        },
        "distractors": None,
    }
    if views["distractors"]:
        listed = {"distractors": views["distractors"]}
        found["distractors"] = fetch_one(query, _WHOLE, listed) | {"matched": fetch(query, _MATCHED, listed)}
    return found


def _shortened(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first rows, the others as one."""
    if len(rows) <= _MOST + 1:
        return rows
    return [*rows[:_MOST], {"value": None, "documents": sum(row["documents"] for row in rows[_MOST:])}]
