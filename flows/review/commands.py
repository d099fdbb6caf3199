"""What `review push`, `pull` and `status` do, without their texts."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotation.assignment import Person, read_people
from annotation.candidates import check_facets
from annotation.judge.sampling import PER_CELL
from annotation.verdicts import Terms
from curation.published.manifest import read_manifest
from flows.engine.scratch import own_temporary
from flows.engine.session import read_session, write_session
from flows.engine.workspace import Workspace
from flows.review.calibration import review_settings
from flows.review.calibration_draw import Wanted
from flows.review.candidates import Options, prepare
from flows.review.conflicts import CHANGED, linked, of_person
from flows.review.delivery import MediaFolder
from flows.review.items import prepare_items, stages_asking
from flows.review.people import login_of, note_accounts, passwords_path, read_accounts
from flows.review.progress import next_step, standing_of
from flows.review.reports import of_folder
from flows.review.server import accounts_for, address, connect, media_folder, releases_of, server_folder
from flows.review.store import BY_DOUBT, FRAME, ReviewFolder, review_folder, review_folders
from flows.review.sync import Target, pull, push, status
from flows.review.verdicts import terms_of
from schemas.errors import UsageError
from schemas.stages import ReviewStage
from schemas.wording import counted


@dataclass(frozen=True, slots=True)
class Push:
    """What `review push` was asked for, as given on the command line."""

    release: str
    per_item: int | None = None
    sample: int | None = None
    stratify: str = ""
    annotators: Path | None = None
    restore: bool = False
    draw_only: bool = False
    by_doubt: bool = False
    allow_http: bool = False
    dry_run: bool = False
    calibration: int | None = None
    per_cell: int = PER_CELL


def push_release(
    root: str | None, asked: Push, tell: Callable[[str], None] = lambda text: None
) -> list[dict[str, Any]]:
    """Draw, give out and send: per task, its numbers and those of every queue.

    Raises:
        UsageError: no such release or review, no server, or options that cannot be met.
        FetchError: the server cannot be reached, or keeps answering badly; the same call goes on from there.
    """
    if asked.dry_run:
        return _pushed(read_session(root).workspace, asked, tell)
    with write_session(root, create=True, flow="review_push") as session:
        return _pushed(session.workspace, asked, tell)


def _pushed(workspace: Workspace, asked: Push, tell: Callable[[str], None]) -> list[dict[str, Any]]:
    made = [_push_task(workspace, source, asked, tell) for source in _tasks(workspace, asked)]
    if not any(item.get("candidates", 1) for item in made):
        held = any(item["held_back"] for item in made)
        raise UsageError(
            "there is nothing to review" + (": everything is held back" if held else ""),
            record=asked.release,
            hint="held_back.parquet in the review's folder says why"
            if held
            else "a review draws from positives, and from runs of systems: medqrels evaluate",
        )
    return made


@dataclass(frozen=True, slots=True)
class _Asking:
    """A stage that asks people of a dataset's records."""

    dataset: str
    stage: ReviewStage


def _tasks(workspace: Workspace, asked: Push) -> list[Path | ReviewFolder | _Asking]:
    """Published tasks, and what their stages ask of single records; that needs no release.

    Where the release is no longer here, its reviews: those can still be sent.
    """
    dataset, _, name = asked.release.partition("/")
    try:
        found = releases_of(asked.release, workspace)
    except UsageError:
        if asking := [_Asking(dataset, stage) for stage in stages_asking(workspace, name)]:
            return [*asking]
        try:
            return [folder for _, _, folder in review_folders(workspace, asked.release)]
        except UsageError:
            pass
        raise
    heads = [read_manifest(path) for path in found]
    asking = [_Asking(one.dataset, stage) for one in heads for stage in stages_asking(workspace, one.task)]
    return [*found, *asking]


def _push_task(
    workspace: Workspace, source: Path | ReviewFolder | _Asking, asked: Push, tell: Callable[[str], None]
) -> dict[str, Any]:
    if isinstance(source, ReviewFolder):
        _readers_per_item(source, asked)
        drawn: dict[str, Any] = {"review": f"{source.path.parent.name}/{source.path.name}"}
        with connected(workspace, asked.allow_http) as target:
            return drawn | _send(workspace, target, source, asked, tell)
    dataset, name = _review_of(source)
    folder = review_folder(workspace, dataset, name)
    options = _options(workspace, asked, _readers_per_item(folder, asked))
    # A first dry run needs no server: all would be sent.
    is_apart = asked.draw_only or (asked.dry_run and not folder.candidates())
    server = contextlib.nullcontext() if is_apart else connected(workspace, asked.allow_http)
    with server as found, _place(workspace, folder, asked.dry_run) as (kept, media):
        if isinstance(source, _Asking):
            body = prepare_items(workspace, dataset, source.stage, options, kept)
        else:
            body = prepare(source, workspace, options, folder=kept, images=media.write).content()
        to = None if found is None else replace(found, media=media)
        sent = {"queues": []} if to is None else _send(workspace, to, kept, asked, tell)
    return body | {"folder": str(folder.path), "review": f"{dataset}/{name}"} | sent


def _review_of(source: Path | _Asking) -> tuple[str, str]:
    """Dataset and name of the review that a push is of."""
    if isinstance(source, _Asking):
        return source.dataset, source.stage.name
    head = read_manifest(source)
    return head.dataset, head.task


