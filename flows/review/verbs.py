"""What `review push`, `pull` and `status` do, without their texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotation.assignment import Person, read_people
from annotation.candidates import check_facets
from flows.review.candidates import Options, prepare
from flows.review.label_studio import running
from flows.review.people import note_accounts
from flows.review.server import accounts_for, connect, releases_of, server_folder
from flows.review.store import ReviewFolder, review_folders
from flows.review.sync import Target, pull, push, status
from flows.session import read_session, write_session
from flows.workspace import Workspace
from schemas.errors import UsageError


@dataclass(frozen=True, slots=True)
class Push:
    """What `review push` was asked for, as given on the command line."""

    release: str
    per_item: int = 2
    sample: int | None = None
    stratify: str = ""
    annotators: Path | None = None
    restore: bool = False
    allow_http: bool = False
    dry_run: bool = False


def push_release(
    root: str | None, asked: Push, tell: Callable[[str], None] = lambda text: None
) -> list[dict[str, Any]]:
    """Draw, give out and send: per task, its numbers and those of every queue.

    Raises:
        UsageError: no such release or review, no server, or options that cannot be met.
        FetchError: the server cannot be reached, or keeps answering badly; the same call goes on from there.
    """
    if asked.dry_run:
        session = read_session(root)
        return [_push_task(session.workspace, path, asked, tell) for path in _tasks(session.workspace, asked)]
    with write_session(root, create=True) as session:
        return [_push_task(session.workspace, path, asked, tell) for path in _tasks(session.workspace, asked)]


def _tasks(workspace: Workspace, asked: Push) -> list[Path | ReviewFolder]:
    """Published tasks, or reviews whose release is no longer here: those can still be sent."""
    try:
        return [*releases_of(asked.release, workspace)]
    except UsageError:
        try:
            return [folder for _, _, folder in review_folders(workspace, asked.release)]
        except UsageError:
            pass
        raise


def _push_task(
    workspace: Workspace, source: Path | ReviewFolder, asked: Push, tell: Callable[[str], None]
) -> dict[str, Any]:
    target = connect(workspace, allow_http=asked.allow_http)
    try:
        if isinstance(source, ReviewFolder):
            folder, drawn = source, {"review": f"{source.path.parent.name}/{source.path.name}"}
        else:
            made = prepare(
                source,
                workspace,
                _options(workspace, asked),
                dry_run=asked.dry_run,
                images=target.media.write,
            )
            folder, drawn = made.folder, made.content() | {"review": f"{made.dataset}/{made.task}"}
            if asked.dry_run and not folder.candidates():
                return {**drawn, "queues": []}  # nothing was sent yet: all of it would be
        if not asked.dry_run:
            accounts_for(workspace, target, folder)
        queues = push(folder, target, dry_run=asked.dry_run, restore=asked.restore, tell=tell)
        return {**drawn, "queues": queues}
    finally:
        target.client.close()


def _options(workspace: Workspace, asked: Push) -> Options:
    options = Options(
        per_item=asked.per_item,
        sample=asked.sample,
        stratify=check_facets(name.strip() for name in asked.stratify.split(",") if name.strip()),
    )
    people = _people(asked.annotators)
    if people and not asked.dry_run:
        note_accounts(workspace, people)
    return replace(options, people=tuple(people))


def _people(path: Path | None) -> list[Person]:
    if path is None:
        return []
    try:
        return read_people(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("the list of annotators cannot be read", file=str(path)) from error


def pull_reviews(
    root: str | None, review: str, *, accept: bool = False, allow_http: bool = False, dry_run: bool = False
) -> list[dict[str, Any]]:
    """Bring the answers of every review of that name; per review what changed, per person.

    Raises:
        UsageError: no such review, or no server.
        FetchError: the server cannot be reached, or keeps answering badly; the same call goes on from there.
    """
    if dry_run:
        found = review_folders(read_session(root).workspace, review)
        return [{"review": f"{dataset}/{task}", "people": []} for dataset, task, _ in found]
    with write_session(root) as session:
        workspace = session.workspace
        target = connect(workspace, allow_http=allow_http)
        try:
            return [
                {"review": f"{dataset}/{task}", "people": _pull(workspace, target, folder, accept)}
                for dataset, task, folder in review_folders(workspace, review)
            ]
        finally:
            target.client.close()


def _pull(workspace: Workspace, target: Target, folder: ReviewFolder, accept: bool) -> list[dict[str, Any]]:
    accounts = accounts_for(workspace, target, folder)
    return pull(folder, target.client, accounts, accept=accept)


def status_of(root: str | None, review: str) -> dict[str, Any]:
    """The workspace's server and, per review and person, what is given and done; asks no server."""
    workspace = read_session(root).workspace
    server = running(server_folder(workspace))
    return {
        "server": None if server is None else server.url,
        "reviews": [
            {"review": f"{dataset}/{task}", "people": status(folder)}
            for dataset, task, folder in review_folders(workspace, review)
        ],
    }
