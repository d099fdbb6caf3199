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


def test_students_in_a_psychology_journal_are_not_patients_of_a_business_study() -> None:
    text = (
        "Students answered questionnaires on leadership and moral dilemmas; their anxiety was scored. "
        "Students of business."
    )
    title = "Machiavellianism and the anxiety of business students"
    assert scope(title, "Frontiers in Psychology", text) == "not_medical"


def test_patient_tissue_before_animal_experiments_does_not_make_a_human_study() -> None:
    of = dataclasses.replace(
        article(
            [
                "Melanoma tissue of 64 patients was compared. The patients had surgery.",
                "A kinase assay, PCR and a reporter were used in vitro; enzyme signaling, autophagy, "
                "chromatin and RNA-seq.",
                *["Survival of the patients was followed."] * 10,
                "Nude mice were injected. The mice were treated; mice of each group, and the mouse "
                "tumors, were weighed. Two mice died. The other mice, a mouse model, and mice without "
                "drug." + " All mice lived." * 9,
                "Survival of patients, and of other patients, was followed; patients and patients, "
                "patients, patients.",
            ],
            [],
            title="Inhibition of melanoma growth by ultrasound therapy",
            journal="Frontiers in Oncology",
        ),
        article_type="research-article",
    )
    decision, evidence = decide(of)
    assert decision == "not_human"
    assert evidence[0].startswith("body: ")


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


@pytest.mark.parametrize(
    ("title", "text", "decision", "first"),
    [
        (
            "Overview of metabolism",
            "A critical step of the pathway.",
            "not_medical",
            "care: only 1 of 8 points",
        ),
        ("Overview of metabolism", "A step of the pathway.", "not_medical", "care: only 0 of 8 points"),
        (
            "Immunity, infection and therapy",
            "Infection and vaccine in an infant; disease and treatment.",
            "not_human",
            "people: only 1 of 4 points",
        ),
    ],
)
def test_an_article_out_for_want_of_evidence_says_so(
    title: str, text: str, decision: str, first: str
) -> None:
    """What little there is speaks for it, and must not be read as the reason it is out."""
    of = article([text], [], title=title, journal="")
    found, evidence = decide(of)
    assert (found, evidence[0]) == (decision, first)
