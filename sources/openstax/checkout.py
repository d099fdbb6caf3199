"""The files of an OpenStax repository at one revision, from a folder or from the tarball of a GitHub commit.

Texts (books.xml, collections, modules, LICENSE, README) are held in memory: a book has some 20 MB of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from schemas.errors import FetchError, InputError, UsageError
from schemas.hashing import canonical_json, sha256_bytes, sha256_text
from schemas.stages import Reason
from sources.archives import read_members
from sources.cnxml.collection import Collection, read_collection, root_named
from sources.http import PoliteClient
from sources.jats.load import load
from sources.store import RawStore, is_safe_name

SOURCE = "openstax"
GITHUB_API = "https://api.github.com"
GITHUB_CODE = "https://codeload.github.com"
_MIB = 1024 * 1024
_MAX_COMMIT_BYTES = 32 * _MIB
_MAX_TEXT_BYTES = 64 * _MIB
_BOOKS = "META-INF/books.xml"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")
_TEXT = re.compile(
    r"META-INF/books\.xml|collections/[^/]+\.xml|modules/[^/]+/index\.cnxml|(?:LICEN[SC]E|README)(?:\.\w+)?",
    re.IGNORECASE,
)
_LICENCE_NAMES = ("LICENSE", "LICENCE", "LICENSE.txt", "LICENSE.md", "LICENCE.txt", "LICENCE.md")
_README_NAMES = ("README.md", "README", "README.txt", "README.rst")
_LIMIT_HINT = (
    "GitHub allows 60 questions an hour without an account: name a full commit hash, or wait an hour"
)


def module_path(document: str) -> str:
    """Path of a module in its repository."""
    return f"modules/{document}/index.cnxml"


@dataclass(frozen=True, slots=True)
class Book:
    """One book of a repository: slug, path of its collection, and what that says."""

    slug: str
    path: str
    collection: Collection


@dataclass(slots=True)
class Checkout:
    """A repository at one revision.

    Attributes:
        origin: the folder, or the stored tarball.
        texts: bytes of its text files by path.
        revision: the commit; of a folder without one, a hash of its texts.
        key: 12 characters that name these very texts under raw/.
        is_archive: `origin` is a tarball.
        names: paths of all its files; empty for a folder, which is looked into when asked.
        books: its books by slug, in the order of books.xml.
        unreadable: path, reason and detail of collections that cannot be read.
    """

    origin: Path
    texts: Mapping[str, bytes]
    revision: str
    key: str
    is_archive: bool
    names: frozenset[str] = frozenset()
    books: dict[str, Book] = field(default_factory=dict)
    unreadable: list[tuple[str, Reason, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for slug, path in _listed_books(self.texts):
            try:
                if path not in self.texts:
                    raise InputError("books.xml names it, but it is not there", reason=Reason.NOT_FOUND.value)
                self.books.setdefault(slug, Book(slug, path, read_collection(self.texts[path])))
            except InputError as error:
                self.unreadable.append((path, Reason(error.reason), error.message))

    @property
    def licence(self) -> bytes | None:
        """The LICENSE file, None when there is none."""
        return next((self.texts[name] for name in _LICENCE_NAMES if name in self.texts), None)

    @property
    def readme(self) -> bytes | None:
        """The README, None when there is none."""
        return next((self.texts[name] for name in _README_NAMES if name in self.texts), None)

    def read(self, path: str, max_bytes: int) -> bytes | None:
        """A file of a folder, None when it is not there.

        Raises:
            InputError: it lies outside, cannot be read, or is larger than `max_bytes`.
        """
        return _inside(self.origin, path, max_bytes)

    def members(self, paths: frozenset[str]) -> Iterator[tuple[str, bytes]]:
        """Files of a tarball in the order they stand in it.

        Raises:
            InputError: the tarball is damaged or hostile.
        """
        return _members(self.origin, paths.__contains__)


def _listed_books(texts: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Slug and path of each collection in books.xml; of a repository without one, every collection.

    Raises:
        UsageError: there is no book.
    """
    found: list[tuple[str, str]] = []
    if _BOOKS in texts:
        root, _ = load(texts[_BOOKS], root_named("container"))
        for book in root.iter("book"):
            path = (PurePosixPath("META-INF") / (book.get("href") or "")).as_posix()
            path = path.removeprefix("META-INF/../")
            slug = (book.get("slug") or PurePosixPath(path).name.partition(".")[0]).strip()
            found.append((slug, path))
    else:
        names = sorted(path for path in texts if path.startswith("collections/"))
        found = [(PurePosixPath(path).name.partition(".")[0], path) for path in names]
    found = [(slug, path) for slug, path in found if is_safe_name(slug)]
    if not found:
        raise UsageError(
            "no OpenStax book here: neither META-INF/books.xml nor collections/*.xml",
            hint="medqrels crawl openstax FOLDER, or OWNER/REPOSITORY such as openstax/osbooks-microbiology",
        )
    return found


# ---- a folder


def open_folder(path: Path) -> Checkout:
    """A checkout on disk.

    Raises:
        UsageError: no folder, or no book in it.
        InputError: its books.xml cannot be read.
    """
    if not path.is_dir():
        raise UsageError("not a folder", file=str(path), hint="medqrels crawl openstax FOLDER")
    names = [_BOOKS, *_LICENCE_NAMES, *_README_NAMES]
    for pattern in ("collections/*.xml", "modules/*/index.cnxml"):
        names.extend(sorted(found.relative_to(path).as_posix() for found in path.glob(pattern)))
    texts: dict[str, bytes] = {}
    for name in names:
        data = _inside(path, name, _MAX_TEXT_BYTES)
        if data is not None:
            texts[name] = data
    content = sha256_text(
        canonical_json([[name, sha256_bytes(data)] for name, data in sorted(texts.items())])
    )
    # A working tree may differ from its commit, so the copy is named by what was read, not by the commit.
    return Checkout(path, texts, _git_head(path) or content, content[:12], is_archive=False)


