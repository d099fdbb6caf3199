"""Shows one confusion set: the anchor, its eight concepts with path and distance, what was rejected, why."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.tasks.concept_discrimination.anchors import NAME
from flows.engine.runner import table_files
from flows.engine.workspace import Workspace
from flows.vocabulary import current
from schemas.errors import UsageError

_WHY = {
    "1": "far members, and the document of the gold concept shares a word with the marked ones",
    "2": "near members, and the document of the gold concept shares a word with the marked ones",
    "3": "near members, and the document of the gold concept shares no word with the marked ones",
    "": "the marked words are in another language than the documents, so none can be shared",
}
_SHOWN = 3
"""Rejected concepts named for each reason."""


def is_of_a_set(record_id: str) -> bool:
    """Whether an id is that of such a query."""
    return record_id.startswith(f"{NAME}-")


def trace_set(workspace: Workspace, query_id: str) -> dict[str, Any]:
    """Everything the workspace holds about one query's set.

    Args:
        workspace: an open workspace.
        query_id: id of the query.

    Raises:
        UsageError: no such query was built.
    """
    tables = {
        name: _rows(table_files(workspace, f"{NAME}_all.{name}"), column, query_id)
        for name, column in (
            ("anchored", "query_id"), ("sets", "query_id"), ("confusions", "query_id"),
            ("checked", "query_id"), ("queries", "id"), ("_dropped", "id"), ("asked_sets", "query_id"),
        )
    }  # fmt: skip
    if not tables["anchored"] and not tables["_dropped"]:
        raise UsageError(
            f"no query {query_id!r} in this workspace",
            record=query_id,
            file=str(workspace.root),
            hint=f"medqrels build {NAME} makes the sets; ids stand in its queries table",
        )
    named = {row["concept"] for name in ("confusions", "checked", "anchored") for row in tables[name]}
    named |= {row["via"] for row in tables["confusions"]}
    inside = sorted({row["concept"] for row in tables["confusions"]})
    files = table_files(workspace, f"{NAME}_all.named")
    tables["named"] = _in(files, "concept", inside) if inside else []
    return {"id": query_id, "tables": tables, "labels": _labels(workspace, named)}


def _rows(files: tuple[Path, ...], column: str, value: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in files:
        found += pq.read_table(path, filters=pc.field(column) == value).to_pylist()
    return found


def _in(files: tuple[Path, ...], column: str, values: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in files:
        found += pq.read_table(path, filters=pc.field(column).isin(values)).to_pylist()
    return found


def _labels(workspace: Workspace, concepts: set[str]) -> dict[str, str]:
    """A name of each concept: a preferred one where there is any, the first in order."""
    vocabulary = current(workspace)
    if vocabulary is None or not concepts:
        return {}
    columns = ["concept", "name", "language", "is_preferred"]
    wanted = pc.field("concept").isin(sorted(concepts))
    rows = pq.read_table(vocabulary.table("names"), columns=columns, filters=wanted).to_pylist()
    rows.sort(key=lambda row: (row["language"] != "en", not row["is_preferred"], row["name"]))
    found: dict[str, str] = {}
    for row in rows:
        found.setdefault(row["concept"], row["name"])
    return found


def describe_set(found: dict[str, Any]) -> str:
    """The set as text for people."""
    tables, labels = found["tables"], found["labels"]
    lines = [found["id"]]
    for row in tables["queries"]:
        tier = f"tier {row['tier']}" if row["tier"] else "no tier"
        lines += [f"  from {row['source_id']}, {tier}: {_WHY.get(row['tier'], '')}", ""]
        lines += [f"  {row['text']}", ""]
    for row in tables["anchored"]:
        concept = _named(row["concept"], labels) if row["concept"] else f"{row['concepts']} concepts"
        lines.append(f"  anchor {row['surface']!r}, by {row['link_id']}: {concept}")
    common = sorted({word for row in tables["confusions"] for word in row.get("common") or ()})
    lines += [f"  of its words too many names have {', '.join(common)} (stems)"] if common else []
    order = {"gold": 0, "member": 1}
    seeds = {row["concept"] for row in tables["checked"] if row.get("is_seed")}
    for row in sorted(tables["confusions"], key=lambda item: (order[item["role"]], item["corpus_id"])):
        lines.append(
            f"  {row['role']:<6} {_named(row['concept'], labels)}: {_path(row, labels)}; surface distance "
            f"{row['surface_distance'] / 1000:.3f}, {row['names']} names, named in {row['articles']} other "
            f"articles, depth {row['depth']}" + ("; excluded by ICD-10-CM" if row["concept"] in seeds else "")
        )
    lines += [f"  dropped: {row['reason']} {row['detail']}".rstrip() for row in tables["_dropped"]]
    lines += _in_languages(tables)
    return "\n".join([*lines, *_rejected(tables["checked"], labels)])


def _in_languages(tables: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The set in each language: the names with their source, or why it is not asked."""
    roles = {row["concept"]: row["role"] for row in tables["confusions"]}
    lines = [""] if tables["asked_sets"] else []
    for row in sorted(tables["asked_sets"], key=lambda item: str(item["document_language"])):
        language = row["document_language"]
        told = f"not asked: {row['reason']} {row['detail']}".rstrip() if row["reason"] else row["status"]
        lines.append(f"  in {language}, {told}")
        names = [item for item in tables["named"] if item["language"] == language]
        for item in sorted(names, key=lambda item: (roles[item["concept"]], item["concept"])):
            lines.append(
                f"    {roles[item['concept']]:<6} {item['name']} ({item['concept']}, {item['source']} "
                f"{item['term_type']}, {item['tier']})"
            )
    return lines


def _named(concept: str, labels: dict[str, str]) -> str:
    return f"{concept} {labels[concept]}" if concept in labels else concept


def _path(row: dict[str, Any], labels: dict[str, str]) -> str:
    """How it stands to the gold concept, in words."""
    if row["kin"] == "itself":
        return "the concept itself"
    if row["kin"] == "far":
        return "far: nothing within three steps above joins the two"
    steps = "up, down" if row["kin"] == "sibling" else "up, up, down, down"
    return f"{row['kin']} ({steps}) by {_named(row['via'], labels)}"


def _rejected(rows: list[dict[str, Any]], labels: dict[str, str]) -> list[str]:
    """Reasons, most frequent first, with some concepts of each."""
    by_reason: dict[str, list[str]] = collections.defaultdict(list)
    for row in sorted(rows, key=lambda item: str(item["concept"])):
        if row["reason"]:
            detail = f" ({row['detail']})" if row["detail"] else ""
            by_reason[row["reason"]].append(_named(row["concept"], labels) + detail)
    if not by_reason:
        return []
    ordered = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        "",
        *(
            f"  rejected, {reason}: {len(found)}, e.g. {'; '.join(found[:_SHOWN])}"
            for reason, found in ordered
        ),
    ]
