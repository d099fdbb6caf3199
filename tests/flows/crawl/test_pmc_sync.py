"""A sync: what changed is crawled again, what vanished is withdrawn, everything else is left alone."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.crawl import pmc_sync
from flows.crawl.fetch import crawl_shard, finished, identity
from flows.crawl.pmc_sync import STATES, SyncReport, read_shard_state, repoll, shard_token, sync, withdrawing
from flows.crawl.selection import STAGE, select, selections
from flows.engine.runner import read_rows, table_files
from flows.engine.workspace import Workspace
from schemas.article import RawArticle
from schemas.errors import UsageError, WorkspaceError
from schemas.stages import Drop, Reason
from sources import pmc
from sources.http import ClientSettings, PoliteClient
from sources.ledger import Ledger
from sources.sample import bucket_dir
from sources.sample.server import BucketServer, Fault, Faults
from sources.store import RawStore
from tests.pipeline import run_stages
from tests.sources.conftest import Bucket, figures, jpeg
from tests.sources.fakes.inventory import rows_of, withdraw, write_inventory

IDS = [f"PMC{number}" for number in range(1, 7)]


class Steps:
    """Nobody watches."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Nothing."""


@dataclass
class Run:
    """What one run of the crawl did: its sync report, shards made, and what the server answered."""

    report: SyncReport | None
    made: list[str]
    bodies: Counter[str]
    requests: list[str]


@dataclass
class Crawler:
    """Runs crawls of one bucket into one workspace; days count the inventories."""

    bucket: Bucket
    workspace: Workspace
    day: int = 10

    def inventory(self, **options: Any) -> None:
        self.day += 1
        write_inventory(self.bucket.root, f"2026-11-{self.day}T01-00Z", **options)

    def run(
        self,
        ids: Sequence[str] = IDS,
        check: Callable[..., SyncReport] | None = None,
        faults: Faults | None = None,
    ) -> Run:
        """As `medqrels crawl pmc` does it: sync if asked, select, fetch the shards that are not finished."""
        with (
            BucketServer([self.bucket.root], faults=faults) as server,
            Ledger(self.workspace.ledger) as ledger,
            PoliteClient(
                ClientSettings(
                    ("127.0.0.1",), "test@example.org", requests_per_second=1e6, backoff_seconds=0.001
                )
            ) as client,
        ):
            context = pmc.PmcContext(client, RawStore(self.workspace.raw, ledger), endpoint=server.endpoint)
            report = check(self.workspace, context) if check else None
            fetch = withdrawing(lambda locator: pmc.fetch(locator, context), self.workspace)
            made = []
            for selection in select(self.workspace, "pmc", ids, 2):
                wanted = identity(selection, {}, shard_token(self.workspace, selection))
                if finished(self.workspace, wanted) is None:
                    crawl_shard(self.workspace, selection, wanted, fetch, 4, Steps())
                    made.append(selection.shard)
            return Run(report, made, server.bodies(), [item.key for item in server.served])

    def kept(self) -> list[str]:
        return sorted(row.id for row in read_rows(RawArticle, table_files(self.workspace, "crawl.raw")))

    def drops(self) -> dict[str, StrEnum]:
        rows = read_rows(Drop, table_files(self.workspace, "crawl._dropped"))
        return {row.id: row.reason for row in rows}

    def shard_of(self, pmcid: str) -> str:
        return next(item.shard for item in selections(self.workspace) if pmcid in item.locators)

    def bytes(self) -> dict[str, bytes]:
        base = self.workspace.stage("crawl")
        files = [path for path in base.rglob("*") if path.is_file() and path.name != "_run.json"]
        return {path.relative_to(base).as_posix(): path.read_bytes() for path in files}

    def amend(self, pmcid: str, version: int = 1, **row: Any) -> None:
        """Change an article's metadata, in both copies."""
        name = f"{pmcid}.{version}.json"
        for path in (
            self.bucket.root / "metadata" / name,
            self.bucket.root / f"{pmcid}.{version}" / name,
        ):
            path.write_text(json.dumps({**json.loads(path.read_text()), **row}))


