"""What the rules on texts need beside the texts: pictures, splits, families, labels of rows named by id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.audit.rule import Context, side
from curation.published.parquet import column_names
from curation.similarity.text.engine import Match, Texts, locate
from curation.similarity.text.tokens import I64
from schemas.audit import Side
from schemas.image_tables import ORIGIN_IMAGES


def literal(value: str) -> str:
    """A string as a SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def images(context: Context, table: str, ids: Iterable[str]) -> dict[str, str]:
    """Hash of the picture of each row, of all pictures of a query that has several; none: absent."""
    ids = sorted(set(ids))
    view = f"provenance_{table}"
    if view in context.views:
        hashed, source = "t.image_sha256", view
    elif "image" in column_names(context.views[table]):
        hashed, source = "sha256(t.image.bytes)", table
    else:
        return {}
    text = f"SELECT t.id, {hashed} AS hash FROM {source} t JOIN wanted w ON w.id = t.id ORDER BY t.id, hash"
    found = context.query(text, {source: context.views[source], "wanted": [_written(context, ids)]})
    several = table == "queries" and ORIGIN_IMAGES.name in context.views
    return {row["id"]: row["hash"] for batch in found for row in batch.to_pylist() if row["hash"]} | (
        _several(context, ids) if several else {}
    )


def _several(context: Context, ids: Iterable[str]) -> dict[str, str]:
    """Hashes of the pictures of each of some queries that has several, joined."""
    text = f"""SELECT i.id, string_agg(i.image_sha256, ' ' ORDER BY i.position) AS hash
        FROM {ORIGIN_IMAGES.name} i JOIN wanted w ON w.id = i.id
        WHERE i.side = 'query' GROUP BY i.id ORDER BY i.id"""
    given = {ORIGIN_IMAGES.name: context.views[ORIGIN_IMAGES.name], "wanted": [_written(context, ids)]}
    return {row["id"]: row["hash"] for batch in context.query(text, given) for row in batch.to_pylist()}


def _written(context: Context, ids: Iterable[str]) -> Path:
    path = context.scratch / "wanted_ids.parquet"
    pq.write_table(pa.table({"id": pa.array(sorted(set(ids)), pa.string())}), path)
    return path


def differ(found: Mapping[str, str], one: str, other: str) -> bool:
    """Whether two rows show different pictures, or only one of them shows one."""
    return found.get(one) != found.get(other)


@dataclass(frozen=True, slots=True)
class About:
    """What provenance says of a query."""

    split: str = ""
    family: str = ""
    targets: frozenset[str] = frozenset()


def about(context: Context, ids: Iterable[str]) -> dict[str, About]:
    """Split, family and target concepts of some queries; nothing where the files do not say."""
    if "provenance_queries" not in context.views:
        return {}
    views = {"provenance_queries": context.views["provenance_queries"], "wanted": [_written(context, ids)]}
    targets = "[]::VARCHAR[]"
    if "keys" in context.views:
        views["keys"] = context.views["keys"]
        targets = """(SELECT list(k.key ORDER BY k.key) FROM keys k
            WHERE k."query-id" = p.id AND k.dimension = 'target_concept')"""
    text = f"""SELECT p.id, p.split, p.family, {targets} AS targets
        FROM provenance_queries p JOIN wanted w ON w.id = p.id ORDER BY p.id"""
    return {
        row["id"]: About(row["split"] or "", row["family"] or "", frozenset(row["targets"] or ()))
        for batch in context.query(text, views)
        for row in batch.to_pylist()
    }


def write_pairs(context: Context, name: str, pairs: Sequence[Match]) -> dict[str, Sequence[Path]]:
    """Pairs as a view for SQL: one, other, value."""
    path = context.scratch / f"{name}.parquet"
    columns = {
        "one": pa.array([pair.one for pair in pairs], pa.string()),
        "other": pa.array([pair.other for pair in pairs], pa.string()),
        "value": pa.array([pair.value for pair in pairs], pa.float64()),
    }
    pq.write_table(pa.table(columns), path)
    return {"pairs": [path]}


def rows_of(texts: Texts, ids: pa.Array) -> I64:
    """Row numbers of ids, -1 for those that are not there."""
    found = pc.index_in(ids.cast(pa.large_string()), value_set=texts.ids.combine_chunks())
    rows: I64 = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return rows


def by_id(texts: Texts, ids: Iterable[str]) -> dict[str, str]:
    """Texts of some ids."""
    names = sorted(set(ids))
    rows = rows_of(texts, pa.array(names, pa.large_string()))
    held = texts.take(rows[rows >= 0])
    return {name: held.get(row, "") for name, row in zip(names, rows.tolist(), strict=True)}


def both_sides(
    table: str, one: tuple[str, str], other_table: str, other: tuple[str, str]
) -> tuple[Side, Side]:
    """Two rows (id, text) as sides, each quoting the longest run of words they share."""
    found = locate(one[1], other[1])
    if found is None:
        return side(table, *one), side(other_table, *other)
    return side(table, *one, *found.one), side(other_table, *other, *found.other)
