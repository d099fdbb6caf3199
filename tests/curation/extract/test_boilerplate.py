"""What is about the publication is told by type, title or its sentences; the subject never is."""

from __future__ import annotations

import pytest

from curation.extract.boilerplate import boilerplate_paragraph, boilerplate_sections, is_title
from schemas.article import Section


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
        "Consent for publication and ethics approval",
        "Standard Protocol Approvals, Registrations, and Patient Consents",
        "Confidentiality and ethical approval",
        "Institutional Review Board Statement",
        "CRediT authorship contribution statement",
        "Declaration of generative AI and AI-assisted technologies in the writing process",
        "Registration of research studies",
        "Statement of human and animal rights",
        "Consideraciones éticas",
        "Approbation du comité d’éthique",
        "Finanzierung",
        "Konflikt interesów",
        "利益相反",
        "Author contibutions",
        "Trial status",
        "Amendments to the protocol",
    ],
)
def test_boilerplate(title: str) -> None:
    assert is_title(title)


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
        "Ethics education of nurses",
        "Data and materials",
        "Author and subject index",
        "Patients",
        "Information",
        "Trial",
        "Status of the heart",
        "Author distribution",
        "Support",
        "Statement",
        "2",
        "",
    ],
)
def test_the_subject_is_never_boilerplate(title: str) -> None:
    assert not is_title(title)


def _section(number: int, parent: int, title: str, kind: str = "") -> Section:
    return Section(number=number, parent=parent, title=title, type=kind, part="body")


def test_a_subsection_of_boilerplate_is_boilerplate_and_a_type_counts_without_a_title() -> None:
    sections = [
        _section(1, 0, "Methods"),
        _section(2, 1, "Ethics statement"),
        _section(3, 2, "Animal studies"),
        _section(4, 0, "", "data-availability"),
        _section(5, 0, "", "COI-statement"),
        _section(6, 0, "Results", "results"),
        _section(7, 6, "Consent"),
    ]
    assert boilerplate_sections(sections) == {
        2: "Ethics statement",
        3: "Ethics statement",
        4: "section type data-availability",
        5: "section type COI-statement",
        7: "Consent",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ethics approval: granted by the board of the clinic.", "Ethics approval"),
        ("Conflict of interest. None of us has one.", "Conflict of interest"),
        (
            "The study was approved by the ethics committee (IRB number 12). All took part after they "
            "had given written informed consent.",
            "The study was approved by the ethics committee (IRB number 1",
        ),
        (
            "This work was supported by a grant of the state.",
            "This work was supported by a grant of the state.",
        ),
        (
            "All procedures were approved by the Animal Care and Use Committee of the college.",
            "All procedures were approved by the Animal Care and Use Committ"[:60],
        ),
        ("The protocol was reviewed by the local IACUC.", "The protocol was reviewed by the local IACUC."),
        ("A consent form will be signed by both.", "A consent form will be signed by both."),
        (
            "The trial was prospectively registered at UMIN.",
            "The trial was prospectively registered at UMIN.",
        ),
        ("In this study, all patients were registered in a database.", ""),
        ("Assent was obtained from the children.", "Assent was obtained from the children."),
        ("Laws on Personal Data Protection were kept.", "Laws on Personal Data Protection were kept."),
        ("The data are available on reasonable request.", "The data are available on reasonable request."),
        (
            "AB and CD wrote the draft. All authors approved it.",
            "AB and CD wrote the draft. All authors approved it.",
        ),
    ],
)
def test_a_paragraph_under_another_title(text: str, said: str) -> None:
    assert boilerplate_paragraph(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "The study was approved by the ethics committee. Of 40 patients 12 had a fever.",
        "Written consent was obtained before surgery, which showed a ruptured cyst.",
        "After giving written informed consent, the patient received 3 mg/kg of the antibody.",
        "PCR was performed as described. PS: performance status.",
        "Data of 30 patients were available. We acknowledge that the number is small.",
        "Animal care was poor where no committee met.",
        "Funding of clinics fell: in 2019 every third had closed.",
        "Support: a stent was placed.",
        "",
    ],
)
def test_a_paragraph_that_also_speaks_of_the_subject_stays(text: str) -> None:
    assert boilerplate_paragraph(text) == ""
