"""Reads back what earlier releases published, so that the partition leaves it where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curation.partition.keys_sql import literal


@dataclass(frozen=True, slots=True)
class PublishedTask:
    """One task directory of an earlier release, as two views: `keys_<number>` and `queries_<number>`.

    The views are its files provenance/keys and provenance/queries. `order` is the position of the release
    among all releases of the dataset, 0 for the oldest.
    """

    number: int
    task: str
    version: str
    order: int


def published_rows(releases: Sequence[PublishedTask]) -> str:
    """SELECT of `PublishedKey` rows, unique by (task, query_id, dimension, key), from views of those names.

    A query counts as published where it first was: its oldest split stands.
    """
    if not releases:
        return (
            "SELECT '' AS task, '' AS query_id, '' AS split, '' AS since, '' AS dimension, '' AS key,"
            ' 0::BIGINT AS "order" WHERE false'
        )
    every = "\n        UNION ALL ".join(
        f'SELECT {literal(one.task)} AS task, k."query-id" AS query_id, q.split,'
        f" CASE WHEN coalesce(q.since, '') = '' THEN {literal(one.version)} ELSE q.since END AS since,"
        f' k.dimension, k.key, {one.order}::BIGINT AS "order"'
        f' FROM keys_{one.number} AS k JOIN queries_{one.number} AS q ON q.id = k."query-id"'
        for one in releases
    )
    return f"""
    WITH every AS ({every}),
    birth AS (
        SELECT task, query_id, arg_min(split, "order") AS split, arg_min(since, "order") AS since,
            min("order") AS "order" FROM every GROUP BY task, query_id)
    SELECT b.task, b.query_id, b.split, b.since, e.dimension, e.key, b."order"
    FROM (SELECT DISTINCT task, query_id, dimension, key FROM every) AS e
    JOIN birth AS b ON b.task = e.task AND b.query_id = e.query_id"""
