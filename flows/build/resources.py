"""Vocabulary files that a benchmark task asks for."""

from __future__ import annotations

from collections.abc import Mapping

from flows.engine.runner import Resource
from flows.engine.workspace import Workspace
from flows.vocabulary.indexes import planned_index
from schemas.errors import WorkspaceError
from schemas.stages import RecordStage, SetStage
from sources.stage import CRAWL


def task_resources(workspace: Workspace, task: str, stage: RecordStage | SetStage) -> Mapping[str, Resource]:
    """Files for the resources a stage of a task names.

    Raises:
        WorkspaceError: there is no vocabulary yet, or nothing at all.
    """
    if not stage.resources:
        return {}
    index = planned_index(workspace, "native")
    if index is None:
        is_empty = not workspace.stage(CRAWL).is_dir()
        missing = "nothing is crawled yet" if is_empty else f"task {task!r} needs a vocabulary"
        hint = "medqrels run --spec SPEC, or medqrels crawl" if is_empty else "medqrels ground"
        raise WorkspaceError(missing, file=str(workspace.root), hint=hint)
    return {name: index.resources[name] for name in stage.resources}
