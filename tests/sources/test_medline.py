"""PubMed records fetched by EFetch, and selected from baseline and update files."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.hostile import medline as campaign
from schemas.article import Article, RawArticle
from schemas.errors import ChecksumMismatch, FetchError, InputError, UsageError
from schemas.hashing import sha256_bytes
from schemas.stages import Drop
from sources import medline_xml
from sources.eutils import EutilsContext
from sources.ledger import Ledger
from sources.medline import Criteria, MedlineContext, fetch, fetch_file, list_files, load_files, prefetch
from sources.stage import PARSE
from sources.store import RawStore
from tests.sources.fakes.medline import BOOK, FULL, FakePubmed, packed, set_of, simple

RETRACTION = (
    "<CommentsCorrectionsList><CommentsCorrections RefType='{}'><RefSource>x</RefSource><PMID>9</PMID>"
)
RETRACTION += "</CommentsCorrections></CommentsCorrectionsList>"


def _read(text: str | bytes, pmid: str = "101") -> Article:
    data = text if isinstance(text, bytes) else text.encode()
    raw = RawArticle(
        id=f"medline:{pmid}",
        source="medline",
        format="medline",
        locator=pmid,
        path="x",
        sha256=sha256_bytes(data),
    )
    return medline_xml.parse(data, raw)


@pytest.fixture
def site() -> Iterator[FakePubmed]:
    with FakePubmed(records={"101": FULL, "201": BOOK, "3": simple(3)}) as fake:
        yield fake


@pytest.fixture
def context(site: FakePubmed, tmp_path: Path, make_client: Callable[..., Any]) -> Iterator[MedlineContext]:
    client = make_client(max_attempts=3)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        eutils = EutilsContext(
            client, "test@example.org", api_key="secret", endpoint=site.endpoint, pause=lambda seconds: None
        )
        store = RawStore(tmp_path / "raw", ledger)
        yield MedlineContext(store, eutils=eutils, client=client, endpoint=site.endpoint)


def _reason(found: RawArticle | Drop) -> str:
    assert isinstance(found, Drop), found
    return found.reason.value


def test_records_are_fetched_in_batches_and_once(site: FakePubmed, context: MedlineContext) -> None:
    site.records = {str(pmid): simple(pmid) for pmid in range(1, 451)}
    ((missing, drop),) = prefetch([*site.records, "999"], context).items()
    assert (missing, drop.id, drop.reason.value) == ("999", "999", "not_found")
    assert [len(ids.split(",")) for ids in site.asked] == [200, 200, 51]
    assert all(form["tool"] == "medqrels" and form["email"] == "test@example.org" for form in site.forms)
    for pmid in ("1", "450"):
        found = fetch(pmid, context)
        assert isinstance(found, RawArticle)
        assert (found.id, found.format, found.version, found.pmid) == (f"medline:{pmid}", "medline", 1, pmid)
        data = (context.store.root / found.path).read_bytes()
        assert data == simple(pmid).encode() and sha256_bytes(data) == found.sha256
    assert prefetch(site.records, context) == {} and len(site.asked) == 3


def test_fetch_asks_for_a_single_record(site: FakePubmed, context: MedlineContext) -> None:
    found = fetch(" 201 ", context)
    assert isinstance(found, RawArticle)
    assert medline_xml.parse((context.store.root / found.path).read_bytes(), found).title == "Example fever"
    assert fetch("201", context) == found and site.asked == ["201"]
    assert _reason(fetch("77", context)) == "not_found"
    assert _reason(fetch("PMC7", context)) == "not_found"
    assert _reason(fetch("5", dataclasses.replace(context, eutils=None))) == "not_found"


def test_a_stored_record_goes_through_the_parse_stage(context: MedlineContext) -> None:
    for pmid, title in (("101", "A case of Example fever & CO2 retention"), ("201", "Example fever")):
        found = fetch(pmid, context)
        assert isinstance(found, RawArticle)
        (article,) = PARSE.process(found, raw=context.store.root, **PARSE.params)
        assert (article.id, article.title, article.raw_sha256) == (found.id, title, found.sha256)


def test_a_refresh_takes_the_changed_record(site: FakePubmed, context: MedlineContext) -> None:
    before = fetch("3", context)
    site.records["3"] = simple(3, links=RETRACTION.format("RetractionIn"))
    assert fetch("3", context) == before
    assert prefetch(["3"], context, refresh=True) == {}
    after = fetch("3", context)
    assert isinstance(after, RawArticle) and after != before


@pytest.mark.parametrize(
    "broken",
    [
        (200, b'{"error":"API rate limit exceeded","api-key":"secret"}'),
        (200, b"<html>busy</html>"),
        (
            200,
            b"<eFetchResult><ERROR>Database is not supported: secret</ERROR></eFetchResult>",
        ),
        (200, set_of(FULL)[:-40]),
        (200, set_of(simple(4))),
        (200, b""),
        (429, b""),
        (503, b""),
    ],
)
def test_faults_of_efetch(site: FakePubmed, context: MedlineContext, broken: tuple[int, bytes]) -> None:
    site.faults = lambda what, number: broken if number == 1 else None
    assert isinstance(fetch("101", context), RawArticle)
    site.faults = lambda what, number: broken
    drop = fetch("3", context)
    assert isinstance(drop, Drop) and drop.reason.value == "fetch_failed" and "secret" not in drop.detail


def test_no_known_id_is_not_a_fault(site: FakePubmed, context: MedlineContext) -> None:
    answer = b"<eFetchResult><ERROR>ID list is empty! Possibly it has no correct IDs.</ERROR></eFetchResult>"
    site.faults = lambda what, number: (200, answer)
    assert _reason(fetch("101", context)) == "not_found" and len(site.asked) == 1


def test_baseline_and_updates_over_http(site: FakePubmed, context: MedlineContext) -> None:
    site.files = {
        "baseline/pubmed26n0002.xml.gz": packed(simple(2)),
        "baseline/pubmed26n0001.xml.gz": packed(simple(1)),
        "updatefiles/pubmed26n1335.xml.gz": packed(simple(1, "New"), deleted=(2,)),
    }
    names = list_files("baseline", context)
    assert names == ("pubmed26n0001.xml.gz", "pubmed26n0002.xml.gz")
    paths = [fetch_file(name, "baseline", context) for name in names]
    paths += [fetch_file(name, "updatefiles", context) for name in list_files("updatefiles", context)]
    assert [path.read_bytes() for path in paths] == [site.files[key] for key in sorted(site.files)]
    asked = len(site.asked)
    assert fetch_file(names[0], "baseline", context) == paths[0]
    assert site.asked[asked:] == [f"baseline/{names[0]}.md5"]
    selected = load_files(paths, Criteria(pmids=frozenset({"1", "2", "3"})), context)
    assert selected.pmids == ("1",)
    assert {pmid: drop.reason.value for pmid, drop in selected.drops.items()} == {
        "2": "withdrawn",
        "3": "not_found",
    }
    made = dataclasses.replace(context, drops=selected.drops, eutils=None)
    assert _reason(fetch("2", made)) == "withdrawn"
    found = fetch("1", made)
    assert isinstance(found, RawArticle)
    assert medline_xml.parse((context.store.root / found.path).read_bytes(), found).title == "New"


def test_faults_of_the_file_server(site: FakePubmed, context: MedlineContext) -> None:
    with pytest.raises(FetchError):
        list_files("baseline", context)
    with pytest.raises(FetchError):
        fetch_file("pubmed26n0001.xml.gz", "baseline", context)
    with pytest.raises(InputError):
        fetch_file("../pubmed26n0001.xml.gz", "baseline", context)
    site.files["baseline/pubmed26n0001.xml.gz"] = packed(simple(1))
    wrong = (200, b"MD5(pubmed26n0001.xml.gz)= " + b"0" * 32)
    site.faults = lambda what, number: wrong if what.endswith(".md5") else None
    with pytest.raises(ChecksumMismatch):
        fetch_file("pubmed26n0001.xml.gz", "baseline", context)
    with pytest.raises(UsageError):
        list_files("baseline", dataclasses.replace(context, client=None))
    with pytest.raises(UsageError):
        prefetch(["1"], dataclasses.replace(context, eutils=None))


CASE = "<PublicationType UI='D002363'>Case Reports</PublicationType>"
SPANISH = "<OtherAbstract Language='spa'><AbstractText>x</AbstractText></OtherAbstract>"


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        (Criteria(), ("1", "2", "3", "4", "5")),
        (Criteria(has_abstract=True), ("2", "5")),
        (Criteria(languages=frozenset({"es", "fr"})), ("3", "4")),
        (Criteria(publication_types=frozenset({"Case Reports"})), ("4", "5")),
        (Criteria(has_abstract=True, publication_types=frozenset({"Case Reports"})), ("5",)),
        (Criteria(pmids=frozenset({"1", "2"}), has_abstract=True), ("2",)),
    ],
)
def test_criteria(
    context: MedlineContext, tmp_path: Path, criteria: Criteria, expected: tuple[str, ...]
) -> None:
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(
        packed(
            simple(1),
            simple(2, abstract="x"),
            simple(3, links=SPANISH),
            simple(4, language="fre", types=CASE),
            simple(5, abstract="x", types=CASE),
        )
    )
    selected = load_files([path], criteria, context)
    assert selected.pmids == expected
    stored = sorted(path.stem for path in (context.store.root / "medline/records").rglob("*.xml"))
    assert tuple(stored) == expected
    assert set(selected.drops) == (criteria.pmids or set()) - set(expected)


def test_the_last_state_of_a_record_counts(context: MedlineContext, tmp_path: Path) -> None:
    random = Random(0).randbytes(2_000_000).hex()  # so that the damage is blocks away
    first = [simple(pmid, "old", abstract="x") for pmid in (1, 2, 3, 4, 6)]
    files = {
        "pubmed26n0001.xml.gz": packed(*first, simple(5, "second version", version=2, abstract="x")),
        "pubmed26n1400.xml.gz": packed(
            simple(1, "new", abstract="x"),
            simple(2),
            simple(5, "first version", abstract="x"),
            deleted=(3, 4),
        ),
        "pubmed26n1401.xml.gz": packed(
            simple(4, "again", abstract="x"),
            simple(7, abstract="x"),
            simple(8),
            simple(7),
            simple(8, abstract="x"),
        ),
        "pubmed26n1402.xml.gz": packed(simple(6, "unproven", abstract="x"), simple(9, random))[:-9],
    }
    paths = []
    for name, data in files.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(data)
    selected = load_files(paths[::-1], Criteria(has_abstract=True), context)
    assert selected.pmids == ("1", "4", "5", "6", "8")
    assert {key: (drop.unit, drop.reason.value) for key, drop in selected.drops.items()} == {
        "3": ("article", "withdrawn"),
        "pubmed26n1402.xml.gz": ("file", "archive_invalid"),
    }
    titles = {}
    for pmid in selected.pmids:
        found = fetch(pmid, context)
        assert isinstance(found, RawArticle)
        titles[pmid] = _read((context.store.root / found.path).read_bytes(), pmid).title
    assert titles == {"1": "new", "4": "again", "5": "second version", "6": "old", "8": "A title"}
    before = {path: path.stat().st_mtime_ns for path in context.store.root.rglob("*.xml")}
    assert load_files(paths, Criteria(has_abstract=True), context) == selected
    assert {path: path.stat().st_mtime_ns for path in context.store.root.rglob("*.xml")} == before


def test_damaged_places_are_noted(context: MedlineContext, tmp_path: Path) -> None:
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(packed(simple(1), simple("none"), simple(3)))
    selected = load_files([path], Criteria(), context)
    ((place, drop),) = selected.drops.items()
    assert selected.pmids == ("1", "3") and place.startswith("pubmed26n0001.xml.gz@")
    assert drop.reason.value == "record_invalid"


def test_mutants_are_read_or_quarantined() -> None:
    outcomes = [campaign.outcome(data) for _, _, data in campaign.mutants(60, seed=20261121)]
    assert {text.partition(":")[0] for text in outcomes} == {"read", "quarantined"}
