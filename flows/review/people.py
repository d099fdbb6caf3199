"""Who is behind a pseudonym: people.json of the workspace, readable by its owner only, never in a release."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from annotation.assignment import Person
from annotation.client import Client
from flows.engine.workspace import Workspace
from flows.review.label_studio import write_private
from flows.review.store import FOLDER
from schemas.errors import UsageError, WorkspaceError

LOCAL_DOMAIN = "medqrels.local"


def people_path(workspace: Workspace) -> Path:
    """Where the mapping lies."""
    return workspace.root / FOLDER / "people.json"


def read_accounts(workspace: Workspace) -> dict[str, str]:
    """Pseudonym -> e-mail address of the account on the review server.

    Raises:
        WorkspaceError: the file is damaged, or others may read it.
    """
    return _read(people_path(workspace))


def note_accounts(workspace: Workspace, people: Iterable[Person]) -> dict[str, str]:
    """Add the accounts that people were listed with; the whole mapping.

    Raises:
        UsageError: a pseudonym has another account already: its answers would become somebody else's.
    """
    path = people_path(workspace)
    before = read_accounts(workspace)
    named = {person.pseudonym: person.account.lower() for person in people if person.account}
    for pseudonym, account in sorted(named.items()):
        if before.get(pseudonym, account) != account:
            raise UsageError(
                f"the pseudonym {pseudonym} belongs to another account",
                file=str(path),
                hint="give the new person a pseudonym of their own",
            )
    now = before | named
    if now != before:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, dict(sorted(now.items())))
    return now


def passwords_path(server_folder: Path) -> Path:
    """Where the passwords of the accounts lie that were made on the workspace's own server."""
    return server_folder / "accounts.json"


def login_of(pseudonym: str, accounts: Mapping[str, str]) -> str:
    """The login of a person on the workspace's own server: as the person was listed, or made up."""
    return accounts.get(pseudonym) or f"{pseudonym.lower()}@{LOCAL_DOMAIN}"


def local_accounts(
    workspace: Workspace, client: Client, pseudonyms: Iterable[str], server_folder: Path
) -> dict[str, str]:
    """Make an account on the local server for everybody who has none, with a password in the server's folder.

    Returns:
        Pseudonym -> account, of everybody.
    """
    accounts = read_accounts(workspace)
    path = passwords_path(server_folder)
    passwords = _read(path)
    for pseudonym in sorted(set(pseudonyms)):
        login = login_of(pseudonym, accounts)
        if login not in passwords:
            passwords[login] = secrets.token_urlsafe(12)
            write_private(path, dict(sorted(passwords.items())))  # before the account: it must not be lost
        client.add_account(login, passwords[login])
        accounts[pseudonym] = login
    return note_accounts(workspace, [Person(name, account) for name, account in accounts.items()])


def account_ids(client: Client, accounts: Mapping[str, str]) -> dict[str, int]:
    """Pseudonym -> id of the account on the server, of those that have one there."""
    ids = client.accounts()
    return {name: ids[login.lower()] for name, login in accounts.items() if login.lower() in ids}


def _read(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise WorkspaceError("other users can read this file", file=str(path), hint=f"chmod 600 {path}")
    try:
        content = json.loads(path.read_text("utf-8"))
        return {str(name): str(value) for name, value in content.items()}
    except (ValueError, AttributeError) as error:
        raise WorkspaceError("this file is damaged", file=str(path)) from error
