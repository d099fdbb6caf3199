"""Which review server a command talks to: a team's, named by the environment, or the workspace's own."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from annotation.client import Client, check_address
from curation.published.manifest import NAME
from flows.engine.releases import task_directories
from flows.engine.workspace import Workspace
from flows.review import label_studio
from flows.review.delivery import MediaFolder
from flows.review.people import account_ids, local_accounts, read_accounts
from flows.review.store import FOLDER, ReviewFolder
from flows.review.sync import Target
from schemas.errors import UsageError

URL_VARIABLE = "LABEL_STUDIO_URL"
KEY_VARIABLE = "LABEL_STUDIO_API_KEY"


def server_folder(workspace: Workspace) -> Path:
    """Folder of the workspace's own server."""
    return workspace.root / FOLDER / "server"


def media_folder(workspace: Workspace) -> MediaFolder:
    """Images of the workspace's reviews; its own server serves them from there."""
    return MediaFolder(server_folder(workspace).absolute() / "media")


def connect(workspace: Workspace, *, allow_http: bool = False) -> Target:
    """The server of $LABEL_STUDIO_URL, else the workspace's own if it runs.

    Raises:
        UsageError: neither; or no token, or an address it may not be sent to.
    """
    media = media_folder(workspace)
    url = os.environ.get(URL_VARIABLE, "")
    if url:
        key = os.environ.get(KEY_VARIABLE, "")
        return Target(Client(url, key, allow_plain_http=allow_http), media, is_local=False)
    server = label_studio.running(server_folder(workspace))
    if server is None:
        raise UsageError(
            "no review server is running",
            file=str(server_folder(workspace)),
            hint=f"medqrels review start; or set {URL_VARIABLE} and {KEY_VARIABLE} for a team's server",
        )
    return Target(Client(server.url, server.token), media, is_local=True)


def address(workspace: Workspace) -> str | None:
    """Where the server is that commands talk to; None when none is named and none runs here.

    Raises:
        UsageError: LABEL_STUDIO_URL holds no plain address.
    """
    url = os.environ.get(URL_VARIABLE, "")
    if url:
        check_address(url, allow_plain_http=True)  # nothing is sent, but a password in it would be shown
        return url
    server = label_studio.running(server_folder(workspace))
    return None if server is None else server.url


def accounts_for(workspace: Workspace, target: Target, folder: ReviewFolder) -> Mapping[str, int]:
    """Pseudonym -> account id on the server; on the workspace's own server missing accounts are made."""
    if target.is_local:
        names = {row.annotator for row in folder.allotments()}
        accounts = local_accounts(workspace, target.client, names, server_folder(workspace).absolute())
    else:
        accounts = read_accounts(workspace)
    return account_ids(target.client, accounts)


def releases_of(name: str, workspace: Workspace) -> list[Path]:
    """Task folders that RELEASE/TASK means: a path, NAME@VERSION[/TASK], or NAME/TASK of the newest version.

    Raises:
        UsageError: there is none.
    """
    if Path(name).exists():
        return task_directories(name, workspace)
    release, _, task = name.partition("/")
    dataset, _, version = release.partition("@")
    versions = sorted(
        (path.name for path in (workspace.releases / dataset).glob("*") if path.is_dir()), key=_numbers
    )
    if not version and not versions:
        raise UsageError(
            f"no release of {dataset!r}",
            file=str(workspace.releases),
            hint="give NAME/TASK, NAME@VERSION/TASK or a path to a task folder",
        )
    folder = workspace.releases / dataset / (version or versions[-1])
    found = [path for path in task_directories(str(folder), workspace) if task in ("", path.name)]
    if not found:
        raise UsageError(f"the release has no task {task!r}", file=str(folder))
    return found


def task_directory(target: str, workspace: Workspace) -> Path:
    """The one task folder that RELEASE/TASK means, as in `review push`.

    Raises:
        UsageError: there is none, or there are several.
    """
    found = releases_of(target, workspace)
    if len(found) > 1:
        raise UsageError(
            f"{target!r} has several tasks", hint=f"name one: {target.rstrip('/')}/{found[0].name}"
        )
    if not (found[0] / NAME).is_file():
        raise UsageError(
            f"no task of a release at {target!r}", file=str(found[0]), hint="give a task folder or NAME/TASK"
        )
    return found[0]


def _numbers(version: str) -> tuple[list[int], str]:
    return [int(part) for part in re.findall(r"\d+", version)], version
