"""Many files as one object: fetched files of a crawl shard, and the folders that stages are given.

A pack is a plain tar in the order of names, without times and owners. Workers keep them unpacked.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from flows.adapters.places import Place
from schemas.errors import FetchError, WorkspaceError
from schemas.hashing import canonical_json, sha256_file, sha256_text


def raw_name(shard: str, files: Sequence[tuple[str, str]]) -> str:
    """Name of the pack of a crawl shard's files, given as (path below raw/, SHA-256)."""
    return f"raw/{shard}/{sha256_text(canonical_json([list(item) for item in files]))}.tar"


def resource_name(resource: str, path: Path, fingerprint: str) -> str:
    """Name of the pack of a file or folder that stages are given, which its fingerprint tells from others."""
    return f"resources/{sha256_text(canonical_json([resource, path.name, fingerprint]))}.tar"


def stored_files(table: Path) -> list[tuple[str, str]]:
    """(path below raw/, SHA-256) of every fetched file that a crawl shard's articles rest on, by path."""
    rows = pq.read_table(table, columns=["path", "sha256", "media", "parts"]).to_pylist()
    found = {item["path"]: item["sha256"] for row in rows for item in (row, *row["media"], *row["parts"])}
    return sorted(found.items())


def send_pack(place: Place, name: str, base: Path, files: Sequence[str], temporary: Path) -> None:
    """Pack some files below a folder and keep them under a name, unless it is taken.

    Args:
        place: of the store.
        name: of the pack.
        base: a folder.
        files: paths below it.
        temporary: an existing folder with room for the pack.

    Raises:
        WorkspaceError: a file is missing.
    """
    if place.has(name):
        return
    with tempfile.TemporaryDirectory(dir=temporary, prefix="pack-") as folder:
        pack = Path(folder) / "pack.tar"
        with tarfile.open(pack, "w", format=tarfile.PAX_FORMAT) as archive:
            for path in files:
                _add(archive, base / path, path)
        place.put(name, pack, sha256_file(pack))


def _add(archive: tarfile.TarFile, source: Path, path: str) -> None:
    about = tarfile.TarInfo(path)
    try:
        about.size = source.stat().st_size
        with source.open("rb") as handle:
            archive.addfile(about, handle)
    except OSError as error:
        raise WorkspaceError(
            "a fetched file is no longer there", file=str(source), hint="medqrels crawl fetches it again"
        ) from error


def below(path: Path) -> Iterator[str]:
    """Every file of a folder by its path below it, in order; '' alone for a file."""
    if path.is_file():
        yield ""
        return
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield file.relative_to(path).as_posix()


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Files and folders of a pack, none of them outside `folder`; the filters of tarfile came with 3.11.4.

    Raises:
        FetchError: it holds something else, so it is no pack.
    """
    for member in archive:
        target = folder / member.name
        if not (member.isdir() or member.isreg()) or not target.resolve().is_relative_to(folder.resolve()):
            raise FetchError("a pack holds what no pack holds", file=member.name)
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        content = archive.extractfile(member)
        assert content is not None
        with target.open("wb") as out:
            shutil.copyfileobj(content, out)


def unpacked(place: Place, name: str, cache: Path) -> Path:
    """The folder that holds a pack's files, fetched when this machine has it not yet.

    Args:
        place: of the store.
        name: of the pack.
        cache: an existing folder of this machine, which several processes may use at once.

    Raises:
        FetchError: the store does not hold it.
    """
    target = cache / name.removesuffix(".tar")
    if target.is_dir():
        return target
    half = target.with_name(f".{uuid.uuid4().hex}")
    half.mkdir(parents=True)
    try:
        pack = half / ".pack.tar"
        if not place.fetch(name, pack):
            raise FetchError(
                "a pack is not in the store",
                file=f"{place.address}/{name}",
                hint="run the same command again: it is sent again",
            )
        with tarfile.open(pack) as archive:
            _unpack(archive, half)
        pack.unlink()
        try:
            os.rename(half, target)
        except OSError:  # another process of this machine was first
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return target
