from __future__ import annotations

import re
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sources.jats.nodes import Element
from sources.jats.text import caption_text, flatten, running_text, title_text

MML = 'xmlns:mml="http://www.w3.org/1998/Math/MathML"'


def node(inner: str) -> Element:
    return etree.fromstring(f"<p {MML}>{inner}</p>")


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("CO<sub>2</sub> and <italic>E.</italic> <bold>coli</bold>s", "CO2 and E. colis"),
        ("10<sup>3</sup>\u2009\u00b5l,\u00a0then\n\t rest", "10³ \u00b5l, then rest"),
        (
            "10<sup>−6</sup> M Ca<sup>2+</sup> &#967;<sup>2</sup>",
            "10\u207b\u2076 M Ca\u00b2\u207a \u03c7\u00b2",
        ),
        ("<sup>18</sup>F-FDG, [<sup>18</sup>F], 99<sup>m</sup>Tc", "18F-FDG, [18F], 99mTc"),
        (
            "1<sup>st</sup>, N<sup>o</sup>, x<sup>a</sup>, P<sup>*</sup>, 5<sup>′</sup>",
            "1st, Nº, x^a, P*, 5\u2032",
        ),
        (
            "R<sup>2.5</sup>, e<sup>−kt</sup>, Apoe<sup>−/−</sup>",
            "R^2.5, e^\u2212kt, Apoe\u2212/\u2212",
        ),
        ("known.<sup>3,4</sup> Then", "known.³,⁴ Then"),
        ('known<xref ref-type="bibr"><sup>3</sup></xref><sup>,14,</sup><sup>a</sup> and', "known³,¹⁴,^a and"),
        (
            "<sup>a</sup>Median 44Gy<sup>ab</sup>, (<sup>b</sup>p 9 (22)<sup>c</sup>, Lyse<sup>TM</sup>",
            "a Median 44Gy^ab, (b p 9 (22)^c, Lyse™",
        ),
        (
            "37<sup>o</sup>C, 5 <sup>0</sup>C, 2<sup>0</sup>Cells, <sup>18</sup>F",
            "37°C, 5 °C, 2⁰Cells, 18F",
        ),
        ("is <inline-formula><inline-graphic/></inline-formula>.", "is [formula]."),
        ("is <inline-formula>x<inline-graphic/></inline-formula>.", "is x."),
        ("(<bold>A</bold>)<italic> x</italic>y", "(A) xy"),
        ("one<break/>two", "one two"),
        ("a<fn><p>note</p></fn>b<inline-graphic/>c", "abc"),
        ("before <fig><label>F</label></fig> after", "before after"),
        ("before<table-wrap/>after", "before after"),
        ("see <styled-content style='x'>red</styled-content>.", "see red."),
        ("<named-content>BRCA<sc>1</sc></named-content>", "BRCA1"),
    ],
)
def test_inline_markup_adds_and_removes_no_space(inner: str, text: str) -> None:
    assert running_text(node(inner)).text == text


def test_tails_are_read_once() -> None:
    inner = (
        "one <italic>two</italic> three <xref rid='a'>four</xref> five <bold>six <italic>"
        "seven</italic> eight</bold> nine"
    )
    assert running_text(node(inner)).text == "one two three four five six seven eight nine"


