"""Europe PMC against a loopback service that errs as the real one does."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.article import Abstract, Article, ArticlePassage, Licence, RawArticle
from schemas.errors import FetchError, InputError, UsageError
from schemas.hashing import sha256_text
from schemas.stages import Drop
from sources import europepmc, jats
from sources.europepmc import EuropePmcContext, fetch, search
from sources.europepmc.annotations import Annotation, Place, fetch_annotations, locate, read_annotations
from sources.graphics import scan
from sources.images import base_name
from sources.ledger import Ledger
from sources.store import RawStore
from tests.conftest import Library
from tests.sources.conftest import XML, figures, jpeg
from tests.sources.fakes.europepmc import BROKEN, FakeEuropePmc, record, zip_of

TEXT = "<p>A woman with fever, see the figure.</p>"


@pytest.fixture
def site() -> Iterator[FakeEuropePmc]:
    with FakeEuropePmc(records=[record("PMC1")], texts={"PMC1": XML.format(TEXT).encode()}) as fake:
        yield fake


@pytest.fixture
def context(
    site: FakeEuropePmc, tmp_path: Path, make_client: Callable[..., Any]
) -> Iterator[Callable[..., EuropePmcContext]]:
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def make(**changes: Any) -> EuropePmcContext:
        fields = {
            "client": make_client(max_attempts=2),
            "store": RawStore(tmp_path / "raw", ledger),
            "endpoint": site.endpoint,
            "annotations_endpoint": site.annotations_endpoint,
            "pause": lambda seconds: None,
        }
        return EuropePmcContext(**{**fields, **changes})

    yield make
    ledger.close()


def _article(found: RawArticle | Drop) -> RawArticle:
    assert isinstance(found, RawArticle), found
    return found


def _reason(found: RawArticle | Drop) -> str:
    assert isinstance(found, Drop), found
    assert found.unit == "article" and found.id == found.article_id
    return found.reason.value


def test_search_follows_the_cursor_to_the_end(site: FakeEuropePmc, context: Any) -> None:
    site.records = [record(f"PMC{number}") for number in (30, 4, 100, 7, 2)]
    site.records.append({"id": "55", "source": "PPR"})
    found = search("PUB_TYPE:case-report", context(page_size=2))
    assert found.pmcids == ("PMC2", "PMC4", "PMC7", "PMC30", "PMC100")
    assert (found.hit_count, found.without_pmcid) == (6, 1)
    assert site.served == ["search rest"] * 4
    assert search("x", context(page_size=1000)) == found


def test_a_search_without_hits_finds_nothing(site: FakeEuropePmc, context: Any) -> None:
    site.records = []
    assert search("LANG:xx", context()) == europepmc.SearchResult((), 0, 0)


def test_a_long_query_is_posted(site: FakeEuropePmc, context: Any) -> None:
    query = " OR ".join(f'"disease {number}"' for number in range(200))
    assert search(query, context()).pmcids == ("PMC1",)
    assert site.served == ["searchPOST rest"] and site.forms[0]["query"] == query


@pytest.mark.parametrize("fault", sorted(BROKEN))
def test_a_passing_fault_of_the_search_passes(site: FakeEuropePmc, context: Any, fault: str) -> None:
    site.records = [record(f"PMC{number}") for number in (1, 2, 3)]
    site.faults = lambda what, number: fault if number in (1, 3) else None
    assert search("x", context(page_size=2)).pmcids == ("PMC1", "PMC2", "PMC3")


@pytest.mark.parametrize("fault", sorted(BROKEN))
def test_a_lasting_fault_is_no_empty_result(site: FakeEuropePmc, context: Any, fault: str) -> None:
    site.faults = lambda what, number: fault
    with pytest.raises(FetchError):
        search("x", context())
    assert _reason(fetch("PMC1", context())) == "fetch_failed"


def test_pages_that_end_too_early_are_no_result(site: FakeEuropePmc, context: Any) -> None:
    site.hit_count = 3
    with pytest.raises(FetchError, match="1 of 3"):
        search("x", context())


def test_an_empty_or_too_wide_query_is_refused(site: FakeEuropePmc, context: Any) -> None:
    site.records = [record("PMC1"), record("PMC2")]
    for query, options in ((" ", {}), ("x", {"max_hits": 1})):
        with pytest.raises(UsageError):
            search(query, context(**options))


def test_fetch_keeps_the_article(site: FakeEuropePmc, context: Any) -> None:
    made = context()
    found = _article(fetch("1", made))
    assert (found.id, found.source, found.format, found.locator) == (
        "europepmc:PMC1",
        "europepmc",
        "jats",
        "PMC1",
    )
    assert (found.license_code, found.pmid, found.doi) == ("cc by", "91", "10.5555/test.1")
    assert (made.store.root / found.path).read_bytes() == site.texts["PMC1"]
    (part,) = found.parts
    assert part.name == "metadata" and json.loads((made.store.root / part.path).read_bytes()) == record(
        "PMC1"
    )
    article = jats.parse(site.texts["PMC1"], found)
    assert article.licence.spdx == "LicenseRef-CC-BY" and [passage.text for passage in article.passages]


def test_nothing_is_fetched_twice_until_the_service_has_a_new_text(site: FakeEuropePmc, context: Any) -> None:
    site.texts["PMC1"] = XML.format(TEXT + figures("f1")).encode()
    site.files["PMC1"] = zip_of({"f1.jpg": jpeg()})
    site.annotations["PMC1"] = [{"exact": "fever"}]
    made = context(images=True, annotations=True)
    first = fetch("PMC1", made)
    assert fetch("PMC1", made) == first
    assert site.counts == {"search": 2, "fullTextXML": 1, "supplementaryFiles": 1, "annotations": 1}
    site.records = [record("PMC1", fullTextReceivedDate="2025-01-01")]
    site.texts["PMC1"] = XML.format("<p>New.</p>").encode()
    assert _article(fetch("PMC1", made)).sha256 != _article(first).sha256


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"isOpenAccess": "N"}, "not_open_access"),
        ({"isOpenAccess": ...}, "not_open_access"),
        ({"inEPMC": "N"}, "not_open_access"),
        ({"pubTypeList": {"pubType": ["Retracted Publication", "case-report"]}}, "retracted"),
        ({"pubTypeList": {"pubType": "Retracted Publication"}}, "retracted"),
        ({"authMan": "Y"}, "manuscript_only"),
        ({"license": "cc by-nc"}, "licence_not_allowed"),
        ({"license": "cc by-nd"}, "licence_not_allowed"),
        ({"license": "publisher's own"}, "licence_unknown"),
        ({"pmcid": "PMC2"}, "not_found"),
        ({"pmcid": ...}, "not_found"),
    ],
)
def test_gates(site: FakeEuropePmc, context: Any, changes: dict[str, Any], reason: str) -> None:
    site.records = [{**record("PMC1"), **changes}]
    site.records = [{k: v for k, v in site.records[0].items() if v is not ...}]
    assert _reason(fetch("PMC1", context())) == reason
    assert "fullTextXML" not in site.counts


def test_a_silent_licence_passes_and_a_wider_profile_lets_more_in(site: FakeEuropePmc, context: Any) -> None:
    site.records = [record("PMC1", license=...)]
    assert _article(fetch("PMC1", context())).license_code is None
    site.records = [record("PMC1", license="cc by-nc")]
    assert _article(fetch("PMC1", context(profile="noncommercial"))).license_code == "cc by-nc"


def test_a_retraction_in_either_record_counts(site: FakeEuropePmc, context: Any) -> None:
    types = {"pubType": ["Retracted Publication"]}
    site.records = [record("PMC1"), record("PMC1", source="PMC", id="PMC1", pubTypeList=types)]
    assert _reason(fetch("PMC1", context())) == "retracted"


def test_what_is_no_pmcid_is_dropped(context: Any) -> None:
    drop = fetch("not an id", context())
    assert isinstance(drop, Drop) and drop.id == "not an id"


@pytest.mark.parametrize("fault", ["gone", "html", "error", "busy"])
def test_a_passing_fault_of_the_full_text_passes(site: FakeEuropePmc, context: Any, fault: str) -> None:
    site.faults = lambda what, number: fault if what == "fullTextXML" and number == 1 else None
    assert _article(fetch("PMC1", context())).id == "europepmc:PMC1"
    site.faults = lambda what, number: fault if what == "fullTextXML" else None
    site.records = [record("PMC1", dateOfRevision="2026-01-01")]
    assert _reason(fetch("PMC1", context())) == "fetch_failed"


def test_a_large_text_is_dropped(context: Any) -> None:
    assert _reason(fetch("PMC1", context(max_xml_bytes=50))) == "too_large"


def test_only_named_images_are_taken_out_of_the_zip(site: FakeEuropePmc, context: Any) -> None:
    site.texts["PMC1"] = XML.format(TEXT + figures("a-g001", "b.tif", "broken", "absent")).encode()
    files = {
        "a-g001.jpg": jpeg(1),
        "sub/b.jpg": jpeg(2),
        "broken.jpg": b"<html>busy</html>",
        "data.xlsx": b"PK\3\4 no image",
        "c.jpg": jpeg(3),
    }
    site.files["PMC1"] = zip_of(files)
    made = context(images=True)
    found = _article(fetch("PMC1", made))
    stored = {medium.name: (made.store.root / medium.path).read_bytes() for medium in found.media}
    assert stored == {"a-g001.jpg": jpeg(1), "b.jpg": jpeg(2)}
    problems = {problem.name: problem.reason for problem in found.media_problems}
    assert problems == {"broken.jpg": "image_corrupt", "absent": "image_missing"}
    names = sorted(path.name for path in (made.store.root / "europepmc/PMC1/images").iterdir())
    assert names == ["a-g001.jpg", "b.jpg"]


@pytest.mark.parametrize(
    ("files", "reason", "detail"),
    [
        (None, "image_missing", "no file"),
        (zip_of({"../f1.jpg": jpeg()}), "image_missing", "archive_hostile"),
        (zip_of({"f1.jpg": jpeg()})[:-30], "image_missing", "archive_invalid"),
        (zip_of({"f1.jpg": jpeg(), "big": bytes(2_000)}), "", ""),
    ],
)
def test_a_zip_that_cannot_be_used_costs_the_images_only(
    site: FakeEuropePmc, context: Any, files: bytes | None, reason: str, detail: str
) -> None:
    site.texts["PMC1"] = XML.format(TEXT + figures("f1")).encode()
    if files is not None:
        site.files["PMC1"] = files
    found = _article(fetch("PMC1", context(images=True)))
    if not reason:
        assert [medium.name for medium in found.media] == ["f1.jpg"] and not found.media_problems
        return
    (problem,) = found.media_problems
    assert problem.reason == reason and detail in problem.detail and not found.media


def test_a_damaged_zip_is_fetched_again(site: FakeEuropePmc, context: Any) -> None:
    site.texts["PMC1"] = XML.format(TEXT + figures("f1")).encode()
    site.files["PMC1"] = zip_of({"f1.jpg": jpeg()})
    site.faults = lambda what, number: "html" if what == "supplementaryFiles" and number == 1 else None
    assert [medium.name for medium in _article(fetch("PMC1", context(images=True))).media] == ["f1.jpg"]


def test_a_page_in_place_of_a_zip_is_never_taken_for_it(site: FakeEuropePmc, context: Any) -> None:
    site.texts["PMC1"] = XML.format(TEXT + figures("f1")).encode()
    site.files["PMC1"] = zip_of({"f1.jpg": jpeg()})
    site.faults = lambda what, number: "html" if what == "supplementaryFiles" else None
    lost = fetch("PMC1", context(images=True))
    assert isinstance(lost, Drop) and (lost.reason, lost.detail) == ("fetch_failed", "what came is not a ZIP")
    site.faults = lambda what, number: None
    assert [medium.name for medium in _article(fetch("PMC1", context(images=True))).media] == ["f1.jpg"]


def test_a_zip_that_does_not_come_drops_the_article_for_the_next_crawl(
    site: FakeEuropePmc, context: Any
) -> None:
    site.texts["PMC1"] = XML.format(TEXT + figures("f1")).encode()
    site.files["PMC1"] = zip_of({"f1.jpg": jpeg()})
    site.faults = lambda what, number: "busy" if what == "supplementaryFiles" else None
    made = context(images=True)
    assert _reason(fetch("PMC1", made)) == "fetch_failed"
    site.faults = lambda what, number: None
    assert _article(fetch("PMC1", made)).media and site.counts["fullTextXML"] == 1


def test_images_are_left_alone_unless_wanted(site: FakeEuropePmc, context: Any) -> None:
    site.texts["PMC1"] = XML.format(TEXT + figures("f1")).encode()
    assert _article(fetch("PMC1", context())).media == () and "supplementaryFiles" not in site.counts


def test_a_large_image_is_noted(site: FakeEuropePmc, context: Any) -> None:
    site.texts["PMC1"] = XML.format(TEXT + figures("f1")).encode()
    site.files["PMC1"] = zip_of({"f1.jpg": jpeg()})
    for limit in ({"max_media_bytes": 100}, {"max_archive_bytes": 100}):
        site.records = [record("PMC1", dateOfRevision=str(limit))]
        (problem,) = _article(fetch("PMC1", context(images=True, **limit))).media_problems
        assert problem.reason == "image_too_large"


ROW = {
    "prefix": "woman with ",
    "exact": "fever",
    "postfix": ", see the ",
    "section": "Abstract (http://purl.org/dc/terms/abstract)",
    "type": "Diseases",
    "provider": "Europe PMC",
    "tags": [{"name": "fever", "uri": "http://linkedlifedata.com/resource/umls-concept/C0015967"}],
}


def test_annotations_come_eight_articles_at_a_time_and_once(site: FakeEuropePmc, context: Any) -> None:
    pmcids = [f"PMC{number}" for number in range(1, 20)]
    site.annotations = {pmcid: [ROW, {"exact": ""}] for pmcid in pmcids[::2]}
    site.faults = lambda what, number: "stub" if number == 2 else None
    made = context()
    rows = fetch_annotations(pmcids, made)
    assert [row.pmcid for row in rows] == sorted(pmcids[::2])
    assert rows[0].section == "Abstract" and rows[0].uris == (ROW["tags"][0]["uri"],)  # type: ignore[index]
    assert site.counts["annotations"] == 4
    assert fetch_annotations(pmcids, made) == rows and site.counts["annotations"] == 4


def test_damaged_annotations_are_an_error() -> None:
    for data in (b"", b"{}", b"\xff", b"[" * 100_000):
        with pytest.raises(InputError) as caught:
            read_annotations(data, "PMC1")
        assert caught.value.reason == "record_invalid"
    assert read_annotations(b'[1, {"exact": 3}, {"exact": "x", "tags": 5}]', "PMC1")[0].uris == ()


def _reading(*texts: str) -> Article:
    passages = tuple(
        ArticlePassage(id=f"europepmc:PMC1#p{number}", section=0, text=text, text_sha256=sha256_text(text))
        for number, text in enumerate(texts, 1)
    )
    return Article(
        id="europepmc:PMC1",
        source="europepmc",
        language="en",
        title="Fever in a child",
        abstracts=(Abstract(language="en", type="", text="Malaria. Malaria again."),),
        licence=Licence(spdx="CC0-1.0", evidence="test"),
        passages=passages,
        raw_sha256="",
    )


def _annotation(prefix: str, exact: str, postfix: str) -> Annotation:
    return Annotation("PMC1", "Diseases", "", "", prefix, exact, postfix, (), ())


@pytest.mark.parametrize(
    ("prefix", "exact", "postfix", "place"),
    [
        ("", "Fever", " in a child", Place("title", 0, 5)),
        ("A man with ", "fever", " and cough", Place("europepmc:PMC1#p1", 11, 16)),
        ("then  high\n", "fever", ".", Place("europepmc:PMC1#p2", 10, 15)),
        ("", "Malaria", "again", Place("abstract:0", 9, 16)),
        ("", "Malaria", "", None),  # two places
        ("with no ", "fever", "", None),  # other surroundings
        ("", "cough", "", None),  # inside `coughing` only, or twice
        ("", "dengue", "", None),
    ],
)
def test_quotations_are_found_where_only_one_place_fits(
    prefix: str, exact: str, postfix: str, place: Place | None
) -> None:
    article = _reading("A man with fever and coughing.", "Then high fever.")
    assert locate(_annotation(prefix, exact, postfix), article) == place


def test_a_located_quotation_is_the_text_at_its_offsets() -> None:
    article = _reading("Ein Kind mit größerem Fieber, 𝛼-Thalassämie und Husten.")
    place = locate(_annotation("Fieber, ", "𝛼-Thalassämie", " und "), article)
    assert place is not None and article.passages[0].text[place.start : place.end] == "𝛼-Thalassämie"


def test_whole_articles_are_fetched_with_their_images_and_their_words_are_found(
    site: FakeEuropePmc, context: Any, library: Library
) -> None:
    rng = random.Random(5)
    located = wrong = images = 0
    made = context(images=True)
    for path in [item for item in library.files if item.name.startswith("PMC")][:8]:
        folder = path.parent
        pmcid = folder.name.partition(".")[0]
        site.texts[pmcid] = (folder / f"{folder.name}.xml").read_bytes()
        stems = {base_name(href).removesuffix(".jpg") for href in scan(site.texts[pmcid]).hrefs}
        site.files[pmcid] = zip_of({f"{stem}.jpg": jpeg(1) for stem in sorted(stems)})
        site.records.append(record(pmcid, license=...))
        raw = _article(fetch(pmcid, made))
        assert {medium.name for medium in raw.media} == {f"{stem}.jpg" for stem in stems}
        assert raw.media_problems == ()
        images += len(raw.media)
        article = jats.parse((made.store.root / raw.path).read_bytes(), raw)
        for passage in rng.sample(article.passages, min(20, len(article.passages))):
            word = rng.choice(list(re.finditer(r"\w{6,}", passage.text)) or [None])
            if word is not None:
                before, after = passage.text[: word.start()][-20:], passage.text[word.end() :][:20]
                place = locate(_annotation(before, word.group(), after), article)
                located += place is not None
                wrong += place is not None and (place.text, place.start) != (passage.id, word.start())
    assert located > 100 and wrong == 0 and images > 10
