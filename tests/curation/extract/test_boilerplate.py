"""Sections about the publication are told by their whole title; sections about the subject never are."""

from __future__ import annotations

import pytest

from curation.extract.boilerplate import boilerplate_section


@pytest.mark.parametrize(
    "title",
    [
        "Conflict of Interests",
        "Conflicts of interest",
        "Competing interests",
        "Declaration of Competing Interest",
        "Declarations of interest",
        "Conflict of interest and funding",
        "Conflict of Interest Statement",
        "Author Contributions",
        "Authors' contributions",
        "Authors’ Contribution",
        "Data Availability Statement",
        "Data and material availability",
        "Availability of data and materials",
        "Code availability",
        "Ethics",
        "Ethics Statement",
        "Ethical Approval",
        "Ethics approval and consent to participate",
        "Ethical considerations.",
        "Consent",
        "Consent for publication",
        "Informed consent",
        "Funding",
        "Funding Information",
        "Role of the funding source",
        "Supplementary Material",
        "Electronic supplementary material",
        "Additional information",
        "Pre-publication history",
        "Publisher's Note",
        "Abbreviations",
        "ACKNOWLEDGMENTS",
        "Conflito de interesses",
        "Conflictos de intereses",
        "Conflits d’intérêts",
        "Agradecimentos",
        "Contribuição dos autores",
        "Disponibilidade de dados",
    ],
)
def test_boilerplate(title: str) -> None:
    assert boilerplate_section(("Declarations", title)) == title


@pytest.mark.parametrize(
    "title",
    [
        "Case presentation",
        "Recruitment and consent",
        "Data governance and ethics",
        "Research ethics committees in low-income countries",
        "Supportive care",
        "Safety reporting",
        "A Brief History of Dengue",
        "History and Examination",
        "Availability of care",
        "Model fit and variable contribution",
        "Interest in vaccination",
        "Funding of primary care",
        "Identifying any competing interests",
        "",
    ],
)
def test_the_subject_is_never_boilerplate(title: str) -> None:
    assert boilerplate_section(("Methods", title)) == ""


def test_a_subsection_of_boilerplate_is_boilerplate() -> None:
    assert boilerplate_section(("Ethics statement", "Animal studies")) == "Ethics statement"
    assert boilerplate_section(()) == ""