def test_a_paragraph_that_begins_with_inline_markup_is_read_whole() -> None:
    assert (
        running_text(node("<bold>Case 1.</bold> A man. <italic>Then</italic> more.")).text
        == "Case 1. A man. Then more."
    )


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("<mml:math><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math>", "x^2"),
        ("<mml:math><mml:mover><mml:mi>V</mml:mi><mml:mo>˙</mml:mo></mml:mover></mml:math>", "V\u0307"),
        ("<mml:math><mml:mover><mml:mi>c</mml:mi><mml:mo>^</mml:mo></mml:mover></mml:math>", "ĉ"),
        ("<mml:math><mml:mover><mml:mi>k</mml:mi><mml:mi>n</mml:mi></mml:mover></mml:math>", "k^n"),
        (
            "<mml:math><mml:mfrac><mml:mrow><mml:mi>a</mml:mi><mml:mo>+</mml:mo><mml:mi>b</mml:mi></mml:mrow>"
            "<mml:mn>2</mml:mn></mml:mfrac></mml:math>",
            "(a + b)/2",
        ),
        (
            "<alternatives><tex-math>"
            "\\documentclass{minimal}\\begin{document}$$\\beta$$\\end{document}</tex-math>"
            "<mml:math><mml:mi>β</mml:mi></mml:math></alternatives>",
            "β",
        ),
        (
            "<tex-math>\\documentclass[12pt]{minimal}\\usepackage{x}\\begin{document}$$\\mathrm{p} "
            "&lt; 0.05$$\\end{document}</tex-math>",
            "p < 0.05",
        ),
        ("<italic>r</italic> = 2", "r = 2"),
        ("<alternatives><inline-graphic/><textual-form>kappa</textual-form></alternatives>", "kappa"),
    ],
)
def test_formulas_are_one_readable_line(inner: str, text: str) -> None:
    flow = running_text(node(f"so <inline-formula>{inner}</inline-formula>, hence"))
    assert flow.text == f"so {text}, hence"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("household@42@, oil.@2@,@3@, @4@–@6@ Then", "household⁴², oil.²,³, ⁴–⁶ Then"),
        ("malaria@5@@6@@7@ makes", "malaria⁵ ⁶ ⁷ makes"),
        ("CD11b<sup>+</sup>.@15@ Cells", "CD11b⁺.¹⁵ Cells"),
        ("(30 %)@29@. In cohorts,@42 43@ as", "(30 %)²⁹. In cohorts,⁴² ⁴³ as"),
        ("seen [@1@,@2@] (@3@–@5@) by Wu @8@", "seen [1,2] (3–5) by Wu ⁸"),
        (
            "by Roe @59@ (EEG) @3@, @4@, MRI @7@; in 2001.@15@ The",
            "by Roe ⁵⁹ (EEG) ³, ⁴, MRI ⁷; in 2001.¹⁵ The",
        ),
        (
            "see reference @15@ (and @16@, of 2001;@17@), no. @18@",
            "see reference 15 (and 16, of 2001;17), no. 18",
        ),
        ("in ref.@4@, of CD@4@8 cells, @2013@; Li@2013@", "in ref.4, of CD48 cells, 2013; Li2013"),
        ("known<sup>@3@,@4@</sup>", "known³,⁴"),
        ("known)),@3@))", "known)),3))"),
        ("seen.[@1@@4@] Later [@5@@6@-@8@] too", "seen.[1,4] Later [5,6-8] too"),
        ("seen<sup>[@1@@4@]</sup>, known<sup>@2@@3@</sup>", "seen[1,4], known²,³"),
    ],
)
def test_flat_numbers_of_references_behind_a_word_are_raised(inner: str, text: str) -> None:
    marked = re.sub(r"@([^@]+)@", r"<xref ref-type='bibr' rid='R'>\1</xref>", inner)
    assert running_text(node(marked.replace("bibr", "ref"))).text == text
    flow = running_text(node(marked))
    assert flow.text == text
    cited = re.findall(r"@([^@]+)@", inner)
    raised = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    assert [flow.text[xref.start : xref.end].translate(raised) for xref in flow.xrefs()] == cited


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("in ages 31<sup>-</sup>32 of Cl<sup>-</sup>", "in ages 31-32 of Cl⁻"),
        ("<sup><xref ref-type='bibr' rid='R'>8</xref></sup>One man, <sup>18</sup>F", "⁸ One man, 18F"),
        ("die.<xref ref-type='bibr' rid='R'><sup>4 5</sup></xref> Men", "die.⁴ ⁵ Men"),
        ("men<sup>a </sup>and <sup>b</sup>women", "men^a and b women"),
    ],
)
def test_what_is_raised_keeps_its_place_and_the_space_beside_it(inner: str, text: str) -> None:
    assert running_text(node(inner)).text == text


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (
            "cost<sup>\n<xref ref-type='bibr'>1</xref>,\n <xref ref-type='bibr'>2</xref>\n</sup>. The",
            "cost¹,². The",
        ),
        (
            "<named-content>\n<italic>E. coli</italic>\n</named-content>, (<xref>\n<bold>T1</bold>\n</xref>)",
            "E. coli, (T1)",
        ),
        ("<italic>I</italic>\n<sup>2</sup> and <italic>V</italic>\n<sub>max</sub>", "I² and Vmax"),
        (
            "10<sup>\n  9\n</sup>/L, seen<sup>\n (\n<xref ref-type='bibr' rid='R'>15</xref>\n )\n</sup>",
            "10⁹/L, seen⁽¹⁵⁾",
        ),
        (
            "Fig. <xref>2</xref>\n<bold>, left)</bold> of <italic>a</italic>\n<bold>b</bold>",
            "Fig. 2, left) of a b",
        ),
        (
            "P <italic>=</italic>\n<bold>.05</bold> (<italic>Wu</italic>\n<xref>2005</xref>)",
            "P = .05 (Wu 2005)",
        ),
        ("of <italic>\n<sub>k</sub>\n</italic>são, <italic>\n<sub>k</sub>\n</italic>, e", "of k são, k, e"),
        ("line\nbreaks in\n<italic>text\n</italic>are spaces", "line breaks in text are spaces"),
    ],
)
def test_line_breaks_of_the_layout_are_no_spaces(inner: str, text: str) -> None:
    assert running_text(node(inner)).text == text


