"""What a command would do, for `--dry-run`: nothing is written, nothing is fetched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.build.jobs import jobs_of
from flows.crawl.repositories.base import CrawlRequest
from flows.crawl.selection import selections
from flows.engine.runner import stages_before
from flows.engine.session import read_session
from flows.engine.settings import load_settings
from flows.engine.workspace import Workspace
from flows.pipeline import Choices, Step
from schemas.errors import WorkspaceError
from schemas.stages import SetStage


def preview_crawl(request: CrawlRequest, root: str | None) -> dict[str, int] | None:
    """How many articles of a crawl are new and how many were selected before; None if only asking can tell.

    Raises:
        UsageError: the request cannot be carried out.
    """
    settings = load_settings(workspace=root)
    locators = request.preview(settings)
    if locators is None:
        return None
    wanted = set(locators)
    held = {
        locator
        for item in selections(Workspace(settings.workspace))
        if item.source == request.source and item.root == request.root
        for locator in item.locators
    }
    return {"new": len(wanted - held), "known": len(wanted & held)}


def preview_stages(root: str | None, planned: Sequence[Step], chosen: Choices) -> list[dict[str, Any]]:
    """How many shards of some steps are up to date.

    A stage behind one that has work to do is planned on what stands now; without that, all of it is to do.
    """
    session = read_session(root)
    ahead: dict[str, int] = {}
    result = []
    for step in planned:
        if step.stage is None:  # answers of a model, taken from the store
            continue
        try:
            jobs = jobs_of(session, step, chosen)
            done = sum(job.is_done() for job in jobs)
            to_do = len(jobs) - done
        except WorkspaceError:
            waits_for = ahead.keys() & stages_before(step.stage)
            if not waits_for:
                raise
            done = 0
            to_do = 1 if isinstance(step.stage, SetStage) else max(ahead[name] for name in waits_for)
        if to_do:
            ahead[step.stage.name] = done + to_do
        result.append({"stage": step.name, "done": done, "to_do": to_do})
    return result
