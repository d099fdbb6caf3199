from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.article import Article
from schemas.hashing import sha256_text

Reader = Callable[..., Article]


def texts(article: Article) -> list[tuple[str, str]]:
    return [(passage.kind, passage.text) for passage in article.passages]


def test_sections_nest_and_number_in_document_order(read: Reader) -> None:
    got = read(
        '<p>Lead.</p><sec id="s1" sec-type="intro"><label>1</label><title>1. Introduction</title><p>One.</p>'
        "<sec><title>Aims<xref ref-type='fn' rid='n'>a</xref></title><p>Two.</p></sec></sec><sec>"
        "<title>3 Tesla MRI</title>"
        "<p>Three.</p></sec>",
        after="<back><ack><p>Thanks.</p></ack><sec><title>Data</title><p>Open.</p></sec><app-group>"
        "<app><title>Forms</title>"
        "<p>Form.</p></app></app-group></back>",
    )
    assert [(s.number, s.parent, s.xml_id, s.type, s.title, s.part) for s in got.sections] == [
        (1, 0, "s1", "intro", "Introduction", "body"),
        (2, 1, None, "", "Aims", "body"),
        (3, 0, None, "", "3 Tesla MRI", "body"),
        (4, 0, None, "", "Data", "back"),
        (5, 0, None, "", "Forms", "back"),
    ]
    assert [(p.text, p.section) for p in got.passages] == [
        ("Lead.", 0), ("One.", 1), ("Two.", 2), ("Three.", 3), ("Open.", 4), ("Form.", 5),
    ]  # fmt: skip
    assert [p.id for p in got.passages] == [f"pmc:PMC123.1#p{n}" for n in range(1, 7)]
    assert got.passages[0].text_sha256 == sha256_text("Lead.")


def test_self_tests_are_left_out_with_their_answers(read: Reader) -> None:
    test = (
        "<question-wrap><question><p>Which node?</p><p><list><list-item><p>sinus</p></list-item></list></p>"
        "<fig id='q'><caption><p>A trace.</p></caption></fig></question><answer><p>The first.</p></answer>"
        "<explanation><p>It leads.</p></explanation></question-wrap>"
    )
    got = read(
        f"<sec><title>Quiz</title><p>Test yourself. {test}</p>{test}<question-wrap-group>"
        f"<question-preamble><p>Read first.</p></question-preamble></question-wrap-group></sec>"
        "<answer-set><answer><p>The second.</p></answer></answer-set>"
    )
    assert texts(got) == [("paragraph", "Test yourself.")]
    assert [figure.caption for figure in got.figures] == ["A trace."] * 2
    assert "exercises_left_out" in got.flags


def test_kinds(read: Reader) -> None:
    got = read(
        "<p>Criteria:<list><list-item><label>(a)</label><p>fever</p><list><list-item><p>night</p>"
        "</list-item></list>"
        "</list-item></list> then treat.</p><disp-quote><p>Said.</p></disp-quote>"
        "<boxed-text><caption><title>Key points</title></caption><p>Box.</p><list><list-item><p>In "
        "box.</p></list-item>"
        "</list></boxed-text><def-list><def-item><term>ECG</term><def><p>heart <xref rid='b1'>"
        "1</xref></p></def></def-item>"
        "</def-list><verse-group><verse-line>line one</verse-line><verse-line>line two</verse-line>"
        "</verse-group>"
        '<p xml:lang="fr">Bonjour.</p>'
    )
    assert texts(got) == [
        ("paragraph", "Criteria: then treat."),
        ("list", "fever"),
        ("list", "night"),
        ("quote", "Said."),
        ("boxed", "Box."),
        ("boxed", "In box."),
        ("list", "ECG: heart 1"),
        ("quote", "line one line two"),
        ("paragraph", "Bonjour."),
    ]
    definition = got.passages[6]
    assert [definition.text[x.start : x.end] for x in definition.xrefs] == ["1"]
    assert [(s.title, s.type) for s in got.sections] == [("Key points", "boxed-text")]
    assert [p.section for p in got.passages[3:6]] == [0, 1, 1]
    assert [p.language for p in got.passages[-2:]] == ["", "fr"]


