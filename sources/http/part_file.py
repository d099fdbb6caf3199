"""A large download on its way to disk: it survives cuts and crashes, and has its name only when whole.

`.NAME.part` holds the bytes so far, `.NAME.part.json` what they are the beginning of.
"""

from __future__ import annotations

import contextlib
import email.utils
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from schemas.errors import WorkspaceError

_BLOCK: Final = 1024 * 1024
_CHECKPOINT: Final = 8 * 1024 * 1024
_STRONG_AFTER_SECONDS: Final = 60.0
_CONTENT_RANGE: Final = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15}|\*)")


@dataclass(frozen=True, slots=True)
class Download:
    """A complete file on disk; with `status` 304 the given ETag still holds and nothing was written.

    `sha256` and `md5` are hex digests of the bytes as sent ('' for 304), header names lower case.
    """

    url: str
    path: Path
    status: int
    size_bytes: int
    sha256: str
    md5: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Origin:
    """What a part is the beginning of. `safe` bytes of it are known to be on disk."""

    url: str
    etag: str = ""
    last_modified: str = ""
    total: int | None = None
    safe: int = 0


class PartFile:
    """The unfinished file of one target; one writer at a time. A context manager that keeps what it has.

    Args:
        target: where the whole file goes; its folder is made.
        url: what is asked for; a part of another URL is thrown away.
    """

    def __init__(self, target: Path, url: str) -> None:
        self.size = 0
        self.rejections = 0
        self.target = target
        self._path = target.with_name(f".{target.name}.part")
        self._note = target.with_name(f".{target.name}.part.json")
        self._origin = _Origin(url)
        self._handle: BinaryIO | None = None
        self._furthest = 0
        self._start_hashes()

    def __enter__(self) -> PartFile:
        with _disk(self.target):
            self.target.parent.mkdir(parents=True, exist_ok=True)
            self._resume(self._origin.url)
        self._furthest = self.size
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is None:
            return
        with _disk(self.target):
            if self.size and self._condition():
                self._checkpoint()
                self._close()
            else:
                self.discard()

    @property
    def is_complete(self) -> bool:
        """Whether all announced bytes are there, so that only their name is missing."""
        return self._handle is not None and self.size > 0 and self.size == self._origin.total

    def request_headers(self, etag: str | None) -> dict[str, str]:
        """What to ask for: the rest, whether a complete part is still current, or everything.

        Args:
            etag: what the caller already has; asked for only when there is no part.
        """
        condition = self._condition()
        if not self.size or not condition:
            return {"If-None-Match": etag} if etag else {}
        if not self.is_complete:
            return {"Range": f"bytes={self.size}-", "If-Range": condition}
        return {"If-None-Match" if self._origin.etag else "If-Modified-Since": condition}

    def begin(self, headers: Mapping[str, str]) -> None:
        """Start over with a whole answer's body."""
        self.discard()
        self._origin = _Origin(
            self._origin.url, _strong_etag(headers), _strong_date(headers), _length(headers)
        )
        with _disk(self.target):
            self._handle = self._path.open("w+b")
            self._write_note()

    def continues(self, headers: Mapping[str, str]) -> bool:
        """Whether a partial answer (206) starts where this part ends, and is of the same file."""
        found = _CONTENT_RANGE.fullmatch(headers.get("content-range", "").strip())
        if found is None or not self.size or int(found[1]) != self.size:
            return False
        total = None if found[3] == "*" else int(found[3])
        etag = _strong_etag(headers)
        return total in (None, self._origin.total) and (not etag or etag == self._origin.etag)

    def append(self, piece: bytes) -> None:
        """Add bytes; every few MiB they are made safe against a power cut."""
        assert self._handle is not None
        with _disk(self.target):
            self._handle.write(piece)
            self._sha256.update(piece)
            self._md5.update(piece)
            self.size += len(piece)
            if self.size - self._origin.safe >= _CHECKPOINT:
                self._checkpoint()

    @property
    def total(self) -> int | None:
        """Announced size of the whole, in bytes."""
        return self._origin.total

    @property
    def md5(self) -> str:
        """Hex MD5 of what is there."""
        return self._md5.hexdigest()

    def finish(self, headers: Mapping[str, str]) -> Download:
        """Give the file its name."""
        assert self._handle is not None
        with _disk(self.target):
            self._handle.flush()
            os.fsync(self._handle.fileno())
            self._close()
            os.replace(self._path, self.target)
            self._note.unlink(missing_ok=True)
        return Download(
            self._origin.url, self.target, 200, self.size, self._sha256.hexdigest(), self.md5, headers
        )

    def discard(self) -> None:
        """Throw the part away."""
        self._close()
        self._note.unlink(missing_ok=True)
        self._path.unlink(missing_ok=True)
        self._origin = _Origin(self._origin.url)
        self._start_hashes()

    def reject(self) -> None:
        """Throw away a part that turned out wrong, and count it."""
        self.rejections += 1
        self.discard()

    def has_grown(self) -> bool:
        """Whether there is at least 1 MiB more than whenever this last said so."""
        if self.size - self._furthest < _BLOCK:
            return False
        self._furthest = self.size
        return True

    def _start_hashes(self) -> None:
        self.size = 0
        self._sha256 = hashlib.sha256()
        self._md5 = hashlib.md5(usedforsecurity=False)

    def _condition(self) -> str:
        return self._origin.etag or self._origin.last_modified

    def _resume(self, url: str) -> None:
        """Take over what an earlier run left, up to where it is known to be on disk."""
        found = _read_note(self._note)
        if found is None or found.url != url or not (found.etag or found.last_modified) or not found.safe:
            self.discard()
            return
        try:
            self._handle = self._path.open("r+b")
        except OSError:
            self.discard()
            return
        self._origin = found
        left = found.safe
        while left and (piece := self._handle.read(min(_BLOCK, left))):
            self._sha256.update(piece)
            self._md5.update(piece)
            left -= len(piece)
        if left:
            self.discard()
            return
        self.size = found.safe
        self._handle.seek(found.safe)
        self._handle.truncate()

    def _checkpoint(self) -> None:
        assert self._handle is not None
        self._handle.flush()
        os.fsync(self._handle.fileno())
        fields = {**asdict(self._origin), "safe": self.size}
        self._origin = _Origin(**fields)
        self._write_note()

    def _write_note(self) -> None:
        # In place: a note torn by a crash is unreadable, and the part is then fetched anew.
        self._note.write_text(json.dumps(asdict(self._origin), sort_keys=True), "utf-8")

    def _close(self) -> None:
        if self._handle is not None:
            self._handle.close()
            self._handle = None


