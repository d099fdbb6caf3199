"""Vocabulary files that a benchmark task asks for."""

from __future__ import annotations

from collections.abc import Mapping

from flows.engine.runner import Resource
from flows.engine.workspace import Workspace
from flows.vocabulary.indexes import planned_index
from schemas.errors import WorkspaceError
from schemas.stages import RecordStage, SetStage


def task_resources(workspace: Workspace, task: str, stage: RecordStage | SetStage) -> Mapping[str, Resource]:
    """Files for the resources a stage of a task names.

    Raises:
        WorkspaceError: there is no vocabulary yet.
    """
    if not stage.resources:
        return {}
    index = planned_index(workspace, "native")
    if index is None:
        raise WorkspaceError(
            f"task {task!r} needs a vocabulary", file=str(workspace.root), hint="medqrels ground"
        )
    return {name: index.resources[name] for name in stage.resources}
