"""Every mention shape of the reference table, with exact spans."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.extract.stage import extract
from curation.labels.stage import LABELS
from schemas.article import Article, Xref
from schemas.extracted import Figure, Passage
from tests.curation.builders import article, figure, passage

CAPTION = "(A) Computed tomography. (B) Magnetic resonance. (C) Histology. (D) Follow-up."
FIVE = [figure(n, f"Figure {n}.", CAPTION) for n in range(1, 6)]


def mentions(of: Article) -> list[tuple[str, str, str, str]]:
    """(figure, pointer text, panels, rule) in reading order."""
    rows = list(extract(of))
    passages = {row.id: row for row in rows if isinstance(row, Passage)}
    found = []
    for row in rows:
        if isinstance(row, Figure):
            for mention in row.mentions:
                text = passages[mention.passage_id].text
                assert text[mention.start : mention.end] == mention.text
                assert mention.sentence_start <= mention.start <= mention.end <= mention.sentence_end
                key = (mention.passage_id, mention.start, row.number)
                found.append(
                    (key, (row.id.partition("#")[2], mention.text, "".join(mention.panels), mention.rule))
                )
    return [value for _, value in sorted(found)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as seen ([F2|Fig. 2A]).", [("F2", "Fig. 2A", "A", "xref")]),
        (
            "[F2 F3 F4|Figures 2–4] show it.",
            [
                ("F2", "Figures 2–4", "", "xref"),
                ("F3", "Figures 2–4", "", "xref"),
                ("F4", "Figures 2–4", "", "xref"),
            ],
        ),
        (
            "([F1 F3|Figures 1M, 3D–H])",
            [("F1", "Figures 1M, 3D–H", "M", "xref"), ("F3", "Figures 1M, 3D–H", "DEFGH", "xref")],
        ),
        (
            "[F2|Figures 2]–[F4|4] show",
            [
                ("F2", "Figures 2–4", "", "xref"),
                ("F3", "Figures 2–4", "", "range"),
                ("F4", "Figures 2–4", "", "xref"),
            ],
        ),
        ("fell ([F2|Figure 2, P]=0.01)", [("F2", "Figure 2", "", "xref")]),
        ("as [F2|Fig. 3] shows", []),  # link and number disagree
        ("as [F2|Fig. 9] shows", [("F2", "Fig. 9", "", "xref")]),  # no figure bears that number
        (
            "as [F2|Figs. 3 and 4] show",
            [("F3", "Figs. 3 and 4", "", "text"), ("F4", "Figs. 3 and 4", "", "text")],
        ),
        ("see Figs [F4|]–[F5|5] here", [("F4", "Figs –5", "", "xref"), ("F5", "Figs –5", "", "xref")]),
        ("(Fig. [F2|2a]-[F2|d])", [("F2", "Fig. 2a-d", "ABCD", "xref")]),
        ("in [F2|Fig. 2]d we", [("F2", "Fig. 2d", "D", "xref")]),
        ("([F2|Fig. 2]A, [F2|B])", [("F2", "Fig. 2A, B", "AB", "xref")]),
        ("in panel [F1|F] of it", [("F1", "F", "F", "xref")]),
        ("[F2|Fig. 2] (A and C) shows", [("F2", "Fig. 2 (A and C)", "AC", "xref")]),
        (
            "[F1|Figs. 1] and [F3|3] show",
            [("F1", "Figs. 1 and 3", "", "xref"), ("F3", "Figs. 1 and 3", "", "xref")],
        ),
        ("([F1|Fig. 1], [F3|3])", [("F1", "Fig. 1, 3", "", "xref"), ("F3", "Fig. 1, 3", "", "xref")]),
        (
            "[F2|Figures 2–4] show it.",
            [
                ("F2", "Figures 2–4", "", "xref"),
                ("F3", "Figures 2–4", "", "range"),
                ("F4", "Figures 2–4", "", "range"),
            ],
        ),
        (
            "Figs. 1-3 show it.",
            [
                ("F1", "Figs. 1-3", "", "text"),
                ("F2", "Figs. 1-3", "", "text"),
                ("F3", "Figs. 1-3", "", "text"),
            ],
        ),
        ("on Fig. 2B, a patient", [("F2", "Fig. 2B", "B", "text")]),
        ("In Fig. 1, 2 patients had", [("F1", "Fig. 1", "", "text")]),
        ("Fig. 1A, P = 0.03", [("F1", "Fig. 1A", "A", "text")]),
        ("panel A of Fig. 3", [("F3", "panel A of Fig. 3", "A", "text")]),
        ("la Figura 2 muestra", [("F2", "Figura 2", "", "text")]),
        ("siehe Abb. 2a und b.", [("F2", "Abb. 2a und b", "AB", "text")]),
        ("см. рис. 3", [("F3", "рис. 3", "", "text")]),
        ("如图1A所示", [("F1", "图1A", "A", "text")]),
        ("図2に示す", [("F2", "図2", "", "text")]),
        ("(Fig. 2 [F2|▸] a)", [("F2", "Fig. 2 ▸ a", "A", "xref")]),
        ("Supplementary Fig. S2 shows", []),
        ("Supplementary Figure 2 shows", []),
        ("eFigure 2 and S2 Fig show", []),
        ("Additional file 2: Figure 1 shows", []),
        ("Table 2 lists", []),
        ("(Fig. 1, SI) reveals", []),
        ("Fig. 1 in the Supplementary Material shows", []),
        ("([F1|Figure 1(a)]–[F1|1(d)])", [("F1", "Figure 1(a)–1(d)", "ABCD", "xref")]),
        ("([F3|Fig. 3A–M])", [("F3", "Fig. 3A–M", "ABCDEFGHIJKLM", "xref")]),
        ("Fig. 2 of ref. [5] shows", []),
        ("in [12], Fig 3 shows", []),
        ("as in Fig. 3 in Smith et al. (2010)", []),
        ("Figure 9 is not ours", []),
        ("Fig. [R2/bibr|2] is a citation", []),
    ],
)
def test_mention(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert mentions(article([text], FIVE)) == expected


def test_a_link_to_any_float_is_a_pointer() -> None:
    text = "As in Textbox 1, Data Sheet 2 and the Table, but not in the methods."
    linked = {
        "boxed-text": "Textbox 1",
        "supplementary-material": "Data Sheet 2",
        "table": "Table",
        "sec": "methods",
    }
    xrefs = tuple(
        Xref(start=text.index(words), end=text.index(words) + len(words), ref_type=kind, rids=(f"r{kind}",))
        for kind, words in linked.items()
    )
    (row,) = (
        row
        for row in extract(article([replace(passage(1, text), xrefs=xrefs)], []))
        if isinstance(row, Passage)
    )
    assert [text[one.start : one.end] for one in row.pointers] == ["Textbox 1", "Data Sheet 2", "Table"]


def test_range_stays_in_its_label_family() -> None:
    mixed = [
        figure(1, "Figure 1"),
        figure(2, "Scheme 1"),
        figure(3, "Figure S1"),
        figure(4, "Figure 2"),
        figure(5, "Figure 3"),
    ]
    found = mentions(article(["[F1|Figures 1]–[F5|3] show"], mixed))
    assert [(name, rule) for name, _, _, rule in found] == [("F1", "xref"), ("F4", "range"), ("F5", "xref")]


def test_label_that_is_a_range_is_one_figure() -> None:
    plates = [figure(1, "Figures 1–3."), figure(2, "Figures 4–6."), figure(3, "Figures 7–9.")]
    assert mentions(article(["in Figs [F2|4–6] and Figure 8"], plates)) == [
        ("F2", "Figs 4–6", "", "xref"),
        ("F3", "Figure 8", "", "text"),
    ]


def test_sub_figures_with_letters() -> None:
    parts = [figure(1, "Fig. 3a"), figure(2, "Fig. 3b")]
    assert mentions(article(["Fig. 3b shows"], parts)) == [("F2", "Fig. 3b", "", "text")]
    assert [name for name, *_ in mentions(article(["Fig. 3 shows"], parts))] == ["F1", "F2"]


def test_group_letters_take_the_number_of_their_group() -> None:
    parts = [
        figure(n, f"({letter})", group="G1", group_caption="Figure 2 Follow-up")
        for n, letter in ((1, "a"), (2, "b"))
    ]
    assert [name for name, *_ in mentions(article(["Fig. 2b shows"], parts))] == ["F2"]


def test_ambiguous_number_resolves_to_nothing() -> None:
    assert mentions(article(["Fig. 1 shows"], [figure(1, "Figure 1"), figure(2, "Figure 1")])) == []


def test_child_figure_is_not_its_parent() -> None:
    pair = [figure(1, "Figure 2."), figure(2, "Figure 2—figure supplement 1.")]
    found = mentions(article(["Figure 2 and Figure 2—figure supplement 1 show"], pair))
    assert [(name, text) for name, text, *_ in found] == [
        ("F1", "Figure 2"),
        ("F2", "Figure 2—figure supplement 1"),
    ]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("link", ["[F1|Figure 1], ", "[F1|1]; ", "[F1|A], "])
def test_a_passage_of_thousands_of_links_is_read_in_time(link: str) -> None:
    """It took minutes, for every link was compared with every other and its sentence counted each time."""
    made = article([link * 8_000], FIVE)
    rows = list(extract(made))
    found = [row for row in rows if isinstance(row, Figure)]
    assert found[0].mentions
    passages = [row for row in rows if isinstance(row, Passage)]
    assert list(LABELS.process(made, found, passages, [], [], [], **LABELS.params))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "A nodule of 3.5 cm was seen by Dr. Roe (Fig. 2). It grew, cf. Fig. 3, e.g. in width. No pain.",
            "It grew, cf. Fig. 3, e.g. in width.",
        ),
        ("She came. It grew. See Fig. 3. No pain.", "It grew. See Fig. 3."),
        ("It grew after 3 months. (Fig. 3) The pain went.", "It grew after 3 months. (Fig. 3)"),
        ("(Fig. 3) The pain went. She left.", "(Fig. 3) The pain went."),
        ("See Fig. 3. No pain.", "See Fig. 3."),
    ],
)
def test_sentence_of_a_mention(text: str, expected: str) -> None:
    (sentence,) = [
        text[row.mentions[0].sentence_start : row.mentions[0].sentence_end]
        for row in extract(article([text], FIVE))
        if isinstance(row, Figure) and row.number == 3
    ]
    assert sentence == expected


PIECES = st.sampled_from(
    ["Fig. 2", "Figs. ", "[F1|1A]", "[F2|Fig. 2]", "–", ", ", " and ", "(", ")", "[F3|]", "[F1|B]", "3",
     " patients ", "S1 Fig", "a-d", ". The ", "图3", " Table 1", "Supplementary ",
     " of ref. [5]", "[F2 F4|2, 4]", "\u00a0"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14))
def test_any_text_gives_valid_spans(pieces: list[str]) -> None:
    of = article(["x" + "".join(pieces)], FIVE)
    mentions(of)
    for row in extract(of):
        if isinstance(row, Passage):
            last = 0
            for pointer in row.pointers:
                assert last <= pointer.start < pointer.end <= len(row.text)
                last = pointer.end
    assert list(extract(of)) == list(extract(of))
