"""PMC by ids, over the real protocol on loopback: versions, gates, media, faults, crash and resume."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schemas.article import RawArticle
from schemas.errors import FetchError, InputError
from schemas.stages import Drop, Reason
from sources.ledger import Ledger
from sources.pmc import PmcContext, fetch, versions
from sources.pmc.metadata import parse_listing, parse_metadata
from sources.sample import bucket_dir
from sources.sample.server import BucketServer, Fault
from sources.store import RawStore
from tests.conftest import PLACES
from tests.sources.conftest import figures, jpeg

REPOSITORY = Path(__file__).resolve().parents[2]


def kept(result: RawArticle | Drop) -> RawArticle:
    assert isinstance(result, RawArticle), result
    return result


def dropped(result: RawArticle | Drop) -> Drop:
    assert isinstance(result, Drop), result
    return result


def test_article_with_media(bucket: Any, make_site: Any) -> None:
    body = figures("gr1.jpg", "GR2", "absent") + '<disp-formula><graphic xlink:href="eq1"/></disp-formula>'
    files = {"gr1.jpg": jpeg(1), "gr2.jpeg": jpeg(2), "eq1.jpg": jpeg(3), "mmc1.pdf": b"%PDF-1.4"}
    bucket.add(body=body, media=files)
    site = make_site()
    article = kept(fetch("pmc1", site.context))
    assert (article.id, article.locator, article.version) == ("pmc:PMC1.1", "PMC1", 1)
    assert (article.license_code, article.pmid, article.doi) == ("CC BY", "7", "10.5555/test.1")
    assert [item.name for item in article.media] == ["gr1.jpg", "gr2.jpeg"]
    for item in article.media:
        stored = (site.context.store.root / item.path).read_bytes()
        assert stored == files[item.name]
        assert (item.sha256, item.size_bytes) == (hashlib.sha256(stored).hexdigest(), len(stored))
        assert (item.format, item.is_synthetic) == ("jpeg", False)
    problems = [(item.name, item.reason) for item in article.media_problems]
    assert problems == [
        ("absent", "image_missing"),
        ("eq1.jpg", "media_unnamed"),
        ("mmc1.pdf", "media_unnamed"),
    ]
    assert article.path == "pmc/PMC1.1/PMC1.1.xml"
    served = {item.key for item in site.server.served}
    assert "PMC1.1/eq1.jpg" not in served and "PMC1.1/mmc1.pdf" not in served


def test_version_choice(bucket: Any, make_site: Any) -> None:
    for version in (1, 2, 9, 10):
        bucket.add(version=version)
    bucket.add(version=11, is_manuscript=True, license_code="TDM")
    bucket.add("PMC11")  # must not match the listing of PMC1
    site = make_site()
    assert versions("PMC1", site.context) == [11, 10, 9, 2, 1]
    assert kept(fetch("PMC1", site.context)).id == "pmc:PMC1.10"


def test_retracted_latest_version_excludes_the_article(bucket: Any, make_site: Any) -> None:
    bucket.add(version=1)
    bucket.add(version=2, is_retracted=True)
    bucket.add("PMC2", version=1)
    bucket.add("PMC2", version=2, is_manuscript=True, is_retracted=True)
    site = make_site()
    for pmcid in ("PMC1", "PMC2"):
        assert dropped(fetch(pmcid, site.context)).reason == Reason.RETRACTED


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"is_pmc_openaccess": False}, Reason.NOT_OPEN_ACCESS),
        ({"is_pmc_openaccess": "no"}, Reason.NOT_OPEN_ACCESS),
        ({"is_retracted": True}, Reason.RETRACTED),
        ({"is_retracted": "yes"}, Reason.RETRACTED),
        ({"is_historical_ocr": True}, Reason.HISTORICAL_OCR),
        ({"is_manuscript": True}, Reason.MANUSCRIPT_ONLY),
        ({"license_code": "CC BY-NC"}, Reason.LICENCE_NOT_ALLOWED),
        ({"license_code": "CC BY-ND"}, Reason.LICENCE_NOT_ALLOWED),
        ({"license_code": "TDM"}, Reason.LICENCE_NOT_ALLOWED),
        ({"license_code": "NO-CC CODE"}, Reason.LICENCE_UNKNOWN),
        ({"is_pmc_openaccess": ...}, Reason.METADATA_INVALID),
        ({"is_retracted": "maybe"}, Reason.METADATA_INVALID),
        ({"is_retracted": 0}, Reason.METADATA_INVALID),
        ({"version": "1"}, Reason.METADATA_INVALID),
        # gates go in order: a closed and retracted article is first of all closed
        ({"is_pmc_openaccess": False, "is_retracted": True}, Reason.NOT_OPEN_ACCESS),
    ],
)
def test_gates(bucket: Any, make_site: Any, row: dict[str, Any], reason: Reason) -> None:
    bucket.add(**row)
    site = make_site()
    drop = dropped(fetch("PMC1", site.context))
    assert (drop.reason, drop.id) == (reason, "PMC1")
    assert not [item for item in site.server.served if item.key.endswith(".xml")]


@pytest.mark.parametrize(
    "row",
    [
        {"license_code": None},
        {"license_code": ..., "pdf_url": ..., "media_urls": ...},
        {"media_urls": None, "pmid": None, "doi": None},
        {"xml_url": None},
        {"is_retracted": "no", "is_pmc_openaccess": "yes"},
        {"media_urls": "none", "pmid": ["x"], "doi": 5},
    ],
)
def test_tolerated_metadata(bucket: Any, make_site: Any, row: dict[str, Any]) -> None:
    bucket.add(**row)
    assert kept(fetch("PMC1", make_site().context)).id == "pmc:PMC1.1"


def test_profile_noncommercial(bucket: Any, make_site: Any) -> None:
    bucket.add(license_code="CC BY-NC-SA")
    bucket.add("PMC2", license_code="CC BY-NC-ND")
    site = make_site(profile="noncommercial")
    assert kept(fetch("PMC1", site.context)).license_code == "CC BY-NC-SA"
    assert dropped(fetch("PMC2", site.context)).reason == Reason.LICENCE_NOT_ALLOWED


def test_not_there(bucket: Any, make_site: Any) -> None:
    bucket.add()
    (bucket.root / "PMC1.1" / "PMC1.1.json").unlink()
    (bucket.root / "metadata" / "PMC1.1.json").unlink()
    bucket.add("PMC2")
    (bucket.root / "PMC2.1" / "PMC2.1.xml").unlink()
    site = make_site()
    found = {pmcid: dropped(fetch(pmcid, site.context)) for pmcid in ("PMC1", "PMC2", "PMC3", "hello")}
    assert [drop.reason.value for drop in found.values()] == [
        "metadata_invalid",
        "not_found",
        "not_found",
        "not_found",
    ]
    assert found["hello"].id == "hello"


def test_metadata_of_the_folder_when_the_mirror_lacks_it(bucket: Any, make_site: Any) -> None:
    bucket.add()
    (bucket.root / "metadata" / "PMC1.1.json").unlink()
    kept(fetch("PMC1", make_site().context))


def test_listing_without_list_right_is_absent(bucket: Any, make_site: Any) -> None:
    bucket.add()
    assert dropped(fetch("PMC1", make_site(allow_list=False).context)).reason == Reason.NOT_FOUND


def test_media_that_cannot_be_used(bucket: Any, make_site: Any) -> None:
    html = b"<!DOCTYPE html><html><body>captcha</body></html>"
    files = {
        "a.jpg": html,
        "b.jpg": jpeg(1),
        "c.jpg": jpeg(2),
        "d.jpg": jpeg(3, (900, 900)),
        "e.jpg": jpeg(4),
    }
    bucket.add(body=figures("a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"), media=files)
    (bucket.root / "PMC1.1" / "b.jpg").unlink()
    site = make_site(
        max_media_bytes=50_000,
        faults=lambda method, key, n: Fault("wrong_bytes") if key.endswith("c.jpg") else None,
    )
    article = kept(fetch("PMC1", site.context))
    assert [item.name for item in article.media] == ["e.jpg"]
    assert [(item.name, item.reason) for item in article.media_problems] == [
        ("a.jpg", "image_corrupt"),
        ("b.jpg", "image_missing"),
        ("c.jpg", "image_corrupt"),
        ("d.jpg", "image_too_large"),
    ]
    assert "HTML" in article.media_problems[0].detail and "MD5" in article.media_problems[2].detail


def test_addresses_outside_the_article_are_not_followed(bucket: Any, make_site: Any) -> None:
    urls = ["s3://x/PMC2.1/gr1.jpg?md5=0", "s3://x/PMC1.1/../gr1.jpg", "https://example.org/gr1.jpg", 5, None]
    bucket.add(body=figures("gr1.jpg"), media_urls=urls)
    article = kept(fetch("PMC1", make_site().context))
    assert not article.media
    reasons = [item.reason for item in article.media_problems]
    assert sorted(set(reasons)) == ["image_missing", "media_unnamed"] and len(reasons) == 6


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", status=503),
        Fault("status", status=429, retry_after="0"),
        Fault("reset"),
        Fault("truncate"),
        Fault("wrong_bytes"),
        Fault("html"),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_passing_faults_leave_no_trace(bucket: Any, make_site: Any, fault: Fault) -> None:
    bucket.add(body=figures("gr1"), media={"gr1.jpg": jpeg()})
    calm = kept(fetch("PMC1", make_site(workspace="calm").context))

    def once(method: str, key: str, n: int) -> Fault | None:
        return fault if n == 1 and not key.startswith("?") and not key.endswith(".json") else None

    assert kept(fetch("PMC1", make_site(faults=once).context)) == calm


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault("wrong_bytes"), Reason.CHECKSUM_MISMATCH),
        (Fault("html"), Reason.CHECKSUM_MISMATCH),
        (Fault("reset"), Reason.FETCH_FAILED),
        (Fault("status"), Reason.FETCH_FAILED),
    ],
    ids=lambda item: getattr(item, "kind", item),
)
def test_lasting_faults_of_the_xml_drop_the_article(
    bucket: Any, make_site: Any, fault: Fault, reason: Reason
) -> None:
    bucket.add()
    site = make_site(faults=lambda method, key, n: fault if key.endswith(".xml") else None)
    assert dropped(fetch("PMC1", site.context)).reason == reason


@pytest.mark.parametrize("where", ["?PMC1.", "metadata/PMC1.1.json"])
@pytest.mark.parametrize("kind", ["html", "wrong_bytes"])
def test_an_error_page_never_condemns_the_article(bucket: Any, make_site: Any, where: str, kind: Any) -> None:
    bucket.add()
    passing = [True]
    site = make_site(faults=lambda m, key, n: Fault(kind) if passing[0] and key == where else None)
    result = fetch("PMC1", site.context)
    if isinstance(result, Drop):
        assert result.reason in (Reason.FETCH_FAILED, Reason.CHECKSUM_MISMATCH)
    else:  # a listing has no bytes of an object to be wrong
        assert (where, kind) == ("?PMC1.", "wrong_bytes")
    passing[0] = False
    assert kept(fetch("PMC1", site.context)).id == "pmc:PMC1.1"


def test_a_passing_error_page_for_a_listing_costs_nothing(bucket: Any, make_site: Any) -> None:
    bucket.add()
    site = make_site(faults=lambda m, key, n: Fault("html") if key == "?PMC1." and n < 3 else None)
    assert kept(fetch("PMC1", site.context)).id == "pmc:PMC1.1"
    assert len([item for item in site.server.served if item.key == "?PMC1."]) == 3


def test_lasting_fault_of_an_image_is_never_recorded_as_missing(bucket: Any, make_site: Any) -> None:
    bucket.add(body=figures("gr1"), media={"gr1.jpg": jpeg()})
    broken = [True]
    site = make_site(faults=lambda m, key, n: Fault("status") if broken[0] and key.endswith("jpg") else None)
    assert dropped(fetch("PMC1", site.context)).reason == Reason.FETCH_FAILED
    broken[0] = False
    assert len(kept(fetch("PMC1", site.context)).media) == 1
    assert site.server.bodies()["PMC1.1/PMC1.1.xml"] == 1


def test_xml_above_the_cap(bucket: Any, make_site: Any) -> None:
    bucket.add(body="<p>" + "x" * 5000 + "</p>")
    assert dropped(fetch("PMC1", make_site(max_xml_bytes=4000).context)).reason == Reason.TOO_LARGE


def test_multipart_etag_is_stored_unverified(bucket: Any, make_site: Any) -> None:
    bucket.add(body=figures("gr1"), media={"gr1.jpg": jpeg()})
    for path in ("PMC1.1/PMC1.1.json", "metadata/PMC1.1.json"):
        row = json.loads((bucket.root / path).read_text())
        row["media_urls"] = ["s3://pmc-oa-opendata/PMC1.1/gr1.jpg?md5=" + "a" * 32 + "-2"]
        (bucket.root / path).write_text(json.dumps(row))
    site = make_site(faults=lambda m, key, n: Fault("multipart") if key.endswith("jpg") else None)
    assert len(kept(fetch("PMC1", site.context)).media) == 1


def test_nothing_is_fetched_twice_and_damage_is_repaired(bucket: Any, make_site: Any) -> None:
    bucket.add(body=figures("gr1", "gr2"), media={"gr1.jpg": jpeg(1), "gr2.jpg": jpeg(2)})
    site = make_site()
    first = kept(fetch("PMC1", site.context))
    assert kept(fetch("PMC1", site.context)) == first
    bodies = {key: count for key, count in site.server.bodies().items() if not key.startswith("?")}
    assert set(bodies.values()) == {1}
    root = site.context.store.root / "pmc" / "PMC1.1"
    (root / "gr1.jpg").unlink()
    (root / "gr2.jpg").write_bytes(b"short")
    (root / "PMC1.1.json").write_bytes(b"x" * (root / "PMC1.1.json").stat().st_size)
    assert kept(fetch("PMC1", site.context)) == first
    assert (root / "gr2.jpg").read_bytes() == jpeg(2)
    again = site.server.bodies()
    assert (again["PMC1.1/gr1.jpg"], again["PMC1.1/gr2.jpg"], again["PMC1.1/PMC1.1.xml"]) == (2, 2, 1)


def test_changed_article_is_fetched_anew(bucket: Any, make_site: Any, tmp_path: Path) -> None:
    bucket.add(body=figures("gr1"), media={"gr1.jpg": jpeg(1)})
    first = kept(fetch("PMC1", make_site().context))
    other = type(bucket)(tmp_path / "changed")
    other.add(body=figures("gr1"), media={"gr1.jpg": jpeg(2)})
    bucket.root = other.root
    second = kept(fetch("PMC1", make_site().context))
    assert second.sha256 == first.sha256 and second.media[0].sha256 != first.media[0].sha256


def test_listing_pages_and_foreign_prefixes() -> None:
    head = '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>true</IsTruncated>'
    entries = "".join(
        f"<CommonPrefixes><Prefix>{text}</Prefix></CommonPrefixes>"
        for text in ("PMC1.10/", "PMC1.9/", "PMC11.1/", "PMC1.x/", "PMC1.2/deep/", "")
    )
    tail = "<NextContinuationToken>a+b/c=</NextContinuationToken></ListBucketResult>"
    assert parse_listing((head + entries + tail).encode(), "PMC1") == ([10, 9], "a+b/c=")
    for bad in (b"", b"<html/>", b"{}", b"<ListBucketResult>"):
        with pytest.raises(FetchError):
            parse_listing(bad, "PMC1")


def test_metadata_of_another_article_is_refused(bucket: Any) -> None:
    bucket.add()
    data = (bucket.root / "metadata" / "PMC1.1.json").read_bytes()
    assert parse_metadata(data, "PMC1", 1).pmcid == "PMC1"
    for pmcid, version in (("PMC2", 1), ("PMC1", 2)):
        with pytest.raises(InputError):
            parse_metadata(data, pmcid, version)


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"pmcid": "PMC1"}'])
def test_bad_json_is_metadata_invalid(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        parse_metadata(data, "PMC1", 1)
    assert caught.value.reason == "metadata_invalid"


def test_continuation_tokens_are_followed(bucket: Any, make_site: Any, monkeypatch: Any) -> None:
    for version in range(1, 8):
        bucket.add(version=version)
    site = make_site()
    get = site.context.client.get

    def small_pages(url: str, **options: Any) -> Any:
        return get(url + "&max-keys=2" if "list-type" in url else url, **options)

    monkeypatch.setattr(site.context.client, "get", small_pages)
    assert versions("PMC1", site.context) == [7, 6, 5, 4, 3, 2, 1]
    assert len([item for item in site.server.served if item.key == "?PMC1."]) == 4


CRAWL = """
import sys
from pathlib import Path
from sources.http import ClientSettings, PoliteClient
from sources.ledger import Ledger
from sources.pmc import PmcContext, fetch
from sources.store import RawStore
endpoint, workspace = sys.argv[1], Path(sys.argv[2])
client = PoliteClient(ClientSettings(allowed_hosts=("127.0.0.1",), contact="a@example.org"))
store = RawStore(workspace / "raw", Ledger(workspace / "ledger.sqlite"))
context = PmcContext(client, store, endpoint=endpoint)
for pmcid in sys.argv[3:]:
    fetch(pmcid, context)
