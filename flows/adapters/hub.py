"""The Hugging Face Hub: the only place that talks to huggingface_hub. Every call is bounded and polite.

Endpoint and token are read as the Hub's own tools read them (HF_ENDPOINT, HF_TOKEN, `hf auth login`). What an
error says never holds the token or a signed address.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

# The library reads these when it is imported.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import httpx2
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, constants, get_token
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled, RepositoryNotFoundError
from huggingface_hub.utils import logging as hub_logging
from huggingface_hub.utils._http import default_client_factory, set_client_factory

from schemas.errors import FetchError, UsageError

DATASET: Literal["dataset"] = "dataset"
MAIN = "main"
CONFLICT, STALE_PARENT = 409, 412
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_WAIT_SECONDS = 300.0
_AGAIN = "what was sent stands; the same command goes on from here"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a revision: its name in git, and the SHA-256 of one kept as a large file."""

    git_oid: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class RemoteCommit:
    """A commit: id and everything its message says."""

    oid: str
    message: str


@dataclass(frozen=True, slots=True)
class RemoteCollection:
    """A collection: how addresses name it, and whether only its owner sees it."""

    slug: str
    is_private: bool


class Refused(FetchError):  # noqa: N818 - the Hub's answer, not a failure of ours
    """The Hub said no for a reason that waiting does not change; `status` is its answer."""

    def __init__(self, message: str, *, status: int, file: str = "", hint: str = "") -> None:
        super().__init__(message, file=file, hint=hint)
        self.status = status

    def __reduce__(self) -> tuple[object, ...]:
        return (_refused, (self.message, self.status, self.file, self.hint))


def _refused(message: str, status: int, file: str, hint: str) -> Refused:
    return Refused(message, status=status, file=file, hint=hint)


