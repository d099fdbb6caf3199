from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.article import Article, ArticleFigure, Translated

Reader = Callable[..., Article]
G = '<graphic xlink:href="{}"/>'


def hrefs(figure: ArticleFigure) -> list[str]:
    return [graphic.href for graphic in figure.graphics]


def test_one_figure_with_everything(read: Reader) -> None:
    got = read(
        '<sec><title>Case</title><fig id="F1" fig-type="photo"><object-id>x</object-id><label>Figure '
        "1.</label><caption>"
        "<title>Skin.</title><p>(<bold>A</bold>) Plaque, see <xref ref-type='table' rid='T1'>Table "
        "1</xref>.</p></caption>"
        "<alt-text>no</alt-text><graphic xlink:href='f1'/><p>Arrow: edge.</p><attrib>Notes: "
        "none.</attrib></fig></sec>",
        media=("f1.jpg", "other.jpg"),
    )
    (figure,) = got.figures
    assert (figure.id, figure.number, figure.xml_id, figure.label) == (
        "pmc:PMC123.1#F1",
        1,
        "F1",
        "Figure 1.",
    )
    assert (figure.type, figure.section, figure.part, figure.rights) == ("photo", 1, "body", "")
    assert figure.caption == "Skin. (A) Plaque, see Table 1. Arrow: edge. Notes: none."
    assert [figure.caption[e.start : e.end] for e in figure.caption_emphasis] == ["A"]
    assert [figure.caption[x.start : x.end] for x in figure.caption_xrefs] == ["Table 1"]
    (graphic,) = figure.graphics
    assert (graphic.href, graphic.name, graphic.path, graphic.problem) == ("f1", "f1.jpg", "x/f1.jpg", "")


def test_missing_id_label_caption_and_graphic(read: Reader) -> None:
    got = read('<fig/><fig id="p3"/><fig id="F"/><fig id="F"/><fig id="bad id"/>')
    assert [figure.id.partition("#")[2] for figure in got.figures] == ["fig1", "fig2", "F", "fig4", "fig5"]
    assert {(f.label, f.caption, f.graphics) for f in got.figures} == {("", "", ())}


def test_several_graphics_are_kept_in_order(read: Reader) -> None:
    got = read(
        f"<fig>{G.format('m-g002a')}{G.format('m-g002b')}<p>{G.format('m-g002c')}</p></fig>",
        media=("m-g002b.png",),
    )
    assert [(g.href, g.name, g.problem) for g in got.figures[0].graphics] == [
        ("m-g002a", None, "image_missing"),
        ("m-g002b", "m-g002b.png", ""),
        ("m-g002c", None, "image_missing"),
    ]


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (
            '<alternatives><graphic specific-use="print-only" xlink:href="PB"/>'
            '<graphic specific-use="web-only" xlink:href="OC"/></alternatives>',
            ["OC"],
        ),
        (
            "<alternatives><graphic xlink:href='a.tif'/><graphic xlink:href='a.jpg'/></alternatives>",
            ["a.jpg"],
        ),
        ('<graphic xlink:href="big"/><graphic specific-use="thumbnail" xlink:href="small"/>', ["big"]),
        ('<graphic content-type="print" xlink:href="only"/>', ["only"]),
        ("<alternatives/>", []),
        ('<media xlink:href="v.mp4"/>', []),
        ('<graphic xlink:href="a"/><graphic xlink:href="a"/>', ["a"]),
    ],
)
def test_which_graphics_are_shown(read: Reader, inner: str, expected: list[str]) -> None:
    assert hrefs(read(f"<fig>{inner}</fig>").figures[0]) == expected


def test_groups_and_child_figures(read: Reader) -> None:
    got = read(
        '<fig-group id="g1"><label>Figure 2</label><caption><p>Both eyes.</p></caption><fig id="a">'
        "<label>(a)</label>"
        f'{G.format("a")}</fig><fig id="b"><label>(b)</label>{G.format("b")}</fig></fig-group>'
        '<fig-group><fig id="e1"><label>Figure 3.</label></fig><fig id="e1s1" specific-use="child-fig"/>'
        '<fig id="e1s2"><label>Figure 3—figure supplement 2.</label></fig></fig-group>'
        '<fig id="n1"><caption><p>Main.</p></caption><p><fig id="n1s1"><caption><p>Child.</p>'
        "</caption></fig></p></fig>"
    )
    by_id = {figure.xml_id: figure for figure in got.figures}
    assert list(by_id) == ["a", "b", "e1", "e1s1", "e1s2", "n1", "n1s1"]
    assert [figure.number for figure in got.figures] == list(range(1, 8))
    assert (by_id["a"].group, by_id["b"].group_caption) == ("g1", "Figure 2 Both eyes.")
    parents = {key: figure.parent for key, figure in by_id.items() if figure.parent}
    assert parents == {
        "e1s1": "pmc:PMC123.1#e1",
        "e1s2": "pmc:PMC123.1#e1",
        "n1s1": "pmc:PMC123.1#n1",
    }
    assert (by_id["n1"].caption, by_id["n1s1"].caption) == ("Main.", "Child.")


