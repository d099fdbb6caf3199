from __future__ import annotations

from typing import Literal

import pytest

from curation.labels import country
from schemas.article import Affiliation
from schemas.label import Label

Whose = Literal["corresponding", "first", "article"]


def place(text: str, name: str = "", code: str = "", author: Whose = "corresponding") -> Affiliation:
    return Affiliation(author=author, text=text, country=name, country_code=code)


def labels(*affiliations: Affiliation) -> list[Label]:
    return list(country.labels("a", affiliations))


@pytest.mark.parametrize(
    ("affiliation", "code", "region", "rule"),
    [
        (place("A University, São Paulo, Brasil", "Brasil", "BR"), "BR", "AMR", "country.code"),
        (place("A University, 10115 Berlin", "Deutschland"), "DE", "EUR", "country.element"),
        (place("A Hospital, Lusaka, Zambia."), "ZM", "AFR", "country.name_at_end"),
        (place("A University, Taipei, Taiwan"), "TW", "", "country.name_at_end"),
        (place("A Hospital, P. R. China"), "CN", "WPR", "country.name_at_end"),
        (place("A Hospital, Seoul, Republic of Korea"), "KR", "WPR", "country.name_at_end"),
        (place("The National Museum of Denmark, Some Street"), "DK", "EUR", "country.name_inside"),
        (place("University of Georgia, Athens, GA 30602"), "US", "AMR", "country.post_code"),
        (place("A University, Tbilisi, Georgia"), "GE", "EUR", "country.name_at_end"),
        (place("A School, Albuquerque, New Mexico"), "US", "AMR", "country.state"),
        (place("A Centre, F-63011 Clermont"), "FR", "EUR", "country.mail_code"),
        (place("A Clinic, Belfast, Northern Ireland"), "GB", "EUR", "country.name_at_end"),
        (place("Institute, University of Cambridge, UK"), "GB", "EUR", "country.name_at_end"),
    ],
)
def test_rules(affiliation: Affiliation, code: str, region: str, rule: str) -> None:
    (row,) = labels(affiliation)
    assert (row.value, row.parent, row.rank, row.reason) == (code, region, 1, "")
    assert row.evidence[0].rule == f"{rule}.corresponding"
    assert row.confidence == row.evidence[0].points


def test_the_corresponding_author_comes_first_and_another_country_second() -> None:
    rows = labels(place("X, Kenya"), place("Y, Norway", author="first"))
    assert [(row.rank, row.value, row.parent) for row in rows] == [(1, "KE", "AFR"), (2, "NO", "EUR")]


def test_one_country_of_both_is_one_row() -> None:
    assert len(labels(place("X, Kenya"), place("Y, Kenya", author="first"))) == 1


def test_the_first_affiliation_that_tells_counts() -> None:
    (row,) = labels(place("Department of Radiology"), place("A Hospital, Peru"))
    assert row.value == "PE"


def test_affiliations_of_the_article_count_where_no_author_has_one() -> None:
    (row,) = labels(place("X, Ghana", author="article"))
    assert (row.value, row.evidence[0].rule) == ("GH", "country.name_at_end.article")


def test_undecided_says_why() -> None:
    (none,) = labels()
    assert (none.value, none.reason) == ("", "no_affiliation")
    (unknown,) = labels(place("Department of Radiology"))
    assert (unknown.value, unknown.reason, unknown.evidence[0].text) == (
        "",
        "no_country",
        "Department of Radiology",
    )