@pytest.fixture
def crawler(workspace: Workspace, tmp_path: Path) -> Crawler:
    bucket = Bucket(tmp_path / "bucket")
    bucket.root.mkdir()
    for number, pmcid in enumerate(IDS):
        bucket.add(pmcid, body=figures("a.jpg"), media={"a.jpg": jpeg(number)}, doi=f"10.5555/{pmcid}")
    made = Crawler(bucket, workspace)
    made.inventory()
    return made


CHECKS = pytest.mark.parametrize("check", [sync, repoll], ids=["inventory", "poll"])


def after(crawler: Crawler, check: Callable[..., SyncReport], **options: Any) -> Run:
    """The next day: a new inventory, and a crawl that checks."""
    crawler.inventory()
    return crawler.run(check=check, **options)


def files(bodies: Counter[str]) -> Counter[str]:
    """What was sent of the articles themselves: not listings, not the inventory."""
    return Counter({key: n for key, n in bodies.items() if key[0] != "?" and not key.startswith("inventory")})


@CHECKS
def test_nothing_changed_means_nothing_fetched(crawler: Crawler, check: Any) -> None:
    assert len(crawler.run().made) == 3
    before = crawler.bytes()
    for _ in range(2):
        run = after(crawler, check)
        assert run.report is not None and run.report.shards == 3
        assert (run.report.stale, run.report.new, run.report.changed, run.report.vanished) == ((), (), (), ())
        assert run.made == [] and not files(run.bodies) and crawler.bytes() == before


def test_an_unchanged_inventory_costs_two_requests(crawler: Crawler) -> None:
    crawler.run()
    first, second = crawler.run(check=sync), crawler.run(check=sync)
    assert sum("/data/" in key for key in first.requests) == 2
    assert len(second.requests) == 2 and second.requests[1].endswith("manifest.json")


@CHECKS
def test_a_licence_change_recrawls_only_its_shard(crawler: Crawler, check: Any) -> None:
    crawler.run()
    before = crawler.bytes()
    crawler.amend("PMC3", license_code="CC BY-NC-ND")
    run = after(crawler, check)
    shard = crawler.shard_of("PMC3")
    assert run.report is not None and run.report.changed == ("PMC3",) and run.report.stale == (shard,)
    assert run.made == [shard]
    sent = files(run.bodies)
    assert set(sent) == {"metadata/PMC3.1.json"}  # no XML, no image, nobody else's metadata
    assert crawler.drops() == {"PMC3": Reason.LICENCE_NOT_ALLOWED} and len(crawler.kept()) == 5
    now = crawler.bytes()
    assert {key for key in now if now[key] != before.get(key)} == {
        f"{shard}/{name}" for name in ("_manifest.json", "raw.parquet", "_dropped.parquet")
    }
    assert after(crawler, check).made == [] and crawler.bytes() == now


@CHECKS
def test_a_retraction_takes_the_article_out(crawler: Crawler, check: Any) -> None:
    crawler.run()
    crawler.amend("PMC5", is_retracted=True)
    after(crawler, check)
    assert crawler.drops() == {"PMC5": Reason.RETRACTED} and "pmc:PMC5.1" not in crawler.kept()


@CHECKS
def test_a_new_version_is_fetched_and_the_old_one_is_not(crawler: Crawler, check: Any) -> None:
    crawler.run()
    crawler.bucket.add("PMC2", 2, figures("b.jpg"), {"b.jpg": jpeg(99)}, doi="10.5555/PMC2")
    run = after(crawler, check)
    assert run.report is not None and run.report.changed == ("PMC2",)
    assert "pmc:PMC2.2" in crawler.kept() and "pmc:PMC2.1" not in crawler.kept()
    sent = files(run.bodies)
    assert set(sent) == {"metadata/PMC2.2.json", "PMC2.2/PMC2.2.xml", "PMC2.2/b.jpg"}
    assert set(sent.values()) == {1} and after(crawler, check).made == []


