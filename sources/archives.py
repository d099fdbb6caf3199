"""Members of tar and ZIP archives as bytes in memory, under caps; nothing is ever unpacked onto the disk.

Archives come from strangers: names that leave the folder, links, bombs and damage end in an InputError.
"""

from __future__ import annotations

import contextlib
import gzip
import re
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal

from schemas.errors import InputError
from schemas.stages import Reason

MIB: Final = 1024 * 1024
_BLOCK: Final = MIB
_MAX_NAME: Final = 1024
_MAX_HEADER_BYTES: Final = MIB
"""Extended tar headers (long names) are read whole by the library; real ones are a few hundred bytes."""
_DIRECTORY_BYTES_PER_MEMBER: Final = 512
_GZIP: Final = b"\x1f\x8b"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE: Final = re.compile(r"^[A-Za-z]:")
_HEADERS: Final = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)
_DAMAGE: Final = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, struct.error,
    NotImplementedError, RuntimeError, OverflowError, LookupError,
)  # fmt: skip
"""What the standard library raises on damaged archives (RuntimeError includes RecursionError)."""


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Caps on one archive.

    Attributes:
        members: entries of any kind, folders included.
        member_bytes: unpacked bytes of one wanted member; others are passed over unread.
        total_bytes: unpacked bytes of the whole archive.
        ratio: unpacked bytes per packed byte, looked at once `ratio_floor_bytes` are unpacked (a blank page
            packs a thousand times, but is small).
        ratio_floor_bytes: unpacked bytes below which the ratio does not matter.
    """

    members: int = 100_000
    member_bytes: int = 256 * MIB
    total_bytes: int = 8 * 1024 * MIB
    ratio: int = 250
    ratio_floor_bytes: int = 64 * MIB


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive: POSIX path relative to the archive's root, and its bytes."""

    name: str
    data: bytes


def read_members(
    path: Path,
    *,
    kind: Literal["tar", "zip"],
    limits: ArchiveLimits | None = None,
    wanted: Callable[[str], bool] | None = None,
) -> Iterator[Member]:
    """Yield the files of an archive in the order they stand in it, one in memory at a time.

    Any single refused entry refuses the archive, whether wanted or not. A tar has no checksum per member:
    that of a `.tar.gz` is known only at its end, so what was yielded is proven whole once the iterator ends.
    Archives inside the archive are files like others and are not opened.

    Args:
        path: the archive; a tar may be plain or gzip, told by its first bytes.
        kind: which format it is.
        limits: caps, by default those of :class:`ArchiveLimits`.
        wanted: given a member's name, whether its bytes are wanted; all are by default.

    Raises:
        InputError: `archive_invalid` (truncated, bad checksum, not such an archive), `archive_hostile` (name
            absolute, with `..`, drive letter or control character, or given twice; link, device, sparse or
            encrypted entry; overlapping entries; packed beyond the ratio), `too_large` (a cap reached),
            `not_found`.
    """
    read = _tar if kind == "tar" else _zip
    return read(path, limits or ArchiveLimits(), wanted or _everything)


def _everything(_: str) -> bool:
    return True


