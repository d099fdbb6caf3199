"""What the command `publish` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flows.engine.published import note
from flows.engine.releases import task_directories
from flows.engine.session import current_reporter
from flows.engine.settings import load_settings
from flows.engine.workspace import Workspace, is_workspace
from flows.publish.ready import check_ready
from schemas.errors import UsageError

_SCHEME = "hf:"


def publish(
    release: str, to: str, *, private: bool = False, dry_run: bool = False, workspace: Path | None = None
) -> dict[str, Any]:
    """Check a release, and send to the Hub what it lacks.

    Args:
        release: NAME@VERSION or a version folder.
        to: `hf:ORG`.
        private: make new repositories private.
        dry_run: read and say what would be sent.
        workspace: folder of the workspace; a release in another folder needs none.

    Raises:
        UsageError: the destination is not one of these.
        ReleaseError: the release may not be published, or the Hub holds something that is not ours.
        FetchError: the Hub cannot be reached or says no; the same command goes on.
    """
    owner = to.removeprefix(_SCHEME)
    if not to.startswith(_SCHEME) or not owner or "/" in owner:
        raise UsageError(
            f"cannot publish to {to!r}", hint="--to hf:ORG, with a user or organization of the Hub"
        )
    settings = load_settings(workspace=workspace)
    opened = Workspace(settings.workspace)
    tasks = check_ready(task_directories(release, opened), settings.worker_count)
    from flows.adapters.hub import Hub
    from flows.publish.hub import Publisher

    hub = Hub(attempts=settings.http.attempts, timeout_seconds=max(60.0, settings.http.timeout_seconds))
    work = Publisher(hub, owner, tasks, private=private, reporter=current_reporter())
    plans, sent = (work.plan(), False) if dry_run else work.publish()
    first = tasks[0].manifest
    shown = [plan.shown() for plan in plans]
    result = {"dataset": first.dataset, "version": first.version, "to": to, "endpoint": hub.endpoint}
    if not dry_run and is_workspace(opened.root):
        names = {plan.repository: {"commit": plan.commit, "tag": work.tag} for plan in plans}
        note(opened, first.dataset, first.version, to, {"endpoint": hub.endpoint, "repositories": names})
    return {**result, "sent": sent, "repositories": shown}
