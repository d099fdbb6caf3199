"""The bucket's inventory: the newest complete snapshot, read as its manifest says, hostile files refused."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import FetchError, InputError
from sources.pmc import inventory as pmc_inventory
from sources.pmc.inventory import ObjectVersion, diff, newest, read_state
from sources.sample.server import Fault
from tests.sources.conftest import Bucket, Site
from tests.sources.fakes.inventory import COLUMNS, PREFIX, Row, put, rows_of, withdraw, write_inventory

MakeSite = Callable[..., Site]


def row(key: str, etag: str = "e" * 32, modified: str = "2026-01-01T00:00:00.000Z") -> Row:
    return {"Bucket": "b", "Key": key, "LastModifiedDate": modified, "ETag": etag}


def state_of(site: Site, *pmcids: str) -> dict[str, tuple[ObjectVersion, ...]]:
    found = newest(site.context)
    assert found is not None
    return read_state(found, pmcids)


def test_versions_and_etags_of_the_asked_articles(bucket: Bucket, make_site: MakeSite) -> None:
    for pmcid, version in (("PMC1", 1), ("PMC1", 2), ("PMC1", 10), ("PMC12", 1), ("PMC3", 1)):
        bucket.add(pmcid, version)
    write_inventory(bucket.root, "2026-11-20T01-00Z")
    etags = {item["Key"]: item["ETag"] for item in rows_of(bucket.root)}
    found = state_of(make_site(), "PMC1", "PMC3", "PMC999")
    assert found == {
        "PMC1": tuple(ObjectVersion(n, etags[f"metadata/PMC1.{n}.json"]) for n in (1, 2, 10)),
        "PMC3": (ObjectVersion(1, etags["metadata/PMC3.1.json"]),),
    }


@pytest.mark.parametrize("safe", ["/", ""])
@pytest.mark.parametrize("columns", [COLUMNS, ("ETag", "Size", "Key", "Bucket", "LastModifiedDate")])
def test_column_order_and_encoding_are_the_manifests(
    bucket: Bucket, make_site: MakeSite, columns: tuple[str, ...], safe: str
) -> None:
    keys = ["metadata/PMC5.1.json", "metadata/a b%c.json", "PMC5.1/PMC5.1.json", "metadata/PMC5.1.json.bak"]
    rows = [{**row(key, f"{n:032x}"), "Size": "7"} for n, key in enumerate(keys)]
    write_inventory(bucket.root, "2026-11-20T01-00Z", rows, columns=columns, safe=safe, shards=1)
    assert state_of(make_site(), "PMC5") == {"PMC5": (ObjectVersion(1, f"{0:032x}"),)}


def test_the_newest_complete_snapshot_counts(bucket: Bucket, make_site: MakeSite) -> None:
    for day, etag in ((9, "9" * 32), (10, "a" * 32)):
        write_inventory(bucket.root, f"2026-11-{day:02}T01-00Z", [row("metadata/PMC1.1.json", etag)])
    write_inventory(bucket.root, "2026-11-11T01-00Z", [row("metadata/PMC1.1.json")], manifest=False)
    found = newest(make_site().context)
    assert found is not None and (found.date, found.rows) == ("2026-11-10T01-00Z", 1)
    assert read_state(found, ["PMC1"]) == {"PMC1": (ObjectVersion(1, "a" * 32),)}


def test_no_inventory_is_said(bucket: Bucket, make_site: MakeSite) -> None:
    bucket.add()
    assert newest(make_site().context) is None
    write_inventory(bucket.root, "2026-11-11T01-00Z", [], manifest=False)
    assert newest(make_site(workspace="v").context) is None
    assert newest(make_site(workspace="u", allow_list=False).context) is None


def test_a_snapshot_is_fetched_once(bucket: Bucket, make_site: MakeSite) -> None:
    bucket.add()
    write_inventory(bucket.root, "2026-11-20T01-00Z")
    site = make_site()
    assert newest(site.context) == newest(site.context)
    data = {key: n for key, n in site.server.bodies().items() if "/data/" in key}
    assert len(data) == 2 and set(data.values()) == {1}
    folder = site.context.store.root / "pmc" / "inventory"
    assert [path.name for path in folder.iterdir()] == ["2026-11-20T01-00Z.parquet"]
    (folder / "2026-11-20T01-00Z.parquet").write_bytes(b"PAR1")  # damage is noticed
    assert newest(site.context) is not None and set(site.server.bodies().values()) != {1}


def test_a_killed_run_goes_on(bucket: Bucket, make_site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.add()
    write_inventory(bucket.root, "2026-11-20T01-00Z", shards=3)
    site, real, calls = make_site(), pmc_inventory._batches, iter(range(10))

    def killed(*arguments: Any) -> Any:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(pmc_inventory, "_batches", killed)
        newest(site.context)
    found = newest(site.context)
    assert found is not None and found.rows == 1
    assert {n for key, n in site.server.bodies().items() if "/data/" in key} == {1}
    other = newest(make_site(workspace="other").context)
    assert other is not None and other.path.read_bytes() == found.path.read_bytes()


def test_old_snapshots_are_tidied_away(bucket: Bucket, make_site: MakeSite) -> None:
    for day in range(10, 15):
        write_inventory(bucket.root, f"2026-11-{day}T01-00Z", [row("metadata/PMC1.1.json")])
        folder = newest(make_site().context)
    assert folder is not None
    names = sorted(path.name[:10] for path in folder.path.parent.iterdir())
    assert names == ["2026-11-13", "2026-11-14"]


def test_wrong_bytes_and_cuts_are_fetched_again(bucket: Bucket, make_site: MakeSite) -> None:
    bucket.add()
    write_inventory(bucket.root, "2026-11-20T01-00Z")
    kinds: dict[int, Fault] = {1: Fault("wrong_bytes"), 2: Fault("truncate"), 3: Fault("status")}
    site = make_site(faults=lambda method, key, n: kinds.get(n) if "/data/" in key else None)
    found = newest(site.context)
    assert found is not None and found.rows == 1


def test_bytes_that_stay_wrong_are_an_error(bucket: Bucket, make_site: MakeSite) -> None:
    bucket.add()
    path = write_inventory(bucket.root, "2026-11-20T01-00Z")
    body = json.loads(path.read_text())
    body["files"][0]["MD5checksum"] = "0" * 32
    path.write_text(json.dumps(body))
    with pytest.raises(FetchError):
        newest(make_site().context)


def _replace(bucket: Bucket, content: bytes, **changes: Any) -> None:
    path = write_inventory(bucket.root, "2026-11-20T01-00Z", [row("metadata/PMC1.1.json")], shards=1)
    body = json.loads(path.read_text())
    body["files"] = [put(bucket.root, body["files"][0]["key"], content)]
    path.write_text(json.dumps({**body, **changes}))


GOOD = b'"b","metadata/PMC1.1.json","2026","e"\n'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lambda: gzip.compress(GOOD * 5000)[:-40], "archive_invalid"),
        (lambda: gzip.compress(GOOD)[:30] + b"\xff" * 40, "archive_invalid"),
        (lambda: b"<html>busy</html>", "archive_invalid"),
        (lambda: gzip.compress(GOOD + b'"b","metadata/PMC2.1.json"\n'), "archive_invalid"),
        (lambda: gzip.compress(b""), "archive_invalid"),
        (lambda: gzip.compress(b"\0" * 80_000_000), "archive_hostile"),
        (lambda: gzip.compress(GOOD * 4_000_000, 9), "archive_hostile"),
    ],
    ids=["truncated", "corrupt", "html", "columns", "empty", "bomb", "bomb of rows"],
)
def test_unusable_files_are_refused(
    bucket: Bucket, make_site: MakeSite, content: Callable[[], bytes], reason: str
) -> None:
    """Bombs are made by the test, not by every process that only lists the tests."""
    _replace(bucket, content())
    site = make_site()
    with pytest.raises(InputError, match="inventory cannot be used") as caught:
        newest(site.context)
    assert caught.value.reason == reason and caught.value.file.startswith(PREFIX)
    assert not list(site.context.store.root.rglob("*Z.parquet"))


@pytest.mark.parametrize(
    "changes",
    [
        {"fileFormat": "ORC"},
        {"fileSchema": "Bucket, Key"},
        {"fileSchema": "Key, Key, ETag, LastModifiedDate"},
        {"files": []},
        {"files": [{"key": 5, "MD5checksum": "0" * 32}]},
        {"files": [{"key": "k", "MD5checksum": "zz"}]},
        {"files": {}},
        {"fileSchema": None},
    ],
)
def test_odd_manifests_are_refused(bucket: Bucket, make_site: MakeSite, changes: dict[str, Any]) -> None:
    _replace(bucket, gzip.compress(GOOD), **changes)
    with pytest.raises(InputError, match="inventory cannot be used"):
        newest(make_site().context)


def test_deleted_and_superseded_objects_do_not_count(bucket: Bucket, make_site: MakeSite) -> None:
    columns = (*COLUMNS, "IsLatest", "IsDeleteMarker")
    rows = [
        {**row("metadata/PMC1.1.json", "a" * 32), "IsLatest": "false", "IsDeleteMarker": "false"},
        {**row("metadata/PMC1.1.json", "b" * 32), "IsLatest": "true", "IsDeleteMarker": "false"},
        {**row("metadata/PMC2.1.json", ""), "IsLatest": "true", "IsDeleteMarker": "true"},
    ]
    write_inventory(bucket.root, "2026-11-20T01-00Z", rows, columns=columns)
    assert state_of(make_site(), "PMC1", "PMC2") == {"PMC1": (ObjectVersion(1, "b" * 32),)}


def test_of_two_rows_of_one_object_the_later_counts(bucket: Bucket, make_site: MakeSite) -> None:
    rows = [
        row("metadata/PMC1.1.json", etag, f"2026-0{month}-01T00:00:00.000Z")
        for etag, month in (("c" * 32, 2), ("a" * 32, 3), ("b" * 32, 1))
    ]
    write_inventory(bucket.root, "2026-11-20T01-00Z", rows, shards=3)
    assert state_of(make_site(), "PMC1") == {"PMC1": (ObjectVersion(1, "a" * 32),)}


@pytest.mark.parametrize("bad", [1, 2, 3])
def test_a_manifest_must_have_its_checksum(bucket: Bucket, make_site: MakeSite, bad: int) -> None:
    bucket.add()
    write_inventory(bucket.root, "2026-11-20T01-00Z")

    def faults(method: str, key: str, count: int) -> Fault | None:
        return Fault("wrong_bytes") if key.endswith("manifest.json") and count <= bad else None

    site = make_site(faults=faults)
    if bad < 3:
        assert newest(site.context) is not None
    else:
        with pytest.raises(FetchError, match="differs from its ETag"):
            newest(site.context)


def test_many_rows_come_through_in_pieces(
    bucket: Bucket, make_site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pmc_inventory, "_BLOCK_BYTES", 4096)
    rng = random.Random(5)
    etags = {number: f"{rng.getrandbits(128):032x}" for number in range(1, 5001)}
    rows = [row(f"metadata/PMC{number}.1.json", etag) for number, etag in etags.items()]
    write_inventory(bucket.root, "2026-11-20T01-00Z", rows, shards=5)
    found = newest(make_site().context)
    assert found is not None and found.rows == 5000
    assert pq.ParquetFile(found.path).num_row_groups > 50
    asked = [f"PMC{number}" for number in rng.sample(range(1, 6000), 700)]
    expected = {
        pmcid: (ObjectVersion(1, etags[int(pmcid[3:])]),) for pmcid in asked if int(pmcid[3:]) <= 5000
    }
    assert read_state(found, asked) == expected


states = st.dictionaries(
    st.integers(1, 12).map(lambda n: f"PMC{n}"),
    st.lists(st.builds(ObjectVersion, st.integers(1, 3), st.sampled_from(["a", "b"])), max_size=2).map(tuple),
)


@given(old=states, new=states)
def test_a_difference_is_new_changed_or_vanished(old: Any, new: Any) -> None:
    asked = {f"PMC{n}" for n in range(1, 10)}
    found = diff(old, new, asked)
    named = [*found.new, *found.changed, *found.vanished]
    assert len(named) == len(set(named)) and set(named) <= asked
    differing = {item for item in asked if (old.get(item) or ()) != (new.get(item) or ())}
    assert set(named) == differing
    assert all(not old.get(item) for item in found.new)
    assert all(not new.get(item) for item in found.vanished)


def test_a_withdrawn_article_is_in_no_new_snapshot(bucket: Bucket, make_site: MakeSite) -> None:
    for pmcid in ("PMC1", "PMC2"):
        bucket.add(pmcid)
    write_inventory(bucket.root, "2026-11-20T01-00Z")
    before = state_of(make_site(), "PMC1", "PMC2")
    withdraw(bucket.root, "PMC1")
    write_inventory(bucket.root, "2026-11-21T01-00Z")
    after = state_of(make_site(), "PMC1", "PMC2")
    found = diff(before, after, ["PMC1", "PMC2"])
    assert (found.new, found.changed, found.vanished) == ((), (), ("PMC1",))
