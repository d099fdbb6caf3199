"""What a command would do, for `--dry-run`: nothing is written, nothing is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from flows.runner import Resource, plan
from flows.selection import selections
from flows.session import read_session
from flows.settings import load_settings, require_contact
from flows.workspace import Workspace
from schemas.stages import RecordStage, SetStage


def preview_crawl(source: Literal["pmc", "folder"], target: Path, root: str | None) -> dict[str, int]:
    """How many articles of a crawl are new, and how many were selected before."""
    from flows.locators import discover, read_ids

    workspace = Workspace(load_settings(workspace=root).workspace)
    wanted = set(read_ids(target) if source == "pmc" else discover(target.resolve()))
    base = "" if source == "pmc" else str(target.resolve())
    held = {
        locator
        for item in selections(workspace)
        if item.source == source and item.root == base
        for locator in item.locators
    }
    return {"new": len(wanted - held), "known": len(wanted & held)}


def check_crawl(source: Literal["pmc", "folder"], target: Path) -> None:
    """Find what is wrong with a crawl before a flow is started for it.

    Raises:
        UsageError: nothing to crawl in `target`, or no contact address for a real server.
    """
    from flows.locators import discover, read_ids

    if source == "pmc":
        require_contact(load_settings())
        read_ids(target)
    else:
        discover(target.resolve())


def preview_stages(
    verb: str, root: str | None, tasks: Sequence[str], spec: str | None, overrides: Mapping[str, str]
) -> list[dict[str, Any]]:
    """How many shards of each stage of a verb are up to date.

    A stage behind one that has work to do is planned on what stands now.
    """
    from flows.stages import VERSIONS

    session = read_session(root)
    result = []
    for stage, params, resources in _stages(verb, session.workspace, tasks, spec, overrides):
        jobs = plan(session.workspace, stage, params=params, resources=resources, versions=VERSIONS)
        done = sum(job.is_done() for job in jobs)
        result.append({"stage": stage.name, "done": done, "to_do": len(jobs) - done})
    return result


def check_stages(
    verb: str, root: str | None, tasks: Sequence[str], spec: str | None, overrides: Mapping[str, str]
) -> None:
    """Find what is wrong with a command before a flow is started for it.

    Raises:
        MedqrelsError: no workspace, no such task, a spec that does not read.
    """
    read_session(root)
    if verb == "build":
        from flows.specs import chosen_tasks, task_params

        chosen_tasks(tasks or sorted(task_params(spec, overrides)))


def _stages(
    verb: str, workspace: Workspace, tasks: Sequence[str], spec: str | None, overrides: Mapping[str, str]
) -> list[tuple[RecordStage | SetStage, Mapping[str, Any], Mapping[str, Resource]]]:
    if verb == "extract":
        from curation.extract.stage import EXTRACT
        from sources.stage import PARSE

        return [(PARSE, {}, {"raw": Resource(workspace.raw)}), (EXTRACT, {}, {})]
    if verb == "ground":
        from curation.concepts.stage import GROUND
        from flows.vocabulary import hpo_names

        return [(GROUND, {}, {"vocabulary": hpo_names(workspace)})]
    from curation.tasks.registry import TASKS
    from flows.specs import chosen_tasks, task_params

    params = task_params(spec, overrides)
    chosen = [TASKS[name] for name in chosen_tasks(tasks or sorted(params))]
    planned: list[tuple[RecordStage | SetStage, Mapping[str, Any], Mapping[str, Resource]]] = []
    for task in chosen:
        planned += [(task.per_article, params.get(task.name, {}), {}), (task.over_all, {}, {})]
    return planned
