"""Crawl speed on loopback: medqrels beside plain requests and pmc-toolkit, the same articles, in one run.

Every contestant runs in a process of its own against one server process; on two cores the server has one.
"""

from __future__ import annotations

import collections
import concurrent.futures
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from lxml import etree

from benchmarks.bucket import generate, serve
from benchmarks.crawl_driver import CONNECTIONS, crawl
from benchmarks.measure import ROOT, rate, save

OBJECTS_PER_ARTICLE = 4
_S3 = "{http://s3.amazonaws.com/doc/2006-03-01/}"


@dataclass(frozen=True, slots=True)
class Condition:
    """How far away the server is, and how much is fetched how often."""

    latency_ms: int
    articles: int
    rounds: int


CONDITIONS = (Condition(0, 400, 5), Condition(20, 120, 3))

Run = Callable[[str, Path, list[str]], None]
"""(endpoint, folder to fill, PMCIDs)"""


def ours(endpoint: str, folder: Path, pmcids: list[str]) -> None:
    """The crawl as `medqrels crawl pmc` does it, without Prefect: gates, ledger, fsync, crawl shard."""
    result = crawl(endpoint, folder, pmcids)
    if result["kept"] != len(pmcids):
        raise SystemExit(f"not all kept: {result}")


def requests_loop(endpoint: str, folder: Path, pmcids: list[str]) -> None:
    """What one writes first: a session and a loop."""
    with requests.Session() as session:
        for pmcid in pmcids:
            _plain(session, endpoint, folder, pmcid)


def requests_pool(endpoint: str, folder: Path, pmcids: list[str]) -> None:
    """The same in as many threads as medqrels has connections, a session in each."""
    local = threading.local()

    def fetch(pmcid: str) -> None:
        if not hasattr(local, "session"):
            local.session = requests.Session()
        _plain(local.session, endpoint, folder, pmcid)

    _in_threads(fetch, pmcids)


def toolkit_loop(endpoint: str, folder: Path, pmcids: list[str]) -> None:
    """pmc-toolkit's own way: `fetch_files` for one article after the other."""
    fetch = _toolkit(endpoint, folder)
    for pmcid in pmcids:
        fetch(pmcid)


def toolkit_pool(endpoint: str, folder: Path, pmcids: list[str]) -> None:
    """pmc-toolkit's `fetch_files` in as many threads as medqrels has connections."""
    fetch = _toolkit(endpoint, folder)
    fetch(pmcids[0])  # its client is made on first use, which is not safe in threads
    _in_threads(fetch, pmcids[1:])


CONTESTANTS: dict[str, Run] = {
    "medqrels": ours,
    "requests_pool": requests_pool,
    "requests_loop": requests_loop,
    "pmc_toolkit_pool": toolkit_pool,
    "pmc_toolkit_loop": toolkit_loop,
}


def _plain(session: requests.Session, endpoint: str, folder: Path, pmcid: str) -> None:
    """Listing, metadata, XML and media of one article, MD5 checked."""
    listing = session.get(
        endpoint, params={"list-type": "2", "prefix": f"{pmcid}.", "delimiter": "/"}, timeout=30
    )
    listing.raise_for_status()
    prefixes = etree.fromstring(listing.content).iterfind(f"{_S3}CommonPrefixes/{_S3}Prefix")
    name = max((str(item.text).rstrip("/") for item in prefixes), key=lambda text: int(text.split(".")[1]))
    answer = session.get(f"{endpoint}metadata/{name}.json", timeout=30)
    answer.raise_for_status()
    target = folder / name
    target.mkdir(parents=True)
    (target / f"{name}.json").write_bytes(answer.content)
    row = answer.json()
    for url in [row["xml_url"], *row["media_urls"]]:
        path, _, md5 = url.partition("?md5=")
        file = path.rsplit("/", 1)[1]
        found = session.get(f"{endpoint}{name}/{file}", timeout=30)
        found.raise_for_status()
        if hashlib.md5(found.content).hexdigest() != md5:
            raise SystemExit(f"{file}: wrong MD5")
        (target / file).write_bytes(found.content)


def _toolkit(endpoint: str, folder: Path) -> Callable[[str], object]:
    # boto3 takes its endpoint from the environment, so the package runs as it is.
    parts = urlsplit(endpoint)
    os.environ["AWS_ENDPOINT_URL_S3"] = f"{parts.scheme}://{parts.netloc}"
    from pmc_toolkit import storage_api

    return lambda pmcid: storage_api.fetch_files(pmcid, cache_dir=folder)


def _in_threads(fetch: Callable[[str], object], pmcids: list[str]) -> None:
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        for _ in pool.map(fetch, pmcids):
            pass


def _digests(folder: Path) -> dict[str, str]:
    """Hash of each article file by `PMC1.1/name`, wherever a contestant keeps its articles."""
    return {
        f"{path.parent.name}/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("PMC*/*")
        if path.is_file() and not path.name.startswith(".")
    }


def _timed(name: str, endpoint: str, folder: Path, ids: Path) -> float:
    command = [sys.executable, "-m", "benchmarks.crawl_speed", name, endpoint, str(folder), str(ids)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed: {done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def measure(root: Path, condition: Condition) -> dict[str, Any]:
    """Every contestant in turn, after one warm-up of the server."""
    ids = root / "ids.txt"
    pmcids = generate(root / "bucket", condition.articles)
    ids.write_text("\n".join(pmcids), "utf-8")
    expected = _digests(root / "bucket")
    seconds: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    requests_made: dict[str, int] = {}
    differing: collections.Counter[str] = collections.Counter()
    with serve(root / "bucket", latency_seconds=condition.latency_ms / 1000) as server:
        _timed("requests_pool", server.endpoint, root / "warm-up", ids)
        for number in range(condition.rounds):
            for name in CONTESTANTS:
                before = server.count()
                folder = root / f"{name}-{number}"
                seconds[name].append(_timed(name, server.endpoint, folder, ids))
                requests_made[name] = server.count() - before
                got = _digests(folder)
                differing[name] += sum(got.get(key) != digest for key, digest in expected.items())
    objects = condition.articles * OBJECTS_PER_ARTICLE
    return {
        "latency_ms": condition.latency_ms,
        "articles": condition.articles,
        "objects": objects,
        "bytes": sum(path.stat().st_size for path in (root / "bucket").glob("PMC*/*")),
        "rounds": condition.rounds,
        "objects_per_second": {name: rate(objects, taken) for name, taken in seconds.items()},
        "articles_per_second": {name: rate(condition.articles, taken) for name, taken in seconds.items()},
        "requests": requests_made,
        "differing_files": dict(differing),
    }


def main() -> None:
    """Measure and save; with arguments, run one contestant and print its seconds."""
    if len(sys.argv) > 1:
        name, endpoint, folder, ids = sys.argv[1:]
        pmcids = Path(ids).read_text("utf-8").split()
        started = time.monotonic()
        CONTESTANTS[name](endpoint, Path(folder), pmcids)
        print(time.monotonic() - started)
        return
    measured = []
    for condition in CONDITIONS:
        with tempfile.TemporaryDirectory(prefix="medqrels-bench-") as folder:
            measured.append(measure(Path(folder), condition))
    version = importlib.metadata.version("pmc-toolkit")
    result = {"connections": CONNECTIONS, "pmc_toolkit": version, "conditions": measured}
    print(save("crawl_speed", result), json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
