"""What a command would do, for `--dry-run`: nothing is written, nothing is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flows.crawl.repositories import CrawlRequest, preview_request
from flows.crawl.repositories.base import as_folder
from flows.crawl.selection import selections
from flows.engine.runner import Resource, plan
from flows.engine.session import read_session
from flows.engine.settings import load_settings
from flows.engine.workspace import Workspace
from schemas.stages import RecordStage, SetStage


def preview_crawl(request: CrawlRequest, root: str | None) -> dict[str, int] | None:
    """How many articles of a crawl are new and how many were selected before; None if only asking can tell.

    Raises:
        UsageError: the request cannot be carried out.
    """
    settings = load_settings(workspace=root)
    locators = preview_request(request, settings)
    if locators is None:
        return None
    wanted = set(locators)
    held = {
        locator
        for item in selections(Workspace(settings.workspace))
        if item.source == request.source and item.root in ("", str(as_folder(request.target)))
        for locator in item.locators
    }
    return {"new": len(wanted - held), "known": len(wanted & held)}


def preview_stages(
    verb: str, root: str | None, tasks: Sequence[str], spec: str | None, overrides: Mapping[str, str]
) -> list[dict[str, Any]]:
    """How many shards of each stage of a verb are up to date.

    A stage behind one that has work to do is planned on what stands now.
    """
    from flows.build.stages import VERSIONS

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
    if verb == "extract":
        from flows.engine.specs import check_images, image_params

        check_images(image_params(spec, overrides))
    if verb == "build":
        from flows.engine.specs import chosen_tasks, task_params

        chosen_tasks(tasks or sorted(task_params(spec, overrides)))


def _stages(
    verb: str, workspace: Workspace, tasks: Sequence[str], spec: str | None, overrides: Mapping[str, str]
) -> list[tuple[RecordStage | SetStage, Mapping[str, Any], Mapping[str, Resource]]]:
    if verb == "extract":
        from flows.build.stages import EXTRACTION
        from flows.engine.specs import image_params

        raw = {"raw": Resource(workspace.raw)}
        images = image_params(spec, overrides)
        return [
            (stage, images if stage.name == "images" else {}, raw if stage.resources else {})
            for stage in EXTRACTION
        ]
    if verb == "ground":
        from curation.concepts.stage import GROUND, GROUND_QUESTIONS
        from flows.build.stages import GROUNDING
        from flows.vocabulary.indexes import planned_index

        backend = overrides.get("backend", "native")
        index = planned_index(workspace, backend)
        unmade = Resource(workspace.root, "no vocabulary yet")
        params: dict[str, Any] = {"backend": backend, "overlaps": overrides.get("overlaps") == "True"}
        given = {GROUND.name: params, GROUND_QUESTIONS.name: params}
        used = index.resources if index else dict.fromkeys(("vocabulary", "types", "relations"), unmade)
        return [(stage, given.get(stage.name, {}), used) for stage in GROUNDING]
    from curation.tasks.registry import TASKS
    from flows.build.resources import task_resources
    from flows.engine.specs import chosen_tasks, task_params

    params = task_params(spec, overrides)
    chosen = [TASKS[name] for name in chosen_tasks(tasks or sorted(params))]
    planned: list[tuple[RecordStage | SetStage, Mapping[str, Any], Mapping[str, Resource]]] = []
    for task in chosen:
        planned.append((task.per_article, params.get(task.name, {}), task_resources(workspace, task)))
        planned.append((task.over_all, {}, {}))
    return planned
