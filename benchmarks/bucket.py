"""A generated bucket and a server process for it, so that client and server share no interpreter lock."""

from __future__ import annotations

import contextlib
import io
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from PIL import Image

from benchmarks.measure import ROOT
from sources.sample.server import BUCKET
from sources.store import md5_hex

_WORDS = ("patient", "image", "finding", "treatment", "measured", "group", "outcome", "contrast", "lesion")
_SERVER = """
import json, sys
from pathlib import Path
from benchmarks.faults import transient
from sources.sample.server import BucketServer
seed, latency = json.loads(sys.argv[2])
faults = None if seed is None else transient(seed)
root = Path(sys.argv[1])
with BucketServer([root], faults=faults, latency_seconds=latency) as server:
    print(server.endpoint, flush=True)
    for line in sys.stdin:
        served = list(server.served)
        wanted = [[item.method, item.key, item.status] for item in served[int(line):]]
        print(json.dumps(wanted if int(line) >= 0 else len(served)), flush=True)
"""


@dataclass
class RunningBucket:
    """A server process: its address, and what it has answered so far."""

    endpoint: str
    _input: IO[str]
    _output: IO[str]

    def served(self, since: int = 0) -> list[tuple[str, str, int]]:
        """(method, key, status) of every request from the `since`-th on, in the order they were answered."""
        return [(method, key, status) for method, key, status in self._ask(since)]

    def count(self) -> int:
        """How many requests were answered so far."""
        return int(self._ask(-1))

    def _ask(self, since: int) -> Any:
        self._input.write(f"{since}\n")
        self._input.flush()
        return json.loads(self._output.readline())


@contextlib.contextmanager
def serve(root: Path, *, seed: int | None = None, latency_seconds: float = 0.0) -> Iterator[RunningBucket]:
    """Serve a folder in the bucket's layout from a process of its own.

    Args:
        root: the folder.
        seed: of the transient faults to inject; None for none.
        latency_seconds: before every answer.
    """
    given = json.dumps([seed, latency_seconds])
    command = [sys.executable, "-c", _SERVER, str(root), given]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            yield RunningBucket(process.stdout.readline().strip(), process.stdin, process.stdout)
        finally:
            process.kill()


def generate(root: Path, articles: int, images: int = 2, paragraphs: int = 12, seed: int = 7) -> list[str]:
    """Write articles in the bucket's layout, equal for equal arguments; returns their PMCIDs, sorted."""
    rng = random.Random(seed)
    (root / "metadata").mkdir(parents=True)
    pmcids = [f"PMC{9_800_000 + number}" for number in range(articles)]
    for number, pmcid in enumerate(pmcids):
        name = f"{pmcid}.1"
        files = {f"{name}.xml": _xml(pmcid, images, paragraphs, rng)}
        files |= {f"fig{item}.jpg": _jpeg(rng) for item in range(1, images + 1)}
        folder = root / name
        folder.mkdir()
        for file, data in files.items():
            (folder / file).write_bytes(data)
        text = json.dumps(_metadata(pmcid, number, files))
        for path in (folder / f"{name}.json", root / "metadata" / f"{name}.json"):
            path.write_text(text, "utf-8")
    return sorted(pmcids)


def _metadata(pmcid: str, number: int, files: dict[str, bytes]) -> dict[str, Any]:
    name = f"{pmcid}.1"
    urls = {file: f"s3://{BUCKET}/{name}/{file}?md5={md5_hex(data)}" for file, data in files.items()}
    return {
        "pmcid": pmcid,
        "version": 1,
        "pmid": 1_000_000 + number,
        "doi": f"10.5555/bench.{number}",
        "title": f"Generated article {number}",
        "is_pmc_openaccess": True,
        "is_manuscript": False,
        "is_historical_ocr": False,
        "is_retracted": False,
        "license_code": "CC BY",
        "text_url": f"s3://{BUCKET}/{name}/{name}.txt",
        "xml_url": urls.pop(f"{name}.xml"),
        "media_urls": sorted(urls.values()),
    }


def _xml(pmcid: str, images: int, paragraphs: int, rng: random.Random) -> bytes:
    text = "".join(f"<p>{' '.join(rng.choices(_WORDS, k=80))}.</p>" for _ in range(paragraphs))
    figures = "".join(
        f'<fig id="f{item}"><label>Figure {item}</label><caption><p>A generated figure.</p></caption>'
        f'<graphic xlink:href="fig{item}.jpg"/></fig>'
        for item in range(1, images + 1)
    )
    return (
        '<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>'
        f'<article-id pub-id-type="pmc">{pmcid}</article-id></article-meta></front>'
        f"<body><sec><title>Results</title>{text}{figures}</sec></body></article>"
    ).encode()


def _jpeg(rng: random.Random) -> bytes:
    buffer = io.BytesIO()
    Image.frombytes("RGB", (48, 32), rng.randbytes(48 * 32 * 3)).save(buffer, "JPEG")
    return buffer.getvalue()
