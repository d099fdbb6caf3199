"""Archives of every hostile and damaged kind, made here byte by byte."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import resource
import stat
import struct
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from benchmarks.hostile import archives as campaign
from schemas.errors import InputError
from sources.archives import ArchiveLimits, Member, read_members, safe_member_name

Kind = Literal["tar", "zip"]


def _tar(*entries: tuple[str, bytes] | tarfile.TarInfo, format: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry, io.BytesIO(b"\0" * entry.size))
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                archive.addfile(info, io.BytesIO(entry[1]))
    return buffer.getvalue()


def _zip(*entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Member]]:
    def run(data: bytes, kind: Kind, **options: Any) -> list[Member]:
        path = tmp_path / "archive"
        path.write_bytes(data)
        before = sorted(tmp_path.iterdir())
        try:
            return list(read_members(path, kind=kind, **options))
        finally:
            assert sorted(tmp_path.iterdir()) == before, "something was unpacked"

    return run


@pytest.fixture
def reason(read: Callable[..., list[Member]]) -> Callable[..., str]:
    def run(data: bytes, kind: Kind, **options: Any) -> str:
        with pytest.raises(InputError) as caught:
            read(data, kind, **options)
        assert caught.value.file == "archive"
        return caught.value.reason

    return run


FILES = (("b/x.xml", b"<a/>"), ("a.jpg", os.urandom(3_000_000)), ("empty", b""))


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress], ids=["tar", "tar.gz"])
def test_tar_members_come_in_order_with_their_bytes(read: Any, pack: Callable[[bytes], bytes]) -> None:
    folder = tarfile.TarInfo("b")
    folder.type = tarfile.DIRTYPE
    assert read(pack(_tar(folder, *FILES)), "tar") == [Member(name, data) for name, data in FILES]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_zip_members_come_in_order_with_their_bytes(read: Any, method: int) -> None:
    found = read(_zip(("b/", b""), *FILES, method=method), "zip")
    assert found == [Member(name, data) for name, data in FILES]


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_only_what_is_wanted_is_read(read: Any, kind: Kind) -> None:
    data = _tar(*FILES) if kind == "tar" else _zip(*FILES)
    limits = ArchiveLimits(member_bytes=10)  # a.jpg is larger, but not wanted
    found = read(data, kind, limits=limits, wanted=lambda name: name.endswith(".xml"))
    assert [member.name for member in found] == ["b/x.xml"]


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_long_and_foreign_names_of_tar_formats(read: Any, format: int) -> None:
    names = ["./" + "d/" * 150 + "Größe.xml", "ordner\\bild.jpg"]
    found = read(_tar(*((name, b"1") for name in names), format=format), "tar")
    assert [member.name for member in found] == ["d/" * 150 + "Größe.xml", "ordner/bild.jpg"]


def test_a_name_that_is_no_utf8_is_read_as_latin_1(read: Any) -> None:
    data = _tar(("caf\udce9.xml", b"1"), format=tarfile.GNU_FORMAT)
    assert [member.name for member in read(data, "tar")] == ["café.xml"]


BAD_NAMES = [
    "../x", "a/../../x", "/etc/x", "\\\\host\\x", "C:\\x", "a/c:/x", "..", "a\nb", "a\x1bb", "x" * 1100, ".",
    "./",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_name_that_leaves_the_folder_refuses_the_archive(reason: Any, kind: Kind, name: str) -> None:
    entry = (name, b"1")
    data = _tar(("good", b"2"), entry) if kind == "tar" else _raw_zip(("good", b"2"), entry)
    assert reason(data, kind, wanted=lambda member: member == "good") == "archive_hostile"


def _raw_zip(*entries: tuple[str, bytes]) -> bytes:
    """Names as given: writestr would clean them."""
    infos = []
    for name, data in entries:
        info = zipfile.ZipInfo("x")
        info.filename = name
        infos.append((info, data))
    return _zip(*infos)


def test_a_zip_name_with_nul_is_not_cut_at_it(reason: Any) -> None:
    data = _zip(("good.xmlZ.exe", b"1")).replace(b"good.xmlZ.exe", b"good.xml\0.exe")
    assert reason(data, "zip") == "archive_hostile"


@pytest.mark.parametrize("kind", ["tar", "zip"])
@pytest.mark.parametrize("second", ["a/b", "a//b", "./a/b", "a\\b"])
def test_a_second_member_of_a_name_refuses_the_archive(reason: Any, kind: Kind, second: str) -> None:
    entries = (("a/b", b"1"), (second, b"2"))
    with pytest.warns(UserWarning) if kind == "zip" and second == "a/b" else _nothing():
        data = _tar(*entries) if kind == "tar" else _zip(*entries)
    assert reason(data, kind) == "archive_hostile"


def _nothing() -> Any:
    return contextlib.nullcontext()


@pytest.mark.parametrize(
    "type", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_tar_links_and_devices_refuse_the_archive(reason: Any, type: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.linkname = type, "good"
    assert reason(_tar(("good", b"1"), info), "tar") == "archive_hostile"


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_zip_links_and_devices_refuse_the_archive(reason: Any, mode: int) -> None:
    info = zipfile.ZipInfo("x")
    info.create_system, info.external_attr = 3, (mode | 0o777) << 16
    assert reason(_zip(("good", b"1"), (info, b"/etc/passwd")), "zip") == "archive_hostile"


def test_an_encrypted_member_refuses_the_archive(reason: Any) -> None:
    data = bytearray(_zip(("x", b"1")))
    data[6] |= 1  # general purpose flags of the local header, then of the directory
    data[data.index(b"PK\1\2") + 8] |= 1
    assert reason(bytes(data), "zip") == "archive_hostile"


def _quoted_overlap(count: int, kernel: bytes) -> bytes:
    """Entries whose data each quote the next entry's header and run on into the one shared kernel."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packed.compress(kernel) + packed.flush()
    size, crc, offset = len(kernel), zlib.crc32(kernel), 0
    files: list[tuple[bytes, int, int, int]] = []
    blob = body
    for number in reversed(range(count)):
        name = f"{number:04d}".encode()
        if files:  # a stored deflate block that quotes what follows
            header = blob[: 30 + 4]
            blob = b"\0" + struct.pack("<HH", len(header), 0xFFFF ^ len(header)) + blob
            size, crc = size + len(header), zlib.crc32(kernel, zlib.crc32(header))
        local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 0, crc, len(blob), size, 4, 0) + name
        files.append((name, crc, len(blob), size))
        blob = local + blob
    directory, offset = b"", 0
    for name, crc, packed_size, size in reversed(files):
        central = (b"PK\1\2", 20, 20, 0, 8, 0, 0, crc, packed_size, size, 4, 0, 0, 0, 0, 0, offset)
        directory += struct.pack("<4s6H3I5H2I", *central) + name
        offset += 30 + 4 + 5
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory), len(blob), 0)
    return blob + directory + end


