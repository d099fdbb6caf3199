"""What the concepts mentioned in an article say of its topic; names alone do where no CURIE is listed."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.labels.taxonomy import Taxonomy, read_data
from curation.labels.votes import Tallies, Tally
from schemas.concept import Mention

_MOST_CONCEPTS = 40
_MAX_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Named:
    """One concept an article affirms and the number of texts that do."""

    concept: str
    name: str
    texts: int


def named_in(mentions: Iterable[Mention]) -> tuple[Named, ...]:
    """Concepts affirmed of the patient or population, those in most texts first; negated ones never count."""
    texts: dict[str, set[str]] = {}
    names: dict[str, str] = {}
    for item in mentions:
        if item.is_negated or item.is_hypothetical or item.is_historical or item.is_family:
            continue
        texts.setdefault(item.concept, set()).add(item.text_id)
        names[item.concept] = min(names.get(item.concept, item.name), item.name)
    made = [Named(concept, names[concept], len(found)) for concept, found in texts.items()]
    return tuple(sorted(made, key=lambda item: (-item.texts, item.concept))[:_MOST_CONCEPTS])


@functools.lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    return read_data("concepts.toml")


def branches() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """CURIE -> facet -> labels."""
    found: Mapping[str, Mapping[str, Sequence[str]]] = _data()["branches"]
    return found


def lineage(concept: str, parents: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """A concept and its ancestors, nearest first, each once; cycles end."""
    seen = {concept: None}
    level = [concept]
    for _ in range(_MAX_DEPTH):
        level = sorted({up for item in level for up in parents.get(item, ())} - set(seen))
        if not level:
            break
        seen.update(dict.fromkeys(level))
    return seen


def count(
    tallies: Tallies,
    taxonomy: Taxonomy,
    named: Iterable[Named],
    parents: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Count concepts: by CURIE where it or an ancestor is listed, else by the words of its name."""
    scale = _data()["points"]
    given: dict[str, float] = {}
    for item in named:
        for label, rule, worth in _hints(item, taxonomy, parents or {}, scale):
            points = min(worth * min(item.texts, 3), scale["most"] - given.get(label, 0.0))
            if points > 0:
                given[label] = given.get(label, 0.0) + points
                shown = f"{item.concept} {item.name}"
                tallies.setdefault(label, Tally()).add(rule, "concept", shown, points)


def _hints(
    item: Named, taxonomy: Taxonomy, parents: Mapping[str, Sequence[str]], scale: Mapping[str, float]
) -> list[tuple[str, str, float]]:
    listed = branches()
    above = [listed[concept] for concept in lineage(item.concept, parents) if concept in listed]
    if above:
        labels = dict.fromkeys(label for branch in above for label in branch.get(taxonomy.facet, ()))
        return [(label, f"{taxonomy.facet}.{label}.concept", scale["strong"]) for label in labels]
    found: dict[str, tuple[str, str, float]] = {}
    for hit in taxonomy.words.find(item.name):
        for entry in hit.entries:
            worth = scale[entry.strength]
            if entry.label not in found or found[entry.label][2] < worth:
                found[entry.label] = (entry.label, f"{taxonomy.facet}.{entry.label}.concept_name", worth)
    return [found[label] for label in sorted(found)]


@functools.lru_cache(maxsize=2)
def parents_in(relations: Path) -> Mapping[str, tuple[str, ...]]:
    """Parents by concept from a Parquet file of ConceptRelation, for vocabularies that have branches here."""
    prefixes = sorted({concept.partition(":")[0] for concept in branches()})
    pattern = f"^(?:{'|'.join(prefixes)}):"
    table = pq.read_table(relations, columns=["concept", "relation", "other"])
    kept = table.filter(
        pc.and_(
            pc.equal(table["relation"], "parent"),
            pc.and_(
                pc.match_substring_regex(table["concept"], pattern),
                pc.match_substring_regex(table["other"], pattern),
            ),
        )
    )
    found: dict[str, set[str]] = {}
    for concept, other in zip(kept["concept"].to_pylist(), kept["other"].to_pylist(), strict=True):
        found.setdefault(concept, set()).add(other)
    return {concept: tuple(sorted(others)) for concept, others in sorted(found.items())}
