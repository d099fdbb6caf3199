"""The bucket's daily inventory: all metadata objects with their ETags, so that a sync asks only what changed.

A snapshot becomes one Parquet file under raw/pmc/inventory/, written and read in pieces: 8 million rows need
little memory. Interface: https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-inventory.html
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from lxml import etree

from schemas.errors import ChecksumMismatch, FetchError, InputError
from schemas.hashing import sha256_bytes
from schemas.stages import Reason
from sources.pmc import SOURCE, PmcContext
from sources.store import as_md5, md5_hex

PREFIX = "inventory-reports/pmc-oa-opendata/metadata/"
TRIED = 5
"""Newest snapshots looked at: the folder of a day stands before its manifest does."""
KEPT = 2
"""Snapshots that stay on disk."""

_FOLDER = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}Z)/")
_KEY = r"^metadata/PMC(?P<pmcid>[0-9]{1,12})\.(?P<version>[0-9]{1,6})\.json$"
_NEEDED = ("Key", "LastModifiedDate", "ETag")
_SCHEMA = pa.schema(
    [("pmcid", pa.int64()), ("version", pa.int32()), ("etag", pa.string()), ("last_modified", pa.string())]
)
_MAX_LISTING_BYTES = 8 * 1024 * 1024
_MAX_PAGES = 100
_CHECKSUM_ATTEMPTS = 3
_MAX_SHARDS = 1_000
_MAX_SHARD_BYTES = 1024 * 1024 * 1024
_MAX_RATIO = 50
_BLOCK_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """One article version as the bucket holds it: its number and the ETag of its metadata."""

    number: int
    etag: str


State = Mapping[str, tuple[ObjectVersion, ...]]
"""PMCID -> its versions by number; a PMCID without versions is left out."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """One snapshot on disk: its date (`2026-11-20T01-00Z`), its Parquet file, its number of rows."""

    date: str
    path: Path
    rows: int


@dataclass(frozen=True, slots=True)
class InventoryDiff:
    """PMCIDs that are in the bucket now and were not, that differ, and that are gone; each sorted."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    vanished: tuple[str, ...]


def newest(context: PmcContext, until: str = "") -> Inventory | None:
    """Fetch the newest complete snapshot, unless it is on disk already.

    Args:
        context: client, store and endpoint of the bucket.
        until: last day it may be of (ISO), '' for any.

    Returns:
        The snapshot; None when the bucket offers none.

    Raises:
        FetchError: the bucket does not answer, or a file differs from its checksum.
        InputError: a manifest or file is not what the interface promises (`archive_invalid`), or unpacks to
            far more than it should (`archive_hostile`).
    """
    dates = (date for date in _dates(context) if not until or date[: len(until)] <= until)
    for date in sorted(dates, reverse=True)[:TRIED]:
        key = f"{PREFIX}{date}/manifest.json"
        manifest = _manifest(key, context)
        if manifest is not None:
            return _snapshot(date, manifest, key, context)
    return None


def read_state(inventory: Inventory, pmcids: Iterable[str]) -> dict[str, tuple[ObjectVersion, ...]]:
    """What a snapshot says of some PMCIDs; those it does not hold are left out."""
    wanted = pa.array(sorted({int(pmcid.removeprefix("PMC")) for pmcid in pmcids}), pa.int64())
    with pq.ParquetFile(inventory.path) as file:
        pieces = [
            batch.filter(pc.is_in(batch["pmcid"], value_set=wanted))
            for batch in file.iter_batches(columns=_SCHEMA.names)
        ]
    order = [(name, "ascending") for name in ("pmcid", "version", "last_modified", "etag")]
    table = pa.Table.from_batches(pieces, _SCHEMA).sort_by(order)
    latest: dict[str, dict[int, ObjectVersion]] = {}
    columns = (table[name].to_pylist() for name in ("pmcid", "version", "etag"))
    for number, version, etag in zip(*columns, strict=True):
        # Rows of one key come oldest first, so the last one stays.
        latest.setdefault(f"PMC{number}", {})[version] = ObjectVersion(version, etag)
    return {pmcid: tuple(found[number] for number in sorted(found)) for pmcid, found in latest.items()}


