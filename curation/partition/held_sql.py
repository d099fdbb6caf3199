"""SQL of what earlier releases bind: keys held for good, withheld positives, queries out before any contest.

A key once published in one split of one task never serves another one, whether its query is still there or
not: whoever holds two releases would otherwise find a dev query of one among the test queries of the other.
"""

from __future__ import annotations

_RECORDED = """
    recorded AS MATERIALIZED (
        SELECT DISTINCT p.task, p.query_id, f.split, f.since, f."order", p.dimension,
            CASE WHEN p.dimension = 'target_concept' THEN coalesce(c.canonical, p.key) ELSE p.key END AS key
        FROM published AS p
        JOIN (SELECT task, query_id, arg_min(split, "order") AS split, arg_min(since, "order") AS since,
            min("order") AS "order" FROM published GROUP BY ALL) AS f
            ON f.task = p.task AND f.query_id = p.query_id
        LEFT JOIN canonical AS c ON c.concept = p.key)"""
"""Published keys under today's names; a query counts as published where it first was."""


def _oldest(table: str) -> str:
    row = "{task: task, split: split, query_id: query_id, since: since}"
    return (
        f'SELECT dimension, key, arg_min({row}, ("order", query_id, task)) AS h FROM {table}'
        " GROUP BY dimension, key"
    )


HELD = f"""
    WITH {_RECORDED},
    holder AS MATERIALIZED ({_oldest("recorded")}),
    withdrawn AS (
        SELECT DISTINCT r.task, r.query_id FROM recorded AS r JOIN holder USING (dimension, key)
        WHERE h.task <> r.task OR h.split <> r.split),
    present AS MATERIALIZED (
        SELECT number, task, query_id, split, since, "order" FROM candidates AS c
        ANTI JOIN withdrawn AS w ON w.task = c.task AND w.query_id = c.query_id
        WHERE split IS NOT NULL AND NOT is_left_out),
    by_document AS MATERIALIZED (
        SELECT p.*, q.corpus_id, d.dimension, d.key
        FROM present AS p JOIN positives AS q ON q.number = p.number
        JOIN of_documents AS d ON d.task = q.task AND d.corpus_id = q.corpus_id),
    clash AS (
        SELECT DISTINCT b.number, b.corpus_id FROM by_document AS b JOIN holder USING (dimension, key)
        WHERE h.task <> b.task OR h.split <> b.split),
    gaining AS (
        SELECT p.*, o.dimension, o.key FROM present AS p JOIN own AS o ON o.number = p.number
        UNION
        SELECT b.* EXCLUDE (corpus_id) FROM by_document AS b
        ANTI JOIN clash AS c ON c.number = b.number AND c.corpus_id = b.corpus_id),
    gained AS (
        SELECT * FROM gaining AS g ANTI JOIN holder AS o ON o.dimension = g.dimension AND o.key = g.key)
    SELECT dimension, key, h.task AS task, h.split AS split, h.query_id AS query_id, h.since AS since,
        false AS is_gained FROM holder
    UNION ALL
    SELECT dimension, key, h.task, h.split, h.query_id, h.since, true FROM ({_oldest("gained")})"""
"""Holders of recorded keys, and of keys that published queries rest on since this build.

The oldest published query holds a key. What a withdrawn query, or a positive that will be withheld, rests on
gains nothing.
"""

_HOLDER = "h.task || '/' || h.split || ' ' || h.query_id"

WITHHELD = f"""
    SELECT p.task, p.query_id, q.corpus_id, min_by(h.dimension, (h.dimension, h.key)) AS dimension,
        min_by(h.key, (h.dimension, h.key)) AS key, min_by({_HOLDER}, (h.dimension, h.key)) AS holder
    FROM candidates AS p JOIN positives AS q ON q.number = p.number
    JOIN of_documents AS d ON d.task = q.task AND d.corpus_id = q.corpus_id
    JOIN held AS h ON h.dimension = d.dimension AND h.key = d.key
    WHERE p.split IS NOT NULL AND NOT p.is_left_out AND (h.task <> p.task OR h.split <> p.split)
    GROUP BY p.task, p.query_id, q.corpus_id"""
"""Positives of published queries that rest on what another task or split holds."""

_COUNTED = """
    counted AS (
        SELECT q.*, w.task IS NOT NULL AS is_withheld FROM positives AS q
        JOIN candidates AS c ON c.number = q.number
        LEFT JOIN withheld AS w
            ON w.task = q.task AND w.query_id = c.query_id AND w.corpus_id = q.corpus_id)"""

RESTS = f"""
    WITH {_COUNTED}
    SELECT number, dimension, key FROM own
    UNION
    SELECT q.number, d.dimension, d.key FROM counted AS q
    JOIN of_documents AS d ON d.task = q.task AND d.corpus_id = q.corpus_id WHERE NOT q.is_withheld"""
"""What every query rests on, positives included unless they are withheld."""

_SAID = f"""dimension || ' ' || key || ' is held by ' || {_HOLDER}
            || CASE WHEN h.since = '' THEN '' ELSE ', published in ' || h.since END"""

BARRED = f"""
    WITH {_RECORDED}, {_COUNTED},
    bound AS (
        SELECT number, dimension, key FROM rests
        UNION
        SELECT c.number, r.dimension, r.key FROM recorded AS r
        JOIN candidates AS c ON c.task = r.task AND c.query_id = r.query_id),
    met AS MATERIALIZED (
        SELECT c.number, c.task, c.split, c.since, dimension, key, h.task AS holder, h.split AS held_split,
            {_SAID} AS said
        FROM bound JOIN held AS h USING (dimension, key) JOIN candidates AS c ON c.number = bound.number
        WHERE NOT c.is_left_out AND (
            h.task <> c.task OR c.split IS NULL OR h.split <> c.split)),
    bare AS (SELECT number FROM counted GROUP BY number HAVING bool_and(is_withheld)),
    out AS (
        SELECT number, 0 AS rank, 'named_in_spec' AS reason, '' AS dimension, '' AS key,
            'the spec leaves it out' AS detail FROM candidates WHERE is_left_out
        UNION ALL
        SELECT number, 1, 'overlap_withdrawn', dimension, key,
            'published in ' || since || ' as ' || task || '/' || split || '; ' || said
        FROM met WHERE split IS NOT NULL
        UNION ALL
        SELECT number, 2, 'overlap_withdrawn', '', '', 'every positive rests on what is held elsewhere'
        FROM bare
        UNION ALL
        SELECT number, 3, 'overlap_other_task', dimension, key, said FROM met
        WHERE split IS NULL AND holder <> task
        UNION ALL
        SELECT number, 4, 'overlap_other_split', min_by(dimension, (held_split, dimension, key)),
            min_by(key, (held_split, dimension, key)),
            min_by(said, (held_split, dimension, key)) || '; '
                || max_by(said, (held_split, dimension, key))
        FROM met WHERE split IS NULL AND holder = task GROUP BY number
        HAVING count(DISTINCT held_split) > 1)
    SELECT * EXCLUDE (rank) FROM out
    QUALIFY row_number() OVER (PARTITION BY number ORDER BY rank, dimension, key) = 1"""
"""Queries named in the spec, withdrawn ones, new ones that rest on what is held elsewhere."""
