"""A sweep of six articles on loopback: what each source says, and what silence does not mean."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Literal

import pytest

from flows.crawl.selection import selections
from flows.crawl.withdrawn import fingerprint, leaving_out, of_selection
from flows.engine.progress import SilentReporter
from flows.engine.register import read_register
from flows.engine.workspace import Workspace
from flows.takedown.sweep import Sweeper, Swept, check_answered, describe
from schemas.errors import FetchError
from schemas.stages import Drop, Reason
from sources import pmc
from sources.europepmc.api import EuropePmcContext
from sources.http import ClientSettings, PoliteClient
from sources.ledger import Ledger
from sources.sample.server import BucketServer, Fault
from sources.store import RawStore
from tests.flows.crawl.test_pmc_sync import IDS, Crawler
from tests.sources.conftest import Bucket, figures, jpeg
from tests.sources.fakes.europepmc import FakeEuropePmc, record


@pytest.fixture
def crawler(workspace: Workspace, tmp_path: Path) -> Crawler:
    bucket = Bucket(tmp_path / "bucket")
    bucket.root.mkdir()
    for number, pmcid in enumerate(IDS):
        bucket.add(pmcid, body=figures("a.jpg"), media={"a.jpg": jpeg(number)}, doi=f"10.5555/{pmcid}")
    made = Crawler(bucket, workspace)
    made.run()
    return made


def sweep(
    crawler: Crawler,
    records: list[dict[str, Any]],
    *,
    dry_run: bool = False,
    faults: Any = None,
    concern: Literal["remove", "flag"] = "flag",
    silent: bool = False,
) -> Swept:
    client = PoliteClient(
        ClientSettings(
            ("127.0.0.1",),
            "test@example.org",
            requests_per_second=1e6,
            backoff_seconds=0.001,
            max_attempts=2,
        )
    )
    other = FakeEuropePmc(records=records, faults=lambda what, number: "busy" if silent else None)
    with (
        other as europepmc,
        BucketServer([crawler.bucket.root], faults=faults) as server,
        Ledger(crawler.workspace.ledger) as ledger,
        client,
    ):
        store = RawStore(crawler.workspace.raw, ledger)
        work = Sweeper(
            crawler.workspace,
            pmc.PmcContext(client, store, endpoint=server.endpoint),
            EuropePmcContext(client, store, endpoint=europepmc.endpoint, pause=lambda seconds: None),
            concern,
            SilentReporter(),
            4,
        )
        return work.sweep(dry_run=dry_run)


def notice(pmcid: str, kind: str) -> dict[str, Any]:
    links = {"commentCorrection": [{"type": kind, "reference": "J Inventions 2026", "id": "1"}]}
    return record(pmcid, commentCorrectionList=links)


def told(found: Swept) -> dict[str, tuple[str, str]]:
    return {row.locator: (row.kind, row.act) for row in found.findings}


def test_each_notice_has_its_policy_and_a_second_sweep_finds_nothing_more(crawler: Crawler) -> None:
    crawler.amend("PMC1", is_retracted=True)
    crawler.amend("PMC2", license_code="CC BY-ND")
    for path in crawler.bucket.root.rglob("PMC3.1*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    records = [notice("PMC4", "Expression of concern in"), notice("PMC5", "Erratum in"), record("PMC6")]
    expected = {
        "PMC1": ("retraction", "remove"),
        "PMC2": ("licence_change", "remove"),
        "PMC3": ("vanished", "remove"),
        "PMC4": ("concern", "flag"),
        "PMC5": ("correction", "refetch"),
    }
    before = crawler.bytes()
    planned = sweep(crawler, records, dry_run=True)
    assert told(planned) == expected and planned.asked == 6
    assert crawler.bytes() == before and not read_register(crawler.workspace)
    done = sweep(crawler, records)
    assert told(done) == expected and done.findings == planned.findings
    assert done.withdrawn == ["pmc:PMC1.1", "pmc:PMC2.1", "pmc:PMC3.1"]
    assert [(row.locator, row.reason) for row in read_register(crawler.workspace)] == [
        ("PMC1", "retracted"),
        ("PMC2", "licence_changed"),
        ("PMC3", "vanished"),
    ]
    assert crawler.kept() == ["pmc:PMC4.1", "pmc:PMC5.1", "pmc:PMC6.1"]
    assert crawler.drops() == dict.fromkeys(("PMC1", "PMC2", "PMC3"), Reason.WITHDRAWN)
    now = crawler.bytes()
    again = sweep(crawler, records)
    assert set(told(again)) == {"PMC4", "PMC5"} and not again.withdrawn and not again.stale
    assert crawler.bytes() == now and "0 withdrawn" in describe(again.shown(), is_plan=False)
    assert sweep(crawler, records, concern="remove").withdrawn == ["pmc:PMC4.1"]


def test_a_server_that_is_down_withdraws_nothing(crawler: Crawler) -> None:
    before = crawler.bytes()
    found = sweep(crawler, [], faults=lambda *request: Fault("status"), silent=True)
    assert not found.findings and found.unanswered == IDS and not read_register(crawler.workspace)
    assert crawler.bytes() == before
    with pytest.raises(FetchError, match="PMC and Europe PMC answered for none of 6 articles"):
        check_answered(found.shown())


def test_a_source_that_answered_for_some_is_not_silent(crawler: Crawler) -> None:
    found = sweep(crawler, [], silent=True)
    assert found.silent == ["Europe PMC"] and found.unanswered == IDS
    check_answered(sweep(crawler, []).shown())


def test_an_absence_that_only_the_listing_shows_withdraws_nothing(crawler: Crawler) -> None:
    kept = crawler.bucket.root / "metadata" / "PMC3.1.json"
    content = kept.read_bytes()
    for path in crawler.bucket.root.rglob("PMC3.1*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    kept.write_bytes(content)
    found = sweep(crawler, [])
    assert "PMC3" not in told(found) and "PMC3" in found.unanswered


def test_a_withdrawn_article_is_not_asked_for_and_its_crawl_gives_the_same_bytes(crawler: Crawler) -> None:
    crawler.amend("PMC1", is_retracted=True)
    sweep(crawler, [])
    register = read_register(crawler.workspace)
    asked: list[str] = []

    def fetch(locator: str) -> Drop:
        asked.append(locator)
        return Drop(unit="article", id=locator, article_id=locator, reason=Reason.NOT_FOUND)

    result = leaving_out(fetch, register, "pmc")("PMC1")
    assert isinstance(result, Drop) and result.reason == Reason.WITHDRAWN and not asked
    hit = [of_selection(register, item) for item in selections(crawler.workspace)]
    assert sorted(bool(fingerprint(rows.values())) for rows in hit) == [False, False, True]
