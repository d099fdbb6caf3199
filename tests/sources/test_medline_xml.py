"""PubMed records read field by field, and cut out of baseline and update files."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import pytest

from schemas import licences
from schemas.article import Abstract, Article, KeywordGroup, RawArticle, RelatedArticle, Translated
from schemas.errors import InputError
from schemas.hashing import sha256_bytes
from sources import medline_xml
from sources.medline_xml.files import Deletion, FileLimits, Record, Unreadable, read_file
from sources.medline_xml.languages import from_medline
from tests.sources.fakes.medline import BOOK, FULL, packed, set_of, simple


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


# ---- the reader


def test_a_full_record() -> None:
    got = _read(FULL)
    assert (got.id, got.source, got.pmid, got.pmcid, got.doi) == (
        "medline:101", "medline", "101", "PMC900101", "10.5555/own.101",
    )  # fmt: skip
    assert (got.language, got.title) == ("fr", "A case of Example fever & CO2 retention")
    assert got.translated_titles == (Translated(language="fr", text="Un cas de fièvre d'exemple."),)
    assert got.authors == ("Muster Anna B Jr", "Fever Study Group")
    assert (got.journal, got.year, got.article_type) == ("Annales fictives", 1998, "case-report")
    assert got.subjects == ("Case Reports", "Journal Article")
    assert got.abstracts == (
        Abstract(language="en", type="", text="BACKGROUND\nFever is rare (p<0.05).\nIt was treated."),
        Abstract(language="fr", type="", text="La fièvre est rare."),
        Abstract(language="en", type="plain-language-summary", text="Some get hot."),
    )
    assert got.keywords == (
        KeywordGroup(language="en", type="mesh", terms=("Fever/*drug therapy/genetics", "*Child")),
        KeywordGroup(language="en", type="mesh-ui", terms=("D000001/*Q000002/Q000003", "*D000004")),
        KeywordGroup(language="en", type="mesh-supplementary", terms=("C000001 Example syndrome",)),
        KeywordGroup(language="und", type="author", terms=("fièvre",)),
    )
    assert got.related == (
        RelatedArticle(type="commentary", id_type="pmid", target="102"),
        RelatedArticle(type="correction-forward", id_type="doi", target="10.5555/err.1"),
        RelatedArticle(type="UpdateIn", id_type="citation", target="Ann Fict. 2000;1:1"),
    )
    assert got.flags == ("abstract_elsewhere", "no_body", "title_translated") and not got.is_retracted
    assert got.passages == () and got.figures == () and got.sections == ()


def test_a_record_may_enter_no_release() -> None:
    licence = _read(FULL.replace("The Invented Society.", "The Society. CC BY 4.0")).licence
    assert licence.spdx == licences.UNKNOWN and "no licence" in licence.evidence
    assert licence.statement == "© 1999 The Society. CC BY 4.0"
    assert not any(licences.is_allowed(licence.spdx, profile) for profile in licences.PROFILES)


def test_a_book_chapter_and_a_whole_book() -> None:
    got = _read(BOOK, "201")
    assert (got.title, got.journal, got.publisher) == ("Example fever", "Fever Pages", "Invented Press")
    assert (got.year, got.authors, got.article_type, got.pmid) == (2001, ("Muster A",), "book-part", "201")
    assert got.abstracts[0].text == "CLINICAL CHARACTERISTICS\nHot." and got.flags == ("no_body",)
    start, end = BOOK.index("<ArticleTitle"), BOOK.index("<Language>")
    assert _read(BOOK[:start] + BOOK[end:], "201").title == "Fever Pages"


@pytest.mark.parametrize(
    ("title", "language", "vernacular", "expected"),
    [
        ("[Fever].", "ger", "Fieber.", ("Fever", [("de", "Fieber.")], True)),
        ("[Fever]", "ger", "", ("Fever", [], True)),
        ("[Not Available].", "spa", "Fiebre.", ("Fiebre.", [], False)),
        ("[18F]FDG in fever", "eng", "", ("[18F]FDG in fever", [], False)),
        ("[Fever]", "eng", "", ("[Fever]", [], False)),
        ("Fever", "eng</Language><Language>fre", "Fièvre", ("Fever", [("fr", "Fièvre")], False)),
        ("[Fever]", "mul", "Fieber", ("Fever", [("und", "Fieber")], True)),
    ],
)
def test_titles(title: str, language: str, vernacular: str, expected: tuple[str, Any, bool]) -> None:
    text = simple(101, title, language=language)
    if vernacular:
        text = text.replace("</Article>", f"<VernacularTitle>{vernacular}</VernacularTitle></Article>")
    got = _read(text)
    found = (got.title, [(item.language, item.text) for item in got.translated_titles])
    assert (*found, "title_translated" in got.flags) == expected


@pytest.mark.parametrize(
    ("code", "tag"),
    [("eng", "en"), ("FRE", "fr"), ("ger", "de"), ("chi", "zh"), ("scr", "hr"), ("per", "fa"), ("mul", "und"),
     ("und", "und"), ("haw", "haw"), ("", "und"), ("english", "und")],
)  # fmt: skip
def test_languages(code: str, tag: str) -> None:
    assert from_medline(code) == tag


RETRACTION = (
    "<CommentsCorrectionsList><CommentsCorrections RefType='{}'><RefSource>x</RefSource><PMID>9</PMID>"
)
RETRACTION += "</CommentsCorrections></CommentsCorrectionsList>"


@pytest.mark.parametrize(
    ("record", "retracted", "kind"),
    [
        (simple(101, types="<PublicationType>Retracted Publication</PublicationType>"), True, ""),
        (simple(101, links=RETRACTION.format("RetractionIn")), True, ""),
        (simple(101, "RETRACTED: Fever"), True, ""),
        (simple(101, links=RETRACTION.format("PartialRetractionIn")), False, ""),
        (simple(101, links=RETRACTION.format("ErratumIn")), False, ""),
        (
            simple(
                101,
                "Retraction: Fever",
                types="<PublicationType>Retraction of Publication</PublicationType>",
                links=RETRACTION.format("RetractionOf"),
            ),
            False,
            "retraction",
        ),
    ],
)
def test_retractions(record: str, retracted: bool, kind: str) -> None:
    got = _read(record)
    assert (got.is_retracted, got.article_type) == (retracted, kind)


def test_ids_of_references_are_not_the_record_s() -> None:
    references = FULL[FULL.index("<ReferenceList>") : FULL.index("</PubmedData>")]
    got = _read(simple(101, data=f"<PubmedData>{references}</PubmedData>"))
    assert (got.pmid, got.pmcid, got.doi) == ("101", None, None)
    elsewhere = simple(101).replace(
        "<Language>", '<ELocationID EIdType="doi">10.5555/E</ELocationID><Language>'
    )
    assert _read(elsewhere).doi == "10.5555/e"


def test_a_foreign_pmid_is_flagged() -> None:
    assert "id_mismatch" in _read(FULL, "7").flags


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (simple(101, ""), "no_body"),
        ("<html><body>busy</body></html>", "not_an_article"),
        (set_of(FULL, BOOK), "not_an_article"),
        (set_of(), "not_an_article"),
        ("<PubmedArticle/>", "xml_invalid"),
        ("", "xml_invalid"),
        ("<PubmedArticle><MedlineCitation>" + "<x>" * 3000, "xml_hostile"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><PubmedArticle/>', "xml_hostile"),
    ],
)
def test_what_is_no_record_is_refused_with_a_reason(text: str | bytes, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        _read(text)
    assert caught.value.reason == reason and caught.value.record == "medline:101"


def test_a_set_of_one_and_a_damaged_record() -> None:
    assert _read(set_of(FULL)).title == _read(FULL).title
    got = _read(FULL.replace("</AuthorList>", ""))
    assert "xml_recovered" in got.flags and "A case of Example fever" in got.title


def test_a_label_without_text_is_kept() -> None:
    text = simple(101, abstract="Fever.</AbstractText><AbstractText Label='LEVEL OF EVIDENCE: 4'>")
    assert _read(text).abstracts[0].text == "Fever.\nLEVEL OF EVIDENCE: 4"


def test_truncated_abstracts_are_flagged() -> None:
    got = _read(simple(101, abstract="Fever. (ABSTRACT TRUNCATED AT 250 WORDS)"))
    assert got.flags == ("abstract_truncated", "no_body")


# ---- files


def test_a_file_gives_the_exact_bytes_of_its_records(tmp_path: Path) -> None:
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(packed(FULL, BOOK, simple(3, version=2), deleted=(8, 9)))
    assert list(read_file(path)) == [
        Record("101", 1, FULL.encode()),
        Record("201", 1, BOOK.encode()),
        Record("3", 2, simple(3, version=2).encode()),
        Deletion("8"),
        Deletion("9"),
    ]
    plain = tmp_path / "pubmed26n0002.xml"
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    assert list(read_file(plain)) == list(read_file(path))


def test_records_across_block_borders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.xml"
    records = [simple(number, "t" * (number % 7)) for number in range(1, 60)]
    path.write_bytes(set_of(*records))
    for size in (1, 19, 64, 1000):
        monkeypatch.setattr("sources.medline_xml.files._BLOCK", size)
        assert [item.data.decode() for item in read_file(path) if isinstance(item, Record)] == records


def test_a_damaged_record_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "f.xml"
    endless = simple(2).replace("</PubmedArticle>", "")
    path.write_bytes(set_of(simple(1), endless, simple(3), simple("x"), simple(5)))
    found = list(read_file(path))
    assert [item.pmid if isinstance(item, Record) else type(item) for item in found] == [
        "1", Unreadable, "3", Unreadable, "5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "limits", "reason"),
    [
        (packed(FULL)[:-20], {}, "archive_invalid"),
        (packed(FULL)[:-1] + b"\7", {}, "archive_invalid"),
        (set_of(FULL)[:2500], {}, "archive_invalid"),
        (b"<html>busy</html>", {}, "record_invalid"),
        (b"", {}, "record_invalid"),
        (packed(FULL), {"record_bytes": 100}, ""),
        (packed(simple(1, "x" * 3_000_000)), {"record_bytes": 2_000_000}, "too_large"),
        (gzip.compress(b" " * 50_000_000), {"file_bytes": 10_000_000}, "too_large"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, data: bytes, limits: dict[str, int], reason: str) -> None:
    path = tmp_path / "f.xml.gz"
    path.write_bytes(data)
    if not reason:
        assert len(list(read_file(path, FileLimits(**limits)))) == 1
        return
    with pytest.raises(InputError) as caught:
        list(read_file(path, FileLimits(**limits)))
    assert caught.value.reason == reason and caught.value.file == "f.xml.gz"


def test_an_endless_record_is_not_searched_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "f.xml"
    path.write_bytes(b"<PubmedArticleSet><PubmedArticle>" + b"<a>" * 20_000_000)
    started = time.process_time()
    with pytest.raises(InputError):
        list(read_file(path, FileLimits(record_bytes=40_000_000)))
    assert time.process_time() - started < 20
