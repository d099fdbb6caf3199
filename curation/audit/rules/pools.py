"""Rules on candidate pools and hard negatives: whole, nothing excluded in them, unchanged, makers named."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.audit.checks import placed
from curation.audit.rule import Check, Collector, Context, Defect, Outcome, Rule, side
from curation.audit.rules.planting import GONE, add_row, drop_row, set_row
from curation.derived.pools.checksums import corpus_digests, pool_checksum
from curation.derived.pools.make import KINDS, UNJUDGED

TABLES = ("top_ranked", "hard_negatives", "pools", "pool_checksums")
_RANKED = 'SELECT "query-id" AS q, unnest("corpus-ids") AS c FROM top_ranked'
_POOLED = 'SELECT "query-id" AS q, "corpus-id" AS c FROM pools'
_HARD = 'SELECT "query-id" AS q, "corpus-id" AS c FROM hard_negatives'
_JUDGED = 'SELECT "query-id" AS q, "corpus-id" AS c FROM qrels'
_EVERY = f"SELECT q, c FROM ({_RANKED} UNION ALL {_POOLED} UNION ALL {_HARD})"
_UNJUDGED = 'ANTI JOIN qrels r ON r."query-id" = q AND r."corpus-id" = c'
_Q, _PAIR = '"query-id"', '"query-id", "corpus-id"'
_STRANGER = "canary:system"
_STRANGE = f"list_append(systems, {{system: '{_STRANGER}', rank: 1}})"


def _of_kind(kind: str, values: str) -> str:
    """SQL: cells of the first row of provenance/pools of one kind."""
    first = f"(SELECT min(rowid) FROM pools WHERE kind = '{kind}')"
    return f"UPDATE pools SET {values} WHERE rowid = {first} RETURNING {_PAIR}"


def _ids(values: str, *more: str) -> str:
    """SQL: other candidates of the first pool that has two; its query must be named, and `more`."""
    named = "".join(f", '{name}'" for name in more)
    first = '(SELECT min(rowid) FROM top_ranked WHERE len("corpus-ids") > 1)'
    return f'UPDATE top_ranked SET "corpus-ids" = {values} WHERE rowid = {first} RETURNING {_Q}{named}'


def _also_in(table: str, of: str, values: str) -> str:
    """SQL: the first pair of a table stands in another one, too."""
    return f"""INSERT INTO {table} BY NAME SELECT {_PAIR}, {values} FROM {of} WHERE rowid = 0
        RETURNING {_PAIR}"""


def _other_split(context: Context) -> str:
    """SQL for queries whose rows are in files of, or name, another split."""
    named = [f"SELECT {_Q} AS q, split FROM {table}" for table in ("pools", "pool_checksums")]
    files = placed(context, "top_ranked", "hard_negatives")
    rows = " UNION ALL ".join(part for part in (*named, files) if part)
    return f"""SELECT DISTINCT q, NULL AS c FROM ({rows}) t
        JOIN provenance_queries o ON o.id = q WHERE t.split IS DISTINCT FROM o.split"""


def _said(context: Context) -> str:
    """SQL for candidates of which something impossible is said; a query's own set is there, found or not."""
    same = " AND ".join(f"s.{column} = pools.{column}" for column in _PAIR.split(", "))
    is_in_set = f"EXISTS (FROM confusions s WHERE {same})" if "confusions" in context.views else "false"
    return f"""{_POOLED} WHERE kind IS NULL OR kind NOT IN ({_KNOWN_KINDS}) OR systems IS NULL
        OR (kind <> 'positive' AND len(systems) = 0 AND NOT {is_in_set})
        OR len(list_distinct(list_transform(systems, lambda s: s.system))) <> len(systems)
        OR coalesce(list_min(list_transform(systems, lambda s: s.rank)), 1) < 1"""


