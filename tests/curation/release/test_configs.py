"""Configs of a card: what `load_dataset` is told that there is."""

from __future__ import annotations

from typing import Any

from curation.release.card import _configs
from schemas.name_tables import NAMED_QUERIES
from schemas.published import of_language
from schemas.tables import CORPUS, QUERIES

SHARDS = {
    language: [f"names/queries/{split}-{language}-00000-of-00001.parquet" for split in ("dev", "test")]
    for language in ("de", "es", "fr")
}


def test_a_language_without_rows_in_a_split_has_no_such_split() -> None:
    """`datasets` refuses a split whose files have no row."""
    rows = {"de": (0, 1), "es": (2, 39), "fr": (0, 0)}
    parquet = {
        of_language(NAMED_QUERIES.name, language): {
            "shards": shards,
            "splits": {"dev": {"rows": rows[language][0]}, "test": {"rows": rows[language][1]}},
        }
        for language, shards in SHARDS.items()
    }
    whole = {"shards": [shard for shards in SHARDS.values() for shard in shards], "splits": {}}
    plain: dict[str, Any] = {name: {"shards": [], "splits": {}} for name in (CORPUS.name, QUERIES.name)}
    found = list(_configs((NAMED_QUERIES,), {**parquet, **plain, NAMED_QUERIES.name: whole}))
    assert [(row["language"], sorted(row["splits"])) for row in found] == [
        ("de-", ["test"]),
        ("es-", ["dev", "test"]),
    ]
