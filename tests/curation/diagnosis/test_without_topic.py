"""Diagnoses that a title does not name: it tells of a symptom, a mishap or nothing at all."""

from __future__ import annotations

import pytest

from curation.diagnosis.statements import select
from curation.diagnosis.topic import NO_TOPIC, topic_of

CAME = "She was brought in with pain, and her uncle had been treated for tuberculosis."


@pytest.mark.parametrize(
    "stated",
    [
        "Manometry showed no peristalsis, establishing type II achalasia.",
        "These findings were consistent with posterior reversible encephalopathy syndrome.",
        "Biopsy disclosed clefts in arterioles, pathognomonic of cholesterol embolism.",
        "Two copies of the variant clinched the diagnosis: cystic fibrosis.",
        "The criteria for Tolosa-Hunt syndrome were fulfilled.",
        "We concluded that she suffered from nephrogenic diabetes insipidus.",
        "Takotsubo cardiomyopathy was thus the diagnosis.",
        "Severe hemophilia B was confirmed.",
    ],
)
@pytest.mark.parametrize("title", ["A lump that would not move", "Sudden blindness in a widow"])
def test_a_stated_disease_is_found_whatever_the_title_tells(title: str, stated: str) -> None:
    assert [at for at, _ in select([CAME, stated, "She went home."], topic_of(title))] == [1]


def test_a_title_that_names_the_disease_still_decides() -> None:
    told = ["Severe hemophilia B was confirmed.", "Brucellosis was confirmed by culture."]
    assert [at for at, _ in select(told, topic_of("Brucellosis of the spine"))] == [1]


@pytest.mark.parametrize(
    "told",
    [
        "A brother, 45, had been treated for pulmonary tuberculosis in the same household.",
        "Hemophilia was excluded.",
        "The lump turned out to be movable.",
    ],
)
def test_relatives_and_what_was_excluded_state_nothing(told: str) -> None:
    assert select([told], topic_of("Blindness treated as tuberculosis")) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Due to obstruction by the tumor, the duct could not be entered.",
        "She was given iron due to fatigue related to her anemia.",
        "The scan showed nothing but a picture of old pneumonia.",
        "A biopsy forceps was used to break up the bezoar.",
        "It was referred for hemorrhage after the birth.",
        "Tomography confirmed a mass suspicious for pancreatic carcinoma.",
        "Tras 5 meses del diagnóstico definitivo, el paciente presentó tuberculosis.",
    ],
)
def test_words_that_state_nothing(sentence: str) -> None:
    assert select(["He came with pain.", sentence, "He went home."], NO_TOPIC) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "It was mixed germ cell carcinoma.",
        "Histology confirmed the suspicion of sarcoidosis.",
        "Le diagnostic d'une occlusion du grêle sur un trichobézoard de l'estomac a été posé.",
        "La biopsie concluait à une tuberculose.",
        "El diagnóstico de sarcoidosis fue confirmado.",
    ],
)
def test_words_that_state_a_disease(sentence: str) -> None:
    assert [at for at, _ in select(["He came with pain.", sentence, "He went home."], NO_TOPIC)] == [1]


def test_a_cause_is_a_statement_where_the_title_names_it() -> None:
    told = ["He came with pain.", "His loss of vision was secondary to thrombosis of the carotid artery."]
    assert [at for at, _ in select(told, topic_of("Carotid artery thrombosis after chemotherapy"))] == [1]
    assert select(told, NO_TOPIC) == []
