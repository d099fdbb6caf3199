"""SQL of groups and splits: queries of a task that share a key are in one split.

New queries may chain a published test group to a published dev group: the fewer of those that touch one of
the two are dropped. Other groups go to dev in the order of a hash until its share is reached.
"""

from __future__ import annotations

from curation.partition.components_sql import components

LARGE = 50
"""A group of more than 1/50 of its task stays in test, but for small groups of small tasks."""
FEW = 5
"""A group of as many queries may go to dev if it takes at most half of the room there."""

_KEPT = """
    kept AS MATERIALIZED (
        SELECT c.number, c.task, c.split FROM candidates AS c
        ANTI JOIN barred AS b ON b.number = c.number ANTI JOIN beaten AS l ON l.number = c.number)"""


def _edges(rests: str) -> str:
    return (
        f"SELECT DISTINCT r.number AS u, m.v FROM {rests} AS r JOIN (SELECT dimension, key, min(number) AS v"
        f" FROM {rests} GROUP BY dimension, key HAVING count(*) > 1) AS m"
        " ON m.dimension = r.dimension AND m.key = r.key WHERE r.number <> m.v"
    )


TORN = f"""
    WITH RECURSIVE {_KEPT},
    new AS MATERIALIZED (SELECT number, task FROM kept WHERE split IS NULL),
    loose AS MATERIALIZED (
        SELECT r.number, r.dimension, r.key FROM rests AS r JOIN new AS n ON n.number = r.number
        ANTI JOIN held AS h ON h.dimension = r.dimension AND h.key = r.key
        WHERE EXISTS (SELECT 1 FROM held)),
    tied AS MATERIALIZED (
        SELECT n.number, min(h.split) AS split, min_by(h.dimension, (h.dimension, h.key)) AS dimension,
            min_by(h.key, (h.dimension, h.key)) AS key,
            min_by(h.task || '/' || h.split || ' ' || h.query_id, (h.dimension, h.key)) AS holder
        FROM new AS n JOIN rests AS r ON r.number = n.number
        JOIN held AS h ON h.dimension = r.dimension AND h.key = r.key GROUP BY n.number),
    {components("chain", "SELECT number AS node FROM new", _edges("loose"))},
    sides AS (
        SELECT c.root, count(*) FILTER (split = 'test') AS test, count(*) FILTER (split = 'dev') AS dev
        FROM chain AS c JOIN tied AS t ON t.number = c.node GROUP BY c.root)
    SELECT t.number, 'overlap_other_split' AS reason, t.dimension, t.key,
        t.dimension || ' ' || t.key || ' is held by ' || t.holder || ', other keys by the other split'
            AS detail
    FROM chain AS c JOIN tied AS t ON t.number = c.node JOIN sides AS s ON s.root = c.root
    WHERE s.test > 0 AND s.dev > 0 AND t.split = CASE WHEN s.test < s.dev THEN 'test' ELSE 'dev' END"""

GROUPS = f"""
    WITH RECURSIVE {_KEPT},
    stay AS MATERIALIZED (SELECT k.* FROM kept AS k ANTI JOIN torn AS t ON t.number = k.number),
    firm AS MATERIALIZED (SELECT r.* FROM rests AS r JOIN stay AS s ON s.number = r.number),
    {components("together", "SELECT number AS node FROM stay", _edges("firm"))},
    bond AS (
        SELECT number, split FROM stay WHERE split IS NOT NULL
        UNION ALL
        SELECT f.number, h.split FROM firm AS f
        JOIN held AS h ON h.dimension = f.dimension AND h.key = f.key),
    bound AS (
        SELECT g.root, min(b.split) AS split FROM together AS g JOIN bond AS b ON b.number = g.node
        GROUP BY g.root)
    SELECT g.node AS number, g.root AS "group", b.split FROM together AS g
    LEFT JOIN bound AS b ON b.root = g.root"""


def assignments(dev_parts: int) -> str:
    """The split of every kept query.

    Args:
        dev_parts: millionths of a task's queries that go to dev.
    """
    room = f"(n * {dev_parts} // 1000000 - dev)"
    return f"""
    WITH member AS MATERIALIZED (
        SELECT g.number, g."group", g.split, c.task, c.query_id, c.since,
            count(*) OVER (PARTITION BY c.task) AS n,
            count(*) OVER (PARTITION BY g."group") AS size,
            count(*) FILTER (g.split = 'dev') OVER (PARTITION BY c.task) AS dev
        FROM groups AS g JOIN candidates AS c ON c.number = g.number),
    drawn AS (
        SELECT "group", sum(size) OVER (
            PARTITION BY task ORDER BY "group" ROWS UNBOUNDED PRECEDING
        ) <= {room} AS is_dev
        FROM member WHERE number = "group" AND split IS NULL
            AND (size = 1 OR size * {LARGE} <= n OR (size <= {FEW} AND size * 2 <= {room}))),
    named AS (SELECT "group", min(query_id) AS name FROM member GROUP BY "group")
    SELECT m.task, m.query_id, m.since, a.name AS "group",
        coalesce(m.split, CASE WHEN d.is_dev THEN 'dev' ELSE 'test' END) AS split
    FROM member AS m JOIN named AS a ON a."group" = m."group"
    LEFT JOIN drawn AS d ON d."group" = m."group\""""