def test_one_hyphen_and_nothing_that_cannot_be_seen() -> None:
    read = running_text(node("PD\u20101, TGF\u2011β, soft\u00adware, a\u200bb\ufeff, 1\u20132 \u2212 3"))
    assert read.text == "PD-1, TGF-β, software, ab, 1\u20132 \u2212 3"
    assert flatten(node("meta\u2010analysis")) == "meta-analysis"


def test_nested_floats_wait_in_document_order() -> None:
    flow = running_text(node("a <list><list-item/></list> b <fig/> c <boxed-text/>"))
    assert (flow.text, [element.tag for element in flow.floats]) == ("a b c", ["list", "fig", "boxed-text"])


def test_references_keep_exact_offsets() -> None:
    flow = running_text(
        node(
            "See <xref ref-type='fig' rid='F1 F2'> Figs.\n 1, 2</xref>b and <sup><xref "
            "ref-type='bibr' rid='B1'>3</xref></sup>,"
            " <xref ref-type='fig' rid='F3'/>–<xref ref-type='fig' rid='F4'>4</xref> <xref "
            "ref-type='fig' rid='F5'/>"
        )
    )
    assert flow.text == "See Figs. 1, 2b and ³, –4"
    spans = [(xref.start, xref.end, flow.text[xref.start : xref.end], xref.rids) for xref in flow.xrefs()]
    assert spans == [
        (4, 14, "Figs. 1, 2", ("F1", "F2")),
        (20, 21, "³", ("B1",)),
        (23, 23, "", ("F3",)),
        (24, 25, "4", ("F4",)),
        (25, 25, "", ("F5",)),
    ]


def test_captions_keep_markup_and_join_blocks_by_one_space() -> None:
    parts = list(
        node(
            "<caption><title>Chest film.</title><p>(<bold>A</bold>) PA <italic>view</italic>.</p><p>Points:"
            "<list><list-item><label>1.</label><p>one</p></list-item><list-item><p>two</p>"
            "</list-item></list></p>"
            "<p><media href='v.mp4'/>End.</p></caption><attrib>Notes: none</attrib>"
        )
    )
    flow = caption_text(parts)
    assert flow.text == "Chest film. (A) PA view. Points: one two. End. Notes: none"
    marks = [(flow.text[mark.start : mark.end], mark.kind) for mark in flow.emphasis()]
    assert marks == [("A", "bold"), ("view", "italic")]


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (
            "<caption><title>Flow of it (n = 3)</title><p>MRI was read.</p></caption>",
            "Flow of it (n = 3). MRI was read.",
        ),
        ("<caption><title>Flow</title></caption><attrib>Source: us</attrib>", "Flow. Source: us"),
        (
            "<caption><p>Flow of</p><p>the trial,</p><p>Part 1:</p><p>MRI</p></caption>",
            "Flow of the trial, Part 1: MRI",
        ),
        ("<caption><title>Flow</title><p><bold> </bold></p><p>(a) left</p></caption>", "Flow (a) left"),
    ],
)
def test_a_block_of_a_caption_ends_where_the_next_begins_a_sentence(inner: str, text: str) -> None:
    assert caption_text(node(inner)).text == text
    assert flatten(node("<td><p>Flow</p><p>MRI</p></td>")[0]) == "Flow MRI", "in captions alone"


def test_titles_lose_their_reference_marks() -> None:
    assert title_text(node("A <italic>title</italic><xref ref-type='fn'>*</xref>")) == "A title"
    assert flatten(None) == title_text(None) == ""


WORDS = st.text(alphabet=" \t\n\u00a0\u2009abcé𝛼(.)–", max_size=8)
LEAVES = WORDS.map(escape)
INLINE = st.recursive(
    LEAVES,
    lambda inner: st.tuples(
        st.sampled_from(["italic", "bold", "sup", "named-content", "xref"]), st.lists(inner, max_size=3)
    ).map(lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0]}>"),
    max_leaves=12,
)


def flat(text: str) -> str:
    """As if nothing were raised."""
    lowered = text.translate({ord("⁻"): "–", ord("⁽"): "(", ord("⁾"): ")", ord("^"): None})
    return "".join(lowered.split())


@given(st.lists(INLINE, max_size=8).map("".join))
def test_offsets_re_extract_whatever_the_nesting(inner: str) -> None:
    element = node(inner)
    flow = running_text(element)
    plain = "".join(str(part) for part in element.itertext())
    assert flat(flow.text) == "".join(plain.split()) and "  " not in flow.text
    expected = sorted(
        "".join("".join(str(part) for part in xref.itertext()).split()) for xref in element.iter("xref")
    )
    assert sorted(flat(flow.text[xref.start : xref.end]) for xref in flow.xrefs()) == expected
    caption = caption_text([element])
    for mark in caption.emphasis():
        assert 0 <= mark.start < mark.end <= len(caption.text)
        assert not caption.text[mark.start].isspace() and not caption.text[mark.end - 1].isspace()


