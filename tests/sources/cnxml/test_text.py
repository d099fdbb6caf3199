"""Running text of a module: what becomes a passage, what is left out, and how links read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.article import Article
from schemas.errors import InputError
from sources.cnxml import parse
from tests.sources.cnxml.conftest import raw_module
from tests.sources.fakes.openstax import collection, module

Reader = Callable[..., Article]


def texts(article: Article) -> list[str]:
    return [passage.text for passage in article.passages]


def test_sections_lists_notes_and_quotes_keep_their_kind(read: Reader) -> None:
    article = read(
        "<para>Opening.</para><section class='summary' id='s'><title>Key <emphasis>Points</emphasis></title>"
        "<list><title>Signs</title><item>Fever <term>high</term>.</item><item>"
        "<para>Cough.</para></item></list>"
        "<quote><para>So it was.</para></quote><note class='x case-in-point'><title>A Case</title>"
        "<para>Bo, 4, coughs.</para></note><note type='tip'>Bare <term>text</term> here.</note></section>"
    )
    assert [(each.text, each.kind, each.section, each.box) for each in article.passages] == [
        ("Opening.", "paragraph", 0, 0),
        ("Signs", "list", 1, 0),
        ("Fever high.", "list", 1, 0),
        ("Cough.", "list", 1, 0),
        ("So it was.", "quote", 1, 0),
        ("Bo, 4, coughs.", "boxed", 2, 1),
        ("Bare text here.", "boxed", 1, 2),
    ]
    assert [(each.title, each.type, each.xml_id) for each in article.sections] == [
        ("Key Points", "summary", "s"),
        ("A Case", "boxed-text", None),
    ]
    assert [(box.title, box.type) for box in article.boxes] == [("A Case", "x case-in-point"), ("", "tip")]


def test_inline_markup_leaves_clean_sentences(read: Reader) -> None:
    article = read(
        "<para>The <term id='t'>virus</term>, <term>RNA</term>; H<sub>2</sub>O (ang. <foreign xml:lang='en'>"
        "<term>drive</term></foreign>) and<space/>more.<footnote>Not here.</footnote> A<newline/>B "
        "<code display='inline'>x</code> <link url='https://example.org'>site</link>.</para>"
    )
    assert texts(article) == ["The virus, RNA; H2O (ang. drive) and more. A B x site."]


def test_a_block_inside_a_paragraph_stands_after_it(read: Reader) -> None:
    article = read(
        "<para>Before <list><item>one</item></list> after <list display='inline'>"
        "<item>two</item></list>.</para>"
    )
    assert texts(article) == ["Before after two.", "one"]


def test_formulas_in_text_are_kept_and_displayed_ones_left_out(read: Reader) -> None:
    math = "<m:math><m:mi>x</m:mi><m:mo>=</m:mo><m:mn>2</m:mn></m:math>"
    article = read(
        f"<para>Where {math} holds, <equation>{math}</equation> too.</para><equation>{math}</equation>"
    )
    assert texts(article) == ["Where x = 2 holds, x = 2 too."]


def test_tables_and_questions_are_left_out_and_said(read: Reader) -> None:
    article = read(
        "<para>Kept.</para><table id='t'><tgroup><tbody><row>"
        "<entry>cell</entry></row></tbody></tgroup></table>"
        "<note class='x check-your-understanding'><list><item>Why?</item></list></note>"
        "<section class='multiple-choice'><title>Multiple Choice</title><exercise><problem>"
        "<para>Which?</para>"
        "<figure id='q'><media><image src='../../media/q.png'/></media></figure></problem>"
        "<solution><para>B</para></solution></exercise></section>",
        media=("q.png",),
    )
    assert texts(article) == ["Kept."]
    assert article.flags == ("exercises_left_out",)
    assert article.boxes == ()
    # a picture in a question is still a picture of the book, but has no number in the running chapter
    assert [(each.xml_id, each.label, each.graphics[0].name) for each in article.figures] == [
        ("q", "", "q.png")
    ]


def test_the_glossary_is_back_matter_one_passage_a_definition(read: Reader) -> None:
    article = read(
        after="<glossary><definition id='d'><term>prion</term><meaning id='m'>"
        "a protein that folds <term>wrong</term>"
        "</meaning></definition><definition><term>viroid</term><meaning>"
        "<para>bare RNA</para></meaning></definition>"
        "</glossary>"
    )
    assert texts(article)[1:] == ["prion: a protein that folds wrong", "viroid: bare RNA"]
    assert [(each.type, each.part) for each in article.sections] == [("glossary", "back")]


def test_empty_links_read_as_the_book_prints_them(read: Reader) -> None:
    article = read(
        "<section id='s'><title>Rhythm</title><para>See <link target-id='f'/>, "
        "<link target-id='f'>above</link>, "
        "<link target-id='t'/> and <link target-id='s'/>.</para></section>"
        "<figure id='f'><media/><caption>C.</caption></figure><table id='t'/>"
    )
    (passage,) = article.passages
    assert passage.text == "See Figure 1.2, above, Table 1.1 and Rhythm."
    assert [(x.ref_type, x.rids, x.document, passage.text[x.start : x.end]) for x in passage.xrefs] == [
        ("fig", ("f",), None, "Figure 1.2"),
        ("fig", ("f",), None, "above"),
        ("table", ("t",), None, "Table 1.1"),
        ("sec", ("s",), None, "Rhythm"),
    ]


def test_links_to_other_modules_name_them(read: Reader) -> None:
    far = module(
        '<figure id="zero"><media/><caption>C.</caption></figure><figure id="far"><media/></figure>',
        title="Far",
    )
    article = read(
        "<para>As in <link document='m7' target-id='far'/> of <link document='m7'/>, "
        "<link document='m8'>Appendix A</link>.</para>",
        others={"m7": far},
        chapters={"One": ("m2",), "Two": ("m7",)},
    )
    (passage,) = article.passages
    assert passage.text == "As in Figure 2.2 of Far, Appendix A."
    assert [(x.ref_type, x.rids, x.document) for x in passage.xrefs] == [
        ("fig", ("far",), "openstax:invented/m7"),
        ("book-part", (), "openstax:invented/m7"),
        ("book-part", (), "openstax:invented/m8"),
    ]
    assert article.flags == ()


def test_links_into_missing_modules_stay_readable(read: Reader) -> None:
    article = read("<para>Shown (<link document='m8' target-id='gone'/>) there.</para>")
    assert texts(article) == ["Shown (Figure) there."]
    assert article.passages[0].xrefs[0].document == "openstax:invented/m8"
    assert article.flags == ("link_unresolved",)


@pytest.mark.parametrize(
    ("case", "written"),
    [
        ("", "Rysunek 1.2"),
        ("locative", "Rysunku 1.2"),
        ("instrumental", "Rysunkiem 1.2"),
        ("odd", "Rysunek 1.2"),
    ],
)
def test_polish_links_follow_their_case(read: Reader, case: str, written: str) -> None:
    article = read(
        f"<para>Na <link target-id='f' cmlnle:case='{case}'/>.</para><figure id='f'><media/></figure>",
        root='xmlns:cmlnle="http://katalysteducation.org/cmlnle/1.0"',
        language="pl",
    )
    assert (article.language, texts(article)) == ("pl", [f"Na {written}."])
    assert article.figures[0].label == "Rysunek 1.2"


def test_the_front_matter_comes_from_module_and_collection(read: Reader) -> None:
    article = read(
        metadata="<md:abstract>You will learn to count.</md:abstract><md:language>es</md:language>"
        "<md:keywordlist><md:keyword>heart</md:keyword></md:keywordlist>"
        "<md:subjectlist><md:subject>Medicine</md:subject></md:subjectlist>"
    )
    assert (article.title, article.journal, article.publisher) == (
        "A Module",
        "Invented Medicine",
        "OpenStax",
    )
    assert (article.article_type, article.language) == ("book-chapter", "es")
    assert article.authors == ("Ada One", "Bo Two")
    assert article.abstracts == ()  # OpenStax keeps learning objectives there
    assert (article.keywords[0].terms, article.subjects) == (("heart",), ("Medicine",))


@pytest.mark.parametrize(
    ("files", "spdx", "disputed"),
    [
        ({}, "CC-BY-4.0", False),
        ({"licence": b"\nAttribution-NonCommercial-ShareAlike 4.0 International\n"}, "CC-BY-NC-SA-4.0", True),
        ({"licence": b"Attribution 4.0 International\n"}, "CC-BY-4.0", False),
        (
            {"readme": b"Licensed under the Creative Commons Attribution-ShareAlike 4.0 licence."},
            "CC-BY-SA-4.0",
            True,
        ),
        ({"readme": b"# A book"}, "CC-BY-4.0", False),
        ({"licence": b"Ask the publisher."}, "LicenseRef-unknown", True),
    ],
)
def test_the_strictest_licence_holds(
    read: Reader, files: dict[str, bytes], spdx: str, disputed: bool
) -> None:
    licence = read(parts=files).licence
    assert (licence.spdx, licence.is_disputed) == (spdx, disputed)
    assert "collection:license" in licence.evidence


def test_a_module_stands_alone_without_its_collection() -> None:
    data = module('<para>See <link target-id="f"/>.</para><figure id="f"><media/></figure>')
    article = parse(data, raw_module())
    assert article.passages[0].text == "See Figure."
    assert (article.language, article.licence.spdx) == ("und", "LicenseRef-unknown")
    assert article.flags == ("number_unknown",)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "xml_invalid"),
        (b"<article/>", "not_an_article"),
        (module("<para> </para>"), "no_body"),
        (
            b"<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>" + module("<para>&x;</para>"),
            "xml_hostile",
        ),
        (b'<!DOCTYPE d [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>' + module("<para>&c;</para>"), "xml_hostile"),
        (module("<section>" * 120 + "<para>x</para>" + "</section>" * 120), "xml_hostile"),
    ],
)
def test_bad_modules_are_refused_with_their_reason(data: bytes, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(data, raw_module(), {"collection": collection({"One": ("m2",)})})
    assert (caught.value.reason, caught.value.record) == (reason, "openstax:invented/m2")


def test_a_damaged_neighbour_costs_its_numbers_only(read: Reader) -> None:
    article = read(
        "<para>See <link target-id='f'/>.</para><figure id='f'><media/></figure>",
        others={"m1": b"<html>no</html>"},
    )
    assert texts(article) == ["See Figure."]
    assert article.figures[0].label == ""
    assert "number_unknown" in article.flags
