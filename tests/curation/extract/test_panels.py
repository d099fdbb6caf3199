from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import subcaptions as bench
from curation.extract.figures import elsewhere, split_label
from curation.extract.panels import find_panels
from schemas.article import Emphasis, Licence
from schemas.hashing import sha256_text
from tests.curation.builders import BY, figure


def panels(caption: str, emphasis: tuple[Emphasis, ...] = ()) -> list[tuple[str, str]]:
    return [(panel.letter, caption[panel.start : panel.end]) for panel in find_panels("f", caption, emphasis)]


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("(A) CT. (B) MRI.", [("A", "(A) CT."), ("B", "(B) MRI.")]),
        ("(a) CT. (b) MRI.", [("A", "(a) CT."), ("B", "(b) MRI.")]),
        ("A, axial CT. B, coronal CT.", [("A", "A, axial CT."), ("B", "B, coronal CT.")]),
        ("A: axial. B: coronal.", [("A", "A: axial."), ("B", "B: coronal.")]),
        ("A. Axial. B. Coronal.", [("A", "A. Axial."), ("B", "B. Coronal.")]),
        ("a) axial b) coronal", [("A", "a) axial"), ("B", "b) coronal")]),
        ("(a, b) axial. (c) coronal", [("A", "(a, b) axial."), ("B", "(a, b) axial."), ("C", "(c) coronal")]),
        ("Scans. (A–C) CT. (D) MRI.", [(letter, "(A–C) CT.") for letter in "ABC"] + [("D", "(D) MRI.")]),
        ("Axial CT (A) and coronal MRI (B).", [("A", "Axial CT (A)"), ("B", "and coronal MRI (B)")]),
        ("Time in arm A (2A) and arm B (2B).", [("A", "Time in arm A (2A)"), ("B", "and arm B (2B)")]),
        (
            "(A) Size. (B) Weight of panel A. (A–B) Data are means, *p < 0.05.",
            [("A", "(A) Size."), ("B", "(B) Weight of panel A.")],
        ),
        (
            "(A) Size. (B) Weight. (A, B) Data are means.",
            [("A", "(A) Size."), ("B", "(B) Weight.")],
        ),
        (
            "(A) Size. (B) Weight at T1 to T3.BMI, Body Mass Index; FE, Fuzzy Entropy.",
            [("A", "(A) Size."), ("B", "(B) Weight at T1 to T3.")],
        ),
        ("Left: before. Right: after.", [("left", "Left: before."), ("right", "Right: after.")]),
        (
            "Upper left, CT. Lower left, MRI.",
            [("upper left", "Upper left, CT."), ("lower left", "Lower left, MRI.")],
        ),
        ("Frontal (a) and lateral (b) radiographs.", [("A", "Frontal (a)"), ("B", "and lateral (b)")]),
        (
            "The left kidney (A) shows cysts; the right kidney (B) is normal.",
            [("A", "The left kidney (A) shows cysts;"), ("B", "the right kidney (B) is normal.")],
        ),
        (
            "Cells of mice (a, c) and men (b, d) at rest.",
            [*zip("ABCD", ("Cells of mice (a, c)", "and men (b, d)") * 2, strict=True)],
        ),
        ("Heart. (a)–(c) CT. (d) MRI.", [(letter, "(a)–(c) CT.") for letter in "ABC"] + [("D", "(d) MRI.")]),
        ("Dual vessel ((a), (b)).", [("A", "Dual vessel ((a), (b))"), ("B", "Dual vessel ((a), (b))")]),
        (
            "Growth of (A) wild type and (B) mutant. Data are means ± SD. *P<0.05.",
            [("A", "(A) wild type and"), ("B", "(B) mutant.")],
        ),
        (
            "(A) Growth. Data are means. (B) Death. Data are medians.",
            [("A", "(A) Growth. Data are means."), ("B", "(B) Death. Data are medians.")],
        ),
        ("(A) CT. (B) MRI. ECA, external carotid artery.", [("A", "(A) CT."), ("B", "(B) MRI.")]),
        (
            "(A) Route: (a) NaOH, (b) HCl, (c) heat. (B) Yield.",
            [("A", "(A) Route: (a) NaOH, (b) HCl, (c) heat."), ("B", "(B) Yield.")],
        ),
        (
            "Speed: (a) rest, b) walk. Strain: (c) run.",
            [("A", "(a) rest,"), ("B", "b) walk."), ("C", "(c) run.")],
        ),
        ("Spectra. (Curve A) basil. (Curve B) lemon.", []),
        ("Part A shows CT. Part B shows MRI.", [("A", "Part A shows CT."), ("B", "Part B shows MRI.")]),
        ("Binding of benzo(A)pyrene to DNA.", []),
        ("Levels of vitamin (B) and (D).", []),
        ("A. Smith took this photograph of the wound.", []),
        ("Chest radiograph showing a nodule.", []),
        ("", []),
    ],
)
def test_panels(caption: str, expected: list[tuple[str, str]]) -> None:
    assert panels(caption) == expected


