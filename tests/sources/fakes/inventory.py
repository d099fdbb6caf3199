"""Writes an S3 Inventory of a bucket folder as the real bucket's daily job does: manifest and gz shards."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

PREFIX = "inventory-reports/pmc-oa-opendata/metadata"
COLUMNS = ("Bucket", "Key", "LastModifiedDate", "ETag")
Row = dict[str, str]


def rows_of(root: Path) -> list[Row]:
    """One row per object of the bucket but the inventory's own, in no useful order."""
    files = [path for path in root.rglob("*") if path.is_file()]
    found = [
        {
            "Bucket": "pmc-oa-opendata",
            "Key": path.relative_to(root).as_posix(),
            "LastModifiedDate": "2026-07-21T13:05:11.000Z",
            "ETag": hashlib.md5(path.read_bytes()).hexdigest(),
        }
        for path in files
        if not path.relative_to(root).as_posix().startswith("inventory-reports/")
    ]
    return sorted(found, key=lambda row: hashlib.md5(row["Key"].encode()).digest())


def write_inventory(
    root: Path,
    date: str,
    rows: Iterable[Row] | None = None,
    *,
    shards: int = 2,
    columns: Sequence[str] = COLUMNS,
    safe: str = "/",
    manifest: bool = True,
) -> Path:
    """Write one dated snapshot under a bucket folder.

    Args:
        root: the bucket's folder.
        date: e.g. `2026-11-20T01-00Z`.
        rows: its rows, by default the bucket's objects.
        shards: gz files to spread them over.
        columns: order of the columns.
        safe: characters that keys keep unencoded.
        manifest: False leaves the manifest out, as early in the day.

    Returns:
        Path of the manifest.
    """
    listed = list(rows if rows is not None else rows_of(root))
    base = root / PREFIX
    (base / "hive" / f"dt={date}").mkdir(parents=True, exist_ok=True)
    (base / "hive" / f"dt={date}" / "symlink.txt").write_text("s3://pmc-oa-opendata/…\n")
    files = []
    for number in range(shards):
        lines = [
            ",".join(f'"{quote(row[name], safe=safe) if name == "Key" else row[name]}"' for name in columns)
            for row in listed[number::shards]
        ]
        key = f"{PREFIX}/data/{hashlib.md5(f'{date}{number}'.encode()).hexdigest()}.csv.gz"
        body = gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)
        files.append(put(root, key, body))
    path = base / date / "manifest.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "manifest.checksum").write_text("0" * 32)
    described = {
        "sourceBucket": "pmc-oa-opendata",
        "destinationBucket": "arn:aws:s3:::pmc-oa-opendata",
        "version": "2016-11-30",
        "creationTimestamp": "1790000000000",
        "fileFormat": "CSV",
        "fileSchema": ", ".join(columns),
        "files": files,
    }
    if manifest:
        path.write_text(json.dumps(described))
    return path


def put(root: Path, key: str, body: bytes) -> dict[str, str | int]:
    """Store one file of an inventory; returns its entry in the manifest."""
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return {"key": key, "size": len(body), "MD5checksum": hashlib.md5(body).hexdigest()}


def withdraw(root: Path, pmcid: str) -> None:
    """Take an article out of the bucket, all versions of it."""
    for path in root.glob(f"{pmcid}.*"):
        shutil.rmtree(path)
    for path in (root / "metadata").glob(f"{pmcid}.*"):
        path.unlink()