class Hub:
    """Calls to one Hub.

    Args:
        attempts: tries for each call.
        timeout_seconds: wait for the next bytes.
        sleep: how to wait; for tests.

    Raises:
        FetchError: of every method, when the Hub cannot be reached or does not get well.
        Refused: of every method, when it answers no.
    """

    def __init__(
        self, *, attempts: int = 6, timeout_seconds: float = 60.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._attempts, self._sleep = attempts, sleep
        self._token = get_token()
        hub_logging.set_verbosity(logging.CRITICAL)  # it logs signed addresses
        for name in ("httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)

        def client() -> httpx2.Client:
            made = default_client_factory()
            made.timeout = httpx2.Timeout(timeout_seconds)
            return made

        set_client_factory(client)
        self._api = HfApi(token=self._token or False, library_name="medqrels")

    @property
    def endpoint(self) -> str:
        """Address of the Hub, without a name or password in it."""
        parts = urlsplit(constants.ENDPOINT)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def check_may_write(self, owner: str) -> None:
        """Find out before anything is sent that the token cannot write in a namespace.

        Raises:
            UsageError: there is no token, it only reads, or its user is not in the namespace.
        """
        if not self._token:
            raise UsageError(
                "no token for the Hub", hint="hf auth login, or set HF_TOKEN to a token that writes"
            )
        who = self._call("ask who the token belongs to", self._api.whoami)
        role = who.get("auth", {}).get("accessToken", {}).get("role", "")
        if role == "read":
            raise UsageError("the token for the Hub may only read", hint="make one with the role write")
        names = [str(who["name"]), *(str(one["name"]) for one in who.get("orgs", ()))]
        if owner not in names:
            raise UsageError(
                f"the token's user may not publish as {owner!r}",
                hint=f"--to hf:ORG with one of {', '.join(names)}",
            )

    def is_private(self, repository: str) -> bool | None:
        """Whether a dataset repository is private; None when there is none that the token can see."""
        try:
            info = self._call(f"look at {repository}", lambda: self._api.dataset_info(repository))
        except Refused as refused:
            if refused.status in (401, 404):
                return None
            raise
        return bool(info.private)

    def create_repository(self, repository: str, *, private: bool) -> None:
        """Make a dataset repository; one that is there already stays as it is."""
        self._call(
            f"create {repository}",
            lambda: self._api.create_repo(repository, repo_type=DATASET, private=private),
            accepted={409},
        )

    def tags(self, repository: str) -> dict[str, str]:
        """Tag -> id of its commit."""
        refs = self._call(
            f"read the tags of {repository}", lambda: self._api.list_repo_refs(repository, repo_type=DATASET)
        )
        return {tag.name: tag.target_commit for tag in refs.tags}

    def branches(self, repository: str) -> dict[str, str]:
        """Branch -> id of its commit."""
        refs = self._call(
            f"read the branches of {repository}",
            lambda: self._api.list_repo_refs(repository, repo_type=DATASET),
        )
        return {one.name: one.target_commit for one in refs.branches}

    def commits(self, repository: str, revision: str = MAIN) -> list[RemoteCommit]:
        """Commits of main or another revision, the newest first."""
        found = self._call(
            f"read the commits of {repository}",
            lambda: self._api.list_repo_commits(repository, repo_type=DATASET, revision=revision),
        )
        return [RemoteCommit(one.commit_id, f"{one.title}\n{one.message}") for one in found]

    def is_served(self, repository: str, revision: str) -> bool:
        """Whether files of a revision can still be listed and read."""
        try:
            return bool(self.files(repository, revision))
        except Refused as refused:
            if refused.status == 404:
                return False
            raise

    def large_files(self, repository: str) -> set[str]:
        """SHA-256 of every large file that is kept, whatever names it."""
        found = self._call(
            f"list the large files of {repository}",
            lambda: list(self._api.list_lfs_files(repository, repo_type=DATASET)),
        )
        return {str(one.file_oid) for one in found}

    def files(self, repository: str, revision: str) -> dict[str, RemoteFile]:
        """Path -> file, of a revision."""

        def listed() -> list[Any]:
            tree = self._api.list_repo_tree(repository, repo_type=DATASET, revision=revision, recursive=True)
            return [one for one in tree if hasattr(one, "blob_id")]

        return {
            one.path: RemoteFile(one.blob_id, one.lfs.sha256 if one.lfs else "", one.size)
            for one in self._call(f"list the files of {repository}", listed)
        }

    def additions(self, files: Mapping[str, Path]) -> list[CommitOperationAdd]:
        """Files to commit, by their path in the repository; given to `upload` and then to `commit`."""
        return [CommitOperationAdd(path_in_repo=name, path_or_fileobj=path) for name, path in files.items()]

    def upload(self, repository: str, additions: Sequence[CommitOperationAdd]) -> None:
        """Send the content of those that are large; nobody sees it before the commit."""
        self._call(
            f"upload to {repository}",
            lambda: self._api.preupload_lfs_files(
                repository, additions, repo_type=DATASET, free_memory=False
            ),
        )

    def commit(
        self,
        repository: str,
        additions: Sequence[CommitOperationAdd],
        deletions: Iterable[str],
        *,
        parent: str,
        title: str,
        message: str,
    ) -> str:
        """One commit on main after `parent`; its id. It is sent once: what a lost reply did, `commits` says.

        Raises:
            Refused: with status 412, when main is not at `parent`.
        """
        operations: list[Any] = [*(CommitOperationDelete(path) for path in deletions), *additions]
        made = self._call(
            f"commit to {repository}",
            lambda: self._api.create_commit(
                repository,
                operations,
                commit_message=title,
                commit_description=message,
                repo_type=DATASET,
                parent_commit=parent,
            ),
            attempts=1,
        )
        return str(made.oid)

    def create_tag(self, repository: str, tag: str, commit: str) -> None:
        """Tag a commit.

        Raises:
            Refused: with status 409, when there is a tag of that name; where it points, `tags` says.
        """
        self._call(
            f"tag {repository}",
            lambda: self._api.create_tag(repository, tag=tag, revision=commit, repo_type=DATASET),
            attempts=1,
        )

    def delete_tag(self, repository: str, tag: str) -> None:
        """Take a tag away; one that is not there is no error."""
        self._call(
            f"delete tag {tag} of {repository}",
            lambda: self._api.delete_tag(repository, tag=tag, repo_type=DATASET),
            accepted={404},
        )

    def squash_history(self, repository: str, message: str) -> None:
        """Make one commit of main's history."""
        self._call(
            f"squash the history of {repository}",
            lambda: self._api.super_squash_history(repository, commit_message=message, repo_type=DATASET),
        )

    def delete_large_files(self, repository: str, sha256: Iterable[str]) -> int:
        """Delete large files for good, in every commit; how many were there."""
        wanted = set(sha256)

        def delete() -> int:
            found = [
                one
                for one in self._api.list_lfs_files(repository, repo_type=DATASET)
                if one.file_oid in wanted
            ]
            self._api.permanently_delete_lfs_files(repository, found, rewrite_history=True, repo_type=DATASET)
            return len(found)

        return int(self._call(f"delete files of {repository} for good", delete))

    def collection(self, owner: str, title: str) -> RemoteCollection | None:
        """An owner's collection of that title."""
        found = self._call("read the collections", lambda: list(self._api.list_collections(owner=owner)))
        named = (RemoteCollection(str(one.slug), bool(one.private)) for one in found if one.title == title)
        return next(named, None)

    def create_collection(self, owner: str, title: str, *, private: bool) -> str:
        """Make a collection; its slug. The Hub makes a second one of the same title without complaint."""
        made = self._call(
            "make the collection",
            lambda: self._api.create_collection(title, namespace=owner, private=private),
            attempts=1,
        )
        return str(made.slug)

    def collected(self, slug: str) -> set[str]:
        """Ids of the repositories in a collection."""
        found = self._call("read the collection", lambda: self._api.get_collection(slug))
        return {one.item_id for one in found.items}

    def collect(self, slug: str, repository: str) -> None:
        """Add a repository to a collection; one that is in it stays."""
        self._call(
            f"add {repository} to the collection",
            lambda: self._api.add_collection_item(slug, repository, DATASET, exists_ok=True),
        )

    def _call(
        self,
        what: str,
        call: Callable[[], T],
        *,
        attempts: int | None = None,
        accepted: Iterable[int | None] = (),
    ) -> Any:
        """Call, and again while what went wrong may pass. A status in `accepted` is no error: None."""
        limit = attempts or self._attempts
        for attempt in range(1, limit + 1):
            try:
                return call()
            except OfflineModeIsEnabled as error:
                raise UsageError("HF_HUB_OFFLINE is set", hint="unset it to publish to the Hub") from error
            except Exception as error:  # the library wraps what went wrong in several kinds
                status, wait, why = self._read(error)
                if status in accepted:
                    return None
                if status is None or (status and status not in _PASSING) or wait > _LONGEST_WAIT_SECONDS:
                    raise self._error(what, error, status, why) from None
                if attempt == limit:
                    if attempts == 1:  # the caller asks what it did, and may send it again at once
                        self._sleep(wait or 1.0)
                    raise FetchError(
                        f"the Hub did not {what} after {attempt} tries: {why}",
                        file=self.endpoint,
                        hint=_AGAIN,
                    ) from None
                self._sleep(wait or min(2.0 ** (attempt - 1), 30.0))
        raise AssertionError("unreachable")

    def _error(self, what: str, error: Exception, status: int | None, why: str) -> Exception:
        if type(error) is RuntimeError:  # what hf_xet raises of its own cache, its threads and the disk
            return FetchError(
                f"the Hub's client could not {what}: {self._clean(str(error).partition(chr(10))[0])}",
                file=self.endpoint,
                hint=f"{_AGAIN}, or set HF_HUB_DISABLE_XET=1 to send large files without hf_xet",
            )
        if status is None:
            return error
        hints = {
            401: "hf auth login, or set HF_TOKEN to a token that writes",
            403: "use a token that may write there; the same command goes on from here",
        }
        return Refused(
            f"the Hub would not {what}: {status} {why}",
            status=status,
            file=self.endpoint,
            hint=hints.get(status, _AGAIN),
        )

    def _read(self, error: BaseException) -> tuple[int | None, float, str]:
        """Status of what went wrong (0: the connection; None: no matter of the Hub), wait, and reason."""
        while not isinstance(error, (HfHubHTTPError, httpx2.TransportError, ConnectionError)):
            if error.__cause__ is None:
                return None, 0.0, ""
            error = error.__cause__
        if not isinstance(error, HfHubHTTPError):  # hf_xet tells any failure as a ConnectionError
            return 0, 0.0, f"{type(error).__name__}, the connection was lost"
        status = error.response.status_code
        if isinstance(error, RepositoryNotFoundError):
            status = 404
        given = error.response.headers.get("Retry-After", "")
        why = (error.server_message or error.response.reason_phrase or "").splitlines()
        return status, float(given) if given.isdigit() else 0.0, self._clean(why[0] if why else "")

    def _clean(self, text: str) -> str:
        return text.replace(self._token, "[token]") if self._token else text
