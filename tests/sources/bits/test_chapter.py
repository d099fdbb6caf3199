"""A chapter's text, figures, boxes and front matter."""

from __future__ import annotations

from collections.abc import Callable

from schemas.article import Article, BookPlace
from sources.bits import parse
from sources.jats import parse as parse_article
from tests.sources.bits.conftest import Reader, raw_chapter
from tests.sources.jats.conftest import raw_article

TITLE = (
    "<title-group><label>Chapter 7.</label><title>Inventol</title><subtitle>A drug</subtitle></title-group>"
)


def test_front_matter_of_a_chapter(read: Reader) -> None:
    article = read(
        meta='<book-part-id book-part-id-type="pmcid">Inventol</book-part-id>'
        '<book-part-id book-part-id-type="art-access-id">NBK77</book-part-id>'
        '<book-part-id book-part-id-type="pmid">123</book-part-id>'
        '<book-part-id book-part-id-type="doi">https://doi.org/10.5555/ABC</book-part-id>'
        "<subj-group><subject>Hepatology</subject></subj-group>"
        + TITLE
        + "<contrib-group><contrib><name><surname>Doe</surname><given-names>Ann</given-names></name>"
        "</contrib>"
        '<contrib contrib-type="editor"><name><surname>Ed</surname></name></contrib></contrib-group>'
        '<pub-history><date date-type="updated"><year>2020</year></date><date date-type="created">'
        "<year>2014</year></date></pub-history><abstract><p>Short.</p></abstract>"
        "<kwd-group><kwd>liver</kwd></kwd-group>"
    )
    assert article.id == "litarch:NBK1/one"
    assert (article.pmcid, article.pmid, article.doi) == (None, "123", "10.5555/abc")
    assert (article.title, article.article_type) == ("Inventol: A drug", "book-chapter")
    assert (article.journal, article.publisher, article.year) == ("Invented Injuries", "Invented Press", 2014)
    assert article.authors == ("Doe Ann",)
    assert article.subjects == ("Hepatology",)
    assert [abstract.text for abstract in article.abstracts] == ["Short."]
    assert article.keywords[0].terms == ("liver",)
    assert article.book == BookPlace(
        book_id="invented",
        title="Invented Injuries",
        chapter="7",
        chapter_title="Inventol: A drug",
        position=3,
    )


def test_what_a_chapter_leaves_out_the_book_tells(read: Reader) -> None:
    article = read(meta="<title-group><title>One</title></title-group>")
    assert article.year == 2012
    contents = (
        b"<book-part-wrapper content-type='toc'><book-meta><book-title>Old Book</book-title><contrib-group>"
        b"<contrib contrib-type='author'><collab>The Panel</collab></contrib></contrib-group><permissions>"
        b"<license><license-p>Creative Commons Attribution 4.0</license-p></license></permissions>"
        b"</book-meta><toc/></book-part-wrapper>"
    )
    text = (
        "<book-part book-part-number='2'><book-part-meta><title-group><title>Two</title></title-group>"
        "</book-part-meta><body><p>Text.</p></body></book-part>"
    )
    old = parse(text.encode(), raw_chapter(), {"contents": contents})
    assert (old.journal, old.authors, old.licence.spdx) == ("Old Book", ("The Panel",), "CC-BY-4.0")
    assert old.book is not None and (old.book.title, old.book.chapter) == ("Old Book", "2")


def test_sections_figures_and_passages_are_those_of_an_article(read: Reader) -> None:
    body = (
        '<sec id="s1"><title>Background</title><p>See <xref ref-type="fig" rid="F1">Figure 1</xref>.</p>'
        '<fig id="F1"><label>Figure 1.</label><caption><p>A <bold>liver</bold>.</p></caption>'
        '<graphic xlink:href="one-f1"/></fig></sec>'
        "<sec><title>CASE REPORT</title><sec><title>Case 1. Injury</title><p>A woman fell ill.</p>"
        "<table-wrap><label>Table</label><table><tr><td>ALT</td></tr></table></table-wrap>"
        "</sec></sec>"
    )
    article = read(body, media=("one-f1.jpg",))
    assert [(section.title, section.parent) for section in article.sections] == [
        ("Background", 0),
        ("CASE REPORT", 0),
        ("Case 1. Injury", 2),
    ]
    assert [passage.text for passage in article.passages] == ["See Figure 1.", "A woman fell ill."]
    assert article.passages[0].xrefs[0].rids == ("F1",)
    figure = article.figures[0]
    assert (figure.id, figure.caption, figure.section) == ("litarch:NBK1/one#F1", "A liver.", 1)
    assert figure.graphics[0].name == "one-f1.jpg"


