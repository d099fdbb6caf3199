"""SQL of the lot: which task gets an article that several could ask about as a whole.

A contest by worth would give articles with many figures to the task that makes a query of each figure, and
the others to the task that makes one of the article: the two would then hold articles of different kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.partition.keys_sql import article_key, literal

SINCE = 5
"""Version of the partition that draws articles first."""
_TURN = 1_000_000_000_000
"""Turns are counted in parts of this size, so that whole numbers tell which comes first."""


def drawn(tasks: Sequence[str], weights: Mapping[str, int]) -> str:
    """Queries that lose their article by lot.

    Articles that free queries of all these tasks are made from are sorted by stratum (how many queries each
    task has there, the article's domain and specialty, MD5 of its key) and dealt to the tasks in turn, by
    weight: every stratum is shared out as evenly as whole articles can be.

    Args:
        tasks: those that draw articles; fewer than two draw nothing.
        weights: millionths, for every task.
    """
    turns = ", ".join(f"({literal(task)}, {weights[task]})" for task in sorted(tasks)) or "('', 1)"
    return f"""
    WITH turn(task, weight) AS (VALUES {turns}),
    free AS MATERIALIZED (
        SELECT c.number, c.task, {article_key("c.article_id")} AS article, c.article_id FROM candidates AS c
        ANTI JOIN barred AS b ON b.number = c.number
        WHERE c.split IS NULL AND c.article_id <> '' AND c.task IN (SELECT task FROM turn)),
    told AS (
        SELECT {article_key("article_id")} AS article, max_by(domain, id) AS domain,
            max_by(coalesce(specialties[1], ''), id) AS specialty
        FROM labels WHERE unit = 'article' GROUP BY ALL),
    sized AS (
        SELECT article, task, CASE WHEN count(*) < 3 THEN count(*) WHEN count(*) < 5 THEN 3
            WHEN count(*) < 9 THEN 5 ELSE 9 END AS band
        FROM free GROUP BY ALL),
    dealt AS (
        SELECT s.article, row_number() OVER (
                ORDER BY list(s.band ORDER BY s.task), any_value(coalesce(t.domain, '')),
                    any_value(coalesce(t.specialty, '')), md5(s.article), s.article) AS place
        FROM sized AS s LEFT JOIN told AS t ON t.article = s.article
        GROUP BY s.article HAVING count(*) = (SELECT count(*) FROM turn) AND count(*) > 1),
    rounds AS (
        SELECT task, row_number() OVER (
            ORDER BY (2 * round + 1)::HUGEINT * {_TURN} // weight, task) AS place
        FROM turn CROSS JOIN range((SELECT count(*) FROM dealt)) AS r(round)),
    winner AS (SELECT d.article, r.task FROM dealt AS d JOIN rounds AS r ON r.place = d.place)
    SELECT f.number, 'overlap_other_task' AS reason, 'article' AS dimension, f.article AS key,
        'article ' || f.article || ' goes to ' || w.task || ' by lot' AS detail
    FROM free AS f JOIN winner AS w ON w.article = f.article WHERE f.task <> w.task"""
