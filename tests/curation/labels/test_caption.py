"""A caption taken apart: what is said beside the figure is left out, and the phrase that names it is told."""

from __future__ import annotations

import pytest

from curation.labels import modality
from curation.labels.caption import clauses, short_forms


def heads(caption: str, starts: tuple[int, ...] = ()) -> list[str]:
    return [clause.text[: clause.head] for clause in clauses(caption, starts)]


@pytest.mark.parametrize(
    ("caption", "head"),
    [
        ("Axial CT of the chest showing a nodule.", "Axial CT"),
        ("A flow chart of the trial.", "A flow chart"),
        ("Number of scans per visit.", "Number"),
        (
            "Coronal and axial views of magnetic resonance images.",
            "Coronal and axial views of magnetic resonance images",
        ),
        ("Chest radiograph and CT scans of a man.", "Chest radiograph and CT scans"),
        ("Computed tomography (CT) image: a cyst.", "Computed tomography (CT) image"),
        ("Minimum, maximum, and average pressure at noon.", "Minimum, maximum, and average pressure"),
        ("After the operation.", ""),
    ],
)
def test_the_first_noun_phrase_names_what_is_shown(caption: str, head: str) -> None:
    assert heads(caption) == [head]


@pytest.mark.parametrize(
    "aside",
    [
        "CT, computed tomography; MRI, magnetic resonance imaging.",
        "CT computed tomography, MRI magnetic resonance imaging.",
        "MRI indicates magnetic resonance imaging.",
        "CsA cyclosporine, PET positron emission tomography.",
        "Abbreviations: PET = positron emission tomography.",
        "*Nine patients had no CT.",
        "Note: CT was done later.",
        "Data are presented as means.",
    ],
)
def test_lists_of_short_forms_and_footnotes_say_nothing(aside: str) -> None:
    assert heads(f"Trial profile. {aside}") == ["Trial profile"]


@pytest.mark.parametrize(
    "caption",
    [
        "CT of the liver with a cyst.",
        "Coronal CT of the liver.",
        "PCR products of liver DNA.",
        "ECG showing sinus rhythm.",
    ],
)
def test_an_image_named_by_a_short_form_is_no_list(caption: str) -> None:
    assert len(clauses(caption)) == 1


def test_clauses_behind_panel_letters_are_told_apart() -> None:
    caption = "Findings. (A) CT of the chest. (B) Survival, p = 0.03."
    made = clauses(caption, (caption.index("CT"), caption.index("Surv")))
    assert [(clause.is_panel, clause.is_statistical) for clause in made] == [
        (False, False),
        (True, False),
        (True, True),
    ]
    assert clauses("", ()) == [] == clauses("(A) ", (4,))


def test_a_short_form_means_what_the_caption_says() -> None:
    assert short_forms("Effect on mitochondrial reducing activity (MRA).") == {
        "MRA": "mitochondrial reducing activity"
    }
    assert short_forms("Pain. PCA, patient-controlled analgesia.")["PCA"] == "patient-controlled analgesia"
    rows = list(modality.labels("f", "a", "Images of donor specific antibodies (DSA) by month."))
    assert {row.value for row in rows} == {""}
    rows = list(modality.labels("f", "a", "Digital subtraction angiography (DSA) of the aorta."))
    assert rows[0].value == "angiography"


@pytest.mark.parametrize(
    ("caption", "values"),
    [
        ("Number of CT scans per visit.", {"chart"}),
        ("CONSORT flow diagram of the trial; MRI was repeated.", {"flowchart"}),
        ("Trial profile. PET-CT was repeated after two cycles.", {"flowchart"}),
        ("Changes of the lesion on MRI.", {"mri"}),
        ("Survival curves. (A) All patients. (B) CT of one patient.", {"survival", "ct"}),
        ("Biopsies and teeth.", {""}),
        ("Growth by month (n = 12, CT).", {"chart"}),
    ],
)
def test_methods_mentioned_beside_what_is_shown_do_not_count(caption: str, values: set[str]) -> None:
    starts = tuple(place + 4 for letter in "AB" if (place := caption.find(f"({letter}) ")) >= 0)
    assert {row.value for row in modality.labels("f", "a", caption, (), (), starts)} == values
