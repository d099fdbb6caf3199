"""One crawl of a loopback bucket without Prefect, as a process of its own that can be measured or killed.

`python -m benchmarks.crawl_driver ENDPOINT WORKSPACE IDS.txt`; prints the manifest's counts as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from flows.crawl.fetch import crawl_shard, finished, identity, shard_params
from flows.crawl.selection import select
from flows.engine.progress import SilentReporter
from flows.engine.settings import Settings
from flows.engine.workspace import open_workspace
from sources import pmc
from sources.http import ClientSettings, PoliteClient
from sources.ledger import Ledger
from sources.store import RawStore

CONNECTIONS = 32


def crawl(endpoint: str, root: Path, pmcids: list[str], **changes: Any) -> dict[str, Any]:
    """Crawl into a workspace; what was done before is reused.

    Args:
        endpoint: base URL of the bucket.
        root: the workspace; made if absent.
        pmcids: what to fetch.
        changes: fields of :class:`ClientSettings` to change.

    Returns:
        `kept`, `dropped` (reason: count), `seconds` of fetching and writing, and whether anything was `made`.
    """
    workspace = open_workspace(root, create=True)
    kept, made = 0, False
    dropped: dict[str, int] = {}
    started = time.monotonic()
    with (
        workspace.writing(),
        PoliteClient(_settings(endpoint, changes)) as client,
        Ledger(workspace.ledger) as ledger,
        SilentReporter().stage("crawl", len(pmcids), "articles") as steps,
    ):
        context = pmc.PmcContext(client, RawStore(workspace.raw, ledger), endpoint=endpoint)
        for selection in select(workspace, "pmc", pmcids, 500):
            wanted = identity(selection, shard_params(Settings(), "open"), "")
            manifest = finished(workspace, wanted)
            if manifest is None:
                manifest = crawl_shard(
                    workspace, selection, wanted, lambda item: pmc.fetch(item, context), CONNECTIONS, steps
                )
                made = True
            kept += manifest.units["article"]["kept"]
            for reason, count in manifest.dropped.items():
                dropped[reason] = dropped.get(reason, 0) + count
    seconds = time.monotonic() - started
    return {"kept": kept, "dropped": dropped, "seconds": round(seconds, 3), "made": made}


def _settings(endpoint: str, changes: dict[str, Any]) -> ClientSettings:
    fields: dict[str, Any] = {
        "allowed_hosts": (endpoint.split("/")[2],),
        "contact": "bench@localhost",
        "requests_per_second": 1e6,
        "burst": 1_000_000,
        "connections": CONNECTIONS,
    }
    return ClientSettings(**{**fields, **changes})


def main() -> None:
    """Crawl what the command line names, impatiently: a server slower than a second is asked again."""
    endpoint, root, ids = sys.argv[1:]
    impatience = {
        "deadline_seconds": 1.0,
        "read_seconds": 1.0,
        "max_attempts": 8,
        "backoff_seconds": 0.02,
        "retry_after_cap_seconds": 0.3,
    }
    print(json.dumps(crawl(endpoint, Path(root), Path(ids).read_text("utf-8").split(), **impatience)))


if __name__ == "__main__":
    main()
