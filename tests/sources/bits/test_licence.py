"""Licences of chapters: inherited, overridden, in prose, and not stated at all."""

from __future__ import annotations

import pytest

from schemas import licences
from tests.sources.bits.conftest import Reader

TITLE = "<title-group><title>One</title></title-group>"


def prose(text: str) -> str:
    return f"<permissions><license><license-p>{text}</license-p></license></permissions>"


def line(text: str) -> str:
    return f"<permissions><copyright-statement>{text}</copyright-statement></permissions>"


PD = licences.PUBLIC_DOMAIN
UNKNOWN = licences.UNKNOWN


@pytest.mark.parametrize(
    ("statement", "spdx"),
    [
        ("This document is in the public domain and may be used and reprinted without permission.", PD),
        ("As a work of the United States Government it may be used freely.", PD),
        ("The text of this book is not copyright protected and its general use is encouraged.", PD),
        ("Not in the public domain.", UNKNOWN),
        ("Portions of this book are in the public domain.", UNKNOWN),
        ("In the public domain, but it may not be reproduced for a fee.", UNKNOWN),
        (
            "Distributed under the Creative Commons Attribution-NonCommercial-NoDerivatives 4.0 "
            "International (CC BY-NC-ND 4.0) licence.",
            "CC-BY-NC-ND-4.0",
        ),
        (
            "Some chapters are owned by a university; permission is granted to copy them for noncommercial "
            "research purposes only.",
            UNKNOWN,
        ),
        ("© 1993–2026 A University. All rights reserved.", licences.RESTRICTED),
        (
            "<ext-link xlink:href='https://creativecommons.org/licenses/by-nc-sa/3.0/igo/'>IGO</ext-link>",
            "CC-BY-NC-SA-3.0",
        ),
    ],
)
def test_the_books_prose_is_inherited(read: Reader, statement: str, spdx: str) -> None:
    licence = read(permissions=prose(statement)).licence
    assert licence.spdx == spdx
    assert licence.evidence.startswith("bits:book-meta")
    assert licence.statement


@pytest.mark.parametrize(
    ("chapter", "book", "spdx", "disputed"),
    [
        ("Creative Commons Attribution 4.0", "", "CC-BY-4.0", False),
        ("Creative Commons Attribution 4.0", "All rights reserved.", licences.RESTRICTED, True),
        ("All rights reserved.", "In the public domain.", licences.RESTRICTED, True),
        ("CC BY-NC-ND 4.0", "CC BY 4.0", "CC-BY-NC-ND-4.0", True),
        ("CC BY 4.0", "CC BY", "CC-BY-4.0", False),
    ],
)
def test_of_chapter_and_book_the_stricter_holds(
    read: Reader, chapter: str, book: str, spdx: str, disputed: bool
) -> None:
    licence = read(meta=TITLE + prose(chapter), permissions=prose(book) if book else "").licence
    assert (licence.spdx, licence.is_disputed) == (spdx, disputed)
    if disputed:
        assert "book-part-meta" in licence.evidence and "book-meta" in licence.evidence


def test_a_copyright_line_that_repeats_the_books_adds_nothing(read: Reader) -> None:
    same = "Copyright © 2024, A Press."
    book = (
        f"<permissions><copyright-statement>{same}</copyright-statement><license><license-p>{same} CC BY 4.0"
        "</license-p></license></permissions>"
    )
    assert read(meta=TITLE + line(same), permissions=book).licence.spdx == "CC-BY-4.0"
    other = read(meta=TITLE + line("Copyright © 2020, Another Press."), permissions=book).licence
    assert other.spdx == UNKNOWN


@pytest.mark.parametrize(
    ("publisher", "spdx"),
    [
        ("National Institute of Diabetes and Digestive and Kidney Diseases", PD),
        ("National Cancer Institute (US)", PD),
        ("Agency for Healthcare Research and Quality (US)", PD),
        ("National Academies Press (US)", UNKNOWN),
        ("National Institute for Health and Care Excellence (NICE)", UNKNOWN),
        ("National Institute for Health Research", UNKNOWN),
        ("Invented Press", UNKNOWN),
    ],
)
def test_silence_is_public_domain_only_for_the_us_government(read: Reader, publisher: str, spdx: str) -> None:
    licence = read(publisher=publisher).licence
    assert licence.spdx == spdx
    assert licence.evidence.startswith("bits:no rights statement")


def test_an_agency_that_claims_copyright_is_not_silent(read: Reader) -> None:
    licence = read(publisher="National Library of Medicine (US)", permissions=line("© A Contractor")).licence
    assert licence.spdx == UNKNOWN


def test_rights_notes_of_old_books(read: Reader) -> None:
    notes = "<notes notes-type='{}'><p>This book is in the public domain.</p></notes>"
    assert read(permissions=notes.format("rights")).licence.spdx == PD
    assert read(permissions=notes.format("disclaimer")).licence.spdx == UNKNOWN


def test_metadata_that_disagree_are_weighed(read: Reader) -> None:
    licence = read(permissions=prose("CC BY 4.0"), raw={"license_code": "CC BY-NC"}).licence
    assert (licence.spdx, licence.is_disputed) == ("LicenseRef-CC-BY-NC", True)
