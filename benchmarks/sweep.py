"""A sweep of many generated articles, on loopback: requests, seconds, and whether every change is found.

The bucket has an inventory; a few articles are retracted, relicensed or taken away, and Europe PMC knows of
further notices. Servers answer at once, so seconds are ours; what real rates add follows from the requests.
Run: python -m benchmarks.sweep [ARTICLES]
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import measure
from flows.crawl.fetch import identity, publish_shard
from flows.crawl.selection import select
from flows.engine.hosts import EuropePmcSettings
from flows.engine.progress import SilentReporter
from flows.engine.workspace import Workspace, open_workspace
from flows.takedown.sweep import Sweeper
from schemas.article import RawArticle
from sources import pmc
from sources.europepmc.api import EuropePmcContext
from sources.http import ClientSettings, PoliteClient
from sources.ledger import Held, Ledger
from sources.sample.server import BucketServer
from sources.store import RawStore
from tests.sources.fakes.europepmc import FakeEuropePmc, record
from tests.sources.fakes.inventory import put, write_inventory

NAME = "sweep"
ARTICLES = 100_000
SHARD = 500
PLANTED = {"retraction": 40, "licence_change": 20, "vanished": 20, "concern": 40, "correction": 40}


class Batches(FakeEuropePmc):
    """Answers a question about many articles with those it names."""

    by_pmcid: Mapping[str, dict[str, Any]] = {}

    def _search(self, fields: Mapping[str, str]) -> dict[str, Any]:
        named = re.findall(r"PMCID:(PMC\d+)", fields["query"])
        rows = [self.by_pmcid[one] for one in named if one in self.by_pmcid]
        return {"version": "6.9", "hitCount": len(rows), "resultList": {"result": rows}}


def body(pmcid: str, **changes: Any) -> bytes:
    """Metadata of one article."""
    row = {
        "pmcid": pmcid,
        "version": 1,
        "is_pmc_openaccess": True,
        "is_retracted": False,
        "is_historical_ocr": False,
        "is_manuscript": False,
        "license_code": "CC BY",
        "xml_url": f"s3://pmc-oa-opendata/{pmcid}.1/{pmcid}.1.xml?md5={'0' * 32}",
        "media_urls": [],
    }
    return json.dumps({**row, **changes}).encode()


def crawl(workspace: Workspace, pmcids: list[str]) -> None:
    """Shards and ledger as a crawl of these articles leaves them, without their bytes."""
    held = {pmcid: hashlib.md5(body(pmcid)).hexdigest() for pmcid in pmcids}
    with Ledger(workspace.ledger) as ledger:
        for pmcid, md5 in held.items():
            key = f"metadata/{pmcid}.1.json"
            ledger.record(
                Held(pmc.SOURCE, key, f"pmc/{pmcid}.1/{pmcid}.1.json", "0" * 64, md5, 1, f'"{md5}"')
            )
    for selection in select(workspace, pmc.SOURCE, pmcids, SHARD):
        rows = [
            RawArticle(
                id=f"pmc:{pmcid}.1",
                source="pmc",
                locator=pmcid,
                version=1,
                path=f"pmc/{pmcid}.1/{pmcid}.1.xml",
                sha256="0" * 64,
                license_code="CC BY",
            )
            for pmcid in selection.locators
        ]
        publish_shard(workspace, identity(selection, {"profile": "open"}, ""), rows, [], 0.0)


def bucket(root: Path, pmcids: list[str], planted: Mapping[str, str]) -> None:
    """The bucket a day later: its inventory, and the objects of what changed."""
    rows = []
    for pmcid in pmcids:
        kind = planted.get(pmcid, "")
        changes: dict[str, Any] = {"is_retracted": kind == "retraction"}
        changes |= {"license_code": "CC BY-ND"} if kind == "licence_change" else {}
        content = body(pmcid, **changes)
        key = f"metadata/{pmcid}.1.json"
        if kind == "vanished":
            continue
        if kind in ("retraction", "licence_change"):
            put(root, key, content)
            put(root, f"{pmcid}.1/{pmcid}.1.json", content)
        etag = hashlib.md5(content).hexdigest()
        rows.append({"Bucket": "b", "Key": key, "LastModifiedDate": "2026-11-25T00:00:00Z", "ETag": etag})
    write_inventory(root, "2026-11-25T01-00Z", rows)


def run(articles: int, folder: Path) -> dict[str, Any]:
    """One sweep of a generated crawl, and a second one after it."""
    pmcids = [f"PMC{9_000_000 + number}" for number in range(articles)]
    kinds = [kind for kind, count in PLANTED.items() for _ in range(count)]
    step = articles // len(kinds)
    planted = {pmcids[place * step]: kind for place, kind in enumerate(kinds)}
    workspace = open_workspace(folder / "workspace", create=True)
    crawl(workspace, pmcids)
    bucket(folder / "bucket", pmcids, planted)
    links = {"concern": "Expression of concern in", "correction": "Erratum in"}
    Batches.by_pmcid = {
        pmcid: record(
            pmcid,
            **(
                {"commentCorrectionList": {"commentCorrection": [{"type": links[planted[pmcid]]}]}}
                if planted.get(pmcid) in links
                else {}
            ),
        )
        for pmcid in pmcids
    }
    client = PoliteClient(
        ClientSettings(("127.0.0.1",), "bench@localhost", requests_per_second=1e6, burst=1_000_000)
    )
    found: dict[str, Any] = {"articles": articles, "planted": dict(PLANTED)}
    with (
        BucketServer([folder / "bucket"]) as server,
        Batches() as europepmc,
        Ledger(workspace.ledger) as ledger,
        client,
    ):
        store = RawStore(workspace.raw, ledger)
        work = Sweeper(
            workspace,
            pmc.PmcContext(client, store, endpoint=server.endpoint),
            EuropePmcContext(client, store, endpoint=europepmc.endpoint),
            "remove",
            SilentReporter(),
        )
        for name in ("first", "again"):
            before = len(server.served), len(europepmc.served)
            started = time.perf_counter()
            swept = work.sweep()
            asked = len(server.served) - before[0], len(europepmc.served) - before[1]
            told = Counter(row.kind for row in swept.findings if planted.get(row.locator) == row.kind)
            found[name] = {
                "seconds": round(time.perf_counter() - started, 1),
                "requests_pmc": asked[0],
                "requests_europepmc": asked[1],
                "seconds_at_real_rate": round(asked[1] / EuropePmcSettings().requests_per_second),
                "found": dict(sorted(told.items())),
                "false": len(swept.findings) - sum(told.values()),
                "withdrawn": len(swept.withdrawn),
                "unanswered": len(swept.unanswered),
            }
    return found


def main() -> None:
    """Run it and keep the figures."""
    articles = int(sys.argv[1]) if len(sys.argv) > 1 else ARTICLES
    with tempfile.TemporaryDirectory(prefix="sweep-") as folder:
        print(measure.save(NAME, run(articles, Path(folder))))


if __name__ == "__main__":
    main()
