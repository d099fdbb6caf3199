"""What each search that found pairs for the judge scores with and without the positives it alone found.

Measured at the ranks it found them at. Labels favour whoever found the documents to be judged. A search that
is no system of `evaluate` has no run; its ranks stand in `found_by`. They end where mining ended, so nothing
takes the place of what is left out.
"""

from __future__ import annotations

from typing import Any

from curation.published.query import QueryRunner, Views, fetch
from schemas.judged_tables import JUDGEMENTS

_DEPTH = 10
_PLACES = 4
_SYSTEM = "regexp_replace(one, ':[^:]*:[^:]*$', '')"
_MINERS = f"""
    WITH hits AS (
        SELECT "query-id" AS q, "corpus-id" AS c, {_SYSTEM} AS system, split_part(one, ':', -2) AS view,
            CAST(split_part(one, ':', -1) AS BIGINT) AS rank
        FROM (SELECT "query-id", "corpus-id", unnest(found_by) AS one FROM {JUDGEMENTS.name})
        WHERE contains(one, ':')),
    positives AS (
        SELECT r."query-id" AS q, r."corpus-id" AS c, r.score,
            list_distinct(list_transform(found_by, lambda one: {_SYSTEM})) AS by
        FROM qrels AS r LEFT JOIN {JUDGEMENTS.name} AS j
            ON j."query-id" = r."query-id" AND j."corpus-id" = r."corpus-id" WHERE r.score > 0),
    searches AS (SELECT DISTINCT system, view FROM hits),
    told AS (SELECT s.system, s.view, p.*, coalesce(p.by = [s.system], false) AS is_own
        FROM searches AS s, positives AS p),
    moved AS (
        SELECT h.*, t.score, coalesce(t.is_own, false) AS is_own, h.rank - count(*) FILTER (t.is_own) OVER (
            PARTITION BY h.system, h.view, h.q ORDER BY h.rank ROWS UNBOUNDED PRECEDING) AS moved
        FROM hits AS h LEFT JOIN told AS t
            ON t.system = h.system AND t.view = h.view AND t.q = h.q AND t.c = h.c),
    gains AS (
        SELECT system, view, q, sum(score / log2(rank + 1)) FILTER (rank <= {_DEPTH}) AS whole,
            sum(score / log2(moved + 1)) FILTER (NOT is_own AND moved <= {_DEPTH}) AS rest
        FROM moved WHERE score IS NOT NULL GROUP BY ALL),
    placed AS (
        SELECT *, row_number() OVER (PARTITION BY system, view, q ORDER BY score DESC, c) AS place,
            row_number() OVER (PARTITION BY system, view, q, is_own ORDER BY score DESC, c) AS apart
        FROM told),
    ideals AS (
        SELECT system, view, q, count(*) FILTER (is_own) AS own, count(*) FILTER (NOT is_own) AS kept,
            sum(score / log2(place + 1)) FILTER (place <= {_DEPTH}) AS whole,
            sum(score / log2(apart + 1)) FILTER (NOT is_own AND apart <= {_DEPTH}) AS rest
        FROM placed GROUP BY ALL)
    SELECT i.system, i.view, count(*) FILTER (kept > 0) AS queries, CAST(sum(own) AS BIGINT) AS left_out,
        round(avg(coalesce(g.whole, 0) / i.whole) FILTER (kept > 0), {_PLACES}) AS before,
        round(avg(coalesce(g.rest, 0) / i.rest) FILTER (kept > 0), {_PLACES}) AS mean
    FROM ideals AS i LEFT JOIN gains AS g ON g.system = i.system AND g.view = i.view AND g.q = i.q
    GROUP BY ALL ORDER BY ALL"""
"""nDCG at ten of each search, over the queries that keep a positive. What a source cited has no rank."""


def miner_facts(query: QueryRunner, given: Views) -> dict[str, Any]:
    """`miners`: rows of system, view, queries, left_out, before and mean; none where nothing was mined."""
    return {"miners": fetch(query, _MINERS, given) if JUDGEMENTS.name in given else []}
