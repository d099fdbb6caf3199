from __future__ import annotations

from lxml import etree

from schemas.article import Affiliation
from sources.jats.front import affiliations


def read(inner: str) -> list[tuple[str, str, str, str]]:
    meta = etree.fromstring(
        f'<article-meta xmlns:xlink="http://www.w3.org/1999/xlink">{inner}</article-meta>'
    )
    return [(item.author, item.text, item.country, item.country_code) for item in affiliations(meta)]


TWO = (
    '<aff id="a1"><label>1</label>A Hospital, Lima, Peru</aff>'
    '<aff id="a2"><sup>2</sup>A University, <city>Oslo</city>, <country country="NO">Norway</country></aff>'
)


def author(inner: str, attributes: str = "") -> str:
    return f'<contrib contrib-type="author" {attributes}><name><surname>X</surname></name>{inner}</contrib>'


def aff(*ids: str) -> str:
    return "".join(f'<xref ref-type="aff" rid="{name}"/>' for name in ids)


def test_the_corresponding_author_comes_before_the_first() -> None:
    people = author(aff("a1")) + author(aff("a2"), 'corresp="yes"')
    assert read(f"<contrib-group>{people}</contrib-group>{TWO}") == [
        ("corresponding", "A University, Oslo, Norway", "Norway", "NO"),
        ("first", "A Hospital, Lima, Peru", "", ""),
    ]


def test_a_link_to_the_correspondence_marks_the_author_too() -> None:
    people = author(aff("a1") + '<xref ref-type="corresp" rid="c1"/>') + author(aff("a2"))
    assert read(f"<contrib-group>{people}</contrib-group>{TWO}") == [
        ("corresponding", "A Hospital, Lima, Peru", "", "")
    ]


def test_several_affiliations_stay_in_order() -> None:
    for links in (aff("a2", "a1"), '<xref ref-type="aff" rid="a2 a1"/>'):
        got = read(f"<contrib-group>{author(links)}</contrib-group>{TWO}")
        assert [(item[0], item[1].partition(",")[0]) for item in got] == [
            ("first", "A University"),
            ("first", "A Hospital"),
        ]


def test_an_affiliation_inside_the_author_counts() -> None:
    inside = author("<aff><institution>A Lab</institution>, <country>Chile</country></aff>")
    assert read(f"<contrib-group>{inside}</contrib-group>") == [("first", "A Lab, Chile", "Chile", "")]


def test_without_links_the_affiliations_are_the_articles_and_editors_ones_are_left_out() -> None:
    editor = '<contrib contrib-type="editor"><xref ref-type="aff" rid="edit1"/></contrib>'
    got = read(
        f"<contrib-group>{author('')}</contrib-group><contrib-group>{editor}"
        '<aff id="e2">An Editor’s Office, Malta</aff></contrib-group>'
        '<aff id="a1">A Hospital, Peru</aff><aff id="edit1">A University, Australia</aff>'
    )
    assert got == [("article", "A Hospital, Peru", "", "")]


def test_addresses_labels_and_identifiers_are_left_out() -> None:
    got = read(
        f"<contrib-group>{author(aff('a'))}</contrib-group>"
        '<aff id="a"><label>a</label><institution-wrap><institution-id>grid.1</institution-id>'
        "<institution>A Clinic</institution></institution-wrap>, Vilnius; x.y@clinic.example; "
        "<email>z@clinic.example</email> (X.Y.), Lithuania</aff>"
    )
    assert [item[0] for item in got] == ["first"]
    assert "@" not in got[0][1]
    assert got[0][1].startswith("A Clinic")
    assert got[0][1].endswith("Lithuania")
    assert "grid" not in got[0][1]


def test_nothing_to_read_is_nothing() -> None:
    assert affiliations(None) == ()
    assert read("") == []
    assert (
        read(f'<contrib-group>{author(aff("gone"))}</contrib-group><aff id="a"><label>1</label></aff>') == []
    )


def test_a_country_alone_is_enough() -> None:
    meta = etree.fromstring('<article-meta><aff><country country="ES"/></aff></article-meta>')
    assert affiliations(meta) == (Affiliation(author="article", text="", country="", country_code="ES"),)