def _inside(root: Path, path: str, max_bytes: int) -> bytes | None:
    try:
        real = (root / path).resolve(strict=True)
        if not real.is_relative_to(root.resolve(strict=True)) or not real.is_file():
            raise InputError("a link or path out of the folder is refused", reason=Reason.NOT_FOUND.value)
        with real.open("rb") as handle:
            data = handle.read(max_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, RuntimeError, ValueError) as error:
        detail = f"cannot be read: {type(error).__name__}"
        raise InputError(detail, reason=Reason.NOT_FOUND.value, file=path) from None
    if len(data) > max_bytes:
        raise InputError(f"larger than the limit of {max_bytes} bytes", reason=Reason.TOO_LARGE.value)
    return data


def _git_head(path: Path) -> str | None:
    """The commit a checkout stands at, read without git; None when there is no plain .git folder."""
    try:
        head = (path / ".git" / "HEAD").read_text("ascii").strip()
        if not head.startswith("ref: "):
            return head if _COMMIT.fullmatch(head) else None
        name = head.removeprefix("ref: ")
        loose = path / ".git" / name
        if loose.is_file():
            commit = loose.read_text("ascii").strip()
        else:
            packed = (path / ".git" / "packed-refs").read_text("utf-8").splitlines()
            commit = next((line.split()[0] for line in packed if line.endswith(f" {name}")), "")
    except (OSError, ValueError):
        return None
    return commit if _COMMIT.fullmatch(commit) else None


# ---- a repository of GitHub


@dataclass(frozen=True, slots=True)
class GitHubContext:
    """What fetching a repository works with.

    Attributes:
        client: HTTP client that may ask both endpoints.
        store: raw/ and its ledger.
        api: address of the API, which resolves a branch or tag.
        code: address that serves tarballs.
        max_archive_bytes: larger tarballs are refused.
    """

    client: PoliteClient
    store: RawStore
    api: str = GITHUB_API
    code: str = GITHUB_CODE
    max_archive_bytes: int = 4096 * _MIB


def is_repository(target: str) -> bool:
    """Whether a target reads as `owner/repository`."""
    return bool(_REPOSITORY.fullmatch(target))


def open_repository(repository: str, ref: str, context: GitHubContext) -> Checkout:
    """The tarball of one commit, fetched unless raw/ has it.

    Args:
        repository: `owner/name`.
        ref: branch, tag or commit; a full commit hash costs no question to the API.
        context: client, store and limits.

    Raises:
        UsageError: not a repository's name, or no book in it.
        FetchError: GitHub does not know it, does not answer, or its limit of questions is used up.
        InputError: the tarball is too large, damaged or hostile.
    """
    if not is_repository(repository):
        raise UsageError(f"not a repository: {repository[:100]!r}", hint="write OWNER/REPOSITORY")
    commit = ref if _COMMIT.fullmatch(ref) else _resolve(repository, ref, context)
    key = f"{repository}/{commit}.tar.gz"
    held = context.store.held(SOURCE, key)
    if held is None:
        url = f"{context.code.rstrip('/')}/{quote(repository)}/tar.gz/{commit}"
        path = f"{SOURCE}/archives/{key}"
        held = context.store.fetch_file(
            context.client, url, SOURCE, key, path, max_bytes=context.max_archive_bytes
        )
    if held is None:
        detail = f"GitHub has no such commit of {repository}, or refuses it"
        raise FetchError(detail, record=commit, hint=_LIMIT_HINT)
    tarball = context.store.root / held.path
    names: set[str] = set()

    def is_text(name: str) -> bool:
        names.add(name)
        return bool(_TEXT.fullmatch(name))

    try:
        texts = dict(_members(tarball, is_text))
    except InputError as error:
        if error.reason != Reason.ARCHIVE_INVALID.value:
            raise
        context.store.ledger.forget(SOURCE, held.path)  # GitHub states no checksum
        raise FetchError(
            f"what came is not a whole tarball: {error.message}",
            record=commit,
            file=held.path,
            hint="run the same command again: the tarball is fetched anew",
        ) from error
    return Checkout(tarball, texts, commit, commit[:12], is_archive=True, names=frozenset(names))


def _resolve(repository: str, ref: str, context: GitHubContext) -> str:
    """The commit a branch or tag stands for.

    Raises:
        FetchError: unknown, refused, or no such answer.
    """
    url = f"{context.api.rstrip('/')}/repos/{quote(repository)}/commits/{quote(ref, safe='')}"
    try:
        answer = context.client.get(url, max_bytes=_MAX_COMMIT_BYTES)
    except FetchError as error:
        hint = _LIMIT_HINT if "429" in error.message else error.hint
        raise FetchError(error.message, record=repository, file=error.file, hint=hint) from error
    if answer is None:
        detail = f"GitHub knows no {ref!r} of {repository}, or its hourly limit is used up"
        raise FetchError(detail, record=repository, hint=_LIMIT_HINT)
    try:
        commit = json.loads(answer.body)["sha"]
    except (ValueError, KeyError, TypeError, RecursionError):
        commit = ""
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise FetchError("GitHub's answer names no commit", record=repository, hint=_LIMIT_HINT)
    return commit


def _members(tarball: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Wanted files by their path inside the repository: GitHub puts all under one folder."""

    def inner(name: str) -> str:
        return name.partition("/")[2]

    for member in read_members(tarball, kind="tar", wanted=lambda name: wanted(inner(name))):
        yield inner(member.name), member.data