@pytest.mark.parametrize("name", ["fig-group", "figgrp"])
def test_a_group_in_two_languages_is_one_figure(read: Reader, name: str) -> None:
    got = read(
        f'<{name} id="f1"><fig xml:lang="pt"><label>Figura 1</label><caption><p>Mapa.</p></caption></fig>'
        f'<fig xml:lang="en"><label>Figure 1</label><caption><p>Map.</p></caption>'
        f'{G.format("m")}</fig></{name}><fig id="F2"/>',
        attributes='xml:lang="pt"',
    )
    first, second = got.figures
    assert (first.label, first.caption, hrefs(first)) == ("Figura 1", "Mapa.", ["m"])
    assert first.translations == (Translated(language="en", text="Map."),)
    assert (second.xml_id, second.number) == ("F2", 2)


def test_a_group_with_one_shared_graphic(read: Reader) -> None:
    got = read(f"<fig-group><fig id='a'/><fig id='b'/>{G.format('whole')}</fig-group>")
    assert [hrefs(figure) for figure in got.figures] == [["whole"], []]


def test_floats_group_and_appendix(read: Reader) -> None:
    got = read(
        "<p>See.</p><fig id='F1'/>",
        after="<floats-group><fig id='F2'/><table-wrap><table><tr><td><fig id='T'/></td></tr></table>"
        "</table-wrap>"
        "</floats-group><back><app-group><app><title>A</title><fig id='A1'/></app></app-group></back>",
    )
    assert [(f.xml_id, f.part, f.section) for f in got.figures] == [
        ("F1", "body", 0),
        ("F2", "floats", 0),
        ("T", "floats", 0),
        ("A1", "back", 1),
    ]


def test_images_that_are_no_figures(read: Reader) -> None:
    got = read(
        f"<p>x <inline-graphic xlink:href='i'/> <disp-formula>{G.format('e')}</disp-formula></p>"
        f"<boxed-text content-type='graphic'>{G.format('b')}</boxed-text><table-wrap>"
        f"{G.format('t')}</table-wrap>"
        f"<supplementary-material id='s'>{G.format('s')}<fig id='S1'>{G.format('s1')}</fig>"
        f"</supplementary-material>"
        "<media xlink:href='v.mp4'/>"
    )
    assert got.figures == ()


def test_translations_fold_into_the_main_figures(read: Reader) -> None:
    sub = (
        '<sub-article article-type="translation" xml:lang="en"><front-stub><title-group>'
        "<article-title>Gout</article-title>"
        "</title-group><abstract><p>Short.</p></abstract><kwd-group><kwd>Gout</kwd></kwd-group>"
        "</front-stub><body>"
        f'<fig id="x1"><label>Figure 1</label><caption><p>By file.</p></caption>'
        f"{G.format('path/G1.JPG')}</fig>"
        '<fig id="f2"><label>Figure 2</label><caption><p>By id.</p></caption></fig>'
        '<fig id="x3"><label>Figure 3</label><caption><p>By label.</p></caption></fig>'
        '<fig id="x9"><label>Figure 9</label><caption><p>Nowhere.</p></caption></fig><p>Not main '
        "text.</p></body></sub-article>"
    )
    got = read(
        f'<p>Corpo.</p><fig id="f1"><label>Figura 1</label>{G.format("g1.jpg")}</fig><fig id="f2">'
        f"<label>Figura 2</label></fig>"
        '<fig id="f3"><label>Figura 3</label></fig>',
        after=sub,
        attributes='xml:lang="pt"',
    )
    assert [[t.text for t in figure.translations] for figure in got.figures] == [
        ["By file."],
        ["By id."],
        ["By label."],
    ]
    assert {t.language for figure in got.figures for t in figure.translations} == {"en"}
    assert got.flags == ("translated_figure_unmatched",)
    assert got.translated_titles == (Translated(language="en", text="Gout"),)
    assert [(a.language, a.text) for a in got.abstracts] == [("en", "Short.")]
    assert [(k.language, k.terms) for k in got.keywords] == [("en", ("Gout",))]
    assert [p.text for p in got.passages] == ["Corpo."]


def test_captions_in_two_languages_inside_one_figure(read: Reader) -> None:
    got = read(
        '<fig><caption xml:lang="es"><p>Uno.</p></caption><caption xml:lang="en"><p>One.</p></caption></fig>'
    )
    assert got.figures[0].caption == "One."
    assert got.figures[0].translations == (Translated(language="es", text="Uno."),)


def test_a_third_party_statement_is_kept_as_rights(read: Reader) -> None:
    got = read("<fig><caption><p>A scan. Adapted from Smith et al. (2010). Bar.</p></caption></fig>")
    assert got.figures[0].rights == "Adapted from Smith et al. (2010)."


@pytest.mark.parametrize("is_synthetic", [True, False])
def test_marks_of_synthetic_media_reach_the_graphic(read: Reader, is_synthetic: bool) -> None:
    got = read(f"<fig>{G.format('a')}</fig>", media=("a.jpg",), are_media_synthetic=is_synthetic)
    assert got.figures[0].graphics[0].is_synthetic is is_synthetic
