from __future__ import annotations

import pytest

from curation.labels import domain
from curation.labels.texts import Texts
from schemas.label import Label


def decide(texts: Texts) -> Label:
    (row,) = domain.labels("a", "a", domain.points(texts))
    return row


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (Texts(types=("case report",), titles=("A woman with gout",)), "clinical_case"),
        (Texts(subjects=("Case Report",), titles=("A swollen knee",)), "clinical_case"),
        (Texts(titles=("Gout of the spine: a case report",)), "clinical_case"),
        (
            Texts(
                titles=("A randomised placebo-controlled trial of rest",), abstract=("Patients with gout",)
            ),
            "clinical_study",
        ),
        (Texts(titles=("Retrospective cohort of patients with gout",)), "clinical_study"),
        (
            Texts(titles=("Uric acid crystals in mice: an in vitro study of gene expression",)),
            "basic_science",
        ),
        (Texts(titles=("Prevalence of gout: a cross-sectional survey of households",)), "public_health"),
        (Texts(titles=("A curriculum for medical students on gout",)), "education"),
        (Texts(titles=("Gout",), is_book=True), "education"),
        (Texts(journal=("Journal of Plant Research",), titles=("Wheat yield and soil",)), "non_medical"),
        (Texts(titles=("The income tax of fishers and the economy",)), "non_medical"),
    ],
)
def test_domains(texts: Texts, value: str) -> None:
    row = decide(texts)
    assert (row.value, row.facet, row.reason) == (value, "domain", "")
    assert row.evidence


def test_a_report_on_an_animal_is_not_medical_unless_people_are_told_of() -> None:
    animal = Texts(types=("case report",), titles=("Gout in a parrot",), abstract=("The bird was lame.",))
    row = decide(animal)
    assert (row.value, row.evidence[0].rule, row.evidence[0].text) == (
        "non_medical",
        "domain.non_medical.animal",
        "parrot",
    )
    bitten = Texts(types=("case report",), titles=("Bite of a parrot",), abstract=("A patient was bitten.",))
    assert decide(bitten).value == "clinical_case"


def test_undecided_says_why() -> None:
    assert decide(Texts(titles=("Reply",))).reason == "no_evidence"
    assert decide(Texts(abstract=("Genes.",))).reason == "weak_evidence"
