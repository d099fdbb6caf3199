"""Confusion sets with restricted names, made from one's own vocabulary: rows of the filled folder.

A set is filled when each of its eight names is there: those that the recipe spells out, and the restricted
ones found by their hash.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.published.query import QueryRunner, fetch
from schemas.name_tables import NAME_RECIPES, NAMED_CORPUS, NAMED_QRELS, NAMED_QUERIES
from schemas.tables import ORIGIN_QUERIES, QRELS, QUERIES

RECIPES_SQL = """SELECT *, document_language AS language, text_sha256 AS name_sha256,
        "query-id" || '/' || document_language || '/' || "corpus-id" AS key FROM recipes"""
"""Recipes of names as those of queries are looked up; `key` tells them apart."""
_QUERIES = """SELECT q.*, o.split FROM queries AS q JOIN origins AS o ON o.id = q.id
    WHERE q.id IN (SELECT "query-id" FROM recipes) ORDER BY q.id"""
_LABELS = """SELECT r.* FROM qrels AS r WHERE r.score > 0 AND r."query-id" IN (SELECT "query-id" FROM recipes)
    ORDER BY r."query-id", r."corpus-id" """
_HELD = "SELECT id, language FROM named ORDER BY ALL"
_SIZE = 8
Row = dict[str, Any]
Rows = dict[str, dict[tuple[str, str], list[Row]]]


def added_names(
    query: QueryRunner, directory: Path, recipes: Sequence[Mapping[str, Any]], texts: Mapping[str, str]
) -> Rows:
    """Rows of the sets that are whole, by table, split and language.

    Args:
        query: runs SQL over Parquet.
        directory: the released task.
        recipes: rows of its recipes, each with its `key`.
        texts: name by key, of those that were found.
    """
    files = {
        "queries": QUERIES.files(directory),
        "qrels": QRELS.files(directory),
        "origins": ORIGIN_QUERIES.files(directory),
        "recipes": NAME_RECIPES.files(directory),
    }
    asked = {row["id"]: row for row in fetch(query, _QUERIES, files)}
    labels = {row["query-id"]: row for row in fetch(query, _LABELS, files)}
    named = NAMED_CORPUS.files(directory)
    held = {(row["id"], row["language"]) for row in fetch(query, _HELD, {"named": named})} if named else set()
    sets: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for recipe in recipes:
        sets[recipe["query-id"], recipe["language"]].append(recipe)
    found: Rows = defaultdict(lambda: defaultdict(list))
    for (name, language), rows in sorted(sets.items()):
        if name not in asked or len(rows) != _SIZE or any(row["key"] not in texts for row in rows):
            continue
        row = dict(asked[name])
        place = (row.pop("split"), language)
        own = {"document_language": language, "status": _status(rows)}
        found[NAMED_QUERIES.name][place].append({**row, **own})
        found[NAMED_QRELS.name][place].append({**labels[name], **own})
        for recipe in rows:
            if (recipe["corpus-id"], language) not in held:
                held.add((recipe["corpus-id"], language))
                found[NAMED_CORPUS.name]["test", language].append(_document(recipe, texts[recipe["key"]]))
    return found


def _status(rows: Sequence[Mapping[str, Any]]) -> str:
    return "candidate" if any(row["status"] == "candidate" for row in rows) else "official"


def _document(recipe: Mapping[str, Any], text: str) -> Row:
    """A row of `named_corpus`."""
    kept = {name: recipe[name] for name in NAMED_CORPUS.schema.names if name in recipe}
    return {
        **kept,
        "id": recipe["corpus-id"],
        "title": "",
        "text": text,
        "language": recipe["language"],
        "is_synthetic": False,
        "license_evidence": f"the name is quoted from {recipe['source']}",
        "article_id": f"vocabulary:{recipe['source']}",
        "restriction": 0,
    }