@contextlib.contextmanager
def _place(
    workspace: Workspace, folder: ReviewFolder, dry_run: bool
) -> Iterator[tuple[ReviewFolder, MediaFolder]]:
    """Where a push writes: a dry run does all of it on a copy, so that it tells exactly what would happen."""
    media = media_folder(workspace)
    if not dry_run:
        yield folder, media
        return
    with own_temporary(), tempfile.TemporaryDirectory(prefix="medqrels-review-") as name:
        copy = ReviewFolder(Path(name) / "review")
        if folder.path.is_dir():
            shutil.copytree(folder.path, copy.path)
        shown = MediaFolder(Path(name))
        shown.path.mkdir()
        for path in media.path.iterdir() if media.path.is_dir() else ():
            (shown.path / path.name).symlink_to(path)
        yield copy, shown


@contextlib.contextmanager
def connected(workspace: Workspace, allow_http: bool) -> Iterator[Target]:
    """The server, once it has taken the token: nothing is drawn or written for one that does not.

    Raises:
        UsageError: there is no server, or it refuses the token.
        FetchError: it cannot be reached.
    """
    target = connect(workspace, allow_http=allow_http)
    try:
        target.client.account()
        yield target
    finally:
        target.client.close()


def _send(
    workspace: Workspace, target: Target, folder: ReviewFolder, asked: Push, tell: Callable[[str], None]
) -> dict[str, Any]:
    """What became of every queue; on the workspace's own server, who logs in how and where passwords lie."""
    if not asked.dry_run:
        accounts_for(workspace, target, folder)
        if asked.by_doubt:
            folder.write_json(FRAME, folder.json(FRAME) | {BY_DOUBT: True})
    made = push(
        folder, target, dry_run=asked.dry_run, restore=asked.restore, by_doubt=asked.by_doubt, tell=tell
    )
    candidates = folder.candidates()
    for queue in made:
        found = queue["conflicts"]
        queue["conflicts"] = linked(found, candidates, target.client.url, queue["project"] or 0)
    if not target.is_local:
        return {"queues": made}
    logins = read_accounts(workspace)
    for queue in made:
        queue["login"] = login_of(queue["annotator"], logins)
    return {"queues": made, "passwords": str(passwords_path(server_folder(workspace).absolute()))}


def _readers_per_item(folder: ReviewFolder, asked: Push) -> int:
    """Readers of each item: the number of the review's first push, for verdicts wait for that many answers.

    Raises:
        UsageError: another one is asked for.
    """
    before = folder.json(FRAME).get("per_item") if folder.allotments() else None
    chosen = asked.per_item if asked.per_item is not None else int(before or Options().per_item)
    if before is not None and chosen != before:
        raise UsageError(
            f"each item of this review has {counted(before, 'annotator')}, not {chosen}",
            file=str(folder.path),
            hint=f"leave out --per-item, or give {before}: it holds for the whole review",
        )
    return chosen


def _options(workspace: Workspace, asked: Push, per_item: int) -> Options:
    options = Options(
        per_item=per_item,
        sample=asked.sample,
        stratify=check_facets(name.strip() for name in asked.stratify.split(",") if name.strip()),
        calibration=None if asked.calibration is None else Wanted(asked.calibration, asked.per_cell),
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
        return [{"review": f"{dataset}/{task}", "people": [], "reports": 0} for dataset, task, _ in found]
    with write_session(root, flow="review_pull") as session:
        workspace = session.workspace
        reviews = list(review_folders(workspace, review))
        with connected(workspace, allow_http) as target:
            return [
                {"review": f"{dataset}/{task}", "people": _pull(workspace, target, folder, accept)}
                | {"reports": len(of_folder(folder)), "next": next_step(folder, _terms(dataset, folder))}
                for dataset, task, folder in reviews
            ]


def _pull(workspace: Workspace, target: Target, folder: ReviewFolder, accept: bool) -> list[dict[str, Any]]:
    accounts = accounts_for(workspace, target, folder)
    found = _named(folder, pull(folder, target.client, accounts, accept=accept), target.client.url)
    for person in found:  # those of tasks are of the last push
        person["in_conflict"] = [item for item in person["in_conflict"] if item["kind"] == CHANGED]
    return found


def _named(folder: ReviewFolder, people: list[dict[str, Any]], server: str) -> list[dict[str, Any]]:
    """People with their conflicts by name."""
    return [
        item | {"in_conflict": of_person(folder, item["annotator"], item["role"], server)} for item in people
    ]


def _terms(dataset: str, folder: ReviewFolder) -> Terms:
    return terms_of(folder, review_settings(dataset))


def status_of(root: str | None, review: str) -> dict[str, Any]:
    """The server's address and, per review and person, what is drawn, sent and done; asks no server."""
    workspace = read_session(root).workspace
    server = address(workspace)
    return {
        "server": server,
        "reviews": [
            {"review": f"{dataset}/{task}", "people": _named(folder, status(folder), server or "")}
            | {"reports": len(of_folder(folder)), **standing_of(folder, _terms(dataset, folder))}
            for dataset, task, folder in review_folders(workspace, review)
        ],
    }