@CHECKS
def test_a_vanished_article_is_withdrawn_and_its_bytes_stay(crawler: Crawler, check: Any) -> None:
    crawler.run()
    withdraw(crawler.bucket.root, "PMC4")
    run = after(crawler, check)
    assert run.report is not None and run.report.vanished == ("PMC4",)
    assert crawler.drops() == {"PMC4": Reason.WITHDRAWN} and "pmc:PMC4.1" not in crawler.kept()
    assert (crawler.workspace.raw / "pmc" / "PMC4.1" / "PMC4.1.xml").is_file()
    settled = crawler.bytes()
    for _ in range(2):
        assert after(crawler, check).made == [] and crawler.bytes() == settled
    crawler.bucket.add("PMC4", body=figures("a.jpg"), media={"a.jpg": jpeg(3)}, doi="10.5555/PMC4")
    run = after(crawler, check)
    assert run.report is not None and run.report.new == ("PMC4",)
    assert crawler.drops() == {} and "pmc:PMC4.1" in crawler.kept()
    assert read_shard_state(crawler.workspace, crawler.shard_of("PMC4")).vanished == ()
    assert set(files(run.bodies)) <= {"metadata/PMC4.1.json"}  # the bytes were still there


@CHECKS
def test_an_article_that_was_never_there_appears(crawler: Crawler, check: Any) -> None:
    ids = [*IDS, "PMC77"]
    crawler.run(ids)
    assert crawler.drops() == {"PMC77": Reason.NOT_FOUND}
    assert after(crawler, check, ids=ids).made == [] and crawler.drops() == {"PMC77": Reason.NOT_FOUND}
    crawler.bucket.add("PMC77", doi="10.5555/PMC77")
    run = after(crawler, check, ids=ids)
    assert run.report is not None and run.report.new == ("PMC77",) and "pmc:PMC77.1" in crawler.kept()


@CHECKS
def test_a_refused_article_that_becomes_eligible_is_taken(crawler: Crawler, check: Any) -> None:
    crawler.amend("PMC1", license_code="CC BY-ND")
    crawler.inventory()
    crawler.run()
    assert crawler.drops() == {"PMC1": Reason.LICENCE_NOT_ALLOWED}
    crawler.amend("PMC1", license_code="CC BY")
    after(crawler, check)
    assert crawler.drops() == {} and len(crawler.kept()) == 6


@CHECKS
def test_an_older_version_the_crawl_never_asked_for_does_not_matter(crawler: Crawler, check: Any) -> None:
    crawler.bucket.add("PMC6", 2, doi="10.5555/PMC6")
    crawler.inventory()
    crawler.run()
    crawler.amend("PMC6", 1, license_code="CC0")
    assert after(crawler, check).made == []


@CHECKS
def test_a_manuscript_on_top_is_looked_through(crawler: Crawler, check: Any) -> None:
    crawler.bucket.add("PMC6", 2, doi="10.5555/PMC6", is_manuscript=True)
    crawler.inventory()
    crawler.run()
    assert "pmc:PMC6.1" in crawler.kept() and after(crawler, check).made == []
    crawler.amend("PMC6", 1, is_retracted=True)
    after(crawler, check)
    assert crawler.drops() == {"PMC6": Reason.RETRACTED}


def test_a_withdrawn_article_leaves_the_later_stages(workspace: Workspace, tmp_path: Path) -> None:
    bucket = Bucket(tmp_path / "sample")
    shutil.copytree(bucket_dir(), bucket.root)
    crawler = Crawler(bucket, workspace)
    ids = ["PMC990000001", "PMC990000002", "PMC990000003"]
    crawler.inventory()
    crawler.run(ids)
    run_stages(workspace, ground=False)

    def mentioning(pmcid: str) -> set[str]:
        """Stages with a row that names the article, other than as dropped."""
        return {
            path.relative_to(workspace.work).parts[0]
            for path in workspace.work.rglob("*.parquet")
            if not path.name.startswith("_") and pmcid in str(pq.read_table(path).to_pydict())
        }

    assert {"crawl", "parse", "extract"} < mentioning(ids[1])
    withdraw(bucket.root, ids[1])
    crawler.inventory()
    crawler.run(ids, check=sync)
    run_stages(workspace, ground=False)
    assert mentioning(ids[1]) == set() and {"crawl", "parse", "extract"} < mentioning(ids[0])
    assert run_stages(workspace, ground=False) == 0


