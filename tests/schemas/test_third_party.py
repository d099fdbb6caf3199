"""Figures and tables that are not their article's to license, by what is printed below them."""

from __future__ import annotations

import pytest

from schemas.third_party import MAX_STATEMENT, third_party_statement


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("A scan. Reproduced with permission from Ref. 3. Bar.", "Reproduced with permission from Ref. 3."),
        ("Adapted from Smith et al. (2010).", "Adapted from Smith et al. (2010)."),
        ("Adapted from [12]. Patient 3 is marked.", "Adapted from [12]."),
        ("Biopsy (courtesy of Dr. Roe).", "Biopsy (courtesy of Dr. Roe)."),
        ("Plate 2. © Elsevier 2007.", "© Elsevier 2007."),
        ("A map. © 2021 A Mapmaker.", "© 2021 A Mapmaker."),
        ("(c) 2007 Springer. Axial CT.", "(c) 2007 Springer."),
        ("Skull. (credit: modification of work by CDC)", "(credit: modification of work by CDC)"),
        ("Map reprinted by kind permission of the Society.",) * 2,
        ("Ratios (modified from [62]).",) * 2,
        ("A model (taken from Roe, 1994).",) * 2,
        ("A sensor on a chip (Retrieved from [65]).",) * 2,
        (
            "Rates by year. Obtained from https://example.org/rates.",
            "Obtained from https://example.org/rates.",
        ),
        ("Curves. Parts A and B are from Roe et al. (2013).", "Parts A and B are from Roe et al. (2013)."),
        ("Curves. Images from ref. 7.", "Images from ref. 7."),
        ("A knee. Extracted from Mendes (2024, p. 10).", "Extracted from Mendes (2024, p. 10)."),
        ("Her office. ILLUSTRATION: A. NAME", "ILLUSTRATION: A. NAME"),
        ("Slide kindly provided by Dr. Roe.",) * 2,
        ("Adaptado de Silva (2010).",) * 2,
    ],
)
def test_what_comes_from_elsewhere(text: str, statement: str) -> None:
    assert third_party_statement(text) == statement


@pytest.mark.parametrize(
    "text",
    [
        "Axial CT.",
        "Biopsies taken from Patient 2.",
        "Biopsy taken from the left lobe.",
        "Sections taken from three patients.",
        "Samples obtained from the cohort of Roe et al. were stained.",
        "Amylase is given as described by Roe et al. [25] in plasma.",
        "Values differ from [12] by a tenth.",
        "Data from a registry.[1]",
        "Photograph reproduced with the patient's permission.",
        "Photograph published with permission of the patient.",
        "Photograph shown with the permission from his parents.",
        "Axial CT after permission to treat was given by the patient.",
        "(A) CT. (C) Gene expression in the tissue.",
        "(C) Copy number; mice adapted to light.",
        "Image: axial view.",
        "© 2019 The Authors. Published by a press of theirs under a licence.",
        "© 2018 Roe T. This is an open access report under the Creative Commons Licence.",
        "",
    ],
)
def test_what_does_not(text: str) -> None:
    assert third_party_statement(text) == ""


def test_a_sentence_without_end_is_cut() -> None:
    text = "words " * 100 + "reproduced with permission from a press " + "words " * 100
    assert "permission" in third_party_statement(text)
    assert len(third_party_statement(text)) <= MAX_STATEMENT
