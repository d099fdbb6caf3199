"""Definitions of short forms, what is refused, and where a document uses them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.concepts.abbreviations import DocumentAbbreviations, definitions


def pairs(text: str) -> list[tuple[str, str]]:
    return [(item.short, item.long) for item in definitions(text)]


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("She had chronic kidney disease (CKD) for years.", "CKD", "chronic kidney disease"),
        ("She had in vitro fertilisation (IVF) twice.", "IVF", "in vitro fertilisation"),
        ("By fluorescence in situ hybridization (FISH).", "FISH", "fluorescence in situ hybridization"),
        ("The oestrogen receptor (ER) was found.", "ER", "oestrogen receptor"),
        ("She had CKD (chronic kidney disease) for years.", "CKD", "chronic kidney disease"),
        ("A picture of non-small cell lung cancer [NSCLC] was seen.", "NSCLC", "non-small cell lung cancer"),
        ("Levels of tumor necrosis factor alpha (TNF-α) rose.", "TNF-α", "tumor necrosis factor alpha"),
        ("We did computed tomography scans (CTs) twice.", "CTs", "computed tomography scans"),
        ("Three abdominal aortic aneurysm (AAAs) were repaired.", "AAAs", "abdominal aortic aneurysm"),
        ("An odds ratio (OR 2.1; 95% CI 1.2-3.4) was found.", "OR", "odds ratio"),
        ("An odds ratio (OR = 2.1) was found.", "OR", "odds ratio"),
        ("Acute coronary syndrome (ACS; n = 12) was frequent.", "ACS", "Acute coronary syndrome"),
        ("Acute coronary syndrome (ACS [7]) was frequent.", "ACS", "Acute coronary syndrome"),
        ("Positron emission tomography (“PET”) followed.", "PET", "Positron emission tomography"),
        ("Severe coronavirus disease (COVID-19) was rare.", "COVID-19", "coronavirus disease"),
        ("A 12-lead electrocardiogram (ECG) was taken.", "ECG", "electrocardiogram"),
        ("Cells grew in maintenance medium (MM) at once.", "MM", "maintenance medium"),
        ("Apolipoprotein E (APOE) was typed.", "APOE", "Apolipoprotein E"),
        ("It needs coenzyme A (CoA) to work.", "CoA", "coenzyme A"),
        ("Two-way analysis of variance (ANOVA) was used.", "ANOVA", "analysis of variance"),
        ("An intravenous (IV) line was placed.", "IV", "intravenous"),
        ("Neurofibromatosis type 1 (NF 1) was found.", "NF 1", "Neurofibromatosis type 1"),
        ("Time to next treatment (TTNT) was long.", "TTNT", "Time to next treatment"),
        ("La enfermedad renal crónica (ERC) avanza.", "ERC", "enfermedad renal crónica"),
        ("Ressonância magnética (RM) foi feita.", "RM", "Ressonância magnética"),
        ("The ALT (i.e., alanine aminotransferase) rose.", "ALT", "alanine aminotransferase"),
        ("慢性腎臓病 chronic kidney disease（CKD）である。", "CKD", "chronic kidney disease"),
    ],
)
def test_definitions_are_read(text: str, short: str, long: str) -> None:
    assert pairs(text) == [(short, long)]


@pytest.mark.parametrize(
    "text",
    [
        "Panel of an axillary mass (A).",
        "A finding in the image (Fig. 1) was shown.",
        "A normal finding in the table (Table 2).",
        "Of the nine patients (n=3) survived.",
        "Nine patients (N = 30) survived.",
        "An infection of the iliac vein (II) was seen.",
        "It was found in severe (IV) disease.",
        "A volume of many litres (mL) was lost.",
        "A dose in milligrams (mg) was given.",
        "Weeks after the event (years) passed.",
        "The p53 tumour suppressor gene (BRCA1) was sequenced.",
        "Statistics were made with software (IBM, Armonk, NY).",
        "It was registered (NCT02034188).",
        "The CKD group (CKD) was small.",
        "The score is then decreased (SD) in time.",
        "Smith and others wrote it (Sánchez-Navarro et al., 2018).",
        "Disease progression (PD) ended it.",
        "He was treated (IT) elsewhere. In the (AI) group.",
        "Deletion of the gene (see Dr. Gray).",
        "Analysis of blood (ABC (a bad comment)).",
        "",
    ],
)
def test_other_brackets_are_refused(text: str) -> None:
    assert pairs(text) == []


def test_the_long_form_stays_within_its_sentence_and_outside_other_brackets() -> None:
    assert pairs("There was chronic pain. Kidney disease (CKD) followed.") == []
    assert pairs("Magnetic (MRI) resonance imaging (RI)") == [("RI", "resonance imaging")]


def uses(document: DocumentAbbreviations, text: str, position: int | None = None) -> list[tuple[str, str]]:
    return [(text[start:end], item.long) for start, end, item in document.uses(text, position)]


def test_later_stand_alone_uses_take_the_definition() -> None:
    texts = [
        "Computed tomography (CT) and tuberculosis (TB).",
        "CT-guided biopsy; two CTs; CT/MRI no; CT. PET-CT too. CTA, CT1, CT-64 are others; non-TB too.",
    ]
    document = DocumentAbbreviations(texts)
    assert uses(document, texts[0], 0) == [("CT", "Computed tomography"), ("TB", "tuberculosis")]
    assert [short for short, _ in uses(document, texts[1], 1)] == ["CT", "CTs", "CT", "CT"]


def test_of_two_definitions_the_nearest_before_holds() -> None:
    texts = [
        "MS was seen.",
        "Multiple sclerosis (MS) it was. MS again.",
        "Not in mitral stenosis (MS). MS here.",
        "MS there.",
    ]
    document = DocumentAbbreviations(texts)
    found = [[long for _, long in uses(document, text, at)] for at, text in enumerate(texts)]
    assert found == [
        ["Multiple sclerosis"],
        ["Multiple sclerosis", "Multiple sclerosis"],
        ["mitral stenosis", "mitral stenosis"],
        ["mitral stenosis"],
    ]


def test_a_text_outside_the_document_comes_last_and_brings_its_own() -> None:
    document = DocumentAbbreviations(["Multiple sclerosis (MS)."])
    assert uses(document, "MS by mitral stenosis (MS).") == [
        ("MS", "Multiple sclerosis"),
        ("MS", "mitral stenosis"),
    ]
    assert uses(document, "MS.") == [("MS", "Multiple sclerosis")]
    assert uses(DocumentAbbreviations(), "MS.") == []


def test_a_plural_definition_holds_for_the_singular() -> None:
    document = DocumentAbbreviations(["Adverse events (AEs) were few."])
    assert uses(document, "One AE, two AEs.") == [("AE", "Adverse events"), ("AEs", "Adverse events")]


def test_the_longer_of_two_short_forms_wins() -> None:
    document = DocumentAbbreviations(["Neurofibromatosis (NF) and neurofibromatosis type 1 (NF 1)."])
    assert [short for short, _ in uses(document, "NF 1 and NF.")] == ["NF 1", "NF"]


@given(st.lists(st.text(alphabet="abcABC1 ().,;-[]（）αβİ s", max_size=60), max_size=4))
def test_offsets_re_extract_and_uses_never_overlap(texts: list[str]) -> None:
    for text in texts:
        for item in definitions(text):
            assert text[item.short_start : item.short_end] == item.short
            assert text[item.long_start : item.long_end] == item.long
            assert item.long_end <= item.short_start or item.short_end <= item.long_start
    document = DocumentAbbreviations(texts)
    for position, text in enumerate(texts):
        end = 0
        for start, stop, item in document.uses(text, position):
            assert end <= start < stop <= len(text)
            assert text[start:stop].startswith(item.short.rstrip("s"))
            end = stop


@pytest.mark.parametrize("piece", ["(", "(A", "A (", "(AB", "AB (aa ", "[(", "Aa(AA) ", "A", "(AB) a b "])
def test_hostile_brackets_take_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        started = time.process_time()
        DocumentAbbreviations([text]).uses(text, 0)
        return time.process_time() - started

    small = seconds(25_000)
    assert seconds(200_000) < 8 * small * 4 + 0.5