_KNOWN_KINDS = ", ".join(f"'{kind}'" for kind in KINDS)
_ONCE = " OR ".join(f"count(*) FILTER (k = {number}) <> 1" for number in (1, 2, 3))
WHOLE = (
    Check(
        "a query has not one pool and one checksum, or a pool is of no query",
        f"""SELECT q, NULL AS c FROM (SELECT id AS q, 1 AS k FROM queries
            UNION ALL SELECT {_Q}, 2 FROM top_ranked UNION ALL SELECT {_Q}, 3 FROM pool_checksums)
            GROUP BY q HAVING {_ONCE}""",
        (
            Defect("a query without a pool", drop_row("top_ranked")),
            Defect("a checksum that stands twice", add_row("pool_checksums", at=1)),
            Defect("a pool without a query", add_row("top_ranked", f"'{GONE}' AS {_Q}")),
        ),
    ),
    Check(
        "candidates are not in id order, each once",
        f"""SELECT {_Q} AS q, NULL AS c FROM top_ranked
            WHERE "corpus-ids" IS DISTINCT FROM list_sort(list_distinct("corpus-ids"))""",
        (
            Defect("candidates in another order", _ids('list_reverse("corpus-ids")')),
            Defect("a candidate twice", _ids('list_sort(list_append("corpus-ids", "corpus-ids"[1]))')),
        ),
    ),
    Check(
        "a candidate is not in the corpus",
        f"SELECT q, c FROM ({_RANKED}) ANTI JOIN corpus ON id = c",
        Defect("a candidate that is not in the corpus", _ids(f"list_append(\"corpus-ids\", '{GONE}')", GONE)),
    ),
    Check(
        "top_ranked and provenance/pools do not have the candidate once each",
        f"""SELECT q, c FROM (SELECT q, c, 1 AS k FROM ({_RANKED}) UNION ALL
            SELECT q, c, 2 FROM ({_POOLED})) GROUP BY q, c
            HAVING count(*) FILTER (k = 1) <> 1 OR count(*) FILTER (k = 2) <> 1""",
        (
            Defect("a candidate without its finders", drop_row("pools")),
            Defect("a pair that is not a candidate", _ids('"corpus-ids"[2:]')),
        ),
    ),
    Check(
        "a candidate is of no known kind, or nothing or something impossible is said of who found it",
        _said,
        (
            Defect("an unknown kind", set_row("pools", "kind = 'negative'")),
            Defect(
                "a candidate no system found, and in no set",
                _of_kind("candidate", f"systems = [], \"corpus-id\" = '{GONE}'"),
            ),
            Defect("a system twice", set_row("pools", "systems = list_concat(systems, systems)")),
            Defect("a rank of 0", set_row("pools", f"systems = [{{system: '{_STRANGER}', rank: 0}}]")),
        ),
    ),
    Check(
        "a pool or hard negative is of another split than its query",
        _other_split,
        (
            Defect(
                "a candidate of the other split",
                set_row("pools", "split = if(split = 'test', 'dev', 'test')", names=_Q),
            ),
            *(
                Defect(
                    f"{table} in a file of the other split",
                    f"""UPDATE placed SET split = if(split = 'test', 'dev', 'test')
                        WHERE tab = '{table}' AND q = (SELECT min({_Q}) FROM {table}) RETURNING q""",
                )
                for table in ("top_ranked", "hard_negatives")
            ),
        ),
    ),
)
_POSITIVE, _CALLED = f"{_JUDGED} WHERE score > 0", f"{_POOLED} WHERE kind = 'positive'"
POSITIVES = (
    Check(
        "a positive is not in its query's pool",
        f"{_POSITIVE} EXCEPT {_RANKED}",
        Defect(
            "a positive that is not in the pool",
            f"""UPDATE top_ranked SET "corpus-ids" = [] WHERE {_Q} = (SELECT min({_Q}) FROM qrels
                WHERE score > 0); SELECT {_PAIR} FROM qrels WHERE score > 0
                AND {_Q} = (SELECT min({_Q}) FROM qrels WHERE score > 0)""",
        ),
    ),
    Check(
        "a positive is not called one in provenance/pools",
        f"{_POSITIVE} EXCEPT {_CALLED}",
        Defect("a positive called a candidate", _of_kind("positive", "kind = 'candidate'")),
    ),
    Check(
        "a candidate that is not a positive is called one",
        f"{_CALLED} EXCEPT {_POSITIVE}",
        Defect("a candidate called positive", _of_kind("candidate", "kind = 'positive'")),
    ),
)
_POOL = "(SELECT * FROM pools WHERE kind <> 'positive' AND kind IS NOT NULL ORDER BY rowid LIMIT 1)"
"""Defects are planted around the first candidate that is not positive."""
_PQ, _PD = f"(SELECT {_Q} FROM {_POOL})", f'(SELECT "corpus-id" FROM {_POOL})'
LEFT_OUT = (
    Check(
        "an excluded pair is in a pool",
        f'SELECT DISTINCT q, c FROM ({_EVERY}) SEMI JOIN excluded ON "query-id" = q AND "corpus-id" = c',
        Defect("an excluded pair", _also_in("excluded", "pools", "'own_article' AS reason")),
    ),
    Check(
        "the query's own record is in its pool",
        f"""SELECT DISTINCT q, c FROM ({_EVERY}) JOIN provenance_queries o ON o.id = q AND o.source_id = c
            {_UNJUDGED}""",
        Defect(
            "the query's own record",
            f"UPDATE provenance_queries SET source_id = {_PD} WHERE id = {_PQ} RETURNING id, source_id",
        ),
    ),
    Check(
        "a record of the query's own patient is in its pool",
        f"""SELECT DISTINCT q, c FROM ({_EVERY})
            JOIN provenance_queries o ON o.id = q AND o.patient_id <> ''
            JOIN provenance_corpus d ON d.id = c AND d.patient_id = o.patient_id {_UNJUDGED}""",
        Defect(
            "a record of the query's own patient",
            f"""UPDATE provenance_queries SET patient_id = 'canary:patient' WHERE id = {_PQ};
            UPDATE provenance_corpus SET patient_id = 'canary:patient' WHERE id = {_PD};
            SELECT {_PAIR} FROM {_POOL}""",
        ),
    ),
)


