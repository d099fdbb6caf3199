"""The release flow: assemble each task's tables, card and manifest, then audit what was written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curation.release.assemble import assemble
from curation.release.manifest import BuildRecord, ReleaseManifest, Retention, StageRecord
from curation.tasks.registry import TASKS
from flows.auditing import audit_directory
from flows.database import query
from flows.orchestration import flow, task
from flows.runner import shards_of, table_files
from flows.session import Session, write_session
from flows.specs import read_spec, spec_path
from flows.workspace import STORAGE_VERSION
from schemas.errors import WorkspaceError
from schemas.spec import DatasetSpec
from schemas.stages import Task

BEFORE_TASKS = ("crawl", "parse", "extract")


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
    results = []
    with write_session(workspace) as session:
        for name in sorted(spec.tasks):
            assemble_task = task(name="assemble", task_run_name=f"assemble/{name}")(_assemble)
            manifest = assemble_task(session, TASKS[name], spec, path.parent, version, dict(overrides or {}))
            directory = session.workspace.releases / spec.name / version / name
            report = audit_directory(directory)
            counts = ", ".join(f"{count:,} {table}" for table, count in manifest.counts.items())
            session.reporter.line(f"release {spec.name}@{version} {name}: {counts}; audit {report.verdict}")
            results.append(
                {
                    "path": str(directory),
                    "dataset": spec.name,
                    "version": version,
                    "task": name,
                    "release_hash": manifest.release_hash,
                    "publishable": manifest.publishable,
                    "counts": dict(manifest.counts),
                    "audit": report.verdict,
                    "audit_page": str(directory / "audit.html"),
                }
            )
    return results


def _assemble(
    session: Session, built: Task, spec: DatasetSpec, cards: Path, version: str, overrides: dict[str, str]
) -> ReleaseManifest:
    stages = (*BEFORE_TASKS, built.per_article.name, built.over_all.name)
    tables: dict[str, tuple[Path, ...]] = {
        name: table_files(session.workspace, f"{built.over_all.name}.{name}")
        for name in ("queries", "documents", "qrels", "excluded")
    }
    tables["sources"] = table_files(session.workspace, "extract.sources")
    for stage in stages:
        tables[f"drops/{stage}"] = table_files(session.workspace, f"{stage}._dropped")
    return assemble(
        built,
        tables,
        raw=session.workspace.raw,
        out=session.workspace.releases,
        spec=spec,
        cards=cards,
        version=version,
        build=_build_record(session, stages, overrides),
        query=query(session.settings.memory_limit),
    )


def _build_record(session: Session, stages: tuple[str, ...], overrides: dict[str, str]) -> BuildRecord:
    """Stage versions, settings and retention, summed over shards.

    Raises:
        WorkspaceError: shards of one stage were made by different versions or settings.
    """
    records, retention = [], []
    for name in stages:
        manifests = list(shards_of(session.workspace, name).values())
        if not manifests:
            raise WorkspaceError(f"stage {name!r} has not run", hint="medqrels run --spec …")
        if len({(item.version, str(item.params)) for item in manifests}) > 1:
            raise WorkspaceError(
                f"shards of stage {name!r} were made with different settings", hint="run the stage again"
            )
        records.append(StageRecord(name, manifests[0].version, dict(manifests[0].params)))
        for unit in manifests[0].units:
            retention.append(
                Retention(
                    name,
                    unit,
                    sum(item.units[unit]["in"] for item in manifests),
                    sum(item.units[unit]["kept"] for item in manifests),
                )
            )
    return BuildRecord(STORAGE_VERSION, tuple(records), tuple(retention), overrides)
