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
        parts = PurePosixPath(path).parts
        if not parts or not all(is_safe_name(part) for part in parts):
            raise InputError("unsafe file name", reason=Reason.METADATA_INVALID.value, record=key, file=path)
        _write(self.root.joinpath(*parts), data)
        held = Held(
            source, key, path, sha256_bytes(data), md5_hex(data), len(data), etag, dict(headers or {})
        )
        self.ledger.record(held)
        return held


def _write(target: Path, data: bytes) -> None:
    """Temporary name, fsync, rename, fsync of the folder. The name is fixed, so a crash leaves no litter."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.part")
    with partial.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(partial, target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
