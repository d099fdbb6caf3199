"""What a workspace holds: shards and rows per stage, what was dropped and why, releases, crawl errors."""

from __future__ import annotations

from typing import Any

from curation.published.manifest import read_manifest
from flows.crawl.selection import selections
from flows.engine.execution import sum_up
from flows.engine.runner import shards_of
from flows.engine.workspace import Workspace
from flows.inspect.stages import stages_in
from flows.inspect.standing import standing
from schemas.errors import ReleaseError


def status(workspace: Workspace) -> dict[str, Any]:
    """Selection, stages and releases of a workspace as plain values."""
    selected = selections(workspace)
    stages = []
    for name in stages_in(workspace):
        shards = shards_of(workspace, name)
        body = sum_up(name, [(manifest, False) for manifest in shards.values()]).to_dict()
        body["shards"] = len(shards)
        stages.append(body)
    return {
        "workspace": str(workspace.root),
        "selected": {"articles": sum(len(item.locators) for item in selected), "shards": len(selected)},
        "stages": stages,
        "releases": _releases(workspace),
    }


def _releases(workspace: Workspace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(workspace.releases.glob("*/*/*/release.json")):
        try:
            manifest = read_manifest(path.parent)
        except ReleaseError as error:
            found.append({"path": str(path.parent), "error": error.message})
            continue
        held = standing(path.parent, manifest)
        found.append(
            {
                "path": str(path.parent),
                "dataset": manifest.dataset,
                "version": manifest.version,
                "task": manifest.task,
                "release_hash": manifest.release_hash,
                "is_empty": manifest.is_empty,
                "publishable": held.publishable,
                "not_publishable_because": list(held.because),
                "audit": held.audit,
            }
        )
    return found


def describe(found: dict[str, Any]) -> str:
    """The status as text for people."""
    lines = [f"workspace {found['workspace']}"]
    lines.append(
        f"  selected: {found['selected']['articles']:,} articles in {found['selected']['shards']} shards"
    )
    for stage in found["stages"]:
        rows = ", ".join(f"{count:,} {name}" for name, count in stage["rows"].items())
        lines.append(f"  {stage['stage']}: {stage['shards']} shards, {rows or 'no rows'}")
        lines += [f"    dropped {count:,} {reason}" for reason, count in stage["dropped"].items()]
    for release in found["releases"]:
        if "error" in release:
            lines.append(f"  release {release['path']}: {release['error']}")
            continue
        empty = "empty, " if release["is_empty"] else ""
        mark = "publishable" if release["publishable"] else "not publishable"
        lines.append(
            f"  release {release['dataset']}@{release['version']} {release['task']}: "
            f"{empty}audit {release['audit']}, {mark}"
        )
        lines += [f"    {reason}" for reason in release["not_publishable_because"]]
    if not found["releases"]:
        lines.append("  no release yet; next: medqrels run --spec data_cards/<dataset>/spec.toml")
    return "\n".join(lines)
