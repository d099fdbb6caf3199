"""Rules on candidate pools and hard negatives: whole, nothing excluded in them, unchanged, makers named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.audit.rule import (
    MAX_EXAMPLES,
    CannotRun,
    Collector,
    Context,
    NotApplicable,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules import pools_canaries as planted
from curation.derived.pools.checksums import corpus_digests, pool_checksum
from curation.derived.pools.make import KINDS, UNJUDGED

TABLES = ("top_ranked", "hard_negatives", "pools", "pool_checksums")
_SPLITS = ("test", "dev")
_RANKED = 'SELECT "query-id" AS q, unnest("corpus-ids") AS c FROM top_ranked'
_POOLED = 'SELECT "query-id" AS q, "corpus-id" AS c FROM pools'
_HARD = 'SELECT "query-id" AS q, "corpus-id" AS c FROM hard_negatives'
_JUDGED = 'SELECT "query-id" AS q, "corpus-id" AS c FROM qrels'
Check = tuple[str, str]
"""What is wrong, and SQL that selects one violation a row as q and c; either may be null."""


def _given(context: Context, *more: str) -> dict[str, Sequence[Path]]:
    """The files a rule reads.

    Raises:
        NotApplicable: the release has no pools. CannotRun: it has some of their tables, or lacks another.
    """
    views = context.views
    if not any(name in views for name in TABLES):
        raise NotApplicable("the files hold no candidate pools")
    absent = [name for name in (*TABLES, *more) if name not in views]
    if absent:
        raise CannotRun(f"table absent: {', '.join(absent)}")
    return {name: views[name] for name in (*TABLES, *more)}


def _number(context: Context, text: str, views: Mapping[str, Sequence[Path]]) -> int:
    found = context.query(f"SELECT count(*) AS n FROM ({text})", views)
    return int(next(iter(found)).to_pylist()[0]["n"])


def _run(
    context: Context, rule: str, views: Mapping[str, Sequence[Path]], checks: Sequence[Check], compared: str
) -> Outcome:
    """Count the violations of several checks and describe the first of each; `compared` selects the pairs."""
    found = Collector(rule, "error")
    for message, text in checks:
        count = _number(context, text, views)
        shown = f"SELECT q, c FROM ({text}) ORDER BY q, c LIMIT {MAX_EXAMPLES}"
        before = found.found
        for batch in context.query(shown, views) if count else ():
            for row in batch.to_pylist():
                sides = [side("queries", row["q"]), *([side("corpus", row["c"])] if row["c"] else [])]
                found.add(message, *sides)
        found.found = before + count
    return found.outcome(_number(context, compared, views))


def _whole(context: Context) -> Outcome:
    views = _given(context, "queries", "corpus", "provenance_queries")
    kinds = ", ".join(f"'{kind}'" for kind in KINDS)
    rising = 'list_sort(list_distinct("corpus-ids"))'
    of_queries = """SELECT id AS q, 1 AS k FROM queries UNION ALL SELECT "query-id", 2 FROM top_ranked
        UNION ALL SELECT "query-id", 3 FROM pool_checksums"""
    once = " OR ".join(f"count(*) FILTER (k = {number}) <> 1" for number in (1, 2, 3))
    checks: list[Check] = [
        (
            "a query has not one pool and one checksum, or a pool is of no query",
            f"SELECT q, NULL AS c FROM ({of_queries}) GROUP BY q HAVING {once}",
        ),
        (
            "candidates are not in id order, each once",
            f"""SELECT "query-id" AS q, NULL AS c FROM top_ranked
                WHERE "corpus-ids" IS DISTINCT FROM {rising}""",
        ),
        ("a candidate is not in the corpus", f"SELECT q, c FROM ({_RANKED}) ANTI JOIN corpus ON id = c"),
        (
            "top_ranked and provenance/pools do not have the candidate once each",
            f"""SELECT q, c FROM (SELECT q, c, 1 AS k FROM ({_RANKED}) UNION ALL
                SELECT q, c, 2 FROM ({_POOLED})) GROUP BY q, c
                HAVING count(*) FILTER (k = 1) <> 1 OR count(*) FILTER (k = 2) <> 1""",
        ),
        (
            "a candidate is of no known kind, or nothing or something impossible is said of who found it",
            f"""{_POOLED} WHERE kind IS NULL OR kind NOT IN ({kinds}) OR systems IS NULL
                OR (kind <> 'positive' AND len(systems) = 0)
                OR len(list_distinct(list_transform(systems, lambda s: s.system))) <> len(systems)
                OR coalesce(list_min(list_transform(systems, lambda s: s.rank)), 1) < 1""",
        ),
        ("a pool or hard negative is of another split than its query", _splits(context, views)),
    ]
    return _run(context, "pools", views, checks, _RANKED)


def _splits(context: Context, views: dict[str, Sequence[Path]]) -> str:
    """SQL for queries whose rows are in files of, or name, another split; adds a view per split and table."""
    parts = [f'SELECT "query-id" AS q, split FROM {table}' for table in ("pools", "pool_checksums")]
    for table in ("top_ranked", "hard_negatives"):
        for split in _SPLITS:
            files = [path for path in context.views[table] if path.name.startswith(f"{split}-")]
            if files:
                views[f"{table}_{split}"] = files
                parts.append(f"""SELECT "query-id", '{split}' FROM {table}_{split}""")
    return f"""SELECT DISTINCT q, NULL AS c FROM ({" UNION ALL ".join(parts)}) t
        JOIN provenance_queries o ON o.id = q WHERE t.split IS DISTINCT FROM o.split"""


def _positives(context: Context) -> Outcome:
    views = _given(context, "qrels")
    positive = f"{_JUDGED} WHERE score > 0"
    called = f"{_POOLED} WHERE kind = 'positive'"
    checks: list[Check] = [
        ("a positive is not in its query's pool", f"{positive} EXCEPT {_RANKED}"),
        ("a positive is not called one in provenance/pools", f"{positive} EXCEPT {called}"),
        ("a candidate is called positive that is none", f"{called} EXCEPT {positive}"),
    ]
    return _run(context, "pool_positives", views, checks, positive)


def _left_out(context: Context) -> Outcome:
    views = _given(context, "qrels", "excluded", "provenance_queries", "provenance_corpus")
    every = f"SELECT q, c FROM ({_RANKED} UNION ALL {_POOLED} UNION ALL {_HARD})"
    unjudged = 'ANTI JOIN qrels r ON r."query-id" = q AND r."corpus-id" = c'
    checks: list[Check] = [
        (
            "an excluded pair is in a pool",
            f'SELECT DISTINCT q, c FROM ({every}) SEMI JOIN excluded ON "query-id" = q AND "corpus-id" = c',
        ),
        (
            "the query's own record is in its pool",
            f"""SELECT DISTINCT q, c FROM ({every}) JOIN provenance_queries o ON o.id = q AND o.source_id = c
                {unjudged}""",
        ),
        (
            "a record of the query's own patient is in its pool",
            f"""SELECT DISTINCT q, c FROM ({every})
                JOIN provenance_queries o ON o.id = q AND o.patient_id <> ''
                JOIN provenance_corpus d ON d.id = c AND d.patient_id = o.patient_id {unjudged}""",
        ),
    ]
    return _run(context, "pool_exclusions", views, checks, _POOLED)


def _checksums(context: Context) -> Outcome:
    views = _given(context, "corpus")
    found = Collector("pool_checksums", "error")
    known, made = corpus_digests(views["corpus"])
    text = """SELECT t."query-id" AS q, t."corpus-ids" AS ids, s.pool_sha256 AS stated, s.candidates AS n
        FROM top_ranked t JOIN pool_checksums s ON s."query-id" = t."query-id" ORDER BY ALL"""
    compared = 0
    for batch in context.query(text, views):
        compared += batch.num_rows
        places = pc.index_in(pc.list_flatten(batch.column("ids")).cast(pa.string()), value_set=known)
        sizes = np.asarray(pc.fill_null(pc.list_value_length(batch.column("ids")), 0))
        parts = np.split(np.asarray(pc.fill_null(places, -1)), np.cumsum(sizes)[:-1])
        for row, part in zip(batch.drop_columns(["ids"]).to_pylist(), parts, strict=True):
            if row["n"] != len(part):
                message = f"{row['n']} candidates are stated, {len(part)} are listed"
                found.add(message, side("queries", row["q"]))
            elif (part < 0).any() or pool_checksum(made[part]) != row["stated"]:
                found.add("candidates or their texts are not those summed up", side("queries", row["q"]))
    return found.outcome(compared)


def _hard(context: Context) -> Outcome:
    views = _given(context, "qrels", "excluded")
    numbered = 'row_number() OVER (PARTITION BY "query-id" ORDER BY rank, "corpus-id")'
    checks: list[Check] = [
        (
            "a hard negative is judged or excluded",
            f'{_HARD} INTERSECT ({_JUDGED} UNION ALL SELECT "query-id", "corpus-id" FROM excluded)',
        ),
        (
            "hard negatives are not those of provenance/pools, or found by other systems",
            """SELECT coalesce(h."query-id", p."query-id") AS q, coalesce(h."corpus-id", p."corpus-id") AS c
                FROM hard_negatives h FULL JOIN (SELECT * FROM pools WHERE kind = 'hard_negative') p
                ON p."query-id" = h."query-id" AND p."corpus-id" = h."corpus-id"
                WHERE h.systems IS DISTINCT FROM p.systems""",
        ),
        (
            "hard negatives are not numbered from 1 on",
            f"""SELECT q, c FROM (SELECT "query-id" AS q, "corpus-id" AS c, rank, {numbered} AS n
                FROM hard_negatives) WHERE rank IS DISTINCT FROM n""",
        ),
        (
            "a hard negative is not called unjudged",
            f"{_HARD} WHERE label_status IS DISTINCT FROM '{UNJUDGED}'",
        ),
    ]
    return _run(context, "hard_negatives", views, checks, _HARD)


def _shaped(context: Context) -> Outcome:
    views = _given(context)
    found = Collector("pool_systems", "error")
    stated = set(context.manifest.shaped_by)
    text = " UNION ALL ".join(f"SELECT unnest(systems).system AS system FROM {name}" for name in TABLES[1:3])
    count = f"SELECT system, count(*) AS n FROM ({text}) GROUP BY system ORDER BY system"
    for batch in context.query(count, views):
        for row in batch.to_pylist():
            if row["system"] not in stated:
                message = (
                    f"release.json does not say that {row['system']} shaped the pools ({row['n']} candidates)"
                )
                found.add(message, side("release.json", row["system"]))
    if not stated and not found.found:
        found.add("release.json names no system that shaped the pools", side("release.json", "shaped_by"))
    return found.outcome(_number(context, text, views))


RULES = (
    Rule(
        "pools",
        1,
        "Pools are whole",
        "Every query has one pool in its split's files: published documents in id order, each once, the "
        "pairs of provenance/pools and no other, each of a known kind and with the systems that found it.",
        "error",
        "pairs",
        _whole,
        canaries=planted.WHOLE,
    ),
    Rule(
        "pool_positives",
        1,
        "Positives are in their pools",
        "Every positive is in its query's pool and is called one; nothing else is.",
        "error",
        "pairs",
        _positives,
        canaries=planted.POSITIVES,
    ),
    Rule(
        "pool_exclusions",
        1,
        "Excluded pairs and own records are in no pool",
        "No pool and no hard negative is an excluded pair, the record the query was made from or an unjudged "
        "document of the query's own patient.",
        "error",
        "pairs",
        _left_out,
        canaries=planted.LEFT_OUT,
    ),
    Rule(
        "pool_checksums",
        1,
        "Pools are unchanged",
        "The checksum of every pool recomputes from the ids, titles and texts of its candidates.",
        "error",
        "pools",
        _checksums,
        canaries=planted.CHECKSUMS,
    ),
    Rule(
        "hard_negatives",
        1,
        "Hard negatives are unjudged candidates",
        "Hard negatives are those of provenance/pools, by the same systems, ranked 1 to n; none has a label "
        "or is excluded, and all are called unjudged.",
        "error",
        "pairs",
        _hard,
        canaries=planted.HARD,
    ),
    Rule(
        "pool_systems",
        1,
        "Who shaped the pools is said",
        "shaped_by in release.json names every system that gave candidates or hard negatives.",
        "error",
        "pairs",
        _shaped,
        canaries=planted.SYSTEMS,
    ),
)
