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
            "Agricultural land, pasture and forest area were mapped for each municipality from aerial "
            "photographs. Forest spread on slopes that farms had given up, while crops kept to the plain. "
            "Soil and climate explain little of it; people and health are mentioned once.",
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


def test_a_review_of_a_disease_may_name_its_vectors_and_tests() -> None:
    text = (
        "Dengue is an infection spread by Aedes mosquitoes. Diagnosis in patients rests on serology and "
        "RT-PCR; patients with fever, acute pain and hepatitis need treatment in hospital, and the "
        "mortality of severe disease in children is high."
    )
    title = "Diagnosis of dengue infection: clinical and laboratory medicine"
    assert scope(title, "Journal of Infectious Diseases", text, kind="review-article") == ""
    vector = (
        "Aedes mosquitoes and Anopheles larvae were caught. Mosquitoes and other insects carry infection "
        "to mice and rats."
    )
    assert (
        scope("Larvae of mosquitoes", "Journal of Infectious Diseases", vector, kind="review-article")
        == "not_human"
    )


def test_public_health_trials_about_daily_life_are_medical() -> None:
    text = (
        "Women were taught to rinse rice. Women with children, mothers and pregnant women took part, "
        "and men and adolescents. Women, mothers and children; women and girls; adults and elderly "
        "people; participants and respondents. Health, disease, diagnosis, treatment, mortality, "
        "cancer, nutrition, symptoms, anemia, hypertension, diabetes, stroke, prevalence, obesity and "
        "trauma were measured; rice, crops, soil and farm work, agriculture and pollution were asked "
        "about."
    )
    title = "Health education on cooking rice: an ecological-social trial among women"
    assert scope(title, "Electronic Physician", text) == ""


def test_students_asked_about_business_are_not_patients() -> None:
    text = (
        "Students of economics and management answered questionnaires on leadership, business ethics and "
        "consumer choices. Those who scored high preferred profit of the firm to fairness to employees. "
        "Teachers of business may use the results in the classroom and in the curriculum of the university."
    )
    title = "Leadership, markets and the business ethics of management students"
    assert scope(title, "Journal of Business Education", text) == "not_medical"


def test_patient_tissue_before_animal_experiments_does_not_make_a_human_study() -> None:
    of = dataclasses.replace(
        article(
            [
                "Melanoma tissue of 64 patients was compared with adjacent skin by immunohistochemistry.",
                "Cells were cultured in medium with serum and transfected with siRNA or plasmids. Western "
                "blot, qPCR and luciferase reporter assays were done; knockdown reduced proliferation.",
                "Nude mice were injected with cells. Tumours of the mice were measured twice a week. "
                "Mice were euthanised on day 28 and the xenografts fixed.",
                "Overexpression rescued phosphorylation of the kinase in vitro and in mice.",
            ],
            [],
            title="Ultrasound inhibits melanoma growth by blocking translation of a kinase",
            journal="Frontiers in Oncology",
        ),
        article_type="research-article",
    )
    decision, evidence = decide(of)
    assert decision == "not_human"
    assert evidence[0].startswith("studied: ") and "animal 6" in evidence[0]


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


@pytest.mark.parametrize("text", ["", "A critical step of the pathway.", "1234 ??"])
def test_an_article_that_names_neither_people_nor_care_is_out_and_says_so(text: str) -> None:
    of = article([text] if text else [], [], title="An overview", journal="")
    found, evidence = decide(of)
    assert found in {"not_medical", "not_human"}
    assert evidence[0].startswith("studied: ") and "person" not in evidence[0]


def test_every_part_of_a_long_article_is_read() -> None:
    """A paragraph that stands after hundreds of others is heard."""
    texts = ["The method is described elsewhere in detail."] * 300
    late = [*texts, "Mice were injected."]
    assert decide(article(texts, [], title="A study"))[1] != decide(article(late, [], title="A study"))[1]
