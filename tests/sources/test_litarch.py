"""LitArch: the file list, packages, chapters in the book's order, the OAI service, and what goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import FetchError, UsageError
from sources import litarch
from sources.http import PoliteClient
from sources.ledger import Ledger
from sources.litarch.books import find_book, parse_list
from sources.sample.server import Fault
from sources.store import RawStore
from tests.sources.conftest import jpeg
from tests.sources.fakes.litarch import (
    BookshelfServer,
    Crawl,
    OaiRecord,
    Package,
    chapter,
    contents,
    failing,
    got,
    hostile,
    lost,
    package,
)

PATH = "aa/bb/madeup_NBK1.tar.gz"


@pytest.fixture
def crawl(tmp_path: Path, make_client: Callable[..., PoliteClient]) -> Iterator[Callable[..., Crawl]]:
    closing: list[Any] = []

    def make(*packages: Package, workspace: str = "w", **options: Any) -> Crawl:
        server = BookshelfServer(packages, options.pop("records", ()), **options)
        server.__enter__()
        ledger = Ledger(tmp_path / workspace / "ledger.sqlite")
        closing.extend([server.__exit__, ledger.close])
        return Crawl(server, tmp_path / workspace, make_client, ledger)

    yield make
    for close in closing:
        close()


FILES = {
    "TOC.nxml": contents("second", "first"),
    "first.nxml": chapter("first", accession="NBK11", hrefs=["pic-a", "absent"]),
    "second.nxml": chapter("second", hrefs=["pic-b.jpg", "page"]),
    "third.nxml": chapter("third"),
    "pic-a.jpg": jpeg(1),
    "pic-b.jpg": jpeg(2),
    "page.png": b"<!DOCTYPE html><html></html>",
    "unnamed.jpg": jpeg(3),
}


# ---- the file list


def test_the_list_is_windows_1252_with_entities() -> None:
    data = (
        "File,Title,Publisher,Publication Year,Accession ID,Last Updated (YYYY-MM-DD HH:MM:SS)\r\n"
        'ca/84/gene_NBK1116.tar.gz,"Genes &amp; Caf\u00e9, \u2013 a \u201cbook\u201d",Univ,1993,NBK1116,'
        "2026-08-31 02:41:04\r\n"
        "../x_NBK2.tar.gz,Bad path,P,1,NBK2,2026-08-31 02:41:04\r\n"
        "aa/bb/y_NBK3.zip,No tar,P,1,NBK3,2026-08-31 02:41:04\r\n"
        "aa/bb/z.tar.gz,No accession,P,1,,2026-08-31 02:41:04\r\n\r\n"
    ).encode("cp1252")
    (book,) = parse_list(data)
    assert book.title == "Genes & Caf\u00e9, \u2013 a \u201cbook\u201d"
    assert (book.name, book.accession, book.year, book.key) == ("gene", "NBK1116", "1993", "NBK1116")
    assert book.updated == "2026-08-31 02:41:04"


@pytest.mark.parametrize("data", [b"", b"<html>later</html>", b"a,b\r\n1,2\r\n", b"\x00\xff" * 50])
def test_what_is_no_list_is_a_passing_failure(data: bytes) -> None:
    with pytest.raises(FetchError, match="file list"):
        parse_list(data)


def test_a_book_is_found_by_accession_name_and_path(crawl: Callable[..., Crawl]) -> None:
    site = crawl(
        package({}),
        package({}, path="cc/dd/other_NBK2.tar.gz", accession="NBK2"),
        package({}, path="ee/ff/other_NBK3.tar.gz", accession="NBK3"),
    )
    books = litarch.file_list(site.context())
    assert [find_book(text, books).accession for text in ("NBK1", "nbk1", "madeup", PATH)] == ["NBK1"] * 4
    with pytest.raises(UsageError, match="no book"):
        find_book("livertox", books)
    with pytest.raises(UsageError, match="several books"):
        find_book("other", books)


def test_one_base_name_in_two_folders_is_two_packages(crawl: Callable[..., Crawl]) -> None:
    old = package({"x.nxml": chapter("x", body="<p>Old.</p>")}, updated="2024-01-01 00:00:00")
    new = package({"x.nxml": chapter("x", body="<p>New.</p>")}, path="cc/dd/madeup_NBK1.tar.gz")
    site = crawl(old, new)
    context = site.context()
    assert litarch.chapters("NBK1", context) == litarch.chapters(new.path, context)
    articles = [
        got(litarch.fetch(locator, context))
        for path in (old.path, new.path)
        for locator in litarch.chapters(path, context)
    ]
    assert len({article.locator for article in articles}) == len({article.id for article in articles}) == 2
    texts = [(site.root / "raw" / article.path).read_bytes() for article in articles]
    assert [b"Old." in text for text in texts] == [True, False]


# ---- chapters


def test_chapters_have_their_images_their_place_and_their_ids(crawl: Callable[..., Crawl]) -> None:
    site = crawl(package(FILES))
    context = site.context()
    assert litarch.chapters("madeup", context) == ["NBK1/first", "NBK1/second", "NBK1/third"]
    first, second, third = (
        got(litarch.fetch(f"NBK1/{name}", context)) for name in ("first", "second", "third")
    )
    assert [article.id for article in (first, second, third)] == [
        "litarch:NBK11",
        "litarch:NBK1/second",
        "litarch:NBK1/third",
    ]
    assert [article.book.position for article in (first, second, third) if article.book] == [2, 1, 3]
    assert first.book is not None and (first.book.book_id, first.book.revision) == (
        "madeup",
        "2026-01-02 03:04:05",
    )
    assert (first.source, first.format, first.parts[0].name) == ("litarch", "bits", "contents")
    assert [medium.name for medium in first.media] == ["pic-a.jpg"]
    assert [(problem.name, problem.reason) for problem in first.media_problems] == [
        ("absent", "image_missing")
    ]
    assert [medium.name for medium in second.media] == ["pic-b.jpg"]
    assert [(item.name, item.reason) for item in second.media_problems] == [("page.png", "image_corrupt")]
    stored = site.files()
    assert stored[first.media[0].path] == FILES["pic-a.jpg"]
    assert stored[first.path] == FILES["first.nxml"]
    assert not any("unnamed" in path for path in stored)


def test_nothing_is_fetched_or_written_twice(crawl: Callable[..., Crawl]) -> None:
    site = crawl(package(FILES))
    everything = [
        litarch.fetch(locator, site.context()) for locator in litarch.chapters("NBK1", site.context())
    ]
    before = {path: (site.root / "raw" / path).stat().st_mtime_ns for path in site.files()}
    again = site.context()
    assert [litarch.fetch(locator, again) for locator in litarch.chapters("NBK1", again)] == everything
    assert site.server.bodies()[PATH] == 1
    assert {path: (site.root / "raw" / path).stat().st_mtime_ns for path in site.files()} == before


def test_files_taken_away_are_made_again_from_the_package(crawl: Callable[..., Crawl]) -> None:
    site = crawl(package(FILES))
    litarch.chapters("NBK1", site.context())
    before = site.files()
    for path in ("first.nxml", "pic-a.jpg"):
        next((site.root / "raw").rglob(path)).unlink()
    litarch.chapters("NBK1", site.context())
    assert site.files() == before
    assert site.server.bodies()[PATH] == 1


def test_a_higher_limit_reads_the_package_anew(crawl: Callable[..., Crawl]) -> None:
    site = crawl(package({"big.nxml": chapter("big")}))
    assert lost(litarch.fetch("NBK1/big", site.context(max_xml_bytes=10)))[1] == "too_large"
    got(litarch.fetch("NBK1/big", site.context()))
    assert site.server.bodies()[PATH] == 1


def test_a_package_dated_anew_is_fetched_again(crawl: Callable[..., Crawl]) -> None:
    site = crawl(package(FILES))
    first = got(litarch.fetch("NBK1/third", site.context()))
    changed = {**FILES, "third.nxml": chapter("third", body="<p>Revised.</p>")}
    site.server.packages[:] = [package(changed, updated="2026-02-02 00:00:00")]
    second = got(litarch.fetch("NBK1/third", site.context()))
    assert first.id == second.id and first.sha256 != second.sha256
    assert second.book is not None and second.book.revision == "2026-02-02 00:00:00"
    assert site.server.bodies()[PATH] == 2
    assert (site.root / "raw" / first.path).is_file()


def test_a_chapter_that_left_its_book_and_a_book_that_left_the_list(crawl: Callable[..., Crawl]) -> None:
    site = crawl(package(FILES))
    assert lost(litarch.fetch("NBK1/gone", site.context())) == ("NBK1/gone", "not_found")
    assert lost(litarch.fetch("NBK9/gone", site.context())) == ("NBK9/gone", "not_found")


def test_a_report_in_its_contents_file_is_a_chapter(crawl: Callable[..., Crawl]) -> None:
    report = chapter("toc").replace(b'content-type="chapter"', b'content-type="toc"')
    site = crawl(package({"TOC.nxml": report}))
    assert litarch.chapters("NBK1", site.context()) == ["NBK1/TOC"]
    assert got(litarch.fetch("NBK1/TOC", site.context())).id == "litarch:NBK1/TOC"


def test_damaged_and_large_chapters_do_not_hide_the_others(crawl: Callable[..., Crawl]) -> None:
    files = {
        "bad.nxml": b"not XML",
        "big.nxml": chapter("big", body="<p>" + "x" * 5000 + "</p>"),
        "odd name; (1).nxml": chapter("odd"),
        "sub/inner.nxml": chapter("inner"),
        "ok.nxml": chapter("ok"),
    }
    context = crawl(package(files)).context(max_xml_bytes=4000)
    results = {locator: litarch.fetch(locator, context) for locator in litarch.chapters("NBK1", context)}
    assert sorted(results) == [
        "NBK1/bad", "NBK1/big", "NBK1/odd name; (1)", "NBK1/ok", "NBK1/sub/inner",
    ]  # fmt: skip
    assert lost(results["NBK1/big"]) == ("NBK1/big", "too_large")
    assert got(results["NBK1/odd name; (1)"]).id == "litarch:NBK1/odd%20name%3B%20(1)"
    assert got(results["NBK1/bad"]).id == "litarch:NBK1/bad"  # the reader says what is wrong with it


def test_an_image_above_the_limit_is_noted(crawl: Callable[..., Crawl]) -> None:
    context = crawl(package(FILES)).context(max_media_bytes=100)
    article = got(litarch.fetch("NBK1/first", context))
    assert article.media == ()
    assert {problem.reason for problem in article.media_problems} == {"image_missing", "image_too_large"}


# ---- what goes wrong


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("traversal", "archive_hostile"),
        ("absolute", "archive_hostile"),
        ("symlink", "archive_hostile"),
        ("hardlink", "archive_hostile"),
        ("device", "archive_hostile"),
        ("bomb", "archive_hostile"),
        ("huge", "too_large"),
        ("cut", "archive_invalid"),
        ("junk", "archive_invalid"),
    ],
)
def test_packages_that_cannot_be_used_are_quarantined(
    crawl: Callable[..., Crawl], kind: str, reason: str
) -> None:
    site = crawl(package(hostile(kind)))
    context = site.context()
    assert litarch.chapters("NBK1", context) == ["NBK1"]
    assert lost(litarch.fetch("NBK1", context)) == ("NBK1", reason)
    inside = (site.root / "raw" / "litarch" / "NBK1").resolve()
    assert all(path.resolve().is_relative_to(inside) for path in inside.rglob("*"))
    assert not list(site.root.rglob("bad*"))


def test_an_empty_package_says_so(crawl: Callable[..., Crawl]) -> None:
    context = crawl(package({"readme.txt": b"x"})).context()
    assert litarch.chapters("NBK1", context) == ["NBK1"]
    assert lost(litarch.fetch("NBK1", context)) == ("NBK1", "no_body")


@pytest.mark.parametrize("fault", [Fault("status"), Fault("truncate"), Fault("reset")])
@pytest.mark.parametrize("key", ["file_list.csv", PATH])
def test_passing_faults_are_overcome(crawl: Callable[..., Crawl], key: str, fault: Fault) -> None:
    calm, rough = (
        crawl(package(FILES), workspace="calm"),
        crawl(package(FILES), workspace="rough", faults=failing(key, fault, fault)),
    )
    for site in (calm, rough):
        context = site.context()
        for locator in litarch.chapters("NBK1", context):
            got(litarch.fetch(locator, context))
    assert rough.files() == calm.files()


@pytest.mark.parametrize("key", ["file_list.csv", PATH])
def test_an_error_page_is_fetched_again_the_next_time(crawl: Callable[..., Crawl], key: str) -> None:
    site = crawl(package(FILES), faults=failing(key, Fault("html")))
    assert lost(litarch.fetch("NBK1/third", site.context())) == ("NBK1/third", "fetch_failed")
    assert got(litarch.fetch("NBK1/third", site.context())).locator == "NBK1/third"


def test_a_crawl_that_ended_while_reading_the_package_goes_on(
    crawl: Callable[..., Crawl], monkeypatch: pytest.MonkeyPatch
) -> None:
    calm, ended = crawl(package(FILES), workspace="calm"), crawl(package(FILES), workspace="ended")
    litarch.chapters("NBK1", calm.context())
    put = RawStore.put
    calls: list[str] = []

    def dying(self: RawStore, *args: Any, **options: Any) -> Any:
        calls.append(args[1])
        if len(calls) > 3:
            raise KeyboardInterrupt
        return put(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(RawStore, "put", dying)
        with pytest.raises(KeyboardInterrupt):
            litarch.chapters("NBK1", ended.context())
    litarch.chapters("NBK1", ended.context())
    assert ended.files() == calm.files()
    assert ended.server.bodies()[PATH] == 1


def test_a_listed_package_that_is_not_there(crawl: Callable[..., Crawl]) -> None:
    site = crawl(
        package(FILES), faults=lambda _, key, __: Fault("status", status=404) if key == PATH else None
    )
    assert litarch.chapters("NBK1", site.context()) == ["NBK1"]
    assert lost(litarch.fetch("NBK1", site.context())) == ("NBK1", "not_found")


# ---- the OAI service

RECORDS = [
    OaiRecord("NBK21", "2026-01-01", chapter("one", accession="NBK21", hrefs=["pic"])),
    OaiRecord("NBK3", "2026-03-01", chapter("two"), sets=("book-open", "madeup")),
    OaiRecord("NBK22", "2026-02-01", chapter("three")),
    OaiRecord("NBK23", "2026-02-01", chapter("closed"), is_open=False),
    OaiRecord("NBK24", "2026-02-01", b"", is_deleted=True),
]


def test_records_are_listed_page_by_page(crawl: Callable[..., Crawl]) -> None:
    context = crawl(records=RECORDS, page_size=2).context()
    listed = litarch.oai_records(context)
    assert [record.accession for record in listed] == ["NBK3", "NBK21", "NBK22", "NBK23"]
    since = litarch.oai_records(context, since="2026-02-15")
    assert [(record.accession, record.datestamp) for record in since] == [("NBK3", "2026-03-01")]
    assert [record.accession for record in litarch.oai_records(context, set_name="madeup")] == ["NBK3"]
    assert litarch.oai_records(context, set_name="nothing") == []


def test_a_record_is_a_chapter_without_images(crawl: Callable[..., Crawl]) -> None:
    site = crawl(records=RECORDS)
    article = got(litarch.fetch("oai/NBK21", site.context()))
    assert (article.id, article.locator, article.book) == ("litarch:NBK21", "oai/NBK21", None)
    assert [problem.reason for problem in article.media_problems] == ["image_missing"]
    assert b"responseDate" not in site.files()[article.path]
    assert got(litarch.fetch("oai/NBK21", site.context())) == article
    assert site.server.bodies()["oai:GetRecord"] == 1


def test_a_record_of_another_date_is_fetched_again(crawl: Callable[..., Crawl]) -> None:
    site = crawl(records=RECORDS)
    held = litarch.oai_record("NBK21", site.context())
    assert litarch.oai_record("21", site.context(), datestamp="2026-01-01") == held
    site.server.records[0] = OaiRecord("NBK21", "2026-05-01", chapter("one", body="<p>New.</p>"))
    assert litarch.oai_record("NBK21", site.context(), datestamp="2026-05-01").sha256 != held.sha256


@pytest.mark.parametrize(
    ("locator", "reason"),
    [("oai/NBK99", "not_found"), ("oai/NBK23", "not_open_access"), ("oai/no number", "not_found")],
)
def test_refusals_of_the_service(crawl: Callable[..., Crawl], locator: str, reason: str) -> None:
    assert lost(litarch.fetch(locator, crawl(records=RECORDS).context())) == (locator, reason)


@pytest.mark.parametrize("fault", [Fault("html"), Fault("status", status=404)])
def test_answers_that_are_none_are_passing_failures(crawl: Callable[..., Crawl], fault: Fault) -> None:
    site = crawl(records=RECORDS, faults=failing("oai:GetRecord", fault))
    assert lost(litarch.fetch("oai/NBK21", site.context())) == ("oai/NBK21", "fetch_failed")
    got(litarch.fetch("oai/NBK21", site.context()))


def test_the_service_is_asked_one_request_at_a_time(crawl: Callable[..., Crawl]) -> None:
    site = crawl(records=RECORDS)
    context = site.context()
    names = ["oai/NBK21", "oai/NBK3", "oai/NBK22"]
    threads = [threading.Thread(target=litarch.fetch, args=(name, context)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert site.server.bodies()["oai:GetRecord"] == 3
    assert site.server.most_oai_at_once == 1