"""


def tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("kill_at", [3, 11, 20])
def test_kill_and_resume(bucket: Any, make_site: Any, tmp_path: Path, kill_at: int) -> None:
    ids = [f"PMC{number}" for number in range(1, 9)]
    for number, pmcid in enumerate(ids):
        bucket.add(pmcid, body=figures("a", "b"), media={"a.jpg": jpeg(number), "b.jpg": jpeg(100 + number)})
    calm = make_site(workspace="calm")
    expected = [kept(fetch(pmcid, calm.context)) for pmcid in ids]
    child: list[subprocess.Popen[bytes]] = []
    seen: list[str] = []

    def kill(method: str, key: str, n: int) -> Fault | None:
        seen.append(key)
        if child and len(seen) == kill_at:
            os.kill(child[0].pid, signal.SIGKILL)
            return Fault("truncate")
        return None

    site = make_site(workspace="w", faults=kill)
    command = [sys.executable, "-c", CRAWL, site.server.endpoint, str(tmp_path / "w"), *ids]
    child.append(subprocess.Popen(command, cwd=REPOSITORY))
    assert child[0].wait(60) == -signal.SIGKILL
    recorded = {key for key in seen if site.context.store.ledger.find("pmc", key)}
    before = len(site.server.served)
    assert [kept(fetch(pmcid, site.context)) for pmcid in ids] == expected
    sent = {item.key for item in site.server.served[before:] if item.status == 200}
    assert not sent & recorded
    assert tree(site.context.store.root) == tree(calm.context.store.root)


def test_threads_give_the_same(bucket: Any, make_site: Any) -> None:
    ids = [f"PMC{number}" for number in range(1, 25)]
    for number, pmcid in enumerate(ids):
        bucket.add(pmcid, body=figures("a"), media={"a.jpg": jpeg(number)})
    serial, parallel = make_site(workspace="s"), make_site(workspace="p")
    expected = [fetch(pmcid, serial.context) for pmcid in ids]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda pmcid: fetch(pmcid, parallel.context), ids)) == expected


PROBLEMS = {
    "msfn-14-990003-ga.jpg": "media_unnamed",
    "msjid-e990008-equ1.png": "media_unnamed",
    "msjid-e990008-inf1.png": "media_unnamed",
    "msje-18-64-g4.jpg": "image_missing",
}
"""Of the sample, on purpose."""


@pytest.fixture(params=PLACES)
def filled(request: pytest.FixtureRequest) -> Path:
    """A folder in the layout of the bucket: the sample's, and that of the shared data where it is."""
    if request.param == "sample":
        return bucket_dir()
    shared: Path = request.getfixturevalue("shared_data")
    return shared / "pmc-bucket"


