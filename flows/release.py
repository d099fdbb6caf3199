"""The release flow: assemble each task's tables, card and manifest, then audit what was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.release.manifest import ReleaseManifest
from curation.tasks.registry import TASKS
from flows.assembling import assemble_task
from flows.auditing import audit_directory
from flows.orchestration import flow
from flows.session import Session, write_session
from flows.specs import read_spec, spec_path


@flow(name="release", validate_parameters=False)
def release(
    dataset: str,
    version: str,
    workspace: str | None = None,
    overrides: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Assemble and audit a release of every task in a dataset's spec; `dataset` is its name or spec path."""
    path = spec_path(dataset)
    spec = read_spec(path, overrides)
    with write_session(workspace) as session:
        results = []
        for name in sorted(spec.tasks):
            manifest = assemble_task(session, TASKS[name], spec, path.parent, version, overrides or {})
            results.append(_audited(session, manifest))
    return results


def _audited(session: Session, manifest: ReleaseManifest) -> dict[str, Any]:
    directory = session.workspace.releases / manifest.dataset / manifest.version / manifest.task
    report = audit_directory(directory)
    counts = ", ".join(f"{count:,} {table}" for table, count in manifest.counts.items())
    name = f"{manifest.dataset}@{manifest.version} {manifest.task}"
    session.reporter.line(f"release {name}: {counts}; audit {report.verdict}")
    return {
        "path": str(directory),
        "dataset": manifest.dataset,
        "version": manifest.version,
        "task": manifest.task,
        "release_hash": manifest.release_hash,
        "publishable": manifest.publishable,
        "counts": dict(manifest.counts),
        "audit": report.verdict,
        "audit_page": str(directory / "audit.html"),
    }