RAISED_IN_CAPTIONS = [
    (
        "<italic>Abc1</italic>\n<sup>\n<italic>fl/fl</italic>\n</sup> mice",
        "Abc1^fl/fl mice",
        ["Abc1", "^fl/fl"],
    ),
    ("<italic>Abc1</italic><sup><italic>fl/fl</italic></sup>", "Abc1^fl/fl", ["Abc1", "^fl/fl"]),
    ("CD4<sup><bold>+</bold></sup> and Nab<sup><bold>TM</bold></sup>", "CD4⁺ and Nab™", ["⁺", "™"]),
]


@pytest.mark.parametrize(("inner", "text", "marked"), RAISED_IN_CAPTIONS)
def test_what_is_raised_is_so_in_captions_as_in_paragraphs(inner: str, text: str, marked: list[str]) -> None:
    assert running_text(node(inner)).text == text
    flow = caption_text([node(inner)])
    assert flow.text == text
    inside = {text[part.start : part.end].lstrip("^") for part in flow.emphasis()}
    assert inside == {part.lstrip("^") for part in marked}


def test_a_reference_without_text_may_begin_a_paragraph() -> None:
    assert (
        running_text(node("<xref ref-type='bibr' rid='E'/><xref ref-type='bibr' rid='R'>1</xref> seen")).text
        == "1 seen"
    )


LINK = "<xref ref-type='bibr' rid='R'>{}</xref>"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (f"seen<sup>({LINK.format(1)}, {LINK.format(24)})</sup>.", "seen⁽¹, ²⁴⁾."),
        (f"seen<sup>({LINK.format(25)})</sup>.", "seen⁽²⁵⁾."),
        ("seen<sup>(3,6)</sup>.", "seen⁽³,⁶⁾."),
        (f"seen <sup>( {LINK.format(7)} )</sup>.", "seen ⁽⁷⁾."),
        (f"seen<sup>[{LINK.format(1)},{LINK.format(2)}]</sup>, <sup>[3]</sup>", "seen[1,2], [3]"),
        ("seen <sup>(<xref ref-type='fig' rid='F'>Figure 1</xref>)</sup>.", "seen (Figure 1)."),
        (
            "tumour.<xref ref-type='bibr' rid='R'>\n<sup>8</sup>\n</xref>\n<sup>,</sup>\n"
            "<xref ref-type='fn' rid='N'>\n<sup>a</sup>\n</xref> They",
            "tumour.⁸,^a They",
        ),
        (
            "of<xref ref-type='bibr' rid='R'><sup>8</sup></xref>\n"
            "<xref ref-type='bibr' rid='S'><sup>9</sup></xref>",
            "of⁸ ⁹",
        ),
    ],
)
def test_raised_references_have_one_style(inner: str, text: str) -> None:
    flow = running_text(node(inner))
    assert flow.text == text
    for xref in flow.xrefs():
        assert text[xref.start : xref.end].strip("⁽⁾ ") == text[xref.start : xref.end]


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("the scanner MagnoScan@1@, which", "the scanner MagnoScan¹, which"),
        ("see note @1@ and table 2@a@", "see note 1 and table 2a"),
    ],
)
def test_the_number_of_a_footnote_is_no_part_of_the_word_before_it(inner: str, text: str) -> None:
    assert (
        running_text(node(re.sub(r"@(\w+)@", r"<xref ref-type='fn' rid='N'>\1</xref>", inner))).text == text
    )


FRACTION = (
    "<mml:math alttext='x'><mml:mi>f</mml:mi><mml:mo>=</mml:mo><mml:mn>2</mml:mn><mml:mo>\u2062</mml:mo>"
    "<mml:mi>g</mml:mi></mml:math>"
)


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (f"is <disp-formula><label>(1)</label>{FRACTION}</disp-formula> where", "is f = 2g where"),
        ("is <disp-formula><label>(1)</label>E = mc</disp-formula> where", "is E = mc where"),
        ("is <disp-formula><graphic/></disp-formula> where", "is [formula] where"),
        ("is <disp-formula>V<graphic/>=<graphic/></disp-formula> where", "is [formula] where"),
        (
            "is <disp-formula-group><disp-formula>a</disp-formula><disp-formula>b</disp-formula>"
            "</disp-formula-group> where",
            "is a; b where",
        ),
    ],
)
def test_a_displayed_formula_is_part_of_its_sentence(inner: str, text: str) -> None:
    assert running_text(node(inner)).text == text
