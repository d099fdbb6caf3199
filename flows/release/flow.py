"""The release flow: partition, make each task's release, audit what was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.published.manifest import ReleaseManifest
from curation.release.card import load_prose
from curation.release.facts import views
from curation.release.reviewed import changes
from curation.tasks.registry import TASKS
from flows.build.partition import partition_jobs
from flows.engine.connection import query
from flows.engine.execution import workers
from flows.engine.orchestration import flow, run_jobs
from flows.engine.runs import current_run, measured
from flows.engine.session import Session, write_session
from flows.inspect.audit import PAGE, Audited, auditor, write
from flows.inspect.audit_status import NOT_AUDITED, standing
from flows.release.inputs import check_built
from flows.release.recorded import keep
from flows.release.versions import Made, Maker
from flows.specs import Dataset
from flows.vocabulary.indexes import checked

_WORTH_ANOTHER = frozenset({NOT_AUDITED, "invalid", "incomplete"})


@flow(name="release", validate_parameters=False)
def release(
    dataset: Dataset,
    version: str | None = None,
    workspace: str | None = None,
) -> list[dict[str, Any]]:
    """Make and audit a release of every task in a dataset's spec.

    Args:
        dataset: its spec, and where it was read.
        version: MAJOR.MINOR.PATCH; when not given it follows from what changed since the newest release
            (curation.release.change), and where nothing did, that one stands.
        workspace: folder of the workspace.
    """
    spec = dataset.spec
    load_prose(dataset.cards, sorted(spec.tasks))
    with write_session(workspace, flow="release") as session, workers(1) as pool:
        checked(session.workspace)
        for name in sorted(spec.tasks):
            check_built(session, TASKS[name], spec)

        def partition(version: str | None) -> None:
            run_jobs(partition_jobs(session, spec, version), session.workspace, pool, session.reporter)

        with measured() as cost:
            made = Maker(session, spec, dataset.cards, dataset.overrides, partition).make(version)
            keep(session.workspace, dataset, made.version)
            session.reporter.line(made.line(spec.name))
            results = _audited(session, made)
        current_run().stage(_summary(made, results), cost)
        current_run().set(releases=results)
        return results


def _summary(made: Made, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A release and its audit in the form of a stage's summary."""
    rows = {f"{one['task']}.{table}": count for one in results for table, count in one["counts"].items()}
    count = {"made": len(results) * made.is_new, "reused": len(results) * (not made.is_new)}
    return {"stage": "release", "shards": count, "units": {}, "dropped": {}, "rows": rows}


def _audited(session: Session, made: Made) -> list[dict[str, Any]]:
    """Audit every task; each is a sibling of the others, so what one audit saw serves the next.

    A release that stands, with audits of exactly its files, is not audited again, unless one says more of the
    audit than of the release: a defect it missed, a rule that could not run.
    """
    settings = session.settings
    root = session.workspace.releases
    directories = {root / one.dataset / one.version / one.task: one for one in made.manifests}
    held = [standing(directory, manifest).audit for directory, manifest in directories.items()]
    is_audited = all((directory / PAGE).is_file() for directory in directories)
    if made.is_new or not is_audited or _WORTH_ANOTHER.intersection(held):
        with auditor(
            memory_limit=settings.memory_limit, workers=settings.worker_count, reporter=session.reporter
        ) as machine:
            for directory, done in machine.audit_all(tuple(directories)):
                _note(session, directories[directory], directory, done)
    return [_result(made, manifest, directory) for directory, manifest in directories.items()]


def _note(session: Session, manifest: ReleaseManifest, directory: Path, done: Audited) -> None:
    """Write one report, and say what came of it."""
    write(done, directory)
    empty = "empty; " if manifest.is_empty else ""
    counts = ", ".join(f"{count:,} {table}" for table, count in manifest.counts.items())
    name = f"{manifest.dataset}@{manifest.version} {manifest.task}"
    mark = "publishable" if done.report.publishable else "not publishable"
    session.reporter.line(f"release {name}: {empty}{counts}; audit {done.report.verdict}, {mark}")


def _result(made: Made, manifest: ReleaseManifest, directory: Path) -> dict[str, Any]:
    """One task of the release as plain values."""
    held = standing(directory, manifest)
    return {
        "path": str(directory),
        "dataset": manifest.dataset,
        "version": manifest.version,
        "is_new": made.is_new,
        "why": made.why,
        "change": dict(manifest.change),
        "task": manifest.task,
        "release_hash": manifest.release_hash,
        "is_empty": manifest.is_empty,
        "publishable": held.publishable,
        "not_publishable_because": list(held.because),
        "counts": dict(manifest.counts),
        "judged_by_people": changes(query(), views(directory)),
        "exclusions": dict(manifest.exclusions),
        "audit": held.audit,
        "audit_page": str(directory / PAGE),
    }
