"""Many files as one object: fetched files of a crawl shard, and the folders that stages are given.

A pack is a plain tar in the order of names, without times and owners. It begins with the list of its files
and their hashes, and is named by the hash of that list: who knows the name can hold every byte to it.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from filelock import FileLock

from flows.adapters.places import Place
from flows.cluster.store import LostInStore, folder_of
from schemas.errors import WorkspaceError
from schemas.hashing import canonical_json, sha256_bytes, sha256_file

LIST = ".files.json"
"""First file of a pack, which stays with what was unpacked."""
Files = Sequence[tuple[str, str]]
"""(path, SHA-256) in order."""
_BLOCK = 1 << 20
_checked: dict[str, Files] = {}
_checking = threading.Lock()


def raw_name(shard: str, files: Files) -> str:
    """Name of the pack of fetched files, given as (path below raw/, SHA-256), of a shard."""
    return f"{folder_of(shard)}/raw/{_hash(files)}.tar"


def resource_name(files: Files) -> str:
    """Name of the pack of a file or folder that stages are given."""
    return f"resources/{_hash(files)}.tar"


def _hash(files: Files) -> str:
    return sha256_bytes(_listed(files))


def _listed(files: Files) -> bytes:
    return canonical_json([list(item) for item in files]).encode("utf-8", "surrogatepass")


def hashed(path: Path) -> list[tuple[str, str]]:
    """Every file of a folder by its path below it, with its hash; of a file its name."""
    if path.is_file():
        return [(path.name, sha256_file(path))]
    found = (file for file in sorted(path.rglob("*")) if file.is_file())
    return [(file.relative_to(path).as_posix(), sha256_file(file)) for file in found]


def send_pack(place: Place, name: str, base: Path, files: Files, temporary: Path, hint: str) -> None:
    """Pack some files below a folder and keep them under a name, unless it is taken.

    Args:
        place: of the store.
        name: of the pack.
        base: a folder.
        files: paths below it, with the hashes that their bytes are held to.
        temporary: an existing folder with room for the pack.
        hint: how a file that is missing or changed is made again.

    Raises:
        WorkspaceError: a file is missing or changed.
    """
    if place.has(name):
        return
    with tempfile.TemporaryDirectory(dir=temporary, prefix="pack-") as folder:
        pack = Path(folder) / "pack.tar"
        with tarfile.open(pack, "w", format=tarfile.PAX_FORMAT) as archive:
            listed = _listed(files)
            about = tarfile.TarInfo(LIST)
            about.size = len(listed)
            archive.addfile(about, io.BytesIO(listed))
            for path, sha256 in files:
                _add(archive, base / path, path, sha256, hint)
        place.put(name, pack, sha256_file(pack))


class _Hashing:
    """Reads a file, and hashes what is read."""

    def __init__(self, handle: IO[bytes]) -> None:
        self.handle, self.sha256 = handle, hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self.handle.read(size)
        self.sha256.update(data)
        return data


def _add(archive: tarfile.TarFile, source: Path, path: str, sha256: str, hint: str) -> None:
    about = tarfile.TarInfo(path)
    try:
        about.size = source.stat().st_size
        with source.open("rb") as handle:
            hashing: Any = _Hashing(handle)  # all that is called of it is `read`
            archive.addfile(about, hashing)
    except OSError as error:
        raise WorkspaceError(
            "a file that workers need is no longer there", file=str(source), hint=hint
        ) from error
    if hashing.sha256.hexdigest() != sha256:
        raise WorkspaceError(
            "the bytes of a file that workers need have changed since",
            file=str(source),
            hint=f"delete the file; {hint}",
        )


def unpack(place: Place, name: str, folder: Path) -> None:
    """Bring a pack's files into a new folder; nothing else than what its name says.

    Raises:
        LostInStore: the store does not hold it, or held another, which is gone from there now.
    """
    folder.mkdir(parents=True)
    pack = folder.with_name(f"{folder.name}.tar")
    try:
        if not place.fetch(name, pack):
            raise LostInStore("a pack is not in the store", file=f"{place.address}/{name}")
        try:
            with tarfile.open(pack, "r:") as archive:
                _unpack(archive, folder, name)
        except (tarfile.TarError, ValueError, TypeError, AttributeError, OverflowError) as error:
            place.delete(name)
            raise LostInStore("a pack was damaged in the store", file=f"{place.address}/{name}") from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        pack.unlink(missing_ok=True)


def _unpack(archive: tarfile.TarFile, folder: Path, name: str) -> None:
    """Files of a pack, none of them outside `folder`.

    Raises:
        ValueError: it is not the pack of that name.
    """
    listed = _content(archive, LIST).read()
    if sha256_bytes(listed) != _stem(name):
        raise ValueError("another list")
    for path, sha256 in json.loads(listed):
        target = folder / path
        if not target.resolve().is_relative_to(folder.resolve()):
            raise ValueError(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        content, found = _content(archive, path), hashlib.sha256()
        with target.open("wb") as out:
            while block := content.read(_BLOCK):
                found.update(block)
                out.write(block)
        if found.hexdigest() != sha256:
            raise ValueError(path)
    (folder / LIST).write_bytes(listed)  # last: what has it is whole


def _content(archive: tarfile.TarFile, path: str) -> IO[bytes]:
    """The next file of a pack, which is to have that name."""
    member = archive.next()
    if member is None or member.name != path or not member.isreg():
        raise ValueError(path)
    content = archive.extractfile(member)
    assert content is not None
    return content


def kept(place: Place, name: str, cache: Path) -> Path:
    """The folder where this machine keeps a pack's files, fetched when they are not there or not whole.

    They are held to their hashes once in each process, and then seen to be there.

    Args:
        place: of the store.
        name: of the pack.
        cache: an existing folder of this machine, which several processes may use at once.

    Raises:
        LostInStore: the store does not hold it, or held another, which is gone from there now.
    """
    target = cache / _stem(name)
    with _checking:
        if name in _checked and all((target / path).is_file() for path, _ in _checked[name]):
            return target
        with FileLock(cache / f"{target.name}.lock"):
            files = _files_if_whole(target)
            if files is None:
                half = cache / f"{target.name}.half"
                shutil.rmtree(half, ignore_errors=True)
                shutil.rmtree(target, ignore_errors=True)
                unpack(place, name, half)
                half.rename(target)
                files = json.loads((target / LIST).read_bytes())
        _checked[name] = files
    return target


def _files_if_whole(folder: Path) -> Files | None:
    """What an unpacked pack lists, if it is that of the folder's name and every file has its hash."""
    try:
        listed = (folder / LIST).read_bytes()
        if sha256_bytes(listed) != folder.name:
            return None
        files: list[tuple[str, str]] = json.loads(listed)
        is_whole = all(sha256_file(folder / path) == sha256 for path, sha256 in files)
    except OSError:
        return None
    return files if is_whole else None


def _stem(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(".tar")
