"""SQL of the contest for keys that free queries of several tasks rest on.

Kept queries are an independent set of greatest worth: no two of different tasks on one key. Queries of one
task with the same contested keys form a block, blocks connected through keys an island. Small islands are
solved exactly; large ones by votes of growing strictness (the best round, never worse than one task taking
the whole island), then improved until no block can win its keys.
"""

from __future__ import annotations

from curation.partition.components_sql import components, stars

SMALL = 12
"""Blocks up to which an island is solved exactly."""
ROUNDS = 24
"""Voting rounds on a large island."""

CONTESTED = """
    WITH free AS (
        SELECT number, task FROM candidates AS c ANTI JOIN barred AS b ON b.number = c.number
        ANTI JOIN drawn AS d ON d.number = c.number WHERE split IS NULL),
    open AS MATERIALIZED (
        SELECT f.number, f.task, r.dimension, r.key FROM rests AS r JOIN free AS f ON f.number = r.number
        ANTI JOIN held AS h ON h.dimension = r.dimension AND h.key = r.key),
    items AS (
        SELECT dimension, key, row_number() OVER (ORDER BY md5(key), dimension, key) AS item
        FROM open GROUP BY dimension, key HAVING min(task) <> max(task))
    SELECT o.number, i.item, o.dimension, o.key FROM open AS o
    JOIN items AS i ON i.dimension = o.dimension AND i.key = o.key"""

BLOCKS = """
    SELECT number, min(number) OVER (PARTITION BY task, items) AS block FROM (
        SELECT k.number, any_value(c.task) AS task, list_sort(list(k.item)) AS items
        FROM contested AS k JOIN candidates AS c ON c.number = k.number GROUP BY k.number)"""

_CORNERS = "(SELECT * FROM contested WHERE number IN (SELECT block FROM blocks))"

ISLANDS = f"""
    WITH RECURSIVE corner AS MATERIALIZED (SELECT number, item FROM {_CORNERS}),
    {components("land", "SELECT DISTINCT block AS node FROM blocks", stars("corner", "number", "item"))},
    summed AS (
        SELECT b.block, min(c.task) AS task, sum(c.worth)::BIGINT AS worth
        FROM blocks AS b JOIN candidates AS c ON c.number = b.number GROUP BY b.block)
    SELECT s.block, l.root AS island, s.task, s.worth, count(*) OVER (PARTITION BY l.root) AS blocks
    FROM summed AS s JOIN land AS l ON l.node = s.block"""


def _incidence(condition: str) -> str:
    return f"""
    tie AS MATERIALIZED (
        SELECT i.block, i.island, i.task, i.worth, k.item FROM islands AS i
        JOIN contested AS k ON k.number = i.block WHERE {condition})"""


EXACT = f"""
    WITH RECURSIVE {_incidence(f"i.blocks <= {SMALL}")},
    small AS MATERIALIZED (
        SELECT *, row_number() OVER (PARTITION BY island ORDER BY block) - 1 AS n
        FROM islands WHERE blocks <= {SMALL}),
    pair AS (SELECT DISTINCT a.block, b.block AS other FROM tie AS a
        JOIN tie AS b ON b.item = a.item AND b.task <> a.task),
    ban AS (SELECT p.block, bit_or(1::BIGINT << o.n) AS mask FROM pair AS p
        JOIN small AS o ON o.block = p.other GROUP BY p.block),
    step AS MATERIALIZED (
        SELECT s.island, s.n, s.worth, coalesce(b.mask, 0) AS mask FROM small AS s
        LEFT JOIN ban AS b ON b.block = s.block),
    search(island, n, banned, taken, total) AS (
        SELECT DISTINCT island, 0::BIGINT, 0::BIGINT, 0::BIGINT, 0::HUGEINT FROM small
        UNION ALL
        SELECT island, n, banned, max_by(taken, (total, -taken)), max(total) FROM (
            SELECT s.island, s.n + 1 AS n, s.taken + takes * (1::BIGINT << s.n) AS taken,
                s.total + takes * t.worth AS total,
                ((s.banned | (takes * t.mask)) >> (s.n + 1)) << (s.n + 1) AS banned
            FROM search AS s JOIN step AS t ON t.island = s.island AND t.n = s.n
            CROSS JOIN (VALUES (0::BIGINT), (1::BIGINT)) AS c(takes)
            WHERE takes = 0 OR (s.banned >> s.n) & 1 = 0)
        GROUP BY island, n, banned)
    SELECT s.block, s.island, s.task, s.worth, (f.taken >> s.n) & 1 = 1 AS is_kept
    FROM small AS s JOIN search AS f ON f.island = s.island AND f.n = s.blocks"""
"""Block by block, taken or not; of partial choices that ban the same later blocks only the best goes on."""

_SHIFT = (
    f"CASE WHEN round < {ROUNDS // 4} THEN 1 WHEN round < {ROUNDS // 2} THEN 2"
    f" WHEN round < {ROUNDS * 3 // 4} THEN 4 ELSE 20 END"
)
"""By how many bits an offer shrinks for every key the block lacks."""

