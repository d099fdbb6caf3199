"""Connected components in SQL, in a number of rounds that grows with the logarithm of the longest path.

FastSV (Zhang, Azad, Hu 2020): every node points at the smallest number seen; each round hooks pointers of
neighbours' grandparents onto it and shortens the way. All updates are minima, so the result has no order.
"""

from __future__ import annotations


def components(name: str, nodes: str, edges: str) -> str:
    """Two common table expressions for WITH RECURSIVE: `<name>_edge(u, v)` and `<name>(node, root)`.

    Args:
        name: name of the table expression; `root` is the smallest node of the component.
        nodes: SELECT of one BIGINT column `node`, without repeats; it must hold both ends of every edge.
        edges: SELECT of two BIGINT columns `u`, `v`; one direction is enough.
    """
    # `least` is grouped before it meets `seen` again: in one three-way join the planner may join nodes by `<`
    # first, which is quadratic.
    return f"""
    {name}_edge AS MATERIALIZED (
        SELECT u, v FROM ({edges}) WHERE u <> v UNION SELECT v, u FROM ({edges}) WHERE u <> v),
    {name}(node, root) USING KEY (node) AS (
        SELECT node, node FROM ({nodes})
        UNION
        (WITH seen AS MATERIALIZED (
            SELECT a.node, a.root, b.root AS above
            FROM recurring.{name} AS a JOIN recurring.{name} AS b ON b.node = a.root),
        least AS (
            SELECT e.u AS node, min(s.above) AS above FROM {name}_edge AS e JOIN seen AS s ON s.node = e.v
            GROUP BY e.u),
        lower AS MATERIALIZED (
            SELECT s.node, s.root, l.above FROM seen AS s JOIN least AS l ON l.node = s.node
            WHERE l.above < s.root),
        offered AS (
            SELECT root AS node, above AS root FROM lower
            UNION ALL SELECT node, above FROM lower
            UNION ALL SELECT node, above FROM seen WHERE above < root)
        SELECT o.node, min(o.root) FROM offered AS o JOIN recurring.{name} AS c ON c.node = o.node
        WHERE o.root < c.root GROUP BY o.node))"""


def stars(table: str, node: str, item: str) -> str:
    """Edges between nodes that share an item: each to the smallest node on it, not to each other."""
    return (
        f"SELECT DISTINCT u, v FROM (SELECT {node} AS u, min({node}) OVER (PARTITION BY {item}) AS v"
        f" FROM {table}) WHERE u <> v"
    )
