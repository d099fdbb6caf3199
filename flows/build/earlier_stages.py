"""Earlier stages of tasks: what the newest release says of them, taken in so that a build lets it stand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from flows.engine.execution import StageSummary
from flows.engine.releases import earlier_releases
from flows.engine.runner import ALL, read_rows, shards_of, table_files
from flows.engine.session import Session
from flows.engine.workspace import Workspace
from flows.pipeline import EARLIER_VERSION
from flows.review.brought import bring
from schemas.errors import WorkspaceError
from schemas.stages import EarlierStage


def bring_earlier(session: Session, dataset: str, task: str, stage: EarlierStage) -> None:
    """Write what the newest release of a dataset says of a task as a finished shard; without one no rows.

    Args:
        session: a session that holds the workspace.
        dataset: whose releases count; '' for nobody's, of a build without a spec.
        task: the task.
        stage: says which table and columns.
    """
    rows = _published(session.workspace, dataset, task, stage)
    manifest = bring(
        session.workspace, stage.name, EARLIER_VERSION, {"rows": (stage.row, rows)}, {"dataset": dataset}
    )
    summary = StageSummary(stage.name)
    summary.add(manifest, made=False)
    session.reporter.line(summary.line())


def check_stood(workspace: Workspace, dataset: str, task: str, stage: EarlierStage, hint: str) -> None:
    """Check that a task was built after the releases of this dataset, not of another.

    Raises:
        WorkspaceError: it was built for another dataset, whose rows stand in it or those of this one do not.
    """
    brought = shards_of(workspace, stage.name).get(ALL)
    if brought is not None and brought.params.get("dataset") == dataset:
        return
    taken = read_rows(stage.row, table_files(workspace, f"{stage.name}.rows"))
    if taken or _published(workspace, dataset, task, stage):
        raise WorkspaceError(
            f"task {task!r} was built for another dataset, or for none, and not after the releases of "
            f"{dataset!r}",
            file=str(workspace.stage(stage.name)),
            hint=hint,
        )


def _published(workspace: Workspace, dataset: str, task: str, stage: EarlierStage) -> list[Any]:
    """Rows of the newest release that has the table, sorted."""
    for _, folders in reversed(earlier_releases(workspace, dataset, None) if dataset else []):
        for folder in folders:
            files = stage.table.files(folder) if folder.name == task else []
            if files:
                names = list(stage.columns.values())
                found = pa.concat_tables(pq.read_table(path, columns=names) for path in files)
                fields = found.select(names).rename_columns(list(stage.columns))
                return [
                    stage.row(**row) for row in sorted(fields.to_pylist(), key=lambda row: [*row.values()])
                ]
    return []