def _checksums(context: Context) -> Outcome:
    found = Collector("pool_checksums", "error")
    documents = context.batches("SELECT id, title, text FROM corpus", "corpus")
    known, made = corpus_digests(documents)
    text = """SELECT t."query-id" AS q, t."corpus-ids" AS ids, s.pool_sha256 AS stated, s.candidates AS n
        FROM top_ranked t JOIN pool_checksums s ON s."query-id" = t."query-id" ORDER BY ALL"""
    compared = 0
    for batch in context.batches(text, "top_ranked", "pool_checksums"):
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


CHECKSUMS = (
    Check(
        "a pool is not the one that was summed up",
        _checksums,
        (
            Defect(
                "a text that has changed",
                f"""UPDATE corpus SET text = concat(text, ' (revised)')
                    WHERE id = (SELECT "corpus-ids"[1] FROM top_ranked WHERE rowid = 0);
                SELECT {_Q} FROM top_ranked WHERE rowid = 0 AND len("corpus-ids") > 0""",
            ),
            Defect("a candidate missing", _ids('"corpus-ids"[2:]')),
            Defect("a candidate exchanged", _ids(f"list_append(\"corpus-ids\"[2:], '{GONE}')")),
        ),
    ),
)
_NUMBERED = f'row_number() OVER (PARTITION BY {_Q} ORDER BY rank, "corpus-id")'
HARD = (
    Check(
        "a hard negative is judged or excluded",
        f"{_HARD} INTERSECT ({_JUDGED} UNION ALL SELECT {_PAIR} FROM excluded)",
        (
            Defect("a hard negative that is judged", _also_in("qrels", "hard_negatives", "1 AS score")),
            Defect(
                "a hard negative that is excluded",
                _also_in("excluded", "hard_negatives", "'own_article' AS reason"),
            ),
        ),
    ),
    Check(
        "hard negatives are not those of provenance/pools, or found by other systems",
        """SELECT coalesce(h."query-id", p."query-id") AS q, coalesce(h."corpus-id", p."corpus-id") AS c
            FROM hard_negatives h FULL JOIN (SELECT * FROM pools WHERE kind = 'hard_negative') p
            ON p."query-id" = h."query-id" AND p."corpus-id" = h."corpus-id"
            WHERE h.systems IS DISTINCT FROM p.systems""",
        (
            Defect("a hard negative held back", _of_kind("hard_negative", "kind = 'likely_positive'")),
            Defect("a hard negative nobody held", drop_row("hard_negatives")),
            Defect("a hard negative found by others", set_row("hard_negatives", f"systems = {_STRANGE}")),
        ),
    ),
    Check(
        "hard negatives are not numbered from 1 on",
        f"""SELECT q, c FROM (SELECT {_Q} AS q, "corpus-id" AS c, rank, {_NUMBERED} AS n
            FROM hard_negatives) WHERE rank IS DISTINCT FROM n""",
        Defect("ranks with a gap", set_row("hard_negatives", "rank = rank + 10")),
    ),
    Check(
        "a hard negative is not called unjudged",
        f"{_HARD} WHERE label_status IS DISTINCT FROM '{UNJUDGED}'",
        Defect("a hard negative called negative", set_row("hard_negatives", "label_status = 'negative'")),
    ),
)
_SYSTEMS = " UNION ALL ".join(f"SELECT unnest(systems).system AS system FROM {name}" for name in TABLES[1:3])


