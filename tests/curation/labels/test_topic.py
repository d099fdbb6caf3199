from __future__ import annotations

import pytest

from curation.labels import topic
from curation.labels.concepts import Named
from curation.labels.texts import Texts, texts_of
from curation.labels.topic import TopicFacet
from schemas.article import Article, Licence
from schemas.label import Label


def labels(facet: TopicFacet, texts: Texts, named: tuple[Named, ...] = ()) -> list[Label]:
    return list(topic.labels("a", "a", facet, topic.points(facet, texts, named)))


@pytest.mark.parametrize(
    ("title", "specialty", "system"),
    [
        ("Takotsubo cardiomyopathy after a quarrel", "cardiology", "cardiovascular"),
        ("Bullous pemphigoid of the scalp", "dermatology", "integumentary"),
        ("Thyroid storm and diabetic ketoacidosis", "endocrinology", "endocrine"),
        ("Acute pancreatitis with cholangitis", "gastroenterology", "digestive"),
        ("Pancytopenia due to aplastic anaemia", "haematology", "haematologic"),
        ("Cerebral malaria due to Plasmodium falciparum", "infectious_diseases", "nervous"),
        ("Membranous glomerulonephritis and haemodialysis", "nephrology", "urinary"),
        ("Guillain-Barré syndrome with cranial nerve palsy", "neurology", "nervous"),
        ("Placenta accreta in a second pregnancy", "obstetrics_gynaecology", "reproductive"),
        ("Keratoconus and cataract", "ophthalmology", "sensory"),
        ("Tibial fracture with knee dislocation", "orthopaedics", "musculoskeletal"),
        ("Cholesteatoma and sensorineural hearing loss", "otolaryngology", "sensory"),
        ("Schizophrenia with catatonic depression", "psychiatry", "nervous"),
        ("Bronchiectasis and pneumothorax", "pulmonology", "respiratory"),
        ("Urethral stricture and ureteral stent in lithiasis", "urology", "urinary"),
        ("Orthodontic extraction of a carious tooth", "dentistry", "digestive"),
        ("Anaphylaxis to peanut: allergen-specific IgE", "immunology", "immune"),
    ],
)
def test_title_words_decide(title: str, specialty: str, system: str) -> None:
    texts = Texts(titles=(title,))
    assert labels("specialty", texts)[0].value == specialty
    first = labels("body_system", texts)
    assert system in {row.value for row in first}


def test_evidence_names_rule_place_and_words() -> None:
    row = labels("specialty", Texts(titles=("A case of Pemphigus",)))[0]
    assert [(item.rule, item.place, item.text, item.points) for item in row.evidence] == [
        ("specialty.dermatology.strong", "title", "Pemphigus", 3.0)
    ]
    assert (row.rank, row.reason) == (1, "")
    assert 0 < row.confidence <= 1


def test_a_journal_decides_for_an_article_that_says_little() -> None:
    row = labels("specialty", Texts(journal=("Annals of Urology",), titles=("A letter",)))[0]
    assert (row.value, row.evidence[0].rule, row.evidence[0].place) == (
        "urology",
        "specialty.urology.field",
        "journal",
    )


@pytest.mark.parametrize(
    ("journal", "specialty"),
    [
        ("Jornal de Pneumologia", "pulmonology"),
        ("Neumología Clínica", "pulmonology"),
        ("Folia Kardiologica", "cardiology"),
        ("Journal of Electrocardiology", "cardiology"),
        ("Psiquiatría Hoy", "psychiatry"),
        ("Der Chirurg", "surgery"),
        ("Cirugía y Práctica", "surgery"),
        ("Cadernos de Oftalmologia", "ophthalmology"),
        ("Archives de Pédiatrie", "paediatrics"),
        ("Acta Ortopédica", "orthopaedics"),
    ],
)
def test_a_journal_states_its_specialty_in_other_languages(journal: str, specialty: str) -> None:
    article = Article(
        id="a", source="folder", language="und", title="Numbers of a year", journal=journal,
        licence=Licence(spdx="CC0-1.0", evidence="x"), raw_sha256="0" * 64,
    )  # fmt: skip
    assert labels("specialty", texts_of(article))[0].value == specialty


def test_an_organ_leads_before_a_discipline() -> None:
    texts = Texts(
        journal=("Archives of Pediatrics",), titles=("Epilepsy in a child",), subjects=("Pediatrics",)
    )
    assert [row.value for row in labels("specialty", texts)] == ["neurology", "paediatrics"]


def test_a_discipline_leads_where_no_organ_is_named() -> None:
    texts = Texts(titles=("Poisoning with a herbal medicine: toxicity of a drug overdose",))
    assert labels("specialty", texts)[0].value == "pharmacology"


def test_subjects_of_an_index_count_less_than_the_section_of_a_journal() -> None:
    few = topic.points("specialty", Texts(subjects=("Nephrology",)))["nephrology"].points
    many = ("Nephrology", *(f"Heading {number}" for number in range(9)))
    assert topic.points("specialty", Texts(subjects=many))["nephrology"].points < few


def test_repeated_words_count_once_and_a_place_has_a_limit() -> None:
    once = topic.points("specialty", Texts(abstract=("Epilepsy.",)))["neurology"].points
    again = topic.points("specialty", Texts(abstract=("Epilepsy, epilepsy, epilepsy.",)))["neurology"].points
    assert once == again == 0.6
    words = "brain stroke dementia seizure migraine hydrocephalus ataxia dystonia glioblastoma meningitis"
    assert topic.points("specialty", Texts(abstract=(words,)))["neurology"].points == 5.0


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (Texts(titles=("On the merits of brevity",)), "no_evidence"),
        (Texts(abstract=("One seizure.",)), "weak_evidence"),
        (Texts(titles=("Psoriasis and epilepsy",)), "tie"),
    ],
)
def test_undecided_is_a_row_with_its_reason(texts: Texts, reason: str) -> None:
    rows = labels("specialty", texts)
    assert [(row.value, row.reason, row.confidence, row.rank) for row in rows] == [("", reason, 0.0, 1)]


def test_what_is_not_medical_has_no_specialty_but_says_what_was_near() -> None:
    tallies = topic.points("specialty", Texts(titles=("The heart of the city",)))
    row = next(topic.labels("a", "a", "specialty", tallies, is_medical=False))
    assert (row.value, row.reason) == ("", "not_medical")
    assert row.evidence[0].text == "heart"


def test_more_certain_evidence_gives_more_confidence() -> None:
    weak = labels("specialty", Texts(titles=("Psoriasis",)))[0]
    mixed = labels("specialty", Texts(titles=("Psoriasis and psoriatic arthritis",)))[0]
    strong = labels("specialty", Texts(titles=("Psoriasis and eczema",), journal=("Skin",)))[0]
    assert weak.confidence < strong.confidence <= 1.0
    assert mixed.confidence < 1.0
    assert round(strong.confidence, 2) == strong.confidence
