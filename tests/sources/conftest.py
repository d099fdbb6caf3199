"""A small bucket on disk, a loopback server in front of it, and a client without patience."""

from __future__ import annotations

import hashlib
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sources.http import ClientSettings, PoliteClient
from sources.ledger import Ledger
from sources.pmc import PmcContext
from sources.sample.server import BucketServer, Faults
from sources.store import RawStore

XML = (
    '<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>'
    '<article-id pub-id-type="doi">10.5555/Test.1</article-id></article-meta></front>'
    "<body>{}</body></article>"
)


def figures(*hrefs: str) -> str:
    """A body with one figure per href."""
    return "".join(f'<fig><graphic xlink:href="{href}"/></fig>' for href in hrefs)


def jpeg(seed: int = 0, size: tuple[int, int] = (24, 16)) -> bytes:
    """A valid JPEG that differs by seed."""
    buffer = io.BytesIO()
    Image.frombytes("RGB", size, random.Random(seed).randbytes(size[0] * size[1] * 3)).save(buffer, "JPEG")
    return buffer.getvalue()


@dataclass
class Bucket:
    """Writes article versions in the bucket's layout."""

    root: Path

    def add(
        self,
        pmcid: str = "PMC1",
        version: int = 1,
        body: str = "",
        media: dict[str, bytes] | None = None,
        **row: Any,
    ) -> str:
        """One version; `row` overrides keys of the metadata, a value of `...` removes the key."""
        name = f"{pmcid}.{version}"
        folder = self.root / name
        folder.mkdir(parents=True)
        files = {f"{name}.xml": XML.format(body).encode(), **(media or {})}
        for file, data in files.items():
            (folder / file).write_bytes(data)
        urls = {
            file: f"s3://pmc-oa-opendata/{name}/{file}?md5={hashlib.md5(data).hexdigest()}"
            for file, data in files.items()
        }
        metadata: dict[str, Any] = {
            "pmcid": pmcid,
            "version": version,
            "pmid": 7,
            "doi": "10.5555/test.1",
            "is_pmc_openaccess": True,
            "is_manuscript": False,
            "is_historical_ocr": False,
            "is_retracted": False,
            "license_code": "CC BY",
            "xml_url": urls[f"{name}.xml"],
            "media_urls": [urls[file] for file in (media or {})],
        }
        metadata = {key: value for key, value in {**metadata, **row}.items() if value is not ...}
        (self.root / "metadata").mkdir(exist_ok=True)
        for path in (folder / f"{name}.json", self.root / "metadata" / f"{name}.json"):
            path.write_text(json.dumps(metadata))
        return pmcid


@dataclass
class Site:
    """A bucket, its running server and a context that crawls it."""

    bucket: Bucket
    server: BucketServer
    context: PmcContext
    faults: list[Faults] = field(default_factory=list)


@pytest.fixture
def make_client() -> Iterator[Callable[..., PoliteClient]]:
    made: list[PoliteClient] = []

    def make(**changes: Any) -> PoliteClient:
        settings: dict[str, Any] = {
            "allowed_hosts": ("127.0.0.1",),
            "contact": "test@example.org",
            "requests_per_second": 1e6,
            "burst": 10_000,
            "backoff_seconds": 0.001,
            "read_seconds": 5.0,
            "deadline_seconds": 10.0,
            "max_attempts": 4,
        }
        tools = {
            name: changes.pop(name) for name in ("rng", "sleep", "clock", "wall_clock") if name in changes
        }
        made.append(PoliteClient(ClientSettings(**{**settings, **changes}), **tools))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    (tmp_path / "bucket").mkdir()
    return Bucket(tmp_path / "bucket")


@pytest.fixture
def make_site(
    bucket: Bucket, tmp_path: Path, make_client: Callable[..., PoliteClient]
) -> Iterator[Callable[..., Site]]:
    """Serve `bucket` as it is when called."""
    closing: list[Any] = []

    def make(*, client: dict[str, Any] | None = None, workspace: str = "w", **options: Any) -> Site:
        fields = {
            name: options.pop(name)
            for name in ("profile", "max_xml_bytes", "max_media_bytes")
            if name in options
        }
        server = BucketServer([bucket.root], **options)
        server.__enter__()
        ledger = Ledger(tmp_path / workspace / "ledger.sqlite")
        closing.extend([lambda: server.__exit__(), ledger.close])
        store = RawStore(tmp_path / workspace / "raw", ledger)
        context = PmcContext(make_client(**(client or {})), store, endpoint=server.endpoint, **fields)
        return Site(bucket, server, context)

    yield make
    for close in closing:
        close()