def _shaped(context: Context) -> Outcome:
    found = Collector("pool_systems", "error")
    stated = set(context.manifest.shaped_by)
    rows = context.select(f"SELECT system, count(*) AS n FROM ({_SYSTEMS}) GROUP BY system ORDER BY system")
    for row in rows:
        if row["system"] not in stated:
            message = (
                f"release.json does not say that {row['system']} shaped the pools ({row['n']} candidates)"
            )
            found.add(message, side("release.json", row["system"]))
    return found.outcome(sum(row["n"] for row in rows))


def _nobody(context: Context) -> Outcome:
    found = Collector("pool_systems", "error")
    if not context.manifest.shaped_by and not context.select(f"{_SYSTEMS} LIMIT 1"):
        found.add("release.json names no system that shaped the pools", side("release.json", "shaped_by"))
    return found.outcome(0)


SYSTEMS = (
    Check(
        "release.json does not name a system that shaped the pools",
        _shaped,
        (
            *(
                Defect(
                    f"a system of {what} that is not named",
                    set_row(table, f"systems = {_STRANGE}", names=f"'{_STRANGER}'"),
                )
                for what, table in (("the pools", "pools"), ("hard negatives", "hard_negatives"))
            ),
            Defect("no system named", f"SELECT min(system) FROM ({_SYSTEMS})", stated={"shaped_by": ()}),
        ),
    ),
    Check(
        "release.json names no system that shaped the pools",
        _nobody,
        Defect(
            "pools without the systems that shaped them",
            "UPDATE pools SET systems = []; UPDATE hard_negatives SET systems = []; SELECT 'shaped_by'",
            stated={"shaped_by": ()},
        ),
    ),
)
_rule = partial(Rule, severity="error", unit="pairs", about=TABLES, holds="candidate pools")
RULES = (
    _rule(
        "pools",
        1,
        "Pools are whole",
        "Every query has one pool in its split's files: published documents in id order, each once, the "
        "pairs of provenance/pools and no other, each of a known kind and with the systems that found it.",
        checks=WHOLE,
        tables=("queries", "corpus", "provenance_queries"),
        compared=_RANKED,
    ),
    _rule(
        "pool_positives",
        1,
        "Positives are in their pools",
        "Every positive is in its query's pool and is called one; nothing else is.",
        checks=POSITIVES,
        tables=("qrels",),
        compared=_POSITIVE,
    ),
    _rule(
        "pool_exclusions",
        1,
        "Excluded pairs and own records are in no pool",
        "No pool and no hard negative is an excluded pair, the record the query was made from or an unjudged "
        "document of the query's own patient.",
        checks=LEFT_OUT,
        tables=("qrels", "excluded", "provenance_queries", "provenance_corpus"),
        compared=_POOLED,
    ),
    _rule(
        "pool_checksums",
        1,
        "Pools are unchanged",
        "The checksum of every pool recomputes from the ids, titles and texts of its candidates.",
        unit="pools",
        checks=CHECKSUMS,
        tables=("corpus",),
    ),
    _rule(
        "hard_negatives",
        1,
        "Hard negatives are unjudged candidates",
        "Hard negatives are those of provenance/pools, by the same systems, ranked 1 to n; none has a label "
        "or is excluded, and all are called unjudged.",
        checks=HARD,
        tables=("qrels", "excluded"),
        compared=_HARD,
    ),
    _rule(
        "pool_systems",
        1,
        "Systems that shaped the pools are named",
        "shaped_by in release.json names every system that gave candidates or hard negatives.",
        checks=SYSTEMS,
    ),
)
