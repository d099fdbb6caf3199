"""Corrections, obituaries, news are no research texts, whatever their publisher calls them."""

from __future__ import annotations

import pytest

from curation.extract.notices import notice
from curation.extract.scope import decide
from schemas.article import Article, BookPlace, Licence


def _article(
    title: str, kind: str = "research-article", subjects: tuple[str, ...] = (), book: BookPlace | None = None
) -> Article:
    return Article(
        id="file:1",
        source="folder",
        language="en",
        title=title,
        article_type=kind,
        subjects=subjects,
        book=book,
        licence=Licence(spdx="CC-BY-4.0", evidence="test"),
        raw_sha256="0" * 64,
    )


@pytest.mark.parametrize(
    "title",
    [
        "Correction to: Stents in small children",
        "Author Correction: Stents in small children",
        "Corrigendum: Stents in small children",
        "Erratum to “Stents in small children” [J. Stents 3 (2019) 7]",
        "Correction to Journal of Stents 2021; 22: 81",
        "Stents in small children – ERRATUM",
        "Retraction Note to: Stents in small children",
        "Retraction of: Stents in small children",
        "Expression of Concern: Stents in small children",
        "Errata",
        "Fe de erratas",
        "Correction",
        "In Memoriam: Maria Weber, MD, 1938-2020",
        "Book review: The history of stents",
        "News briefs",
    ],
)
def test_titles_of_notices(title: str) -> None:
    assert notice(_article(title)) == f"title: {title}"
    assert decide(_article(title)) == ("notice", (f"title: {title}",))


@pytest.mark.parametrize(
    "title",
    [
        "Correction of scoliosis by bracing",
        "Correction to the femoral neck angle after osteotomy in children",
        "Lid retraction: a sign of thyroid disease",
        "Retraction of the eyelid after surgery",
        "Withdrawal: signs and treatment in newborns",
        "Withdrawal from diazepam",
        "Removal of an aspirated peanut",
        "Obituary data as a source of causes of death",
        "Error rates in radiology: a review",
        "Fake news and vaccination",
    ],
)
def test_titles_of_research(title: str) -> None:
    assert notice(_article(title)) == ""


def test_the_type_and_the_heading_count_and_a_chapter_is_none() -> None:
    assert notice(_article("Stents", "Expression of Concern")) == "type: Expression of Concern"
    assert notice(_article("Stents", subjects=("Surgery > Corrigenda",))) == "subject: Surgery > Corrigenda"
    assert notice(_article("Stents", subjects=("Surgery", "Surgical correction"))) == ""
    place = BookPlace(book_id="b", title="A book", position=1)
    assert notice(_article("Errata", "book-chapter", book=place)) == ""
