"""Identifiers of articles and studies: found whole, taken out so that the sentence stays one, put back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.extract.identifiers import ANY, identifiers_in
from curation.extract.neutralise import IDENTIFIER_RULE, neutralise, restore


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("DOI: http://dx.doi.org/10.7554/eLife.00353.003", ["doi"]),
        ("doi:10.1016/S0140-6736(20)30183-5.", ["doi"]),
        ("(https://doi.org/10.5061/dryad.abc12)", ["doi"]),
        ("by PMC1234567 and PMID: 12345678", ["pubmed", "pubmed"]),
        ("NCT01234567, ISRCTN 10038996 and CRD42020123456", ["registered"] * 3),
        ("EudraCT number 2011-001234-22", ["registered"]),
        ("https://www.trialregister.nl/trial/7293.", ["registered"]),
        ("DRKS00012345; ChiCTR-IOR-17013115; UMIN000012345; ACTRN12617000123456", ["registered"] * 4),
        ("a dose of 10.5 mg/kg, 10.25/11 and 2010.1234/5", []),
        ("at https://clinicaltrials.gov, the NCT group, PMCA and 2011-001", []),
        ("https://www.proteinatlas.org/humanproteome", []),
        ("https://clinicaltrials.gov/ and https://www.drks.de/drks_web/", []),
        ("RBR-5q5t5z; ISRCTN, 12345678; ClinicalTrials.govNCT01234567", ["registered"] * 3),
        ("[see 10.1000/a.1.][see 10.1000/a.2.]", ["doi"] * 2),
    ],
)
def test_what_is_an_identifier(text: str, found: list[str]) -> None:
    assert [item.kind for item in identifiers_in(text)] == found


@pytest.mark.parametrize(
    ("text", "released"),
    [
        ("(A) Axons. DOI: http://dx.doi.org/10.7554/eLife.00353.003", "(A) Axons."),
        ("DOI: http://dx.doi.org/10.7554/eLife.00353.001", ""),
        ("DOI 10.1590/1414-431X2021. The mass grew.", "The mass grew."),
        ("TRIAL REGISTRATION\nNCT01234567.", "TRIAL REGISTRATION\n[registry number]."),
        ("CLINICAL TRIAL\nNCT01234567.\nAIM\nNone.", "CLINICAL TRIAL\n[registry number].\nAIM\nNone."),
        ("REGISTRO DE PROSPERO:\nCRD42020123456", "REGISTRO DE PROSPERO:\n[registry number]"),
        ("OSF REGISTRATION NUMBER\nDOI 10.1000/OSF.IO/AB1.", "OSF REGISTRATION NUMBER\n[DOI]."),
        ("Growth of cells.\nDOI: 10.1000/5", "Growth of cells."),
        (
            "It was registered (ClinicalTrials.gov identifier: NCT01234567) in May.",
            "It was registered in May.",
        ),
        (
            "We registered it as NCT 01234567, then began.",
            "We registered it as [registry number], then began.",
        ),
        ("See the paper (doi: 10.1016/S0140-6736(20)30183-5). Then more.", "See the paper. Then more."),
        ("Data are at https://doi.org/10.5061/dryad.abc12. Next one.", "Data are at [DOI]. Next one."),
        ("As NCT01234567www.isrctn.com/ISRCTN1003 says.", "As [registry number] says."),
        ("Both (10.1000/ab(1)c)10.1000/d say so.", "Both [DOI] say so."),
        ("See https://doi.org/10.1000/xFig. 2 shows it.", "See [DOI] the figure shows it."),
        ("As PMID: 12345678 says (Fig. 2; PMID 12345678).", "As [PubMed ID] says ([PubMed ID])."),
        ("Done in May.\nClinicalTrials.gov NCT02034188\nFunding: none.", "Done in May.\nFunding: none."),
    ],
)
def test_what_becomes_of_it(text: str, released: str) -> None:
    pointers = [(found.start(), found.end()) for found in re.finditer(r"Fig\. 2", text)]
    given_back, changes = neutralise(text, pointers, "en")
    assert given_back == released
    assert restore(given_back, changes) == text
    assert IDENTIFIER_RULE in {change.rule for change in changes}


PIECES = st.sampled_from(
    ["10.1000/ab(1)c", "DOI: ", "https://doi.org/10.1000/x", "NCT01234567", "PMID 123456", "PMC123456", "(",
     ")", ". ", "; ", " ", "see ", "Fig. 2", "\n", "The scan", "www.isrctn.com/ISRCTN1003", "CRD42020123456",
     "[", "]", ","]
)  # fmt: skip


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=14))
def test_none_stays_and_all_come_back(pieces: list[str]) -> None:
    text = "".join(pieces)
    pointers = [(found.start(), found.end()) for found in re.finditer(r"Fig\. 2", text)]
    released, changes = neutralise(text, pointers, "en")
    assert restore(released, changes) == text
    assert not list(identifiers_in(released))


def test_the_pattern_in_sql_finds_what_the_scanner_finds() -> None:
    for text in ("x 10.1000/abc y", "PMC1234567", "PMID: 123456", "NCT01234567", "2011-001234-22"):
        assert re.search(ANY, text) and list(identifiers_in(text)), text
