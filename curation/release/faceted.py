"""What a card says of the facets of its queries: how many have each value, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.labels.floors import FLOORS
from curation.published.query import QueryRunner, fetch

_FACETS = ("specialty", "domain", "body_system", "modality", "region")
_VALUES = """SELECT {facet} AS value, count(*) AS queries{sure} FROM queries GROUP BY {facet}
    ORDER BY {facet} = '', queries DESC, {facet}"""
_SURE = ", round(avg({facet}_confidence), 2) AS sure, count(*) FILTER ({facet}_confidence > 0) AS below"


def facet_facts(query: QueryRunner, given: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """`facets`: by facet its values, with `queries` and mean confidence `sure` (None without such a column).

    `undecided` are queries without a value, `below` those of them that were decided below the `floor`.

    Args:
        query: runs SQL over Parquet.
        given: the release's tables; a facet that they have no column for is left out.
    """
    held = set(pq.read_schema(given["queries"][0]).names)
    found: dict[str, Any] = {}
    for facet in (name for name in _FACETS if name in held):
        floor = FLOORS.get(facet) if f"{facet}_confidence" in held else None
        sure = _SURE.format(facet=facet) if floor is not None else ", NULL AS sure, 0 AS below"
        rows = fetch(query, _VALUES.format(facet=facet, sure=sure), {"queries": given["queries"]})
        values = [{name: row[name] for name in ("value", "queries", "sure")} for row in rows if row["value"]]
        rest = next((row for row in rows if not row["value"]), {"queries": 0, "below": 0})
        if values or rest["below"]:
            found[facet] = {
                "values": values,
                "undecided": rest["queries"],
                "below": rest["below"],
                "floor": floor,
            }
    return {"facets": found}
