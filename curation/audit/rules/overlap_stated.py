"""The rule on the published `keys` table: it says what the published files themselves say, and no less."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.rule import MAX_EXAMPLES, Context, Outcome, Rule, side
from curation.audit.rules import overlap_canaries as canaries
from curation.audit.rules.overlap_keys import require, stated_sql
from curation.published.query import fetch
from curation.tasks.registry import TASKS, level
from schemas.audit import Coverage, Finding
from schemas.overlap_policy import DIMENSIONS

_ID = "overlap_keys_true"
_COMPUTED = """(dimension IN ('article', 'patient')
    OR (dimension = 'query' AND NOT starts_with(key, 'near:'))
    OR (dimension = 'image_family' AND starts_with(key, 'sha256:')))"""
"""Keys that can be computed again; what `phash:` and target concepts stand on is not published, and near
copies of queries are sought in the texts (rules `near_queries_across_splits` and `_tasks`)."""
_NOUN = {"query": "query text or family", "image_family": "image"}


_STATED = pa.schema([pa.field(name, pa.string()) for name in ("q", "dimension", "key", "doc")])


def _wrong_sql(needs_target: bool) -> str:
    """SQL over keys, queries, provenance_queries and stated: q, dimension, key, doc, problem."""
    dimensions = ", ".join(f"'{name}'" for name in DIMENSIONS)
    hidden = "id IN (SELECT id FROM provenance_queries WHERE hides_target)"
    return f"""
        SELECT w.q, w.dimension, w.key, w.doc, 'missing' AS problem FROM stated w
        ANTI JOIN keys k ON k."query-id" = w.q AND k.dimension = w.dimension AND k.key = w.key
        UNION ALL
        SELECT "query-id", dimension, key, NULL, 'extra' FROM
            (SELECT DISTINCT "query-id", dimension, key FROM keys
                WHERE {_COMPUTED} AND key NOT IN ('', sha256(''))) k
        ANTI JOIN stated w ON k."query-id" = w.q AND k.dimension = w.dimension AND k.key = w.key
        UNION ALL
        SELECT DISTINCT "query-id", dimension, key, NULL, 'not a key' FROM keys
        WHERE coalesce(key, '') = '' OR coalesce(dimension, '') NOT IN ({dimensions})
        UNION ALL
        SELECT DISTINCT "query-id", dimension, key, NULL, 'no such query' FROM keys
        WHERE NOT {_COMPUTED}
            AND coalesce("query-id", '') NOT IN (SELECT id FROM queries WHERE id IS NOT NULL)
        UNION ALL
        SELECT id, 'target_concept', '', NULL, 'no target' FROM queries
        WHERE ({"true" if needs_target else hidden}) AND id NOT IN (
            SELECT "query-id" FROM keys
            WHERE dimension = 'target_concept' AND key <> '' AND "query-id" IS NOT NULL)"""


def _keys_true(context: Context) -> Outcome:
    subject = context.subject
    require("article", subject)
    views = {name: subject.views[name] for name in ("queries", "provenance_queries", "keys")}
    views["stated"] = [_stated(context)]
    (counted,) = fetch(
        context.query,
        f"""SELECT (SELECT count(*) FROM stated) AS computed,
            (SELECT count(*) FROM keys WHERE NOT {_COMPUTED}) AS others,
            (SELECT count(*) FROM keys WHERE dimension = 'target_concept' AND key <> '') AS targets""",
        views,
    )
    is_zero = subject.task in TASKS and level(subject.task, subject.task, "target_concept") == "zero"
    wrong = _wrong_sql(is_zero or counted["targets"] > 0)
    rows = fetch(
        context.query,
        f"""SELECT w.*, x.text AS text FROM (
            SELECT *, count(*) OVER () AS total,
                row_number() OVER (PARTITION BY q ORDER BY dimension, key, problem) AS nth
            FROM ({wrong}) ORDER BY nth, q, dimension, key, problem LIMIT {MAX_EXAMPLES}) w
        LEFT JOIN (SELECT id, min(text) AS text FROM queries GROUP BY id) x ON x.id = w.q
        ORDER BY nth, q, dimension, key, problem""",
        views,
    )
    skipped = counted["others"]
    why = "target concepts and pHash families cannot be computed from published files"
    return Outcome(
        compared=counted["computed"],
        found=rows[0]["total"] if rows else 0,
        findings=tuple(_finding(row) for row in rows),
        coverage=(
            Coverage(
                compared_with="",
                compared=counted["computed"],
                unit="keys",
                skipped=skipped,
                why=why if skipped else "",
            ),
        ),
    )


def _stated(context: Context) -> Path:
    """What the files say the keys must be, written down once."""
    path = context.scratch / "overlap-stated.parquet"
    sql, tables = stated_sql(context.subject)
    with pq.ParquetWriter(path, _STATED, compression="lz4") as writer:
        for batch in context.batches(sql, *tables):
            writer.write_table(pa.Table.from_batches([batch]).cast(_STATED))
    return path


def _finding(row: Mapping[str, Any]) -> Finding:
    noun = _NOUN.get(row["dimension"], row["dimension"])
    through = f" through its positive {row['doc']}" if row["doc"] else ""
    message = {
        "missing": f"keys lacks the {noun} that the query rests on{through}: {row['key']}",
        "extra": f"keys states a {noun} that nothing of the query rests on: {row['key']}",
        "not a key": f"keys has an empty key or an unknown dimension: {row['dimension']} {row['key']}",
        "no such query": f"keys states a {noun} of a query that is not there: {row['key']}",
        "no target": "keys states no target concept of the query",
    }[row["problem"]]
    sides = [side("queries", row["q"], row["text"])]
    if row["problem"] != "no target":
        sides.append(side("keys", f"{row['q']} {row['dimension']} {row['key']}"))
    if row["doc"]:
        sides.append(side("corpus", row["doc"]))
    return Finding(rule=_ID, severity="error", message=message, sides=tuple(sides))


KEYS_TRUE = Rule(
    _ID,
    1,
    "Published keys are true",
    "The published keys are exactly what the published files say each query rests on: its normalised text "
    "and family, and the article, patient and image (SHA-256 as fetched) of the query and of its positive "
    "documents (score above 0). Where a task has target concepts, or a query hides one, keys name it.",
    "error",
    "keys",
    _keys_true,
    canaries.KEYS_TRUE,
)
