"""Numbers on pools and hard negatives, from the published files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curation.published.query import QueryRunner, fetch, fetch_one
from schemas.tables import HARD_NEGATIVES, POOL_CHECKSUMS, POOLS, TOP_RANKED

_KINDS = """
    SELECT split, kind, count(*) AS pairs, count(DISTINCT "query-id") AS queries FROM pools
    GROUP BY split, kind ORDER BY split = 'test' DESC, split, kind"""
_SIZES = """
    SELECT count(*) AS queries, coalesce(min(candidates), 0) AS smallest,
           coalesce(quantile_disc(candidates, 0.5), 0) AS median, coalesce(max(candidates), 0) AS largest,
           coalesce(sum(candidates), 0)::BIGINT AS pairs FROM pool_checksums"""
_SAFEGUARDED = """
    SELECT count(*) AS positives, count(*) FILTER (len(systems) = 0) AS safeguarded
    FROM pools WHERE kind = 'positive'"""
_SYSTEMS = """
    SELECT s.system AS system, max(s.rank) AS depth, count(*) AS pairs,
           count(*) FILTER (alone) AS found_alone, count(*) FILTER (kind = 'positive') AS positives
    FROM (SELECT kind, len(systems) = 1 AS alone, unnest(systems) AS s FROM pools)
    GROUP BY s.system ORDER BY s.system"""
_HARD = """
    SELECT count(*) AS pairs, count(DISTINCT "query-id") AS queries,
           coalesce(max(rank), 0) AS most FROM hard_negatives"""


def facts(directory: Path, query: QueryRunner) -> dict[str, Any] | None:
    """What a card says of pools; None when the release has none.

    Keys: `sizes` (candidates per query), `kinds` (pairs and queries by split and kind), `positives` (how
    many, and how many no system found), `systems` (depth, pairs, pairs no other system found, positives
    found), `hard_negatives` (pairs, queries, most per query).
    """
    tables = (POOLS, POOL_CHECKSUMS, TOP_RANKED, HARD_NEGATIVES)
    views = {table.name: table.files(directory) for table in tables}
    if not all(views.values()):
        return None
    return {
        "sizes": fetch_one(query, _SIZES, views),
        "kinds": fetch(query, _KINDS, views),
        "positives": fetch_one(query, _SAFEGUARDED, views),
        "systems": fetch(query, _SYSTEMS, views),
        "hard_negatives": fetch_one(query, _HARD, views),
    }
