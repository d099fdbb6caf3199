from __future__ import annotations

import dataclasses

import pytest

from curation.extract.scope import decide
from schemas.article import Abstract
from tests.curation.builders import article


def scope(title: str, journal: str, abstract: str, kind: str = "research-article") -> str:
    of = dataclasses.replace(
        article([], [], title=title, journal=journal),
        article_type=kind,
        abstracts=(Abstract(language="en", type="", text=abstract),),
    )
    decision, evidence = decide(of)
    assert evidence
    return decision


@pytest.mark.parametrize(
    ("title", "journal", "abstract", "expected"),
    [
        (
            "Risk factors for stroke in adults with diabetes",
            "BMC Neurology",
            "We followed 300 patients with diabetes. Patients with hypertension had more strokes.",
            "",
        ),
        (
            "Prevalência de diabetes gestacional em mulheres",
            "Cadernos de Saúde Pública",
            "Estudo com mulheres e gestantes: a doença e o tratamento das pacientes na saúde pública.",
            "",
        ),
        (
            "Growth of rice cultivars on saline soil",
            "Frontiers in Plant Science",
            "Crop yield of farmers' fields. Plants and soil were sampled.",
            "not_medical",
        ),
        (
            "Land-use change and forest cover",
            "Land Use Policy",
            "Agricultural land and forest area were mapped; people and health are mentioned once.",
            "not_medical",
        ),
        (
            "A compiler for sparse tensor algebra",
            "Journal of Computing",
            "An algorithm is described. Software is available.",
            "not_medical",
        ),
        (
            "Retinal oedema in diabetic rats",
            "Journal of Diabetes Research",
            "Male rats had oedema. Rats were given insulin; the disease of patients is similar.",
            "not_human",
        ),
        (
            "Kinase inhibition kills melanoma cell lines",
            "Oncotarget",
            "Melanoma is a skin cancer. Drug treatment of tumor cell lines in vitro: HeLa, kinase assay.",
            "not_human",
        ),
        ("Editorial", "", "", "not_medical"),
    ],
)
def test_scope(title: str, journal: str, abstract: str, expected: str) -> None:
    assert scope(title, journal, abstract) == expected


def test_case_report_type_in_a_medical_journal_counts_as_people() -> None:
    text = "A surgical report of acute pain. Diagnosis and treatment of a fracture; rehabilitation."
    assert scope("Fracture of the femur", "Case Reports in Orthopedics", text, kind="case-report") == ""


def test_evidence_names_place_and_word() -> None:
    of = article(["The patient had cancer. The patient was treated in hospital."], [])
    decision, evidence = decide(of)
    assert decision == ""
    assert all(": " in line for line in evidence)
    assert "title: patient" in evidence
    assert decide(of) == (decision, evidence)
