"""What a title is about, and in which other words a sentence names it."""

from __future__ import annotations

import pytest

from curation.diagnosis.statements import in_keywords, in_title
from curation.diagnosis.topic import head_of, is_disease, names_disease, topic_of
from tests.curation.diagnosis.builders import title_of


@pytest.mark.parametrize(
    ("title", "head"),
    [
        ("Ludwig's angina after tooth extraction", "Ludwig's angina "),
        ("Myxoma in a 40-year-old male patient", "Myxoma "),
        ("Femoral fracture in Gorham syndrome", "Femoral fracture "),
        ("Anaesthesia in a patient with myasthenia gravis and goitre", None),
    ],
)
def test_a_title_is_about_its_head_if_that_names_a_disease(title: str, head: str | None) -> None:
    assert head_of(title) == (title if head is None else head)


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Tuberculosis of the wrist", "a tuberculous process"),
        ("Rupture of the spleen", "splenic laceration"),
        ("Anaemia of unknown cause", "severe anemia"),
        ("Renal cancer in a child", "carcinoma of the kidney"),
        ("Pancreatic pseudocyst with haemorrhage", "bleeding from the pancreatic lesion"),
        ("Bronchopneumonia caused by Nocardia farcinica", "the pathogen was Nocardia farcinica"),
        ("Nephritis with SLC19A2 variant", "a change in SLC19A2"),
        ("Right heart failure in ARDS", "severe ARDS"),
        ("Osteoarthritis of the jaw", "arthritis"),
    ],
)
def test_the_same_in_other_words(title: str, sentence: str) -> None:
    assert topic_of(title).agreement(sentence) == 2


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Rupture of the spleen", "rupture of the bladder"),
        ("Hyperthyroidism in pregnancy", "hypothyroidism"),
        ("Tibial fracture", "the tibial artery"),
    ],
)
def test_another_disease_does_not_agree(title: str, sentence: str) -> None:
    assert topic_of(title).agreement(sentence) < 2


def test_acronyms_a_text_declares_and_titles_that_name_no_disease() -> None:
    text = "Acute compartment syndrome (ACS) is rare. We report a case of gastric volvulus in a child."
    assert topic_of("Compartment syndrome of the forearm", text).agreement("signs of ACS") == 2
    assert topic_of("A diagnostic trap", text).agreement("a volvulus of the stomach") == 2


@pytest.mark.parametrize("word", ["hepatitis", "melanoma", "thrombosis", "anaemia", "hemolysis", "scabies"])
def test_words_that_name_diseases(word: str) -> None:
    assert names_disease(word)
    assert is_disease(f"acute {word}")


@pytest.mark.parametrize("word", ["diagnosis", "dialysis", "doses", "anastomosis", "stroma", "purposes"])
def test_words_that_only_end_like_diseases(word: str) -> None:
    assert not names_disease(word)


def test_keywords_in_other_words_of_the_title() -> None:
    title = list(in_title(title_of("Acute kidney infarction after cocaine use")))
    keywords = (
        "renal infarction",
        "cocaine",
        "hypertension",
        "kidney",
        "myocardial infarction",
        "case report",
    )
    assert [statement.text for statement in in_keywords(keywords, title)] == ["renal infarction"]
