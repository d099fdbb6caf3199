from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.extract.neutralise import neutralise, neutralise_caption, restore
from curation.extract.pointers import pointers_in


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("A nodule was seen (Fig. 2A).", "en", "A nodule was seen."),
        ("Both grew (Figs 1 and 2; Table 1) fast.", "en", "Both grew fast."),
        ("It grew (Figures 3(a) and 3(b)), then shrank.", "en", "It grew, then shrank."),
        ("It grew (see also Fig. 2, arrows).", "en", "It grew."),
        (
            "Fig. 2A shows a nodule. Figures 1 and 3 do not.",
            "en",
            "The figure shows a nodule. The figures do not.",
        ),
        ("As shown in Fig. 1 and Fig. 2, it grew.", "en", "As shown in the figures, it grew."),
        ("Lower in PCa (Figure 2A; P=0.002).", "en", "Lower in PCa (P=0.002)."),
        ("It grew (n = 5; Fig. 2).", "en", "It grew (n = 5)."),
        ("In the Fig. 2 it grew.", "en", "In the figure it grew."),
        ("Table 1 and Supplementary Table S2 list them.", "en", "The tables list them."),
        ("One (text (Fig. 2) more) two.", "en", "One (text more) two."),
        ("En la Figura 2 se observa.", "es", "En la figura se observa."),
        ("Como mostra a Figura 2.", "pt", "Como mostra a figura."),
        ("Abbildung 2 zeigt es.", "de", "Die Abbildung zeigt es."),
        ("La lésion (Fig. 2) est visible.", "fr", "La lésion est visible."),
        ("如图1所示", "zh", "如图所示"),
        ("No pointer here.", "en", "No pointer here."),
    ],
)
def test_neutralise(text: str, language: str, expected: str) -> None:
    released, transforms = neutralise_caption(text, language)
    assert released == expected
    assert restore(released, transforms) == text
    assert all(released[change.start : change.end] != change.original for change in transforms)


PIECES = st.sampled_from(
    ["Fig. 2", "Figs 1A–C and 2", "Table 1", "(", ")", "[", "]", "; ", ", ", " and ", ". ", "The scan ",
     "see ", "S1 Fig", "grew", " ", "（", "）", "图3", "\n", "Supplementary Figure 4", "the "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=16), st.sampled_from(["en", "es", "de", "zh", "und", "ko"]))
def test_changes_replay_and_hide_every_number(pieces: list[str], language: str) -> None:
    text = "".join(pieces)
    released, transforms = neutralise_caption(text, language)
    assert restore(released, transforms) == text
    assert not [
        found for found in pointers_in(released) if any(item.number.isdigit() for item in found.items)
    ]


@given(st.text(max_size=80), st.lists(st.integers(0, 80), max_size=8))
def test_any_spans_replay(text: str, cuts: list[int]) -> None:
    edges = sorted({min(cut, len(text)) for cut in cuts})
    spans = list(zip(edges[::2], edges[1::2], strict=False))
    released, transforms = neutralise(text, spans, "en")
    assert restore(released, transforms) == text