def test_bold_letters_without_brackets() -> None:
    caption = "A Axial view B Coronal view"
    bold = tuple(Emphasis(start=at, end=at + 1, kind="bold") for at in (0, caption.index("B ")))
    assert [letter for letter, _ in panels(caption)] == []
    assert panels(caption, bold) == [("A", "A Axial view"), ("B", "B Coronal view")]


@given(st.text(alphabet="ABab()–-,.: ;Left right", max_size=60))
def test_spans_lie_in_the_caption_and_letters_are_unique(caption: str) -> None:
    found = find_panels("f", caption)
    assert all(0 <= panel.start <= panel.end <= len(caption) for panel in found)
    assert len({panel.id for panel in found}) == len(found)


def test_the_marks_are_split_by_hash_and_lie_in_order() -> None:
    marks = bench.marks()
    assert len({entry["figure"] for entry in marks}) == len(marks) >= 150
    for entry in marks:
        last = int(sha256_text(entry["figure"].partition("#")[0]), 16) % 2
        assert entry["split"] == ("test" if last else "dev")
        assert [part["letter"] for part in entry["parts"]] == sorted({p["letter"] for p in entry["parts"]})
        assert all(0 <= part["start"] < part["end"] for part in entry["parts"])


@pytest.mark.sibling("test_panels")
def test_sub_captions_of_real_articles_are_as_marked(shared_data: Path) -> None:
    assert bench.score(row[1:] for row in bench.compared(shared_data, "dev"))["f1"] >= 0.95


@pytest.mark.parametrize(
    ("label", "caption", "expected"),
    [
        ("Figure 2.", "Figure 2. Axial CT.", ("Figure 2.", "Axial CT.")),
        ("Fig. 2", "Figure 2: Axial CT.", ("Fig. 2", "Axial CT.")),
        ("", "Fig. 3. Axial CT.", ("Fig. 3", "Axial CT.")),
        ("Figure 2", "Figure 3. Axial CT.", ("Figure 2", "Figure 3. Axial CT.")),
        ("Figure 1", "Figure 10. Axial CT.", ("Figure 1", "Figure 10. Axial CT.")),
        ("Figure 1", "Figure 1 shows the scan.", ("Figure 1", "Figure 1 shows the scan.")),
        ("Figure 1", "Figure 1.2. Axial CT.", ("Figure 1", "Figure 1.2. Axial CT.")),
        ("Figure 1", "Figure 1-3: Axial CT.", ("Figure 1", "Figure 1-3: Axial CT.")),
        ("Figure 1", "Figure 1 (A) Axial CT.", ("Figure 1", "(A) Axial CT.")),
        ("Figure 1", "FIGURE 1 | Axial CT.", ("Figure 1", "Axial CT.")),
        ("Abb. 1", ": Axiales CT.", ("Abb. 1", "Axiales CT.")),
        ("", "– Axial CT.", ("", "– Axial CT.")),
        ("Figure 1", "Axial CT.", ("Figure 1", "Axial CT.")),
    ],
)
def test_label_is_not_part_of_the_caption(label: str, caption: str, expected: tuple[str, str]) -> None:
    own, rest, cut = split_label(label, caption)
    assert (own, rest) == expected
    assert caption[cut:] == rest


def test_third_party() -> None:
    words = "Axial CT. Reproduced with permission from a publisher."
    assert elsewhere(figure(1, "Figure 1"), BY, ("", words)) == words[10:]
    assert elsewhere(figure(1, "Figure 1"), BY, ("", "Axial CT.")) == ""


def test_own_licence_without_derivatives_is_third_party() -> None:
    licence = Licence(spdx="CC-BY-NC-ND-4.0", evidence="jats:fig/permissions")
    assert elsewhere(figure(1, "Figure 1", licence=licence), BY, ()) == "own licence CC-BY-NC-ND-4.0"
