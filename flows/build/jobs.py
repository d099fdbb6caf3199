"""The jobs of a step of the pipeline: its stage, what was chosen, and the files of its resources."""

from __future__ import annotations

from collections.abc import Mapping

from flows.build.resources import task_resources
from flows.engine.runner import Job, Resource, plan
from flows.engine.session import Session
from flows.engine.workspace import Workspace
from flows.pipeline import VERSIONS, Choices, Step
from flows.vocabulary.indexes import planned_index


def jobs_of(session: Session, step: Step, choices: Choices) -> list[Job]:
    """A step, planned on what stands now.

    Raises:
        UsageError: the stage has no such setting.
        WorkspaceError: an input stage has not run or is out of date, or a task needs a vocabulary.
    """
    assert step.stage is not None, step.name
    return plan(
        session.workspace,
        step.stage,
        params=step.params(choices),
        resources=_resources(session.workspace, step, choices.grounding.backend),
        memory_limit=session.settings.memory_limit,
        versions=VERSIONS,
    )


def _resources(workspace: Workspace, step: Step, backend: str) -> Mapping[str, Resource]:
    """Files for the resources that a step's stage names; an index that is not made yet counts as one."""
    if step.stage is None or not step.stage.resources:
        return {}
    if step.task:
        return task_resources(workspace, step.task, step.stage)
    if step.verb == "extract":
        return {"raw": Resource(workspace.raw)}
    index = planned_index(workspace, backend)
    if index is not None:
        return index.resources
    return dict.fromkeys(
        ("vocabulary", "names", "types", "relations"), Resource(workspace.root, "no vocabulary yet")
    )