def test_all_articles_of_a_bucket(make_client: Any, tmp_path: Path, filled: Path) -> None:
    """Real articles are served with drawn images; those of the sample with their own."""
    root, is_sample = filled, filled == bucket_dir()
    ids = sorted({path.name.partition(".")[0] for path in root.glob("PMC*")})
    with BucketServer([root], synthetic_images=True) as server, Ledger(tmp_path / "l.sqlite") as ledger:
        store = RawStore(tmp_path / "raw", ledger)
        context = PmcContext(make_client(), store, profile="noncommercial", endpoint=server.endpoint)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda pmcid: fetch(pmcid, context), ids))
    drops = [item for item in results if isinstance(item, Drop)]
    articles = [item for item in results if isinstance(item, RawArticle)]
    assert len(results) == len(articles) + len(drops) == (24 if is_sample else 192)
    # What is left out is exactly what the metadata calls retracted or puts under a licence that bars changes.
    stated = [json.loads((root / "metadata" / f"{pmcid}.1.json").read_text("utf-8")) for pmcid in ids]
    expected = {row["pmcid"]: Reason.RETRACTED for row in stated if row["is_retracted"]}
    expected |= {row["pmcid"]: Reason.LICENCE_NOT_ALLOWED for row in stated if "ND" in row["license_code"]}
    assert {drop.id: drop.reason for drop in drops} == expected and expected
    problems = {item.name: item.reason for article in articles for item in article.media_problems}
    assert problems == (PROBLEMS if is_sample else {})
    media = [item for article in articles for item in article.media]
    assert len(media) > (60 if is_sample else 400) and all(item.is_synthetic for item in media)
    assert len({item.sha256 for item in media}) == len(media)
    assert max(item.size_bytes for item in media) < (80_001 if is_sample else 20_000)