def _error(reason: Reason, what: str, path: Path, member: str = "") -> InputError:
    shown = _CONTROL.sub("?", member)[:200].encode("utf-8", "replace").decode()
    return InputError(f"{what}: {shown!r}" if member else what, reason=reason.value, file=path.name)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Errors of the standard library as `archive_invalid`, with their kind and without their text."""
    try:
        yield
    except FileNotFoundError:
        raise _error(Reason.NOT_FOUND, "no such archive", path) from None
    except RecursionError:
        raise _error(Reason.ARCHIVE_HOSTILE, "headers nested without end", path) from None
    except MemoryError:
        raise _error(Reason.ARCHIVE_HOSTILE, "asks for more memory than there is", path) from None
    except _DAMAGE as error:
        detail = f"the archive is damaged ({type(error).__name__})"
        raise _error(Reason.ARCHIVE_INVALID, detail, path) from error


class _Ledger:
    """What has been seen of one archive, checked against its limits."""

    def __init__(self, path: Path, limits: ArchiveLimits) -> None:
        self._path = path
        self._limits = limits
        self._names: set[str] = set()
        self._entries = 0

    def enter(self, written: str, *, is_folder: bool) -> str:
        """The safe form of an entry's name, counted.

        Raises:
            InputError: one entry too many, an unsafe name, or the name of an earlier file.
        """
        self._entries += 1
        if self._entries > self._limits.members:
            raise _error(Reason.TOO_LARGE, f"more than {self._limits.members} members", self._path)
        name = safe_member_name(written)
        if name is None:
            raise _error(Reason.ARCHIVE_HOSTILE, "unsafe member name", self._path, written)
        if is_folder:
            return name
        if not name:
            raise _error(Reason.ARCHIVE_HOSTILE, "a file without a name", self._path)
        if name in self._names:
            raise _error(Reason.ARCHIVE_HOSTILE, "two members of one name", self._path, name)
        self._names.add(name)
        return name

    def check_size(self, name: str, size: int) -> None:
        """Raise `too_large` for a wanted member above the cap."""
        if size > self._limits.member_bytes:
            limit = f"larger than the limit of {self._limits.member_bytes} bytes"
            raise _error(Reason.TOO_LARGE, limit, self._path, name)

    def check_unpacked(self, unpacked: int, packed: int) -> None:
        """Raise when that many bytes are too many, or too many for so few packed ones."""
        if unpacked > self._limits.total_bytes:
            limit = f"unpacks to more than {self._limits.total_bytes} bytes"
            raise _error(Reason.TOO_LARGE, limit, self._path)
        if unpacked > self._limits.ratio_floor_bytes and unpacked > packed * self._limits.ratio:
            limit = f"unpacks to more than {self._limits.ratio} times its size"
            raise _error(Reason.ARCHIVE_HOSTILE, limit, self._path)


def safe_member_name(written: str) -> str | None:
    """A member's name as a relative POSIX path ('' for the root itself), or None when it is not safe.

    Backslashes count as separators. Names that are no UTF-8 are read as Latin-1. Composed form (NFC), so that
    one name has one spelling.
    """
    try:
        written.encode("utf-8")
    except UnicodeEncodeError:
        written = written.encode("utf-8", "surrogateescape").decode("latin-1")
    text = unicodedata.normalize("NFC", written.replace("\\", "/"))
    if len(text) > _MAX_NAME or _CONTROL.search(text) or text.startswith("/") or _DRIVE.match(text):
        return None
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return None if ".." in parts or any(_DRIVE.match(part) for part in parts) else "/".join(parts)


# ---- tar


class _Stream:
    """The unpacked bytes of a tar or tar.gz, counted as they come."""

    def __init__(self, unpacked: gzip.GzipFile | IO[bytes], packed: IO[bytes], ledger: _Ledger) -> None:
        self._unpacked, self._packed, self._ledger = unpacked, packed, ledger
        self._count = 0

    def read(self, size: int) -> bytes:
        data = self._unpacked.read(size)
        self._count += len(data)
        self._ledger.check_unpacked(self._count, self._packed.tell())
        return data

    def drain(self) -> None:
        """Read what follows the last member: only then does gzip compare its checksum."""
        while self.read(_BLOCK):
            pass


def _header_type(path: Path) -> type[tarfile.TarInfo]:
    """A TarInfo that refuses what tarfile would pass over in silence or read into memory without bound.

    tarfile takes a damaged header after the first one, or no more bytes, for the end of the archive.
    """

    class Header(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Header:
            try:
                info = super().frombuf(buf, encoding, errors)
            except tarfile.TarError as error:
                if len(buf) == tarfile.BLOCKSIZE and not any(buf):
                    raise  # the end marker
                what = "truncated" if len(buf) < tarfile.BLOCKSIZE else "a member's header is damaged"
                raise _error(Reason.ARCHIVE_INVALID, what, path) from error
            if info.size < 0 or (info.type in _HEADERS and info.size > _MAX_HEADER_BYTES):
                raise _error(Reason.ARCHIVE_HOSTILE, "a header of impossible size", path)
            return info

    return Header


def _tar(path: Path, limits: ArchiveLimits, wanted: Callable[[str], bool]) -> Iterator[Member]:
    ledger = _Ledger(path, limits)
    with contextlib.ExitStack() as stack:
        with _reading(path):
            packed = stack.enter_context(path.open("rb"))
            is_gzip = packed.peek(2)[:2] == _GZIP
            stream = _Stream(gzip.GzipFile(fileobj=packed) if is_gzip else packed, packed, ledger)
            archive = stack.enter_context(_open_tar(stream, _header_type(path)))
        while True:
            with _reading(path):
                info = archive.next()
            if info is None:
                break
            name = ledger.enter(info.name, is_folder=info.isdir())
            if info.isdir():
                continue
            if not info.isreg() or info.issparse():
                raise _error(Reason.ARCHIVE_HOSTILE, "a link, device or sparse file", path, name)
            if wanted(name):
                ledger.check_size(name, info.size)
                with _reading(path):
                    data = _content(archive, info)
                yield Member(name, data)
        with _reading(path):
            stream.drain()


def _open_tar(stream: Any, header: type[tarfile.TarInfo]) -> tarfile.TarFile:
    return tarfile.open(
        fileobj=stream, mode="r|", tarinfo=header, encoding="utf-8", errors="surrogateescape", bufsize=_BLOCK
    )


def _content(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    handle = archive.extractfile(info)
    if handle is None:
        raise tarfile.ReadError("no data")
    with handle:
        data = b"".join(iter(lambda: handle.read(_BLOCK), b""))
    if len(data) != info.size:
        raise tarfile.ReadError("unexpected end of data")
    return data


# ---- ZIP


class _BoundedReads:
    """A file that refuses one huge read: zipfile reads the whole central directory at once."""

    def __init__(self, handle: IO[bytes], path: Path, limit: int) -> None:
        self._handle, self._path, self._limit = handle, path, limit
        self.seek, self.tell, self.seekable = handle.seek, handle.tell, handle.seekable

    def read(self, size: int = -1) -> bytes:
        if size > self._limit:
            raise _error(Reason.TOO_LARGE, f"its directory is larger than {self._limit} bytes", self._path)
        return self._handle.read(size if size >= 0 else self._limit)


def _zip(path: Path, limits: ArchiveLimits, wanted: Callable[[str], bool]) -> Iterator[Member]:
    ledger = _Ledger(path, limits)
    with contextlib.ExitStack() as stack:
        with _reading(path):
            file = stack.enter_context(path.open("rb"))
            largest = max(_BLOCK, limits.members * _DIRECTORY_BYTES_PER_MEMBER)
            bounded: Any = _BoundedReads(file, path, largest)
            archive = stack.enter_context(zipfile.ZipFile(bounded))
            infos = archive.infolist()
        names = [_zip_name(info, path, ledger) for info in infos]
        _check_extents(infos, archive.start_dir, path)
        for info in infos:  # each alone, so that a blank page among many pictures is judged by itself
            ledger.check_unpacked(info.file_size, info.compress_size)
        ledger.check_unpacked(sum(info.file_size for info in infos), path.stat().st_size)
        for info, name in zip(infos, names, strict=True):
            if info.is_dir() or not wanted(name):
                continue
            ledger.check_size(name, info.file_size)
            with _reading(path), archive.open(info) as handle:
                # In blocks: asked for everything, zipfile would inflate beyond the size the entry declares.
                data = b"".join(iter(lambda: handle.read(_BLOCK), b""))
                if len(data) != info.file_size:
                    raise zipfile.BadZipFile("unexpected end of data")
            yield Member(name, data)


def _zip_name(info: zipfile.ZipInfo, path: Path, ledger: _Ledger) -> str:
    """The entry's safe name; zipfile cuts names at a NUL, hence the original one.

    Raises:
        InputError: the entry is of a kind that is refused.
    """
    name = ledger.enter(info.orig_filename, is_folder=info.is_dir())
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & 0x1:
        raise _error(Reason.ARCHIVE_HOSTILE, "an encrypted member", path, name)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _error(Reason.ARCHIVE_HOSTILE, "a link or device", path, name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _error(Reason.ARCHIVE_INVALID, f"packed by method {info.compress_type}", path, name)
    if info.is_dir() and info.file_size:
        raise _error(Reason.ARCHIVE_HOSTILE, "a folder with content", path, name)
    return name


def _check_extents(infos: list[zipfile.ZipInfo], directory: int, path: Path) -> None:
    """Entries may not share bytes: a 10 MB file can otherwise hold 281 TB (https://www.bamsoftware.com/hacks/zipbomb/).

    Raises:
        InputError: `archive_hostile`.
    """
    fixed = 30  # local header without name and extra field
    ordered = sorted(infos, key=lambda info: info.header_offset)
    ends = [*(info.header_offset for info in ordered[1:]), directory]
    for info, end in zip(ordered, ends, strict=False):
        if info.header_offset < 0 or info.header_offset + fixed + info.compress_size > end:
            raise _error(Reason.ARCHIVE_HOSTILE, "members overlap", path, info.filename)
