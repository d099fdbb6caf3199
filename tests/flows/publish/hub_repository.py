"""Dataset repositories as the Hub keeps them, in memory: commits, branches, tags, large files by SHA-256."""

from __future__ import annotations

import fnmatch
import hashlib
import importlib
import itertools
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

ATTRIBUTES = ".gitattributes"
_LARGE = ("*.parquet", "*.arrow", "*.bin", "*.zip", "*.tar", "*.png", "*.jpg", "*.webp")
_LARGEST_REGULAR = 10 * 1024 * 1024
_EPOCH = datetime(2026, 11, 25, tzinfo=UTC)
_NUMBERS = itertools.count(1)


def git_oid(content: bytes) -> str:
    """The name git gives a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of a commit: its own content, or what points to a large one."""

    content: bytes
    """Of a large file: the pointer."""
    sha256: str = ""
    size: int = 0

    @property
    def oid(self) -> str:
        """Its name in git."""
        return git_oid(self.content)

    @property
    def is_large(self) -> bool:
        """Whether its content is kept outside git."""
        return bool(self.sha256)

    @property
    def etag(self) -> str:
        """What a cache tells versions of the file by."""
        return self.sha256 or self.oid

    @property
    def length(self) -> int:
        """Bytes of the file itself."""
        return self.size if self.is_large else len(self.content)

    def listed(self, path: str) -> dict[str, object]:
        """As a listing of files shows it."""
        shown: dict[str, object] = {"type": "file", "path": path, "oid": self.oid, "size": self.length}
        if self.is_large:
            shown["lfs"] = {"oid": self.sha256, "size": self.size, "pointerSize": len(self.content)}
        return shown


def large(sha256: str, size: int) -> Blob:
    """A blob that points to a large file."""
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n"
    return Blob(pointer.encode(), sha256, size)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; `tree` is path -> blob."""

    oid: str
    parent: str
    title: str
    message: str
    tree: Mapping[str, Blob]
    author: str
    number: int

    def listed(self) -> dict[str, object]:
        """As a list of commits shows it."""
        date = (_EPOCH + timedelta(seconds=self.number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return {
            "id": self.oid,
            "title": self.title,
            "message": self.message,
            "date": date,
            "authors": [{"user": self.author}],
        }


@dataclass
class Repository:
    """One dataset repository; as the Hub makes it, with a first commit that says which files are large."""

    id: str
    is_private: bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    """Large files that came over LFS."""
    deleted: set[str] = field(default_factory=set)
    """SHA-256 of large files deleted for good."""

    def __post_init__(self) -> None:
        rules = "".join(f"{pattern} filter=lfs diff=lfs merge=lfs -text\n" for pattern in _LARGE)
        self.commit({ATTRIBUTES: Blob(rules.encode())}, "initial commit", "", "the Hub")

    @property
    def head(self) -> Commit:
        """The newest commit of main."""
        return self.commits[self.branches["main"]]

    def commit(self, tree: Mapping[str, Blob], title: str, message: str, author: str) -> Commit:
        """Add a commit to main."""
        parent, number = self.branches.get("main", ""), next(_NUMBERS)
        names = "\n".join(f"{path} {blob.oid}" for path, blob in sorted(tree.items()))
        oid = hashlib.sha1(f"{self.id} {number} {parent}\n{title}\n{message}\n{names}".encode()).hexdigest()
        made = Commit(oid, parent, title, message, dict(tree), author, number)
        self.commits[oid] = made
        self.branches["main"] = oid
        return made

    def edit(self, title: str = "Update README.md", **files: bytes | None) -> Commit:
        """What a person does on the Hub's page; `README__md` names README.md, None deletes."""
        tree = dict(self.head.tree)
        for name, content in files.items():
            path = name.replace("__", ".")
            if content is None:
                del tree[path]
            else:
                tree[path] = Blob(content)
        return self.commit(tree, title, "", "a person")

    def at(self, revision: str) -> Commit | None:
        """The commit that a branch, tag or id names."""
        oid = self.branches.get(revision) or self.tags.get(revision) or revision
        return self.commits.get(oid)

    def history(self, commit: Commit) -> Iterator[Commit]:
        """A commit and those before it."""
        while True:
            yield commit
            if commit.parent not in self.commits:
                return
            commit = self.commits[commit.parent]

    def squash(self, message: str) -> None:
        """One commit instead of main's history; what no tag holds is gone."""
        tree = self.head.tree
        del self.branches["main"]
        self.commit(tree, message, "", "the Hub")
        self.collect()

    def collect(self) -> None:
        """Forget commits that nothing leads to."""
        kept: dict[str, Commit] = {}
        for oid in (*self.branches.values(), *self.tags.values()):
            kept.update((commit.oid, commit) for commit in self.history(self.commits[oid]))
        self.commits = kept

    def delete_objects(self, names: set[str], *, rewrites: bool) -> None:
        """Delete large files for good; with `rewrites` no commit names them any more."""
        self.deleted |= names
        for name in names:
            self.objects.pop(name, None)
        if rewrites:
            for oid, commit in list(self.commits.items()):
                tree = {path: blob for path, blob in commit.tree.items() if blob.sha256 not in names}
                self.commits[oid] = Commit(
                    oid, commit.parent, commit.title, commit.message, tree, commit.author, commit.number
                )

    def mode(self, path: str, size: int, sample: bytes) -> str:
        """How a file is uploaded: `lfs` when it is large or a pattern says so."""
        is_listed = any(fnmatch.fnmatch(path.rpartition("/")[2], pattern) for pattern in _LARGE)
        return "lfs" if is_listed or size > _LARGEST_REGULAR or b"\0" in sample else "regular"


class XetStore:
    """What hf_xet keeps in a folder of this machine when it is told to use `local://`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._read: dict[Path, dict[str, str]] = {}

    @property
    def url(self) -> str:
        """What a client is told to use."""
        return f"local://{self.folder}"

    def hash_of(self, sha256: str) -> str:
        """hf_xet's name of a file that was uploaded whole, '' when it was not."""
        for shard in sorted(self.folder.glob("xet/xorbs/shards/*.mdb")):
            if shard not in self._read:
                self._read[shard] = dict(_files_of(shard.read_bytes()))
            if sha256 in self._read[shard]:
                return self._read[shard][sha256]
        return ""

    def read(self, xet_hash: str, size: int, scratch: Path) -> bytes:
        """A file put together again."""
        hf_xet = importlib.import_module("hf_xet")  # it ships no types

        scratch.mkdir(parents=True, exist_ok=True)
        target = scratch / f"{xet_hash}-{next(_NUMBERS)}"
        with hf_xet.XetSession().new_file_download_group(
            endpoint=self.url, token="t", token_expiry_unix_secs=2**40, custom_headers={}
        ) as group:
            group.start_download_file(hf_xet.XetFileInfo(xet_hash, size), str(target))
        content = target.read_bytes()
        target.unlink()
        return content


def _files_of(shard: bytes) -> Iterator[tuple[str, str]]:
    """(SHA-256, xet hash) of the files that a shard of hf_xet describes."""
    at = 48
    while shard[at : at + 32] != b"\xff" * 32:
        name = _hash(shard[at : at + 32])
        flags, count = struct.unpack("<II", shard[at + 32 : at + 40])
        at += 48 * (1 + count * (2 if flags & 0x80000000 else 1))
        if flags & 0x40000000:
            yield _hash(shard[at : at + 32]), name
            at += 48


def _hash(raw: bytes) -> str:
    return "".join(f"{word:016x}" for word in struct.unpack("<4Q", raw))
