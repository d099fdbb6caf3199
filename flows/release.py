"""The release flow: partition, assemble each task's tables, card and manifest, audit what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.release.card import load_prose
from curation.release.manifest import ReleaseManifest
from curation.tasks.registry import TASKS
from flows.assembling import assemble_task, check_built
from flows.auditing import Audited, auditor, write
from flows.execution import workers
from flows.orchestration import flow, run_jobs
from flows.partitioning import partition_jobs
from flows.review.versions import check_version
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
    load_prose(path.parent)
    with write_session(workspace) as session, workers(1) as pool:
        for name in sorted(spec.tasks):
            check_built(session, TASKS[name], spec)
            check_version(session.workspace, spec, name, version)
        run_jobs(partition_jobs(session, spec, version), session.workspace, pool, session.reporter)
        manifests = [
            assemble_task(session, TASKS[name], spec, path.parent, version, overrides or {})
            for name in sorted(spec.tasks)
        ]
        return _audited(session, manifests)


def _audited(session: Session, manifests: Sequence[ReleaseManifest]) -> list[dict[str, Any]]:
    """Audit every task; each is a sibling of the others, so what one audit saw serves the next."""
    settings = session.settings
    with auditor(
        memory_limit=settings.memory_limit, workers=settings.worker_count, reporter=session.reporter
    ) as machine:
        root = session.workspace.releases
        directories = {root / one.dataset / one.version / one.task: one for one in manifests}
        return [
            _told(session, directories[directory], directory, done)
            for directory, done in machine.audit_all(tuple(directories))
        ]


def _told(session: Session, manifest: ReleaseManifest, directory: Path, done: Audited) -> dict[str, Any]:
    """Write one report, and say what came of it."""
    write(done, directory)
    report = done.report
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