def test_an_inventory_older_than_the_crawl_withdraws_nothing(crawler: Crawler) -> None:
    rows = [row for row in rows_of(crawler.bucket.root) if "PMC2." not in row["Key"]]
    crawler.inventory(rows=rows)  # made before PMC2 was released
    crawler.run()
    before = crawler.kept()
    run = crawler.run(check=sync)
    assert run.report is not None and run.report.vanished == ("PMC2",)
    assert crawler.kept() == before and crawler.drops() == {} and not files(run.bodies)
    again = crawler.run(check=sync)
    assert again.made == [] and again.report is not None and again.report.stale == ()


def test_a_crash_between_sync_and_crawl_loses_nothing(
    crawler: Crawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawler.run()
    crawler.amend("PMC1", is_retracted=True)
    withdraw(crawler.bucket.root, "PMC6")
    crawler.inventory()

    def killed(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setitem(globals(), "crawl_shard", killed)
        crawler.run(check=sync)
    assert len(crawler.kept()) == 6
    crawler.run()  # without --sync: what the sync found is on record
    assert crawler.drops() == {"PMC1": Reason.RETRACTED, "PMC6": Reason.WITHDRAWN}


def test_a_crash_while_marking_is_made_good_by_the_next_sync(
    crawler: Crawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawler.run()
    for pmcid in IDS:
        crawler.amend(pmcid, title="another")
    crawler.inventory()
    real, calls = pmc_sync._write, iter(range(9))

    def killed(*arguments: Any) -> None:
        if next(calls) == 1:
            raise KeyboardInterrupt
        real(*arguments)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(pmc_sync, "_write", killed)
        crawler.run(check=sync)
    run = crawler.run(check=sync)
    assert len(run.made) == 3 and set(files(run.bodies)) == {f"metadata/{pmcid}.1.json" for pmcid in IDS}
    assert crawler.run(check=sync).made == []


def test_two_workspaces_with_the_same_history_are_equal(crawler: Crawler, tmp_path: Path) -> None:
    other = Crawler(crawler.bucket, Workspace(tmp_path / "other"))
    for each in (crawler, other):
        each.run()
    crawler.amend("PMC3", is_retracted=True)
    crawler.inventory()
    for each in (crawler, other):
        each.run(check=sync)
    assert crawler.bytes() == other.bytes()


def test_an_article_that_cannot_be_asked_counts_as_unchanged(crawler: Crawler) -> None:
    crawler.run()
    withdraw(crawler.bucket.root, "PMC1")
    crawler.amend("PMC2", is_retracted=True)

    def broken(method: str, key: str, count: int) -> Fault | None:
        return Fault("status", 500) if "PMC1" in key else None

    run = crawler.run(check=repoll, faults=broken)
    assert run.report is not None and run.report.unreachable == ("PMC1",)
    assert run.report.changed == ("PMC2",) and "1 could not be asked" in run.report.line()


@CHECKS
def test_what_could_not_be_fetched_is_left_to_the_next_crawl(crawler: Crawler, check: Any) -> None:
    crawler.run(faults=lambda method, key, n: Fault("status", 500) if key == "metadata/PMC1.1.json" else None)
    assert crawler.drops() == {"PMC1": Reason.FETCH_FAILED}
    run = after(crawler, check)
    assert run.report is not None and run.report.stale == () and run.report.changed == ()
    assert crawler.drops() == {} and run.made == [crawler.shard_of("PMC1")]


def test_a_bucket_without_inventory_is_said(workspace: Workspace, tmp_path: Path) -> None:
    bucket = Bucket(tmp_path / "plain")
    bucket.root.mkdir()
    bucket.add("PMC1")
    crawler = Crawler(bucket, workspace)
    crawler.run(["PMC1"])
    with pytest.raises(UsageError, match="no inventory") as caught:
        crawler.run(["PMC1"], check=sync)
    assert "--poll" in caught.value.hint
    assert crawler.run(["PMC1"], check=repoll).made == []


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"shard": "x", "token": "", "vanished": []}'])
def test_a_damaged_record_is_named(crawler: Crawler, damage: str) -> None:
    crawler.run()
    crawler.amend("PMC1", is_retracted=True)
    crawler.inventory()
    crawler.run(check=sync)
    path = crawler.workspace.stage(STAGE) / STATES / f"{crawler.shard_of('PMC1')}.json"
    path.write_text(damage)
    with pytest.raises(WorkspaceError, match="record of a sync is damaged") as caught:
        crawler.run()
    assert caught.value.file == str(path)
