"""Figures of a module: numbers from the chapter, captions, images, subfigures, rights."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from curation.extract.stage import EXTRACT
from schemas.article import Article
from schemas.extracted import Figure
from tests.sources.fakes.openstax import figure, module

Reader = Callable[..., Article]


def labels(article: Article) -> list[tuple[str | None, str]]:
    return [(each.xml_id, each.label) for each in article.figures]


def test_numbers_run_through_the_chapter(read: Reader) -> None:
    before = module(figure("a", kind="splash") + figure("b", kind="unnumbered") + figure("c"))
    article = read(
        figure("d") + figure("e", kind="scaled unnumbered") + "<section>" + figure("f") + "</section>"
        "<figure><media><image src='../../media/x.png'/></media></figure>" + figure("g"),
        others={"m0": module(figure("z")), "m1": before},
        chapters={"One": ("m0",), "Two": ("m1", "m2")},
    )
    # a splash counts, unnumbered ones and those without an id do not
    assert labels(article) == [
        ("d", "Figure 2.3"), ("e", ""), ("f", "Figure 2.4"), (None, ""), ("g", "Figure 2.5"),
    ]  # fmt: skip


def test_after_a_missing_module_no_number_is_guessed(read: Reader) -> None:
    article = read(figure("d"), others={}, chapters={"One": ("m1", "m2")})
    assert labels(article) == [("d", "")]
    assert labels(read(figure("d"), others={}, chapters={"One": ("m2", "m3")})) == [("d", "Figure 1.1")]


def test_questions_of_earlier_modules_do_not_count(read: Reader) -> None:
    asked = f"<section><exercise><problem>{figure('q')}</problem></exercise></section>"
    assert labels(read(figure("d"), others={"m1": module(figure("a") + asked)})) == [("d", "Figure 1.2")]


def test_units_hold_chapters_and_do_not_count(read: Reader) -> None:
    col = (
        b'<col:collection xmlns:col="http://cnx.rice.edu/collxml" xmlns:md="http://cnx.rice.edu/mdml"><metadata/>'
        b'<col:content><col:module document="m0"/><col:subcollection><md:title>Unit</md:title><col:content>'
        b'<col:subcollection><md:title>One</md:title><col:content><col:module document="m1"/></col:content>'
        b"</col:subcollection><col:subcollection><md:title>Two</md:title><col:content>"
        b'<col:module document="m2"/></col:content></col:subcollection></col:content></col:subcollection>'
        b'<col:module document="m5"/></col:content></col:collection>'
    )
    assert labels(read(figure("d"), parts={"collection": col})) == [("d", "Figure 2.1")]
    assert labels(read(figure("d"), parts={"collection": col}, document="m5")) == [("d", "")]


def test_caption_emphasis_links_and_images_are_kept(read: Reader) -> None:
    article = read(
        "<figure id='f'><title>Growth.</title><media alt='x'><image src='../../media//Figure 8.10.png'/>"
        "<image src='../../media/f.pdf' for='pdf'/></media><media><image src='../../media/g.png'/></media>"
        "<caption>Cells of <emphasis effect='italics'>E. coli</emphasis> (see "
        "<link target-id='first' document='m1'/>)"
        ".</caption></figure>",
        media=("Figure 8.10.png", "g.png"),
    )
    (only,) = article.figures
    assert only.caption == "Growth. Cells of E. coli (see Figure 1.1)."
    assert [(only.caption[e.start : e.end], e.kind) for e in only.caption_emphasis] == [("E. coli", "italic")]
    assert [(x.rids, x.document) for x in only.caption_xrefs] == [(("first",), "openstax:invented/m1")]
    assert [graphic.name for graphic in only.graphics] == ["Figure 8.10.png", "g.png"]


def test_subfigures_become_panels_of_one_figure(read: Reader) -> None:
    article = read(
        "<para>See <link target-id='sb'/>.</para><figure id='f' orient='horizontal'>"
        "<subfigure id='sa'><media><image src='../../media/a.png'/></media>"
        "<caption>A chest film.</caption></subfigure>"
        "<subfigure id='sb'><media><image src='../../media/b.png'/></media>"
        "<caption>A scan.</caption></subfigure>"
        "<caption>Two views.</caption></figure>",
        media=("a.png", "b.png"),
    )
    (only,) = article.figures
    assert only.caption == "Two views. (a) A chest film. (b) A scan."
    assert [graphic.name for graphic in only.graphics] == ["a.png", "b.png"]
    assert article.passages[0].text == "See Figure 1.2(b)."
    assert article.passages[0].xrefs[0].rids == ("f",)
    (found,) = (row for row in EXTRACT.process(article) if isinstance(row, Figure))
    assert [panel.letter for panel in found.panels] == ["A", "B"]
    assert [(mention.rule, mention.panels) for mention in found.mentions] == [("xref", ("B",))]


def test_an_image_without_a_figure_around_it_is_kept(read: Reader) -> None:
    article = read(
        "<section><media id='m'><image src='../../media/a.png'/></media></section>", media=("a.png",)
    )
    assert [(each.xml_id, each.label, each.graphics[0].name) for each in article.figures] == [
        ("m", "", "a.png")
    ]


def test_a_film_is_no_graphic(read: Reader) -> None:
    article = read(
        "<figure id='f'><media><iframe src='https://example.org'/></media><caption>C</caption></figure>"
    )
    assert article.figures[0].graphics == ()


@pytest.mark.parametrize(
    "caption",
    [
        "A rash. (credit: modification of work by CDC)",
        "A rash. (credit a: modification of work by NIH;"
        " credit b: modification of work by “Ann”/Wikimedia Commons)",
        "A rash. (credit: Pamela Roberts, University of Nowhere)",
        "A rash. (credit “photo”: modification of work by B; credit top left: modified work by C)",
        "A rash.",
    ],
)
def test_credits_of_open_sources_are_no_third_party_rights(read: Reader, caption: str) -> None:
    assert read(figure("f", caption)).figures[0].rights == ""


@pytest.mark.parametrize(
    ("caption", "rights"),
    [
        ("A rash. (credit: A. Person, used with permission)", "used with permission"),
        ("A rash. (credit: micrograph © 2012 A School)", "© 2012 A School"),
        ("A rash. Reprinted with permission from A Press.", "Reprinted with permission from A Press."),
    ],
)
def test_permissions_and_copyright_are(read: Reader, caption: str, rights: str) -> None:
    found = read(figure("f", caption)).figures[0].rights
    assert rights in found
    assert found in caption