VOTED = f"""
    WITH RECURSIVE {_incidence(f"i.blocks > {SMALL}")},
    first_offer AS (
        SELECT item, task, sum(worth // degree) AS offer, min(block) AS block FROM (
            SELECT *, count(*) OVER (PARTITION BY block) AS degree FROM tie) GROUP BY item, task),
    vote(round, item, owner) AS (
        SELECT 0, item, max_by(task, (offer, -block)) FROM first_offer GROUP BY item
        UNION ALL
        (WITH seen AS (
            SELECT v.round, v.owner, t.item, t.task, t.block, t.worth, v.owner <> t.task AS is_lost,
                sum((v.owner <> t.task)::INT) OVER (PARTITION BY t.block) AS lost
            FROM tie AS t JOIN vote AS v ON v.item = t.item WHERE v.round < {ROUNDS}),
        offers AS (
            SELECT round, item, owner, task, min(block) AS block,
                sum(worth >> least(62, ({_SHIFT}) * (lost - is_lost::INT))::INT) AS offer
            FROM seen GROUP BY ALL)
        SELECT round + 1, item, CASE
            WHEN (item >> (round % 8)) & 1 = (round // 8) % 2 THEN max_by(task, (offer, -block))
            ELSE owner END
        FROM offers GROUP BY round, item, owner)),
    tried AS (
        SELECT v.round, t.block, any_value(t.island) AS island, any_value(t.task) AS task,
            any_value(t.worth) AS worth, bool_and(v.owner = t.task) AS is_kept
        FROM tie AS t JOIN vote AS v ON v.item = t.item GROUP BY v.round, t.block
        UNION ALL
        SELECT -1, block, island, task, worth, task = first_value(task) OVER (
            PARTITION BY island ORDER BY of_task DESC, head)
        FROM (SELECT *, sum(worth) OVER (PARTITION BY island, task) AS of_task,
            min(block) OVER (PARTITION BY island, task) AS head FROM islands WHERE blocks > {SMALL})),
    best AS (
        SELECT island, max_by(round, (total, -round)) AS round FROM (
            SELECT round, island, sum(worth) FILTER (is_kept) AS total FROM tried GROUP BY round, island)
        GROUP BY island)
    SELECT block, island, task, worth, is_kept FROM tried JOIN best USING (island, round)"""
"""A block's offer for a key shrinks with every other key of it that another task has, ever more strictly;
half of the keys may change hands in a round, or two tasks would swap two keys for ever."""

CHOICES = f"""
    WITH RECURSIVE {_incidence(f"i.blocks > {SMALL}")},
    state(block, is_kept) USING KEY (block) AS (
        SELECT block, is_kept FROM voted
        UNION
        (WITH seen AS MATERIALIZED (
            SELECT t.*, s.is_kept FROM tie AS t JOIN recurring.state AS s ON s.block = t.block),
        owner AS MATERIALIZED (
            SELECT item, any_value(task) AS task, sum(worth) AS worth FROM seen WHERE is_kept GROUP BY item),
        wish AS MATERIALIZED (
            SELECT s.block, any_value(s.worth) - coalesce(sum(o.worth) FILTER (o.task <> s.task), 0) AS gain
            FROM seen AS s LEFT JOIN owner AS o ON o.item = s.item WHERE NOT s.is_kept
            GROUP BY s.block HAVING gain > 0),
        asked AS MATERIALIZED (
            SELECT s.item, s.block, s.task, w.gain FROM seen AS s JOIN wish AS w USING (block)),
        given AS (SELECT item, max_by(task, (gain, -block)) AS task FROM asked GROUP BY item),
        mover AS MATERIALIZED (
            SELECT a.block FROM asked AS a JOIN given AS g ON g.item = a.item
            GROUP BY a.block HAVING bool_and(g.task = a.task)),
        taken AS (SELECT DISTINCT a.item, a.task FROM asked AS a JOIN mover USING (block))
        SELECT block, true AS is_kept FROM mover
        UNION ALL
        SELECT DISTINCT s.block, false FROM seen AS s JOIN taken AS t ON t.item = s.item AND t.task <> s.task
        WHERE s.is_kept))
    SELECT i.block, i.island, i.task, i.worth, s.is_kept FROM state AS s
    JOIN islands AS i ON i.block = s.block
    UNION ALL
    SELECT * FROM exact"""
"""A block that is worth more than all it would displace takes its keys; the total grows with every round."""

BEATEN = """
    WITH owner AS (
        SELECT k.item, min(c.block) AS block FROM choices AS c JOIN contested AS k ON k.number = c.block
        WHERE c.is_kept GROUP BY k.item),
    loser AS (
        SELECT c.block, min(k.item) AS item FROM choices AS c JOIN contested AS k ON k.number = c.block
        JOIN owner AS o ON o.item = k.item WHERE NOT c.is_kept AND o.block IN (
            SELECT block FROM choices AS other WHERE other.task <> c.task) GROUP BY c.block)
    SELECT b.number, 'overlap_other_task' AS reason, k.dimension, k.key,
        k.dimension || ' ' || k.key || ' goes to ' || q.task || ' (' || q.query_id || ')' AS detail
    FROM loser AS l JOIN blocks AS b ON b.block = l.block
    JOIN contested AS k ON k.number = l.block AND k.item = l.item
    JOIN owner AS o ON o.item = l.item JOIN candidates AS q ON q.number = o.block
    UNION ALL
    SELECT * FROM drawn"""
