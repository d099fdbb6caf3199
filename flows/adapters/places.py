"""Places of releases, and of shards between machines: a folder, or a prefix of an S3 bucket.

Both write a file whole or not at all and never over one that is there, so that of two publishers one learns
of the other.
"""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from filelock import FileLock

from schemas.errors import FetchError, UsageError
from schemas.hashing import sha256_bytes, sha256_file

S3 = "s3://"
_PARTS, _SWAPS = ".parts", ".swaps.lock"
AGAIN = "what was sent stands; the same command goes on from here"
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
T = TypeVar("T")


class Place(Protocol):
    """Files by name; names are POSIX paths below the place.

    Raises:
        FetchError: of every method, when the place cannot be reached or written to.
    """

    @property
    def address(self) -> str:
        """How people name it; no credentials."""

    def listed(self, folder: str) -> dict[str, int]:
        """Name below a folder -> bytes of the file; empty when there is none."""

    def sha256(self, name: str) -> str:
        """SHA-256 of a file's content, '' when there is no such file."""

    def read(self, name: str) -> bytes | None:
        """Content of a small file, None when there is no such file."""

    def create(self, name: str, content: bytes) -> bool:
        """Write a small file; False, and nothing written, when one of that name is there."""

    def put(self, name: str, path: Path, sha256: str) -> bool:
        """Copy a file to the place; False, and nothing written, when one of that name is there."""

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""

    def fetch(self, name: str, path: Path) -> bool:
        """Copy a file from the place; False, and nothing written, when there is none of that name."""

    def tagged(self, name: str) -> tuple[bytes, str] | None:
        """Content of a small file with a tag that any change of it changes; None when there is none."""

    def swap(self, name: str, content: bytes, tag: str) -> bool:
        """Write a small file over the one with that tag; False, and nothing written, when it has another."""

    def delete(self, name: str) -> None:
        """Take a file away; one that is not there is no error."""

    def tidy(self, folder: str) -> None:
        """Remove what interrupted writes left below a folder, which no name shows."""

    def erase(self, folder: str, first: str = "") -> list[str]:
        """Delete everything below a folder for good, a file named `first` before all others.

        Older versions that a bucket keeps and unfinished uploads go too; returns what is there after that.
        """


class LocalPlace:
    """A folder of this machine, or one it has mounted."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    @property
    def address(self) -> str:
        """The folder."""
        return str(self.root)

    def listed(self, folder: str) -> dict[str, int]:
        """See :class:`Place`."""
        base = self.root / folder
        found = (path for path in base.rglob("*") if path.is_file()) if base.is_dir() else ()
        names = {path.relative_to(base).as_posix(): path for path in found}
        return {name: path.stat().st_size for name, path in names.items() if not name.startswith(_PARTS)}

    def sha256(self, name: str) -> str:
        """See :class:`Place`."""
        path = self.root / name
        return self._written("read", name, lambda: sha256_file(path) if path.is_file() else "")

    def read(self, name: str) -> bytes | None:
        """See :class:`Place`."""
        path = self.root / name
        return self._written("read", name, lambda: path.read_bytes() if path.is_file() else None)

    def create(self, name: str, content: bytes) -> bool:
        """See :class:`Place`."""
        return self._written("write", name, lambda: self._place(name, lambda part: part.write_bytes(content)))

    def put(self, name: str, path: Path, sha256: str) -> bool:
        """See :class:`Place`."""
        return self._written(
            "write", name, lambda: self._place(name, lambda part: shutil.copyfile(path, part))
        )

    def has(self, name: str) -> bool:
        """See :class:`Place`."""
        return (self.root / name).is_file()

    def fetch(self, name: str, path: Path) -> bool:
        """See :class:`Place`."""
        return self.has(name) and bool(
            self._written("read", name, lambda: shutil.copyfile(self.root / name, path))
        )

    def tagged(self, name: str) -> tuple[bytes, str] | None:
        """See :class:`Place`."""
        found = self.read(name)
        return None if found is None else (found, sha256_bytes(found))

    def swap(self, name: str, content: bytes, tag: str) -> bool:
        """See :class:`Place`; those that swap a file of a folder take turns."""
        path = self.root / name

        def work() -> bool:
            with FileLock(path.with_name(_SWAPS)):
                if not path.is_file() or sha256_file(path) != tag:
                    return False
                part = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
                part.write_bytes(content)
                os.replace(part, path)
                return True

        return self._written("write", name, work)

    def delete(self, name: str) -> None:
        """See :class:`Place`."""
        self._written("delete", name, lambda: (self.root / name).unlink(missing_ok=True))

    def tidy(self, folder: str) -> None:
        """See :class:`Place`."""
        shutil.rmtree(self.root / folder / _PARTS, ignore_errors=True)

    def erase(self, folder: str, first: str = "") -> list[str]:
        """See :class:`Place`."""
        base = self.root / folder
        if first:
            self.delete(f"{folder}/{first}")
        if base.is_dir():
            self._written("delete", folder, lambda: shutil.rmtree(base))
        return sorted(self.listed(folder))

    def _place(self, name: str, fill: Callable[[Path], object]) -> bool:
        """Write beside, then link into place: a link refuses a name that is taken, a rename would not."""
        target = self.root / name
        if target.exists():
            return False
        folder = self.root.joinpath(*Path(name).parent.parts[:2])
        part = folder / _PARTS / uuid.uuid4().hex
        part.parent.mkdir(parents=True, exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        fill(part)
        with part.open("rb") as handle:
            os.fsync(handle.fileno())
        try:
            os.link(part, target)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if target.exists():  # no links here: the best that is left
                return False
            os.rename(part, target)
        finally:
            part.unlink(missing_ok=True)
        return True

    def _written(self, what: str, name: str, work: Callable[[], T]) -> T:
        try:
            return work()
        except OSError as error:
            raise FetchError(
                f"could not {what} {name}: {error.strerror or type(error).__name__}",
                file=str(self.root / name),
                hint=AGAIN,
            ) from error


def open_place(to: str, *, attempts: int, timeout_seconds: float) -> Place:
    """The place a DEST names.

    Raises:
        UsageError: it names none.
    """
    if to.startswith(S3):
        from flows.adapters.s3_place import S3Place

        return S3Place(to, attempts=attempts, timeout_seconds=timeout_seconds)
    if not to or (urlsplit(to).scheme and "://" in to):
        raise UsageError(
            f"{to!r} names no place", hint="a folder, or s3://BUCKET/PREFIX; releases also go to hf:ORG"
        )
    return LocalPlace(Path(to))