@contextlib.contextmanager
def _disk(target: Path) -> Iterator[None]:
    """A full disk is no fault of the server: it must not look like one and be tried again."""
    try:
        yield
    except OSError as error:
        hint = "free space or check the folder's rights, then run the same command again"
        raise WorkspaceError(f"cannot write: {error.strerror}", file=str(target), hint=hint) from error


def _read_note(path: Path) -> _Origin | None:
    try:
        fields: dict[str, Any] = json.loads(path.read_text("utf-8"))
        found = _Origin(**fields)
    except (OSError, ValueError, TypeError):
        return None
    texts = (found.url, found.etag, found.last_modified)
    good = all(isinstance(text, str) for text in texts) and isinstance(found.total, int | None)
    return found if good and type(found.safe) is int and found.safe >= 0 else None


def _strong_etag(headers: Mapping[str, str]) -> str:
    """The ETag, or '' for none or a weak one, which does not promise equal bytes (RFC 9110, 8.8.1)."""
    etag = headers.get("etag", "").strip()
    return etag if len(etag) > 2 and etag.startswith('"') and etag.endswith('"') else ""


def _strong_date(headers: Mapping[str, str]) -> str:
    """Last-Modified, or '' when the file could have changed within the same second (RFC 9110, 8.8.2.2)."""
    modified = headers.get("last-modified", "").strip()
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        then = email.utils.parsedate_to_datetime(modified).timestamp()
        now = email.utils.parsedate_to_datetime(headers.get("date", "")).timestamp()
        if now - then >= _STRONG_AFTER_SECONDS:
            return modified
    return ""


def _length(headers: Mapping[str, str]) -> int | None:
    text = headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None
