"""What the command `publish` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.adapters.places import LocalPlace, Place, open_place
from flows.engine.published import note, note_begun
from flows.engine.releases import task_directories
from flows.engine.session import current_reporter
from flows.engine.settings import Settings, load_settings
from flows.engine.workspace import Workspace, check_outside_releases, is_workspace
from flows.publish.ready import TaskRelease, check_ready
from schemas.errors import UsageError

if TYPE_CHECKING:  # it loads the library of the Hub, which a folder does not need
    from flows.adapters.hub import Hub

SCHEME = "hf:"
"""What a DEST on the Hub begins with."""


def publish(
    release: str, to: str, *, private: bool = False, dry_run: bool = False, workspace: Path | None = None
) -> dict[str, Any]:
    """Check a release, and send what its destination lacks.

    Args:
        release: NAME@VERSION or a version folder.
        to: `hf:ORG`, a folder, or `s3://BUCKET/PREFIX`.
        private: make new repositories of the Hub private.
        dry_run: read and say what would be sent.
        workspace: folder of the workspace; a release in another folder needs none.

    Raises:
        UsageError: the destination is not one of these.
        ReleaseError: the release may not be published, or the destination holds something that is not ours.
        FetchError: the destination cannot be reached or says no; the same command goes on.
    """
    owner = to.removeprefix(SCHEME) if to.startswith(SCHEME) else ""
    if to.startswith(SCHEME) and (not owner or "/" in owner):
        raise UsageError(
            f"cannot publish to {to!r}", hint="--to hf:ORG, with a user or organization of the Hub"
        )
    if private and not owner:
        raise UsageError("--private is of the Hub", hint="who may read a folder or bucket is set there")
    settings = load_settings(workspace=workspace)
    opened = Workspace(settings.workspace)
    place = None if owner else place_of(to, settings)
    tasks = check_ready(task_directories(release, opened), settings.worker_count)
    first = tasks[0].manifest
    to = to if place is None else place.address
    notes = not dry_run and is_workspace(opened.root)

    def begun() -> None:  # a purge must ask every place that may hold some of a release
        if notes:
            note_begun(opened, first.dataset, first.version, to)

    if place is None:
        to_note, result = _to_hub(owner, tasks, settings, private=private, dry_run=dry_run, begun=begun)
    else:
        to_note, result = _to_place(place, tasks, dry_run=dry_run, begun=begun)
    if notes:
        note(opened, first.dataset, first.version, to, to_note)
    return {"dataset": first.dataset, "version": first.version, "to": to, **result}


def place_of(to: str, settings: Settings) -> Place:
    """The folder or bucket that a DEST names."""
    place = open_place(
        to, attempts=settings.http.attempts, timeout_seconds=max(60.0, settings.http.timeout_seconds)
    )
    if isinstance(place, LocalPlace):
        check_outside_releases(place.root, "--to")
    return place


def hub_of(settings: Settings) -> Hub:
    """The Hub as the settings say how to talk to it."""
    from flows.adapters.hub import Hub

    return Hub(attempts=settings.http.attempts, timeout_seconds=max(60.0, settings.http.timeout_seconds))


def _to_hub(
    owner: str,
    tasks: Sequence[TaskRelease],
    settings: Settings,
    *,
    private: bool,
    dry_run: bool,
    begun: Callable[[], None],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What to remember, and what to tell."""
    from flows.publish.hub import Publisher

    hub = hub_of(settings)
    work = Publisher(hub, owner, tasks, private=private, reporter=current_reporter())
    if not dry_run:
        hub.check_may_write(owner)
    plans, sent = work.plan(), False
    if not dry_run:
        begun()
        plans, sent = work.publish()
    names = {plan.repository: {"commit": plan.commit, "tag": work.tag} for plan in plans}
    told = {"endpoint": hub.endpoint, "sent": sent, "repositories": [plan.shown() for plan in plans]}
    return {"endpoint": hub.endpoint, "repositories": names}, told


def _to_place(
    place: Place, tasks: Sequence[TaskRelease], *, dry_run: bool, begun: Callable[[], None]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What to remember, and what to tell."""
    from flows.publish.place import MANIFEST, PlacePublisher

    work = PlacePublisher(place, tasks, reporter=current_reporter())
    plan, sent = work.plan(), False
    if not dry_run:
        begun()
        plan, sent = work.publish()
    rows = work.shown(plan, is_published=plan.is_published or not dry_run)
    hashes = {one.manifest.task: one.manifest.release_hash for one in tasks}
    manifest = f"{work.address}/{MANIFEST}"
    return {"release_hashes": hashes}, {"sent": sent, "manifest": manifest, "repositories": rows}
