"""Vocabularies as text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.wording import counted

_FIRST = 10


def summary_text(result: Mapping[str, Any]) -> str:
    """What a build made."""
    joined, found = result["ids_joined"], result["cross_references"]
    return "\n".join(
        [
            f"{result['vocabulary']}: {counted(result['concepts'], 'concept')}, "
            f"{counted(result['rows']['names'], 'name')}",
            *_sources(result["sources"]),
            f"cross-references between sources: {found['merged']} merged ({counted(joined, 'id')} joined),"
            f" {found['kept']} kept, {found['refused']} refused",
        ]
    )


def _sources(sources: Sequence[Mapping[str, str]]) -> list[str]:
    return [
        f"  {item['source']}  {item['release'] or 'release not stated'}  {item['tier']}: {item['licence']}"
        for item in sources
    ]


def _table(title: str, rows: Sequence[Mapping[str, Any]], most: int = 0) -> list[str]:
    if not rows:
        return []
    shown = rows[:most] if most else rows
    lines = ["  " + "  ".join(str(value) for value in row.values()) for row in shown]
    tail = [f"  and {len(rows) - len(shown)} more"] if len(shown) < len(rows) else []
    return [f"{title} ({', '.join(rows[0])})", *lines, *tail]


def info_text(result: Mapping[str, Any]) -> str:
    """What a vocabulary holds."""
    rows = result["rows"]
    ambiguous = result["ambiguous_names"]
    return "\n".join(
        [
            f"{result['vocabulary']}: {counted(result['concepts'], 'concept')}, "
            f"{counted(rows['names'], 'name')}, {counted(rows['definitions'], 'definition')}, "
            f"{counted(rows['retired'], 'retired id')}",
            "made from",
            *_sources(result["made_from"]),
            *_table("licence tiers", result["tiers"]),
            *_table("languages", result["languages"]),
            *_table("sources of names", result["sources"], _FIRST * 2),
            *_table("semantic groups", result["groups"]),
            *_table("semantic types", result["semantic_types"], _FIRST),
            *_table("relations", result["relations"]),
            *_table("cross-references", result["cross_references"], _FIRST),
            *_table("ambiguous names", ambiguous["by_language"]),
            *_table("most ambiguous", ambiguous["most"]),
        ]
    )


def diff_text(result: Mapping[str, Any]) -> str:
    """What differs between two vocabularies."""
    names, grounded = result["names"], result["grounded"]
    changed = [item for item in result["sources"] if item["old"] != item["new"]]
    return "\n".join(
        [
            f"{result['old']} → {result['new']}",
            *(f"  {item['source']}: {item['old']} → {item['new']}" for item in changed),
            f"concepts: {len(result['concepts_added'])} added, {len(result['concepts_removed'])} gone",
            *_table("gone", result["concepts_removed"], _FIRST),
            f"merges: {len(result['merges'])}, splits: {len(result['splits'])}",
            *_table("merged", result["merges"], _FIRST),
            *_table("split", result["splits"], _FIRST),
            f"names: {names['added']} added, {names['removed']} removed, of "
            f"{counted(names['concepts'], 'concept')}",
            f"grounded: {counted(grounded['mentions'], 'mention')} of changed concepts in"
            f" {counted(len(grounded['articles']), 'article')} ({counted(grounded['shards'], 'shard')})",
            *_table("articles", grounded["articles"], _FIRST),
        ]
    )
