"""What `medqrels vocabulary info` and `diff` say; they only read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curation.vocabulary import report_sql
from curation.vocabulary.semantic import type_names
from curation.vocabulary.tables import TABLES
from flows.engine.database import add_view
from flows.engine.scratch import own_temporary
from flows.engine.session import read_session
from flows.engine.workspace import Workspace
from flows.vocabulary.connection import Connection, opened
from flows.vocabulary.store import Vocabulary, find
from schemas.concept import Mention

MEMORY = "2GB"
_SHOWN = ("names", "types", "relations", "definitions", "mappings", "retired", "sources")


def _views(connection: Connection, vocabulary: Vocabulary, prefix: str = "") -> None:
    for name in _SHOWN:
        files = [vocabulary.table(name)] if vocabulary.rows(name) else []
        add_view(connection, f"{prefix}{name}", files, TABLES[name].row)


def _rows(connection: Connection, text: str) -> list[dict[str, Any]]:
    found = connection.execute(text)
    names = [item[0] for item in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def info(root: str | None, name: str = "current", examples: int = 10) -> dict[str, Any]:
    """What is in a merged vocabulary.

    Args:
        root: workspace.
        name: which one; see store.find.
        examples: how many ambiguous names to show.

    Raises:
        UsageError: there is none of that name.
    """
    session = read_session(root)
    vocabulary = find(session.workspace, name)
    manifest = vocabulary.manifest
    with own_temporary(), opened(MEMORY) as connection:  # a writer may empty the workspace's scratch folder
        _views(connection, vocabulary)
        tables = {key: _rows(connection, text) for key, text in report_sql.INFO.items()}
        for row in tables["semantic_types"]:
            row["name"] = type_names().get(row["semantic_type"], "")
        ambiguous = _ambiguous(connection, examples)
    return {
        "vocabulary": vocabulary.folder.name,
        "fingerprint": vocabulary.fingerprint,
        "concepts": manifest["concepts"],
        "rows": {key: item["rows"] for key, item in manifest["tables"].items()},
        "made_from": [
            {key: item[key] for key in ("source", "release", "licence", "tier")}
            for item in manifest["sources"]
        ],
        **tables,
        "ambiguous_names": ambiguous,
    }


def _ambiguous(connection: Connection, examples: int) -> dict[str, Any]:
    connection.execute(f"CREATE TABLE ambiguous AS {report_sql.AMBIGUOUS}")
    counted = "SELECT language, count(*) AS names FROM ambiguous GROUP BY language ORDER BY 2 DESC, 1"
    worst = (
        "SELECT name, language, n AS concepts, concepts AS examples FROM ambiguous"
        f" ORDER BY n DESC, language, folded LIMIT {int(examples)}"
    )
    return {"by_language": _rows(connection, counted), "most": _rows(connection, worst)}


def diff(root: str | None, old: str, new: str) -> dict[str, Any]:
    """What a new vocabulary changes against an old one, and which grounded articles that touches.

    Raises:
        UsageError: there is none of that name.
    """
    session = read_session(root)
    before, after = find(session.workspace, old), find(session.workspace, new)
    with own_temporary(), opened(MEMORY) as connection:
        for prefix, vocabulary in (("old_", before), ("new_", after)):
            _views(connection, vocabulary, prefix)
            connection.execute(f"CREATE TABLE {prefix}live AS SELECT DISTINCT concept FROM {prefix}names")
        for table in ("homes", "changed_names", "touched"):
            connection.execute(f"CREATE TABLE {table} AS {getattr(report_sql, table.upper())}")
        names = _rows(
            connection,
            "SELECT count(*) FILTER (is_new) AS added, count(*) FILTER (NOT is_new) AS removed,"
            " count(DISTINCT concept) AS concepts FROM changed_names",
        )[0]
        moved = _rows(connection, report_sql.MOVED)
        return {
            "old": before.folder.name,
            "new": after.folder.name,
            "sources": _releases(before, after),
            "concepts_added": [row["concept"] for row in _rows(connection, report_sql.ADDED)],
            "concepts_removed": moved,
            "retired": [row for row in moved if row["why"].startswith("retired")],
            "merges": _rows(connection, report_sql.MERGED),
            "splits": _rows(connection, report_sql.SPLIT),
            "names": names,
            "grounded": _grounded(connection, session.workspace),
        }


def _releases(before: Vocabulary, after: Vocabulary) -> list[dict[str, str]]:
    old = {item["source"]: item["release"] for item in before.manifest["sources"]}
    new = {item["source"]: item["release"] for item in after.manifest["sources"]}
    return [
        {"source": source, "old": old.get(source, "absent"), "new": new.get(source, "absent")}
        for source in sorted(old.keys() | new.keys())
    ]


def _grounded(connection: Connection, workspace: Workspace) -> dict[str, Any]:
    """Mentions of touched concepts in what the ground stage wrote, by article."""
    files = _mention_files(workspace)
    add_view(connection, "mentions", files, Mention)
    articles = _rows(connection, report_sql.MENTIONS)
    return {"shards": len(files), "mentions": sum(row["mentions"] for row in articles), "articles": articles}


def _mention_files(workspace: Workspace) -> list[Path]:
    return sorted(workspace.stage("ground").glob("*/mentions.parquet"))
