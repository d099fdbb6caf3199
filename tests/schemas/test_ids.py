"""The id grammar: ids say where a record came from and no two rules can make the same one."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import InputError
from schemas.ids import (
    article_of,
    family_key,
    figure_id,
    folder_article_id,
    is_article_id,
    normalise_doi,
    normalise_pmcid,
    panel_id,
    passage_id,
    pmc_article_id,
    query_id,
)

QUICK = settings(deadline=None, max_examples=200)
XML_IDS = st.one_of(
    st.none(),
    st.text(max_size=12),
    st.sampled_from(
        [
            "F1",
            "f1",
            "fig1",
            "fig2",
            "fig3",
            "fig02",
            "p1",
            "p17",
            "case1",
            "F1.B",
            "fig1.A",
            "F1.left",
            "F1.10",
            "F1\n",
        ]
    ),
    st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=6),
)
PANELS = [*string.ascii_uppercase, *"0123456789", "left", "Left", "top-left", "upper-right", "LEFT"]


@QUICK
@given(st.lists(XML_IDS, max_size=12))
def test_figure_ids_never_collide_with_anything(xml_ids: list[str | None]) -> None:
    article = "pmc:PMC123.1"
    given: list[str] = []
    for number, xml_id in enumerate(xml_ids, start=1):
        given.append(figure_id(article, xml_id, number, given))
    others = {passage_id(article, number) for number in range(1, 40)} | {
        f"{article}#case{n}" for n in range(1, 9)
    }
    panels = {panel_id(figure, letter) for figure in given for letter in PANELS}
    assert len(set(given)) == len(given)
    assert not set(given) & (others | panels)
    for figure in given:
        assert article_of(figure) == article and figure.count("#") == 1
        assert not any(character.isspace() for character in figure)


@pytest.mark.parametrize(
    "xml_id",
    ["F2", "fig-2", "pone.0123456.g001", "f2-ol-40-1", "_x", "Fig2", "gr1", "F2.g001", "fig3", "fig04"],
)
def test_ordinary_xml_ids_are_kept(xml_id: str) -> None:
    assert figure_id("doi:10.1000/x", xml_id, 4, []) == f"doi:10.1000/x#{xml_id}"


@pytest.mark.parametrize(
    "xml_id",
    [None, "", " ", "1F", "F 1", "F1\n", "F#1", "p3", "case2", "F1.B", "ä", "x" * 101, "F1/2"],
)
def test_other_xml_ids_give_way_to_the_position(xml_id: str | None) -> None:
    assert figure_id("pmc:PMC1.1", xml_id, 4, []) == "pmc:PMC1.1#fig4"


def test_the_second_of_two_equal_xml_ids_gives_way() -> None:
    assert figure_id("pmc:PMC1.1", "F1", 2, ["pmc:PMC1.1#F1"]) == "pmc:PMC1.1#fig2"
    taken = ["pmc:PMC1.1#fig2", "pmc:PMC1.1#fig2-2"]  # what other figures call themselves
    assert figure_id("pmc:PMC1.1", None, 2, taken) == "pmc:PMC1.1#fig2-3"


@pytest.mark.parametrize("text", ["PMC0012345", "12345", "pmc12345", "  PMC12345\n"])
def test_pmcids_have_one_form(text: str) -> None:
    assert normalise_pmcid(text) == "PMC12345"


@pytest.mark.parametrize(
    "text", ["", "PMC", "PMC12x", "PM123", "PMC1 2", "PMC-1", "1" * 13, "PMC١٢", "PMC1.1"]
)
def test_what_is_no_pmcid_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a PMCID"):
        normalise_pmcid(text)


@QUICK
@given(st.integers(0, 10**12 - 1), st.integers(1, 99))
def test_pmc_ids_are_stable_and_lose_only_their_version(number: int, version: int) -> None:
    pmcid = normalise_pmcid(str(number))
    assert normalise_pmcid(pmcid) == pmcid
    article = pmc_article_id(pmcid, version)
    assert is_article_id(article)
    assert family_key(article) == f"pmc:{pmcid}" == family_key(pmc_article_id(pmcid, version + 1))


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1000/ABC", "10.1000/abc"),
        ("https://doi.org/10.1000/abc", "10.1000/abc"),
        ("http://dx.doi.org/10.1000/abc.", "10.1000/abc"),
        ("doi:10.1000/a(b)c;d", "10.1000/a(b)c;d"),
        (" info:doi/10.1000/x ", "10.1000/x"),
        ("10.1000/a b", None),
        ("10.1000/x\n.", None),
        ("11.1000/x", None),
        ("10.1/x", None),
        ("10.1000/", None),
        ("", None),
    ],
)
def test_dois_have_one_form(text: str, doi: str | None) -> None:
    assert normalise_doi(text) == doi


@QUICK
@given(st.text(max_size=20), st.sampled_from(["", "doi:", "https://doi.org/", "HTTP://DX.DOI.ORG/"]))
def test_normalising_a_doi_twice_changes_nothing(tail: str, prefix: str) -> None:
    doi = normalise_doi(f"{prefix}10.1000/{tail}")
    if doi is not None:
        assert normalise_doi(doi) == doi
        article = folder_article_id(doi, "ab" * 32)
        assert is_article_id(article) and family_key(article) == article and article_of(article) == article


def test_articles_without_a_usable_doi_are_named_by_their_bytes() -> None:
    for doi in (None, "", "not a doi", "10.1000/a#b"):
        assert folder_article_id(doi, "0123456789abcdef" * 4) == "file:0123456789ab"


@pytest.mark.parametrize("text", ["pmc:PMC1.1\n", "PMC1", "pmc:", "pmc:a b", "pmc:PMC1.1#p1", "PMC:1", ":x"])
def test_what_is_no_article_id(text: str) -> None:
    assert not is_article_id(text)


def test_equal_content_is_one_query() -> None:
    assert query_id("t", "a", "b") == query_id("t", "a", "b")
    assert (
        len({query_id("t", "a", "b"), query_id("t", "ab"), query_id("t", "b", "a"), query_id("u", "a", "b")})
        == 4
    )