def test_overlapping_zip_members_refuse_the_archive(reason: Any) -> None:
    bomb = _quoted_overlap(200, b"a" * 100_000)
    assert len(bomb) < 30_000
    assert reason(bomb, "zip") == "archive_hostile"


def test_two_directory_entries_for_one_member_refuse_the_archive(reason: Any) -> None:
    data = bytearray(_zip(("a", b"1" * 50), ("b", b"1" * 50)))
    second = data.rindex(b"PK\1\2")
    data[second + 42 : second + 46] = struct.pack("<I", 0)
    assert reason(bytes(data), "zip") == "archive_hostile"


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_bomb_ends_at_the_ratio_without_being_unpacked(reason: Any, kind: Kind) -> None:
    zeros = b"\0" * (200 * 1024 * 1024)
    data = gzip.compress(_tar(("x", zeros)), 9) if kind == "tar" else _zip(("x", zeros))
    del zeros
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert reason(data, kind, wanted=lambda _: False) == "archive_hostile"
    assert reason(data, kind) in ("archive_hostile", "too_large")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024


def test_a_zip_that_lies_about_its_sizes_inflates_no_further(reason: Any) -> None:
    data = bytearray(_zip(("x", b"\0" * 50_000_000)))
    for place in (22, data.index(b"PK\1\2") + 24):
        data[place : place + 4] = struct.pack("<I", 10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert reason(bytes(data), "zip") == "archive_invalid"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024


@pytest.mark.parametrize("kind", ["tar", "zip"])
@pytest.mark.parametrize(
    "limits", [{"members": 2}, {"member_bytes": 1_000_000}, {"total_bytes": 1_000_000}], ids=str
)
def test_caps(reason: Any, kind: Kind, limits: dict[str, int]) -> None:
    data = _tar(*FILES) if kind == "tar" else _zip(*FILES)
    assert reason(data, kind, limits=ArchiveLimits(**limits)) == "too_large"


def test_a_huge_zip_directory_is_not_read(read: Any) -> None:
    data = _zip(*((f"{number:0200d}", b"") for number in range(6_000)))
    with pytest.raises(InputError, match="directory") as caught:
        read(data, "zip", limits=ArchiveLimits(members=100))
    assert caught.value.reason == "too_large"


@pytest.mark.parametrize("packed", [False, True])
def test_a_tar_cut_anywhere_is_invalid(reason: Any, packed: bool) -> None:
    whole = _tar(("a", b"1" * 1000), ("b", b"2" * 600))
    whole = gzip.compress(whole) if packed else whole[: 512 * 5 + 1024]
    steps = range(1, len(whole) - (1024 if not packed else 0), 7 if packed else 131)
    assert {reason(whole[:cut], "tar") for cut in steps} == {"archive_invalid"}
    assert reason(b"", "tar") == "archive_invalid"


def test_a_zip_cut_anywhere_is_invalid(reason: Any) -> None:
    whole = _zip(("a", b"1" * 1000), ("b", b"2" * 600))
    assert {reason(whole[:cut], "zip") for cut in range(len(whole))} == {"archive_invalid"}


def test_a_bad_checksum_is_invalid(reason: Any) -> None:
    packed = bytearray(gzip.compress(_tar(("a", b"1"))))
    packed[-5] ^= 1
    assert reason(bytes(packed), "tar") == "archive_invalid"
    padded = _tar(("a", b"1")).ljust(2 * 1024 * 1024, b"\0")  # the checksum follows a whole number of blocks
    packed = bytearray(gzip.compress(padded))
    packed[-5] ^= 1
    assert reason(bytes(packed), "tar") == "archive_invalid"
    stored = _zip(("a", b"content"), method=zipfile.ZIP_STORED).replace(b"content", b"c0ntent")
    assert reason(stored, "zip") == "archive_invalid"


def test_a_damaged_header_in_the_middle_does_not_end_the_list_in_silence(reason: Any) -> None:
    data = bytearray(_tar(("a", b"1" * 512), ("b", b"2" * 512), ("c", b"3")))
    data[1024] ^= 1  # first byte of the second member's name: its checksum no longer fits
    assert reason(bytes(data), "tar") == "archive_invalid"


def test_a_tar_without_end_marker_is_invalid(reason: Any) -> None:
    assert reason(gzip.compress(_tar(("a", b"1"))[:1024]), "tar") == "archive_invalid"


def test_an_extended_header_of_impossible_size_is_hostile(reason: Any) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 2 * 1024 * 1024
    assert reason(_tar(info), "tar") == "archive_hostile"


def test_extended_headers_without_end_are_hostile(reason: Any) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XGLTYPE, 0
    started = time.monotonic()
    assert reason(info.tobuf() * 20_000 + b"\0" * 1024, "tar") in ("archive_hostile", "archive_invalid")
    assert time.monotonic() - started < 20


def test_a_sparse_member_is_hostile(reason: Any) -> None:
    header = bytearray(_tar(("x", b"1"), format=tarfile.GNU_FORMAT)[:512])
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386:483] = b"\0" * 97
    header[483:495] = b"77777777777\0"  # 8 GiB unpacked, out of one byte
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    assert reason(bytes(header) + b"1" + b"\0" * (511 + 1024), "tar") == "archive_hostile"