def test_a_part_inside_a_chapter_is_a_section(read: Reader) -> None:
    article = read(
        "<book-part book-part-type='section'><book-part-meta><title-group><title>Inner</title></title-group>"
        "<abstract><p>Never text.</p></abstract></book-part-meta><body><sec><title>Deep</title><p>One.</p>"
        "</sec></body><back><ref-list><ref><mixed-citation>R</mixed-citation></ref></ref-list></back></book-part>"
        "<toc><toc-entry><title>Never text</title></toc-entry></toc>"
    )
    assert [(section.title, section.parent) for section in article.sections] == [("Inner", 0), ("Deep", 1)]
    assert [(passage.text, passage.section) for passage in article.passages] == [("One.", 2)]


def test_comments_are_no_text(read: Reader) -> None:
    article = read("<p>Before <!-- editor: check dose --> after.<?page 3?></p>")
    assert article.passages[0].text == "Before after."


def test_appendices_and_floats_of_the_wrapper_are_read(read_bytes: Callable[[str], Article]) -> None:
    article = read_bytes(
        "<book-part-wrapper xmlns:xlink='http://www.w3.org/1999/xlink'><book-app><book-part-meta><title-group>"
        "<title>Appendix A</title></title-group></book-part-meta><named-book-part-body><p>Doses.</p>"
        "</named-book-part-body></book-app><floats-group><fig id='F9'><graphic xlink:href='x'/></fig>"
        "</floats-group></book-part-wrapper>"
    )
    assert article.title == "Appendix A"
    assert article.passages[0].text == "Doses."
    assert (article.figures[0].xml_id, article.figures[0].part) == ("F9", "floats")


def _boxed(article: Article) -> list[tuple[int, str, str]]:
    return [(passage.box, passage.kind, passage.text) for passage in article.passages]


BOXES = (
    "<p>Outside.</p>"
    "<boxed-text id='B1' content-type='case-study'><label>Box 1</label><caption><title>A man</title>"
    "</caption><p>In one.</p><boxed-text><label>Box 2</label><p>In two.</p></boxed-text>"
    "<p>In one again.</p></boxed-text>"
    "<p>Outside, with a box in it<boxed-text id='B3'><p>In three.</p></boxed-text></p>"
)


def test_boxes_are_numbered_in_chapters_and_articles_alike(read: Reader) -> None:
    chapter = read(BOXES)
    article = parse_article(
        f"<article><front/><body>{BOXES}</body></article>".encode(), raw_article(id="litarch:NBK1/one")
    )
    assert chapter.boxes == article.boxes
    assert [(box.number, box.xml_id, box.type, box.title, box.continues) for box in chapter.boxes] == [
        (1, "B1", "case-study", "A man", 0),
        (2, None, "", "Box 2", 0),
        (3, "B3", "", "", 0),
    ]
    assert _boxed(chapter) == _boxed(article)
    assert _boxed(chapter) == [
        (0, "paragraph", "Outside."),
        (1, "boxed", "In one."),
        (2, "boxed", "In two."),
        (1, "boxed", "In one again."),
        (0, "paragraph", "Outside, with a box in it"),
        (3, "boxed", "In three."),
    ]


def test_a_synthetic_mark_of_book_or_chapter_counts(read: Reader) -> None:
    mark = (
        "<custom-meta-group><custom-meta><meta-name>synthetic</meta-name><meta-value>yes</meta-value>"
        "</custom-meta></custom-meta-group>"
    )
    assert read(meta=TITLE + mark).is_synthetic
    assert read(permissions=mark).is_synthetic
    assert not read().is_synthetic
