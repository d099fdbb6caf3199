"""A place in a bucket that speaks S3. The only module that talks to s3fs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flows.adapters.places import AGAIN, S3
from schemas.errors import FetchError, UsageError
from schemas.hashing import sha256_bytes

_PART_BYTES, _PARTS_AT_ONCE = 8 * 1024 * 1024, 2
"""Of a file that is sent or read; several files are under way at once, and their parts are in memory."""
_CREDENTIALS = (
    "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, to those of who may write there"
)
_KEPT = {"version": "list_object_versions", "upload": "list_multipart_uploads"}
"""What a bucket may hold beside its objects, and the call that lists it."""
_NOT_KEPT = frozenset({"NotImplemented", "MethodNotAllowed", "501", "405"})
"""What a store answers that keeps no older versions, or no unfinished uploads, and so lists none."""


class S3Place:
    """A prefix of a bucket. Address, region and credentials are read as other tools read them (AWS_...).

    Args:
        url: `s3://BUCKET/PREFIX`.
        attempts: tries for each call.
        timeout_seconds: wait for the next bytes.

    Raises:
        UsageError: there is no such bucket, no credentials, or the extra is not installed.
    """

    def __init__(self, url: str, *, attempts: int = 6, timeout_seconds: float = 60.0) -> None:
        self.bucket, _, prefix = url.removeprefix(S3).partition("/")
        self.prefix = prefix.strip("/")
        is_outside = any(part in ("", ".", "..") for part in self.prefix.split("/") if self.prefix)
        if not self.bucket or "@" in self.bucket or is_outside:
            raise UsageError(f"cannot publish to {url!r}", hint="--to s3://BUCKET or s3://BUCKET/PREFIX")
        try:
            from s3fs import S3FileSystem
        except ImportError as error:
            raise UsageError("s3:// needs the extra s3", hint="make setup EXTRAS=s3") from error
        self._system = S3FileSystem(
            use_listings_cache=False,
            skip_instance_cache=True,
            max_concurrency=_PARTS_AT_ONCE,
            config_kwargs={
                "retries": {"max_attempts": attempts, "mode": "standard"},
                "connect_timeout": timeout_seconds,
                "read_timeout": timeout_seconds,
            },
        )
        self._system.retries = 1  # botocore tries again by itself, and knows what may pass

    @property
    def address(self) -> str:
        """`s3://BUCKET/PREFIX`."""
        return S3 + "/".join(part for part in (self.bucket, self.prefix) if part)

    def listed(self, folder: str) -> dict[str, int]:
        """See :class:`Place`."""
        base = f"{self.bucket}/{self._key(folder)}/"
        found = self._call("list", folder, lambda: self._system.find(base, detail=True), absent={})
        names = {name: one for name, one in found.items() if name.startswith(base) and name != base}
        return {name.removeprefix(base): int(one["size"]) for name, one in names.items()}

    def sha256(self, name: str) -> str:
        """See :class:`Place`; as stored with the content, which is read where it came another way."""
        head = self._head(name)
        if head is None:
            return ""
        return str(head.get("Metadata", {}).get("sha256", "")) or sha256_bytes(self._content(name, head))

    def read(self, name: str) -> bytes | None:
        """See :class:`Place`."""
        head = self._head(name)
        return None if head is None else self._content(name, head)

    def _head(self, name: str) -> dict[str, Any] | None:
        head: dict[str, Any] | None = self._call("look at", name, lambda: self._raw("head_object", name))
        if head is not None and "ETag" not in head:
            raise self._nonsense(name)
        return head

    def _content(self, name: str, head: Mapping[str, Any]) -> bytes:
        """Content of an object that was looked at; what is not of its size or hash is no answer of S3."""
        path = f"{self.bucket}/{self._key(name)}"
        content: bytes = self._call("read", name, lambda: self._system.cat_file(path), absent=b"")
        stated = head.get("Metadata", {}).get("sha256", "")
        if len(content) != head["ContentLength"] or (stated and stated != sha256_bytes(content)):
            raise self._nonsense(name)
        return content

    def _nonsense(self, name: str) -> FetchError:
        return FetchError(
            f"what was answered for {name} does not come from S3", file=f"{self.address}/{name}", hint=AGAIN
        )

    def create(self, name: str, content: bytes) -> bool:
        """See :class:`Place`."""
        sha256 = {"sha256": sha256_bytes(content)}
        return self._create(
            name,
            lambda path: self._system.pipe_file(
                path, content, mode="create", Metadata=sha256, ContentType="application/json"
            ),
        )

    def put(self, name: str, path: Path, sha256: str) -> bool:
        """See :class:`Place`."""
        return self._create(
            name,
            lambda target: self._system.put_file(
                str(path), target, mode="create", chunksize=_PART_BYTES, Metadata={"sha256": sha256}
            ),
        )

    def has(self, name: str) -> bool:
        """See :class:`Place`."""
        return self._head(name) is not None

    def fetch(self, name: str, path: Path) -> bool:
        """See :class:`Place`."""
        written = object()

        def work() -> object:
            self._system.get_file(f"{self.bucket}/{self._key(name)}", str(path))
            return written

        return self._call("read", name, work) is written

    def tagged(self, name: str) -> tuple[bytes, str] | None:
        """See :class:`Place`; the tag is the ETag of what was read, not of what was looked at before."""
        from fsspec.asyn import sync

        def work() -> tuple[bytes, str]:
            answer = self._raw("get_object", name)
            return sync(self._system.loop, answer["Body"].read), str(answer["ETag"])

        found: tuple[bytes, str] | None = self._call("read", name, work)
        return found

    def swap(self, name: str, content: bytes, tag: str) -> bool:
        """See :class:`Place`."""
        done = self._call(
            "write",
            name,
            lambda: self._system.call_s3(
                "put_object", Bucket=self.bucket, Key=self._key(name), Body=content, IfMatch=tag
            ),
            taken=None,
        )
        return done is not None

    def delete(self, name: str) -> None:
        """See :class:`Place`."""
        self._call("delete", name, lambda: self._raw("delete_object", name))

    def tidy(self, folder: str) -> None:
        """See :class:`Place`; a store that cannot list its unfinished uploads keeps them."""
        with contextlib.suppress(FetchError, UsageError):
            for key, upload in self._listed_all(_KEPT["upload"], folder):
                self._system.call_s3("abort_multipart_upload", Bucket=self.bucket, Key=key, UploadId=upload)

    def erase(self, folder: str, first: str = "") -> list[str]:
        """See :class:`Place`."""
        if first:
            self.delete(f"{folder}/{first}")
        for key, version in self._listed_all(_KEPT["version"], folder):
            given = {"Bucket": self.bucket, "Key": key, "VersionId": version}
            self._call("delete", folder, functools.partial(self._system.call_s3, "delete_object", **given))
        for name in self.listed(folder):  # of a store that lists no versions
            self.delete(f"{folder}/{name}")
        self.tidy(folder)
        base = self._key(folder) + "/"
        return sorted(
            self.listed(folder).keys()
            | {
                f"{key.removeprefix(base)} ({told} {id})"
                for told, listing in _KEPT.items()
                for key, id in self._listed_all(listing, folder)
            }
        )

    def _listed_all(self, listing: str, folder: str) -> list[tuple[str, str]]:
        """(key, id) of every version or unfinished upload below a folder; none where a store has no such."""
        found: list[tuple[str, str]] = []
        marker: dict[str, str] = {"Prefix": self._key(folder) + "/"}
        while True:
            try:
                page = self._system.call_s3(listing, Bucket=self.bucket, **marker)
            except Exception as error:  # the library wraps what went wrong in many kinds
                if _answer(error)[0] in _NOT_KEPT:
                    return []
                raise self._refused(listing.replace("_", " "), folder, error) from None
            rows = [row for kind in ("Versions", "DeleteMarkers", "Uploads") for row in page.get(kind) or ()]
            found += [(row["Key"], row.get("VersionId") or row["UploadId"]) for row in rows]
            if not page.get("IsTruncated"):
                return sorted(found)
            names = ("KeyMarker", "VersionIdMarker", "UploadIdMarker")
            marker |= {name: page[f"Next{name}"] for name in names if page.get(f"Next{name}")}

    def _key(self, name: str) -> str:
        return f"{self.prefix}/{name}" if self.prefix else name

    def _raw(self, method: str, name: str) -> Any:
        return self._system.call_s3(method, Bucket=self.bucket, Key=self._key(name))

    def _create(self, name: str, write: Callable[[str], object]) -> bool:
        written = object()

        def work() -> object:
            write(f"{self.bucket}/{self._key(name)}")
            return written

        return self._call("write", name, work, taken=None) is written

    def _call(self, what: str, name: str, work: Callable[[], Any], **instead: Any) -> Any:
        """Call. `absent=` is returned where nothing is, `taken=` where something is already."""
        try:
            return work()
        except Exception as error:  # the library wraps what went wrong in many kinds
            code, status = _answer(error)
            if code != "NoSuchBucket" and (status == 404 or isinstance(error, FileNotFoundError)):
                return instead.get("absent")
            if status in (409, 412) and "taken" in instead:
                return instead["taken"]
            raise self._refused(what, name, error) from None

    def _refused(self, what: str, name: str, error: Exception) -> UsageError | FetchError:
        """What to tell of a call that failed."""
        if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"):
            return UsageError("no credentials for S3", file=self.address, hint=_CREDENTIALS)
        code, status = _answer(error)
        if code == "NoSuchBucket":
            return UsageError(f"there is no bucket {self.bucket!r}", file=self.address)
        return FetchError(
            f"S3 would not {what} {name}: {f'{status} {code}' if code else type(error).__name__}",
            file=f"{self.address}/{name}",
            hint=f"{_CREDENTIALS}; the same command goes on from here" if status in (401, 403) else AGAIN,
        )


def _answer(error: BaseException | None) -> tuple[str, int]:
    """Code and HTTP status that a store refused with; ('', 0) where it gave no answer."""
    while error is not None:
        told = getattr(error, "response", None)
        if isinstance(told, dict) and "Error" in told:
            status = told.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            return str(told["Error"].get("Code", "")), int(status)
        error = error.__cause__
    return "", 0
