"""Writing into raw/: a file is complete under its name or not there at all, whatever kills the process."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from schemas.stages import Reason
from sources.http import PoliteClient
from sources.ledger import Held, Ledger

_MD5 = re.compile(r"^[0-9a-f]{32}$")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_MAX_NAME_BYTES = 200


def md5_hex(data: bytes) -> str:
    """Hex MD5, which is what S3 announces; never used for anything but that comparison."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def as_md5(text: str | None) -> str | None:
    """The MD5 in an ETag or `md5=` value, or None: the ETag of a multi-part upload (`…-2`) is no MD5."""
    bare = (text or "").strip().removeprefix("W/").strip('"').lower()
    return bare if _MD5.match(bare) else None


def is_safe_name(name: str) -> bool:
    """Whether a repository's file name can be a file name here: no separators, no hidden or odd names."""
    return bool(
        name
        and not name.startswith(".")
        and not name.endswith((" ", "."))
        and not _UNSAFE.search(name)
        and len(name.encode("utf-8", "surrogatepass")) <= _MAX_NAME_BYTES
        and name.isprintable()
    )


class RawStore:
    """The raw/ folder with its ledger.

    Args:
        root: the workspace's raw/ folder.
        ledger: its ledger.
    """

    def __init__(self, root: Path, ledger: Ledger) -> None:
        self.root = root
        self.ledger = ledger

    def held(self, source: str, key: str, *, md5: str | None = None) -> Held | None:
        """What is stored under a key, if its file stands with the recorded size (and has that MD5)."""
        held = self.ledger.find(source, key)
        if held is None or (md5 is not None and held.md5 != md5):
            return None
        try:
            stands = (self.root / held.path).stat().st_size == held.size_bytes
        except OSError:
            return None
        return held if stands else None

    def read(self, held: Held) -> bytes | None:
        """The stored bytes, or None when they are no longer those that were recorded."""
        try:
            data = (self.root / held.path).read_bytes()
        except OSError:
            return None
        return data if sha256_bytes(data) == held.sha256 else None

    def head(self, held: Held, size: int = 512) -> bytes:
        """The first bytes of a stored object."""
        with (self.root / held.path).open("rb") as handle:
            return handle.read(size)

    def put(
        self,
        source: str,
        key: str,
        path: str,
        data: bytes,
        *,
        etag: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Held:
        """Store bytes under raw/`path`, then record them.

        Args:
            source: repository name.
            key: the object's key in the repository.
            path: POSIX path under raw/, made of safe names.
            data: the bytes.
            etag: ETag header of the answer they came in.
            headers: further headers worth keeping.

        Raises:
            InputError: the path would leave raw/ or holds an unsafe name.
        """
        _write(self._place(key, path), data)
        held = Held(
            source, key, path, sha256_bytes(data), md5_hex(data), len(data), etag, dict(headers or {})
        )
        self.ledger.record(held)
        return held

    def fetch_file(
        self,
        client: PoliteClient,
        url: str,
        source: str,
        key: str,
        path: str,
        *,
        max_bytes: int,
        md5: str | None = None,
    ) -> Held | None:
        """Fetch one large object straight to raw/`path` (resumable, constant memory), then record it.

        Args:
            client: the HTTP client.
            url: where the object is.
            source: repository name.
            key: the object's key in the repository.
            path: POSIX path under raw/, made of safe names.
            max_bytes: largest object accepted.
            md5: hex MD5 it must have.

        Returns:
            What is stored; what was stored already if it has that MD5 (nothing is asked) or the server says
            that its ETag still holds; None when the server does not have it.

        Raises:
            ChecksumMismatch, FetchError, InputError, WorkspaceError: as :meth:`PoliteClient.get_to_file`.
        """
        held = self.held(source, key, md5=md5)
        if held is not None and md5 is not None:
            return held
        etag = held.etag if held is not None else None
        target = self._place(key, path)
        found = client.get_to_file(url, target, max_bytes=max_bytes, md5=md5, etag=etag)
        if found is None or found.status == 304:
            return held if found is not None else None
        new = Held(source, key, path, found.sha256, found.md5, found.size_bytes, found.headers.get("etag"))
        self.ledger.record(new)
        return new

    def _place(self, key: str, path: str) -> Path:
        parts = PurePosixPath(path).parts
        if not parts or not all(is_safe_name(part) for part in parts):
            raise InputError("unsafe file name", reason=Reason.METADATA_INVALID.value, record=key, file=path)
        return self.root.joinpath(*parts)


def _write(target: Path, data: bytes) -> None:
    """Temporary name, fsync, rename. The name is fixed, so a crash leaves no litter.

    The folder needs no fsync of its own: should a power cut undo the rename, the row of the ledger names a
    file that is not there, `held` sees that, and the object is fetched anew. The bytes do need theirs: a
    file of the right size with lost blocks would pass for the object.
    """
    partial = target.with_name(f".{target.name}.part")
    try:
        handle = partial.open("wb")
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = partial.open("wb")
    with handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(partial, target)
