"""Files a crawl stored, read again: never other bytes than those that were fetched."""

from __future__ import annotations

from pathlib import Path

from schemas.errors import WorkspaceError
from schemas.hashing import sha256_bytes, sha256_file


def read_stored(raw: Path, path: str, sha256: str, *, record: str) -> bytes:
    """Bytes of a file below raw/.

    Args:
        raw: the workspace's raw/ folder.
        path: of the file, below it.
        sha256: hex SHA-256 it had when it was fetched.
        record: id of what it belongs to, named in errors.

    Raises:
        WorkspaceError: it is missing or has changed.
    """
    try:
        data = (raw / path).read_bytes()
    except OSError as error:
        raise _gone(path, record) from error
    if sha256_bytes(data) != sha256:
        raise _changed(path, record)
    return data


def check_stored(raw: Path, path: str, sha256: str, *, record: str) -> None:
    """Hold a file of any size against its hash, block by block; see `read_stored`."""
    try:
        found = sha256_file(raw / path)
    except OSError as error:
        raise _gone(path, record) from error
    if found != sha256:
        raise _changed(path, record)


def _gone(path: str, record: str) -> WorkspaceError:
    return WorkspaceError(
        "a fetched file is no longer there",
        record=record,
        file=f"raw/{path}",
        hint="medqrels crawl fetches it again",
    )


def _changed(path: str, record: str) -> WorkspaceError:
    return WorkspaceError(
        "the bytes of a fetched file have changed since",
        record=record,
        file=f"raw/{path}",
        hint="delete the file; medqrels crawl fetches it again",
    )
