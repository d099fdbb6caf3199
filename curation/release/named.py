"""Tables of a task whose documents are also names in other languages: files per language, and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from curation.partition.keys_sql import literal
from curation.published.query import QueryRunner, fetch
from curation.release.pictured import Select, Share
from curation.release.selects import select_rows
from schemas.name_tables import NAME_RECIPES, NAMED_CORPUS, NAMED_QUERIES, NAMED_TABLES
from schemas.published import Published

Write = Callable[[Published, Iterator[pa.Table], str], None]
_LANGUAGES = "SELECT DISTINCT document_language AS language FROM {rows} ORDER BY language"
_COLUMN = {NAMED_CORPUS.name: "language"}


def write_named(select: Select, write: Write, splits: Sequence[str]) -> None:
    """Write every language that a released query has names in, and what only recipes give; no empty file.

    Args:
        select: runs SQL over the work tables and what the partition left of them.
        write: writes chunks of one table under the beginning of its files' names.
        splits: those that the release has.
    """
    asked = select_rows(NAMED_QUERIES)
    rows = (row for batch in select(_LANGUAGES.format(rows=f"({asked})")) for row in batch.to_pylist())
    for language in [row["language"] for row in rows]:
        for table in NAMED_TABLES:
            column = _COLUMN.get(table.name, "document_language")
            for split in splits if table.has_splits else ("",):
                held = f"SELECT * FROM ({select_rows(table, split)}) WHERE {column} = {literal(language)}"
                key = ", ".join(f'"{name}"' for name in table.key)
                share = Share(split, language)
                write(table, select(f"{held} ORDER BY {key}"), share.name)
    recipes = select_rows(NAME_RECIPES)
    if next(select(f"SELECT count(*) AS n FROM ({recipes})")).column("n")[0].as_py():
        write(NAME_RECIPES, select(recipes), "test")


_SETS = f"""
    SELECT document_language AS language, count(*) AS sets,
        count(*) FILTER (status = 'official') AS official,
        (SELECT count(*) FROM {NAMED_CORPUS.name} AS d WHERE d.language = q.document_language) AS documents
    FROM {NAMED_QUERIES.name} AS q GROUP BY document_language ORDER BY language
"""
_DROPPED = """
    SELECT split_part(id, '/', 2) AS language, reason, count(*) AS count FROM drops
    WHERE unit = 'set' GROUP BY ALL ORDER BY language, count DESC, reason
"""


def name_facts(query: QueryRunner, given: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """Sets that are asked by names, per language, and why others are not.

    Args:
        query: runs SQL over Parquet.
        given: published table -> its files.
    """
    dropped = fetch(query, _DROPPED, given)
    kept = fetch(query, _SETS, given) if NAMED_QUERIES.name in given else []
    by_language = {row["language"]: row for row in kept}
    languages = sorted({row["language"] for row in (*kept, *dropped)})
    blank = {"sets": 0, "official": 0, "documents": 0}
    return {
        "names": [
            {
                **blank,
                **by_language.get(language, {}),
                "language": language,
                "reasons": [row for row in dropped if row["language"] == language],
            }
            for language in languages
        ]
    }