def test_an_archive_inside_is_a_file_like_others(read: Any) -> None:
    inner = _zip(("../x", b"1"))
    assert read(_zip(("inner.zip", inner)), "zip") == [Member("inner.zip", inner)]


@pytest.mark.parametrize(("data", "kind"), [(b"<html>busy</html>", "tar"), (b"<html>busy</html>", "zip")])
def test_an_error_page_is_no_archive(reason: Any, data: bytes, kind: Kind) -> None:
    assert reason(data, kind) == "archive_invalid"


def test_a_missing_archive(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        list(read_members(tmp_path / "none", kind="tar"))
    assert caught.value.reason == "not_found"


@pytest.mark.parametrize("data", [_zip(), _tar(), gzip.compress(_tar())], ids=["zip", "tar", "tar.gz"])
def test_an_archive_without_members(read: Any, data: bytes) -> None:
    assert read(data, "zip" if data.startswith(b"PK") else "tar") == []


def test_an_error_of_the_caller_is_not_taken_for_damage(read: Any) -> None:
    def broken(name: str) -> bool:
        raise ValueError(name)

    for data, kind in ((_tar(*FILES), "tar"), (_zip(*FILES), "zip")):
        with pytest.raises(ValueError, match=r"b/x\.xml"):
            read(data, kind, wanted=broken)


def test_safe_names() -> None:
    assert safe_member_name("./a//b/") == "a/b"
    assert safe_member_name("a..b/..c") == "a..b/..c"
    assert safe_member_name("e\u0301.jpg") == "\u00e9.jpg"
    assert safe_member_name("a/..") is None


def test_mutants_are_read_or_quarantined() -> None:
    outcomes = [campaign.outcome(data) for _, _, data in campaign.mutants(60, seed=20261121)]
    assert len(outcomes) == 60
    assert {text.partition(":")[0] for text in outcomes} == {"read", "quarantined"}
