"""Where a release came from, in the terms of W3C PROV-O (`prov:`), from release.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curation.published.manifest import ReleaseManifest
from curation.release.credit import maintainers
from schemas.hashing import canonical_json, sha256_text
from schemas.published import Published
from schemas.spec import Citation
from schemas.tables import ANNOTATIONS, EXPANSIONS, QRELS, SOURCES

Node = dict[str, Any]
_SOFTWARE = {"@type": "prov:SoftwareAgent", "prov:label": "medqrels"}
_RELEASE = {"@type": "prov:Activity", "prov:label": "release", "prov:wasAssociatedWith": _SOFTWARE}
"""What wrote the files, after every stage."""


def creators(head: ReleaseManifest, citation: Citation) -> list[Node]:
    """The people the spec names, else the maintainers."""
    people: list[Node] = [{"@type": "sc:Person", "name": name} for name in citation.authors]
    return people or [{"@type": "sc:Organization", "name": maintainers(head)}]


def of_dataset(
    head: ReleaseManifest, facts: Mapping[str, Any], citation: Citation, models: Sequence[Mapping[str, Any]]
) -> Node:
    """Provenance of the whole: sources, vocabularies, earlier release, stages in order, people."""
    change = head.change
    before = {"@id": f"urn:medqrels:{change['parent']}"} if change.get("parent") else None
    found: Node = {
        "prov:wasDerivedFrom": [{"@id": SOURCES.name}, *map(_vocabulary, head.vocabularies)],
        "prov:wasGeneratedBy": [*(_stage(stage, models) for stage in head.stages), _RELEASE],
        "prov:wasAttributedTo": [
            {"@type": "prov:Agent", "prov:label": row["name"]} for row in creators(head, citation)
        ],
    }
    if before:
        label = f"{head.dataset}/{head.task} {change['previous']}"
        found["prov:wasRevisionOf"] = {**before, "@type": "prov:Entity", "prov:label": label}
    return found


def of_table(table: Published, head: ReleaseManifest, models: Sequence[Mapping[str, Any]]) -> Node:
    """Provenance of the tables that one stage, people or a model made; of others that of the whole."""
    if table.name == QRELS.name:
        made = next((stage for stage in head.stages if stage["name"] == head.task), None)
        return {"prov:wasGeneratedBy": _stage(made, models)} if made else {}
    if table.name == ANNOTATIONS.name:
        return {"prov:wasAttributedTo": {"@type": "prov:Agent", "prov:label": "annotators, by pseudonym"}}
    if table.name == EXPANSIONS.name:
        steps = {step["stage"] for step in models}
        return {
            "prov:wasGeneratedBy": [_stage(each, models) for each in head.stages if each["name"] in steps]
        }
    return {}


def _vocabulary(item: Mapping[str, str]) -> Node:
    found = {
        "@type": "prov:Entity",
        "prov:label": item["title"],
        "version": item["release"],
        "license": item["licence"],
        "url": item["url"],
        "sha256": item["sha256"],
    }
    return {name: value for name, value in found.items() if value}


def _stage(stage: Mapping[str, Any], models: Sequence[Mapping[str, Any]]) -> Node:
    """One stage as it ran; its settings are in full in release.json, and here by their hash."""
    settings = sha256_text(canonical_json(stage["params"]))
    agents: list[Node] = [_SOFTWARE]
    for step in models:
        if step["stage"] == stage["name"]:
            agents += [{"@type": "prov:SoftwareAgent", "prov:label": model} for model in step["models"]]
    return {
        "@type": "prov:Activity",
        "prov:label": f"{stage['name']}@{stage['version']}",
        "prov:used": {"@type": "prov:Entity", "prov:label": "settings", "sha256": settings},
        "prov:wasAssociatedWith": agents[0] if len(agents) == 1 else agents,
    }