def diff(old: State, new: State, pmcids: Iterable[str]) -> InventoryDiff:
    """Compare two states of some PMCIDs: by version numbers and ETags."""
    asked = sorted(set(pmcids), key=lambda pmcid: int(pmcid.removeprefix("PMC")))
    return InventoryDiff(
        new=tuple(item for item in asked if new.get(item) and not old.get(item)),
        changed=tuple(item for item in asked if old.get(item) and new.get(item) and old[item] != new[item]),
        vanished=tuple(item for item in asked if old.get(item) and not new.get(item)),
    )


def _url(key: str, context: PmcContext) -> str:
    return f"{context.endpoint.rstrip('/')}/{quote(key, safe='/')}"


def _dates(context: PmcContext) -> set[str]:
    """Dated folders of the inventory; its siblings `data/` and `hive/` are no snapshots."""
    base = f"{context.endpoint.rstrip('/')}/?list-type=2&prefix={quote(PREFIX, safe='')}&delimiter=/"
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    found: set[str] = set()
    url = base
    for _ in range(_MAX_PAGES):
        answer = context.client.get(url, max_bytes=_MAX_LISTING_BYTES)
        if answer is None:
            return found
        try:
            root = etree.fromstring(answer.body, parser)
        except (etree.LxmlError, ValueError):
            raise FetchError("the inventory's listing is not XML", file=PREFIX) from None
        for item in root.iterfind("{*}CommonPrefixes/{*}Prefix"):
            match = _FOLDER.fullmatch((item.text or "").removeprefix(PREFIX))
            found.update(match.groups() if match else ())
        token = root.findtext("{*}NextContinuationToken")
        if not token or (root.findtext("{*}IsTruncated") or "").strip().lower() != "true":
            return found
        url = f"{base}&continuation-token={quote(token, safe='')}"
    raise FetchError("the inventory's listing does not end", file=PREFIX)


def _invalid(what: str, key: str, reason: Reason = Reason.ARCHIVE_INVALID) -> InputError:
    return InputError(
        f"the inventory cannot be used: {what}",
        reason=reason.value,
        file=key,
        hint="try again tomorrow, or ask the bucket itself: medqrels crawl pmc --poll",
    )


def _manifest(key: str, context: PmcContext) -> bytes | None:
    for _ in range(_CHECKSUM_ATTEMPTS):
        answer = context.client.get(_url(key, context), max_bytes=_MAX_LISTING_BYTES)
        if answer is None:
            return None
        announced = as_md5(answer.headers.get("etag"))
        if announced in (None, md5_hex(answer.body)):
            return answer.body
    raise ChecksumMismatch("the manifest differs from its ETag", file=key)


@dataclass(frozen=True, slots=True)
class _Shard:
    key: str
    md5: str
    columns: tuple[str, ...]


def _shards(body: bytes, key: str) -> list[_Shard]:
    """The files of a manifest, in its order."""
    try:
        row = json.loads(body)
        kind, schema, files = row["fileFormat"], row["fileSchema"], row["files"]
        if kind != "CSV":
            raise _invalid(f"its files are {str(kind)[:20]}, not CSV", key)
        columns = tuple(name.strip() for name in schema.split(","))
        shards = [_Shard(item["key"], item["MD5checksum"].lower(), columns) for item in files]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _invalid("its manifest is not one", key) from None
    lacking = [name for name in _NEEDED if name not in columns]
    if lacking or len(set(columns)) != len(columns):
        raise _invalid(f"it lacks column {', '.join(lacking) or 'names that differ'}", key)
    good = all(isinstance(item.key, str) and as_md5(item.md5) for item in shards)
    if not good or not 0 < len(shards) <= _MAX_SHARDS:
        raise _invalid("its manifest names no usable files", key)
    return shards


