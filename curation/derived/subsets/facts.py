"""Numbers on the nano variant and the balanced subsets, from the published files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curation.derived.subsets.balance import FACETS
from curation.published.query import QueryRunner, fetch, fetch_one
from schemas.tables import NANO, QUERIES, SUBSETS

_NANO = """
    SELECT (SELECT count(*) FROM nano_queries) AS queries, (SELECT count(*) FROM nano_corpus) AS corpus,
           (SELECT count(*) FROM nano_qrels WHERE score > 0) AS positives,
           (SELECT count(*) FROM nano_excluded) AS excluded"""
_SUBSETS = """
    SELECT subset, count(*) FILTER (kind = 'query') AS queries,
           nullif(count(*) FILTER (kind = 'document'), 0) AS documents
    FROM subsets GROUP BY subset ORDER BY subset"""
_VALUES = """
    SELECT "{facet}" AS value, count(*) AS queries FROM subsets s JOIN queries q ON q.id = s.id
    WHERE s.subset = '{facet}' AND s.kind = 'query' GROUP BY 1 ORDER BY 1"""


def facts(directory: Path, query: QueryRunner) -> dict[str, Any]:
    """What a card says of the parts of a release.

    Keys: `nano` (queries, corpus, positives, excluded) or None; `subsets`: one row each with name, queries,
    documents (None: the whole corpus) and `values`, the queries of each value of the facet it is named after.
    """
    views = {table.name: table.files(directory) for table in (*NANO, SUBSETS, QUERIES)}
    has_nano = all(views[table.name] for table in NANO)
    small = {table.name: views[table.name] for table in NANO}
    found = fetch(query, _SUBSETS, {"subsets": views["subsets"]}) if views["subsets"] else []
    for row in found:
        of = {name: views[name] for name in ("subsets", "queries")}
        facet = row["subset"]
        row["values"] = fetch(query, _VALUES.format(facet=facet), of) if facet in FACETS else []
    return {"nano": fetch_one(query, _NANO, small) if has_nano else None, "subsets": found}
