"""Semantic types: the UMLS types and groups, and the documented rules for vocabularies that state none."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.vocabulary import ConceptType

_HERE = Path(__file__).parent


@functools.cache
def _types() -> Mapping[str, tuple[str, str]]:
    data = tomllib.loads((_HERE / "semantic_types.toml").read_text("utf-8"))
    return {tui: (group, name) for tui, (group, name) in data.items()}


@functools.cache
def _rules() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((_HERE / "semantic_rules.toml").read_text("utf-8"))


def groups() -> Mapping[str, str]:
    """Semantic group (DISO) of every semantic type (T047)."""
    return {tui: group for tui, (group, _) in _types().items()}


def type_names() -> Mapping[str, str]:
    """Name of every semantic type."""
    return {tui: name for tui, (_, name) in _types().items()}


def _rows(concept: str, types: Iterable[str], rule: str) -> Iterator[ConceptType]:
    for tui in types:
        yield ConceptType(concept=concept, semantic_type=tui, group=_types()[tui][0], rule=rule)


def by_hierarchy(parents: Mapping[str, Iterable[str]]) -> Iterator[ConceptType]:
    """Types of terms by their prefix and their nearest ancestor that has a rule.

    Args:
        parents: every concept of a vocabulary with its parents, CURIEs.

    Returns:
        Rows of the concepts whose prefix has rules; others get none.
    """
    for concept in parents:
        prefix = concept.partition(":")[0]
        rules = _rules().get(prefix)
        if rules is None:
            continue
        below = _below(prefix)
        found = _nearest(concept, parents, below)
        if found:
            types = sorted({tui for term in found for tui in below[term]})
            yield from _rows(concept, types, "below " + " ".join(found))
        else:
            yield from _rows(concept, rules["default"], f"{prefix} default")


@functools.cache
def _below(prefix: str) -> Mapping[str, Sequence[str]]:
    """Types of what lies below some terms of a vocabulary, by term."""
    return {item["term"]: item["types"] for item in _rules()[prefix].get("below", ())}


def _nearest(concept: str, parents: Mapping[str, Iterable[str]], wanted: Mapping[str, Any]) -> list[str]:
    level, seen = {concept}, {concept}
    while level and wanted:
        if found := sorted(level & wanted.keys()):
            return found
        level = {parent for item in level for parent in parents.get(item, ())} - seen
        seen |= level
    return []


def by_tree(concept: str, trees: Iterable[str]) -> Iterator[ConceptType]:
    """Types of a MeSH descriptor: the longest rule that begins each of its tree numbers."""
    rules = _rules()["MESH"]
    found = sorted({_longest("MESH", "tree", tree) for tree in trees} - {""})
    if not found:
        yield from _rows(concept, rules["default"], "MESH default")
    types: dict[str, str] = {}
    for beginning in found:
        for tui in rules["tree"][beginning]:
            types.setdefault(tui, f"MESH tree {beginning}")
    for tui, rule in sorted(types.items()):
        yield from _rows(concept, [tui], rule)


def by_icd10_code(concept: str, code: str) -> Iterator[ConceptType]:
    """Type of an ICD-10 code by the longest rule that begins it."""
    rules = _rules()["ICD10"]
    beginning = _longest("ICD10", "code", code)
    if beginning:
        yield from _rows(concept, rules["code"][beginning], f"ICD10 code {beginning}")
    else:
        yield from _rows(concept, rules["default"], "ICD10 default")


def _longest(prefix: str, kind: str, text: str) -> str:
    """The longest beginning of a text that has a rule; "" for none."""
    rules = _rules()[prefix][kind]
    return next((text[:length] for length in _lengths(prefix, kind) if text[:length] in rules), "")


@functools.cache
def _lengths(prefix: str, kind: str) -> Sequence[int]:
    """How long the beginnings are that have rules, the longest first."""
    return sorted({len(beginning) for beginning in _rules()[prefix][kind]}, reverse=True)