def _snapshot(date: str, manifest: bytes, key: str, context: PmcContext) -> Inventory:
    """The Parquet file of a snapshot: what is there already, or made from the manifest's files."""
    folder = context.store.root / SOURCE / "inventory"
    path = folder / f"{date}.parquet"
    fingerprint = sha256_bytes(manifest)
    rows = _rows_of(path, fingerprint)
    if rows is None:
        shards = _shards(manifest, key)
        downloads = folder / date
        partial = path.with_name(f".{path.name}.part")
        downloads.mkdir(parents=True, exist_ok=True)
        rows = 0
        schema = _SCHEMA.with_metadata({"manifest_sha256": fingerprint})
        with pq.ParquetWriter(partial, schema, compression="zstd", use_dictionary=False) as writer:
            for number, shard in enumerate(shards):
                local = downloads / f"{number:04d}.csv.gz"
                _download(shard, local, context)
                for batch in _batches(local, shard):
                    writer.write_batch(batch)
                    rows += batch.num_rows
        if not rows:  # taken at its word, every article would have to be asked for
            raise _invalid("it lists no article", key)
        with partial.open("rb") as handle:
            os.fsync(handle.fileno())
        os.replace(partial, path)
        shutil.rmtree(downloads)
    for old in sorted(folder.glob("*.parquet"))[:-KEPT]:
        old.unlink()
    return Inventory(date, path, rows)


def _rows_of(path: Path, fingerprint: str) -> int | None:
    """Rows of a snapshot on disk, None when it is absent, damaged or of another manifest."""
    try:
        with pq.ParquetFile(path) as file:
            same = (file.schema_arrow.metadata or {}).get(b"manifest_sha256") == fingerprint.encode()
            return int(file.metadata.num_rows) if same else None
    except (OSError, pa.ArrowException):
        return None


def _download(shard: _Shard, local: Path, context: PmcContext) -> None:
    if local.is_file() and _md5_of(local) == shard.md5:  # a killed run left it
        return
    answer = context.client.get_to_file(
        _url(shard.key, context), local, max_bytes=_MAX_SHARD_BYTES, md5=shard.md5
    )
    if answer is None:
        raise FetchError("the inventory's manifest names a file the bucket does not have", file=shard.key)


def _md5_of(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


class _Unpacked(io.RawIOBase):
    """Unpacks a gzip file and stops when it grows far beyond what an inventory can."""

    def __init__(self, path: Path, shard: _Shard) -> None:
        self._file = gzip.open(path, "rb")  # noqa: SIM115 - closed by close()
        self._left = path.stat().st_size * _MAX_RATIO + 1024 * 1024
        self._shard = shard

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise _invalid("a file unpacks to far too much", self._shard.key, Reason.ARCHIVE_HOSTILE)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def _batches(path: Path, shard: _Shard) -> Iterator[pa.RecordBatch]:
    """Rows of metadata objects of one CSV file, a few MiB at a time."""
    wanted = [name for name in (*_NEEDED, "IsLatest", "IsDeleteMarker") if name in shard.columns]
    reading = pyarrow.csv.ReadOptions(
        column_names=list(shard.columns), block_size=_BLOCK_BYTES, use_threads=False
    )
    converting = pyarrow.csv.ConvertOptions(
        include_columns=wanted,
        column_types=dict.fromkeys(wanted, pa.string()),
        strings_can_be_null=False,
    )
    try:
        with io.BufferedReader(_Unpacked(path, shard), 1024 * 1024) as unpacked:
            if not unpacked.peek(1):  # the CSV reader takes no empty file
                return
            with pyarrow.csv.open_csv(unpacked, read_options=reading, convert_options=converting) as reader:
                for batch in reader:
                    yield _rows(batch)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise _invalid("a file is no complete gzip file", shard.key) from None
    except pa.ArrowInvalid as error:
        what = " ".join(str(error).split())[:120]
        raise _invalid(f"a file is no CSV of these columns ({what})", shard.key) from None


def _rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Keep the current metadata objects; keys are URL-encoded in an inventory."""
    for name, kept in (("IsLatest", "true"), ("IsDeleteMarker", "false")):
        if name in batch.schema.names:
            batch = batch.filter(pc.equal(pc.utf8_lower(batch[name]), kept))
    keys = pc.replace_substring(batch["Key"], "%2F", "/")
    if pc.any(pc.match_substring(keys, "%")).as_py():
        keys = pa.array([unquote(key) for key in keys.to_pylist()], pa.string())
    parts = pc.extract_regex(keys, _KEY)
    found = parts.is_valid()
    fields = parts.filter(found).flatten()
    return pa.RecordBatch.from_arrays(
        [
            fields[0].cast(pa.int64()),
            fields[1].cast(pa.int32()),
            pc.ascii_trim(batch["ETag"].filter(found), '"'),
            batch["LastModifiedDate"].filter(found),
        ],
        schema=_SCHEMA,
    )
