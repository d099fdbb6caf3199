"""Damaged tar, tar.gz and ZIP files: each is read or quarantined, and no name read ever leaves its folder."""

from __future__ import annotations

import gzip
import io
import random
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from benchmarks.mutations import drop_span, flip_bits, repeat_span, truncate
from schemas.errors import InputError
from schemas.stages import Reason
from sources.archives import MIB, ArchiveLimits, read_members

_LIMITS = ArchiveLimits(members=200, member_bytes=4 * MIB, total_bytes=16 * MIB, ratio_floor_bytes=MIB)
_NAMES = (
    b"../../escape",
    b"/etc/hostname",
    b"C:\\x",
    b"a\0b",
    b"a\x1b[2J",
    b"..\\..\\x",
    b"\xff\xfe",
    b"n" * 90,
)

Damage = Callable[[bytes, random.Random], bytes]


def seeds() -> list[bytes]:
    """A ZIP, a plain tar and a tar.gz of the same files, as the repositories pack them."""
    rng = random.Random(0)
    files = {
        "livertox_NBK0/article.nxml": b"<article><body><p>"
        + b"one two three " * 400
        + b"</p></body></article>",
        "livertox_NBK0/fig1.jpg": b"\xff\xd8\xff" + rng.randbytes(6_000),
        "livertox_NBK0/" + "long" * 40 + ".txt": b"x" * 700,
        "file_list.csv": b"a,b\r\n" * 50,
    }
    packed, plain = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return [packed.getvalue(), plain.getvalue(), gzip.compress(plain.getvalue(), mtime=0)]


def _unpacked(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Change a tar inside its gzip, so that the damage is not merely a bad checksum."""
    if data[:2] == b"\x1f\x8b":
        return gzip.compress(change(gzip.decompress(data)), mtime=0)
    return change(data)


def rename(data: bytes, rng: random.Random) -> bytes:
    """Write a hostile name over a member's, with the header's checksum put right."""
    name = rng.choice(_NAMES)

    def change(bare: bytes) -> bytes:
        if bare[:2] == b"PK":
            old = rng.choice([b"livertox_NBK0/fig1.jpg", b"file_list.csv"])
            return bare.replace(old, name[: len(old)].ljust(len(old), b"x"))
        return _header(bare, rng, lambda header: name.ljust(100, b"\0")[:100] + header[100:])

    return _unpacked(data, change)


def retype(data: bytes, rng: random.Random) -> bytes:
    """Make a member a link, a device, a sparse file or a header of another format."""
    type_ = rng.choice(b"1234567LKSxgX\xff").to_bytes(1, "big")

    def change(bare: bytes) -> bytes:
        if bare[:2] == b"PK":
            return _record(bare, rng, b"PK\1\2", 38, rng.choice([0xA1FF0000, 0x21B60000, 0x11B60000, 0x10]))
        return _header(bare, rng, lambda header: header[:156] + type_ + header[157:])

    return _unpacked(data, change)


def resize(data: bytes, rng: random.Random) -> bytes:
    """State another size: none, a little more, gigabytes, a negative one."""
    sizes = [
        b"%011o\0" % rng.choice([0, 1, 513, 10_000, 2**31, 2**33 - 1]),
        b"\xff" * 12,
        b"\x80" + b"\x7f" * 11,
    ]

    def change(bare: bytes) -> bytes:
        if bare[:2] == b"PK":
            place = rng.choice([16, 20, 24, 42])  # CRC, packed size, size, offset
            return _record(bare, rng, b"PK\1\2", place, rng.choice([0, 1, 0xFFFF, 0xFFFFFFFF, len(bare)]))
        return _header(bare, rng, lambda header: header[:124] + rng.choice(sizes) + header[136:])

    return _unpacked(data, change)


def pad_with_zeros(data: bytes, rng: random.Random) -> bytes:
    """Put megabytes of zeros, well packed, where a member was."""
    zeros = b"\0" * rng.choice([MIB, 8 * MIB, 64 * MIB])
    buffer = io.BytesIO()
    if data[:2] == b"PK":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros", zeros)
        return buffer.getvalue()
    info = tarfile.TarInfo("zeros")
    info.size = len(zeros)
    return gzip.compress(info.tobuf() + zeros + b"\0" * 1024, 1, mtime=0)


def _record(bare: bytes, rng: random.Random, mark: bytes, place: int, value: int) -> bytes:
    starts = [at for at in range(len(bare)) if bare.startswith(mark, at)]
    at = rng.choice(starts) + place
    return bare[:at] + struct.pack("<I", value) + bare[at + 4 :]


def _header(bare: bytes, rng: random.Random, change: Callable[[bytes], bytes]) -> bytes:
    starts = [at for at in range(0, len(bare), 512) if bare[at + 257 : at + 262] == b"ustar"]
    at = rng.choice(starts)
    header = change(bare[at : at + 512])
    blank = header[:148] + b" " * 8 + header[156:]
    return bare[:at] + header[:148] + b"%06o\0 " % sum(blank) + header[156:] + bare[at + 512 :]


DAMAGES: Sequence[Damage] = (
    flip_bits,
    truncate,
    drop_span,
    repeat_span,
    rename,
    retype,
    resize,
    pad_with_zeros,
    lambda data, rng: _unpacked(data, lambda bare: flip_bits(bare, rng)),
    lambda data, rng: _unpacked(data, lambda bare: truncate(bare, rng)),
)


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the seed file, damaged bytes), every kind equally often."""
    rng = random.Random(seed)
    files = seeds()
    for number in range(count):
        damage = DAMAGES[number % len(DAMAGES)]
        index = rng.randrange(len(files))
        name = getattr(damage, "__name__", "")
        yield name if name != "<lambda>" else "inside_gzip", index, damage(files[index], rng)


def outcome(data: bytes) -> str:
    """What became of one archive; `read: N members` or `quarantined: <reason>`.

    Raises:
        AssertionError: a member's name leaves its folder.
    """
    kind: Literal["tar", "zip"] = "zip" if b"PK\5\6" in data else "tar"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "archive")
        path.write_bytes(data)
        try:
            names = [member.name for member in read_members(path, kind=kind, limits=_LIMITS)]
        except InputError as error:
            return f"quarantined: {Reason(error.reason).value}"
    for name in names:
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts or min(name) < " ":
            raise AssertionError(f"unsafe name {name!r}")
    return f"read: {len(names)} members"