def test_what_says_again_what_stands_elsewhere_is_left_out(read: Reader) -> None:
    got = read(
        "<def-list><title>Abbreviations</title><def-item><term>ECG</term><def><p>electrocardiogram</p></def>"
        "</def-item></def-list><p>Said once.</p>"
        "<disp-quote content-type='pull-quote'><p>Said once.</p></disp-quote>"
        "<disp-quote content-type='block'><p>She said so.</p></disp-quote>"
    )
    assert texts(got) == [("paragraph", "Said once."), ("quote", "She said so.")]
    assert got.abbreviations == ("ECG = electrocardiogram",)


@pytest.mark.parametrize(
    "outside",
    [
        "<back><ack><p>No.</p></ack></back>",
        "<back><fn-group><fn><p>No.</p></fn></fn-group></back>",
        "<back><ref-list><p>No.</p><ref><note><p>No.</p></note></ref></ref-list></back>",
        "<back><bio><p>No.</p><fig id='b'><graphic xlink:href='author.jpg'/></fig></bio></back>",
        "<back><glossary><p>No.</p></glossary></back>",
        "<back><notes><p>No.</p></notes></back>",
        "<sub-article article-type='reply'><body><p>No.</p><fig id='r'/></body></sub-article>",
        "<response><body><p>No.</p><fig id='r'/></body></response>",
    ],
)
def test_what_is_not_running_text(read: Reader, outside: str) -> None:
    got = read("<p>Yes.</p>", after=outside)
    assert (texts(got), got.figures) == ([("paragraph", "Yes.")], ())


def test_floats_inside_a_paragraph_leave_its_text(read: Reader) -> None:
    got = read(
        "<p>Before<fig id='F1'><label>Figure 1</label><caption><p>A caption.</p></caption></fig> after."
        "<table-wrap><table><tr><td><p>cell</p></td></tr></table><table-wrap-foot><p>foot</p>"
        "</table-wrap-foot></table-wrap>"
        "<disp-formula>E = mc</disp-formula>Where E.<boxed-text><p>Aside.</p></boxed-text>"
        "<supplementary-material><caption><p>Click here.</p></caption></supplementary-material></p>"
    )
    assert texts(got) == [("paragraph", "Before after. E = mc Where E."), ("boxed", "Aside.")]
    assert [(figure.id, figure.passage) for figure in got.figures] == [("pmc:PMC123.1#F1", "pmc:PMC123.1#p1")]


def test_a_paragraph_that_only_holds_a_figure_is_no_passage(read: Reader) -> None:
    got = read("<p><fig id='F1'/></p><p>Text.</p>")
    assert (texts(got), got.figures[0].passage) == ([("paragraph", "Text.")], None)


def test_html_pasted_as_text_is_not_running_text(read: Reader) -> None:
    got = read("<p><![CDATA[<font size='2'><p>Old page</p></font>]]></p><p>Alanine (&lt;b) fell.</p>")
    assert (texts(got), got.flags) == ([("paragraph", "Alanine (<b) fell.")], ("html_as_text",))


def test_unknown_containers_are_read_through(read: Reader) -> None:
    assert texts(read("<publisher-block><p>Kept.</p></publisher-block>")) == [("paragraph", "Kept.")]


FORMULA = "<disp-formula id='E1'><label>(1)</label><tex-math>f = {}</tex-math></disp-formula>"


def test_a_formula_between_paragraphs_belongs_to_the_sentence_around_it(read: Reader) -> None:
    link = "<xref ref-type='bibr' rid='R1'>[1]</xref>"
    got = read(
        f"<sec><title>Methods</title><p>The rate is</p>{FORMULA.format(1)}<p>where f is as in {link}.</p>"
        f"<p>It is also:</p><p>{FORMULA.format(2)}</p>{FORMULA.format(3)}<p>Other words.</p>"
        f"{FORMULA.format(4)}</sec><sec><title>Alone</title>{FORMULA.format(5)}<p>follows nothing.</p></sec>"
    )
    assert [passage.text for passage in got.passages] == [
        "The rate is f = 1 where f is as in [1].",
        "It is also: f = 2 f = 3",
        "Other words.",
        "follows nothing.",
    ]
    first = got.passages[0]
    assert [first.text[xref.start : xref.end] for xref in first.xrefs] == ["[1]"]
    assert first.text_sha256 == sha256_text(first.text)
    assert [passage.id[-2:] for passage in got.passages] == ["p1", "p2", "p3", "p4"]
